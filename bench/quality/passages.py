"""Prints whether long sections are found better by their passages than by their beginnings.

    python -m bench.quality.passages [DATA] [--cache DIR]

The model reads 256 tokens. Of a longer section either the beginning is embedded, or every passage, each with the title
in front, and the nearest one counts.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.quality.__main__ import data_folder
from bench.quality.cache import cached, local_provider
from bench.quality.collection import Document, Group, load_collection
from bench.quality.experiment import Experiment
from bench.quality.meaning import Cut, Meaning, fused, text_of, whole
from bench.quality.metrics import mean, paired_bootstrap, scores_of
from kbdb.embed.api import EmbeddingProvider
from kbdb.embed.models import MAX_TOKENS
from kbdb.sentences import sentence_ends

NAMES = ("cranfield", "cisi", "docs-qa", "locomo", "xquad/en")
"""The collections in the model's language."""

Fits = Callable[[str], bool]
"""Whether the model reads a text to its end."""


@dataclass(frozen=True, slots=True)
class Found:
    """nDCG@10 of each question of a collection."""

    vector: list[float]
    hybrid: list[float]


def passages(document: Document, fits: Fits) -> list[str]:
    """The texts that are embedded of a document: itself if it fits, else its passages with its title in front.

    Args:
        document: a title and a text.
        fits: says where a text is too long. A passage takes as many whole sentences as fit; a sentence that is too
            long by itself is cut between words.
    """
    if not whole(document) or fits(text_of(document)):
        return list(whole(document))
    front = f"{document.title}\n" if document.title.strip() else ""
    made: list[str] = []
    for sentence in _sentences(document.text):
        for piece in _pieces(sentence, lambda text: fits(front + text)):
            if made and fits(front + (longer := f"{made[-1]}{piece}")):
                made[-1] = longer
            else:
                made.append(piece)
    return [front + passage.strip() for passage in made]


def _sentences(text: str) -> Iterator[str]:
    """The sentences, each with the white space behind it."""
    start = 0
    for end in sentence_ends(text, 0, len(text)):
        yield text[start : end.end()]
        start = end.end()
    if text[start:].strip():
        yield text[start:]


def _pieces(sentence: str, fits: Fits) -> list[str]:
    """A sentence, halved between words until each piece fits or is one word."""
    words = re.findall(r"\s*\S+\s*", sentence)
    if fits(sentence) or len(words) < 2:
        return [sentence]
    half = len(words) // 2
    return [piece for part in (words[:half], words[half:]) for piece in _pieces("".join(part), fits)]


def main(arguments: list[str]) -> int:
    """Prints a table of both ways."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality.passages", description=__doc__)
    parser.add_argument("data", nargs="?", help="the folder of the collections")
    parser.add_argument("--cache", type=Path, help="a folder where vectors are kept for the next time")
    asked = parser.parse_args(arguments)
    local = local_provider()
    provider = cached(local, asked.cache)
    network = local.load().network

    def fits(text: str) -> bool:
        # One that fills all tokens may have been cut.
        return len(network.tokens(text)) < MAX_TOKENS

    print("| collection | documents | too long | passages | leg | beginning | passages | gained (95 %) |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in NAMES:
        _print_rows(name, load_collection(data_folder(asked.data) / name), provider, fits)
    return 0


def _print_rows(name: str, groups: Sequence[Group], provider: EmbeddingProvider, fits: Fits) -> None:
    documents = [document for group in groups for document in group.documents]
    cut = {document.id: passages(document, fits) for document in documents}
    long = [document.id for document in documents if whole(document) and not fits(text_of(document))]
    counts = f"{name} | {len(documents)} | {len(long)} | {sum(len(cut[id]) for id in long)}"
    if not long:
        print(f"| {counts} | | | | |", flush=True)
        return
    beginning = _found(groups, provider, whole)
    parts = _found(groups, provider, lambda document: cut[document.id])
    legs = (("vector", beginning.vector, parts.vector), ("hybrid", beginning.hybrid, parts.hybrid))
    for leg, one, other in legs:
        means = f"{mean(one):.4f} | {mean(other):.4f}"
        print(f"| {counts} | {leg} | {means} | {paired_bootstrap(other, one)} |", flush=True)


def _found(groups: Sequence[Group], provider: EmbeddingProvider, cut: Cut) -> Found:
    """How well the questions are answered with documents cut so."""
    queries = [query for group in groups for query in group.queries]
    nearest = [
        [document for document, _ in hits]
        for group in groups
        for hits in Meaning(group, provider, cut).answers(group.queries)
    ]
    lexical = [ranking for _, ranking in Experiment(groups).answers()]
    both = [fused(one, other) for one, other in zip(lexical, nearest, strict=True)]
    return Found(
        *(
            [scores_of(ranking, query.grades).ndcg for query, ranking in zip(queries, rankings, strict=True)]
            for rankings in (nearest, both)
        )
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
