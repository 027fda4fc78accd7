"""Results and errors as lines of JSON; here and nowhere else in the daemon."""

from __future__ import annotations

from typing import Any

import msgspec

from kbdb.errors import KbdbError
from kbdb.model.read import DocumentView, SectionView, SectionViews
from kbdb.model.search import PagedSearchResult, SearchHit
from kbdb.model.skill import AgentDefinition, SkillDefinition
from kbdb.model.to_json import as_json
from kbdb.model.upkeep import CheckResult
from kbdb.progress import Progress
from kbdb.rpc.codes import INTERNAL_ERROR
from kbdb.rpc.messages import Failure, Id, Notification, Result, encode
from kbdb.rpc.refusals import failure_of

_encode = msgspec.json.Encoder().encode

_ON_REQUEST = tuple(f',"{name}":null'.encode() for name in SearchHit.ON_REQUEST)
"""What a hit's line holds of a key that was not asked for. It stands in no text: there a quotation mark is escaped."""

_NOT_SO = "".join(f',"{name}":null' for name in PagedSearchResult.ON_REQUEST).encode()
"""The same of the answer itself."""

_PUT_BY_HAND = (SectionView, SectionViews, DocumentView, SkillDefinition, AgentDefinition, CheckResult, dict, tuple)
"""Values with bytes in them, or with keys that are left out where they hold nothing."""


def answer_line(id: Id, outcome: Any) -> bytes:
    """The answer to a request.

    Args:
        id: the request's.
        outcome: a value of ``kbdb.model`` or of JSON, or the exception that came instead.
    """
    if isinstance(outcome, Exception):
        return encode(_failure(id, outcome))
    value = _as_encodable(outcome)
    try:
        line = _encode({"jsonrpc": "2.0", "id": id, "result": value})
    except UnicodeEncodeError:
        # A file name that is not UTF-8 has half of a surrogate pair.
        return encode(Result(id, as_json(outcome)))
    if isinstance(outcome, PagedSearchResult):
        line = _without_unasked(line, outcome)
    return line + b"\n"


def _failure(id: Id, error: Exception) -> Failure:
    """What the client hears of an error; the details of a fault of ours stay in the log."""
    if isinstance(error, KbdbError):
        return failure_of(id, error)
    told = KbdbError(f"{type(error).__name__} in the daemon", "kbdb daemon logs tells more; please report it")
    return failure_of(id, told)._replace(code=INTERNAL_ERROR)


def _as_encodable(value: Any) -> Any:
    """What the encoder makes the JSON of ``as_json(value)`` of: the value itself, where that gives the same."""
    return as_json(value) if isinstance(value, _PUT_BY_HAND) else value


def _without_unasked(line: bytes, answer: PagedSearchResult) -> bytes:
    line = line.replace(b"".join(_ON_REQUEST), b"")
    if any(getattr(hit, name) is not None for hit in answer.hits for name in SearchHit.ON_REQUEST):
        for unasked in _ON_REQUEST:
            line = line.replace(unasked, b"")
    return line.replace(_NOT_SO, b"")


def progress_line(id: Id, step: Progress) -> bytes:
    """Tells how far a request is."""
    return encode(Notification("progress", {"id": id, "done": step.done, "total": step.total, "what": step.source}))
