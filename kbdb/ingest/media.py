"""Which media type a name has, from tables of our own so that answers are the same on every machine."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

MARKDOWN: Final = "text/markdown"
PLAIN: Final = "text/plain"
BINARY: Final = "application/octet-stream"

_BY_SUFFIX: Final = {
    MARKDOWN: "md markdown mdx mdown mkd mkdn mdwn qmd rmd",
    PLAIN: "txt text rst log adoc asciidoc org tex ltx bib ini cfg conf properties po pot diff patch nfo srt vtt",
    "text/html": "html htm xhtml",
    "text/css": "css scss sass less",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/x-python": "py pyi pyw pyx pxd",
    "text/javascript": "js mjs cjs jsx",
    "text/x-typescript": "ts mts cts tsx",
    "text/x-c": "c h",
    "text/x-c++": "cc cpp cxx hh hpp hxx ino",
    "text/x-objective-c": "m mm",
    "text/x-csharp": "cs",
    "text/x-java": "java",
    "text/x-kotlin": "kt kts",
    "text/x-scala": "scala sc",
    "text/x-groovy": "groovy gradle",
    "text/x-go": "go",
    "text/x-rust": "rs",
    "text/x-swift": "swift",
    "text/x-ruby": "rb rake gemspec",
    "text/x-php": "php",
    "text/x-perl": "pl pm",
    "text/x-lua": "lua",
    "text/x-r": "r",
    "text/x-julia": "jl",
    "text/x-haskell": "hs",
    "text/x-ocaml": "ml mli",
    "text/x-fsharp": "fs fsx fsi",
    "text/x-erlang": "erl hrl",
    "text/x-elixir": "ex exs",
    "text/x-clojure": "clj cljs cljc edn",
    "text/x-lisp": "lisp lsp el scm rkt",
    "text/x-dart": "dart",
    "text/x-zig": "zig",
    "text/x-nim": "nim",
    "text/x-pascal": "pas dpr",
    "text/x-fortran": "f f90 f95 f03 for",
    "text/x-asm": "s asm",
    "text/x-cuda": "cu cuh",
    "text/x-sql": "sql",
    "text/x-sh": "sh bash zsh ksh fish",
    "text/x-powershell": "ps1 psm1 psd1",
    "text/x-batch": "bat cmd",
    "text/x-vue": "vue",
    "text/x-svelte": "svelte",
    "text/x-graphql": "graphql gql",
    "text/x-protobuf": "proto",
    "text/x-thrift": "thrift",
    "text/x-terraform": "tf tfvars hcl",
    "text/x-nix": "nix",
    "text/x-cmake": "cmake",
    "text/x-makefile": "mk mak",
    "text/x-dockerfile": "dockerfile",
    "text/x-vim": "vim",
    "text/x-awk": "awk",
    "text/x-tcl": "tcl",
    "text/x-solidity": "sol",
    "application/json": "json jsonl ndjson json5 jsonc geojson webmanifest",
    "application/toml": "toml",
    "application/yaml": "yaml yml",
    "application/xml": "xml xsd xsl xslt rss atom plist",
    "image/png": "png",
    "image/jpeg": "jpg jpeg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
    "image/bmp": "bmp",
    "image/tiff": "tif tiff",
    "image/vnd.microsoft.icon": "ico",
    "image/svg+xml": "svg",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg oga opus",
    "audio/wav": "wav",
    "audio/flac": "flac",
    "audio/mp4": "m4a",
    "video/mp4": "mp4 m4v",
    "video/webm": "webm",
    "video/quicktime": "mov",
    "video/x-matroska": "mkv",
    "font/ttf": "ttf",
    "font/otf": "otf",
    "font/woff": "woff",
    "font/woff2": "woff2",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "application/gzip": "gz tgz",
    "application/x-tar": "tar",
    "application/x-bzip2": "bz2",
    "application/x-xz": "xz",
    "application/zstd": "zst",
    "application/x-7z-compressed": "7z",
    "application/wasm": "wasm",
    "application/epub+zip": "epub",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.sqlite3": "sqlite sqlite3 db",
    BINARY: "bin exe dll so dylib o a obj class jar pyc pyo pyd whl idx dat",
}
_BY_NAME: Final = {
    PLAIN: "authors changelog changes codeowners contributing contributors copying install licence license maintainers "
    "news notice readme thanks todo version",
    "text/x-makefile": "makefile gnumakefile justfile",
    "text/x-dockerfile": "dockerfile containerfile",
    "text/x-ruby": "rakefile gemfile vagrantfile brewfile",
    "text/x-groovy": "jenkinsfile",
}

_SUFFIXES: Final = {suffix: media for media, suffixes in _BY_SUFFIX.items() for suffix in suffixes.split()}
_NAMES: Final = {name: media for media, names in _BY_NAME.items() for name in names.split()}

_TEXT_APPLICATIONS: Final = frozenset({"application/json", "application/toml", "application/yaml", "application/xml"})


def media_type_of(name: str, data: bytes | None = None) -> str:
    """The media type of a file name or path.

    Args:
        name: a name or path; only the last component counts, case does not.
        data: the file's bytes, to tell text from other data where the name tells nothing.

    Returns:
        ``text/markdown`` for an empty name; for an unknown one ``text/plain`` if ``data`` is UTF-8 without NUL, else
        ``application/octet-stream``.
    """
    if not name:
        return MARKDOWN
    base = base_name(name).lower()
    stem, dot, suffix = base.rpartition(".")
    found = _SUFFIXES.get(suffix) if dot and stem else _NAMES.get(base)
    if found is not None:
        return found
    return PLAIN if data is not None and _looks_like_text(data) else BINARY


def is_known_text(name: str) -> bool:
    """Whether the name alone says that this is text: what a walk over a folder learns by default."""
    return is_text(media_type_of(name)) if name else False


@lru_cache(maxsize=256)
def is_text(media_type: str) -> bool:
    """Whether content of this type is UTF-8 text that is taken apart and indexed; the rest is stored whole."""
    essence = media_type.partition(";")[0].strip().lower()
    return essence.startswith("text/") or essence in _TEXT_APPLICATIONS


def base_name(name: str) -> str:
    """The last component of a path with either kind of slash."""
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _looks_like_text(data: bytes) -> bool:
    if b"\0" in data:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
