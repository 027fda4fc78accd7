"""The gate: text that was decided against stays out wherever it turns up, until the user says it again."""

from __future__ import annotations

from pathlib import Path

import pytest
from knowledge_base import docid, kbid, state, statuses, titles, write

import kbdb
from kbdb.knowledge import KnowledgeBase

FACT = "The gate code is 4711."


@pytest.fixture
def forgotten(kb: KnowledgeBase) -> str:
    """The kbid of a fact that was learned and forgotten."""
    fact = kb.learn(content=FACT, title="Gate").kbids[0]
    kb.unlearn(fact, reason="it changed")
    return fact


@pytest.mark.parametrize("who", ["agent", "auto-capture", "import"])
def test_nobody_but_the_user_brings_it_back(kb: KnowledgeBase, forgotten: str, who: str) -> None:
    learned = kb.learn(content=FACT, title="Gate", who=who)
    (held,) = learned.suppressed
    assert (held.kbid, held.state, held.reason, held.title) == (forgotten, "forgotten", "it changed", "Gate")
    assert held.restore == f"kbdb restore {forgotten}"
    assert held.since
    assert (statuses(learned), titles(kb, "gate")) == ({"": "unchanged"}, [])


def test_the_users_own_words_bring_it_back_with_a_notice(kb: KnowledgeBase, forgotten: str) -> None:
    """F7."""
    learned = kb.learn(content=FACT, title="Gate")
    assert (learned.suppressed, learned.kbids) == ((), (forgotten,))
    assert any("forgotten" in warning and "it is back" in warning for warning in learned.warnings)
    assert (state(kb, forgotten), titles(kb, "gate")) == ("active", ["Gate"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("heading.md", "# Gate\n\nThe gate code is 4711.\n"),
        ("deeper.md", "### Gate\n\nThe gate code is **4711**!\n"),
        ("plain.txt", "Gate\nThe gate code is 4711."),
        ("spaced.md", "# GATE\n\n\nthe   gate\nCODE is 4711\n"),
    ],
)
def test_the_same_text_in_other_clothes_is_held_back(
    kb: KnowledgeBase, home: Path, forgotten: str, name: str, text: str
) -> None:
    options = {"title": "Gate"} if name == "plain.txt" else {}
    learned = kb.learn([write(home / name, text)], **options)
    (held,) = learned.suppressed
    assert (held.state, held.reason) == ("forgotten", "it changed")
    assert held.kbid == learned.kbids[0] != forgotten
    assert titles(kb, "gate") == []
    assert state(kb, held.kbid) == "forgotten"
    assert kb.check().ok


def test_another_section_type_is_the_same_text(kb: KnowledgeBase, forgotten: str) -> None:
    learned = kb.learn(content=FACT, title="Gate", section_type="skill", docid="skills", who="agent")
    assert [held.kbid for held in learned.suppressed] == list(learned.kbids) != [forgotten]
    learned = kb.learn(content=FACT, title="Gate", section_type="skill", docid="skills")
    assert (learned.suppressed, titles(kb, "gate")) == ((), ["Gate"])
    assert state(kb, forgotten) == "forgotten"


@pytest.mark.usefixtures("forgotten")
def test_other_text_of_the_same_title_is_free(kb: KnowledgeBase) -> None:
    learned = kb.learn(content="The gate code is 0815.", title="Gate", who="agent")
    assert (learned.suppressed, titles(kb, "gate")) == ((), ["Gate"])


def test_a_document_mirrors_its_source_though_parts_are_held_back(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "a.md", "# A\n\nalpha\n\n# B\n\nbeta\n")
    learned = kb.learn([source])
    kb.unlearn(kbid(kb, "A"))
    write(source, "# A\n\nalpha\n\n# B\n\nbeta\n\n# C\n\ngamma\n")
    again = kb.learn([source])
    assert [held.title for held in again.suppressed] == ["A"]
    assert sorted(titles(kb, "alpha beta gamma")) == ["B", "C"]
    assert kb.retrieve(docid=docid(learned)).content == source.read_bytes()


def test_a_forgotten_document_is_not_learned_with_its_folder(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "docs" / "a.md", "# A\n\nalpha\n")
    learned = kb.learn([source])
    kb.unlearn(docid=docid(learned), reason="private")
    write(source, "# A\n\nalpha beta\n")
    folder = kb.learn([home / "docs"])
    (held,) = folder.suppressed
    assert (statuses(folder), held.state, held.reason) == ({"docs/a.md": "unchanged"}, "forgotten", "private")
    assert (held.kbid, held.title, held.restore) == ("", "A", f"kbdb restore {docid(learned)}")
    assert held.since == kb._core.beliefs.document(docid(learned)).since != ""
    assert titles(kb, "alpha") == []


def test_a_forgotten_document_named_by_the_user_comes_back(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "a.md", "# A\n\nalpha\n\n# B\n\nbeta\n")
    learned = kb.learn([source])
    kb.unlearn(docid=docid(learned))
    assert statuses(kb.learn([source], who="agent")) == {"a.md": "unchanged"}
    write(source, "# A\n\nalpha\n\n# C\n\ngamma\n")
    again = kb.learn([source])
    assert (statuses(again), again.suppressed) == ({"a.md": "updated"}, ())
    assert any("it is back" in warning for warning in again.warnings)
    assert sorted(titles(kb, "alpha gamma")) == ["A", "C"]
    other = kb.learn([write(home / "b.md", "# B\n\nbeta\n")])
    assert [held.title for held in other.suppressed] == ["B"]


def test_something_new_under_a_forgotten_title_brings_only_itself(kb: KnowledgeBase) -> None:
    kb.learn(content="The car is blue.", title="Car")
    learned = kb.learn(content="The car is fast.", title="Car")
    kb.unlearn(docid=docid(learned))
    assert titles(kb, "car") == []
    new = kb.learn(content="The car is old.", title="Car")
    assert new.suppressed == ()
    assert [hit.kbid for hit in kb.search("car").hits] == list(new.kbids)


def test_text_forgotten_elsewhere_stays_out_when_one_carrier_is_restored(kb: KnowledgeBase, home: Path) -> None:
    fact = kb.learn(content=FACT, title="Gate").kbids[0]
    kb.unlearn(fact)
    learned = kb.learn([write(home / "a.md", f"# Gate\n\n{FACT}\n")])
    other = learned.suppressed[0].kbid
    kb.restore(fact)
    assert (state(kb, fact), state(kb, other)) == ("active", "forgotten")
    assert [hit.kbid for hit in kb.search("gate").hits] == [fact]


def test_a_text_without_words_is_recognised_by_its_kbid_alone(kb: KnowledgeBase) -> None:
    first = kb.learn(content="+++", title="---").kbids[0]
    kb.unlearn(first)
    assert kb.learn(content="===", title="***", who="agent").suppressed == ()
    assert len(kb.learn(content="+++", title="---", who="agent").suppressed) == 1


def test_a_forgotten_text_stays_so_when_the_language_changes(kb: KnowledgeBase, home: Path) -> None:
    kb.unlearn(kb.learn(content="The gates are opening tonight.", title="Gates").kbids[0])
    kb.close()
    (home / ".kbdb" / "worker.toml").write_text('[analysis]\nlanguage = "german"\n', "utf-8")
    with kbdb.open(home) as again:
        said = "The gates are opening tonight."
        learned = again.learn(content=said, title="Gates", section_type="skill", who="agent")
        assert [one.state for one in learned.suppressed] == ["forgotten"]
        assert again.search("gates opening").hits == ()
