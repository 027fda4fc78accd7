"""Results of search and similar for people: rank, title, place, score, snippet with the words found, kbid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kbdb.cli.render.paper import Paper, cells, counted, hashtag, joined, milliseconds, notes, visible
from kbdb.cli.render.table import Column, columns

if TYPE_CHECKING:
    from kbdb.model.search import ExplainShare, LegRank, PagedSearchResult, SearchHit, Unreadable
    from kbdb.model.similar import SimilarHit, SimilarResult

INDENT = 4
_FIT = {
    "all": "the best fits all words",
    "most": "the best fits most of the words",
    "any": "the best fits some of the words",
    "synonym": "found by synonyms",
    "near": "found by near spellings",
    "none": "listed for what they do not have",
}
_MARKED = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
"""What ``kbdb.query.snippet`` puts its ``MARKS`` around."""


def draw_search(result: PagedSearchResult, paper: Paper) -> str:
    """The whole answer: notes, hits, what could not be read, and a closing line."""
    lines = notes(result.warnings, paper)
    if lines:
        lines.append("")
    for rank, hit in enumerate(result.hits, start=result.offset + 1):
        lines += [*_hit(hit, rank, result.retrieval_method, paper), ""]
    return joined([*lines, *_unreadable(result.unreadable, paper), *_last(_closing(result), paper)])


def draw_similar(result: SimilarResult, paper: Paper) -> str:
    """What is near to a section: notes, hits, what could not be read, and a closing line."""
    lines = notes(result.warnings, paper)
    if lines:
        lines.append("")
    for rank, hit in enumerate(result.hits, start=1):
        lines += [*_head(hit, f"{hit.score:.3f}", rank, paper), _foot(hit, paper), ""]
    found = f"{counted(len(result.hits), 'section')} nearest in meaning to" if result.hits else "Nothing near to"
    times = f"{milliseconds(result.engine_ms)} engine, {milliseconds(result.elapsed_ms)} in all"
    closing = f"{found} {paper.plain(result.title) or result.kbid} ({times})"
    return joined([*lines, *_unreadable(result.unreadable, paper), *_last(closing, paper)])


def _unreadable(faults: tuple[Unreadable, ...], paper: Paper) -> Iterator[str]:
    for fault in faults:
        yield f"{paper.paint('unreadable:', 'bad')} {paper.plain(fault.kbid)}  {paper.plain(fault.message)}"


def _last(closing: str, paper: Paper) -> Iterator[str]:
    for start, end in paper.wrapped(closing, 0):
        yield paper.paint(closing[start:end], "dim")


def _head(hit: SearchHit | SimilarHit, score: str, rank: int, paper: Paper) -> Iterator[str]:
    """Rank, title and score, and on a second line the place."""
    number = f"{rank:>2}  "
    room = None if paper.width is None else paper.width - cells(number) - cells(score) - 2
    title = paper.cut(hit.title or "(untitled)", room)
    gap = " " * (2 if room is None else room - cells(title) + 2)
    yield f"{paper.paint(number, 'dim')}{paper.paint(title, 'strong')}{gap}{paper.paint(score, 'dim')}"
    yield " " * INDENT + paper.paint(paper.cut(_place(hit), _beside(paper)), "good")


def _foot(hit: SearchHit | SimilarHit, paper: Paper) -> str:
    tags = "".join(f" {hashtag(tag)}" for tag in hit.tags)
    return " " * INDENT + paper.paint(paper.plain(hit.kbid + tags), "dim")


def _hit(hit: SearchHit, rank: int, method: str, paper: Paper) -> Iterator[str]:
    # Fused scores are small, and near to each other.
    yield from _head(hit, f"{hit.score:.4f}" if method == "hybrid" else f"{hit.score:.3f}", rank, paper)
    if hit.content is not None:
        yield from (" " * INDENT + line for line in visible(hit.content).rstrip().split("\n"))
    elif hit.snippet:
        yield from marked_text(hit.snippet, INDENT, paper)
    if hit.explain is not None:
        yield from _explanation(hit.explain, paper)
        yield from _sums(hit, method)
    yield _foot(hit, paper)


def _place(hit: SearchHit | SimilarHit) -> str:
    return f"{hit.source or hit.docid}:{hit.line}" + "".join(f" > {title}" for title in hit.heading_path)


def marked_text(text: str, indent: int, paper: Paper) -> Iterator[str]:
    """Running text with ``**marked**`` words, wrapped; the marks become colour where there is colour."""
    text = paper.plain(text)
    spans: list[tuple[int, int]] = []
    if paper.colour:
        plain = ""
        last = 0
        for found in _MARKED.finditer(text):
            plain += text[last : found.start()]
            spans.append((len(plain), len(plain) + len(found[1])))
            plain += found[1]
            last = found.end()
        text = plain + text[last:]
    for start, end in paper.wrapped(text, indent):
        yield " " * indent + _painted(text, start, end, spans, paper)


def _painted(text: str, start: int, end: int, spans: list[tuple[int, int]], paper: Paper) -> str:
    """The slice of the text with those parts of it painted that lie in a span."""
    line, at = "", start
    for first, last in spans:
        low, high = max(first, at), min(last, end)
        if low < high:
            line += text[at:low] + paper.paint(text[low:high], "match")
            at = high
    return line + text[at:end]


def _explanation(shares: tuple[ExplainShare, ...], paper: Paper) -> Iterator[str]:
    if not shares:
        return
    head = ("share", "word", "term", "weight", "idf", "saturation", "found in")
    rows = [head] + [
        (
            f"{share.value:.6f}",
            share.clause,
            share.term,
            f"{share.weight:g}",
            f"{share.idf:.4f}",
            f"{share.saturation:.4f}",
            " ".join(f"{field}:{count}" for field, count in share.frequencies.items() if count),
        )
        for share in shares
    ]
    word = Column(cut=True)
    form = (Column(), word, word, Column(rank=4), Column(rank=2), Column(rank=3), Column(cut=True, rank=1))
    inner = Paper(None if paper.width is None else paper.width - INDENT, paper.colour)
    table = columns(inner, rows, form)
    yield " " * INDENT + paper.paint(table[0], "dim")
    yield from (" " * INDENT + line for line in table[1:])


def _sums(hit: SearchHit, method: str) -> Iterator[str]:
    """What the score is made of, each mode's rank where there are two."""
    for leg in hit.legs or ():
        yield " " * INDENT + _leg(leg)
    of_what = {"vector": "cosine", "hybrid": "score, of both ranks"}.get(method, "score")
    if hit.explain or method != "lexical":
        yield " " * INDENT + f"{hit.score:.6f}  {of_what}"


def _leg(leg: LegRank) -> str:
    what = "by words" if leg.leg == "lexical" else "cosine"
    return f"{leg.score:.6f}  {what}, rank {leg.rank:,}"


def _closing(result: PagedSearchResult) -> str:
    asked, used = result.search_mode, result.retrieval_method
    mode = used if used == asked else f"{used} instead of {asked}"
    times = f"{mode}, {milliseconds(result.engine_ms)} engine, {milliseconds(result.elapsed_ms)} in all"
    total = f"{result.total:,}" if result.total_is_exact else f"{result.total:,} or more"
    hidden = f"; {result.hidden:,} held back (superseded, forgotten or expired)" if result.hidden else ""
    if not result.hits:
        found = counted(result.total, "section") if result.total_is_exact else f"{total} sections"
        if result.offset < result.total:
            return f"{found} found, but none of this page can be read{hidden} ({times})"
        if result.total:
            return f"No more: {found} found, and the page begins after {result.offset:,}{hidden}"
        return f"Nothing found{hidden} ({times})"
    first, last = result.offset + 1, result.offset + len(result.hits)
    if result.match == "none" and used != "lexical":
        fit = "found by meaning, and none is near" if result.verdict == "unanswered" else "found by meaning"
    else:
        fit = _FIT.get(result.match, result.match)
    fit += "; weak" if result.verdict == "weak" else ""
    return f"{first}-{last} of {total}, {fit}{hidden} ({times})"


def _beside(paper: Paper) -> int | None:
    return None if paper.width is None else paper.width - INDENT
