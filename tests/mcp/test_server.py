"""The server as a whole: what it offers, at what price, without a daemon or a database, and to several at once."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonschema
import pytest
from daemons import Daemon
from mcp_calls import Quiet, call, error, tokens

import kbdb
from kbdb.client import Client
from kbdb.client.address import owner
from kbdb.client.stop import stop
from kbdb.errors import DatabaseClosedError
from kbdb.mcp.registry import InvalidParamsError
from kbdb.mcp.server import INSTRUCTIONS, KbdbServer
from kbdb.mcp.tools.tool import SECTION_TYPES
from kbdb.model import truth

CORE = ["search", "recall", "retrieve", "learn", "unlearn", "status"]
UPKEEP = ["check", "gc", "rebuild", "export"]


@pytest.fixture
def nowhere(tmp_path: Path) -> KbdbServer:
    """A server whose database does not exist."""
    return KbdbServer(str(tmp_path / "nowhere"))


@pytest.mark.parametrize("tools", ["core", "all"])
def test_the_list_of_tools_costs_little(tools: str) -> None:
    listed = {"tools": KbdbServer(None, tools=tools).tools()}
    assert tokens(json.dumps(listed, separators=(",", ":"))) < 2500
    assert len(listed["tools"]) <= 10


def test_the_default_set_costs_less(nowhere: KbdbServer) -> None:
    assert tokens(json.dumps({"tools": nowhere.tools()}, separators=(",", ":"))) < 2000


def test_instructions_and_descriptions_are_shorter_than_clients_cut_them() -> None:
    assert len(INSTRUCTIONS) < 600
    for tool in KbdbServer(None, tools="all").tools():
        assert len(tool["description"].encode()) < 2048
        assert "Returns" in tool["description"]
        assert "Use it" in tool["description"] or "Store" in tool["description"]
        assert tool["title"]


def test_tools_are_offered_by_set_and_by_what_they_do() -> None:
    def names(**options: object) -> list[str]:
        return [tool["name"] for tool in KbdbServer(None, **options).tools()]

    assert (names(), names(tools="all")) == (CORE, CORE + UPKEEP)
    assert names(read_only=True) == ["search", "recall", "retrieve", "status"]
    assert names(read_only=True, tools="all") == ["search", "recall", "retrieve", "status", "check"]


def test_hints_are_true_of_each_tool() -> None:
    for tool in KbdbServer(None, tools="all").tools():
        hints = tool["annotations"]
        assert hints["openWorldHint"] is False
        assert hints["readOnlyHint"] == (tool["name"] in ("search", "recall", "retrieve", "status", "check"))
        assert hints.get("destructiveHint", False) == (tool["name"] in ("unlearn", "gc", "export"))


def test_schemas_are_schemas_and_take_nothing_unknown() -> None:
    for tool in KbdbServer(None, tools="all").tools():
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert tool["inputSchema"]["additionalProperties"] is False


@pytest.mark.parametrize("name", ["learn", "unlearn"])
def test_a_server_that_only_reads_does_not_know_the_tools_that_write(daemon: Daemon, name: str) -> None:
    server = KbdbServer(str(daemon.root), read_only=True)
    with pytest.raises(InvalidParamsError) as refusal:
        server.call_tool(name, {"content": "x", "kbid": "x"}, Quiet())
    assert f"no tool {name!r}" in str(refusal.value)


def test_what_is_offered_is_told_without_a_database(nowhere: KbdbServer) -> None:
    assert len(nowhere.tools()) == 6
    assert len(nowhere.resource_templates()) == 2
    assert nowhere.resources(None).items == ()
    assert nowhere.complete({"type": "ref/resource", "uri": ""}, "docid", "a", {})["values"] == []


def test_the_skills_that_come_with_kbdb_are_prompts_without_a_database(nowhere: KbdbServer, server: KbdbServer) -> None:
    assert nowhere.prompts(None).items == server.prompts(None).items
    assert [prompt["name"] for prompt in nowhere.prompts(None).items] == ["memory-protocol"]
    assert nowhere.get_prompt("memory-protocol", {}, Quiet()) == server.get_prompt("memory-protocol", {}, Quiet())
    assert nowhere.complete({"type": "ref/prompt"}, "name", "mem", {})["values"] == ["memory-protocol"]


@pytest.mark.parametrize("name", ["deploy", "agent:memory-protocol", ""])
def test_other_prompts_are_missed_with_the_database(nowhere: KbdbServer, name: str) -> None:
    with pytest.raises(InvalidParamsError, match=r"no prompt .*: no database at .*kbdb init"):
        nowhere.get_prompt(name, {}, Quiet())
    with pytest.raises(InvalidParamsError, match="no argument 'x'"):
        nowhere.get_prompt("memory-protocol", {"x": "1"}, Quiet())


@pytest.mark.parametrize("name", ["search", "status", "learn"])
def test_a_missing_database_is_told_with_where_it_was_looked_for_and_why(
    nowhere: KbdbServer, tmp_path: Path, name: str
) -> None:
    told = error(nowhere, name, **{"search": {"query": "x"}, "learn": {"content": "x"}}.get(name, {}))
    assert told["code"] == "NOT_A_DATABASE"
    assert str(tmp_path / "nowhere" / ".kbdb") in told["message"]
    assert "--db names it" in told["message"]
    assert "kbdb init" in told["hint"]


@pytest.mark.parametrize("name", ["search", "recall", "status", "learn"])
def test_a_database_removed_while_the_server_runs_is_an_error_at_once(
    server: KbdbServer, daemon: Daemon, name: str
) -> None:
    call(server, "learn", content="text", title="t")
    shutil.rmtree(daemon.root)
    given = {"search": {"query": "text"}, "recall": {"kbid": "0" * 26}, "learn": {"content": "x"}}.get(name, {})
    assert error(server, name, **given)["code"] == "NOT_A_DATABASE"


@pytest.fixture
def ended(tmp_path: Path) -> Iterator[Path]:
    """A database whose daemon, where one was started, is ended."""
    root = tmp_path / "later" / ".kbdb"
    yield root
    if root.exists() and (found := owner(root)) and found.pid:
        with Client(root) as client:
            client.shutdown()
        stop(root)


def test_a_database_made_meanwhile_is_found_and_its_daemon_started(ended: Path) -> None:
    server = KbdbServer(str(ended.parent))
    assert error(server, "status")["code"] == "NOT_A_DATABASE"
    kbdb.init(ended.parent).close()
    assert call(server, "status")["sections"] == 0
    server.close()


def test_a_daemon_that_does_not_start_is_explained(ended: Path) -> None:
    kbdb.init(ended.parent).close()
    (ended / "worker.toml").write_text("[search]\nnonsense = 1\n")
    server = KbdbServer(str(ended.parent))
    told = error(server, "search", query="x")
    assert told["code"] in ("BAD_CONFIG", "DAEMON_START")
    assert "nonsense" in told["message"]
    (ended / "worker.toml").write_text("")
    assert call(server, "status")["documents"] == 0
    server.close()


def test_calls_go_on_when_the_daemon_was_killed(server: KbdbServer, daemon: Daemon) -> None:
    assert call(server, "status")["daemon"]["pid"] == daemon.process.pid
    daemon.stop(9)
    assert call(server, "status")["daemon"]["pid"] != daemon.process.pid
    with Client(daemon.root) as client:
        client.shutdown()


def test_an_unknown_tool_is_no_result(server: KbdbServer) -> None:
    with pytest.raises(InvalidParamsError):
        server.call_tool("serach", {}, Quiet())


def test_calls_run_side_by_side(server: KbdbServer) -> None:
    with ThreadPoolExecutor(16) as threads:
        learned = list(
            threads.map(lambda n: call(server, "learn", content=f"text {n}", title=f"t {n}")["kbids"][0], range(32))
        )
        found = list(threads.map(lambda kbid: call(server, "recall", kbid=kbid)["results"][0]["kbid"], learned))
    assert learned == found


def test_a_closed_server_refuses(server: KbdbServer) -> None:
    call(server, "status")
    server.close()
    assert error(server, "status")["code"] == DatabaseClosedError.code


def test_saying_what_is_offered_loads_no_client() -> None:
    script = (
        "import sys; from kbdb.mcp.server import KbdbServer; server = KbdbServer(None); server.tools();"
        "server.resource_templates(); print(*sys.modules)"
    )
    loaded = set(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.split())
    assert "kbdb.mcp.tools.search" in loaded
    heavy = {"kbdb.client", "kbdb.knowledge", "socket", "typer", "rich", "asyncio", "numpy", "pydantic", "msgspec"}
    assert loaded & heavy == set()


def test_what_is_learned_or_forgotten_is_news_to_those_who_keep_lists(server: KbdbServer) -> None:
    told = Quiet()
    kbid = call(server, "learn", told, content="text", title="t")["kbids"][0]
    assert told.announced == ["prompts", "resources"]
    call(server, "search", told, query="text")
    assert len(told.announced) == 2
    call(server, "unlearn", told, kbid=kbid)
    assert set(told.announced[2:]) <= set(server.announces) == {"prompts", "resources"}
    assert len(told.announced) == 4


def test_each_call_is_logged_with_its_time_and_what_went_wrong_as_a_warning(server: KbdbServer) -> None:
    told = Quiet()
    call(server, "status", told)
    call(server, "learn", told, content="text")
    server.call_tool("recall", {"kbid": "nonsense"}, told)
    server.call_tool("learn", {}, told)
    assert [(level, data["tool"], data.get("error")) for level, data in told.logged] == [
        ("debug", "status", None),
        ("info", "learn", None),
        ("warning", "recall", "INVALID_ID"),
        ("warning", "learn", "INVALID_ARGUMENT"),
    ]
    assert all(data["ms"] >= 0 for _, data in told.logged[:2])
    assert told.announced == ["prompts", "resources"]


def test_section_types_are_those_of_the_model() -> None:
    assert SECTION_TYPES == truth.SECTION_TYPES
