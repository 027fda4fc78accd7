"""The benchmark's query sets: the same for every size, each word found in the first thousand sections."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from functools import cache

from bench.speed.corpus import SEED, sections
from bench.speed.vocabulary import FUNCTION_WORDS, words

SETS = ("common1", "rare1", "mixed23", "nl58", "phrase2")
PHRASES = "phrase2"
COUNT = 200
"""Queries a set."""

_SAMPLE = 1000
_HEAD = len(FUNCTION_WORDS)
_COMMON, _MIDDLE, _RARE = (_HEAD, 400), (400, 5_000), (5_000, 30_000)
"""Ranks. A common word stands in 5 to 40 % of the sections."""
_FUNCTION_SHARE = 0.4
"""Of a question's words."""


def queries(seed: int = SEED, count: int = COUNT) -> Mapping[str, tuple[str, ...]]:
    """The query sets by name; phrases are given without quotation marks.

    common1: one common word. rare1: one rare word. mixed23: a common word, a middling one, and a rare one half the
    time. nl58: 5 to 8 words like a question's. phrase2: two words that stand side by side, not both function words.
    """
    rng = random.Random(f"queries:{seed}")
    sentences = [list(_sentences(one.body)) for one in sections(_SAMPLE, seed)]
    present = {word for text in sentences for sentence in text for word in sentence}
    common, middle, rare = (
        [word for word in words()[first:end] if word in present] for first, end in (_COMMON, _MIDDLE, _RARE)
    )
    return {
        "common1": tuple(rng.choice(common) for _ in range(count)),
        "rare1": tuple(rng.sample(rare, count)),
        "mixed23": tuple(_mixed(rng, common, middle, rare) for _ in range(count)),
        "nl58": tuple(_question(rng, common, middle) for _ in range(count)),
        "phrase2": tuple(_phrases(rng, sentences, count)),
    }


def as_written(name: str, query: str) -> str:
    """A query of the set of this name as people type it: phrases in quotation marks."""
    return f'"{query}"' if name == PHRASES else query


def _sentences(body: str) -> Iterator[list[str]]:
    """The words of each sentence; the last of one paragraph and the first of the next count as one sentence."""
    known = _ranks()
    for sentence in body.split(". "):
        yield [word for word in (part.strip(".").lower() for part in sentence.split()) if word in known]


def _mixed(rng: random.Random, common: list[str], middle: list[str], rare: list[str]) -> str:
    chosen = [rng.choice(common), rng.choice(middle)]
    if rng.random() < 0.5:
        chosen.append(rng.choice(rare))
    rng.shuffle(chosen)
    return " ".join(chosen)


def _question(rng: random.Random, common: list[str], middle: list[str]) -> str:
    length = rng.randint(5, 8)
    functions = max(1, round(length * _FUNCTION_SHARE))
    chosen = rng.sample(FUNCTION_WORDS, functions)
    chosen.extend(rng.choice(common) for _ in range((length - functions) // 2))
    chosen.extend(rng.choice(middle) for _ in range(length - len(chosen)))
    rng.shuffle(chosen)
    return " ".join(chosen)


def _phrases(rng: random.Random, sentences: list[list[list[str]]], count: int) -> Iterator[str]:
    ranks = _ranks()
    while count:
        sentence = rng.choice(rng.choice(sentences))
        if len(sentence) < 3:
            continue
        place = rng.randrange(1, len(sentence) - 1)
        first, second = sentence[place : place + 2]
        if first != second and max(ranks[first], ranks[second]) >= _HEAD:
            yield f"{first} {second}"
            count -= 1


@cache
def _ranks() -> Mapping[str, int]:
    return {word: rank for rank, word in enumerate(words())}
