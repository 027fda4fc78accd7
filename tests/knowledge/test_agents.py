"""Agents by name: a persona and skills in order, which stay listed whatever becomes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from knowledge_base import read_back, state, without_index, write

import kbdb
from kbdb.errors import AgentNotFoundError, InvalidArgumentError, SkillNotFoundError
from kbdb.knowledge import KnowledgeBase
from kbdb.model.skill import AgentSkill, SkillArgument

PERSONA = "# You\n\nYou review {{language}} code.\n\n## Tone\n\nBe kind.\n"


@pytest.fixture
def skilled(kb: KnowledgeBase) -> KnowledgeBase:
    """A database with three skills."""
    for name in ("review", "deploy", "report"):
        kb.add_skill(name, f"How to {name} {{{{what}}}}.", description=f"To {name}.")
    return kb


def skills(kb: KnowledgeBase, name: str = "reviewer") -> list[str | None]:
    """The names of an agent's skills, in order."""
    found = kb.agent(name).skills
    assert [skill.position for skill in found] == list(range(len(found)))
    return [skill.name for skill in found]


def test_an_agent_is_a_document_of_a_persona_and_skills_in_order(skilled: KnowledgeBase) -> None:
    added = skilled.add_agent("reviewer", PERSONA, description="Reviews.", skills=["report", "review", "report"])
    review, report = (skilled.skill(name).kbid for name in ("review", "report"))
    listed = (AgentSkill(report, "report", 0), AgentSkill(review, "review", 1))
    assert (added.name, added.status, added.skills, added.superseded) == ("reviewer", "added", listed, ())
    agent = skilled.agent("reviewer")
    assert (agent.docid, agent.kbid, agent.description) == (added.docid, added.kbid, "Reviews.")
    assert (agent.persona, agent.skills, agent.prompt) == (PERSONA.rstrip(), listed, None)
    assert agent.arguments == (SkillArgument("language", required=False), SkillArgument("what", required=False))
    (item,) = skilled.agents().items
    assert (item.name, item.docid, item.skills) == ("reviewer", added.docid, listed)
    assert [item.docid for item in skilled.list(type="agent").items] == [added.docid]
    assert [item.kbid for item in skilled.list("sections", docid=added.docid).items] == [added.kbid, report, review]
    assert read_back(skilled, added.docid).decode().startswith(PERSONA.rstrip() + "\n\nHow to report")
    assert skilled.check().ok


def test_a_skill_may_be_named_by_its_kbid(skilled: KnowledgeBase) -> None:
    skilled.add_agent("reviewer", PERSONA, skills=[skilled.skill("deploy").kbid])
    assert skills(skilled) == ["deploy"]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [(["review", "Deploy"], "no skill 'Deploy'"), (["x", "y"], "no skills 'x', 'y'"), (["0" * 26], "no skill")],
)
def test_skills_that_are_not_there_are_named_and_nothing_is_stored(
    skilled: KnowledgeBase, wanted: list[str], said: str
) -> None:
    generation = skilled.generation
    with pytest.raises(SkillNotFoundError, match=said):
        skilled.add_agent("reviewer", PERSONA, skills=wanted)
    assert (skilled.generation, skilled.agents().items) == (generation, ())


def test_an_agents_skill_is_not_any_section(skilled: KnowledgeBase) -> None:
    fact = skilled.learn(content="A fact.", title="Fact").kbids[0]
    with pytest.raises(SkillNotFoundError):
        skilled.add_agent("reviewer", PERSONA, skills=[fact])


def test_what_is_not_said_again_stays_as_it_was(skilled: KnowledgeBase) -> None:
    first = skilled.add_agent("reviewer", PERSONA, description="Reviews.", skills=["report", "review"])
    assert skilled.add_agent("reviewer", PERSONA).status == "unchanged"
    second = skilled.add_agent("reviewer", "You are strict.")
    assert (second.status, second.superseded, second.docid) == ("updated", (first.kbid,), first.docid)
    agent = skilled.agent("reviewer")
    assert (agent.persona, agent.description, skills(skilled)) == ("You are strict.", "Reviews.", ["report", "review"])
    assert skilled.add_agent("reviewer", "You are strict.", skills=["deploy"]).status == "updated"
    assert skills(skilled) == ["deploy"]
    skilled.add_agent("reviewer", "You are strict.", skills=[])
    assert skills(skilled) == []


def test_an_agent_follows_the_revisions_of_its_skills(skilled: KnowledgeBase, home: Path) -> None:
    source = write(home / "sign.md", "Sign.\n")
    skilled.learn([source], section_type="skill")
    skilled.add_agent("reviewer", PERSONA, skills=["sign", "review"])
    changed = skilled.add_skill("review", "Otherwise.")
    assert len(changed.documents) == 2
    write(source, "Sign twice.\n")
    skilled.learn([source])
    agent = skilled.agent("reviewer", {})
    assert [s.kbid for s in agent.skills] == [skilled.skill(name).kbid for name in ("sign", "review")]
    assert agent.prompt is not None
    assert "Sign twice." in agent.prompt
    assert "How to review" not in agent.prompt
    skilled.update(skilled.skill("review").kbid, content="Yet otherwise.")
    assert "Yet otherwise." in (skilled.agent("reviewer", {}).prompt or "")
    skilled.add_agent("reviewer", PERSONA)
    assert skills(skilled) == ["sign", "review"]


def test_a_skill_that_is_forgotten_stays_listed_without_a_name(skilled: KnowledgeBase) -> None:
    skilled.add_agent("reviewer", PERSONA, skills=["report", "deploy", "review"])
    gone = skilled.skill("deploy").kbid
    skilled.remove_skill("deploy")
    assert skilled.agent("reviewer").skills[1] == AgentSkill(gone, None, 1)
    prompt = skilled.agent("reviewer", {}).prompt or ""
    assert prompt.index("# Skill: report") < prompt.index("# Missing skill") < prompt.index("# Skill: review")
    assert f"kbdb restore {gone}" in prompt
    skilled.add_agent("reviewer", "Another persona.")
    assert skills(skilled) == ["report", None, "review"]
    skilled.restore(gone)
    assert skills(skilled) == ["report", "deploy", "review"]


def test_a_skill_whose_file_is_gone_stays_listed_until_the_agent_is_arranged_anew(
    skilled: KnowledgeBase, home: Path
) -> None:
    skilled.add_agent("reviewer", PERSONA, skills=["report", "deploy"])
    gone = skilled.skill("deploy").kbid
    skilled.close()
    (home / ".kbdb" / "sections" / gone[:2] / f"{gone}.sec").unlink()
    with kbdb.open(home) as kb:
        kb.rebuild()
        assert kb.agent("reviewer").skills[1] == AgentSkill(gone, None, 1)
        assert "# Missing skill" in (kb.agent("reviewer", {}).prompt or "")
        again = kb.add_agent("reviewer", PERSONA, description="New.")
        assert (skills(kb), len(again.warnings)) == (["report"], 1)
        assert gone in again.warnings[0]


def test_the_prompt_is_the_persona_then_the_skills_with_the_values_that_were_given(skilled: KnowledgeBase) -> None:
    skilled.add_agent("reviewer", PERSONA, skills=["review", "deploy"])
    prompt = skilled.agent("reviewer", {"what": "{{language}}"}).prompt
    assert prompt == (
        "# You\n\nYou review {{language}} code.\n\n## Tone\n\nBe kind.\n\n"
        "# Skill: review\n\nTo review.\n\nHow to review {{language}}.\n\n"
        "# Skill: deploy\n\nTo deploy.\n\nHow to deploy {{language}}.\n"
    )
    with pytest.raises(InvalidArgumentError, match="agent reviewer has no argument 'who'"):
        skilled.agent("reviewer", {"who": "me"})


def test_a_built_in_skill_is_stored_with_the_agent_that_has_it(skilled: KnowledgeBase) -> None:
    generation = skilled.generation
    added = skilled.add_agent("keeper", PERSONA, skills=["memory-protocol", "review"])
    assert skilled.generation == generation + 1
    assert skills(skilled, "keeper") == ["memory-protocol", "review"]
    stored = skilled.skill("memory-protocol")
    assert (stored.built_in, bool(stored.docid), bool(stored.description)) == (False, True, True)
    assert any("built in" in warning for warning in added.warnings)
    skilled.remove_skill("memory-protocol")
    assert skilled.skill("memory-protocol").built_in
    skilled.add_agent("keeper", PERSONA, skills=["memory-protocol"])
    assert skills(skilled, "keeper") == ["memory-protocol"]
    assert skilled.check().ok


def test_removing_an_agent_leaves_its_skills_and_can_be_taken_back(skilled: KnowledgeBase, home: Path) -> None:
    source = write(home / "sign.md", "Sign.\n")
    signs = skilled.learn([source], section_type="skill").kbids[0]
    added = skilled.add_agent("reviewer", PERSONA, skills=["sign", "review"])
    write(source, "---\ntitle: x\n---\n")
    skilled.learn([source])
    assert skilled.skill("sign").kbid == signs
    removed = skilled.remove_agent("reviewer", reason="done")
    assert (removed.removed, removed.receipt.docid, removed.receipt.kbids) == (True, added.docid, (added.kbid,))
    assert skilled.agents().items == ()
    assert state(skilled, added.kbid) == "forgotten"
    assert {"sign", "review"} <= {item.name for item in skilled.skills().items}
    with pytest.raises(AgentNotFoundError, match="no agent 'reviewer'"):
        skilled.remove_agent("reviewer")
    skilled.restore(docid=added.docid)
    assert skills(skilled) == ["sign", "review"]


def test_a_skill_that_only_an_agent_lists_has_a_document_of_its_own_when_it_is_dropped(
    skilled: KnowledgeBase, home: Path
) -> None:
    source = write(home / "sign.md", "Sign.\n")
    skilled.learn([source], section_type="skill")
    skilled.add_agent("reviewer", PERSONA, skills=["sign", "review"])
    write(source, "---\ntitle: x\n---\n")
    skilled.learn([source])
    skilled.add_agent("reviewer", PERSONA, skills=["review"])
    assert skilled.skill("sign").body == "Sign."
    assert skilled.check().ok


def test_a_learned_file_is_an_agent_without_skills_until_it_is_given_some(skilled: KnowledgeBase, home: Path) -> None:
    text = "---\nname: code-reviewer\ndescription: Reviews.\n---\n\n# You\n\nReview.\n\n# Then\n\nReport.\n"
    source = write(home / "agents" / "r.md", text)
    skilled.learn([source], section_type="agent")
    agent = skilled.agent("code-reviewer")
    assert (agent.description, agent.skills) == ("Reviews.", ())
    assert agent.persona == "# You\n\nReview.\n\n# Then\n\nReport."
    added = skilled.add_agent("code-reviewer", source.read_bytes(), skills=["review"])
    assert added.docid != agent.docid
    write(source, text.replace("Report", "Report well"))
    skilled.learn([source])
    assert skilled.agent("code-reviewer").persona.endswith("Report well.")
    assert skills(skilled, "code-reviewer") == ["review"]
    assert len(skilled.agents().items) == 1
    skilled.remove_agent("code-reviewer")
    assert skilled.agents().items == ()


def test_an_agents_name_is_kebab_case_and_is_looked_up_as_it_is(skilled: KnowledgeBase) -> None:
    with pytest.raises(InvalidArgumentError, match="the agent's name 'Code Reviewer' is not kebab-case"):
        skilled.add_agent("Code Reviewer", PERSONA)
    skilled.add_agent("code-reviewer", PERSONA)
    with pytest.raises(AgentNotFoundError) as refused:
        skilled.agent("CodeReviewer")
    assert refused.value.hint == "use code-reviewer"


def test_a_grouping_of_a_persona_is_no_agent(skilled: KnowledgeBase) -> None:
    added = skilled.add_agent("reviewer", PERSONA, skills=["review"])
    skilled.group([added.kbid, skilled.skill("deploy").kbid], "All")
    assert [(item.name, item.docid) for item in skilled.agents().items] == [("reviewer", added.docid)]


def test_agents_survive_rebuild_reopening_export_and_import(skilled: KnowledgeBase, home: Path, tmp_path: Path) -> None:
    skilled.add_agent("reviewer", PERSONA, description="Reviews.", skills=["report", "deploy", "review"])
    skilled.add_skill("review", "Otherwise.")
    skilled.remove_skill("deploy")
    before, prompt = skilled.agents().items, skilled.agent("reviewer", {}).prompt
    skilled.rebuild()
    assert skilled.agents().items == before
    skilled.gc(keep_days=0)
    assert skilled.agents().items == before
    skilled.export(tmp_path / "out")
    skilled.close()
    with kbdb.open(without_index(home / ".kbdb", tmp_path / "copy"), create=False) as copy:
        assert (copy.agents().items, copy.agent("reviewer", {}).prompt) == (before, prompt)
    with kbdb.init(tmp_path / "other") as other:
        other.import_(tmp_path / "out")
        assert (other.agents().items, other.agent("reviewer", {}).prompt) == (before, prompt)


DECLARES = "---\nname: code-reviewer\nskills: [report, Sign Off, memory-protocol, deploy]\n---\n\nReview {{what}}.\n"


@pytest.mark.parametrize("learned_as", ["file", "content"])
def test_an_agent_that_is_learned_has_the_skills_that_its_front_matter_names(
    skilled: KnowledgeBase, home: Path, learned_as: str
) -> None:
    if learned_as == "file":
        skilled.learn([write(home / "r.md", DECLARES)], section_type="agent")
    else:
        skilled.learn(content=DECLARES, section_type="agent")
    report, deploy = (skilled.skill(name).kbid for name in ("report", "deploy"))
    expected = (
        AgentSkill(report, "report", 0, "report"),
        AgentSkill("", None, 1, "Sign Off"),
        AgentSkill("", "memory-protocol", 2, "memory-protocol"),
        AgentSkill(deploy, "deploy", 3, "deploy"),
    )
    assert (skilled.agent("code-reviewer").skills, skilled.agents().items[0].skills) == (expected, expected)
    prompt = skilled.agent("code-reviewer", {"what": "it"}).prompt or ""
    assert prompt.startswith("Review it.\n\n# Skill: report\n\nTo report.\n\nHow to report it.\n\n# Missing skill\n\n")
    assert "No skill Sign Off is stored.\n\n# Skill: memory-protocol\n\nWhat to keep" in prompt
    skilled.add_skill("sign-off", "Sign.")
    skilled.remove_skill("deploy")
    assert skills(skilled, "code-reviewer") == ["report", "sign-off", "memory-protocol", None]
    skilled.rebuild()
    assert skills(skilled, "code-reviewer") == ["report", "sign-off", "memory-protocol", None]
    assert skilled.check().ok


def test_a_persona_that_names_its_skills_is_stored_with_them_unless_others_are_given(skilled: KnowledgeBase) -> None:
    text = "---\nskills: report, deploy\narguments: [{name: what, type: number}]\n---\nReview {{what}}.\n"
    skilled.add_agent("reviewer", "Review.", skills=["review"])
    skilled.add_agent("reviewer", text)
    assert skills(skilled) == ["report", "deploy"]
    skilled.add_agent("reviewer", text, skills=["review"])
    assert skills(skilled) == ["review"]
    skilled.add_agent("reviewer", text, skills=[])
    assert skills(skilled) == []
    assert skilled.agent("reviewer").arguments == (SkillArgument("what", "number", required=False),)
    with pytest.raises(SkillNotFoundError, match="no skill 'none'"):
        skilled.add_agent("reviewer", "---\nskills: [none]\n---\nReview.\n")


def test_what_a_file_names_goes_into_the_agent_that_is_made_of_it(skilled: KnowledgeBase, home: Path) -> None:
    skilled.learn([write(home / "r.md", DECLARES)], section_type="agent")
    added = skilled.add_agent("code-reviewer", "Review otherwise.")
    assert any("no skill Sign Off is stored" in warning for warning in added.warnings)
    assert skills(skilled, "code-reviewer") == ["report", "memory-protocol", "deploy"]


def test_skills_that_are_no_list_of_names_are_told(skilled: KnowledgeBase, home: Path) -> None:
    text = "---\nname: r\nskills: {a: b}\n---\nReview.\n"
    learned = skilled.learn([write(home / "r.md", text)], section_type="agent")
    assert any("skills is not a list of names" in warning for warning in learned.warnings)
    assert skills(skilled, "r") == []
    with pytest.raises(InvalidArgumentError, match="skills is not a list"):
        skilled.add_agent("r", text)
