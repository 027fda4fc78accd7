"""search by meaning from the command line, through a real daemon and over a real embedding service.

What is told of each way to be answered, and of each that falls back to words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from daemon_fixtures import root, runtime
from household import Household, household
from meanings import PATIENT, MeaningService, make_embedded

import kbdb

__all__ = ["root", "runtime"]

FACTS = {
    "Storage": "We chose Postgres because of JSONB.",
    "Why Postgres": "The rationale: JSONB.",
    "Cellar": "Apples and pears keep until spring.",
    "Picnic": "Take an umbrella, the forecast says rain.",
}
QUERY = "sql rationale"


@pytest.fixture
def home(root: Path, service: MeaningService) -> Iterator[Household]:
    """A database whose sections have their vectors, and commands that go through its daemon."""
    make_embedded(root.parent, service, FACTS, more=PATIENT)
    with household(root) as made:
        yield made


def titles(home: Household, *words: str) -> list[str]:
    return [hit["title"] for hit in home.tell("search", *words)["hits"]]


def error_of(home: Household, *words: str) -> tuple[int, str]:
    ran = home.run(*words, "--json")
    return ran.code, ran.json["error"]["code"]


def kbid_of(home: Household, title: str) -> str:
    (found,) = (item["kbid"] for item in home.tell("list", "--sections")["items"] if item["title"] == title)
    return str(found)


def test_each_mode_answers_by_what_it_is_named_for(home: Household) -> None:
    assert titles(home, QUERY) == ["Why Postgres"]
    assert titles(home, "--mode", "lexical", QUERY) == ["Why Postgres"]
    assert titles(home, "--mode", "vector", QUERY)[:2] == ["Storage", "Why Postgres"]
    found = home.tell("search", "--mode", "hybrid", QUERY)
    assert [hit["title"] for hit in found["hits"][:2]] == ["Why Postgres", "Storage"]
    assert (found["search_mode"], found["retrieval_method"]) == ("hybrid", "hybrid")
    assert not any("by words alone" in warning for warning in found["warnings"])
    assert "vector_index_stale" not in found


def test_the_mode_of_worker_toml_is_that_of_searches_that_name_none(home: Household, service: MeaningService) -> None:
    service.configure(home.root.parent, more=f'{PATIENT}mode = "hybrid"')
    assert home.tell("search", QUERY)["retrieval_method"] == "hybrid"
    assert home.tell("search", "--mode", "lexical", QUERY)["retrieval_method"] == "lexical"


def test_explain_shows_the_rank_that_each_leg_gives(home: Household) -> None:
    best, other, *_ = home.tell("search", "--mode", "hybrid", "--explain", QUERY)["hits"]
    assert [(leg["leg"], leg["rank"]) for leg in best["legs"]] == [("lexical", 1), ("vector", 2)]
    assert [(leg["leg"], leg["rank"]) for leg in other["legs"]] == [("vector", 1)]
    assert "legs" not in home.tell("search", "--mode", "hybrid", QUERY)["hits"][0]
    text = home.run("search", "--mode", "hybrid", "--explain", QUERY).out
    assert f"{best['legs'][0]['score']:.6f}  by words, rank 1\n" in text
    assert f"{best['legs'][1]['score']:.6f}  cosine, rank 2\n" in text
    assert f"{best['score']:.6f}  score, of both ranks\n" in text
    alone = home.run("search", "--mode", "vector", "--explain", "sql").out
    assert "  cosine\n" in alone
    assert "found by meaning" in alone


# The three rows of the specification's table of fallbacks, then what else may keep meaning from being asked.


def test_without_a_provider_both_modes_are_refused(home: Household) -> None:
    (home.root / "worker.toml").unlink()
    for mode in ("vector", "hybrid"):
        assert error_of(home, "search", "--mode", mode, QUERY) == (1, "EMBEDDING_PROVIDER_NOT_CONFIGURED")
        ran = home.run("search", "--mode", mode, QUERY)
        assert (ran.code, ran.out) == (1, "")
        assert "needs an embedding provider" in ran.errors
    assert home.tell("search", QUERY)["search_mode"] == "lexical"
    assert error_of(home, "similar", kbid_of(home, "Cellar")) == (1, "EMBEDDING_PROVIDER_NOT_CONFIGURED")


def test_with_vectors_of_another_model_words_answer_until_a_rebuild(home: Household, service: MeaningService) -> None:
    service.configure(home.root.parent, model="newer", more=PATIENT)
    for mode in ("vector", "hybrid"):
        found = home.tell("search", "--mode", mode, QUERY)
        assert (found["search_mode"], found["retrieval_method"]) == (mode, "lexical")
        assert found["vector_index_stale"] is True
        assert [hit["title"] for hit in found["hits"]] == titles(home, QUERY)
    text = home.run("search", "--mode", "hybrid", QUERY).out
    assert "note: searched by words alone: the vectors were made by meanings, and the model is newer now" in text
    assert "lexical instead of hybrid" in text
    assert error_of(home, "similar", kbid_of(home, "Cellar")) == (1, "INDEX_STALE")
    assert ("vectors", "warning") in findings(home)
    home.tell("rebuild")
    assert home.tell("search", "--mode", "hybrid", QUERY)["retrieval_method"] == "hybrid"
    assert ("vectors", "ok") in findings(home)


def findings(home: Household) -> list[tuple[str, str]]:
    """What doctor looked at, and how it is."""
    return [(one["name"], one["status"]) for one in home.run("doctor", "--json").json["findings"]]


def test_a_section_that_the_provider_refuses_is_found_by_words(home: Household, service: MeaningService) -> None:
    service.refuse = "nettle"
    with kbdb.open(home.root.parent) as kb:
        assert kb.learn(content="Soup of nettles.", title="Soup", wait_embeddings=True).vector_embedding_failed is True
    found = home.tell("search", "--mode", "hybrid", "soup")
    assert found["retrieval_method"] == "hybrid"
    assert "Soup" in [hit["title"] for hit in found["hits"]]
    assert found["warnings"] == ["1 section has no vector yet, and can be found by words alone"]
    assert "Soup" not in titles(home, "--mode", "vector", "soup")
    assert error_of(home, "similar", kbid_of(home, "Soup")) == (1, "NO_VECTOR")


def test_a_service_that_fails_or_is_late_leaves_an_answer_by_words(home: Household, service: MeaningService) -> None:
    service.status = 403
    found = home.tell("search", "--mode", "hybrid", QUERY)
    assert (found["retrieval_method"], [hit["title"] for hit in found["hits"]]) == ("lexical", ["Why Postgres"])
    assert "searched by words alone" in found["warnings"][1]
    assert "vector_index_stale" not in found
    service.status = 200
    assert home.tell("search", "--mode", "hybrid", QUERY)["retrieval_method"] == "hybrid"
    home.stop()
    service.configure(home.root.parent, more="[search]\ndeadline_ms = 20")
    service.held.clear()
    late = home.tell("search", "--mode", "vector", "umbrella")
    service.held.set()
    assert late["retrieval_method"] == "lexical"
    assert "did not come within 20 ms" in late["warnings"][0]


def test_similar_shows_the_nearest_and_ends_as_a_search_does(home: Household) -> None:
    found = home.tell("similar", kbid_of(home, "Storage"), "--limit", "2")
    assert found.keys() == {
        *("kbid", "title", "generation", "limit", "engine_ms", "elapsed_ms", "warnings", "unreadable", "hits"),
    }
    assert found["hits"][0].keys() == {
        *("kbid", "docid", "title", "heading_path", "line", "line_end", "source", "score", "tags", "section_type"),
    }
    assert (found["title"], [hit["title"] for hit in found["hits"]][:1]) == ("Storage", ["Why Postgres"])
    text = home.run("similar", kbid_of(home, "Storage"), "--limit", "1").out
    assert text.startswith(" 1  Why Postgres  ")
    assert "1 section nearest in meaning to Storage (" in text
    assert error_of(home, "similar", "0" * 26) == (3, "SECTION_NOT_FOUND")
    assert error_of(home, "similar", "storage") == (2, "INVALID_ID")
    assert error_of(home, "similar", "docs/a.md") == (2, "INVALID_ID")


def test_a_section_that_is_like_no_other_has_nothing_near(home: Household) -> None:
    for title in FACTS:
        if title != "Cellar":
            home.tell("unlearn", kbid_of(home, title))
    ran = home.run("similar", kbid_of(home, "Cellar"))
    assert ran.code == 3
    assert ran.out.startswith("Nothing near to Cellar (")


def test_check_reports_duplicates_and_is_ok(home: Household) -> None:
    assert "duplicates" not in home.tell("check")
    report = home.tell("check", "--duplicates")["duplicates"]
    assert (report["threshold"], report["sections"], report["without_vector"]) == (0.95, len(FACTS), 0)
    (pair,) = report["pairs"]
    assert {pair["first"]["title"], pair["second"]["title"]} == {"Storage", "Why Postgres"}
    assert pair["first"].keys() == {"kbid", "docid", "title", "source", "line"}
    ran = home.run("check", "--duplicates", "--threshold", "0.9")
    assert ran.code == 0
    assert "near duplicates: 1 pair among 4 sections (cosine 0.9 or more)\nok: 4 sections" in ran.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["search", "--mode", "fuzzy", "x"], "USAGE"),
        (["check", "--threshold", "0.9"], "USAGE"),
        (["check", "--duplicates", "--threshold", "near"], "USAGE"),
        (["check", "--duplicates", "--threshold", "0"], "USAGE"),
        (["check", "--duplicates", "--threshold", "1.5"], "USAGE"),
        (["check", "--duplicates", "--threshold", "nan"], "USAGE"),
        (["similar"], "USAGE"),
        (["similar", "x", "--limit", "0"], "USAGE"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_refused(home: Household, words: list[str], code: str) -> None:
    assert error_of(home, *words) == (2, code)


LOADED = "import sys; from kbdb.__main__ import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"


@pytest.mark.parametrize("words", [["search", QUERY], ["search", "--mode", "hybrid", QUERY]], ids=" ".join)
def test_a_search_loads_nothing_of_vectors_in_the_process_that_asks(home: Household, words: list[str]) -> None:
    home.tell("daemon", "start")
    ran = home.run("-c", LOADED, *words, program=())
    assert "Postgres" in ran.out
    loaded = {name.partition(".")[0] for name in ran.errors.split()}
    assert loaded & {"onnxruntime", "numpy", "tokenizers", "httpx", "asyncio"} == set()


Shows = Callable[..., bool]


@pytest.fixture
def shows_mode(run: Any) -> Shows:
    """Whether the help of search tells of --mode."""

    def shows(*words: str, **how: Any) -> bool:
        ran = run(*words, **how)
        assert (ran.code, ran.errors) == (0, "")
        assert "--limit" in ran.text
        return "--mode" in ran.text

    return shows


def test_help_tells_of_modes_where_a_provider_is_configured(
    shows_mode: Shows, run: Any, folder: Path, service: MeaningService, tmp_path: Path
) -> None:
    assert not shows_mode("search", "--help")
    run("init")
    assert not shows_mode("search", "-h")
    service.configure(folder)
    assert shows_mode("search", "-h")
    assert shows_mode("search", "--help", "x", "--limit", "3")
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    assert not shows_mode("search", "--help", cwd=elsewhere)
    for words in (["--db", str(folder), "search", "-h"], ["search", "-h", "--db", str(folder)]):
        assert shows_mode(*words, cwd=elsewhere)
    assert shows_mode("search", f"--db={folder}", "--help", cwd=elsewhere)
    assert not shows_mode("search", "--help", "--db", str(elsewhere))


def test_help_never_fails(shows_mode: Shows, run: Any, folder: Path) -> None:
    run("init")
    (folder / ".kbdb" / "worker.toml").write_text("[embedding\n")
    assert not shows_mode("search", "--help")
    assert not shows_mode("search", "--help", "--db", "")
