"""Questions without a session: they go out as a result, and come back with answers and the state they went out with."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_driver import Driver, envelope

TOOL = "test_input_required_result_elicitation"
ANN = {"user_name": {"action": "accept", "content": {"name": "Ann"}}}


def call(driver: Driver, name: str = TOOL, **params: Any) -> dict[str, Any]:
    """Calls a tool of a client that can do everything."""
    return driver.ask("tools/call", name=name, _meta=envelope(), **params)


def test_a_question_is_the_result_and_its_answer_comes_with_the_next_call() -> None:
    driver = Driver()
    asked = call(driver)["result"]
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"]["user_name"]["method"] == "elicitation/create"
    answered = call(driver, inputResponses=ANN, requestState=asked["requestState"])["result"]
    assert answered["resultType"] == "complete"
    assert "Ann" in answered["content"][0]["text"]


def test_earlier_answers_travel_in_the_state() -> None:
    driver, name = Driver(), "test_input_required_result_multi_round"
    first = call(driver, name)["result"]
    step1 = {"step1": {"action": "accept", "content": {"name": "Ann"}}}
    second = call(driver, name, inputResponses=step1, requestState=first["requestState"])["result"]
    assert [*second["inputRequests"]] == ["step2"]
    step2 = {"step2": {"action": "accept", "content": {"color": "blue"}}}
    third = call(driver, name, inputResponses=step2, requestState=second["requestState"])["result"]
    assert third["content"][0]["text"] == "Ann likes blue"


def test_what_is_missing_is_asked_for_again_and_nothing_else() -> None:
    driver, name = Driver(), "test_input_required_result_multiple_inputs"
    first = call(driver, name)["result"]
    assert len(first["inputRequests"]) == 3
    second = call(driver, name, inputResponses={**ANN, "other": {}}, requestState=first["requestState"])["result"]
    assert second["inputRequests"].keys() == {"greeting", "client_roots"}


def test_prompts_ask_as_tools_do() -> None:
    asked = Driver().ask("prompts/get", name="test_input_required_result_prompt", _meta=envelope())["result"]
    assert asked["resultType"] == "input_required"


def test_a_handler_sees_what_it_can_ask_for() -> None:
    meta = envelope({"sampling": {}})
    asked = Driver().ask("tools/call", name="test_input_required_result_capabilities", _meta=meta)["result"]
    assert [*asked["inputRequests"]] == ["question"]


@pytest.mark.parametrize("responses", [None, [], "x", {"user_name": 1}, {"user_name": None}])
def test_answers_that_are_none_are_refused(responses: Any) -> None:
    assert call(Driver(), inputResponses=responses)["error"]["code"] == -32602


@pytest.mark.parametrize("state", [None, 1, "", "x", "é", "AAAA"])
def test_a_state_that_is_none_is_refused(state: Any) -> None:
    assert call(Driver(), inputResponses=ANN, requestState=state)["error"]["code"] == -32602


@given(st.data())
def test_a_state_with_any_bit_changed_is_refused(data: st.DataObject) -> None:
    driver = Driver()
    sealed = bytearray(base64.urlsafe_b64decode(call(driver)["result"]["requestState"]))
    bit = data.draw(st.integers(0, len(sealed) * 8 - 1))
    sealed[bit // 8] ^= 1 << bit % 8
    state = base64.urlsafe_b64encode(sealed).decode()
    assert call(driver, inputResponses=ANN, requestState=state)["error"]["code"] == -32602


def test_a_state_is_of_use_for_its_call_alone() -> None:
    driver = Driver()
    state = call(driver)["result"]["requestState"]
    other = call(driver, "test_input_required_result_request_state", requestState=state)
    assert "another call" in other["error"]["message"]
    other = call(driver, arguments={"x": 1}, requestState=state)
    assert "another call" in other["error"]["message"]


def test_a_state_of_another_process_is_refused() -> None:
    state = call(Driver())["result"]["requestState"]
    assert call(Driver(), requestState=state)["error"]["code"] == -32602


def test_a_state_grows_old() -> None:
    driver = Driver()
    state = call(driver)["result"]["requestState"]
    driver.now = 900
    assert call(driver, inputResponses=ANN, requestState=state)["result"]
    driver.now = 901
    assert "too old" in call(driver, inputResponses=ANN, requestState=state)["error"]["message"]


def test_the_envelope_may_change_between_question_and_answer() -> None:
    driver = Driver()
    state = call(driver)["result"]["requestState"]
    meta = envelope(progressToken="p")
    answer = driver.ask("tools/call", name=TOOL, _meta=meta, inputResponses=ANN, requestState=state)
    assert answer["result"]["resultType"] == "complete"


def test_methods_that_cannot_ask_take_no_answers() -> None:
    assert Driver().ask("tools/list", _meta=envelope(), inputResponses=7)["result"]["tools"]
