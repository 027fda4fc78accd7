"""A small store to ask: texts indexed and searched by the chosen engine, with the real stemmer and lists."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from kbdb.index.api import EngineModule, Searcher, Segment
from kbdb.index.engine import engine
from kbdb.languages import stop_words
from kbdb.plan import EngineHit, Entry, Params
from kbdb.query.highlight import Matcher, Span
from kbdb.query.lexicon import Analysis, Lexicon
from kbdb.query.parser import parse_query
from kbdb.query.resolve import resolve
from kbdb.query.resolved import Resolved
from kbdb.query.synonyms import BUILT_IN, Synonyms, make_synonyms
from kbdb.query.verdict import match_of, matched_terms, verdict_of

try:
    from kbdb.index.stemmer import Stemmer
except ImportError:  # a pure installation
    from kbdb.reference.stemmer import Stemmer  # type: ignore[assignment]

PARAMS = Params(1.2, (0.75, 0.75, 0.75, 0.75, 0.75), (2.0, 1.0, 1.0, 1.0, 1.0))
STEMMER = Stemmer("english")
SYNONYMS = make_synonyms((BUILT_IN,), STEMMER.stems)


@dataclass(frozen=True)
class Store:
    """Sections in one segment, and what the query layer makes of a query on them."""

    engine: EngineModule
    segment: Segment
    searcher: Searcher
    synonyms: Synonyms

    def resolve(self, query: str) -> Resolved:
        return resolve(parse_query(query), self.lexicon)

    @cached_property
    def lexicon(self) -> Lexicon:
        analysis = Analysis(self.engine.tokenise, STEMMER.stems, stop_words("english"), self.synonyms)
        return Lexicon(self.searcher, analysis)

    def matcher(self, query: str) -> Matcher:
        """Of any text, also one that the store does not hold."""
        return _OfAnyText(self.resolve(query), self.lexicon.analysis)

    def stems_in(self, text: str) -> set[str]:
        """The stems that the analysis finds in a text."""
        return set(STEMMER.stems([word for _, word in self.engine.tokenise(text)]))

    def hits(self, query: str) -> list[EngineHit]:
        resolved = self.resolve(query)
        return [] if resolved.asks_nothing else list(self.searcher.search(resolved.plan, 100).hits)

    def titles(self, query: str) -> list[str]:
        """Titles of what a query finds, best first."""
        return [self.segment.stored(hit.entry).decode() for hit in self.hits(query)]

    def best(self, query: str) -> EngineHit | None:
        return next(iter(self.hits(query)), None)

    def match(self, query: str) -> str:
        return match_of(self.resolve(query), self.best(query))

    def verdict(self, query: str) -> str:
        return verdict_of(self.resolve(query), self.best(query))

    def terms(self, query: str) -> tuple[str, ...]:
        """The matched terms of the best hit."""
        resolved = self.resolve(query)
        best = self.best(query)
        assert best is not None
        return matched_terms(resolved, best.matched, self.searcher.explain(resolved.plan, best.segment, best.entry))


class _OfAnyText(Matcher):
    """Takes the words of stems from each text; those of a stored one the store knows."""

    def __init__(self, resolved: Resolved, analysis: Analysis) -> None:
        super().__init__(resolved, analysis, lambda _: ())
        self._made_with = resolved, analysis

    def spans(self, text: str) -> list[Span]:
        resolved, analysis = self._made_with
        words = sorted({word for _, word in analysis.tokenise(text)})
        return Matcher(
            resolved, analysis, lambda stem: [word for word in words if analysis.stem_of(word) == stem]
        ).spans(text)


def make_store(sections: Iterable[tuple[str, str]], synonyms: Synonyms = SYNONYMS) -> Store:
    """A store of titles and bodies."""
    chosen = engine()
    builder = chosen.Builder(1, PARAMS)
    for number, (title, body) in enumerate(sections):
        kbid = hashlib.sha256(f"{number} {title}".encode()).digest()[:16]
        builder.add(Entry(kbid, (title, body, "", "", ""), (), (), title.encode(), True))
    files = builder.finish(STEMMER.stems)
    segment = chosen.Segment(files.terms, files.positions, files.corpus, files.references, fingerprint=1)
    live = ((1 << segment.sections) - 1).to_bytes((segment.sections + 7) // 8, "little")
    return Store(chosen, segment, chosen.Searcher([segment], [live], PARAMS), synonyms)
