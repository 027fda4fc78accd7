"""The official SDK's client over a real ``kbdb mcp`` on a real database: tools, resources, prompts, completions."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import mcp_types as types
import pytest
from daemons import Daemon
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from kbdb.client import Client as KbdbClient

ERAS = ["legacy", "auto"]

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")

Session = Callable[[Client], Awaitable[None]]


def run(session: Session, era: str, database: Path, *options: str) -> None:
    """Runs a session with a ``kbdb mcp`` of its own."""

    async def main() -> None:
        words = ["-m", "kbdb", "mcp", "--db", str(database), *options]
        parameters = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        async with Client(stdio_client(parameters), mode=era) as client:
            await session(client)

    anyio.run(main)


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_answers_by_its_schema(era: str, daemon: Daemon, guide: str, tmp_path: Path) -> None:
    async def session(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert len(tools) == 10
        called: set[str] = set()

        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result
            assert isinstance(result.structured_content, dict)
            jsonschema.validate(result.structured_content, tools[name].output_schema)
            called.add(name)
            return result.structured_content

        hit = (await call("search", query="juice"))["hits"][0]
        assert (await call("recall", kbid=hit["kbid"]))["results"][0]["title"] == "Pressing"
        assert (await call("retrieve", docid=guide, lines="1-3"))["next"] == "4-"
        kbid = (await call("learn", content="Quinces are sour.", title="Quinces"))["kbids"][0]
        assert (await call("unlearn", kbid=kbid))["removed"]
        assert (await call("status"))["documents"] == 2
        assert (await call("check"))["ok"]
        await call("gc")
        await call("export", path=str(tmp_path / "export"))
        steps: list[float] = []

        async def progress(done: float, _total: float | None, _message: str | None) -> None:
            steps.append(done)

        rebuilt = await client.call_tool("rebuild", {}, progress_callback=progress)
        assert rebuilt.structured_content
        assert steps
        assert called | {"rebuild"} == tools.keys()
        bad = await client.call_tool("search", {"q": "x"})
        assert bad.is_error
        assert "'q' is no parameter" in bad.content[0].text  # type: ignore[union-attr]
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("serach", {"query": "x"})
        assert unknown.value.error.code == -32602

    run(session, era, daemon.root, "--tools", "all")


@pytest.mark.parametrize("era", ERAS)
def test_resources_prompts_and_completions_are_served(era: str, daemon: Daemon, kb: KbdbClient, guide: str) -> None:
    kb.add_skill("review-code", "Review {{file}}.")

    async def session(client: Client) -> None:
        resource = {found.name: found for found in (await client.list_resources()).resources}[guide]
        (contents,) = (await client.read_resource(resource.uri)).contents
        assert isinstance(contents, types.TextResourceContents)
        assert contents.text.encode() == kb.content(docid=guide)
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.name for template in templates] == ["section", "document"]
        with pytest.raises(MCPError) as missing:
            await client.read_resource("kbdb://document/none")
        assert missing.value.error.code == (-32002 if era == "legacy" else -32602)
        ref = types.ResourceTemplateReference(uri="kbdb://document/{docid}")
        found = (await client.complete(ref, {"name": "docid", "value": guide[:2]})).completion
        assert (found.values, found.total, found.has_more) == ([guide], 1, False)
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert names == ["memory-protocol", "review-code"]
        prompt = await client.get_prompt("review-code", {"file": "a.py"})
        assert "Review a.py." in prompt.messages[0].content.text  # type: ignore[union-attr]

    run(session, era, daemon.root)


@pytest.mark.parametrize("era", ERAS)
def test_a_server_that_only_reads_offers_no_tool_that_writes(era: str, daemon: Daemon) -> None:
    async def session(client: Client) -> None:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools == ["search", "recall", "retrieve", "status"]
        with pytest.raises(MCPError):
            await client.call_tool("learn", {"content": "x"})

    run(session, era, daemon.root, "--read-only")
