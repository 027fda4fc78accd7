"""check with duplicates: pairs of live sections that mean nearly the same, reported and no fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from meanings import MeaningService, learn_facts, make_embedded

import kbdb
from kbdb.errors import InterruptedByUserError, InvalidArgumentError
from kbdb.index import engine
from kbdb.knowledge import KnowledgeBase, duplicates
from kbdb.model.upkeep import DuplicateReport
from kbdb.progress import Progress

FACTS = {
    "Storage": "We chose Postgres because of JSONB.",
    "Why Postgres": "JSONB: the rationale for Postgres.",
    "Cellar": "Apples and pears keep until spring.",
    "Fruit": "Pears and apples are fruit.",
    "Commute": "The train leaves the station at seven.",
}


@pytest.fixture
def kb(home: Path, service: MeaningService) -> Iterator[KnowledgeBase]:
    """A database whose sections have their vectors."""
    make_embedded(home, service, FACTS)
    with kbdb.open(home) as opened:
        yield opened


def report_of(kb: KnowledgeBase, threshold: float | None = None) -> DuplicateReport:
    found = kb.check(duplicates=True, threshold=threshold)
    assert found.ok
    assert found.duplicates is not None
    return found.duplicates


def pairs_of(report: DuplicateReport) -> list[set[str]]:
    return [{pair.first.title, pair.second.title} for pair in report.pairs]


def test_sections_that_mean_nearly_the_same_are_reported_once_the_nearest_first(kb: KnowledgeBase) -> None:
    report = report_of(kb)
    assert {frozenset(pair) for pair in pairs_of(report)} == {
        frozenset(("Storage", "Why Postgres")),
        frozenset(("Cellar", "Fruit")),
    }
    assert [pair.score for pair in report.pairs] == sorted((pair.score for pair in report.pairs), reverse=True)
    assert all(pair.first.kbid < pair.second.kbid for pair in report.pairs)
    assert (report.threshold, report.sections, report.without_vector) == (duplicates.THRESHOLD, len(FACTS), 0)
    assert (report.total, report.total_is_exact) == (2, True)
    assert {(section.docid, section.line) for pair in report.pairs for section in (pair.first, pair.second)} == {
        (item.docid, 1) for item in kb.list().items if item.title != "Commute"
    }


def test_nothing_is_compared_unless_asked_for(kb: KnowledgeBase) -> None:
    assert kb.check().duplicates is None


def test_the_threshold_says_how_near(kb: KnowledgeBase) -> None:
    everything = report_of(kb, 1e-6)
    assert everything.total == len(everything.pairs) == len(FACTS) * (len(FACTS) - 1) // 2
    nearest = everything.pairs[0].score
    assert report_of(kb, nearest).total >= 1
    assert report_of(kb, 1.0).total == sum(pair.score == 1.0 for pair in everything.pairs)


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5, float("nan")])
def test_a_threshold_that_is_none_is_refused(kb: KnowledgeBase, threshold: float) -> None:
    with pytest.raises(InvalidArgumentError, match="threshold is"):
        kb.check(duplicates=True, threshold=threshold)
    with pytest.raises(InvalidArgumentError, match="no duplicates are asked for"):
        kb.check(threshold=0.9)


def test_without_vectors_the_report_says_that_nothing_was_compared(tmp_path: Path) -> None:
    with kbdb.init(tmp_path) as plain:
        learn_facts(plain, FACTS)
        assert report_of(plain) == DuplicateReport(duplicates.THRESHOLD, 0, len(FACTS), 0, True, ())


def test_vectors_are_compared_whatever_provider_is_configured_now(kb: KnowledgeBase, service: MeaningService) -> None:
    expected = report_of(kb)
    kb.close()
    service.configure(kb.root.parent, model="newer")
    with kbdb.open(kb.root.parent) as stale:
        assert report_of(stale) == expected
    (kb.root / "worker.toml").unlink()
    with kbdb.open(kb.root.parent) as without:
        assert report_of(without) == expected


def test_sections_without_a_vector_are_counted(kb: KnowledgeBase) -> None:
    kb.learn(content="A storm is coming.", title="Storm")
    assert (report_of(kb).sections, report_of(kb).without_vector) == (len(FACTS), 1)


def test_damaged_vectors_are_a_fault_and_not_compared(kb: KnowledgeBase) -> None:
    kb.close()
    (path,) = (kb.root / "indexes").glob("*/vectors.idx")
    path.write_bytes(path.read_bytes()[:-4] + b"\x00\x00\xc0\x7f")
    with kbdb.open(kb.root.parent) as again:
        found = again.check(duplicates=True)
    assert [fault.code for fault in found.errors] == ["VECTORS_CORRUPT"]
    assert found.duplicates == DuplicateReport(duplicates.THRESHOLD, 0, len(FACTS), 0, True, ())


def test_sections_that_were_taken_out_are_no_duplicates(kb: KnowledgeBase) -> None:
    (fruit,) = (item.docid for item in kb.list().items if item.title == "Fruit")
    kb.unlearn(docid=fruit)
    assert pairs_of(report_of(kb)) == [{"Storage", "Why Postgres"}]


def test_a_crowd_that_says_the_same_is_told_as_far_as_its_nearest_are(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duplicates, "NEAREST", 3)
    for n in range(6):
        kb.learn(content=f"Rain, umbrella number {n}.", title="Rain")
    kb.embed()
    crowd = report_of(kb)
    assert not crowd.total_is_exact
    assert crowd.total < 2 + 6 * 5 // 2
    named = {section.kbid for pair in crowd.pairs for section in (pair.first, pair.second) if section.title == "Rain"}
    assert len(named) == 6
    monkeypatch.setattr(duplicates, "NEAREST", 10)
    assert (report_of(kb).total, report_of(kb).total_is_exact) == (2 + 6 * 5 // 2, True)


def test_a_report_names_the_nearest_pairs_where_there_are_too_many(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = report_of(kb, 0.01)
    monkeypatch.setattr(duplicates, "MOST_PAIRS", 2)
    short = report_of(kb, 0.01)
    assert (short.pairs, short.total) == (expected.pairs[:2], expected.total)


def test_both_engines_report_the_same_in_the_same_order(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = report_of(kb, 0.01)
    kb.close()
    monkeypatch.setenv(engine.VARIABLE, "reference")
    with kbdb.open(kb.root.parent) as again:
        assert report_of(again, 0.01) == expected


def test_a_report_tells_how_far_it_is_can_be_ended_and_lets_others_write(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[Progress] = []
    monkeypatch.setattr(duplicates, "BATCH", 2)
    written: list[str] = []

    def write() -> None:
        written.extend(kb.learn(content=f"More {len(written)}.", title="More").kbids)

    kb.pause_with(write)
    found = kb.check(steps.append, duplicates=True)
    assert steps[-1] == Progress(len(FACTS), len(FACTS))
    assert len(written) == len(FACTS) // 2
    assert found.sections == len(FACTS)

    def end(step: Progress) -> None:
        del step
        raise InterruptedByUserError("enough")

    with pytest.raises(InterruptedByUserError):
        kb.check(end, duplicates=True)
