"""Skills by name: stored, revised, found again after everything a database goes through; and what is built in."""

from __future__ import annotations

from pathlib import Path

import pytest
from knowledge_base import docid, read_back, state, without_index, write

import kbdb
from kbdb.builtin import BUILT_IN, built_in_text
from kbdb.errors import InvalidArgumentError, NotUtf8Error, SkillNotFoundError
from kbdb.knowledge import KnowledgeBase
from kbdb.knowledge.names import kebab
from kbdb.model.skill import SkillArgument, SkillItem
from kbdb.model.truth import SECTION_TYPES, Manifest
from kbdb.store.store import Store

DEPLOY = "# Deploying\n\nShip {{service}} to {{ region }}.\n\n## After\n\nWatch {{service}}.\n"
WITH_MATTER = """\
---
name: deploy-service
description: How we ship.
tags: [ops]
arguments:
  - name: region
    type: string
    description: where to
    required: false
  - service
license: MIT
---

Ship {{service}} to {{region}}.
"""
TOOK = (SkillArgument("service"), SkillArgument("region"))


def names(kb: KnowledgeBase) -> list[str]:
    """The names of the skills that are stored."""
    return [item.name for item in kb.skills().items if not item.built_in]


def item(kb: KnowledgeBase, name: str) -> SkillItem:
    """The one line of a skill in the list."""
    (found,) = [item for item in kb.skills().items if item.name == name]
    return found


def test_a_skill_is_one_section_of_its_name_whatever_headings_it_has(kb: KnowledgeBase) -> None:
    added = kb.add_skill("deploy-service", DEPLOY, description="How we ship.", tags=["ops"])
    assert (added.name, added.status, added.superseded, added.arguments) == ("deploy-service", "added", (), TOOK)
    assert (added.documents, added.suppressed, added.generation) == ((added.docid,), (), kb.generation)
    skill = kb.skill("deploy-service")
    assert (skill.kbid, skill.docid, skill.description) == (added.kbid, added.docid, "How we ship.")
    assert (skill.body, skill.arguments, skill.built_in, skill.prompt) == (DEPLOY.rstrip(), TOOK, False, None)
    (listed,) = kb.list("sections", section_type="skill").items
    assert (listed.kbid, listed.title, listed.tags) == (added.kbid, "deploy-service", ("ops",))
    assert kb.search("ship region").hits[0].kbid == added.kbid
    assert read_back(kb, added.docid).decode() == DEPLOY
    assert kb.check().ok


def test_front_matter_says_what_the_caller_does_not(kb: KnowledgeBase) -> None:
    added = kb.add_skill("deploy-service", WITH_MATTER)
    skill = kb.skill("deploy-service")
    assert skill.description == "How we ship."
    assert skill.arguments == (SkillArgument("service"), SkillArgument("region", "string", "where to", False))
    assert skill.body == "Ship {{service}} to {{region}}."
    assert read_back(kb, added.docid).decode() == WITH_MATTER
    assert kb.list(docid=added.docid).items[0].tags == ("ops",)
    kb.add_skill("deploy-service", WITH_MATTER, description="Otherwise.")
    assert kb.skill("deploy-service").description == "Otherwise."


def test_declared_arguments_are_kept_where_the_document_is(kb: KnowledgeBase) -> None:
    count, loud = SkillArgument("count", "number", 'how "many" of {{them}}', False), SkillArgument("loud", "boolean")
    added = kb.add_skill("ring", "{{loud}} {{count}} {{bell}}", arguments=[count, loud])
    assert added.arguments == (loud, count, SkillArgument("bell"))
    assert kb.skill("ring").arguments == added.arguments
    assert kb.retrieve(added.kbid).content == b"{{loud}} {{count}} {{bell}}"
    again = kb.add_skill("ring", "{{loud}}, {{count}}")
    assert (again.status, again.arguments) == ("updated", added.arguments[:2])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([SkillArgument("a b")], "no name"),
        ([SkillArgument("a", "integer")], "'integer': use one of string, number, boolean"),  # type: ignore[arg-type]
        ([SkillArgument("a"), SkillArgument("a", "number")], "declared twice"),
        ([SkillArgument("a", description="x" * 65536)], "characters to declare"),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(kb: KnowledgeBase, arguments: list[SkillArgument], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        kb.add_skill("ring", "{{a}}", arguments=arguments)
    assert names(kb) == []


@pytest.mark.parametrize(
    ("matter", "said"),
    [
        ("arguments: yes", "not a list"),
        ("arguments:\n  - type: number", "no name"),
        ("arguments:\n  - {name: a, required: perhaps}", "use true or false"),
        ("arguments:\n  - {name: a, type: date}", "use one of string, number, boolean"),
        ("arguments: [a", "not valid YAML"),
    ],
)
def test_front_matter_that_cannot_be_is_refused_by_add_and_told_by_learn(
    kb: KnowledgeBase, home: Path, matter: str, said: str
) -> None:
    text = f"---\n{matter}\n---\n\nDo {{{{a}}}}.\n"
    with pytest.raises(InvalidArgumentError, match=said):
        kb.add_skill("doing", text)
    learned = kb.learn([write(home / "doing.md", text)], section_type="skill")
    assert any(said in warning for warning in learned.warnings)
    assert kb.skill("doing").arguments == (SkillArgument("a"),)


def test_arguments_are_declared_in_one_place(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidArgumentError, match="begins with front matter"):
        kb.add_skill("deploy-service", WITH_MATTER, arguments=[SkillArgument("service")])


def test_an_argument_that_stands_nowhere_is_told_once(kb: KnowledgeBase) -> None:
    added = kb.add_skill("ring", "a bell", arguments=[SkillArgument("count")])
    assert (added.arguments, added.warnings) == (
        (),
        ("argument count is declared, but {{count}} is nowhere in the text",),
    )
    assert kb.add_skill("ring", "two bells").warnings == ()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Deploy Service", "use deploy-service"),
        ("deployService", "use deploy-service"),
        ("déploy_it", "use deploy-it"),
        ("-a--b-", "use a-b"),
        ("a" * 65, f"use {'a' * 55}-"),
        ("Деплой API", "use api-cfb6b451"),
        ("デプロイ", "lower-case letters and digits"),
        ("", "lower-case letters and digits"),
    ],
)
def test_a_name_is_kebab_case_and_the_error_says_which_would_be(kb: KnowledgeBase, name: str, hint: str) -> None:
    with pytest.raises(InvalidArgumentError, match="not kebab-case") as refused:
        kb.add_skill(name, "text")
    assert hint in refused.value.hint


@pytest.mark.parametrize("body", ["", " \n\t\n", "---\ntitle: x\n---\n\n"])
def test_a_skill_has_a_text(kb: KnowledgeBase, body: str) -> None:
    with pytest.raises(InvalidArgumentError, match="no text"):
        kb.add_skill("empty", body)


def test_a_text_is_utf8(kb: KnowledgeBase) -> None:
    with pytest.raises(NotUtf8Error):
        kb.add_skill("broken", b"caf\xe9")


def test_another_text_under_a_name_is_a_revision(kb: KnowledgeBase) -> None:
    first = kb.add_skill("deploy-service", DEPLOY, description="How we ship.", tags=["ops"])
    second = kb.add_skill("deploy-service", "Do not.", who="agent")
    assert (second.status, second.superseded, second.docid) == ("updated", (first.kbid,), first.docid)
    assert (state(kb, first.kbid), names(kb)) == ("superseded", ["deploy-service"])
    skill = kb.skill("deploy-service")
    assert (skill.kbid, skill.body, skill.description) == (second.kbid, "Do not.", "How we ship.")
    assert kb.list(docid=first.docid).items[0].tags == ("ops",)
    assert kb.search("region").total == 0
    back = kb.add_skill("deploy-service", DEPLOY)
    assert (back.kbid, back.superseded) == (first.kbid, (second.kbid,))


def test_the_same_text_again_changes_nothing(kb: KnowledgeBase) -> None:
    kb.add_skill("deploy-service", DEPLOY, description="How we ship.")
    generation = kb.generation
    again = kb.add_skill("deploy-service", DEPLOY)
    assert (again.status, again.documents, kb.generation) == ("unchanged", (), generation)
    assert kb.add_skill("deploy-service", DEPLOY, description="Otherwise.").status == "updated"


def test_a_learned_file_is_one_skill_named_by_its_front_matter_else_by_its_title(kb: KnowledgeBase, home: Path) -> None:
    write(home / "skills" / "a.md", WITH_MATTER)
    write(home / "skills" / "b.md", "# Press the Apples\n\n## First\n\nPress {{what}}.\n")
    write(home / "skills" / "ring_bell.md", "Ring {{count}} bells.\n")
    learned = kb.learn([home / "skills"], section_type="skill")
    assert learned.sections_added == 3
    assert names(kb) == ["deploy-service", "press-the-apples", "ring-bell"]
    skill = kb.skill("deploy-service")
    assert (skill.description, skill.docid) == ("How we ship.", skill.docid)
    assert skill.arguments[1] == SkillArgument("region", "string", "where to", False)
    assert kb.skill("press-the-apples").body.startswith("# Press the Apples\n\n## First")
    assert read_back(kb, skill.docid).decode() == WITH_MATTER


def test_a_changed_file_is_a_revision_of_its_skill(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "deploy.md", WITH_MATTER)
    first = kb.learn([source], section_type="skill").kbids[0]
    write(source, WITH_MATTER.replace("Ship", "Carry").replace("name: deploy-service", "name: carry-it"))
    learned = kb.learn([source])
    assert (learned.superseded, names(kb)) == ((first,), ["carry-it"])
    assert state(kb, first) == "superseded"
    write(source, WITH_MATTER)
    assert kb.learn([source]).kbids == (first,)
    assert (state(kb, first), names(kb)) == ("active", ["deploy-service"])
    assert kb.learn([source]).documents[0].status == "unchanged"


def test_a_skill_stated_again_by_learn_is_a_revision_in_its_document(kb: KnowledgeBase) -> None:
    first = kb.learn(content="# One\n\nPress.\n\n# Two\n\nPour.", title="press", section_type="skill")
    second = kb.learn(content="Press twice.", title="press", section_type="skill", who="agent")
    assert (len(first.kbids), second.superseded) == (1, first.kbids)
    assert [item.title for item in kb.list("sections", docid=docid(second)).items] == ["press"]
    kb.learn(content="A fact, not a skill.", title="press", docid="other")
    assert kb.skill("press").body == "Press twice."
    added = kb.add_skill("press", "Press thrice.")
    assert (added.docid, added.superseded) == (docid(second), second.kbids)


def test_a_learned_title_that_is_no_name_is_called_by_the_name_it_stands_for(kb: KnowledgeBase) -> None:
    kb.learn(content="Press.", title="Press Apples!", section_type="skill")
    kb.learn(content="押す。", title="圧搾", section_type="skill")
    assert names(kb) == ["press-apples", "圧搾"]
    assert kb.skill("圧搾").body == "押す。"
    added = kb.add_skill("press-apples", "Press harder.")
    assert (names(kb), len(added.superseded)) == (["press-apples", "圧搾"], 1)


@pytest.mark.parametrize(
    ("one", "other"), [("Деплой API", "Тест API"), ("部署 2", "测试 2"), ("a" * 64 + " one", "a" * 64 + " two")]
)
def test_skills_whose_titles_differ_in_letters_that_no_name_has_are_two(
    kb: KnowledgeBase, one: str, other: str
) -> None:
    kb.learn(content="Press.", title=one, section_type="skill")
    kb.learn(content="Pour.", title=other, section_type="skill")
    bodies = {kb.skill(name).body: name for name in names(kb)}
    assert bodies.keys() == {"Press.", "Pour."}
    assert kb.add_skill(kebab(one), "Ring.").superseded == ()
    with pytest.raises(SkillNotFoundError, match=one) as refused:
        kb.skill(one)
    assert bodies["Press."] in refused.value.hint
    kb.remove_skill(bodies["Press."])
    assert names(kb) == sorted([bodies["Pour."], kebab(one)])


def test_a_skill_is_updated_whole(kb: KnowledgeBase) -> None:
    added = kb.add_skill("deploy-service", DEPLOY, arguments=[SkillArgument("service", description="which")])
    new = kb.update(added.kbid, content="# A\n\n{{service}}\n\n# B\n\nb\n")
    assert (new.superseded, new.docid, names(kb)) == ((added.kbid,), added.docid, ["deploy-service"])
    assert kb.skill("deploy-service").body == "# A\n\n{{service}}\n\n# B\n\nb"
    assert kb.skill("deploy-service").arguments == (SkillArgument("service", description="which"),)
    kb.update(new.kbid, title="deploy-it")
    assert names(kb) == ["deploy-it"]
    assert kb.skill("deploy-it").arguments[0].description == "which"


def test_of_two_live_skills_of_a_name_the_one_changed_last_counts(
    kb: KnowledgeBase, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = {"old": "2026-01-01T00:00:00Z", "new": "2026-02-01T00:00:00Z", "newest": "2026-03-01T00:00:00Z"}

    def at(name: str) -> None:
        for module in ("learn", "statement", "stating", "updating"):
            monkeypatch.setattr(f"kbdb.knowledge.{module}.now_seconds", lambda: times[name])

    at("new")
    kb.learn([write(home / "b.md", "Second.")], title="press", section_type="skill")
    at("old")
    kb.learn([write(home / "a.md", "First.")], title="press", section_type="skill")
    assert kb.skill("press").body == "Second."
    first, second = (kb.search(word).hits[0].kbid for word in ("first", "second"))
    assert item(kb, "press").others == kb.skill("press").others == (first,)
    at("newest")
    kb.learn([home / "a.md"], description="Changed.")
    assert (kb.skill("press").body, item(kb, "press").others) == ("First.", (second,))
    added = kb.add_skill("press", "Third.")
    assert set(added.superseded) == {first, second}
    assert (kb.skill("press").body, kb.skill("press").others) == ("Third.", ())
    assert sorted(added.warnings) == [f"{n}.md still says the old text, which is superseded there" for n in "ab"]


def test_a_skill_by_its_name_reads_no_documents_of_other_names(kb: KnowledgeBase, home: Path) -> None:
    write(home / "a.md", "First.")
    kb.learn([home / "a.md"], title="press", section_type="skill")
    kb.add_skill("press-it", "Second.")
    asked: list[tuple[str, ...]] = []
    listing = kb._core.indexer.manifests_listing

    def spy(*kbids: str) -> list[Manifest]:
        asked.append(kbids)
        return listing(*kbids)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kb._core.indexer, "manifests_listing", spy)
        skill = kb.skill("press")
        with pytest.raises(SkillNotFoundError):
            kb.skill("pour")
    assert (skill.body, asked) == ("First.", [(skill.kbid,)])


def test_removing_takes_all_of_a_name_and_restoring_brings_all_back(kb: KnowledgeBase, home: Path) -> None:
    for name, text in (("a", "First."), ("b", "Second.")):
        kb.learn([write(home / f"{name}.md", text)], title="press", section_type="skill")
    removed = kb.remove_skill("press", reason="old")
    assert (removed.removed, len(removed.receipt.kbids), names(kb)) == (True, 2, [])
    with pytest.raises(SkillNotFoundError):
        kb.skill("press")
    kb.learn([home], section_type="skill")
    assert names(kb) == []
    assert len(kb.restore(removed.receipt.kbids[0]).kbids) == 2
    assert names(kb) == ["press"]


def test_a_removed_text_comes_back_for_its_user_and_not_for_others(kb: KnowledgeBase) -> None:
    added = kb.add_skill("press", "Press.")
    kb.remove_skill("press", reason="dangerous")
    held = kb.add_skill("press", "Press.", who="agent")
    assert (held.status, held.kbid, [text.state for text in held.suppressed]) == ("unchanged", "", ["forgotten"])
    assert names(kb) == []
    back = kb.add_skill("press", "Press.")
    assert (back.kbid, back.status, names(kb)) == (added.kbid, "added", ["press"])
    assert any("it is back" in warning for warning in back.warnings)


def test_an_older_text_of_a_removed_name_is_held_back_and_not_stored(kb: KnowledgeBase) -> None:
    first = kb.add_skill("press", "Press.")
    kb.add_skill("press", "Press harder.")
    kb.remove_skill("press")
    generation = kb.generation
    held = kb.add_skill("press", "Press.", who="agent")
    assert (held.status, held.kbid, held.documents, kb.generation) == ("unchanged", "", (), generation)
    assert [(text.kbid, text.state) for text in held.suppressed] == [(first.kbid, "superseded")]
    assert names(kb) == []
    back = kb.add_skill("press", "Press.")
    assert (back.kbid, back.status, names(kb)) == (first.kbid, "added", ["press"])


def test_what_was_removed_says_nothing_of_what_comes_after_and_can_still_be_restored(kb: KnowledgeBase) -> None:
    old = kb.add_skill(
        "press", "Press {{a}}.", description="Old.", arguments=[SkillArgument("a", "number")], tags=["x"]
    )
    kb.remove_skill("press")
    new = kb.add_skill("press", "Press {{a}} anew.")
    assert (new.status, new.superseded, new.arguments) == ("added", (), (SkillArgument("a"),))
    assert (kb.skill("press").description, kb.list(docid=new.docid).items[0].tags) == ("", ())
    kb.restore(old.kbid)
    assert {kb.skill("press").kbid, *kb.skill("press").others} == {old.kbid, new.kbid}
    assert kb.check().ok


def test_a_skill_leaves_a_document_that_has_more_in_it_as_it_is(kb: KnowledgeBase) -> None:
    shared = docid(kb.learn(content="Press.", title="press", section_type="skill"))
    kb.learn(content="Pour.", title="pour", section_type="skill", docid=shared)
    changed = kb.add_skill("press", "Press hard.")
    assert changed.documents == (changed.docid, shared)
    assert [item.title for item in kb.list("sections", docid=shared).items] == ["press", "pour"]
    assert names(kb) == ["pour", "press"]


def test_a_text_that_is_held_back_does_not_cost_the_name_the_one_it_has(kb: KnowledgeBase) -> None:
    kb.add_skill("press", "Press.")
    kb.remove_skill("press")
    kb.add_skill("press", "Press softly.")
    held = kb.add_skill("press", "Press.", who="auto-capture")
    assert [text.state for text in held.suppressed] == ["forgotten"]
    assert kb.skill("press").body == "Press softly."


@pytest.mark.parametrize(("name", "hint"), [("Press It", "use press-it"), ("nothing", "kbdb skill list")])
def test_an_unknown_name_is_an_error_that_leads_on(kb: KnowledgeBase, name: str, hint: str) -> None:
    kb.add_skill("press-it", "Press.")
    for call in (kb.skill, kb.remove_skill):
        with pytest.raises(SkillNotFoundError) as refused:
            call(name)  # type: ignore[operator]
        assert hint in refused.value.hint


def test_skills_survive_rebuild_reopening_export_and_import(kb: KnowledgeBase, home: Path, tmp_path: Path) -> None:
    kb.add_skill("deploy-service", WITH_MATTER)
    kb.add_skill("ring", "{{count}} bells", arguments=[SkillArgument("count", "number", "how many")])
    kb.add_skill("ring", "{{count}} loud bells")
    kb.add_skill("gone", "Gone.")
    kb.remove_skill("gone")
    before = kb.skills().items
    assert [item.name for item in before] == ["memory-protocol", "deploy-service", "ring"]
    kb.rebuild()
    assert kb.skills().items == before
    kb.export(tmp_path / "out")
    kb.close()
    with kbdb.open(without_index(home / ".kbdb", tmp_path / "copy"), create=False) as copy:
        assert copy.skills().items == before
    with kbdb.init(tmp_path / "other") as other:
        other.import_(tmp_path / "out")
        assert other.skills().items == before
        assert other.check().ok


def test_a_damaged_skill_is_left_out_with_a_warning(kb: KnowledgeBase, home: Path) -> None:
    added = kb.add_skill("press", "Press.")
    kb.add_skill("pour", "Pour.")
    kb.settle()
    (home / ".kbdb" / "sections" / added.kbid[:2] / f"{added.kbid}.sec").write_bytes(b"rubbish")
    result = kb.skills()
    assert names(kb) == ["pour"]
    assert any(added.kbid in warning for warning in result.warnings)


def test_a_grouping_of_skills_does_not_speak_for_them(kb: KnowledgeBase) -> None:
    added = kb.add_skill("press", "Press.", description="How to press.")
    kb.group([added.kbid], "Juice", description="All about juice.")
    assert (kb.skill("press").description, kb.skill("press").docid) == ("How to press.", added.docid)
    changed = kb.add_skill("press", "Press hard.")
    assert len(changed.documents) == 2
    assert kb.list("sections", docid=changed.documents[1]).items[0].kbid == changed.kbid


def test_memory_protocol_comes_with_kbdb_and_gives_way_to_one_that_is_stored(kb: KnowledgeBase) -> None:
    kb.add_skill("a-first", "a")
    (first, *_) = kb.skills().items
    assert (first.name, first.built_in, first.kbid, first.docid) == ("memory-protocol", True, "", "")
    shown = kb.skill("memory-protocol", {})
    assert shown.built_in
    assert shown.prompt == shown.body
    with pytest.raises(InvalidArgumentError, match="built in and cannot be removed"):
        kb.remove_skill("memory-protocol")
    kb.add_skill("memory-protocol", "Keep {{nothing}}.")
    (first, *others) = kb.skills().items
    assert (first.name, first.built_in, first.arguments) == ("memory-protocol", False, (SkillArgument("nothing"),))
    assert [other.name for other in others] == ["a-first"]
    kb.remove_skill("memory-protocol")
    assert kb.skill("memory-protocol").built_in


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_skill_is_short_and_declares_itself(kb: KnowledgeBase, name: str) -> None:
    assert len(built_in_text(name)) < 3000
    skill = kb.skill(name)
    assert skill.description
    assert skill.arguments == ()
    for word in ("decision", "reason", "correct", "pitfall", "guess", "passwords", "supersedes", "unlearn", "kbid"):
        assert word in skill.body.lower()


def test_skill_is_a_section_type() -> None:
    assert {"skill", "agent"} <= set(SECTION_TYPES)


def test_arguments_stay_declared_until_they_are_declared_anew_or_leave_the_text(kb: KnowledgeBase) -> None:
    text = "Ring {{count}} {{loud}} {{kind}} bells."
    count, loud = SkillArgument("count", "number", "how many"), SkillArgument("loud", "boolean", required=False)
    kb.add_skill("ring", text, arguments=[count, loud])
    kind = SkillArgument("kind", description="which")
    assert kb.add_skill("ring", text, arguments=[kind]).arguments == (count, loud, kind)
    louder = SkillArgument("loud", "string", "how")
    added = kb.add_skill("ring", "Ring {{loud}} {{kind}} bells.", arguments=[louder])
    assert (added.arguments, added.warnings) == ((louder, kind), ())
    assert kb.add_skill("ring", text, arguments=[louder]).arguments == (SkillArgument("count"), louder, kind)
    declared = kb.add_skill("ring", "---\narguments: [{name: count, type: number}]\n---\n" + text).arguments
    assert declared == (SkillArgument("count", "number"), SkillArgument("loud"), SkillArgument("kind"))


def test_learn_says_what_a_skill_is_called_whose_title_is_no_name(kb: KnowledgeBase, home: Path) -> None:
    learned = kb.learn(content="Press.", title="Press Apples!", section_type="skill")
    assert learned.warnings == ("the skill 'Press Apples!' is called press-apples",)
    assert kb.learn(content="Pour.", title="pour", section_type="skill").warnings == ()
    assert kb.learn(content="Press.", title="Press Pears!").warnings == ()
    (nameless,) = kb.learn(content="\u62bc\u3059", title="\u5727\u643e", section_type="agent").warnings
    assert "no name in kebab-case" in nameless
    write(home / "skills" / "ring.md", "# Ring the bells\n\nRing.\n")
    bells = kb.learn([home / "skills" / "ring.md"], section_type="skill")
    assert bells.warnings == ("skills/ring.md: the skill 'Ring the bells' is called ring-the-bells",)
    write(home / "more" / "toll.md", "# Toll the bells\n\nToll.\n")
    assert kb.learn([home / "more"], section_type="skill").warnings == ()
    assert {"press-apples", "pour", "ring-the-bells", "toll-the-bells"} <= {*names(kb)}


def test_a_skill_is_found_by_its_name_without_reading_those_whose_names_are_known(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        kb.add_skill(f"s{number}", f"Number {number}.")
    read = list[str]()
    whole = Store.read_sections
    monkeypatch.setattr(Store, "read_sections", lambda store, kbids: whole(store, [read.append(k) or k for k in kbids]))
    assert kb.skill("s7").body == "Number 7."
    read.clear()
    reading = kb.reading()
    assert (reading.skill("s8").body, kb.skill("s9").body) == ("Number 8.", "Number 9.")
    assert len(read) < 6
    kb.add_skill("s8", "Number eight.")
    kb.remove_skill("s9")
    assert (kb.skill("s8").body, reading.skill("s8").body) == ("Number eight.", "Number 8.")
    with pytest.raises(SkillNotFoundError):
        kb.skill("s9")
    kb.restore(next(item.kbid for item in kb.list("sections", state="forgotten").items))
    assert kb.skill("s9").body == "Number 9."
