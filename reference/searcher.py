"""A snapshot to search: segments, and which entries of each are live. Plans are executed by search.py."""

from __future__ import annotations

from collections.abc import Sequence

from kbdb.checks import (
    check_bitmaps,
    check_distance,
    check_entry_number,
    check_limit,
    check_params,
    check_plan,
    check_segment_number,
    check_threshold,
    utf8,
)
from kbdb.plan import FIELDS, TOTAL_LIMIT, EngineResult, Params, Plan, Share
from kbdb.reference.bm25f import bm25f_averages
from kbdb.reference.corpus import corpus_kbid, corpus_lengths
from kbdb.reference.distance import distance_to
from kbdb.reference.search import explain, search
from kbdb.reference.segment import Segment
from kbdb.reference.similar import similar
from kbdb.reference.terms import postings_read, terms_find
from kbdb.reference.words import words_df, words_find, words_of_stem


class Searcher:
    """A snapshot: segments, and the entries of each that are live. Entries outside do not exist for it.

    Attributes:
        sections: number of live entries, N.
        totals: summed lengths of ``FIELDS`` over the live entries.
        memory_bytes: held beside the segments' files, roughly.
        segments, live, lengths: what is searched, the entries of each that are live, the lengths of each entry.
        params, averages: of BM25F.
    """

    def __init__(self, segments: Sequence[Segment], live: Sequence[bytes], params: Params) -> None:
        """Counts the live entries.

        Args:
            segments: those to search; a hit names its segment by its place here.
            live: one bitmap a segment.
            params: of BM25F, those the segments were built with.
        """
        check_bitmaps(live, [segment.sections for segment in segments], "live")
        check_params(params)
        self.segments = list(segments)
        self.params = params
        self.live = [_entries(bitmap) for bitmap in live]
        self.lengths = [
            [corpus_lengths(segment.corpus, entry) for entry in range(segment.sections)] for segment in segments
        ]
        self.sections = sum(len(entries) for entries in self.live)
        title, body, description, tags, heading = (self._total(field) for field in range(len(FIELDS)))
        self.totals = (title, body, description, tags, heading)
        self.memory_bytes = sum(200 * len(lengths) for lengths in self.lengths)
        self.averages = bm25f_averages(self.sections, self.totals)

    def df(self, stem: str) -> int:
        """How many live entries hold a stem, in any field."""
        utf8(stem, "a stem")
        total = 0
        for segment, live in zip(self.segments, self.live, strict=True):
            record = terms_find(segment.terms, stem)
            if record is not None:
                total += sum(posting.entry in live for posting in postings_read(segment.terms, record))
        return total

    def word_df(self, word: str) -> int:
        """How many live entries hold a surface word, in any field."""
        utf8(word, "a word")
        return words_df(self, word)

    def words_of(self, stem: str) -> list[str]:
        """The surface words that have a stem, ascending; those of entries that are not live as well."""
        utf8(stem, "a stem")
        return sorted({word for segment in self.segments for word in words_of_stem(segment, stem)})

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Words of live entries that begin with ``prefix``, with their word_df, by falling word_df, then word."""
        check_limit(limit)
        utf8(prefix, "a prefix")
        return _by_df(words_find(self, lambda word: word.startswith(prefix)))[:limit]

    def words_containing(self, part: str, limit: int) -> list[tuple[str, int]]:
        """Words of live entries that hold ``part``, with their word_df, by falling word_df, then word."""
        check_limit(limit)
        utf8(part, "a part")
        return _by_df(words_find(self, lambda word: part in word))[:limit]

    def words_near(self, word: str, distance: int, limit: int) -> list[tuple[str, int, int]]:
        """Words of live entries at 1 to ``distance`` edits that begin with the same code point.

        Returns:
            (word, distance, word_df), by distance, falling word_df, word.
        """
        utf8(word, "a word")
        check_distance(distance)
        check_limit(limit)

        def near(other: str) -> bool:
            alike = other[:1] == word[:1] and abs(len(other) - len(word)) <= distance
            return alike and 1 <= distance_to(word, other) <= distance

        found = [(other, distance_to(word, other), df) for other, df in words_find(self, near).items()]
        return sorted(found, key=lambda item: (item[1], -item[2], item[0]))[:limit]

    def search(self, plan: Plan, limit: int, allowed: Sequence[bytes] | None = None) -> EngineResult:
        """The best ``limit`` sections that match, and how many match.

        Args:
            plan: the resolved query.
            limit: 0 or more.
            allowed: one bitmap a segment that narrows the candidates and never changes scores.
        """
        check_plan(plan)
        check_limit(limit)
        candidates = self.live
        if allowed is not None:
            check_bitmaps(allowed, [segment.sections for segment in self.segments], "allowed")
            candidates = [live & _entries(bitmap) for live, bitmap in zip(self.live, allowed, strict=True)]
        hits = search(self, plan, candidates)
        return EngineResult(tuple(hits[:limit]), min(len(hits), TOTAL_LIMIT), len(hits) <= TOTAL_LIMIT)

    def rank(self, plan: Plan, limit: int) -> list[tuple[str, float]]:
        """Like ``search``, but just kbids, as 26 characters, and scores."""
        return [(hit.kbid, hit.score) for hit in self.search(plan, limit).hits]

    def explain(self, plan: Plan, segment: int, entry: int) -> tuple[Share, ...]:
        """The shares of the should and must clauses that occur in an entry, in plan order; none when it is not live."""
        check_plan(plan)
        check_segment_number(segment, len(self.segments))
        check_entry_number(entry, self.segments[segment].sections)
        return explain(self, plan, segment, entry) if entry in self.live[segment] else ()

    def similar(self, stems: Sequence[str], threshold: float, limit: int) -> list[tuple[int, int, float]]:
        """Live entries whose stems in title and body have a Jaccard index of ``threshold`` or more with ``stems``.

        Returns:
            (segment, entry, Jaccard index), by falling index, kbid, segment.
        """
        for stem in stems:
            utf8(stem, "a stem")
        check_threshold(threshold)
        check_limit(limit)
        return self._best(similar(self, frozenset(stems), threshold), limit)

    def similar_to(
        self, segment: int, entries: Sequence[int], threshold: float, limit: int
    ) -> list[list[tuple[int, int, float]]]:
        """For each of some entries of a segment, what ``similar`` finds for its stems, itself left out."""
        check_segment_number(segment, len(self.segments))
        home = self.segments[segment]
        for entry in entries:
            check_entry_number(entry, home.sections)
        check_threshold(threshold)
        check_limit(limit)
        found = []
        for entry in entries:
            alike = similar(self, home.stem_sets[entry], threshold)
            found.append(self._best([hit for hit in alike if hit[:2] != (segment, entry)], limit))
        return found

    def _best(self, found: list[tuple[int, int, float]], limit: int) -> list[tuple[int, int, float]]:
        found.sort(key=lambda item: (-item[2], corpus_kbid(self.segments[item[0]].corpus, item[1]), item[0]))
        return found[:limit]

    def _total(self, field: int) -> int:
        pairs = zip(self.lengths, self.live, strict=True)
        return sum(lengths[entry][field] for lengths, live in pairs for entry in live)


def _by_df(words: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(words.items(), key=lambda item: (-item[1], item[0]))


def _entries(bitmap: bytes) -> set[int]:
    return {8 * place + bit for place, byte in enumerate(bitmap) for bit in range(8) if byte >> bit & 1}
