"""The methods a client may call: what each takes, whether it writes, and which verb of KnowledgeBase answers it.

The one place where wire names meet ``KnowledgeBase``. Those of ``OWN`` have more to say than a database knows;
``kbdb.daemon.server`` answers them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from kbdb.daemon import requests as r
from kbdb.errors import InvalidArgumentError
from kbdb.knowledge import KnowledgeBase
from kbdb.model.skill import SkillArgument
from kbdb.progress import Report

P = TypeVar("P", bound=r.Params)
Run = Callable[[KnowledgeBase, Any, Report], Any]
ALL = 1 << 40
"""The limit of a list that is not a page."""


@dataclass(frozen=True, slots=True)
class Method:
    """One method. Where its parameters are ``WriteParams`` it takes its turn with other writers, else it only reads.

    Attributes:
        params: the class of its parameters.
        run: calls the verb; gets a ``Report`` for long runs and returns a value of ``kbdb.model``, or of JSON.
        is_short: of a request's parameters, whether it may share its sync with others that wait; None: never.
    """

    params: type[r.Params]
    run: Run
    is_short: Callable[[Any], bool] | None = None


def read_params(kind: type[P], given: Any) -> P:
    """The parameters of a request, checked.

    Raises:
        InvalidArgumentError: something is missing, unknown or of the wrong type; names it.
    """
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        names = ", ".join(field.encode_name for field in msgspec.structs.fields(kind)) or "none"
        raise InvalidArgumentError(f"parameters: {error}", f"it takes: {names}") from error


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schema of the parameters of every method, each complete in itself."""
    takes = OWN | {name: method.params for name, method in METHODS.items()}
    return {name: msgspec.json.schema(params) for name, params in takes.items()}


def _arguments(params: r.Params) -> dict[str, Any]:
    """The parameters as arguments of a verb; what every write takes is for the queue and the server."""
    given = msgspec.structs.asdict(params)
    if isinstance(params, r.WriteParams):
        del given["deadline_ms"], given["progress"]
    if isinstance(params, r.EmbeddedParams):
        # The server waits; the writer has others to serve.
        del given["wait_embeddings"]
    return {name: value.base64 if isinstance(value, r.Encoded) else value for name, value in given.items()}


def _verb(name: str) -> Run:
    """The KnowledgeBase method whose arguments are called as the parameters are."""

    def run(kb: KnowledgeBase, params: r.Params, _: Report) -> Any:
        return getattr(kb, name)(**_arguments(params))

    return run


def _content(kb: KnowledgeBase, params: r.SectionOrDocument, _: Report) -> Any:
    return {"content": kb.content(params.kbid, params.docid)}


def _list_by_type(kb: KnowledgeBase, params: r.ListByType, _: Report) -> Any:
    return kb.list("sections", section_type=params.section_type, limit=ALL)


def _list_documents_by_type(kb: KnowledgeBase, params: r.ListDocumentsByType, _: Report) -> Any:
    return kb.list("documents", type=params.doc_type, limit=ALL)


def _learn(kb: KnowledgeBase, params: r.Learn, report: Report) -> Any:
    _require_absolute(*(params.paths or ()))
    return kb.learn(**_arguments(params), progress=report)


def _is_short_learn(params: r.Learn) -> bool:
    return params.paths is None or (len(params.paths) == 1 and os.path.isfile(params.paths[0]))


def _long_verb(name: str) -> Run:
    """One that tells how far it is, and can be ended early."""

    def run(kb: KnowledgeBase, params: r.Params, report: Report) -> Any:
        if isinstance(params, r.Transfer):
            _require_absolute(params.path)
        return getattr(kb, name)(**_arguments(params), progress=report)

    return run


def _add_skill(kb: KnowledgeBase, params: r.AddSkill, _: Report) -> Any:
    arguments = tuple(SkillArgument(**msgspec.structs.asdict(argument)) for argument in params.arguments)
    return kb.add_skill(**_arguments(params) | {"arguments": arguments})


def _require_absolute(*paths: str) -> None:
    """A relative path means another file to the client than to this process."""
    for path in paths:
        if not os.path.isabs(path):
            raise InvalidArgumentError(f"the path {path!r} is not absolute", "send absolute paths")


def _always(_: r.Params) -> bool:
    return True


OWN: dict[str, type[r.Params]] = {
    "hello": r.Hello,
    "ping": r.Nothing,
    "shutdown": r.Nothing,
    "daemonStatus": r.Nothing,
    "dbStatus": r.Nothing,
    # A daemon only ever serves a database that is there: this tells its status.
    "initDirectory": r.Nothing,
}
"""What the daemon answers for itself, and what that takes."""

METHODS: dict[str, Method] = {
    "search": Method(r.Search, _verb("search")),
    "similar": Method(r.Similar, _verb("similar")),
    "recall": Method(r.Recall, _verb("recall")),
    "retrieve": Method(r.Retrieve, _verb("retrieve")),
    "retrieveDocument": Method(r.RetrieveDocument, _verb("retrieve")),
    "readSections": Method(r.ReadSections, _verb("read_sections")),
    "content": Method(r.SectionOrDocument, _content),
    "list": Method(r.List, _verb("list")),
    "listByType": Method(r.ListByType, _list_by_type),
    "listDocumentsByType": Method(r.ListDocumentsByType, _list_documents_by_type),
    "documents": Method(r.Documents, _verb("documents")),
    "complete": Method(r.Complete, _verb("complete")),
    "learn": Method(r.Learn, _learn, is_short=_is_short_learn),
    "addSection": Method(r.AddSection, _verb("learn"), is_short=_always),
    "updateSection": Method(r.UpdateSection, _verb("update"), is_short=_always),
    "removeSection": Method(r.RemoveSection, _verb("unlearn"), is_short=_always),
    "restore": Method(r.Restore, _verb("restore"), is_short=_always),
    "groupSections": Method(r.GroupSections, _verb("group"), is_short=_always),
    "removeGrouping": Method(r.RemoveGrouping, _verb("ungroup"), is_short=_always),
    # What it compares must not change meanwhile.
    "check": Method(r.Check, _long_verb("check")),
    "gc": Method(r.Gc, _long_verb("gc")),
    "rebuildIndexes": Method(r.WriteNothing, _long_verb("rebuild")),
    "export": Method(r.Transfer, _long_verb("export")),
    "import": Method(r.Transfer, _long_verb("import_")),
    "skills": Method(r.Nothing, _verb("skills")),
    "skill": Method(r.ByName, _verb("skill")),
    "addSkill": Method(r.AddSkill, _add_skill, is_short=_always),
    "removeSkill": Method(r.RemoveByName, _verb("remove_skill"), is_short=_always),
    "agents": Method(r.Nothing, _verb("agents")),
    "agent": Method(r.ByName, _verb("agent")),
    "addAgent": Method(r.AddAgent, _verb("add_agent"), is_short=_always),
    "removeAgent": Method(r.RemoveByName, _verb("remove_agent"), is_short=_always),
}
