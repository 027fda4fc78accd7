"""worker.toml: every setting kbdb has, its default, what it may be, and where its value came from.

``SETTINGS`` is the one table; the typed tables below are what the rest of kbdb reads.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from kbdb.errors import ConfigError, StorageError
from kbdb.languages import LANGUAGES
from kbdb.paths import Layout
from kbdb.plan import FIELDS, Params

SearchMode = Literal["lexical", "vector", "hybrid"]
FieldValues = tuple[float, float, float, float, float]
"""One number for each of ``kbdb.plan.FIELDS``, in that order."""

DEFAULT_ORIGIN = "default"


@dataclass(frozen=True, slots=True)
class AnalysisConfig:
    """How text becomes terms; a change makes the index stale."""

    language: str


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """What search does when the caller does not say, and how it ranks."""

    mode: SearchMode
    limit: int
    deadline_ms: int
    k1: float
    b: FieldValues
    weights: FieldValues

    def params(self) -> Params:
        """The ranking parameters as an engine takes them."""
        return Params(k1=self.k1, b=self.b, weights=self.weights)


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """How the index is built."""

    build_memory_mb: int


@dataclass(frozen=True, slots=True)
class DaemonConfig:
    """When the daemon goes away by itself."""

    idle_timeout_s: int


@dataclass(frozen=True, slots=True)
class HistoryConfig:
    """How long superseded and unlisted sections are kept from gc."""

    keep_days: int


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """Where vectors come from; nothing leaves the machine unless an address stands here."""

    provider: Literal["none", "onnx", "api"]
    model: str
    dimensions: int
    rrf_k: int
    api_url: str
    api_key_env: str
    model_path: str
    model_url: str
    model_sha256: str
    allow_download: bool


@dataclass(frozen=True, slots=True)
class AutoCaptureConfig:
    """Whether and how much is captured from an agent's session."""

    enabled: bool
    trigger_interval: int
    max_captures_per_session: int
    dry_run: bool


@dataclass(frozen=True, slots=True)
class CaptureConfig:
    """What happens to captured candidates."""

    auto_accept: bool
    nudge: bool


@dataclass(frozen=True, slots=True)
class Config:
    """All settings. ``origins`` maps each key (``search.k1``) to ``default`` or ``worker.toml:<line>``."""

    analysis: AnalysisConfig
    search: SearchConfig
    index: IndexConfig
    daemon: DaemonConfig
    history: HistoryConfig
    embedding: EmbeddingConfig
    auto_capture: AutoCaptureConfig
    capture: CaptureConfig
    values: Mapping[str, Any]
    origins: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of worker.toml.

    Attributes:
        key: table and name, joined by dots.
        default: the value when the file does not say.
        allowed: what it may be, in words; follows "must be" in errors.
        accepts: whether a value read from the file is allowed.
        meaning: one line for people.
    """

    key: str
    default: Any
    allowed: str
    accepts: Callable[[Any], bool]
    meaning: str


def _integer(low: int, high: int) -> tuple[str, Callable[[Any], bool]]:
    return f"a whole number from {low} to {high}", lambda value: type(value) is int and low <= value <= high


def _number(low: float, high: float) -> tuple[str, Callable[[Any], bool]]:
    def accepts(value: Any) -> bool:
        return type(value) in (int, float) and math.isfinite(value) and low <= value <= high

    return f"a number from {low:g} to {high:g}", accepts


def _choice(*names: str) -> tuple[str, Callable[[Any], bool]]:
    return "one of " + ", ".join(f'"{name}"' for name in names), lambda value: type(value) is str and value in names


_BOOLEAN: tuple[str, Callable[[Any], bool]] = ("true or false", lambda value: type(value) is bool)
_TEXT: tuple[str, Callable[[Any], bool]] = ("a string", lambda value: type(value) is str)
_SHA256: tuple[str, Callable[[Any], bool]] = (
    "64 hexadecimal digits, or an empty string",
    lambda value: type(value) is str and re.fullmatch(r"([0-9A-Fa-f]{64})?", value) is not None,
)
_NAME: tuple[str, Callable[[Any], bool]] = (
    "a string that is not empty",
    lambda value: type(value) is str and value.strip() != "",
)

_WEIGHTS = {"title": 3.0, "body": 1.0, "description": 1.0, "tags": 1.0, "heading": 1.0}
_B = dict.fromkeys(FIELDS, 0.6)

SETTINGS: tuple[Setting, ...] = (
    Setting("analysis.language", "english", *_choice(*LANGUAGES), "stems of words in Latin script"),
    Setting("search.mode", "lexical", *_choice("lexical", "vector", "hybrid"), "mode of a search that names none"),
    Setting("search.limit", 10, *_integer(1, 1000), "hits on a page"),
    Setting("search.deadline_ms", 1000, *_integer(1, 60_000), "wait for a query's vector, once the model is loaded"),
    Setting("search.k1", 1.2, *_number(0.01, 100), "BM25F: how soon repetition of a word stops to count"),
    *(
        Setting(f"search.b.{name}", _B[name], *_number(0, 1), f"BM25F: length normalisation of {name}")
        for name in FIELDS
    ),
    *(
        Setting(f"search.weights.{name}", _WEIGHTS[name], *_number(0, 1000), f"BM25F: weight of {name}")
        for name in FIELDS
    ),
    Setting("index.build_memory_mb", 256, *_integer(16, 65_536), "memory that building an index may take"),
    Setting("daemon.idle_timeout_s", 900, *_integer(1, 31_536_000), "the daemon stops after this long without a call"),
    Setting("history.keep_days", 30, *_integer(0, 36_500), "gc leaves what was retired more recently alone"),
    Setting("embedding.provider", "none", *_choice("none", "onnx", "api"), "where vectors come from"),
    Setting("embedding.model", "all-MiniLM-L6-v2", *_NAME, "name of the embedding model"),
    Setting("embedding.dimensions", 384, *_integer(1, 65_535), "length of its vectors"),
    Setting("embedding.rrf_k", 60, *_integer(1, 10_000), "constant of the rank fusion in hybrid searches"),
    Setting("embedding.api_url", "", *_TEXT, "base address of an embedding service"),
    Setting("embedding.api_key_env", "KBDB_API_KEY", *_NAME, "environment variable that holds the service's key"),
    Setting("embedding.model_path", "", *_TEXT, "folder of a local model"),
    Setting("embedding.model_url", "", *_TEXT, "where kbdb embed fetch downloads the model file from"),
    Setting("embedding.model_sha256", "", *_SHA256, "what its file must hash to; empty for the one kbdb knows"),
    Setting("embedding.allow_download", False, *_BOOLEAN, "whether the first use may download it"),
    Setting("auto_capture.enabled", False, *_BOOLEAN, "propose memories from an agent's session"),
    Setting("auto_capture.trigger_interval", 10, *_integer(1, 10_000), "tool calls between two looks"),
    Setting("auto_capture.max_captures_per_session", 20, *_integer(0, 10_000), "most proposals in one session"),
    Setting("auto_capture.dry_run", False, *_BOOLEAN, "look, and store nothing"),
    Setting("capture.auto_accept", False, *_BOOLEAN, "accept proposals without review"),
    Setting("capture.nudge", False, *_BOOLEAN, "remind the agent of open proposals"),
)
"""Every setting. The ranking numbers are chosen by measurement: bench/quality says how."""

_BY_KEY = {setting.key: setting for setting in SETTINGS}
_TABLES = frozenset(key[:place] for key in _BY_KEY for place, letter in enumerate(key) if letter == ".")


def load(path: Path) -> Config:
    """Reads worker.toml; a missing file is one without keys.

    Raises:
        ConfigError: not TOML, an unknown key, or a value that is not allowed; names key, line and what is.
        StorageError: the file exists and cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error
    return parse(data, str(path), path.name)


def settings_digest(layout: Layout) -> str:
    """Stands for what worker.toml and synonyms.toml hold now: another one, if either was changed, made or removed."""
    import hashlib

    digest = hashlib.sha256()
    for path in (layout.config, layout.synonyms):
        try:
            data = path.read_bytes()
        except OSError:
            data = b""
        digest.update(b"%d\n" % len(data) + data)
    return digest.hexdigest()


def parse(data: bytes, path: str = "worker.toml", name: str = "worker.toml") -> Config:
    """The settings that ``data``, a worker.toml, makes.

    Args:
        data: the file's bytes.
        path: for messages.
        name: for the origins.

    Raises:
        ConfigError: as for ``load``.
    """
    values: dict[str, Any] = {setting.key: setting.default for setting in SETTINGS}
    origins = dict.fromkeys(values, DEFAULT_ORIGIN)
    if data:
        text, table = _read_toml(data, path)
        lines = _key_lines(text)
        for key, value in _settings_in(table, "", lines, path):
            setting = _BY_KEY[key]
            line = _line_of(key, lines)
            if not setting.accepts(value):
                raise ConfigError(f"{path} line {line}: {key} is {value!r}", f"{key} must be {setting.allowed}")
            values[key] = float(value) if type(setting.default) is float else value
            origins[key] = f"{name}:{line}"
    return _config(values, origins)


def toml_value(value: str | bool | float) -> str:
    """A setting's value as worker.toml writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def _read_toml(data: bytes, path: str) -> tuple[str, dict[str, Any]]:
    import tomllib

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path} line {line}: not UTF-8 (byte {error.start})", "save the file as UTF-8") from error
    try:
        return text, tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not TOML: {error}", "see https://toml.io for the syntax") from error


def _settings_in(table: Mapping[str, Any], prefix: str, lines: Mapping[str, int], path: str) -> list[tuple[str, Any]]:
    """The (key, value) pairs of a table and its tables; a number for ``search.b`` stands for all its fields."""
    found: list[tuple[str, Any]] = []
    for name, value in table.items():
        key = f"{prefix}{name}"
        if key in _BY_KEY:
            found.append((key, value))
        elif key == "search.b" and not isinstance(value, dict):
            found += [(f"{key}.{field}", value) for field in FIELDS]
        elif key in _TABLES and isinstance(value, dict):
            found += _settings_in(value, f"{key}.", lines, path)
        else:
            raise _unknown(key, prefix, value, _line_of(key, lines), path)
    return found


def _unknown(key: str, prefix: str, value: Any, line: int, path: str) -> ConfigError:
    if key in _TABLES:
        return ConfigError(f"{path} line {line}: {key} is {value!r}", f"{key} must be a table, written [{key}]")
    import difflib

    depth = prefix.count(".")
    known = list(dict.fromkeys(".".join(k.split(".")[: depth + 1]) for k in _BY_KEY if k.startswith(prefix)))
    close = difflib.get_close_matches(key, known, 1)
    where = f"[{prefix[:-1]}] knows" if prefix else "known tables:"
    names = ", ".join(name[len(prefix) :] for name in known)
    meant = f"did you mean {close[0]}? " if close else ""
    return ConfigError(f"{path} line {line}: unknown key {key}", f"{meant}{where} {names}")


_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")
_KEY = re.compile(r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")


def _key_lines(text: str) -> dict[str, int]:
    """The line of each table header and key. Good for messages; what the keys mean is tomllib's business."""
    lines: dict[str, int] = {}
    table = ""
    inside = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if not inside:
            if line.lstrip().startswith("#"):
                continue
            if header := _HEADER.match(line):
                table = _plain_key(header[1]) + "."
                lines.setdefault(table[:-1], number)
            elif key := _KEY.match(line):
                lines.setdefault(table + _plain_key(key[1]), number)
        for quotes in ('"""', "'''"):
            if inside in ("", quotes) and line.count(quotes) % 2:
                inside = "" if inside else quotes
    return lines


def _plain_key(written: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in written.split("."))


def _line_of(key: str, lines: Mapping[str, int]) -> int:
    """The line of the key, or of the innermost table that holds it (inline tables stand on their key's line)."""
    while key not in lines and "." in key:
        key = key.rpartition(".")[0]
    return lines.get(key, 1)


def _config(values: Mapping[str, Any], origins: Mapping[str, str]) -> Config:
    def table(name: str) -> dict[str, Any]:
        prefix = f"{name}."
        return {key[len(prefix) :]: value for key, value in values.items() if key.startswith(prefix)}

    search = {name: value for name, value in table("search").items() if "." not in name}
    return Config(
        analysis=AnalysisConfig(**table("analysis")),
        search=SearchConfig(**search, b=_by_field(values, "search.b"), weights=_by_field(values, "search.weights")),
        index=IndexConfig(**table("index")),
        daemon=DaemonConfig(**table("daemon")),
        history=HistoryConfig(**table("history")),
        embedding=EmbeddingConfig(**table("embedding")),
        auto_capture=AutoCaptureConfig(**table("auto_capture")),
        capture=CaptureConfig(**table("capture")),
        values=values,
        origins=origins,
    )


def _by_field(values: Mapping[str, Any], table: str) -> FieldValues:
    return cast(FieldValues, tuple(values[f"{table}.{name}"] for name in FIELDS))
