"""skill and agent: stored from files and standard input, listed, shown, rendered, removed; for people and programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

DEPLOY = """\
---
description: Ship a service.
arguments:
  - name: region
    description: where to
    required: false
---

# Deploying

Ship {{service}} to {{region}}.
"""


@pytest.fixture
def skilled(kb: Any, folder: Path) -> Any:
    """``run`` in a folder with a skill."""
    (folder / "deploy.md").write_text(DEPLOY, encoding="utf-8")
    assert kb("skill", "add", "deploy-service", "deploy.md").code == 0
    return kb


def test_a_skill_from_a_file_is_listed_and_shown(skilled: Any) -> None:
    listed = skilled("skill", "list")
    assert (listed.code, listed.err) == (0, b"")
    head, memory, deploy = listed.text.splitlines()
    assert head.split() == ["NAME", "ARGUMENTS", "DESCRIPTION", "KBID"]
    assert memory.startswith("memory-protocol ")
    assert memory.endswith(" built in")
    assert deploy.split()[:3] == ["deploy-service", "service,", "region?"]
    shown = skilled("skill", "show", "deploy-service").text
    assert shown.startswith("deploy-service\n")
    assert "{{region}}   string  optional  where to\n" in shown
    assert shown.endswith("\n# Deploying\n\nShip {{service}} to {{region}}.\n")


def test_a_skill_from_standard_input_takes_the_place_of_the_one_before(skilled: Any) -> None:
    added = skilled("skill", "add", "deploy-service", "-", "--argument", "count?:number:how many",
                    "--argument", "loud:boolean", "--tags", "a,b", stdin=b"{{loud}} {{count}}")  # fmt: skip
    assert added.code == 0
    assert added.text.startswith("updated skill deploy-service (deploy-service-")
    assert "takes: loud, count?" in added.text
    assert "superseded: " in added.text
    found = skilled("skill", "show", "deploy-service", "--json").json
    assert found["arguments"] == [
        {"name": "loud", "type": "boolean", "description": "", "required": True},
        {"name": "count", "type": "number", "description": "how many", "required": False},
    ]
    assert (found["description"], found["body"]) == ("Ship a service.", "{{loud}} {{count}}")
    assert "prompt" not in found


def test_values_make_a_prompt_and_nothing_else_is_printed(skilled: Any) -> None:
    ran = skilled("skill", "show", "deploy-service", "--arg", "service=a=b {{region}}")
    assert (ran.code, ran.text) == (0, "# Deploying\n\nShip a=b {{region}} to .\n")
    as_json = skilled("skill", "show", "deploy-service", "--arg", "service=x", "--arg", "region=y", "--json").json
    assert as_json["prompt"] == "# Deploying\n\nShip x to y."
    assert skilled("skill", "show", "memory-protocol", "--prompt").text.startswith("# Memory protocol\n")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("skill", "show", "deploy-service", "--prompt"), 2, "needs a value for service"),
        (("skill", "show", "deploy-service", "--arg", "x=1"), 2, "no argument 'x'"),
        (("skill", "show", "deploy-service", "--arg", "service"), 2, "gives no value"),
        (("skill", "show", "deploy-service", "--arg", "a=1", "--arg", "a=2"), 2, "gives a twice"),
        (("skill", "show", "other"), 3, "no skill 'other'"),
        (("skill", "add", "Deploy_It", "deploy.md"), 2, "use deploy-it"),
        (("skill", "add", "x", "none.md"), 1, "no file none.md"),
        (("skill", "add", "x", "."), 1, "cannot read ."),
        (("skill", "add", "x", ""), 2, "a path is empty"),
        (("skill", "add", "x", "-"), 2, "no text"),
        (("skill", "add", "x", "deploy.md", "--argument", "a:int"), 2, "use string, number or boolean"),
        (("skill", "add", "x", "deploy.md", "--argument", ":number"), 2, "has no name"),
        (("skill", "add", "x", "deploy.md", "--argument", "region"), 2, "begins with front matter"),
        (("skill", "remove", "memory-protocol"), 2, "built in"),
        (("agent", "show", "x"), 3, "no agent 'x'"),
        (("agent", "remove", "x"), 3, "kbdb agent list"),
        (("agent", "add", "x", "deploy.md", "--skill", "nope"), 3, "no skill 'nope'"),
    ],
)
def test_what_cannot_be_done_says_what_would_be_right(
    skilled: Any, words: tuple[str, ...], code: int, said: str
) -> None:
    ran = skilled(*words)
    assert (ran.code, ran.out) == (code, b"")
    assert said in ran.errors
    as_json = skilled(*words, "--json")
    assert (as_json.code, as_json.err) == (code, b"")
    error = as_json.json["error"]
    assert said in f"{error['message']} {error['hint']}"


def test_a_removed_skill_can_be_restored_as_the_answer_says(skilled: Any) -> None:
    ran = skilled("skill", "remove", "deploy-service", "--reason", "old")
    assert ran.code == 0
    restore = ran.text.splitlines()[-1].partition("kbdb ")[2].split()
    assert skilled("skill", "show", "deploy-service").code == 3
    assert skilled(*restore).code == 0
    assert skilled("skill", "show", "deploy-service").code == 0


def test_an_agent_has_skills_in_the_order_they_were_given(skilled: Any) -> None:
    assert skilled("agent", "list").code == 3
    skilled("skill", "add", "rest", "-", stdin=b"Rest.")
    added = skilled("agent", "add", "keeper", "-", "--description", "Keeps.", "--skill", "rest",
                    "--skill", "deploy-service", stdin=b"You keep {{place}}.\n")  # fmt: skip
    assert (added.code, added.text.splitlines()[1]) == (0, "skills: rest, deploy-service")
    shown = skilled("agent", "show", "keeper").text
    assert shown.index("1.  rest ") < shown.index("2.  deploy-service ") < shown.index("You keep {{place}}.")
    prompt = skilled("agent", "show", "keeper", "--arg", "place=it").text
    assert prompt.startswith("You keep it.\n\n# Skill: rest\n\nRest.\n\n# Skill: deploy-service\n\nShip a service.\n")
    skilled("skill", "remove", "rest")
    (item,) = skilled("agent", "list", "--json").json["items"]
    assert [skill["name"] for skill in item["skills"]] == [None, "deploy-service"]
    assert "(missing" in skilled("agent", "list").text
    assert "(missing)" in skilled("agent", "show", "keeper").text
    assert [i["docid"] for i in skilled("list", "--section-type", "agent", "--json").json["items"]] == [item["docid"]]
    removed = skilled("agent", "remove", "keeper", "--json").json
    assert (removed["removed"], removed["receipt"]["docid"]) == (True, item["docid"])
    assert skilled("agent", "list").code == 3


def test_skills_are_learned_from_a_folder_by_section_type(kb: Any, folder: Path) -> None:
    (folder / "skills").mkdir()
    (folder / "skills" / "a.md").write_text(DEPLOY, encoding="utf-8")
    (folder / "skills" / "b.md").write_text("---\nname: rest\n---\n# A\n\na\n\n# B\n\nb\n", encoding="utf-8")
    assert kb("learn", "skills", "--section-type", "skill").code == 0
    names = [item["name"] for item in kb("skill", "list", "--json").json["items"]]
    assert names == ["memory-protocol", "deploying", "rest"]


@pytest.mark.parametrize("group", ["skill", "agent"])
def test_a_group_without_a_command_explains_itself(kb: Any, group: str) -> None:
    ran = kb(group)
    assert ran.code == 0
    assert all(f"  {word} " in ran.text for word in ("add", "list", "show", "remove"))
