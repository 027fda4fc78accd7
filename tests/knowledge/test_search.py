"""search and rank on a real database: filters, pages, what is shown of a hit, and what could not be."""

from __future__ import annotations

from pathlib import Path

import pytest
from knowledge_base import GUIDE, docid, kbid, titles, write

from kbdb.errors import EmbeddingProviderNotConfiguredError, InvalidArgumentError
from kbdb.knowledge import KnowledgeBase
from kbdb.plan import FIELDS


@pytest.fixture
def guide(kb: KnowledgeBase, home: Path) -> KnowledgeBase:
    """A database that learned a guide, a text and a skill."""
    kb.learn([write(home / "docs" / "guide.md", GUIDE)])
    kb.learn([write(home / "pears.txt", "Pears of another kind, apples too.\n")], tags=["Other Fruit"])
    kb.learn(content="How to press apples by hand.", title="Press", section_type="skill", docid="press")
    return kb


def test_a_hit_says_where_it_stands(guide: KnowledgeBase) -> None:
    found = guide.search("boil the juice")
    (hit,) = found.hits
    assert (hit.title, hit.heading_path, hit.level, hit.line, hit.line_end) == ("Pressing", ("Apples",), 2, 11, 13)
    assert (hit.source, hit.tags, hit.section_type) == ("docs/guide.md", ("fruit",), "default")
    assert hit.matched_terms == ("boil", "juice")
    assert "**boil**" in hit.snippet
    assert (hit.content, hit.explain) == (None, None)
    assert (found.match, found.verdict, found.total, found.total_is_exact) == ("all", "answered", 1, True)
    assert (found.search_mode, found.retrieval_method, found.hidden) == ("lexical", "lexical", 0)
    assert (found.generation, found.unreadable) == (guide.generation, ())


def test_content_comes_when_asked_for(guide: KnowledgeBase) -> None:
    (hit,) = guide.search("boil", content=True).hits
    assert hit.content == "## Pressing\n\nPress the apples within a day, then boil the juice."


@pytest.mark.parametrize("query", ["apples", "press apples juice cellar", '"cool cellar" apple*', "title:pears apples"])
def test_explained_shares_added_in_order_are_the_score(guide: KnowledgeBase, query: str) -> None:
    hits = guide.search(query, explain=True).hits
    assert hits
    for hit in hits:
        assert hit.explain
        score = 0.0
        for share in hit.explain:
            score = score + share.value
            assert share.value == (share.weight * share.idf) * share.saturation
            assert tuple(share.frequencies) == FIELDS
        assert score == hit.score


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 5),
        ({"tags": ["fruit"]}, 3),
        ({"tags": ["FRUIT "]}, 3),
        ({"tags": ["other fruit"]}, 1),
        ({"tags": ["fruit", "other fruit"]}, 0),
        ({"type": "text/plain"}, 1),
        ({"section_type": "skill"}, 1),
        ({"docid": "press"}, 1),
        ({"docid": "docs/guide.md"}, 3),
        ({"docid": "./docs/../docs/guide.md"}, 3),
        ({"docid": "docs/none.md"}, 0),
        ({"docid": "press", "section_type": "default"}, 0),
    ],
)
def test_options_narrow_and_never_change_scores(
    guide: KnowledgeBase, options: dict[str, object], expected: int
) -> None:
    scores = {hit.kbid: hit.score for hit in guide.search("apples pears").hits}
    found = guide.search("apples pears", **options)
    assert (found.total, len(found.hits)) == (expected, expected)
    assert {hit.kbid: hit.score for hit in found.hits}.items() <= scores.items()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("apples tag:fruit", 2),
        ("apples -tag:fruit", 2),
        ("apples doc:docs/guide.md", 2),
        ("apples -doc:docs/guide.md", 2),
        ("apples doc:press", 1),
        ("type:text/plain", 1),
        ("doc:pears.txt doc:press", 2),
        ("", 0),
        ("tag:none", 0),
    ],
)
def test_filters_in_the_query(guide: KnowledgeBase, query: str, expected: int) -> None:
    assert guide.search(query).total == expected


def test_pages_join_without_gap_or_overlap(kb: KnowledgeBase, home: Path) -> None:
    for number in range(25):
        write(home / f"{number}.md", f"# N{number}\n\n{'common ' * (number % 4 + 1)}text\n")
    kb.learn([home])
    whole = [hit.kbid for hit in kb.search("common", limit=100).hits]
    pages = [kb.search("common", limit=7, offset=offset) for offset in range(0, 35, 7)]
    assert [hit.kbid for page in pages for hit in page.hits] == whole
    assert {(page.total, page.verdict, page.match) for page in pages} == {(25, "answered", "all")}
    assert [(page.offset, page.limit, len(page.hits)) for page in pages][-2:] == [(21, 7, 4), (28, 7, 0)]
    assert [found for found, _ in kb.rank("common", 100)] == whole


def test_totals_past_a_thousand_are_a_lower_bound(kb: KnowledgeBase, home: Path) -> None:
    write(home / "many.md", "".join(f"# N{n}\n\ncommon {n}\n\n" for n in range(1001)))
    kb.learn([home])
    found = kb.search("common", limit=1)
    assert (found.total, found.total_is_exact) == (1000, False)


def test_rank_is_the_bare_engine_call(guide: KnowledgeBase) -> None:
    hits = guide.search("apples").hits
    assert guide.rank("apples") == [(hit.kbid, hit.score) for hit in hits]
    assert guide.rank("apples", 1) == guide.rank("apples")[:1]
    assert guide.rank("") == []


@pytest.mark.parametrize(
    "query",
    [
        "apples tag:fruit",
        "apples -tag:fruit",
        "pears type:text/plain",
        "apples doc:docs/guide.md",
        "press doc:press",
        "tag:fruit",
        "apples tag:nothing",
    ],
)
def test_rank_heeds_the_filters_of_its_query(guide: KnowledgeBase, query: str) -> None:
    hits = guide.search(query).hits
    assert guide.rank(query) == [(hit.kbid, hit.score) for hit in hits]
    assert guide.rank(query, 1) == guide.rank(query)[:1]
    assert len(hits) < 5


def test_hidden_counts_what_matches_and_is_not_live(guide: KnowledgeBase) -> None:
    assert guide.search("apples").hidden == 0
    guide.unlearn(kbid(guide, "Apples"))
    guide.unlearn(docid="press")
    found = guide.search("apples")
    assert (found.total, found.hidden) == (2, 2)
    assert guide.search("apples", docid="press").hidden == 1
    assert guide.search("apples -tag:fruit").hidden == 1


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_vectors_need_a_provider(kb: KnowledgeBase, mode: str) -> None:
    with pytest.raises(EmbeddingProviderNotConfiguredError) as raised:
        kb.search("x", mode=mode)
    assert raised.value.code == "EMBEDDING_PROVIDER_NOT_CONFIGURED"


@pytest.mark.parametrize(
    "options", [{"mode": "x"}, {"limit": 0}, {"limit": 1001}, {"offset": -1}, {"offset": 10**6}, {"tags": "fruit"}]
)
def test_impossible_options_are_refused(kb: KnowledgeBase, options: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError):
        kb.search("x", **options)


def test_a_section_that_cannot_be_read_is_reported_not_dropped(guide: KnowledgeBase) -> None:
    damaged = kbid(guide, "Apples")
    path = guide.root / "sections" / damaged[:2] / f"{damaged}.sec"
    path.write_bytes(path.read_bytes().replace(b"cool", b"warm"))
    found = guide.search("apples")
    (bad,) = found.unreadable
    assert (bad.kbid, bad.path) == (damaged, str(path))
    assert bad.message
    assert found.total == 4
    assert len(found.hits) == 3
    path.unlink()
    assert [one.kbid for one in guide.search("apples").unreadable] == [damaged]


@pytest.mark.parametrize(
    ("query", "match", "verdict"),
    [
        ("apples cellar", "all", "answered"),
        ("apples cellar spring zebra", "most", "answered"),
        ("apples zebra quagga unicorn", "any", "weak"),
        ("pressign", "near", None),
        ("zebra", "none", "unanswered"),
    ],
)
def test_match_and_verdict_say_how_good_the_answer_is(
    guide: KnowledgeBase, query: str, match: str, verdict: str | None
) -> None:
    found = guide.search(query)
    assert found.match == match
    assert verdict in (None, found.verdict)


def test_words_the_store_does_not_know_are_named(guide: KnowledgeBase) -> None:
    assert any("zebra" in warning for warning in guide.search("apples zebra").warnings)


@pytest.mark.parametrize(
    ("query", "title"),
    [("果", "水果"), ("苹果", "水果"), ("りんご", "くだもの"), ("ご", "くだもの"), ("사과", "과일"), ("ไทย", "ผลไม้")],
)
def test_scripts_without_spaces_are_found_down_to_one_character(
    kb: KnowledgeBase, home: Path, query: str, title: str
) -> None:
    texts = {"水果": "苹果很好吃。", "くだもの": "りんごは赤い。", "과일": "사과는 맛있다.", "ผลไม้": "แอปเปิลไทยอร่อย"}
    for name, text in texts.items():
        kb.learn([write(home / f"{name}.md", f"# {name}\n\n{text}\n")])
    assert titles(kb, query) == [title]


@pytest.mark.parametrize(
    "query",
    [
        "\ud800",
        "\0",
        '"',
        "-",
        "*",
        "title:",
        "tag:",
        "doc:\udcff x",
        "((",
        "a" * 10_000,
        "x " * 500,
        "doc:/",
        "doc:..",
    ],
)
def test_any_text_is_a_query(guide: KnowledgeBase, query: str) -> None:
    guide.search(query, explain=True)
    guide.rank(query)


def test_a_document_named_like_another_ones_path(kb: KnowledgeBase, home: Path) -> None:
    learned = kb.learn([write(home / "notes", "words in a file\n")])
    assert kb.search("words", docid="notes").hits[0].docid == docid(learned)
    kb.learn(content="words of a fact", docid="notes")
    assert {hit.docid for hit in kb.search("words", docid="notes").hits} == {"notes"}


def test_a_hit_is_cited_in_the_document_asked_for_else_in_a_live_one(kb: KnowledgeBase, home: Path) -> None:
    shared = "# Shared\n\nunusual\n"
    for name in "abc":
        kb.learn([write(home / f"{name}.md", f"# {name}\n\ntext\n\n{shared}" if name != "b" else shared)])
    by_name = {item.source: item.docid for item in kb.list().items}
    cited = {name: kb.search("unusual", docid=name).hits[0].source for name in by_name}
    assert cited == {name: name for name in by_name}
    assert kb.search("unusual doc:b.md").hits[0].line == 1
    first = kb.search("unusual").hits[0].source
    kb.unlearn(docid=by_name[first])
    assert kb.search("unusual").hits[0].source != first


def test_what_is_held_back_is_counted_even_where_a_near_word_stands_in(kb: KnowledgeBase) -> None:
    forgotten = kb.learn(content="The protocol is secret.", title="One").kbids[0]
    kb.learn(content="A protocal with a slip of the pen.", title="Two")
    kb.unlearn(forgotten)
    answer = kb.search("protocol")
    assert answer.match == "near"
    assert answer.hidden == 1


def test_a_type_that_nothing_has_is_told_with_those_there_are(guide: KnowledgeBase) -> None:
    kinds = "types are text/markdown, text/plain, section types are default, skill"
    asked = {
        "type:bogus": guide.search("apples", type="bogus"),
        "section_type:bogus": guide.search("apples", section_type="bogus"),
        "type:x or type:text/x": guide.search("apples type:x"),
    }
    for key, found in asked.items():
        assert (found.verdict, found.warnings) == ("unanswered", (f"{key}: no live section has it; {kinds}",))
    guide.unlearn(kbid(guide, "Press"))
    assert guide.search("apples", type="bogus").warnings[0].endswith("section types are default")


def test_of_many_types_some_are_named(guide: KnowledgeBase) -> None:
    for number in range(12):
        guide.learn(content="text", title=f"t{number}", type=f"text/x-{number:02}")
    (warning,) = guide.search("apples", type="bogus").warnings
    assert "text/x-05, \u2026, section types are" in warning
