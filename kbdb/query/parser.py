"""Reads what a person typed into terms and filters; ``resolve`` gives them meaning in a store.

Free text is never an error. What looks like syntax and is not (a lone ``-``, an open quote, ``tag:`` without a value,
``std::vector``, ``12:30``, a URL) is text. The syntax is described in this folder's README.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

MAX_CHARACTERS = 10_000
"""Queries are read up to here: a pasted page still works as a query, and no query takes long."""

MAX_TERMS = 512
"""Words and phrases are read up to this number; a plan keeps 64 of them."""

PROSE_WORDS = 24
"""A query with more free words than this is a passage that somebody pasted: its quotes and hyphens are no syntax."""

TITLE = 0
"""Index of the title in ``kbdb.plan.FIELDS``."""

_CJK_STOPS = "\uff0c\u3002\uff1b\u3001\uff01\uff1f"
"""Comma, full stop, semicolon, enumeration comma, exclamation and question mark of CJK text: no word holds one."""

_OPENING_QUOTES = "\u201c\u201e"
_QUOTES = f'"\uff02{_OPENING_QUOTES}\u201d\u201f'
"""Straight, fullwidth and curly double quotes; any closes any, as keyboards and editors mix them."""

_HYPHENS = "-\uff0d\ufe63\u2212"
_COLONS = ":\uff1a"
_STARS = "*\uff0a"
_QUOTE = re.compile(f"[{_QUOTES}]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SYNTAX = re.compile(rf"[{_QUOTES}\{_HYPHENS}{_COLONS}{_STARS}{_CJK_STOPS}\ud800-\udfff]")
"""All that makes a query more than words between spaces."""

_ONE_PHRASE = re.compile(rf'"([^{_QUOTES}\{_HYPHENS}{_COLONS}{_STARS}{_CJK_STOPS}\ud800-\udfff]*)"')
"""A query that is one phrase, and plainly so."""

_SKIPPED = re.compile(rf"[\s{_CJK_STOPS}]+")
_CHUNK = re.compile(rf"[^\s{_CJK_STOPS}]+")
_FIELD = re.compile(rf"(title|tag|type|doc)[{_COLONS}](?=[^\s{_COLONS}])(?!//)", re.IGNORECASE)

FilterName = Literal["tag", "type", "doc"]
FILTER_NAMES: tuple[FilterName, ...] = ("tag", "type", "doc")


class Term(NamedTuple):
    """A piece of the query's text.

    Attributes:
        text: as typed, without its syntax.
        kind: ``text`` is one run without spaces; ``phrase`` was quoted; ``prefix`` ended in ``*``.
        title: whether it must stand in the title.
        excluded: whether sections that hold it are left out.
    """

    text: str
    kind: Literal["text", "phrase", "prefix"] = "text"
    title: bool = False
    excluded: bool = False

    @property
    def is_free(self) -> bool:
        """Whether it may stand anywhere or nowhere: neither quoted, nor a prefix, nor for the title, nor excluded."""
        return self.kind == "text" and not (self.title or self.excluded)


class Filter(NamedTuple):
    """``tag:``, ``type:`` or ``doc:`` with its value; ``excluded`` when a ``-`` stood before it."""

    name: FilterName
    value: str
    excluded: bool = False


class ParsedQuery(NamedTuple):
    """A query's terms and filters in the order typed, and what to tell the user about the reading."""

    terms: tuple[Term, ...]
    filters: tuple[Filter, ...]
    warnings: tuple[str, ...]


def parse_query(text: str) -> ParsedQuery:
    """Reads a query. Never raises, whatever the text.

    Args:
        text: as typed; lone surrogates become U+FFFD.
    """
    warnings: list[str] = []
    if len(text) > MAX_CHARACTERS:
        warnings.append(f"the query has {len(text):,} characters; only the first {MAX_CHARACTERS:,} were read")
        text = text[:MAX_CHARACTERS]
    if not _SYNTAX.search(text):
        chunks = text.split()
        if len(chunks) <= MAX_TERMS:
            return ParsedQuery(tuple([Term(chunk) for chunk in chunks]), (), tuple(warnings))
    phrase = _ONE_PHRASE.fullmatch(text)
    if phrase and not phrase[1].isspace() and phrase[1]:
        return ParsedQuery((Term(phrase[1], "phrase"),), (), tuple(warnings))
    text = _SURROGATES.sub("\ufffd", text)
    terms: list[Term] = []
    filters: list[Filter] = []
    position = _skip(text, 0)
    while position < len(text):
        if len(terms) + len(filters) == MAX_TERMS:
            warnings.append(f"the query has more than {MAX_TERMS} words; the rest was not read")
            break
        item, position = _read_item(text, position)
        if isinstance(item, Term):
            terms.append(item)
        elif item is not None:
            filters.append(item)
        position = _skip(text, position)
    if len(terms) > PROSE_WORDS and sum(term.kind == "text" for term in terms) > PROSE_WORDS:
        terms = [plain for term in terms for plain in _as_prose(term)]
    return ParsedQuery(tuple(terms), tuple(filters), tuple(warnings))


def _as_prose(term: Term) -> Iterator[Term]:
    """The words of a quote or after a hyphen, neither required nor excluded; ``title:`` keeps its meaning."""
    if term.title or (term.kind != "phrase" and not term.excluded):
        yield term
    else:
        yield from (Term(chunk) for chunk in _CHUNK.findall(term.text))


def _skip(text: str, position: int) -> int:
    skipped = _SKIPPED.match(text, position)
    return skipped.end() if skipped else position


def _read_item(text: str, start: int) -> tuple[Term | Filter | None, int]:
    """Reads one term or filter at ``start``, which is neither space nor the end; gives where it ends."""
    excluded = _is_exclusion(text, start)
    position = start + excluded
    field = _FIELD.match(text, position)
    if field:
        item, end = _read_field(text, field, excluded)
        if item is not None:
            return item, end
    quoted = _read_quoted(text, position)
    if quoted:
        phrase, end = quoted
        return (Term(phrase, "phrase", excluded=excluded) if phrase.strip() else None), end
    if text[position] in _QUOTES:
        return None, position + 1
    end = _chunk_end(text, position)
    return _word(text[position:end], title=False, excluded=excluded), end


def _is_exclusion(text: str, position: int) -> bool:
    """Whether a ``-`` that excludes stands here: not inside a word, and with a word or quote right after it."""
    if text[position] not in _HYPHENS or position + 1 == len(text):
        return False
    if position and not _SKIPPED.fullmatch(text[position - 1]):
        return False
    after = text[position + 1]
    return after.isalnum() or after == "_" or after in _QUOTES


def _read_field(text: str, field: re.Match[str], excluded: bool) -> tuple[Term | Filter | None, int]:
    """Reads the value after ``title:``, ``tag:`` …; None when there is nothing worth the name."""
    quoted = _read_quoted(text, field.end())
    if quoted:
        value, end = quoted
    else:
        end = _chunk_end(text, field.end(), at_quotes=False)
        value = text[field.end() : end].lstrip(_QUOTES)
    if not value.strip():
        return None, end
    name = field[1].lower()
    if name == "title":
        term = Term(value, "phrase", title=True, excluded=excluded)
        return (term if quoted else _word(value, title=True, excluded=excluded)), end
    return next(Filter(known, value.strip(), excluded) for known in FILTER_NAMES if known == name), end


def _read_quoted(text: str, position: int) -> tuple[str, int] | None:
    """The text between a quote at ``position`` and the next one, and where it ends; None when either is missing."""
    if position >= len(text) or text[position] not in _QUOTES:
        return None
    closing = _QUOTE.search(text, position + 1)
    return (text[position + 1 : closing.start()], closing.end()) if closing else None


def _chunk_end(text: str, start: int, *, at_quotes: bool = True) -> int:
    """Where the run without spaces ends.

    A quote inside code (``print("x")``) opens no phrase; one that has an opening form, or that follows a
    script written without spaces, does.
    """
    chunk = _CHUNK.match(text, start)
    end = chunk.end() if chunk else start + 1
    if not at_quotes:
        return end
    for position in range(start + 1, end):
        if text[position] in _OPENING_QUOTES or (text[position] in _QUOTES and not text[position - 1].isascii()):
            return position
    return end


def _word(chunk: str, *, title: bool, excluded: bool) -> Term:
    body = chunk[:-1]
    if chunk[-1] in _STARS and body and "*" not in body and (body[-1].isalnum() or body[-1] == "_"):
        return Term(body, "prefix", title, excluded)
    return Term(chunk, "text", title, excluded)
