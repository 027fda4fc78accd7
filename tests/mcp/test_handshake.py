"""The revisions that begin with ``initialize``: what is agreed on, what comes before, and what each revision shows."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_driver import INFO, Driver
from mcp_registry import FixtureRegistry

from kbdb.mcp.registry import AskRefusedError, InvalidParamsError
from kbdb.mcp.subscriptions import MAX_URI, MOST_URIS

REVISIONS = ["2024-11-05", "2025-06-18", "2025-11-25"]


@pytest.mark.parametrize(
    ("requested", "agreed"),
    [
        *((revision, revision) for revision in REVISIONS),
        ("2025-03-26", "2025-06-18"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ],
)
def test_a_revision_that_is_served_is_agreed_on_else_one_that_is_near(requested: str, agreed: str) -> None:
    assert Driver().begin(requested)["protocolVersion"] == agreed


@pytest.mark.parametrize("params", [{}, {"protocolVersion": 1}, {"protocolVersion": "x", "capabilities": []}])
def test_an_initialize_that_lacks_what_it_needs_is_refused(params: dict[str, Any]) -> None:
    assert Driver().ask("initialize", **params)["error"]["code"] == -32602


def test_the_welcome_tells_what_is_offered() -> None:
    assert Driver().begin(capabilities={}) == {
        "protocolVersion": "2025-11-25",
        "capabilities": {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True},
            "prompts": {"listChanged": True},
            "logging": {},
            "completions": {},
        },
        "serverInfo": INFO,
        "instructions": FixtureRegistry.instructions,
    }


def test_an_older_client_is_told_of_the_server_what_it_knows() -> None:
    assert Driver().begin("2025-06-18")["serverInfo"].keys() == {"name", "title", "version"}
    welcome = Driver().begin("2024-11-05")
    assert welcome["serverInfo"].keys() == {"name", "version"}
    assert "completions" not in welcome["capabilities"]


def test_sampling_is_among_our_capabilities_when_the_host_has_it() -> None:
    assert Driver().begin(capabilities={"sampling": {}})["capabilities"]["sampling"] == {}


def test_nothing_that_nobody_announces_can_be_listened_to() -> None:
    class Silent(FixtureRegistry):
        announces = ()

    driver = Driver(Silent())
    capabilities = driver.begin()["capabilities"]
    assert [capabilities[name] for name in ("tools", "resources", "prompts")] == [{}, {}, {}]
    assert driver.ask("resources/subscribe", uri="test://x")["error"]["code"] == -32601
    assert driver.talk("tools/call", name="test_trigger_tool_change")[0]["result"]


@pytest.mark.parametrize("method", ["tools/list", "tools/call", "resources/read", "logging/setLevel", "no/such"])
def test_before_initialize_a_request_is_refused(method: str) -> None:
    assert Driver().ask(method)["error"]["code"] == -32002


def test_ping_is_answered_always() -> None:
    driver = Driver()
    assert driver.ask("ping")["result"] == {}
    driver.begin()
    assert driver.ask("ping")["result"] == {}


def test_a_client_need_not_say_that_it_is_ready_before_it_asks() -> None:
    driver = Driver()
    driver.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=INFO)
    assert driver.ask("tools/list")["result"]["tools"]


def test_a_second_initialize_begins_anew() -> None:
    driver = Driver()
    driver.begin("2025-11-25")
    assert driver.begin("2024-11-05")["protocolVersion"] == "2024-11-05"
    assert "title" not in driver.ask("tools/list")["result"]["tools"][0]


def test_results_have_nothing_that_came_later() -> None:
    driver = Driver()
    driver.begin()
    assert driver.ask("tools/list")["result"].keys() == {"tools"}
    assert driver.ask("tools/call", name="test_simple_text")["result"].keys() == {"content"}


@pytest.mark.parametrize(
    ("revision", "fields"),
    [
        ("2024-11-05", {"name", "description", "inputSchema"}),
        ("2025-06-18", {"name", "description", "inputSchema", "title", "annotations"}),
        ("2025-11-25", {"name", "description", "inputSchema", "title", "annotations"}),
    ],
)
def test_a_tool_is_shown_with_what_the_revision_knows(revision: str, fields: set[str]) -> None:
    driver = Driver()
    driver.begin(revision)
    assert driver.ask("tools/list")["result"]["tools"][0].keys() == fields


class Contents(FixtureRegistry):
    """A tool with all that later revisions brought."""

    def call_tool(self, *_given: Any) -> Any:
        link = {"type": "resource_link", "uri": "test://x", "name": "A link"}
        audio = {"type": "audio", "data": "", "mimeType": "audio/wav"}
        return {"content": [link, audio, {"type": "text", "text": "t"}], "structuredContent": {"a": 1}}


def test_what_an_old_revision_does_not_know_is_told_in_words() -> None:
    driver = Driver(Contents())
    driver.begin("2024-11-05")
    result = driver.ask("tools/call", name="any")["result"]
    words = ["A link: test://x", "(audio, audio/wav)", "t"]
    assert result == {"content": [{"type": "text", "text": one} for one in words]}


def test_a_newer_revision_gets_it_as_it_is() -> None:
    driver = Driver(Contents())
    driver.begin("2025-06-18")
    result = driver.ask("tools/call", name="any")["result"]
    assert [one["type"] for one in result["content"]] == ["resource_link", "audio", "text"]
    assert result["structuredContent"] == {"a": 1}


ERRORS = [
    ("no/such", {}, -32601),
    ("resources/templates", {}, -32601),
    ("tools/call", {}, -32602),
    ("tools/call", {"name": 1}, -32602),
    ("tools/call", {"name": "no such"}, -32602),
    ("tools/call", {"name": "slow", "arguments": []}, -32602),
    ("tools/call", {"name": "slow", "_meta": {"progressToken": True}}, -32602),
    ("tools/call", {"name": "slow", "_meta": {"progressToken": 1.5}}, -32602),
    ("tools/call", {"name": "broken"}, -32603),
    ("tools/list", {"cursor": "x"}, -32602),
    ("resources/list", {"cursor": "x"}, -32602),
    ("resources/list", {"cursor": 2}, -32602),
    ("resources/templates/list", {"cursor": "x"}, -32602),
    ("resources/read", {}, -32602),
    ("resources/read", {"uri": "test://none"}, -32002),
    ("prompts/get", {"name": "none"}, -32602),
    ("prompts/get", {"name": "test_prompt_with_arguments"}, -32602),
    ("prompts/get", {"name": "test_simple_prompt", "arguments": {"x": 1}}, -32602),
    ("completion/complete", {}, -32602),
    ("completion/complete", {"ref": {"type": "ref/tool"}, "argument": {"name": "a", "value": ""}}, -32602),
    ("completion/complete", {"ref": {"type": "ref/prompt"}, "argument": {"name": "a", "value": ""}}, -32602),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a"}}, -32602),
    ("logging/setLevel", {"level": "loud"}, -32602),
    ("logging/setLevel", {}, -32602),
    ("resources/subscribe", {}, -32602),
]


@pytest.mark.parametrize(("method", "params", "code"), ERRORS)
def test_a_request_that_cannot_be_served_is_refused_by_the_number_of_its_fault(
    method: str, params: dict[str, Any], code: int
) -> None:
    driver = Driver()
    driver.begin()
    assert driver.ask(method, **params)["error"]["code"] == code


def test_a_resource_that_is_not_there_is_named() -> None:
    driver = Driver()
    driver.begin()
    assert driver.ask("resources/read", uri="test://none")["error"]["data"] == {"uri": "test://none"}


def test_what_an_unforeseen_error_says_stays_in_the_house() -> None:
    driver = Driver()
    driver.begin()
    assert driver.ask("tools/call", name="broken")["error"]["message"] == "KeyError"


def test_a_list_in_pages_is_read_by_its_cursors() -> None:
    driver = Driver()
    driver.begin()
    first = driver.ask("resources/list")["result"]
    second = driver.ask("resources/list", cursor=first["nextCursor"])["result"]
    assert len(first["resources"]) == 2
    assert second.keys() == {"resources"}


def test_a_completion_has_a_hundred_values_at_most() -> None:
    driver = Driver()
    driver.begin()
    ref, argument = {"type": "ref/prompt", "name": "p"}, {"name": "a", "value": "v"}
    context = {"arguments": {"other": "x"}}
    found = driver.ask("completion/complete", ref=ref, argument=argument, context=context)["result"]["completion"]
    assert (len(found["values"]), found["total"], found["hasMore"]) == (100, 150, True)
    assert found["values"][0] == "v0 other=x ref/prompt a"


def test_log_messages_come_from_the_level_on_that_was_set() -> None:
    driver = Driver()
    driver.begin()
    assert len(driver.talk("tools/call", name="test_logging_tool")) == 1
    driver.ask("logging/setLevel", level="info")
    *logged, _answer = driver.talk("tools/call", name="test_logging_tool")
    assert logged[0] == {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": "info", "logger": "kbdb", "data": "Tool execution started"},
    }
    assert len(logged) == 3
    driver.ask("logging/setLevel", level="notice")
    assert len(driver.talk("tools/call", name="test_logging_tool")) == 1


def test_changes_are_told_to_a_client_that_is_ready() -> None:
    driver = Driver()
    driver.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=INFO)
    assert len(driver.talk("tools/call", name="test_trigger_tool_change")) == 1
    driver.send({"method": "notifications/initialized"})
    told, _answer = driver.talk("tools/call", name="test_trigger_tool_change")
    assert told["method"] == "notifications/tools/list_changed"


def test_a_resource_is_told_of_while_it_is_subscribed_to() -> None:
    driver = Driver()
    driver.begin()
    assert driver.ask("resources/subscribe", uri="test://watched-resource")["result"] == {}
    told, _answer = driver.talk("tools/call", name="test_trigger_resource_change")
    assert told["params"] == {"uri": "test://watched-resource"}
    driver.ask("resources/unsubscribe", uri="test://watched-resource")
    assert len(driver.talk("tools/call", name="test_trigger_resource_change")) == 1


def said_by(question: dict[str, Any]) -> dict[str, Any]:
    """A client that knows everything."""
    if question["method"] == "roots/list":
        return {"roots": []}
    if question["method"] == "elicitation/create":
        return {"action": "accept", "content": {"name": "Ann", "color": "blue", "ok": True}}
    return {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}


def test_a_question_goes_to_the_client_and_its_answer_to_the_handler() -> None:
    driver = Driver(answer=said_by)
    driver.begin()
    result = driver.ask("tools/call", name="test_sampling", arguments={"prompt": "x"})["result"]
    assert result["content"][0]["text"] == "LLM response: Paris"
    result = driver.ask("tools/call", name="test_input_required_result_multi_round")["result"]
    assert result["content"][0]["text"] == "Ann likes blue"


def test_several_questions_are_asked_at_once() -> None:
    asked = []

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        asked.append(question)
        return said_by(question)

    driver = Driver(answer=answer)
    driver.begin()
    driver.ask("tools/call", name="test_input_required_result_multiple_inputs")
    assert {one["method"] for one in asked} == {"elicitation/create", "sampling/createMessage", "roots/list"}
    assert len({one["id"] for one in asked}) == 3


def test_a_refusal_is_told_to_the_model_as_a_tool_s_error() -> None:
    driver = Driver(answer=lambda _question: "the user said no")
    driver.begin()
    result = driver.ask("tools/call", name="test_sampling", arguments={"prompt": "x"})["result"]
    assert result == {
        "isError": True,
        "content": [{"type": "text", "text": "the client refused: the user said no"}],
    }
    assert driver.ask("prompts/get", name="test_input_required_result_prompt")["error"]["code"] == -32600


def test_a_handler_may_go_on_without_an_answer() -> None:
    class Modest(FixtureRegistry):
        def call_tool(self, *given: Any) -> Any:
            context = given[-1]
            try:
                context.ask({"one": {"method": "roots/list", "params": {}}, "two": {"method": "roots/list"}})
            except AskRefusedError:
                return {"content": [{"type": "text", "text": "then not"}]}
            raise InvalidParamsError("answered")

    driver = Driver(Modest(), answer=lambda question: "no" if question["id"].endswith("1") else {"roots": []})
    driver.begin()
    assert driver.ask("tools/call", name="x")["result"]["content"][0]["text"] == "then not"


def test_what_the_client_does_not_offer_is_not_asked_for() -> None:
    driver = Driver()
    driver.begin(capabilities={})
    result = driver.ask("tools/call", name="test_sampling", arguments={"prompt": "x"})["result"]
    assert result["isError"]
    assert "sampling" in result["content"][0]["text"]


def test_only_so_many_resources_are_subscribed_to() -> None:
    driver = Driver()
    driver.begin()
    assert driver.ask("resources/subscribe", uri="x" * (MAX_URI + 1))["error"]["code"] == -32602
    for number in range(MOST_URIS):
        assert driver.ask("resources/subscribe", uri=f"test://{number}")["result"] == {}
    assert driver.ask("resources/subscribe", uri="test://more")["error"]["code"] == -32602
