"""The benchmark corpus: sections of made-up prose that follow from seed and number alone, as JSON lines or as Markdown.

Word ranks follow Zipf's law with s = 1. Section ``n`` is the same whatever the corpus's size, so a smaller corpus is a
prefix of a larger one. Nothing is held in memory: a million sections stream.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import accumulate, islice
from pathlib import Path

from bench.speed.vocabulary import words

SEED = 42
_TAGS = (
    "architecture database deploy security testing network storage api cache auth "
    "build config logging search index release policy review agent memory"
)
TAGS = tuple(_TAGS.split())
REFERENCE_RATE = 0.05
SECTIONS_A_FILE = 20
FILES_A_FOLDER = 100

_SHORTEST_BODY, _LONGEST_BODY, _USUAL_BODY = 100, 500, 150
_FIRST_TITLE_RANK = 25
"""Titles draw from flatter ranks than bodies: fewer function words."""
_SENTENCES_A_PARAGRAPH = 5
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


@dataclass(frozen=True, slots=True)
class CorpusSection:
    """One section; ``reference`` names the section it links to in its last line, or is empty."""

    id: str
    title: str
    body: str
    tags: tuple[str, ...]
    reference: str = ""


def sections(count: int, seed: int = SEED) -> Iterator[CorpusSection]:
    """The first ``count`` sections."""
    return (section(number, seed) for number in range(count))


def section(number: int, seed: int = SEED) -> CorpusSection:
    """The section of this number, from 0."""
    rng = random.Random(f"{seed}:{number}")
    title = " ".join(rng.choices(words(), cum_weights=_cumulated(_FIRST_TITLE_RANK), k=rng.randint(3, 8)))
    length = int(rng.triangular(_SHORTEST_BODY, _LONGEST_BODY, _USUAL_BODY))
    body = _prose(rng, rng.choices(words(), cum_weights=_cumulated(1), k=length))
    tags = tuple(rng.sample(TAGS, rng.randint(1, 3)))
    reference = ""
    if number and rng.random() < REFERENCE_RATE:
        reference = section_id(rng.randrange(number), seed)
        body += f"\n\nSee $(link:{reference})."
    return CorpusSection(section_id(number, seed), _capitalised(title), body, tags, reference)


def section_id(number: int, seed: int = SEED) -> str:
    """What the engines are given as a section's id: 26 characters, as kbdb's own are."""
    value = int.from_bytes(sha256(b"%d:%d" % (seed, number)).digest()[:17], "big")
    return "".join(_ALPHABET[(value >> (5 * place)) & 31] for place in range(26))


def write_lines(path: Path, corpus: Iterable[CorpusSection]) -> None:
    """Writes a corpus as JSON lines; ``ref`` stands only where there is a reference."""
    with path.open("w", encoding="ascii") as file:
        for one in corpus:
            value = {"id": one.id, "title": one.title, "body": one.body, "tags": one.tags}
            if one.reference:
                value["ref"] = one.reference
            file.write(json.dumps(value) + "\n")


def read_lines(path: Path) -> Iterator[CorpusSection]:
    """The corpus that ``write_lines`` wrote."""
    with path.open(encoding="ascii") as file:
        for value in map(json.loads, file):
            yield CorpusSection(value["id"], value["title"], value["body"], tuple(value["tags"]), value.get("ref", ""))


def write_markdown(folder: Path, corpus: Iterable[CorpusSection]) -> int:
    """Writes a corpus as Markdown files of 20 sections, 100 files a folder.

    Returns:
        The number of files.
    """
    rest = iter(corpus)
    count = 0
    while batch := list(islice(rest, SECTIONS_A_FILE)):
        path = folder / markdown_path(count)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(markdown(count, batch), encoding="ascii")
        count += 1
    return count


def markdown_path(number: int) -> str:
    """Where the file of this number lies in the corpus's folder."""
    return f"{number // FILES_A_FOLDER:04}/{number:06}.md"


def markdown(number: int, batch: Iterable[CorpusSection]) -> str:
    """A file's text: title and tags in front matter, the tags being those of its first section, then the sections.

    The title is not a heading, which would be one more section; its words are not in the vocabulary.
    """
    batch = list(batch)
    parts = [f"---\ntitle: Collection {number}\ntags: [{', '.join(batch[0].tags)}]\n---\n"]
    parts.extend(f"\n## {one.title}\n\n{one.body}\n" for one in batch)
    return "".join(parts)


def _prose(rng: random.Random, chosen: list[str]) -> str:
    """The words in sentences of 7 to 19, five sentences a paragraph."""
    pieces: list[str] = []
    place = 0
    while place < len(chosen):
        length = rng.randint(7, 19)
        ends_paragraph = len(pieces) % _SENTENCES_A_PARAGRAPH == _SENTENCES_A_PARAGRAPH - 1
        end = ".\n\n" if ends_paragraph else ". "
        pieces.append(_capitalised(" ".join(chosen[place : place + length])) + end)
        place += length
    return "".join(pieces).rstrip()


def _capitalised(text: str) -> str:
    return text[0].upper() + text[1:]


@cache
def _cumulated(first: int) -> list[float]:
    """Cumulated weights of all ranks by Zipf's law, the first rank counting as ``first``."""
    return list(accumulate(1.0 / (rank + first) for rank in range(len(words()))))
