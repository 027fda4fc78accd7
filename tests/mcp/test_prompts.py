"""Prompts: skills and agents as the protocol shows them, asked of a real daemon."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mcp_calls import tokens

from kbdb.client import Client
from kbdb.mcp import prompts
from kbdb.mcp.budget import MOST_TOKENS
from kbdb.mcp.cursors import written
from kbdb.mcp.registry import InvalidParamsError
from kbdb.mcp.types import McpPrompt
from kbdb.model.skill import SkillArgument

ROOT = Path(__file__).resolve().parents[2]


def text(client: Client, name: str, **arguments: str) -> str:
    """The text of a prompt, which has one message."""
    (message,) = prompts.get(client, name, arguments)["messages"]
    assert (message["role"], message["content"]["type"]) == ("user", "text")
    return str(message["content"]["text"])


def everything(client: Client) -> list[McpPrompt]:
    """All pages."""
    found, cursor, pages = list[McpPrompt](), None, 0
    while pages == 0 or cursor is not None:
        page = prompts.listed(client, cursor)
        found, cursor, pages = [*found, *page.items], page.next_cursor, pages + 1
    return found


def test_skills_are_prompts_by_their_names_and_agents_with_a_mark(client: Client) -> None:
    client.add_skill(
        "ring-bells",
        "Ring {{count}} {{kind}} bells, {{loud}}.",
        description="Rings.",
        arguments=[SkillArgument("count", "number", "how many"), SkillArgument("loud", "boolean", required=False)],
    )
    client.add_agent("sexton", "You keep {{place}}.", skills=["ring-bells"])
    memory, skill, agent = everything(client)
    assert memory["name"] == "memory-protocol"
    assert "description" in memory
    assert "arguments" not in memory
    assert skill == {
        "name": "ring-bells",
        "description": "Rings.",
        "arguments": [
            {"name": "count", "required": True, "description": "how many (number)"},
            {"name": "kind", "required": True},
            {"name": "loud", "required": False, "description": "(boolean)"},
        ],
    }
    assert (agent["name"], "description" in agent) == ("agent:sexton", False)
    assert [(a["name"], a.get("required")) for a in agent["arguments"]] == [
        ("place", False), ("count", False), ("kind", False), ("loud", False)
    ]  # fmt: skip


def test_a_skills_prompt_is_its_text_with_the_values(client: Client) -> None:
    client.add_skill("ring", "Ring {{count}} {{kind}}.", arguments=[SkillArgument("count", "number")])
    assert text(client, "ring", count="3", kind="{{count}}") == "Ring 3 {{count}}."
    assert "description" not in prompts.get(client, "ring", {"count": "3", "kind": "x"})
    assert "description" in prompts.get(client, "memory-protocol", {})


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("ring", {}, "skill ring needs a value for count, kind; it takes: count \\(number\\), kind"),
        ("ring", {"count": "many", "kind": "x"}, "count is 'many', not a number"),
        ("ring", {"count": "1", "kind": "x", "extra": "y"}, "no argument 'extra'"),
        ("Ring", {}, "no prompt 'Ring'; prompts/list"),
        ("agent:ring", {}, "no prompt 'agent:ring'"),
        ("agent:", {}, "no prompt 'agent:'"),
        ("", {}, "no prompt ''"),
    ],
)
def test_what_cannot_be_asked_for_is_invalid_and_says_what_can(
    client: Client, name: str, arguments: dict[str, str], said: str
) -> None:
    client.add_skill("ring", "Ring {{count}} {{kind}}.", arguments=[SkillArgument("count", "number")])
    with pytest.raises(InvalidParamsError, match=said):
        prompts.get(client, name, arguments)


def test_an_agents_prompt_has_its_skills_in_order_and_says_which_is_missing(client: Client) -> None:
    for name in ("second", "first", "third"):
        client.add_skill(name, f"The {name} of {{{{what}}}}.")
    client.add_agent("doer", "You do {{what}}.", skills=["first", "second", "third"])
    gone = client.remove_skill("second").receipt.kbids[0]
    told = text(client, "agent:doer", what="it")
    assert told.startswith("You do it.\n\n# Skill: first\n\nThe first of it.\n\n# Missing skill\n\n")
    assert told.endswith("\n\n# Skill: third\n\nThe third of it.\n")
    assert gone in told
    assert text(client, "agent:doer").startswith("You do {{what}}.")


SENTENCE = "Ring the bells of the tower twice, then wait for the echo to come back from the hills. "


def test_a_prompt_that_is_too_long_is_cut_after_a_sentence_and_says_what_was_left_off(client: Client) -> None:
    added = client.add_skill("ring", SENTENCE * 12_000, description="Rings. " * 200)
    told = text(client, "ring")
    assert tokens(told) <= MOST_TOKENS
    shown, note = told.rsplit("\n\n", 1)
    assert shown.endswith("from the hills.")
    assert len(shown) > 40_000
    whole = len(SENTENCE * 12_000) - 1
    assert note.startswith(f"({whole - len(shown) - 1:,} of {whole:,} characters of this prompt were left off")
    assert f"kbid={added.kbid}" in note
    assert len(prompts.get(client, "ring", {}).get("description", "")) == prompts.LONGEST_DESCRIPTION
    assert len(everything(client)[1].get("description", "")) == prompts.LONGEST_DESCRIPTION
    agent = client.add_agent("sexton", "You keep the tower.", skills=["ring"])
    told = text(client, "agent:sexton")
    assert told.startswith("You keep the tower.\n\n# Skill: ring")
    assert tokens(told) <= MOST_TOKENS
    assert f"docid={agent.docid}" in told


def test_a_prompt_that_fits_is_whole(client: Client) -> None:
    client.add_skill("ring", SENTENCE * 500)
    assert text(client, "ring") == (SENTENCE * 500).rstrip()


def test_pages_are_as_long_as_they_may_be_and_miss_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompts, "PAGE", 3)
    for number in range(6):
        client.add_skill(f"s{number}", f"Number {number}.")
    client.add_agent("a", "A.")
    client.add_agent("b", "B.")
    expected = ["memory-protocol", *(f"s{number}" for number in range(6)), "agent:a", "agent:b"]
    assert [prompt["name"] for prompt in everything(client)] == expected == prompts.names(client, "")
    first = prompts.listed(client, None)
    assert [prompt["name"] for prompt in first.items] == expected[:3]
    client.add_skill("b4", "Comes before them.")
    assert [prompt["name"] for prompt in prompts.listed(client, first.next_cursor).items] == expected[3:6]
    client.remove_skill("s1")
    client.remove_skill("b4")
    assert [prompt["name"] for prompt in prompts.listed(client, first.next_cursor).items] == expected[3:6]


@pytest.mark.parametrize("cursor", ["", "x", "zzzz", "é", "313a", written("0:a"), written("-1:a"), written("3")])
def test_a_cursor_of_someone_elses_is_invalid(client: Client, cursor: str) -> None:
    with pytest.raises(InvalidParamsError, match="cursor"):
        prompts.listed(client, cursor)


def test_names_and_values_are_completed(client: Client) -> None:
    client.add_skill("memo", "{{loud}} {{kind}}", arguments=[SkillArgument("loud", "boolean")])
    client.add_agent("memory-keeper", "You keep {{loud}}.", skills=["memo"])
    assert prompts.names(client, "mem") == ["memory-protocol", "memo"]
    assert prompts.names(client, "agent:m") == ["agent:memory-keeper"]
    assert prompts.names(client, "x") == []
    assert prompts.values(client, "memo", "loud", "") == ["true", "false"]
    assert prompts.values(client, "memo", "loud", "f") == ["false"]
    assert prompts.values(client, "memo", "kind", "") == []
    for name, argument in (("memo", "other"), ("none", "loud")):
        with pytest.raises(InvalidParamsError):
            prompts.values(client, name, argument, "")


def test_prompts_load_nothing_heavy() -> None:
    script = "import sys; before = set(sys.modules); import kbdb.mcp.prompts; print(*sorted(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = set(ran.stdout.split())
    assert loaded & {"dataclasses", "inspect", "typer", "asyncio", "msgspec", "kbdb.model", "kbdb.client"} == set()
