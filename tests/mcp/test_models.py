"""What is sent, against the models of the official SDK: every result, notification and request of every revision."""

from __future__ import annotations

from typing import Any

import mcp_types
import pytest
from mcp_driver import LEVEL, Driver, Message, envelope
from mcp_types import methods

REVISIONS = ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"]
REF: Message = {"type": "ref/prompt", "name": "test_simple_prompt"}
CALLS: list[tuple[str, Message]] = [
    ("tools/list", {}),
    *(
        ("tools/call", {"name": f"test_{name}"})
        for name in [
            "simple_text",
            "image_content",
            "audio_content",
            "embedded_resource",
            "multiple_content_types",
            "error_handling",
            "tool_with_progress",
            "logging_tool",
            "trigger_tool_change",
            "trigger_prompt_change",
            "input_required_result_multiple_inputs",
            "elicitation_sep1034_defaults",
        ]
    ),
    ("resources/list", {}),
    ("resources/list", {"cursor": "2"}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "test://static-text"}),
    ("resources/read", {"uri": "test://static-binary"}),
    ("prompts/list", {}),
    *(
        ("prompts/get", {"name": f"test_{name}"})
        for name in ["simple_prompt", "prompt_with_image", "input_required_result_prompt"]
    ),
    ("prompts/get", {"name": "test_prompt_with_embedded_resource", "arguments": {"resourceUri": "test://x"}}),
    ("completion/complete", {"ref": REF, "argument": {"name": "a", "value": "v"}}),
]
HANDSHAKE_ONLY: list[tuple[str, Message]] = [
    ("ping", {}),
    ("logging/setLevel", {"level": "debug"}),
    ("resources/subscribe", {"uri": "test://watched-resource"}),
    ("resources/unsubscribe", {"uri": "test://watched-resource"}),
]
ERRORS: list[tuple[str, Message]] = [
    ("no/such", {}),
    ("tools/call", {}),
    ("tools/call", {"name": "broken"}),
    ("resources/read", {"uri": "test://none"}),
]


def answered(question: Message) -> Message:
    """Answers of a client, as its models want them."""
    if question["method"] == "roots/list":
        return {"roots": [{"uri": "file:///x"}]}
    if question["method"] == "elicitation/create":
        return {"action": "accept", "content": {"name": "Ann"}}
    return {"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "m"}


def client(revision: str, questions: list[Message]) -> tuple[Driver, Message]:
    """A client of a revision, and the ``_meta`` of its requests."""

    def answer(question: Message) -> Message:
        questions.append(question)
        return answered(question)

    driver = Driver(answer=answer)
    if revision == "2026-07-28":
        return driver, envelope(**{LEVEL: "debug"})
    methods.validate_server_result("initialize", revision, driver.begin(revision))
    driver.ask("logging/setLevel", level="debug")
    return driver, {}


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(("method", "params"), CALLS, ids=[f"{m} {p.get('name', '')}" for m, p in CALLS])
def test_everything_sent_is_valid(revision: str, method: str, params: Message) -> None:
    questions: list[Message] = []
    driver, meta = client(revision, questions)
    *told, answer = driver.talk(method, **params, _meta={**meta, "progressToken": "t"})
    methods.validate_server_result(method, revision, answer["result"])
    mcp_types.JSONRPCResponse.model_validate(answer)
    for one in told:
        methods.parse_server_notification(one["method"], revision, one.get("params"))
    for one in questions:
        # Elicitation came after the oldest revision; a client of that one does not declare it.
        if (one["method"], revision) in methods.SERVER_REQUESTS:
            methods.parse_server_request(one["method"], revision, one.get("params"))


@pytest.mark.parametrize("revision", REVISIONS[:-1])
@pytest.mark.parametrize(("method", "params"), HANDSHAKE_ONLY)
def test_what_only_the_handshake_has_is_valid(revision: str, method: str, params: Message) -> None:
    driver, _meta = client(revision, [])
    methods.validate_server_result(method, revision, driver.ask(method, **params)["result"])


def test_discovery_and_subscriptions_are_valid() -> None:
    driver, meta = client("2026-07-28", [])
    discovered = driver.ask("server/discover", _meta=meta)["result"]
    methods.validate_server_result("server/discover", "2026-07-28", discovered)
    wanted = {"toolsListChanged": True, "resourceSubscriptions": ["test://watched-resource"]}
    (told,) = driver.send(
        {"id": "s", "method": "subscriptions/listen", "params": {"_meta": meta, "notifications": wanted}}
    )
    methods.parse_server_notification(told["method"], "2026-07-28", told["params"])
    for tool in ("test_trigger_tool_change", "test_trigger_resource_change"):
        told, _answer = driver.talk("tools/call", name=tool, _meta=meta)
        methods.parse_server_notification(told["method"], "2026-07-28", told["params"])


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(("method", "params"), ERRORS)
def test_errors_are_valid(revision: str, method: str, params: Message) -> None:
    driver, meta = client(revision, [])
    mcp_types.JSONRPCError.model_validate(driver.ask(method, **params, _meta=meta))


@pytest.mark.parametrize(
    ("params", "model"),
    [
        ({"_meta": {**envelope(), "io.modelcontextprotocol/protocolVersion": "x"}}, "UnsupportedProtocolVersion"),
        ({"_meta": envelope({}), "name": "test_missing_capability"}, "MissingRequiredClientCapability"),
    ],
)
def test_the_data_of_new_errors_is_valid(params: Message, model: str) -> None:
    kind: Any = getattr(mcp_types, f"{model}ErrorData")
    kind.model_validate(Driver().ask("tools/call", **params)["error"]["data"])
