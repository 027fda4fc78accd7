"""The self-test of a local model: texts whose vectors are known, compared with what the model gives now.

A wrong pooling, a missing prefix or another tokenizer still gives vectors, only bad ones; here it becomes an error.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kbdb.errors import EmbeddingModelInvalidError, EmbeddingModelNotFoundError

LEAST_COSINE = 0.99
"""An int8 model comes to 0.996 and more of its float32 original; pooling by the first token stays far below."""


@dataclass(frozen=True, slots=True)
class Golden:
    """A text and the vector that its model must give for it."""

    text: str
    vector: tuple[float, ...]


def read_golden(path: Path) -> list[Golden]:
    """The golden vectors of a file with one object a line: ``text`` and ``vector``.

    Raises:
        EmbeddingModelNotFoundError: there is no such file.
        EmbeddingModelInvalidError: it holds something else, or nothing.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        hint = 'write texts and the vectors the model is known to give, {"text": …, "vector": […]}, one object a line'
        raise EmbeddingModelNotFoundError(f"{path} is missing, so that the model cannot be tested", hint) from error
    except (OSError, UnicodeDecodeError) as error:
        raise EmbeddingModelInvalidError(f"cannot read {path}: {error}") from error
    found = [_golden(line, f"{path} line {number}") for number, line in enumerate(lines, start=1) if line.strip()]
    if not found:
        raise EmbeddingModelInvalidError(f"{path} is empty", 'it needs a line like {"text": …, "vector": […]}')
    return found


def _golden(line: str, where: str) -> Golden:
    try:
        value: Any = json.loads(line)
        text, vector = value["text"], tuple(map(float, value["vector"]))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        hint = 'each line is an object like {"text": …, "vector": […]}'
        raise EmbeddingModelInvalidError(f"{where}: no golden vector", hint) from error
    if not isinstance(text, str) or not math.hypot(*vector) > 0:
        raise EmbeddingModelInvalidError(f"{where}: no golden vector", "text is a string, vector has a length")
    return Golden(text, vector)


def self_test(golden: Sequence[Golden], embed: Callable[[str], Sequence[float]], model: str) -> float:
    """The lowest cosine between golden vectors and those that ``embed`` gives.

    Raises:
        EmbeddingModelInvalidError: it is below ``LEAST_COSINE``, or no number.
    """
    lowest = min(_cosine(one.vector, embed(one.text)) for one in golden)
    if not lowest >= LEAST_COSINE:
        raise EmbeddingModelInvalidError(
            f"{model} fails its self-test: cosine {lowest:.4f} to its known vectors, {LEAST_COSINE} is needed",
            "the model file, its tokenizer or its pooling is another than the model's name says",
        )
    return lowest


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    if len(left) != len(right):
        return math.nan
    lengths = math.hypot(*left) * math.hypot(*right)
    return sum(a * b for a, b in zip(left, right, strict=True)) / lengths if lengths else math.nan
