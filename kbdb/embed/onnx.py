"""The provider that computes here: onnxruntime runs the model, tokenizers cuts the text.

A text goes through the model alone, never padded beside others: measured, that is as fast on a processor as two at a
time, takes the least memory, and makes a vector a function of its text, whatever else was asked for.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kbdb.embed import models
from kbdb.embed.api import EmbeddingProvider
from kbdb.embed.golden import read_golden, self_test
from kbdb.embed.native import GATE
from kbdb.errors import (
    EmbeddingModelInvalidError,
    EmbeddingModelNotFoundError,
    EmbeddingPackageMissingError,
    StorageError,
)
from kbdb.model.embedding import Fingerprint
from kbdb.platform import usable_cores

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from kbdb.config import EmbeddingConfig
    from kbdb.embed.api import Vectors

MOST_THREADS = 4
MOST_CHARACTERS = 32_768
"""Of a longer text only its beginning is cut into tokens; 256 of them hardly ever reach this far."""

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that passed its self-test.

    Attributes:
        place: the file it came from.
        cosine: the lowest of the self-test.
        network: what runs.
    """

    place: models.Place
    cosine: float
    network: Network


@dataclass(frozen=True, slots=True)
class Tokenizing:
    """What cuts text into tokens: a file's bytes, and where it stands."""

    data: bytes
    path: Path


class OnnxEmbeddingProvider(EmbeddingProvider):
    """Loads its model at the first text, once; the lock is held for that only."""

    def __init__(self, config: EmbeddingConfig, environ: Mapping[str, str]) -> None:
        """Raises:
        ConfigError: the settings cannot be meant.
        """
        models.check_settings(config)
        self._config = config
        self._environ = environ
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None

    def prepare(self) -> None:
        """Loads the model."""
        self.load()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Mean of the token vectors, at unit length; a text is cut at 256 tokens.

        Raises:
            EmbeddingPackageMissingError: onnxruntime, tokenizers or numpy is not installed.
            EmbeddingModelNotFoundError: no model file; names all places.
            EmbeddingModelInvalidError: damaged, or it does not give the vectors it should.
        """
        network = self.load().network
        import numpy as np

        rows = np.empty((len(texts), self.dimensions()), np.float32)
        for row, text in enumerate(texts):
            with GATE:
                rows[row] = network.vector(text)
        return rows

    def dimensions(self) -> int:
        """As configured; the self-test holds the model to it."""
        return self._config.dimensions

    def model_name(self) -> str:
        """As configured."""
        return self._config.model

    def scripts(self) -> frozenset[str] | None:
        """Those of a model that kbdb knows; all for a model of the user's own."""
        known = models.KNOWN.get(self._config.model)
        return known.scripts if known else None

    def floors(self) -> tuple[float, float] | None:
        """Those of a model that kbdb knows."""
        known = models.KNOWN.get(self._config.model)
        return known.floors if known else None

    def fingerprint(self) -> Fingerprint:
        """What its vectors may be compared with."""
        digest = hashlib.sha256(self._tokenizer + b"\n%d" % models.MAX_TOKENS).hexdigest()
        return Fingerprint(self.model_name(), self.dimensions(), "mean", "unit", digest)

    @cached_property
    def _tokenizer(self) -> bytes:
        """Read once, so that the fingerprint is of what cuts the texts."""
        return _tokenizer_bytes(models.tokenizer_file(self._config))

    def load(self) -> Loaded:
        """The model, loaded and tested; the first call takes some tenths of a second, and a download where allowed."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> Loaded:
        config = self._config
        place = self._place()
        tokenizer = Tokenizing(self._tokenizer, models.tokenizer_file(config))
        data = models.read(place)
        with GATE:
            network = Network(data, place.path, tokenizer, config.dimensions)
            cosine = self_test(
                read_golden(models.golden_file(config)),
                lambda text: [float(number) for number in network.vector(text)],
                f"{config.model} at {place.path}",
            )
        return Loaded(place, cosine, network)

    def _place(self) -> models.Place:
        try:
            return models.find(self._config, self._environ)
        except EmbeddingModelNotFoundError:
            if not (self._config.allow_download and self._config.model_url):
                raise
        from kbdb.embed.fetch import fetch

        fetch(self._config, self._environ)
        return models.find(self._config, self._environ)


class Network:
    """One model and its tokenizer, in memory; nothing in it changes, so that threads may share it."""

    def __init__(self, model: bytes, path: Path, tokenizer: Tokenizing, dimensions: int) -> None:
        """Raises:
        EmbeddingPackageMissingError: a package is not installed.
        EmbeddingModelInvalidError: the files are no such model.
        """
        try:
            import numpy
            import onnxruntime
            import tokenizers  # noqa: F401
        except ImportError as error:
            message = f"the onnx embedding provider needs {error.name}, which cannot be imported"
            raise EmbeddingPackageMissingError(message, "pip install 'kbdb[onnx]'") from error
        self._numpy = numpy
        self._path = path
        self._dimensions = dimensions
        self._session = _session(onnxruntime, model, path)
        self._inputs = {given.name for given in self._session.get_inputs()}
        if not {"input_ids"} <= self._inputs <= _INPUTS:
            names = ", ".join(sorted(self._inputs))
            raise EmbeddingModelInvalidError(f"{path} takes {names}", f"it may take {', '.join(sorted(_INPUTS))}")
        self._tokenizer = _tokenizer(tokenizer)

    def vector(self, text: str) -> npt.NDArray[np.float32]:
        """The vector of one text.

        Raises:
            EmbeddingModelInvalidError: the model gave no vectors of tokens, or ones that are no numbers.
        """
        numpy = self._numpy
        tokens = self.tokens(text)
        ids = numpy.array([tokens], numpy.int64)
        ones = numpy.ones_like(ids)
        given = {"input_ids": ids, "attention_mask": ones, "token_type_ids": numpy.zeros_like(ids)}
        hidden = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        if hidden.shape != (1, len(tokens), self._dimensions):
            wanted = (1, len(tokens), self._dimensions)
            raise EmbeddingModelInvalidError(
                f"{self._path} gives an array of shape {hidden.shape} where vectors of tokens have {wanted}",
                "its first output must be last_hidden_state, as wide as embedding.dimensions",
            )
        mean = hidden[0].mean(axis=0, dtype=numpy.float64)
        length = float(numpy.sqrt(numpy.square(mean).sum()))
        if not 0 < length < float("inf"):
            raise EmbeddingModelInvalidError(f"{self._path} gives vectors that are no numbers", "the file is damaged")
        unit: npt.NDArray[np.float32] = (mean / length).astype(numpy.float32)
        return unit

    def tokens(self, text: str) -> list[int]:
        """The numbers of a text's tokens, at most ``models.MAX_TOKENS``."""
        # Half a surrogate pair, as JSON can carry one, is no text to the tokenizer.
        clean = text[:MOST_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
        ids: list[int] = self._tokenizer.encode(clean).ids
        return ids


def _session(onnxruntime: Any, model: bytes, path: Path) -> Any:
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    # Searches and the user's own programs need the other half of the machine.
    options.intra_op_num_threads = max(1, min(MOST_THREADS, usable_cores() // 2))
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The arena never gives back what the longest text took.
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own classes have no base but this
        reason = " ".join(str(error).split())[:200]
        raise EmbeddingModelInvalidError(f"{path} is no model that onnxruntime can load: {reason}") from error


def _tokenizer_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        hint = f"model_path must name a folder with {models.OWN_MODEL}"
        raise EmbeddingModelNotFoundError(f"{path} is missing", hint) from error
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error


def _tokenizer(file: Tokenizing) -> Any:
    """What cuts text into tokens.

    Published tokenizer files cut at 128 tokens and pad to as many; whatever the file says, ours does neither.
    """
    from tokenizers import Tokenizer

    try:
        text = file.data.decode("utf-8")
        made = _word_pieces(text) if file.path.suffix == ".txt" else Tokenizer.from_str(text)
        made.enable_truncation(models.MAX_TOKENS)
        made.no_padding()
    except Exception as error:  # as above: plain Exception is what tokenizers raises
        reason = " ".join(str(error).split())[:200]
        raise EmbeddingModelInvalidError(f"{file.path} is no tokenizer: {reason}") from error
    return made


def _word_pieces(vocabulary: str) -> Any:
    """BERT's tokenizer, uncased, of a vocabulary with one piece a line."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    pieces = {piece: number for number, piece in enumerate(vocabulary.rstrip("\n").split("\n"))}
    made: Any = Tokenizer(
        WordPiece(pieces, unk_token="[UNK]", max_input_chars_per_word=100, continuing_subword_prefix="##")
    )
    made.add_special_tokens(list(_SPECIAL))
    made.normalizer = BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
    made.pre_tokenizer = BertPreTokenizer()
    ends = [(name, pieces[name]) for name in ("[CLS]", "[SEP]")]
    made.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return made
