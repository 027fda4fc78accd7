"""Turns a parsed query into the plan that an engine executes, in terms of what a store knows.

Below it: ``words`` (what is one word), ``expand`` (what stands for a word). Its ``Resolved`` is what ``verdict``,
``snippet`` and ``explain`` read a hit with.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from kbdb.plan import MAX_CLAUSES, Alternative, Clause, Plan
from kbdb.query.expand import Expansion, complete_character, complete_prefix, find_near, find_synonyms
from kbdb.query.lexicon import Draft, Lexicon, idf
from kbdb.query.parser import TITLE, Filter, ParsedQuery, Term
from kbdb.query.resolved import NO_FILTERS, ClauseNote, Filters, Kind, QueryWord, Resolved
from kbdb.query.words import Word, is_single, text_of

NOTHING_TO_SEARCH = "nothing in the query can be searched for"

UNKNOWN_SHOWN = 8
"""A warning names so many unknown words."""


def resolve(parsed: ParsedQuery, lexicon: Lexicon) -> Resolved:
    """Resolves a query against a store.

    Args:
        parsed: from ``parse_query``.
        lexicon: of the snapshot that will be searched.
    """
    return _of_known_words(parsed, lexicon) or _of_any(parsed, lexicon)


def _of_known_words(parsed: ParsedQuery, lexicon: Lexicon) -> Resolved | None:
    """The plan of free words that the store knows, each said once, or of one such phrase; None for any other query.

    Most queries are such, and there is nothing to plan for them: nothing is expanded, repeated or left out.
    """
    if parsed.filters or parsed.warnings or not 0 < len(parsed.terms) <= MAX_CLAUSES:
        return None
    words = []
    for text, kind, title, excluded in parsed.terms:
        word = lexicon.known_word(text) if kind == "text" and not (title or excluded) else None
        if word is None:
            return _of_known_phrase(parsed.terms[0], lexicon) if len(parsed.terms) == 1 else None
        words.append(word)
    words = [word for word in words if not word.is_stop_word] or words
    if len({word.stem for word in words}) < len(words):
        return None
    clauses = tuple([word.draft.clause for word in words])
    return Resolved(
        Plan(clauses),
        tuple([word.draft.note for word in words]),
        tuple([QueryWord(clause.label, None, (number,)) for number, clause in enumerate(clauses)]),
        NO_FILTERS,
        (),
    )


def _of_known_phrase(term: Term, lexicon: Lexicon) -> Resolved | None:
    is_plain = term.kind == "phrase" and not (term.title or term.excluded)
    phrase = lexicon.known_phrase(term.text) if is_plain else None
    if phrase is None:
        return None
    words = (QueryWord(phrase.text, None, (0,)),)
    return Resolved(Plan((phrase.draft.clause,)), (phrase.draft.note,), words, NO_FILTERS, ())


def _of_any(parsed: ParsedQuery, lexicon: Lexicon) -> Resolved:
    stop_words = lexicon.analysis.stop_words
    analysed: list[tuple[Term, Sequence[Word]]] = [(term, lexicon.analysis.words(term.text)) for term in parsed.terms]
    planner = _Planner(lexicon, _known_stems(analysed, lexicon))
    drop_stop_words = any(_is_informative(term, words, stop_words) for term, words in analysed)
    for term, words in analysed:
        if drop_stop_words and term.is_free:
            words = [word for word in words if not _is_stop_word(word, stop_words)]
        if words:
            planner.add_term(term, words)
    return planner.finish(_filters(parsed.filters), parsed.warnings)


def _known_stems(analysed: Iterable[tuple[Term, Sequence[Word]]], lexicon: Lexicon) -> frozenset[str]:
    """The stems of the query's plain words that the store knows; expansions do not repeat them."""
    stems = {
        lexicon.analysis.stem_of(word.text)
        for term, words in analysed
        if term.is_free
        for word in words
        if word.kind == "plain"
    }
    return frozenset(filter(lexicon.df, stems))


def _is_informative(term: Term, words: Sequence[Word], stop_words: Container[str]) -> bool:
    if term.excluded or not words:
        return False
    return not term.is_free or not all(_is_stop_word(word, stop_words) for word in words)


def _is_stop_word(word: Word, stop_words: Container[str]) -> bool:
    return word.kind == "plain" and word.text in stop_words


def _filters(parsed: Sequence[Filter]) -> Filters:
    if not parsed:
        return NO_FILTERS
    all_of: dict[str, None] = {}
    none_of: dict[str, None] = {}
    any_of: dict[str, dict[str, None]] = {}
    for one in parsed:
        keys = _filter_keys(one)
        if one.excluded:
            none_of.update(dict.fromkeys(keys))
        elif one.name == "tag":
            all_of.update(dict.fromkeys(keys))
        else:
            any_of.setdefault(one.name, {}).update(dict.fromkeys(keys))
    return Filters(tuple(all_of), tuple(tuple(keys) for keys in any_of.values()), tuple(none_of))


def _filter_keys(one: Filter) -> tuple[str, ...]:
    """``type:markdown`` is short for ``type:text/markdown``."""
    key = f"{one.name}:{one.value}"
    return (key, f"type:text/{one.value}") if one.name == "type" and "/" not in one.value else (key,)


class _Planner:
    """Collects the clauses of one query. Used by one call of ``resolve`` and thrown away."""

    def __init__(self, lexicon: Lexicon, known: frozenset[str]) -> None:
        self._lexicon = lexicon
        self._stem_of = lexicon.analysis.stem_of
        self._known = known
        self._drafts: list[Draft] = []
        self._times: list[int] = []
        self._places: dict[tuple[tuple[Alternative, ...], Kind, int | None], int] = {}
        self._words: dict[tuple[int | None, tuple[int, ...]], str] = {}
        self._unknown: dict[str, None] = {}
        self._warnings: dict[str, None] = {}

    def add_term(self, term: Term, words: Sequence[Word]) -> None:
        """Adds a term; ``words`` are those of its text, at least one."""
        prefix = term.kind == "prefix" and (words[-1].kind != "run" or len(words[-1].parts) == 1)
        if term.excluded:
            self._exclude(term, words, prefix)
        elif term.title or term.kind == "phrase":
            self._require(term, words, prefix)
        else:
            for word in words[:-1] if prefix else words:
                self._should(word, alone=len(words) == 1)
            if prefix:
                self._prefix(words[-1].text, "should", None)

    def finish(self, filters: Filters, warnings: tuple[str, ...]) -> Resolved:
        """The plan of all that was added; of more than ``MAX_CLAUSES`` clauses the most informative are kept."""
        drafts, times = self._drafts, self._times
        words = [QueryWord(text, whole, parts) for (whole, parts), text in self._words.items()]
        if len(drafts) > MAX_CLAUSES:
            kept = sorted(sorted(range(len(drafts)), key=self._rank)[:MAX_CLAUSES])
            words = list(_renumbered(words, kept))
            self._warn(f"the query has {len(drafts)} different terms; only the {len(kept)} most telling were searched")
            drafts, times = [drafts[number] for number in kept], [times[number] for number in kept]
        if not drafts and filters == NO_FILTERS:
            self._warn(NOTHING_TO_SEARCH)
        return Resolved(
            Plan(tuple([_repeated(draft.clause, said) for draft, said in zip(drafts, times, strict=True)])),
            tuple([draft.note for draft in drafts]),
            tuple(words),
            filters,
            (*warnings, *self._warnings, *_unknown_note(list(self._unknown))),
        )

    def _should(self, word: Word, *, alone: bool) -> None:
        """Adds a word that need not match; ``alone`` when no other character touches it."""
        if word.kind == "identifier":
            self._identifier(word)
        elif alone and is_single(word):
            self._character(word.text, "should", None)
        elif word.kind == "run":
            self._run(word)
        else:
            self._count(word.text, self._word(word.text, "should", None))

    def _word(self, text: str, kind: Kind, field: int | None) -> int:
        """A clause for a plain word, or for what stands for it when the store does not know it."""
        stems = (self._stem_of(text),)
        if not self._lexicon.knows(stems):
            expansion = find_synonyms(text, self._lexicon) or find_near(text, self._lexicon)
            if expansion is not None:
                return self._expanded(text, expansion, kind, field)
            self._unknown[text] = None
        return self._direct(text, stems, kind, field, text)

    def _identifier(self, word: Word) -> None:
        """The whole, what lies inside it, and each part; parts that are stop words only matter to the whole.

        A whole that the store does not know may have synonyms (``e-mail``), unless it knows all parts.
        """
        whole = None
        if self._knows(word.text):
            whole = self._surface(word.text)
        elif not all(self._knows(part) for part in word.parts):
            whole = self._synonyms(word.text)
        for inner in word.inner:
            self._surface(inner)
        parts = [self._part(part) for part in word.parts if part not in self._lexicon.analysis.stop_words]
        if not parts:
            parts = [whole] if whole is not None else [self._surface(part) for part in word.parts]
        if whole is None and not any(self._is_known(part) for part in parts):
            self._unknown[word.text] = None
        self._count(word.text, *parts, whole=whole)

    def _part(self, text: str) -> int:
        """A clause for a part of an identifier: itself, or synonyms when the store does not know it."""
        if not self._knows(text):
            synonyms = self._synonyms(text)
            if synonyms is not None:
                return synonyms
        return self._surface(text)

    def _run(self, word: Word) -> None:
        """One clause a pair of characters; a run of which the store lacks a pair may be a word with synonyms."""
        known = [self._knows(part) for part in word.parts]
        parts = [self._surface(part) for part in word.parts]
        whole = None if all(known) else self._synonyms(word.text)
        if whole is None and not any(known):
            self._unknown[word.text] = None
        self._count(word.text, *parts, whole=whole)

    def _synonyms(self, text: str) -> int | None:
        expansion = find_synonyms(text, self._lexicon)
        return None if expansion is None else self._expanded(text, expansion, "should", None)

    def _surface(self, text: str) -> int:
        return self._direct(text, (self._stem_of(text),), "should", None, text)

    def _knows(self, text: str) -> bool:
        return self._lexicon.knows((self._stem_of(text),))

    def _is_known(self, number: int) -> bool:
        return self._lexicon.knows(self._drafts[number].clause.alternatives[0].stems)

    def _prefix(self, prefix: str, kind: Kind, field: int | None) -> None:
        self._completed(f"{prefix}*", complete_prefix(prefix, self._lexicon), kind, field, "")

    def _character(self, character: str, kind: Kind, field: int | None) -> None:
        self._completed(character, complete_character(character, self._lexicon), kind, field, character)

    def _completed(self, text: str, expansion: Expansion | None, kind: Kind, field: int | None, part: str) -> None:
        if expansion is None:
            if kind != "must_not":
                self._unknown[text] = None
            # No word holds a "*", so this clause matches nothing and yet keeps the plan from matching everything.
            self._count(text, self._direct(text, (f"{text.rstrip('*')}*",), kind, field, text), kind=kind)
            return
        if expansion.limit:
            self._warn(f"'{text}' stands for more than {expansion.limit:,} words; the most frequent were searched")
        df = max(self._lexicon.df(stem) for one in expansion.alternatives for stem in one.stems)
        idf = self._idf(df)
        note = ClauseNote("direct", idf, idf, expansion.found, part)
        self._count(text, self._add(Draft(Clause(text, expansion.alternatives, kind, field), note)), kind=kind)

    def _require(self, term: Term, words: Sequence[Word], prefix: bool) -> None:
        """A must clause: what was quoted or named for the title, as consecutive words."""
        field = TITLE if term.title else None
        if prefix:
            self._prefix(words[-1].text, "must", field)
            words = words[:-1]
        if not words:
            return
        if len(words) == 1 and is_single(words[0]):
            self._character(words[0].text, "must", field)
        elif len(words) == 1 and words[0].kind == "plain" and term.kind != "phrase":
            self._count(words[0].text, self._word(words[0].text, "must", field))
        else:
            stems = self._lexicon.phrase(words)
            if not self._lexicon.knows(stems):
                self._warn(f"'{term.text}': no live section has all of its words")
            text = text_of(words)
            self._count(text, self._direct(term.text, stems, "must", field, text))

    def _exclude(self, term: Term, words: Sequence[Word], prefix: bool) -> None:
        field = TITLE if term.title else None
        if prefix and len(words) == 1:
            self._prefix(words[0].text, "must_not", field)
        elif len(words) == 1 and is_single(words[0]):
            self._character(words[0].text, "must_not", field)
        else:
            self._direct(term.text, self._lexicon.phrase(words), "must_not", field, text_of(words))

    def _direct(
        self, label: str, stems: tuple[str, ...], kind: Kind, field: int | None, found: str, times: int = 1
    ) -> int:
        """A clause for stems as they are: one, or several that must stand in a row."""
        return self._add(self._lexicon.draft(label, stems, kind, field, found), times)

    def _expanded(self, label: str, expansion: Expansion, kind: Kind, field: int | None) -> int:
        """A clause for what stands for a word, less what the query says itself."""
        self._warn(_expansion_note(label, expansion))
        choices = list(zip(expansion.alternatives, expansion.found, strict=True))
        if kind == "should":
            fresh = [choice for choice in choices if choice[0].stems[0] not in self._known or len(choice[0].stems) > 1]
            if not fresh:
                alternative, found = choices[0]
                return self._direct(found, alternative.stems, kind, field, found, times=0)
            choices = fresh
        idf = self._idf(0)
        note = ClauseNote(expansion.origin, idf, choices[0][0].weight * idf, tuple(found for _, found in choices))
        return self._add(Draft(Clause(label, tuple(alternative for alternative, _ in choices), kind, field), note))

    def _add(self, draft: Draft, times: int = 1) -> int:
        """The clause's number; one that searches the same is not added again but said ``times`` more."""
        key = draft.clause[1:]
        number = self._places.setdefault(key, len(self._drafts))
        if number == len(self._drafts):
            self._drafts.append(draft)
            self._times.append(0)
        self._times[number] += times
        return number

    def _count(self, text: str, *parts: int, whole: int | None = None, kind: Kind = "should") -> None:
        """Counts a word for ``match``; a second one of the same clauses is the same word."""
        if kind != "must_not":
            self._words.setdefault((whole, parts), text)

    def _rank(self, number: int) -> tuple[int, float]:
        """Sorts what a plan must keep before what it may drop: required, excluded, what tells most, the unknown."""
        clause, note = self._drafts[number]
        place = {"must": 0, "must_not": 1, "should": 2}[clause.kind]
        if clause.kind == "should" and note.origin == "direct" and not self._is_known(number):
            place = 3
        return place, -note.value * self._times[number]

    def _warn(self, warning: str) -> None:
        self._warnings[warning] = None

    def _idf(self, df: int) -> float:
        return idf(self._lexicon.searcher.sections, df)


def _renumbered(words: Iterable[QueryWord], kept: Sequence[int]) -> Iterator[QueryWord]:
    """The words by the numbers of the clauses that were kept, less those of which no part was."""
    places: dict[int | None, int] = {old: new for new, old in enumerate(kept)}
    for text, whole, parts in words:
        left = tuple([places[part] for part in parts if part in places])
        if left:
            yield QueryWord(text, places.get(whole), left)


def _repeated(clause: Clause, times: int) -> Clause:
    """A word said several times weighs as much more; what is required does not."""
    if clause.kind != "should" or times < 2:
        return clause
    alternatives = tuple(Alternative(stems, weight * times) for stems, weight in clause.alternatives)
    return clause._replace(alternatives=alternatives)


def _expansion_note(text: str, expansion: Expansion) -> str:
    searched = ", ".join(f"'{found}'" for found in expansion.found)
    how = "synonym" if expansion.origin == "synonym" else "near spelling"
    return f"'{text}': no live section has it; searched {searched} ({how}{'s' if len(expansion.found) > 1 else ''})"


def _unknown_note(words: list[str]) -> list[str]:
    if not words:
        return []
    if len(words) == 1:
        return [f"'{words[0]}': no live section has it"]
    more = f" and {len(words) - UNKNOWN_SHOWN} more" if len(words) > UNKNOWN_SHOWN else ""
    return [", ".join(f"'{word}'" for word in words[:UNKNOWN_SHOWN]) + f"{more}: no live section has them"]
