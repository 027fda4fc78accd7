"""A call under way: progress that only rises, nothing after its end or its cancellation, ids that are taken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_driver import Driver, envelope, line

from kbdb.mcp.calls import Call, Wake
from kbdb.mcp.registry import CancelledError


def begun(driver: Driver, id: int | str = 1, **params: Any) -> Call:
    """A call that nobody makes yet."""
    request = {"id": id, "method": "tools/call", "params": {"name": "test_simple_text", **params}}
    (call,) = driver.protocol.receive(line(request))
    assert isinstance(call, Call)
    return call


def cancel(driver: Driver, id: Any) -> list[Any]:
    """Cancels a request; gives the events."""
    params = {"requestId": id, "reason": "no need"}
    return [*driver.protocol.receive(line({"method": "notifications/cancelled", "params": params}))]


@pytest.fixture
def driver() -> Driver:
    """A client that shook hands."""
    driver = Driver()
    driver.begin()
    return driver


def shown(data: bytes) -> Any:
    return json.loads(data)["params"] if data else None


@pytest.mark.parametrize("token", ["t", "", 0, 7])
def test_progress_is_told_under_its_token_and_only_when_it_rises(driver: Driver, token: int | str) -> None:
    call = begun(driver, _meta={"progressToken": token})
    told = [shown(driver.protocol.progress(call, done, 9, "m")) for done in (0, 0, 2.5, 1, 2.5, 9)]
    assert [one and one["progress"] for one in told] == [0, None, 2.5, None, None, 9]
    assert told[0] == {"progressToken": token, "progress": 0, "total": 9, "message": "m"}


def test_without_a_token_there_is_no_progress(driver: Driver) -> None:
    assert driver.protocol.progress(begun(driver), 1, None, None) == b""


def test_the_oldest_revision_has_no_words_for_progress() -> None:
    driver = Driver()
    driver.begin("2024-11-05")
    call = begun(driver, _meta={"progressToken": 1})
    assert shown(driver.protocol.progress(call, 1, None, "m")) == {"progressToken": 1, "progress": 1}


@pytest.mark.parametrize("era", [{}, {"_meta": envelope(progressToken=1)}])
def test_after_the_end_of_a_call_nothing_is_said_of_it(driver: Driver, era: dict[str, Any]) -> None:
    driver.ask("logging/setLevel", level="debug")
    call = begun(driver, **era)
    assert driver.protocol.finish(call, {"content": []})
    assert driver.protocol.progress(call, 1, None, None) == b""
    assert driver.protocol.log(call, "emergency", "x") == b""
    assert driver.protocol.finish(call, {"content": []}) == b""
    assert driver.protocol.fail(call, ValueError()) == b""
    with pytest.raises(CancelledError):
        driver.protocol.ask(call, {})


@pytest.mark.parametrize("era", [{}, {"_meta": envelope(progressToken=1)}])
def test_after_its_cancellation_nothing_is_said_of_a_call(driver: Driver, era: dict[str, Any]) -> None:
    driver.ask("logging/setLevel", level="debug")
    call = begun(driver, **era)
    assert not call.cancelled
    (wake,) = cancel(driver, 1)
    assert isinstance(wake, Wake)
    assert wake.call is call
    assert call.cancelled
    assert driver.protocol.progress(call, 1, None, None) == b""
    assert driver.protocol.log(call, "emergency", "x") == b""
    assert driver.protocol.finish(call, {"content": []}) == b""
    assert driver.protocol.fail(call, ValueError()) == b""


@pytest.mark.parametrize("id", ["1", 2, None, True, 1.0, [], {}])
def test_a_cancellation_of_something_else_does_nothing(driver: Driver, id: Any) -> None:
    call = begun(driver)
    assert cancel(driver, id) == []
    assert not call.cancelled


def test_a_cancellation_after_the_end_does_nothing(driver: Driver) -> None:
    driver.protocol.finish(begun(driver), {"content": []})
    assert cancel(driver, 1) == []


def test_a_handler_that_waits_for_the_client_hears_of_the_cancellation(driver: Driver) -> None:
    call = begun(driver)
    requests = {"a": {"method": "roots/list"}, "b": {"method": "roots/list"}}
    asked = [json.loads(one) for one in driver.protocol.ask(call, requests).splitlines()]
    assert driver.protocol.answers(call, requests) is None
    assert [*driver.protocol.receive(line({"id": asked[0]["id"], "result": {"roots": []}}))] == []
    assert len(cancel(driver, 1)) == 1
    with pytest.raises(CancelledError):
        driver.protocol.answers(call, requests)
    assert [*driver.protocol.receive(line({"id": asked[1]["id"], "result": {"roots": []}}))] == []


def test_an_id_is_taken_while_its_call_is_under_way(driver: Driver) -> None:
    call = begun(driver, 5)
    (answer,) = driver.send({"id": 5, "method": "tools/list"})
    assert (answer["id"], answer["error"]["code"]) == (5, -32600)
    assert driver.send({"id": "5", "method": "tools/list"})[0]["result"]
    driver.protocol.finish(call, {"content": []})
    assert driver.send({"id": 5, "method": "tools/list"})[0]["result"]


def test_an_answer_to_nothing_is_passed_over(driver: Driver) -> None:
    assert driver.send({"id": "kbdb-1", "result": {}}) == []
    assert driver.send({"id": 7, "error": {"code": -1, "message": "no"}}) == []


def test_an_answer_that_is_no_object_is_a_refusal() -> None:
    driver = Driver(answer=lambda _question: [])  # type: ignore[arg-type, return-value]
    driver.begin()
    result = driver.ask("tools/call", name="test_sampling", arguments={"prompt": "x"})["result"]
    assert result["isError"]


def test_a_result_that_cannot_be_written_is_a_fault(driver: Driver) -> None:
    for value in (float("nan"), {1, 2}, object()):
        driver.make(begun(driver), lambda _context, value=value: {"content": [], "x": value})
        driver.make(begun(driver, _meta=envelope()), lambda _context, value=value: {"content": [], "x": value})
    codes = [one["error"]["code"] for one in driver.feed(b"\n") or driver._told]
    assert codes == [-32603] * 6


def test_when_the_client_is_gone_every_call_is_cancelled(driver: Driver) -> None:
    calls = [begun(driver, id) for id in (1, "a")]
    assert [wake.call for wake in driver.protocol.close()] == calls
    assert [call.cancelled for call in calls] == [True, True]
    assert driver.protocol.finish(calls[0], {"content": []}) == b""
