"""Executes resolved plans over segments read through live bitmaps, by scoring every live entry.

The plan's stems are looked up here, their frequencies counted with ``phrase``, their shares with ``bm25f``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
from kbdb.plan import FIELDS, TOTAL_LIMIT, Alternative, Clause, EngineHit, EngineResult, Params, Plan, Share
from kbdb.reference.bm25f import bm25f_averages, bm25f_saturation, idf
from kbdb.reference.container import container_place
from kbdb.reference.corpus import RECORD, RECORDS, corpus_entries, corpus_kbid
from kbdb.reference.phrase import phrase_frequencies
from kbdb.reference.positions import Token, positions_read
from kbdb.reference.segment import Segment
from kbdb.reference.similar import similar_entries
from kbdb.reference.terms import Frequencies, postings_read, terms_find
from kbdb.reference.varint import corrupt
from kbdb.reference.words import words_df, words_distance, words_where

KBID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


@dataclass(frozen=True, slots=True)
class _Alternative:
    """An alternative looked up: for each segment, the frequencies in the entries where it occurs."""

    weight: float
    idf: float
    occurrences: list[dict[int, Frequencies]]


@dataclass(frozen=True, slots=True)
class _Clause:
    kind: str
    alternatives: list[_Alternative]

    def occurs(self, segment: int, entry: int) -> bool:
        return any(entry in alternative.occurrences[segment] for alternative in self.alternatives)


class Searcher:
    """A snapshot: segments, and the entries of each that are live. Entries outside do not exist for it.

    Attributes:
        sections: number of live entries, N.
        totals: summed lengths of ``FIELDS`` over the live entries.
        memory_bytes: held beside the segments' files, roughly.
    """

    def __init__(self, segments: Sequence[Segment], live: Sequence[bytes], params: Params) -> None:
        """Counts the live entries.

        Args:
            segments: those to search; a hit names its segment by its place here.
            live: one bitmap a segment.
            params: of BM25F.
        """
        check_bitmaps(live, [segment.sections for segment in segments], "live")
        check_params(params)
        self._segments = list(segments)
        self._params = params
        self._live = [_entries(bitmap) for bitmap in live]
        self._lengths = [[record.lengths for record in corpus_entries(segment.corpus)] for segment in segments]
        self.sections = sum(len(entries) for entries in self._live)
        title, body, description, tags, heading = (self._total(field) for field in range(len(FIELDS)))
        self.totals = (title, body, description, tags, heading)
        self.memory_bytes = sum(200 * len(lengths) for lengths in self._lengths)
        self._averages = bm25f_averages(self.sections, self.totals)

    def df(self, stem: str) -> int:
        """How many live entries hold a stem, in any field."""
        utf8(stem, "a stem")
        total = 0
        for segment, live in zip(self._segments, self._live, strict=True):
            record = terms_find(segment.terms, stem)
            if record is not None:
                total += sum(posting.entry in live for posting in postings_read(segment.terms, record))
        return total

    def word_df(self, word: str) -> int:
        """How many live entries hold a surface word, in any field."""
        utf8(word, "a word")
        return words_df(self._segments, self._live, word)

    def words_with_prefix(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Words of live entries that begin with ``prefix``, with their word_df, by falling word_df, then word."""
        utf8(prefix, "a prefix")
        check_limit(limit)
        found = words_where(self._segments, self._live, lambda word: word.startswith(prefix))
        return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit]

    def words_containing(self, part: str, limit: int) -> list[tuple[str, int]]:
        """Words of live entries that hold ``part``, with their word_df, by falling word_df, then word."""
        utf8(part, "a part")
        check_limit(limit)
        found = words_where(self._segments, self._live, lambda word: part in word)
        return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit]

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
            return alike and 1 <= words_distance(word, other) <= distance

        found = words_where(self._segments, self._live, near)
        items = [(other, words_distance(word, other), df) for other, df in found.items()]
        return sorted(items, key=lambda item: (item[1], -item[2], item[0]))[:limit]

    def search(self, plan: Plan, limit: int, allowed: Sequence[bytes] | None = None) -> EngineResult:
        """The best ``limit`` sections that match, and how many match.

        Args:
            plan: the resolved query.
            limit: 0 or more.
            allowed: one bitmap a segment that narrows the candidates and never changes scores.
        """
        check_plan(plan)
        check_limit(limit)
        if allowed is not None:
            check_bitmaps(allowed, [segment.sections for segment in self._segments], "allowed")
        clauses = [self._look_up(clause) for clause in plan.clauses]
        hits = []
        for segment, live in enumerate(self._live):
            candidates = live if allowed is None else live & _entries(allowed[segment])
            hits += [self._hit(clauses, segment, entry) for entry in candidates if _matches(clauses, segment, entry)]
        hits.sort(key=lambda hit: (-hit.score, corpus_kbid(self._segments[hit.segment].corpus, hit.entry), hit.segment))
        return EngineResult(tuple(hits[:limit]), min(len(hits), TOTAL_LIMIT), len(hits) <= TOTAL_LIMIT)

    def rank(self, plan: Plan, limit: int) -> list[tuple[str, float]]:
        """Like ``search``, but just kbids, as 26 characters, and scores."""
        hits = self.search(plan, limit).hits
        return [(_kbid_text(corpus_kbid(self._segments[hit.segment].corpus, hit.entry)), hit.score) for hit in hits]

    def explain(self, plan: Plan, segment: int, entry: int) -> tuple[Share, ...]:
        """The shares of the should and must clauses that occur in an entry, in plan order; none when it is not live."""
        check_plan(plan)
        check_segment_number(segment, len(self._segments))
        check_entry_number(entry, self._segments[segment].sections)
        if entry not in self._live[segment]:
            return ()
        return self._shares([self._look_up(clause) for clause in plan.clauses], segment, entry)

    def similar(self, stems: Sequence[str], threshold: float, limit: int) -> list[tuple[int, int, float]]:
        """Live entries whose stems in title and body have a Jaccard index of ``threshold`` or more with ``stems``.

        Returns:
            (segment, entry, Jaccard index), by falling index, kbid, segment.
        """
        for stem in stems:
            utf8(stem, "a stem")
        check_threshold(threshold)
        check_limit(limit)
        found = [
            (number, entry, jaccard)
            for number, (segment, live) in enumerate(zip(self._segments, self._live, strict=True))
            for entry, jaccard in similar_entries(segment, live, stems)
            if jaccard >= threshold
        ]
        found.sort(key=lambda item: (-item[2], corpus_kbid(self._segments[item[0]].corpus, item[1]), item[0]))
        return found[:limit]

    def _total(self, field: int) -> int:
        return sum(
            lengths[entry][field] for lengths, live in zip(self._lengths, self._live, strict=True) for entry in live
        )

    def _look_up(self, clause: Clause) -> _Clause:
        numbers = range(len(self._segments))
        alternatives = []
        for alternative in clause.alternatives:
            total = 0.0
            for stem in alternative.stems:
                total = total + idf(self.sections, self.df(stem))
            occurrences = [self._occurrences(number, alternative, clause.field) for number in numbers]
            alternatives.append(_Alternative(alternative.weight, total, occurrences))
        return _Clause(clause.kind, alternatives)

    def _occurrences(self, number: int, alternative: Alternative, field: int | None) -> dict[int, Frequencies]:
        found = self._frequencies(self._segments[number], alternative)
        if field is not None:
            found = {entry: _only(field, frequencies) for entry, frequencies in found.items()}
        for entry, frequencies in found.items():
            if entry in self._live[number]:
                self._check_lengths(number, entry, frequencies)
        return {entry: frequencies for entry, frequencies in found.items() if any(frequencies)}

    def _frequencies(self, segment: Segment, alternative: Alternative) -> dict[int, Frequencies]:
        records = [terms_find(segment.terms, stem) for stem in alternative.stems]
        stems: list[dict[int, list[Token]]] = []
        for record in records:
            if record is None:
                return {}
            postings = postings_read(segment.terms, record)
            if len(records) == 1:
                return {posting.entry: posting.frequencies for posting in postings}
            occurrences = positions_read(segment.positions, record, postings)
            stems.append({posting.entry: tokens for posting, tokens in zip(postings, occurrences, strict=True)})
        return {
            entry: phrase_frequencies([stem[entry] for stem in stems])
            for entry in stems[0]
            if all(entry in stem for stem in stems)
        }

    def _check_lengths(self, number: int, entry: int, frequencies: Frequencies) -> None:
        if any(count and not length for count, length in zip(frequencies, self._lengths[number][entry], strict=True)):
            corpus = self._segments[number].corpus
            place = container_place(corpus, RECORDS, RECORD.size * entry)
            raise corrupt(corpus.path, place, f"entry {entry} has words in a field of length 0")

    def _hit(self, clauses: list[_Clause], segment: int, entry: int) -> EngineHit:
        score = 0.0
        matched = 0
        for share in self._shares(clauses, segment, entry):
            score = score + share.value
            matched |= 1 << share.clause
        return EngineHit(segment, entry, score, matched)

    def _shares(self, clauses: list[_Clause], segment: int, entry: int) -> tuple[Share, ...]:
        shares = []
        for number, clause in enumerate(clauses):
            if clause.kind != "must_not" and clause.occurs(segment, entry):
                shares.append(self._best_share(clause, number, segment, entry))
        return tuple(shares)

    def _best_share(self, clause: _Clause, number: int, segment: int, entry: int) -> Share:
        best: Share | None = None
        for place, alternative in enumerate(clause.alternatives):
            frequencies = alternative.occurrences[segment].get(entry)
            if frequencies is None:
                continue
            lengths = self._lengths[segment][entry]
            saturation = bm25f_saturation(self._params, self._averages, lengths, frequencies)
            value = (alternative.weight * alternative.idf) * saturation
            if best is None or value > best.value:
                best = Share(number, place, value, alternative.weight, alternative.idf, saturation, frequencies)
        assert best is not None
        return best


def _matches(clauses: list[_Clause], segment: int, entry: int) -> bool:
    positive = [clause for clause in clauses if clause.kind != "must_not"]
    return (
        all(clause.occurs(segment, entry) for clause in clauses if clause.kind == "must")
        and not any(clause.occurs(segment, entry) for clause in clauses if clause.kind == "must_not")
        and (not positive or any(clause.occurs(segment, entry) for clause in positive))
    )


def _only(field: int, frequencies: Frequencies) -> Frequencies:
    title, body, description, tags, heading = (
        count if number == field else 0 for number, count in enumerate(frequencies)
    )
    return title, body, description, tags, heading


def _entries(bitmap: bytes) -> set[int]:
    return {8 * place + bit for place, byte in enumerate(bitmap) for bit in range(8) if byte >> bit & 1}


def _kbid_text(kbid: bytes) -> str:
    number = int.from_bytes(kbid, "big") << 2
    return "".join(KBID_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
