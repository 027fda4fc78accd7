"""Searching by meaning beside words, over a real embedding service on loopback."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from knowledge_base import answer, kbid, titles
from meanings import DIMENSIONS, MeaningService, learn_facts, make_embedded

import kbdb
from kbdb.errors import EmbeddingProviderNotConfiguredError, StorageError
from kbdb.index.engine import engine
from kbdb.knowledge import KnowledgeBase
from kbdb.knowledge.legs import Question, _nearest, _question_of
from kbdb.knowledge.view import View
from kbdb.model.search import LegRank, PagedSearchResult
from kbdb.plan import EngineResult, Plan
from kbdb.query.parser import parse_query
from kbdb.query.resolve import resolve
from kbdb.store import index_files, vector_files
from kbdb.store.ids import kbid_decode

FACTS = {
    "Storage": "We chose Postgres because of JSONB.",
    "Cellar": "Apples and pears keep until spring.",
    "Picnic": "Take an umbrella, the forecast says rain.",
    "Commute": "The train leaves the station at seven.",
    "Lunch": "The database of the canteen has a table for each fruit.",
}


@pytest.fixture
def kb(home: Path, service: MeaningService) -> Iterator[KnowledgeBase]:
    """A database that asks the service, with facts that have their vectors."""
    make_embedded(home, service, FACTS)
    with kbdb.open(home) as opened:
        yield opened


def reopened(kb: KnowledgeBase) -> KnowledgeBase:
    kb.close()
    return kbdb.open(kb.root.parent)


def vector_folders(kb: KnowledgeBase) -> list[Path]:
    return sorted(path.parent for path in (kb.root / "indexes").glob("*/vectors.idx"))


def by_meaning(kb: KnowledgeBase, query: str, **options: object) -> PagedSearchResult:
    return kb.search(query, mode="vector", **options)


def test_a_fact_is_found_by_what_it_means_where_no_word_is_the_same(kb: KnowledgeBase) -> None:
    assert "Storage" not in titles(kb, "sql rationale")
    assert titles(kb, "sql rationale", mode="vector")[0] == "Storage"
    assert titles(kb, "sql rationale", mode="hybrid")[0] == "Storage"


def test_an_answer_tells_what_was_asked_for_and_what_was_used(kb: KnowledgeBase) -> None:
    used = {mode: kb.search("umbrella", mode=mode) for mode in ("lexical", "vector", "hybrid")}
    assert {mode: (found.search_mode, found.retrieval_method) for mode, found in used.items()} == {
        mode: (mode, mode) for mode in used
    }
    assert all(found.warnings == () and found.vector_index_stale is None for found in list(used.values())[1:])


def test_lexical_answers_are_the_same_to_the_bit_with_and_without_vectors(kb: KnowledgeBase, tmp_path: Path) -> None:
    with kbdb.init(tmp_path / "plain") as plain:
        learn_facts(plain, FACTS)
        queries = ("apples", "train station", "we chose", "fruit table", '"keep until"', "-rain the")
        expected = [answer(plain, query).hits for query in queries]
    assert [answer(kb, query).hits for query in queries] == expected


def test_hybrid_scores_are_the_sum_of_reciprocal_ranks(kb: KnowledgeBase) -> None:
    for hit in kb.search("fruit harvest", mode="hybrid", explain=True).hits:
        assert hit.legs is not None
        assert hit.score == pytest.approx(sum(1 / (60 + leg.rank) for leg in hit.legs))


def test_explain_tells_where_each_leg_has_a_hit(kb: KnowledgeBase) -> None:
    found = {hit.title: hit for hit in kb.search("fruit", mode="hybrid", explain=True).hits}
    words = kb.search("fruit").hits
    meaning = by_meaning(kb, "fruit").hits
    assert found["Lunch"].legs == (
        LegRank("lexical", 1, words[0].score),
        LegRank("vector", 2, meaning[1].score),
    )
    assert [leg.leg for leg in found["Cellar"].legs or ()] == ["vector"]
    assert kb.search("fruit", explain=True).hits[0].legs is None


def test_a_hit_by_meaning_names_the_words_it_has_all_the_same(kb: KnowledgeBase) -> None:
    found = {hit.title: hit.matched_terms for hit in by_meaning(kb, "umbrella weather").hits}
    assert found["Picnic"] == ("umbrella",)
    assert found["Cellar"] == ()


def test_filters_and_required_and_excluded_words_hold_for_meaning_too(kb: KnowledgeBase) -> None:
    kb.learn(content="Pears for the orchard fair.", title="Fair", tags=["fair"], wait_embeddings=True)
    assert titles(kb, "fruit", mode="vector", tags=["fair"]) == ["Fair"]
    assert titles(kb, "fruit tag:fair", mode="vector") == ["Fair"]
    assert "Cellar" not in titles(kb, "fruit -spring", mode="vector")
    assert titles(kb, 'fruit "keep until"', mode="vector") == ["Cellar"]


def test_required_and_excluded_words_hold_where_many_sections_have_them(kb: KnowledgeBase) -> None:
    """The same answers, whichever is looked for first: words or meaning."""
    for number in range(40):
        word = ("red", "blue")[number % 2]
        kb.learn(content=f"Apples, {word}, from row {number} " + "fruit " * (number % 7), title=f"Row {number}")
    kb.embed()
    queries = ("orchard -red", 'pears "from row"', 'fruit "from row" -blue', "fruit -nothing", "fruit -the -red -blue")
    few = [kb.search(query, mode="vector", limit=30) for query in queries]
    searching = type(kb._core.snapshot().searcher).search

    def as_if_many(searcher: Any, plan: Plan, limit: int, allowed: Any = None) -> EngineResult:
        found: EngineResult = searching(searcher, plan, limit, allowed)
        return found if limit else found._replace(total_is_exact=False)

    searcher = SimpleNamespace(search=lambda *given: as_if_many(kb._core.snapshot().searcher, *given))
    for query, expected in zip(queries, few, strict=True):
        parsed = parse_query(query)
        shown = kb._core.snapshot()
        asked = Question(parsed, resolve(parsed, shown.lexicon), None, 0, 30)
        view = cast(View, SimpleNamespace(searcher=searcher, slots=shown.slots, without_vector=shown.without_vector))
        near = _nearest(view, shown.vector_searcher, kb._core.embedding.of_query(_question_of(parsed)), asked, 3)
        assert [hit.kbid for hit in near.hits] == [hit.kbid for hit in expected.hits[:3]]
        assert not near.total_is_exact
        assert near.total <= expected.total


def test_pages_of_a_hybrid_answer_join_up(kb: KnowledgeBase) -> None:
    whole = titles(kb, "fruit weather", mode="hybrid", limit=5)
    pages = [titles(kb, "fruit weather", mode="hybrid", limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [title for page in pages for title in page] == whole
    assert len(whole) == kb.search("fruit weather", mode="hybrid", limit=1).total


def test_no_provider_is_an_error_for_what_needs_one(tmp_path: Path) -> None:
    with kbdb.init(tmp_path) as plain:
        for mode in ("vector", "hybrid"):
            with pytest.raises(EmbeddingProviderNotConfiguredError):
                plain.search("apples", mode=mode)
        with pytest.raises(EmbeddingProviderNotConfiguredError):
            plain.embed()


def test_the_mode_of_worker_toml_holds_for_searches_that_name_none(kb: KnowledgeBase, service: MeaningService) -> None:
    service.configure(kb.root.parent, more='[search]\nmode = "hybrid"')
    with reopened(kb) as again:
        assert again.search("sql rationale").retrieval_method == "hybrid"


def test_a_learn_leaves_vectors_for_later_unless_it_waits(kb: KnowledgeBase) -> None:
    assert kb.learn(content="A storm is coming.", title="Storm").vector_embedding_failed is None
    assert kb.status().embedding.waiting == 1
    assert titles(kb, "storm") == ["Storm"]
    found = kb.search("umbrella", mode="hybrid")
    assert found.warnings == ("1 section has no vector yet, and can be found by words alone",)
    assert kb.learn(content="More rain.", title="Rain", wait_embeddings=True).vector_embedding_failed is False
    assert kb.status().embedding.waiting == 1
    assert kb.embed().waiting == 0
    assert "Storm" in titles(kb, "weather", mode="vector")


def test_without_a_provider_no_vector_failed(tmp_path: Path) -> None:
    with kbdb.init(tmp_path) as plain:
        assert plain.learn(content="apples", wait_embeddings=True).vector_embedding_failed is False


def test_a_section_that_the_provider_refuses_is_stored_and_told_of(kb: KnowledgeBase, service: MeaningService) -> None:
    service.refuse = "nettle"
    (kb.root.parent / "notes.md").write_text("# Soup\n\nOf nettles.\n\n# Jam\n\nOf pears.\n")
    learned = kb.learn([kb.root.parent / "notes.md"], wait_embeddings=True)
    assert learned.vector_embedding_failed is True
    assert titles(kb, "nettles") == ["Soup"]
    assert "Jam" in titles(kb, "orchard", mode="vector")
    assert (kb.status().embedding.failed, kb.status().embedding.waiting) == (1, 0)
    service.refuse = ""
    assert kb.rebuild().vectors == len(FACTS) + 2
    assert kb.status().embedding.failed == 0


def test_a_provider_that_fails_leaves_what_was_learned_findable_by_words(
    kb: KnowledgeBase, service: MeaningService
) -> None:
    service.status = 403
    learned = kb.learn(content="A storm is coming.", title="Storm", wait_embeddings=True)
    assert learned.vector_embedding_failed is True
    assert titles(kb, "storm") == ["Storm"]
    found = kb.search("storm", mode="hybrid")
    assert (found.retrieval_method, found.verdict) == ("lexical", "answered")
    assert found.warnings[0].startswith("searched by words alone: ")
    status = kb.status().embedding
    assert (status.waiting, status.failed) == (1, 0), "it is not this section that was refused"
    service.status = 200
    assert kb.embed().vectors == len(FACTS) + 1


def test_a_provider_that_is_late_is_left_out_and_named(kb: KnowledgeBase, service: MeaningService) -> None:
    service.configure(kb.root.parent, more="[search]\ndeadline_ms = 1")
    with reopened(kb) as again:
        service.held.clear()
        found = again.search("umbrella fruit", mode="hybrid")
        service.held.set()
    assert found.retrieval_method == "lexical"
    assert "did not come within 1 ms" in found.warnings[0]


def test_vectors_of_another_model_are_not_used_before_a_rebuild(kb: KnowledgeBase, service: MeaningService) -> None:
    service.configure(kb.root.parent, model="newer")
    asked = len(service.texts)
    with reopened(kb) as again:
        found = again.search("apples", mode="hybrid")
        assert (found.retrieval_method, found.vector_index_stale) == ("lexical", True)
        assert [hit.title for hit in found.hits] == titles(again, "apples")
        assert "made by meanings, and the model is newer now" in found.warnings[0]
        assert again.embed().stale
        again.learn(content="A storm is coming.", title="Storm")
        assert again.status().embedding.stale
        assert len(service.texts) == asked
        assert again.rebuild().vectors == len(FACTS) + 1
        assert not again.status().embedding.stale
        assert titles(again, "weather", mode="vector")[:2] == ["Storm", "Picnic"]


def test_vectors_are_on_disk_as_described(kb: KnowledgeBase) -> None:
    kb.close()
    (folder,) = vector_folders(kb)
    data = (folder / "vectors.idx").read_bytes()
    assert data[:11] == b"KBVX\x01" + DIMENSIONS.to_bytes(2, "little") + len(FACTS).to_bytes(4, "little")
    meta = vector_files.read_meta(kb._core.store.layout, int(folder.name))
    assert (meta.made_by.model, meta.made_by.dimensions, meta.section_count) == ("meanings", DIMENSIONS, len(FACTS))
    assert (folder / "vectors-meta.toml").read_text().startswith('[vectors]\nmodel_name = "meanings"\n')


def test_an_answer_by_meaning_is_the_same_after_the_database_was_closed(kb: KnowledgeBase) -> None:
    before = answer(kb, "fruit", mode="vector"), answer(kb, "fruit", mode="hybrid")
    with reopened(kb) as again:
        assert (answer(again, "fruit", mode="vector"), answer(again, "fruit", mode="hybrid")) == before
        assert again.status().embedding.waiting == 0


def test_vectors_that_a_crash_took_are_made_again(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.settle()
    kb.learn(content="A storm is coming.", title="Storm", wait_embeddings=True)
    copied = tmp_path / "crashed"
    shutil.copytree(kb.root, copied / ".kbdb", ignore=shutil.ignore_patterns("lock", "daemon"))
    with kbdb.open(copied) as crashed:
        assert crashed.status().embedding.waiting == 1
        assert crashed.embed().waiting == 0
        assert titles(crashed, "weather", mode="vector")[:2] == ["Storm", "Picnic"]


def test_half_written_vectors_count_for_nothing(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.settle()
    kb.learn(content="A storm is coming.", title="Storm", wait_embeddings=True)
    written = index_files.write_meta

    def cut(*_: object) -> None:
        raise StorageError("the power went")

    monkeypatch.setattr(index_files, "write_meta", cut)
    kb.settle()
    copied = tmp_path / "crashed"
    shutil.copytree(kb.root, copied / ".kbdb", ignore=shutil.ignore_patterns("lock", "daemon"))
    monkeypatch.setattr(index_files, "write_meta", written)
    assert len(list((copied / ".kbdb" / "indexes").glob("*/vectors.idx"))) == 2
    with kbdb.open(copied) as crashed:
        assert crashed.status().embedding.waiting == 1
        assert crashed.embed().vectors == len(FACTS) + 1
    meta = index_files.read_meta(crashed._core.store.layout)
    assert meta is not None
    assert {int(folder.name) for folder in vector_folders(crashed)} == set(meta.vectors)


@pytest.mark.parametrize("name", ["vectors.idx", "vectors-meta.toml"])
@pytest.mark.parametrize("damage", ["cut", "gone", "other"])
def test_damaged_vectors_leave_searches_by_words_and_a_rebuild_mends_them(
    kb: KnowledgeBase, service: MeaningService, name: str, damage: str
) -> None:
    kb.close()
    (folder,) = vector_folders(kb)
    path = folder / name
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-3] if damage == "cut" else b"something else")
    asked = len(service.texts)
    with kbdb.open(kb.root.parent) as again:
        found = again.search("apples", mode="hybrid")
        assert (found.retrieval_method, found.vector_index_stale) == ("lexical", True)
        assert "rebuild" in found.warnings[0]
        assert again.search("apples").warnings == ()
        assert again.status().embedding.stale
        again.embed()
        assert len(service.texts) == asked
        assert again.rebuild().vectors == len(FACTS)
        assert again.search("apples", mode="hybrid").retrieval_method == "hybrid"


def test_a_number_that_is_none_is_found_when_vectors_are_searched(kb: KnowledgeBase) -> None:
    kb.close()
    (folder,) = vector_folders(kb)
    data = bytearray((folder / "vectors.idx").read_bytes())
    data[-4:] = b"\x00\x00\xc0\x7f"
    (folder / "vectors.idx").write_bytes(data)
    with kbdb.open(kb.root.parent) as again:
        found = again.search("apples", mode="hybrid")
        assert found.retrieval_method == "lexical"
        assert "no finite number" in found.warnings[0]
        assert again.status().embedding.stale
        again.learn(content="One more.", title="More")
    with kbdb.open(kb.root.parent) as again:
        assert titles(again, "one more") == ["More"]
        assert [fault.code for fault in again.check().errors] == ["VECTORS_CORRUPT"]
        assert again.rebuild().vectors == len(FACTS) + 1
        assert again.check().ok


def test_a_rebuild_that_the_provider_fails_leaves_the_vectors_there_were(
    kb: KnowledgeBase, service: MeaningService
) -> None:
    before = answer(kb, "fruit", mode="vector").hits
    service.status = 403
    rebuilt = kb.rebuild()
    assert (rebuilt.sections, rebuilt.vectors, rebuilt.vector_embedding_failed) == (len(FACTS), 0, True)
    assert any("what vectors there were stay" in warning for warning in rebuilt.warnings)
    service.status = 200
    assert answer(kb, "fruit", mode="vector").hits == before


def test_the_index_is_made_anew_without_its_vectors(kb: KnowledgeBase, service: MeaningService) -> None:
    """Vectors can cost money: whatever happens to the rest of the index, they stay."""
    before, asked = answer(kb, "fruit", mode="hybrid"), len(service.texts)
    service.configure(kb.root.parent, more='[analysis]\nlanguage = "german"')
    kb.close()
    kbdb.open(kb.root.parent).close()
    service.configure(kb.root.parent)
    with kbdb.open(kb.root.parent) as again:
        assert answer(again, "fruit", mode="hybrid") == before
        assert again.status().embedding.waiting == 0
        assert len(service.texts) == asked + 1


def test_the_vectors_of_removed_sections_leave_the_disk(kb: KnowledgeBase) -> None:
    kb.settle()
    gone = kbid(kb, "Cellar")
    (item,) = (item for item in kb.list().items if item.title == "Cellar")
    kb.unlearn(docid=item.docid)
    assert "Cellar" not in titles(kb, "fruit", mode="vector")
    kb.restore(docid=item.docid)
    assert "Cellar" in titles(kb, "fruit", mode="vector")
    (kb.root / "documents" / f"{item.docid}.toml").unlink()
    kb.rebuild()
    kb.gc(keep_days=0)
    kb.close()
    (folder,) = vector_folders(kb)
    vectors = engine().Vectors((folder / "vectors.idx").read_bytes())
    assert vectors.find(kbid_decode(gone)) == -1
    assert vectors.records == len(FACTS) - 1


def test_vectors_whose_folder_could_not_be_named_are_named_at_the_next_try(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.settle()
    kb.learn(content="A storm is coming.", title="Storm")
    kb.settle()
    kb.embed()
    named = index_files.write_meta

    def full(*_: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(index_files, "write_meta", full)
    kb.settle()
    monkeypatch.setattr(index_files, "write_meta", named)
    kb._core.indexer.sweep_left_over()
    with reopened(kb) as again:
        assert again.status().embedding.waiting == 0
        assert titles(again, "weather", mode="vector")[:2] == ["Storm", "Picnic"]


def test_vectors_of_sections_that_went_while_nobody_looked_leave_the_disk(kb: KnowledgeBase) -> None:
    kb.settle()
    gone = kbid(kb, "Cellar")
    kb.close()
    (kb.root / "sections" / gone[:2] / f"{gone}.sec").unlink()
    with kbdb.open(kb.root.parent) as again:
        again._core.rebuild()
    (folder,) = vector_folders(kb)
    vectors = engine().Vectors((folder / "vectors.idx").read_bytes())
    assert (vectors.find(kbid_decode(gone)), vectors.records) == (-1, len(FACTS) - 1)


def test_a_section_that_is_back_before_its_vector_went_keeps_it(kb: KnowledgeBase, service: MeaningService) -> None:
    kb.settle()
    (item,) = (item for item in kb.list().items if item.title == "Cellar")
    kb.unlearn(docid=item.docid)
    (kb.root / "documents" / f"{item.docid}.toml").unlink()
    kb._core.indexer.rebuild()
    assert kb.gc(keep_days=0).removed == 1
    asked = len(service.texts)
    kb.learn(content=FACTS["Cellar"], title="Cellar", docid="cellar-again")
    kb._core.checkpoint()
    kb.embed()
    assert kb.status().embedding.waiting == 0
    assert len(service.texts) <= asked + 1


def test_a_damaged_index_meta_file_and_a_provider_that_fails_leave_the_vectors(
    kb: KnowledgeBase, service: MeaningService
) -> None:
    before = answer(kb, "fruit", mode="vector").hits
    kb.close()
    (kb.root / "indexes" / "meta.toml").write_bytes(b"no meta")
    service.status = 403
    with kbdb.open(kb.root.parent) as again:
        assert again.rebuild().vectors == 0
    service.status = 200
    asked = len(service.texts)
    with kbdb.open(kb.root.parent) as again:
        assert answer(again, "fruit", mode="vector").hits == before
        assert again.status().embedding.waiting == 0
    assert len(service.texts) == asked + 1


def test_what_only_its_description_speaks_for_gets_another_vector_with_another_one(
    kb: KnowledgeBase, home: Path
) -> None:
    (home / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(8))
    for description, near, far in (("a train at the station", "railway", "fruit"), ("apples", "fruit", "railway")):
        kb.learn([home / "x.png"], title="X", description=description, wait_embeddings=True)
        cosines = {query: {hit.title: hit.score for hit in by_meaning(kb, query).hits}["X"] for query in (near, far)}
        assert cosines[near] > 0.9 > 0.1 > cosines[far]


def test_texts_that_are_refused_keep_no_other_from_its_vector(kb: KnowledgeBase, service: MeaningService) -> None:
    service.refuse = "nettle"
    for number in range(5):
        kb.learn(content=f"Nettle soup {number}: nettle.", title=f"Soup {number}")
    for number in range(5):
        kb.learn(content=f"Rain on day {number}.", title=f"Rain {number}")
    found = kb.embed()
    assert (found.failed, found.waiting, found.vectors) == (5, 0, len(FACTS) + 5)


def test_a_model_that_the_service_does_not_know_is_trouble_and_no_word_on_a_text(
    kb: KnowledgeBase, service: MeaningService
) -> None:
    service.status = 400
    learned = kb.learn(content="A storm is coming.", title="Storm", wait_embeddings=True)
    assert learned.vector_embedding_failed is True
    service.status = 200
    found = kb.embed()
    assert (found.failed, found.waiting) == (0, 0)


def test_vectors_that_changed_on_the_disk_are_found_by_check(kb: KnowledgeBase) -> None:
    kb.close()
    (folder,) = vector_folders(kb)
    data = bytearray((folder / "vectors.idx").read_bytes())
    data[-1] ^= 1
    (folder / "vectors.idx").write_bytes(data)
    with kbdb.open(kb.root.parent) as again:
        assert [fault.code for fault in again.check().errors] == ["VECTORS_CORRUPT"]
        again.rebuild()
        assert again.check().ok


@pytest.mark.parametrize("name", ["vectors.idx", "vectors-meta.toml", "terms.idx"])
def test_files_that_are_gone_while_they_serve_are_found_by_check(kb: KnowledgeBase, name: str) -> None:
    kb.settle()
    (path,) = (kb.root / "indexes").glob(f"*/{name}")
    path.unlink()
    (fault,) = kb.check().errors
    assert (fault.code, name in fault.message) == ("INDEX_CORRUPT" if name == "terms.idx" else "VECTORS_CORRUPT", True)
    assert titles(kb, "umbrella") == ["Picnic"]


def test_a_service_that_is_down_is_named_where_its_tries_outlast_the_deadline(
    kb: KnowledgeBase, service: MeaningService
) -> None:
    service.configure(kb.root.parent, more="[search]\ndeadline_ms = 400")
    service.status = 500
    with reopened(kb) as again:
        found = again.search("umbrella", mode="hybrid")
    assert "did not come within 400 ms: " in found.warnings[0]
    assert "500" in found.warnings[0]


def test_without_a_provider_a_rebuild_lets_vectors_go_that_nobody_can_read(kb: KnowledgeBase) -> None:
    kb.close()
    (folder,) = vector_folders(kb)
    (folder / "vectors.idx").write_bytes(b"nothing")
    (kb.root / "worker.toml").unlink()
    with kbdb.open(kb.root.parent) as again:
        assert [fault.code for fault in again.check().errors] == ["VECTORS_CORRUPT"]
        again.rebuild()
        assert again.check().ok
    assert vector_folders(kb) == []


def test_while_vectors_are_stale_a_learn_tells_that_none_is_made(kb: KnowledgeBase, service: MeaningService) -> None:
    service.configure(kb.root.parent, model="newer")
    with reopened(kb) as again:
        for wait in (False, True):
            learned = again.learn(content=f"A storm is coming: {wait}.", title="Storm", wait_embeddings=wait)
            assert learned.vector_embedding_failed is True


def test_a_section_that_is_removed_while_its_vector_is_made_gets_none(kb: KnowledgeBase) -> None:
    learned = kb.learn(content="A storm is coming.", title="Storm")
    made = kb.next_vectors()
    assert made is not None
    kb.unlearn(docid=learned.documents[0].docid)
    (kb.root / "documents" / f"{learned.documents[0].docid}.toml").unlink()
    kb.rebuild()
    kb.gc(keep_days=0)
    kb.take_vectors(made)
    kb.close()
    (folder,) = vector_folders(kb)
    assert engine().Vectors((folder / "vectors.idx").read_bytes()).records == len(FACTS)


def test_questions_are_asked_once_for_all_their_pages(kb: KnowledgeBase, service: MeaningService) -> None:
    asked = len(service.texts)
    for offset in (0, 1, 2):
        by_meaning(kb, "fruit harvest", limit=1, offset=offset)
    assert len(service.texts) == asked + 1


def test_what_has_no_words_gets_no_vector_and_does_not_wait(kb: KnowledgeBase, home: Path) -> None:
    (home / "pixel.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(8))
    learned = kb.learn([home / "pixel.png"], title="Umbrella", wait_embeddings=True)
    assert learned.vector_embedding_failed is False
    assert "Umbrella" in titles(kb, "weather", mode="vector")
    assert by_meaning(kb, "?!").retrieval_method == "lexical"
