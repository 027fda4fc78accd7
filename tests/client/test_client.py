"""kbdb.client: the methods of KnowledgeBase, each as one call; and the names of the specification."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client_calls import CALLS
from scripted_daemon import Answer, ScriptedDaemon, refuse

from kbdb.client import Client
from kbdb.errors import InvalidArgumentError, SectionNotFoundError
from kbdb.knowledge import KnowledgeBase
from kbdb.model.change import RestoreResult
from kbdb.model.to_json import as_json
from kbdb.model.upkeep import GcResult
from kbdb.rpc.codes import REFUSED
from kbdb.rpc.messages import Request, Result

OWN = {"call_raw", "cancel", "daemon_pid", "daemon_status", "shutdown", "disconnect"}
"""What a client has beside the verbs and the names of the specification."""

SPECIFIED = {
    *("add_section", "update_section", "remove_section", "read_sections", "retrieve_document", "content"),
    *("list_by_type", "list_documents_by_type", "db_status", "group_sections", "remove_grouping", "init_directory"),
    *("rebuild_indexes", "disconnect"),
}

NOT_FOUND = refuse(REFUSED, "x", {"code": "SECTION_NOT_FOUND", "message": "none", "hint": ""})


@pytest.fixture
def client(daemon: ScriptedDaemon) -> Iterator[Client]:
    """Connected to ``daemon``."""
    with Client(daemon.root) as made:
        yield made


def _public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


VERBS = sorted(
    name
    for name in _public(KnowledgeBase) & _public(Client)
    if inspect.isfunction(getattr(KnowledgeBase, name)) and name != "close"
)


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_has_the_signature_it_has_in_process(name: str) -> None:
    here, there = inspect.signature(getattr(Client, name)), inspect.signature(getattr(KnowledgeBase, name))
    assert here == there


def test_the_verbs_are_all_there() -> None:
    assert {"learn", "search", "rank", "recall", "retrieve", "unlearn", "restore", "list", "status"} <= set(VERBS)
    assert {"check", "rebuild", "gc", "export", "import_"} <= set(VERBS)
    assert _public(Client) >= SPECIFIED


def told(daemon: ScriptedDaemon) -> list[tuple[str, dict[str, Any]]]:
    """What the daemon was asked."""
    return [(message.method, message.params) for message in daemon.heard if isinstance(message, Request)]


@pytest.mark.parametrize("name", CALLS)
def test_a_method_is_one_call_with_these_params(name: str, client: Client, daemon: ScriptedDaemon) -> None:
    call, method, params = CALLS[name]
    daemon.answers[method] = NOT_FOUND
    with pytest.raises(SectionNotFoundError):
        call(client)
    assert told(daemon) == [(method, params)]


def test_every_method_was_tried() -> None:
    tried = {name.replace("import", "import_") for name in CALLS} | {"learn", "close", "root", "generation"}
    assert _public(Client) <= tried | OWN


def test_paths_are_sent_as_they_are_from_this_folder(
    client: Client, daemon: ScriptedDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    daemon.answers["learn"] = daemon.answers["export"] = NOT_FOUND
    for paths in ("a.md", Path("a.md"), ["a.md", Path("../b"), "/c", os.fsdecode(b"\xff.md")]):
        with pytest.raises(SectionNotFoundError):
            client.learn(paths)  # type: ignore[arg-type]
    with pytest.raises(SectionNotFoundError):
        client.export()
    here = os.getcwd()
    asked = [params.get("paths") or params.get("path") for _, params in told(daemon)]
    several = [f"{here}/a.md", f"{here}/../b", "/c", f"{here}/\udcff.md"]
    assert asked == [[f"{here}/a.md"], [f"{here}/a.md"], several, f"{here}/kbdb-export"]


def test_a_text_is_learned_with_all_that_is_said_of_it(client: Client, daemon: ScriptedDaemon) -> None:
    daemon.answers["learn"] = NOT_FOUND
    with pytest.raises(SectionNotFoundError):
        client.learn(content="text", title="t", docid="d", replace=True, supersedes=("k",))
    ((_, params),) = told(daemon)
    assert params == {
        **{"content": "text", "title": "t", "tags": [], "docid": "d", "replace": True, "supersedes": ["k"]},
        **{"include": [], "exclude": [], "prune": False, "who": "user"},
    }


@pytest.mark.parametrize("name", ["tags", "include", "exclude", "supersedes"])
def test_a_text_in_the_place_of_a_list_is_refused_here(name: str, client: Client, daemon: ScriptedDaemon) -> None:
    with pytest.raises(InvalidArgumentError, match=f"{name} is 'ab'"):
        client.learn(content="x", **{name: "ab"})  # type: ignore[arg-type]
    assert daemon.heard == []


def _answering(value: Any) -> Answer:
    return lambda talk, request: talk.say(Result(request.id, as_json(value)))


def test_an_answer_is_the_value_it_was(client: Client, daemon: ScriptedDaemon) -> None:
    result = GcResult(1, 2, ("k",), True, 0.5)
    daemon.answers["gc"] = _answering(result)
    assert client.gc(dry_run=True) == result
    assert client.call_raw("gc") == as_json(result)


@pytest.mark.parametrize("content", [b"text \xc3\xa9\r\n", b"\xff\x00"])
def test_content_comes_back_byte_for_byte(content: bytes, client: Client, daemon: ScriptedDaemon) -> None:
    daemon.answers["content"] = _answering({"content": content})
    assert client.content("k") == content


def test_the_best_are_kbids_with_scores(client: Client, daemon: ScriptedDaemon) -> None:
    daemon.answers["search"] = _answering({"hits": [{"kbid": "k", "score": 1.5, "title": ""}], "generation": 4})
    assert client.rank("x") == [("k", 1.5)]


def test_the_generation_is_that_of_the_last_answer_that_told_one(client: Client, daemon: ScriptedDaemon) -> None:
    daemon.answers["dbStatus"] = _answering({"generation": 3})
    assert client.generation == 3
    assert client.generation == 3
    daemon.answers["restore"] = _answering(RestoreResult((), "d", 4))
    client.restore(docid="d")
    daemon.answers["ping"] = _answering({})
    client.call_raw("ping")
    assert client.generation == 4
    assert daemon.methods() == ["dbStatus", "restore", "ping"]


def test_the_root_is_the_database_folder_however_it_was_named(daemon: ScriptedDaemon) -> None:
    for path in (daemon.root, daemon.root.parent, str(daemon.root.parent)):
        with Client(path) as client:
            assert client.root == daemon.root
            assert client.daemon_pid == daemon.pid
