"""The official SDK's client at the other end of the pipes, in both eras."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_process import KBDB_MCP

ERAS = ["legacy", "auto", "2026-07-28"]
REVISION = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")

Session = Callable[[Client], Awaitable[None]]


async def sampled(_context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    """A model that says what it was asked."""
    block = params.messages[0].content
    assert isinstance(block, types.TextContent)
    text = types.TextContent(type="text", text=f"heard {block.text}")
    return types.CreateMessageResult(role="assistant", content=text, model="m")


async def elicited(_context: Any, _params: Any) -> types.ElicitResult:
    """A user who is called Ann and likes blue."""
    return types.ElicitResult(action="accept", content={"name": "Ann", "color": "blue"})


async def refused(_context: Any, _params: Any) -> types.ErrorData:
    """A user who says no."""
    return types.ErrorData(code=-1, message="the user said no")


def run(session: Session, era: str, **how: Any) -> None:
    """Runs a session with a server of its own."""

    async def main() -> None:
        parameters = StdioServerParameters(command=KBDB_MCP[0], args=KBDB_MCP[1:])
        async with Client(stdio_client(parameters), mode=era, **how) as client:
            assert client.protocol_version == REVISION[era]
            await session(client)

    anyio.run(main)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_learns_who_serves_and_what(era: str) -> None:
    async def session(client: Client) -> None:
        if era != "2026-07-28":  # without a handshake or a discovery, nobody introduces himself
            assert client.server_info
            assert client.server_info.name == "kbdb"
            assert client.instructions
            capabilities = client.server_capabilities
            assert capabilities.tools
            assert capabilities.resources
            assert capabilities.prompts
            assert capabilities.completions is not None
        assert len((await client.list_tools()).tools) > 20

    run(session, era)


def test_sampling_among_our_capabilities_disturbs_no_client() -> None:
    async def session(client: Client) -> None:
        assert client.server_capabilities.tools
        assert (await client.call_tool("test_simple_text")).content

    run(session, "legacy", sampling_callback=sampled)


@pytest.mark.parametrize("era", ERAS)
def test_tools_answer_with_every_kind_of_content(era: str) -> None:
    async def session(client: Client) -> None:
        kinds = {"simple_text": "text", "image_content": "image", "audio_content": "audio"}
        for name, kind in {**kinds, "embedded_resource": "resource"}.items():
            (content,) = (await client.call_tool(f"test_{name}")).content
            assert content.type == kind
        assert (await client.call_tool("test_error_handling")).is_error
        with pytest.raises(MCPError) as caught:
            await client.call_tool("no such tool")
        assert caught.value.error.code == -32602

    run(session, era)


@pytest.mark.parametrize("era", ERAS)
def test_progress_and_log_messages_arrive_before_the_result(era: str) -> None:
    logged: list[Any] = []

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        logged.append((params.level, params.logger))

    async def session(client: Client) -> None:
        seen: list[float] = []

        async def progress(done: float, _total: float | None, _message: str | None) -> None:
            seen.append(done)

        await client.call_tool("test_tool_with_progress", progress_callback=progress)
        assert seen == [0, 50, 100]
        if era == "legacy":
            await client.set_logging_level("info")
        await client.call_tool("test_logging_tool")
        assert logged == [("info", "kbdb")] * 3

    run(session, era, logging_callback=log, **({} if era == "legacy" else {"log_level": "info"}))


@pytest.mark.parametrize("era", ERAS)
def test_resources_are_listed_in_pages_and_read(era: str) -> None:
    async def session(client: Client) -> None:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        assert len(first.resources) + len(second.resources) == 3
        (template,) = (await client.list_resource_templates()).resource_templates
        uri = template.uri_template.replace("{id}", "7")
        (content,) = (await client.read_resource(uri)).contents
        assert isinstance(content, types.TextResourceContents)
        assert '"7"' in content.text
        with pytest.raises(MCPError) as caught:
            await client.read_resource("test://none")
        assert caught.value.error.code == (-32002 if era == "legacy" else -32602)

    run(session, era)


@pytest.mark.parametrize("era", ERAS)
def test_prompts_and_completions(era: str) -> None:
    async def session(client: Client) -> None:
        assert len((await client.list_prompts()).prompts) == 5
        found = await client.get_prompt("test_prompt_with_arguments", {"arg1": "x", "arg2": "y"})
        content = found.messages[0].content
        assert isinstance(content, types.TextContent)
        assert "arg2='y'" in content.text
        ref = types.PromptReference(type="ref/prompt", name="test_simple_prompt")
        completion = (await client.complete(ref, {"name": "a", "value": "v"})).completion
        assert (len(completion.values), completion.total, completion.has_more) == (100, 150, True)

    run(session, era)


@pytest.mark.parametrize("era", ERAS)
def test_a_tool_asks_the_model_and_the_user(era: str) -> None:
    async def session(client: Client) -> None:
        (content,) = (await client.call_tool("test_sampling", {"prompt": "this"})).content
        assert isinstance(content, types.TextContent)
        assert content.text == "LLM response: heard this"
        (content,) = (await client.call_tool("test_input_required_result_multi_round")).content
        assert isinstance(content, types.TextContent)
        assert content.text == "Ann likes blue"

    run(session, era, sampling_callback=sampled, elicitation_callback=elicited)


def test_a_refusal_of_sampling_is_a_tool_s_error() -> None:
    async def session(client: Client) -> None:
        result = await client.call_tool("test_sampling", {"prompt": "this"})
        assert result.is_error

    run(session, "legacy", sampling_callback=refused)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_cannot_be_asked_learns_what_it_takes(era: str) -> None:
    async def session(client: Client) -> None:
        if era == "legacy":
            assert (await client.call_tool("test_sampling", {"prompt": "x"})).is_error
            return
        with pytest.raises(MCPError) as caught:
            await client.call_tool("test_sampling", {"prompt": "x"})
        assert caught.value.error.code == -32021

    run(session, era)


@pytest.mark.parametrize("era", ERAS)
def test_eight_calls_at_once_get_their_own_answers(era: str) -> None:
    async def session(client: Client) -> None:
        async def one(number: int) -> None:
            for _ in range(5):
                found = await client.get_prompt("test_prompt_with_arguments", {"arg1": str(number), "arg2": ""})
                content = found.messages[0].content
                assert isinstance(content, types.TextContent)
                assert f"arg1='{number}'" in content.text

        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(one, number)

    run(session, era)


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_is_given_up_does_not_disturb_the_next(era: str) -> None:
    async def session(client: Client) -> None:
        with anyio.move_on_after(0.2):
            await client.call_tool("slow")
        assert (await client.call_tool("test_simple_text")).content

    run(session, era)


def test_changes_are_heard_of_by_those_who_listen() -> None:
    async def session(client: Client) -> None:
        async with client.listen(tools_list_changed=True) as heard:
            await client.call_tool("test_trigger_tool_change")
            async for event in heard:
                assert "tools" in type(event).__name__.lower()
                break

    run(session, "2026-07-28")
