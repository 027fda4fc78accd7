"""The revision without a handshake: each request stands for itself and says what its client is and can do."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_driver import CAPABILITIES, EVERYTHING, INFO, LEVEL, VERSION, Driver, envelope
from mcp_registry import FixtureRegistry

from kbdb.mcp.subscriptions import MAX_URI, MOST, MOST_URIS

SERVER = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def ask(driver: Driver, method: str, **params: Any) -> Any:
    """Makes a request with an envelope that declares everything."""
    return driver.ask(method, _meta=envelope(), **params)


def test_the_server_tells_what_it_serves() -> None:
    assert ask(Driver(), "server/discover")["result"] == {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True},
            "prompts": {"listChanged": True},
            "logging": {},
            "completions": {},
        },
        "instructions": FixtureRegistry.instructions,
        "ttlMs": 300_000,
        "cacheScope": "public",
        "_meta": {SERVER: INFO},
    }


BAD_META: dict[str, tuple[Any, int]] = {
    "no envelope": (None, -32602),
    "a list": ([], -32602),
    "no revision": ({CAPABILITIES: {}}, -32602),
    "a revision that is a number": ({VERSION: 7, CAPABILITIES: {}}, -32602),
    "no capabilities": ({VERSION: "2026-07-28"}, -32602),
    "capabilities in a list": ({VERSION: "2026-07-28", CAPABILITIES: []}, -32602),
    "a level that is none": (envelope(**{LEVEL: "loud"}), -32602),
    "a level that is a list": (envelope(**{LEVEL: []}), -32602),
    "a revision of the handshake": ({VERSION: "2025-11-25", CAPABILITIES: {}}, -32022),
    "a revision that is not there": ({VERSION: "2099-01-01"}, -32022),
}


@pytest.mark.parametrize(("meta", "code"), BAD_META.values(), ids=BAD_META)
def test_an_envelope_that_lacks_something_is_refused(meta: Any, code: int) -> None:
    params = {} if meta is None else {"_meta": meta}
    assert Driver().ask("server/discover", **params)["error"]["code"] == code


def test_a_revision_that_is_not_served_is_answered_with_those_that_are() -> None:
    error = Driver().ask("tools/list", _meta={VERSION: "2099-01-01", CAPABILITIES: {}})["error"]
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}


@pytest.mark.parametrize(
    "method",
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/get", "no/such"],
)
@pytest.mark.parametrize("after_handshake", [False, True])
def test_methods_that_were_removed_are_not_there(method: str, after_handshake: bool) -> None:
    driver = Driver()
    if after_handshake:
        driver.begin()
    assert ask(driver, method, protocolVersion="2025-11-25")["error"]["code"] == -32601


CACHED = {
    "tools/list": {},
    "prompts/list": {},
    "resources/list": {},
    "resources/templates/list": {},
    "resources/read": {"uri": "test://static-text"},
}
UNCACHED: dict[str, dict[str, Any]] = {
    "tools/call": {"name": "test_simple_text"},
    "prompts/get": {"name": "test_simple_prompt"},
    "completion/complete": {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}},
}


@pytest.mark.parametrize(("method", "params"), [*CACHED.items(), *UNCACHED.items()])
def test_every_result_tells_its_type_and_its_server_and_those_that_may_be_kept_for_how_long(
    method: str, params: dict[str, Any]
) -> None:
    result = ask(Driver(), method, **params)["result"]
    assert result["resultType"] == "complete"
    assert result["_meta"][SERVER] == {"name": INFO["name"], "version": INFO["version"]}
    assert ({"ttlMs", "cacheScope"} <= result.keys()) is (method in CACHED)


def test_what_is_of_the_user_s_is_not_shared() -> None:
    scopes = {method: ask(Driver(), method, **params)["result"]["cacheScope"] for method, params in CACHED.items()}
    assert {method for method, scope in scopes.items() if scope == "public"} == {
        "tools/list",
        "resources/templates/list",
    }


def test_what_a_handler_says_in_meta_stays() -> None:
    class Marked(FixtureRegistry):
        def call_tool(self, *_given: Any) -> Any:
            return {"content": [], "_meta": {"mark": 1}}

    assert ask(Driver(Marked()), "tools/call", name="x")["result"]["_meta"]["mark"] == 1


def test_a_missing_resource_has_the_number_of_bad_parameters() -> None:
    error = ask(Driver(), "resources/read", uri="test://none")["error"]
    assert (error["code"], error["data"]) == (-32602, {"uri": "test://none"})


def test_log_messages_come_for_a_request_that_asks_for_their_level_and_for_no_other() -> None:
    driver = Driver()
    call: dict[str, Any] = {"name": "test_logging_tool"}
    assert len(driver.talk("tools/call", _meta=envelope(**{LEVEL: "debug"}), **call)) == 4
    assert len(driver.talk("tools/call", _meta=envelope(), **call)) == 1
    assert len(driver.talk("tools/call", _meta=envelope(**{LEVEL: "warning"}), **call)) == 1
    driver.begin()
    driver.ask("logging/setLevel", level="debug")
    assert len(driver.talk("tools/call", _meta=envelope(), **call)) == 1


def test_both_eras_are_served_at_once() -> None:
    driver = Driver()
    assert ask(driver, "tools/list")["result"]["resultType"] == "complete"
    driver.begin("2024-11-05")
    assert "resultType" not in driver.ask("tools/list")["result"]
    assert ask(driver, "tools/list")["result"]["tools"][0]["title"]
    assert "title" not in driver.ask("tools/list")["result"]["tools"][0]


def test_a_client_that_discovered_may_still_shake_hands() -> None:
    driver = Driver()
    ask(driver, "server/discover")
    assert driver.begin()["protocolVersion"] == "2025-11-25"


def test_a_capability_that_was_not_declared_is_named() -> None:
    error = Driver().ask("tools/call", name="test_missing_capability", _meta=envelope({}))["error"]
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": {"sampling": {}}})


def test_capabilities_count_for_the_request_that_declares_them() -> None:
    driver = Driver()
    ask(driver, "server/discover")
    driver.begin(capabilities=EVERYTHING)
    assert driver.ask("tools/call", name="test_missing_capability", _meta=envelope({}))["error"]["code"] == -32021


def listen(driver: Driver, id: int | str, **wanted: Any) -> list[dict[str, Any]]:
    """Listens to changes."""
    return driver.send(
        {"id": id, "method": "subscriptions/listen", "params": {"_meta": envelope(), "notifications": wanted}}
    )


def test_listening_is_acknowledged_with_what_is_granted() -> None:
    (told,) = listen(
        Driver(), "s", toolsListChanged=True, resourcesListChanged=True, resourceSubscriptions=["test://x"]
    )
    assert told == {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {
            "_meta": {SUBSCRIPTION: "s"},
            "notifications": {"toolsListChanged": True, "resourceSubscriptions": ["test://x"]},
        },
    }


@pytest.mark.parametrize(
    "wanted",
    [None, [], {"toolsListChanged": 1}, {"resourceSubscriptions": "test://x"}, {"resourceSubscriptions": [1]}],
)
def test_a_filter_that_is_none_is_refused(wanted: Any) -> None:
    assert ask(Driver(), "subscriptions/listen", notifications=wanted)["error"]["code"] == -32602


def test_each_listener_hears_what_it_asked_for_under_its_own_id() -> None:
    driver = Driver()
    listen(driver, 100, toolsListChanged=True)
    listen(driver, "100", toolsListChanged=True, promptsListChanged=True)
    listen(driver, 102, resourceSubscriptions=["test://watched-resource"])

    def heard(tool: str) -> list[Any]:
        *told, _answer = driver.talk("tools/call", name=tool, _meta=envelope())
        return [one["params"]["_meta"][SUBSCRIPTION] for one in told]

    assert heard("test_trigger_tool_change") == [100, "100"]
    assert heard("test_trigger_prompt_change") == ["100"]
    assert heard("test_trigger_resource_change") == [102]
    assert driver.send({"method": "notifications/cancelled", "params": {"requestId": 100}}) == []
    assert heard("test_trigger_tool_change") == ["100"]


def test_an_id_that_listens_is_taken() -> None:
    driver = Driver()
    listen(driver, 7, toolsListChanged=True)
    (answer,) = listen(driver, 7, toolsListChanged=True)
    assert (answer["id"], answer["error"]["code"]) == (7, -32600)


def test_only_so_many_listen_at_once() -> None:
    driver = Driver()
    for id in range(MOST):
        (told,) = listen(driver, id, toolsListChanged=True)
        assert told["method"] == "notifications/subscriptions/acknowledged"
    (answer,) = listen(driver, MOST, toolsListChanged=True)
    assert (answer["id"], answer["error"]["code"]) == (MOST, -32602)
    driver.send({"method": "notifications/cancelled", "params": {"requestId": 0}})
    (told,) = listen(driver, MOST, toolsListChanged=True)
    assert "error" not in told


@pytest.mark.parametrize("uris", [["x" * (MAX_URI + 1)], ["x"] * (MOST_URIS + 1)])
def test_a_filter_that_holds_too_much_is_refused(uris: list[str]) -> None:
    (answer,) = listen(Driver(), 1, resourceSubscriptions=uris)
    assert answer["error"]["code"] == -32602
