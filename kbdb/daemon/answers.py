"""Results and errors as lines of JSON; here and nowhere else in the daemon."""

from __future__ import annotations

from typing import Any

import msgspec

from kbdb.errors import KbdbError
from kbdb.model.read import DocumentView, SectionView, SectionViews
from kbdb.model.search import PagedSearchResult, SearchHit
from kbdb.model.skill import AgentDefinition, SkillDefinition
from kbdb.model.to_json import as_json
from kbdb.progress import Progress
from kbdb.rpc.codes import INTERNAL_ERROR
from kbdb.rpc.messages import Failure, Id, Notification, Result, encode
from kbdb.rpc.refusals import failure_of

_encode = msgspec.json.Encoder().encode


def answer_line(id: Id, outcome: Any) -> bytes:
    """The answer to a request.

    Args:
        id: the request's.
        outcome: a value of ``kbdb.model`` or of JSON, or the exception that came instead.
    """
    if isinstance(outcome, Exception):
        return encode(_failure(id, outcome))
    value = as_builtins(outcome)
    try:
        return _encode({"jsonrpc": "2.0", "id": id, "result": value}) + b"\n"
    except UnicodeEncodeError:
        # A file name that is not UTF-8 has half of a surrogate pair.
        return encode(Result(id, value))


def _failure(id: Id, error: Exception) -> Failure:
    """What the client hears of an error; the details of a fault of ours stay in the log."""
    if isinstance(error, KbdbError):
        return failure_of(id, error)
    told = KbdbError(f"{type(error).__name__} in the daemon", "kbdb daemon logs tells more; please report it")
    return failure_of(id, told)._replace(code=INTERNAL_ERROR)


def as_builtins(value: Any) -> Any:
    """What ``kbdb.model.as_json`` gives, made faster where that pays and no bytes can be in it."""
    if isinstance(value, (SectionView, SectionViews, DocumentView, SkillDefinition, AgentDefinition, dict, tuple)):
        return as_json(value)
    answer = msgspec.to_builtins(value)
    if isinstance(value, PagedSearchResult):
        for hit in answer["hits"]:
            for key in SearchHit.ON_REQUEST:
                if hit[key] is None:
                    del hit[key]
    return answer


def progress_line(id: Id, step: Progress) -> bytes:
    """Tells how far a request is."""
    return encode(Notification("progress", {"id": id, "done": step.done, "total": step.total, "what": step.source}))
