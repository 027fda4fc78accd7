"""search: from a query's text to a page of hits."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter

from kbdb.checks import utf8
from kbdb.errors import InvalidArgumentError, KbdbError
from kbdb.index import bitmaps
from kbdb.index.text_key import words_of
from kbdb.ingest.body import body_of
from kbdb.knowledge.core import Core
from kbdb.knowledge.entries import StoredPlace, StoredSection, source_key, tag_key, text_of
from kbdb.knowledge.legs import Question, Ranking, by_both, by_meaning, by_words, words_leg
from kbdb.knowledge.sources import source_of
from kbdb.knowledge.view import View
from kbdb.model.search import PagedSearchResult, SearchHit, Unreadable
from kbdb.plan import Alternative, Clause, Plan
from kbdb.query.explain import explain_shares
from kbdb.query.highlight import Matcher
from kbdb.query.parser import parse_query
from kbdb.query.resolve import resolve
from kbdb.query.resolved import NO_FILTERS, Resolved
from kbdb.query.snippet import make_snippet
from kbdb.query.verdict import match_of, matched_terms
from kbdb.store.ids import is_docid

MODES = ("lexical", "vector", "hybrid")
MAX_LIMIT = 1000
"""A page holds at most this many hits."""

MAX_DEPTH = 100_000
"""offset + limit reach at most this deep."""

KINDS_SHOWN = 8
"""Types that are named where one was asked for that no section has."""

NOWHERE = StoredPlace("", "", "", (), 0, 0, 0)


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What the caller of search said besides the query."""

    mode: str
    limit: int
    offset: int = 0
    content: bool = False
    explain: bool = False
    tags: tuple[str, ...] = ()
    type: str | None = None
    section_type: str | None = None
    docid: str | None = None


def search(core: Core, query: str, options: SearchOptions) -> PagedSearchResult:
    """Answers a query.

    Raises:
        InvalidArgumentError: mode, limit or offset out of range.
        EmbeddingProviderNotConfiguredError: vector or hybrid mode.
        CorruptError: the index is damaged where the query touches it.
        NotADatabaseError: the database was removed meanwhile.
    """
    started = perf_counter()
    _check(core, options)
    snapshot = core.snapshot()
    parsed = parse_query(query)
    resolved = resolve(parsed, snapshot.lexicon)
    groups = _groups(core, resolved, options)
    allowed = snapshot.allowed(groups, _excluded(core, resolved))
    ranking = _ranked(core, snapshot, Question(parsed, resolved, allowed, options.offset, options.limit), options.mode)
    unreadable = [_left_out(core, kbid) for kbid in sorted(core.indexer.left_out)]
    asked = frozenset(key for group in groups for key in group)
    hits = _hits(core, snapshot, resolved, ranking, options, asked, unreadable)
    if unreadable:
        # Files that are gone may be those of a folder that went meanwhile.
        core.store.require_standing()
    return PagedSearchResult(
        query=query,
        search_mode=options.mode,
        retrieval_method=ranking.method,
        match=match_of(resolved, ranking.best),
        verdict=ranking.verdict,
        generation=snapshot.generation,
        total=ranking.total,
        total_is_exact=ranking.total_is_exact,
        hidden=_hidden(core, snapshot, resolved, allowed),
        offset=options.offset,
        limit=options.limit,
        engine_ms=ranking.engine_ms,
        elapsed_ms=(perf_counter() - started) * 1000,
        warnings=(*resolved.warnings, *ranking.warnings, *_unheld(snapshot, groups), *core.notices),
        unreadable=tuple(unreadable),
        hits=tuple(hits),
        vector_index_stale=ranking.stale or None,
    )


def rank(core: Core, query: str, limit: int) -> list[tuple[str, float]]:
    """The bare engine call: kbids and scores of the best hits, without snippets or files."""
    snapshot = core.snapshot()
    parsed = parse_query(query)
    resolved = resolve(parsed, snapshot.lexicon)
    if resolved.plan.clauses and resolved.filters == NO_FILTERS:
        return snapshot.searcher.rank(resolved.plan, limit)
    allowed = snapshot.allowed(_asked(core, resolved), _excluded(core, resolved))
    hits = words_leg(snapshot, Question(parsed, resolved, allowed, 0, limit), limit).hits
    return [(hit.kbid, hit.score) for hit in hits]


def _ranked(core: Core, snapshot: View, question: Question, mode: str) -> Ranking:
    if mode == "lexical":
        return by_words(snapshot, question)
    return (by_meaning if mode == "vector" else by_both)(core, snapshot, question)


def _check(core: Core, options: SearchOptions) -> None:
    if options.mode not in MODES:
        raise InvalidArgumentError(f"mode is {options.mode!r}", f"use one of: {', '.join(MODES)}")
    if options.mode != "lexical":
        core.embedding.require(options.mode)
    if not 1 <= options.limit <= MAX_LIMIT:
        raise InvalidArgumentError(f"limit is {options.limit}", f"use 1 to {MAX_LIMIT}")
    if not 0 <= options.offset <= MAX_DEPTH:
        raise InvalidArgumentError(f"offset is {options.offset}", f"use 0 to {MAX_DEPTH}")


def _left_out(core: Core, kbid: str) -> Unreadable:
    path = core.store.layout.section(kbid)
    return Unreadable(kbid, path, "not searched: the file is damaged; kbdb check tells more")


def _groups(core: Core, resolved: Resolved, options: SearchOptions) -> list[Sequence[str]]:
    """Filter keys of query and options: a hit holds one of each group."""
    groups = _asked(core, resolved)
    groups.extend((tag_key(tag),) for tag in options.tags)
    if options.type is not None:
        groups.append((f"type:{options.type}",))
    if options.section_type is not None:
        groups.append((f"section_type:{options.section_type}",))
    if options.docid is not None:
        utf8(options.docid, "docid")
        groups.append(_widened(core, (f"doc:{options.docid}",)))
    return groups


def _unheld(snapshot: View, groups: Sequence[Sequence[str]]) -> Iterator[str]:
    """Names the filters that no live section passes: a misspelt one must not look like an answer."""
    for group in groups:
        holders = snapshot.allowed([group]) or []
        if not any(any(bitmaps.both(bits, live)) for bits, live in zip(holders, snapshot.live, strict=True)):
            written = [key for key in group if not key.startswith(source_key(""))]
            kinds = any(key.startswith(("type:", "section_type:")) for key in written)
            yield f"{' or '.join(written)}: no live section has it{_kinds_held(snapshot) if kinds else ''}"


def _kinds_held(snapshot: View) -> str:
    """Which types there are: few, and what was misspelt is most likely among them."""
    held = (("types", "type:"), ("section types", "section_type:"))
    told = [f"{what} are {', '.join(names)}" for what, kind in held if (names := _first(snapshot.held(kind)))]
    return f"; {', '.join(told)}" if told else ""


def _first(names: Iterator[str]) -> list[str]:
    shown = [*islice(names, KINDS_SHOWN + 1)]
    return [*shown[:KINDS_SHOWN], "\u2026"] if len(shown) > KINDS_SHOWN else shown


def _asked(core: Core, resolved: Resolved) -> list[Sequence[str]]:
    """Filter keys that the query itself asks for, in groups."""
    return [
        *((_folded(key),) for key in resolved.filters.all_of),
        *(_widened(core, group) for group in resolved.filters.any_of),
    ]


def _excluded(core: Core, resolved: Resolved) -> list[str]:
    """Filter keys of which a hit holds none."""
    return [key for written in resolved.filters.none_of for key in _widened(core, (_folded(written),))]


def _folded(key: str) -> str:
    """A filter key as the index holds it."""
    return tag_key(key.removeprefix("tag:")) if key.startswith("tag:") else key


def _widened(core: Core, group: Sequence[str]) -> tuple[str, ...]:
    """A document may be named by its docid or by the path it was learned from."""
    home = core.store.layout.home
    names = [key.removeprefix("doc:") for key in group if key.startswith("doc:")]
    paths = [name for name in names if name and not (is_docid(name) and core.store.has_manifest(name))]
    return (*group, *(source_key(source_of(home, home / path)) for path in paths))


def _hidden(core: Core, snapshot: View, resolved: Resolved, allowed: list[bytes] | None) -> int:
    """How many sections match that are stored but not live, up to ``TOTAL_LIMIT``.

    A word that no live section has may stand in a hidden one: it is looked for itself, beside what stands in for it.
    """
    searcher = snapshot.hidden_searcher
    if searcher is None or resolved.asks_nothing:
        return 0
    pairs = zip(resolved.plan.clauses, resolved.notes, strict=True)
    clauses = tuple(clause if note.origin == "direct" else _with_itself(core, clause) for clause, note in pairs)
    return searcher.search(Plan(clauses), 0, allowed).total


def _with_itself(core: Core, clause: Clause) -> Clause:
    stems = tuple(core.stem(words_of(core.engine, clause.label)))
    return clause._replace(alternatives=(Alternative(stems), *clause.alternatives)) if stems else clause


def _hits(
    core: Core,
    snapshot: View,
    resolved: Resolved,
    ranking: Ranking,
    options: SearchOptions,
    asked: Collection[str],
    unreadable: list[Unreadable],
) -> list[SearchHit]:
    page = ranking.page
    if not page:
        return []
    matcher = Matcher(resolved, core.analysis, snapshot.lexicon.words_of)
    needs_shares = options.explain or resolved.has_choices
    terms: dict[int, tuple[str, ...]] = {}
    slots = snapshot.slots
    hits = []
    for found, section in zip(page, core.store.read_sections(found.kbid for found in page), strict=True):
        segment, entry, score, matched, kbid = found
        if isinstance(section, KbdbError):
            unreadable.append(Unreadable(kbid, core.store.layout.section(kbid), section.message))
            continue
        text = text_of(section)
        stored = StoredSection.decode(slots[segment].segment.stored(entry))
        shares = snapshot.searcher.explain(resolved.plan, segment, entry) if needs_shares else ()
        if shares or matched not in terms:
            terms[matched] = matched_terms(resolved, matched, shares)
        place = shown_place(core, stored, asked)
        body = body_of(text, section.title, section.type)
        snippet = make_snippet(body or stored.description, matcher)
        hits.append(
            SearchHit(
                kbid=kbid,
                docid=place.docid,
                title=section.title,
                heading_path=place.heading_path,
                level=place.level,
                line=place.line,
                line_end=place.line_end,
                source=place.source,
                score=score,
                snippet=snippet.text,
                matched_terms=terms[matched],
                tags=stored.tags,
                section_type=section.section_type,
                content=text if options.content else None,
                explain=explain_shares(resolved.plan, shares) if options.explain else None,
                legs=ranking.ranks[kbid] if options.explain and ranking.ranks else None,
            )
        )
    return hits


def shown_place(core: Core, stored: StoredSection, keys: Collection[str] = ()) -> StoredPlace:
    """The place a hit is cited by: in a document that filter keys ask for, else in a live one, else in any.

    Of several live ones, in one that mirrors a source: a grouping tells neither file nor headings.
    """
    if keys:
        for place in stored.places:
            if f"doc:{place.docid}" in keys or source_key(place.source) in keys:
                return place
    if len(stored.places) == 1:
        return stored.places[0]
    places = [place for place in stored.places if core.document_is_live(place.docid)] or [*stored.places, NOWHERE]
    return next((place for place in places if place.source), places[0])
