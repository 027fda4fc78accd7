"""unlearn and restore: what goes, what stays, and what comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from knowledge_base import GUIDE, docid, kbid, read_back, state, statuses, titles, write

from kbdb.errors import DocumentNotFoundError, InvalidArgumentError, InvalidIdError, SectionNotFoundError
from kbdb.knowledge import KnowledgeBase


def test_a_section_goes_and_comes_back(kb: KnowledgeBase, home: Path) -> None:
    learned = kb.learn([write(home / "guide.md", GUIDE)])
    pressing = kbid(kb, "Pressing")
    gone = kb.unlearn(pressing, reason="not true")
    assert (gone.removed, gone.generation) == (True, kb.generation)
    assert gone.receipt.kbids == (pressing,)
    assert gone.receipt.others == ()
    assert gone.receipt.restore == f"kbdb restore {pressing}"
    assert (titles(kb, "boil"), kb.search("boil").hidden, kb.search("boil").verdict) == ([], 1, "unanswered")
    assert state(kb, pressing) == "forgotten"
    assert read_back(kb, docid(learned)) == GUIDE.encode()
    back = kb.restore(pressing)
    assert (back.kbids, back.docid) == ((pressing,), "")
    assert titles(kb, "boil") == ["Pressing"]
    assert kb.check().ok


def test_doing_it_twice_does_nothing_more(kb: KnowledgeBase) -> None:
    fact = kb.learn(content="A fact.", title="T").kbids[0]
    first = kb.unlearn(fact)
    again = kb.unlearn(fact)
    assert (again.removed, again.receipt.event, again.receipt.kbids) == (False, first.receipt.event, ())
    assert again.generation == first.generation
    assert kb.restore(fact).kbids == (fact,)
    generation = kb.generation
    assert (kb.restore(fact).kbids, kb.generation) == ((), generation)


def test_a_document_goes_with_the_sections_that_nothing_else_lists(kb: KnowledgeBase, home: Path) -> None:
    shared = "# Licence\n\nfree\n"
    first = kb.learn([write(home / "a.md", f"# A\n\nalpha\n\n{shared}")])
    second = kb.learn([write(home / "b.md", f"# B\n\nbeta\n\n{shared}")])
    own = kbid(kb, "A")
    gone = kb.unlearn(docid=docid(first))
    assert (gone.receipt.docid, gone.receipt.kbids, gone.receipt.others) == (docid(first), (own,), (docid(second),))
    assert (titles(kb, "alpha"), titles(kb, "free")) == ([], ["Licence"])
    assert kb.search("free").hits[0].source == "b.md"
    assert [item.state for item in kb.list(docid=docid(first)).items] == ["forgotten"]
    assert kb.unlearn(docid=docid(first)).removed is False
    assert read_back(kb, docid(first)).startswith(b"# A")
    kb.unlearn(docid=docid(second))
    assert titles(kb, "free") == []
    back = kb.restore(docid=docid(first))
    assert (back.docid, back.kbids) == (docid(first), (own,))
    assert titles(kb, "alpha") == ["A"]
    kb.restore(docid=docid(second))
    assert len(titles(kb, "free alpha beta")) == 3
    assert kb.check().ok


def test_a_section_of_a_forgotten_document_can_be_restored_alone(kb: KnowledgeBase, home: Path) -> None:
    learned = kb.learn([write(home / "guide.md", GUIDE)])
    pears = kbid(kb, "Pears")
    kb.unlearn(docid=docid(learned))
    back = kb.restore(pears)
    assert (back.kbids, back.docid) == ((pears,), docid(learned))
    assert titles(kb, "apples pears") == ["Pears"]
    write(home / "b.md", "# Apples\n\nApples keep in a cool cellar until spring.\n")
    assert len(kb.learn([home / "b.md"]).suppressed) == 1


def test_a_retired_document_can_be_restored(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "docs" / "a.md", "# A\n\nalpha\n")
    learned = kb.learn([source])
    source.unlink()
    kb.learn([home / "docs"], prune=True)
    assert titles(kb, "alpha") == []
    kb.restore(docid=docid(learned))
    assert titles(kb, "alpha") == ["A"]
    kb.learn([home / "docs"], prune=True)
    assert kb.restore(learned.kbids[0]).docid == docid(learned)
    assert titles(kb, "alpha") == ["A"]


def clothes(kb: KnowledgeBase, home: Path) -> list[str]:
    """One text in three documents, under three kbids."""
    plain = kb.learn([write(home / "a.md", "# Secret\n\nThe code is 4711.\n")]).kbids
    deeper = kb.learn([write(home / "b.md", "intro\n\n## Secret\n\nThe  code is **4711**\n")]).kbids[1:]
    skill = kb.learn(content="The code is: 4711!", title="Secret", section_type="skill").kbids
    kb.learn(content="The code is 4711, it is secret, is it?", title="Secret", docid="other")
    return sorted([*plain, *deeper, *skill])


@pytest.mark.parametrize("number", range(3))
def test_a_text_goes_in_all_its_clothes_and_comes_back_in_all(kb: KnowledgeBase, home: Path, number: int) -> None:
    carriers = clothes(kb, home)
    gone = kb.unlearn(carriers[number], reason="private")
    assert sorted(gone.receipt.kbids) == carriers
    assert gone.receipt.kbids[0] == carriers[number]
    assert len(gone.receipt.others) == 3
    assert [hit.docid for hit in kb.search("code 4711").hits] == ["other"]
    assert {state(kb, one) for one in carriers} == {"forgotten"}
    assert sorted(kb.restore(carriers[number - 1]).kbids) == carriers
    assert kb.search("code 4711").total == 4
    assert kb.check().ok


def test_a_document_takes_its_texts_along_in_all_their_clothes(kb: KnowledgeBase, home: Path) -> None:
    carriers = clothes(kb, home)
    (plain,) = (item.docid for item in kb.list().items if item.source == "a.md")
    gone = kb.unlearn(docid=plain)
    assert sorted(gone.receipt.kbids) == carriers
    assert [hit.docid for hit in kb.search("code 4711").hits] == ["other"]
    assert sorted(kb.restore(docid=plain).kbids) == carriers
    assert kb.search("code 4711").total == 4


def test_what_changed_since_does_not_come_back_with_its_twin(kb: KnowledgeBase, home: Path) -> None:
    carriers = clothes(kb, home)
    kb.unlearn(carriers[0])
    kb.learn(content="The code is: 4711!", title="Secret", section_type="skill")
    (said,) = (one for one in carriers if state(kb, one) == "active")
    kb.learn(content="There is no code.", title="Secret", section_type="skill", supersedes=[said])
    first, second = (one for one in carriers if one != said)
    assert kb.restore(first).kbids == (first, second)
    assert state(kb, said) == "superseded"


def test_pictures_of_one_name_are_not_one_text(kb: KnowledgeBase, home: Path) -> None:
    first = kb.learn([write(home / "a" / "map.png", b"\x89PNG one")]).kbids[0]
    kb.learn([write(home / "b" / "map.png", b"\x89PNG two")])
    assert kb.unlearn(first).receipt.kbids == (first,)
    assert kb.learn([write(home / "c" / "map.png", b"\x89PNG three")]).suppressed == ()
    assert len(titles(kb, "map")) == 2


def test_a_section_in_several_documents_names_them(kb: KnowledgeBase, home: Path) -> None:
    docids = [docid(kb.learn([write(home / f"{name}.md", "# Licence\n\nfree\n")])) for name in "ab"]
    assert kb.unlearn(kbid(kb, "Licence")).receipt.others == tuple(sorted(docids))


def test_a_document_without_sections_goes_and_comes_back(kb: KnowledgeBase, home: Path) -> None:
    learned = kb.learn([write(home / "empty.md", "")])
    assert kb.unlearn(docid=docid(learned)).removed
    assert kb.restore(docid=docid(learned)).docid == docid(learned)


def test_what_was_forgotten_before_the_document_stays_so_when_it_is_back(kb: KnowledgeBase, home: Path) -> None:
    learned = kb.learn([write(home / "guide.md", GUIDE)])
    pears = kbid(kb, "Pears")
    kb.unlearn(pears)
    gone = kb.unlearn(docid=docid(learned))
    assert pears not in gone.receipt.kbids
    kb.restore(docid=docid(learned))
    assert sorted(titles(kb, "apples pears")) == ["Apples", "Pressing"]


def test_an_unknown_id_is_not_found_and_a_wrong_one_refused(kb: KnowledgeBase) -> None:
    for verb in (kb.unlearn, kb.restore, kb.retrieve):
        with pytest.raises(SectionNotFoundError):
            verb("0" * 26)
        with pytest.raises(DocumentNotFoundError):
            verb(docid="nothing")
        with pytest.raises(InvalidIdError):
            verb("nothing")
        with pytest.raises(InvalidIdError):
            verb(docid="../x")
        with pytest.raises(InvalidArgumentError, match="either"):
            verb()
        with pytest.raises(InvalidArgumentError, match="either"):
            verb("0" * 26, "nothing")
    assert kb.generation == 0


def test_correcting_then_forgetting_never_brings_the_old_back(kb: KnowledgeBase) -> None:
    """The chain r1 -> r2: forgetting r2 leaves r1 superseded, restoring r2 too (F1, F5)."""
    old = kb.learn(content="The meeting is at nine.", title="Meeting").kbids[0]
    new = kb.learn(content="The meeting is at ten.", title="Meeting", replace=True).kbids[0]
    kb.unlearn(new)
    assert titles(kb, "meeting nine ten") == []
    assert (state(kb, old), state(kb, new)) == ("superseded", "forgotten")
    kb.restore(new)
    assert titles(kb, "meeting") == ["Meeting"]
    assert (state(kb, old), state(kb, new)) == ("superseded", "active")


def test_a_chain_stays_broken_through_everything(kb: KnowledgeBase, tmp_path: Path) -> None:
    """F8: export, import, rebuild and gc keep what was corrected corrected."""
    import kbdb

    old = kb.learn(content="The meeting is at nine.", title="Meeting").kbids[0]
    new = kb.learn(content="The meeting is at ten.", title="Meeting", replace=True).kbids[0]
    kb.unlearn(new)
    kb.rebuild()
    assert titles(kb, "meeting") == []
    kb.export(tmp_path / "export")
    kb.gc(keep_days=0)
    assert titles(kb, "meeting") == []
    with kbdb.init(tmp_path / "other") as other:
        other.import_(tmp_path / "export")
        assert titles(other, "meeting") == []
        assert (state(other, old), state(other, new)) == ("superseded", "forgotten")
        again = other.learn(content="The meeting is at nine.", title="Meeting", who="auto-capture")
        assert len(again.suppressed) == 1
        assert titles(other, "meeting") == []
        other.restore(new)
        assert titles(other, "meeting") == ["Meeting"]
        assert statuses(other.learn(content="The meeting is at ten.", title="Meeting")) == {"": "unchanged"}


def test_old_words_never_show_the_old_text_as_current(kb: KnowledgeBase) -> None:
    """F9: a query that matches only what was corrected finds nothing, and says that something is held back."""
    kb.learn(content="Zanzibar is the meeting point.", title="Point")
    kb.learn(content="The harbour is the place to meet.", title="Point", replace=True)
    found = kb.search("zanzibar")
    assert (found.hits, found.total, found.hidden, found.verdict, found.match) == ((), 0, 1, "unanswered", "none")
