"""The 50,000 words of the benchmark corpus, by rank: English function words, then made-up stems with English endings.

The endings are there so that stemmers conflate about as much as they do on English.
"""

from __future__ import annotations

import random
from functools import cache

SIZE = 50_000
_HEAD = (
    "the of and to in a is that it for was on are as with be by this have from or had not but what all "
    "were when we there can an your which their if do will each about how up out them then so some would "
    "like into has more no way could my than been who its"
)
FUNCTION_WORDS = tuple(_HEAD.split())
SEED = 7
"""The dictionary is the same for every corpus."""

_CONSONANTS = "b c d f g h j k l m n p r s t v w br cr dr fl gr pl pr sh sl sp st tr ch th"
_ONSETS = tuple(_CONSONANTS.split())
_VOWELS = ("a", "e", "i", "o", "u", "a", "e", "i", "o", "ai", "ea", "oo")
_CODAS = ("", "", "", "n", "r", "l", "s", "t", "m", "ck", "nd", "rt", "st", "x")
_ENDINGS = ("s", "ed", "ing", "er", "ly", "ness", "tion")
_SYLLABLES = (1, 2, 2, 2, 3, 3)
_CODA_RATE = 0.6
_ENDING_RATE = 0.14
_SHORTEST, _LONGEST = 3, 16
_LENGTH_PULL = 0.35
"""How strongly a short word tends to a frequent rank, as in prose; against noise of up to ``_NOISE``."""
_NOISE = 6


@cache
def words() -> tuple[str, ...]:
    """All words, the most frequent first."""
    rng = random.Random(SEED)
    wanted = SIZE - len(FUNCTION_WORDS)
    known = set(FUNCTION_WORDS)
    made: list[str] = []
    while len(made) < wanted:
        stem = _stem(rng)
        forms = [stem] + [stem + ending for ending in _ENDINGS if rng.random() < _ENDING_RATE]
        for form in forms:
            if _SHORTEST <= len(form) <= _LONGEST and form not in known:
                known.add(form)
                made.append(form)
    del made[wanted:]
    placed = sorted((len(word) * _LENGTH_PULL + _NOISE * rng.random(), word) for word in made)
    return (*FUNCTION_WORDS, *(word for _, word in placed))


def _stem(rng: random.Random) -> str:
    syllables = []
    for _ in range(rng.choice(_SYLLABLES)):
        syllable = rng.choice(_ONSETS) + rng.choice(_VOWELS)
        if rng.random() < _CODA_RATE:
            syllable += rng.choice(_CODAS)
        syllables.append(syllable)
    return "".join(syllables)
