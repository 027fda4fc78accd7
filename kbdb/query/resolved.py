"""A resolved query: the plan that an engine executes, and how its hits are read.

Made by ``resolve``; read by ``verdict``, ``highlight`` and ``explain``.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from kbdb.plan import Plan

Kind = Literal["should", "must", "must_not"]
Origin = Literal["direct", "synonym", "near"]


class ClauseNote(NamedTuple):
    """What the query layer remembers of a clause.

    Attributes:
        origin: whether it searches the query's own word, synonyms or near spellings.
        idf: what the word weighs in the query; that of df 0 for one the store does not know.
        value: what matching the clause counts of it.
        found: for each alternative, the words it searches, as text.
        part: the single character that a hit's words need only hold, or ``""``.
    """

    origin: Origin
    idf: float
    value: float
    found: tuple[str, ...]
    part: str = ""


class QueryWord(NamedTuple):
    """One word, phrase or prefix of the query that can match.

    Attributes:
        text: its surface form; of a phrase the surface forms of its words.
        whole: the clause that stands for all of it beside its parts, or None.
        parts: the clauses that together make it up, at least one; those that the plan had no room for are left out.
    """

    text: str
    whole: int | None
    parts: tuple[int, ...]


class Filters(NamedTuple):
    """Filter keys of the index (``tag:x``): every one of ``all_of``, one of each ``any_of``, none of ``none_of``."""

    all_of: tuple[str, ...] = ()
    any_of: tuple[tuple[str, ...], ...] = ()
    none_of: tuple[str, ...] = ()


NO_FILTERS = Filters()


class Resolved(NamedTuple):
    """A plan, and how to read its hits.

    Attributes:
        plan: what to execute.
        notes: one for each of the plan's clauses.
        words: what ``match`` counts, in the order typed.
        filters: to be made into a bitmap by the caller.
        warnings: what was not read, not found or searched in another form.
    """

    plan: Plan
    notes: tuple[ClauseNote, ...]
    words: tuple[QueryWord, ...]
    filters: Filters
    warnings: tuple[str, ...]

    @property
    def asks_nothing(self) -> bool:
        """Whether there is nothing to look for: such a plan must not be executed, it would match everything."""
        return not self.plan.clauses and self.filters == NO_FILTERS

    @property
    def only_excludes(self) -> bool:
        """Whether the query says only what a section must not have: its hits are no answer to anything."""
        sought = any(clause.kind != "must_not" for clause in self.plan.clauses)
        return not (sought or self.filters.all_of or self.filters.any_of)

    @property
    def has_choices(self) -> bool:
        """Whether ``matched_terms`` needs a hit's shares to tell which alternative matched."""
        return any(len(note.found) > 1 and not note.part for note in self.notes)
