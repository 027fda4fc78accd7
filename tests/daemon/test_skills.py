"""Skills and agents over the wire: what a request may say, and the same answers as in process."""

from __future__ import annotations

from dataclasses import replace

import pytest
from daemons import Daemon

import kbdb
from kbdb.client import Client
from kbdb.model.skill import SkillArgument


def test_skills_and_agents_over_the_wire(daemon: Daemon) -> None:
    talk = daemon.talk()
    argument = {"name": "count", "type": "number", "required": False}
    added = talk.ask("addSkill", name="ring", body="Ring {{count}} {{kind}}.", arguments=[argument], tags=["bells"])
    assert [(a["name"], a["type"], a["required"]) for a in added["arguments"]] == [
        ("count", "number", False), ("kind", "string", True)
    ]  # fmt: skip
    assert "prompt" not in talk.ask("skill", name="ring")
    assert talk.ask("skill", name="ring", values={"count": 3, "kind": "old"})["prompt"] == "Ring 3 old."
    keeper = talk.ask("addAgent", name="keeper", persona="You ring.", skills=["ring"])
    assert talk.ask("agents")["items"][0]["skills"] == [
        {"kbid": added["kbid"], "name": "ring", "position": 0, "declared": ""}
    ]
    assert keeper["docid"] in [item["docid"] for item in talk.ask("listDocumentsByType", docType="agent")["items"]]
    assert [item["kbid"] for item in talk.ask("listByType", sectionType="skill")["items"]] == [added["kbid"]]
    talk.ask("removeSkill", name="ring", reason="quiet")
    assert talk.ask("agent", name="keeper")["skills"][0]["name"] is None
    assert talk.ask("removeAgent", name="keeper")["removed"]
    assert [item["name"] for item in talk.ask("skills")["items"]] == ["memory-protocol"]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("addSkill", {"name": "x"}, "INVALID_ARGUMENT"),
        ("addSkill", {"name": "X y", "body": "b"}, "INVALID_ARGUMENT"),
        ("addSkill", {"name": "x", "body": "b", "arguments": [{"name": "a", "type": "int"}]}, "INVALID_ARGUMENT"),
        ("addSkill", {"name": "x", "body": "b", "arguments": [{"name": "a", "default": 1}]}, "INVALID_ARGUMENT"),
        ("addSkill", {"name": "x", "body": {"base64": "/w=="}}, "NOT_UTF8"),
        ("addSkill", {"name": "x", "body": "b", "who": "nobody"}, "INVALID_ARGUMENT"),
        ("addAgent", {"name": "x", "persona": "p", "skills": ["none"]}, "SKILL_NOT_FOUND"),
        ("skill", {"name": "none"}, "SKILL_NOT_FOUND"),
        ("skill", {"name": "memory-protocol", "values": {"a": None}}, "INVALID_ARGUMENT"),
        ("removeSkill", {"name": "none"}, "SKILL_NOT_FOUND"),
        ("agent", {"name": "none"}, "AGENT_NOT_FOUND"),
        ("removeAgent", {"name": "none"}, "AGENT_NOT_FOUND"),
    ],
)
def test_what_cannot_be_has_a_code_and_changes_nothing(
    daemon: Daemon, method: str, params: dict[str, object], code: str
) -> None:
    talk = daemon.talk()
    assert talk.refusal(method, **params) == code
    assert talk.ask("dbStatus")["generation"] == 0


def test_a_client_has_the_same_answers_as_the_process_that_owns_the_database(daemon: Daemon) -> None:
    with Client(daemon.root) as client:
        client.add_skill("ring", "Ring {{count}}.", arguments=[SkillArgument("count", "number")], tags=["a"])
        client.add_agent("keeper", "You {{do}}.", description="Keeps.", skills=["ring", "memory-protocol"])
        client.add_skill("ring", "Ring {{count}} times.")
        told = [client.skills(), client.agents(), client.skill("ring", {"count": 2}), client.agent("keeper", {})]
        client.shutdown()
    daemon.stop()
    with kbdb.open(daemon.root) as kb:
        here = [kb.skills(), kb.agents(), kb.skill("ring", {"count": 2}), kb.agent("keeper", {})]
    assert [replace(answer, warnings=()) if hasattr(answer, "warnings") else answer for answer in here] == told
