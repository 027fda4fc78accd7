"""Whatever comes in, the protocol goes on: each request gets one answer with its own id, and nothing else gets one."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from mcp_driver import Driver, envelope

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SIMPLE: Any = st.none() | st.booleans() | st.integers() | FINITE | st.text(max_size=8)
VALUES: Any = st.recursive(
    SIMPLE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
IDS = st.integers() | st.text(max_size=8)
METHODS = st.sampled_from(
    [
        "initialize",
        "ping",
        "server/discover",
        "subscriptions/listen",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "notifications/cancelled",
        "notifications/initialized",
        "no/such",
    ]
)
NAMES = ["name", "uri", "cursor", "arguments", "ref", "argument", "context", "level", "protocolVersion", "capabilities"]
NAMES += ["notifications", "requestId", "inputResponses", "requestState"]
KNOWN = st.sampled_from(["test_simple_text", "test_simple_prompt", "test://static-text", "2025-11-25", "info"])
META = st.just(envelope()) | st.fixed_dictionaries({}, optional={"progressToken": VALUES}) | VALUES
PARAMS = st.fixed_dictionaries({}, optional={"_meta": META, **dict.fromkeys(NAMES, KNOWN | VALUES)})
REQUESTS = st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "id": IDS, "method": METHODS, "params": PARAMS})
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUES,
        "id": IDS | VALUES,
        "method": METHODS | VALUES,
        "params": PARAMS | VALUES,
        "result": VALUES,
        "error": VALUES,
    },
)


@given(st.lists(REQUESTS, max_size=8, unique_by=lambda one: (type(one["id"]), one["id"])), st.booleans())
def test_each_request_is_answered_once_with_its_id(requests: list[dict[str, Any]], begun: bool) -> None:
    driver = Driver()
    if begun:
        driver.begin()
    for request in requests:
        told = driver.feed(json.dumps(request).encode() + b"\n")
        if told[-1].get("method") == "notifications/subscriptions/acknowledged":
            assert told[-1]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == request["id"]
        else:
            assert [(type(one["id"]), one["id"]) for one in told if "method" not in one] == [
                (type(request["id"]), request["id"])
            ]


@given(st.lists(MESSAGES | VALUES | st.floats(), max_size=6), st.booleans())
def test_any_json_is_survived_and_answered_at_most_once(messages: list[Any], begun: bool) -> None:
    driver = Driver()
    if begun:
        driver.begin()
    for message in messages:
        told = driver.feed(json.dumps(message).encode() + b"\n")
        assert len([one for one in told if "method" not in one]) <= 1
    assert driver.ask("ping")["result"] == {}


@given(REQUESTS, st.data())
def test_any_damage_is_survived(request: dict[str, Any], data: st.DataObject) -> None:
    line = bytearray(json.dumps(request).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(line) - 1))
        line[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
        line = line or bytearray(b"x")
    driver = Driver()
    driver.begin()
    for one in driver.feed(bytes(line) + b"\n"):
        assert "method" in one or isinstance(one.get("id"), (int, str)) or "error" in one
    assert driver.send({"id": "still here", "method": "ping"})[-1]["result"] == {}


@given(st.binary(max_size=64))
def test_any_bytes_are_survived(data: bytes) -> None:
    driver = Driver()
    driver.feed(data + b"\n")
    assert driver.ask("ping")["result"] == {}
