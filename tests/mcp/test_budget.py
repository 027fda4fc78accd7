"""No result is over its budget, whatever the daemon answers; and what was left off can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_calls import Quiet, larger_form

from kbdb.lines import LineRange
from kbdb.mcp.budget import LEAST_TOKENS, MOST_TOKENS, after, cut_at, form_fits
from kbdb.mcp.server import KbdbServer
from kbdb.mcp.tokens import estimate

WORDS = "the cellar keeps apples until spring, and pears ripen; 苹果 りんご яблоки getElementById v1.2.3 x=1\n\n# "
NAMES = st.sampled_from(["a", "x" * 30, "cellar", "苹果" * 40, "яблоки " * 60, "é" * 300, "word " * 200, "\n" * 50])
CONTENTS = st.one_of(
    st.text(WORDS, max_size=3000),
    st.builds(
        lambda text, times: text * times,
        st.sampled_from([WORDS, "中文。", "word. ", "a", "\n", '"\\', '\\"', "'\""]),
        st.integers(0, 3000),
    ),
)
KBIDS = st.text("0123456789abcdefghjkmnpqrstvwxyz", min_size=26, max_size=26)
DOCIDS = st.text("abcdefghij-0123456789", min_size=1, max_size=80)
COUNTS = st.integers(0, 10**6)
BUDGETS = st.sampled_from([LEAST_TOKENS, 700, 1500, 4000, MOST_TOKENS])

HITS = st.fixed_dictionaries(
    {
        **{"kbid": KBIDS, "docid": DOCIDS, "title": NAMES, "heading_path": st.lists(NAMES, max_size=6)},
        **{"level": st.integers(0, 6), "line": COUNTS, "line_end": COUNTS, "source": NAMES},
        **{"score": st.floats(0, 100), "snippet": CONTENTS, "matched_terms": st.lists(NAMES, max_size=20)},
        **{"tags": st.lists(NAMES, max_size=20), "section_type": st.just("default")},
    }
)
UNREADABLE = st.fixed_dictionaries({"kbid": KBIDS, "path": NAMES, "message": NAMES})
SEARCHES = st.fixed_dictionaries(
    {
        **{"query": CONTENTS, "search_mode": st.just("lexical"), "retrieval_method": st.just("lexical")},
        **{"match": st.just("all"), "verdict": st.just("answered"), "generation": COUNTS, "total": COUNTS},
        **{"total_is_exact": st.booleans(), "hidden": COUNTS, "offset": st.just(0), "limit": st.just(50)},
        **{"engine_ms": st.floats(0, 100), "elapsed_ms": st.floats(0, 100), "warnings": st.lists(NAMES, max_size=12)},
        **{"unreadable": st.lists(UNREADABLE, max_size=12), "hits": st.lists(HITS, max_size=12)},
    }
)
REFERENCES = st.lists(
    st.fixed_dictionaries({"target": NAMES, "kbid": KBIDS, "docid": DOCIDS, "title": NAMES}), max_size=14
)
METADATA = st.fixed_dictionaries(
    {
        **{"type": NAMES, "section_type": st.just("default"), "state": st.just("active"), "description": NAMES},
        **{"tags": st.lists(NAMES, max_size=12), "created": NAMES, "updated": NAMES},
    }
)
RECALLED = st.fixed_dictionaries(
    {
        **{"kbid": KBIDS, "title": NAMES, "content": CONTENTS, "level": st.integers(0, 6), "parent": KBIDS},
        **{"metadata": METADATA, "references": REFERENCES, "back_references": st.just([]), "siblings": REFERENCES},
        **{"documents": st.lists(DOCIDS, max_size=20), "truncated": st.booleans()},
        "successor": st.just("") | KBIDS,
    },
    optional={"left_off": st.fixed_dictionaries({"siblings": COUNTS})},
)
RECALLS = st.fixed_dictionaries(
    {
        "results": st.lists(RECALLED, max_size=5, unique_by=lambda result: result["kbid"]),
        "omitted_kbids": st.lists(KBIDS, max_size=300, unique=True),
        "missing": st.lists(KBIDS, max_size=50),
    }
)
PLACES = st.fixed_dictionaries(
    {
        **{"docid": DOCIDS, "kbid": KBIDS, "source": NAMES, "level": st.integers(0, 6), "parent": KBIDS},
        **{"heading_path": st.lists(NAMES, max_size=6), "line": COUNTS, "line_end": COUNTS, "gap": st.just("\n")},
        **{"document_state": st.just("live")},
    }
)
EXCERPTS = st.fixed_dictionaries(
    {
        **{"first": st.integers(1, 9), "column": st.integers(1, 9), "last": COUNTS, "total": st.integers(1, 10**6)},
        **{"next": st.sampled_from(["", "12-", "3:4-9"]), "bytes": COUNTS},
    }
)
MANIFESTS = st.fixed_dictionaries(
    {
        **{"docid": DOCIDS, "type": NAMES, "title": NAMES, "description": NAMES, "tags": st.lists(NAMES, max_size=12)},
        **{
            "subject": NAMES,
            "created": NAMES,
            "updated": NAMES,
            "head": CONTENTS,
            "sections": st.lists(PLACES, max_size=30),
        },
        "origin": st.fixed_dictionaries({"who": st.just("user"), "source": NAMES, "sha256": st.just("0" * 64)}),
    }
)
SECTIONS = st.fixed_dictionaries(
    {
        **{
            "kbid": KBIDS,
            "section_type": st.just("default"),
            "type": NAMES,
            "title": NAMES,
            "state": st.just("active"),
        },
        **{"tags": st.lists(NAMES, max_size=12), "description": NAMES, "content": CONTENTS, "excerpt": EXCERPTS},
        "places": st.lists(PLACES, max_size=30),
        "successor": st.just("") | KBIDS,
    }
)
DOCUMENTS = st.fixed_dictionaries(
    {"manifest": MANIFESTS, "state": st.just("live"), "content": CONTENTS, "excerpt": EXCERPTS}
)
TWINS = st.fixed_dictionaries({"kbid": KBIDS, "other": KBIDS, "title": NAMES, "jaccard": st.floats(0, 1)})
LEARNS = st.fixed_dictionaries(
    {
        **{
            "kbids": st.lists(KBIDS, max_size=300),
            "generation": COUNTS,
            "near_duplicates": st.lists(TWINS, max_size=30),
        },
        **{"elapsed_ms": st.floats(0, 10), "warnings": st.lists(NAMES, max_size=30), "sections_added": COUNTS},
        "documents": st.lists(
            st.fixed_dictionaries({"docid": DOCIDS, "source": NAMES, "kbids": st.lists(KBIDS, max_size=60)}), max_size=3
        ),
    }
)


class Canned:
    """A daemon that answers each method with what is given."""

    def __init__(self, **answers: dict[str, Any]) -> None:
        self.answers = answers

    def of(self, context: object) -> Canned:  # noqa: ARG002
        return self

    def call_raw(self, method: str, params: Mapping[str, Any], progress: object = None) -> dict[str, Any]:  # noqa: ARG002
        return self.answers[method]

    def close(self) -> None: ...


def serving(**answers: dict[str, Any]) -> KbdbServer:
    """A server over canned answers."""
    server = KbdbServer(None, tools="all")
    server._pool = Canned(**answers)  # type: ignore[assignment]
    return server


def _fits(server: KbdbServer, name: str, budget: int, **arguments: Any) -> dict[str, Any]:
    result = server.call_tool(name, {**arguments, "max_tokens": budget}, Quiet())
    form = dict(result["structuredContent"]), str(result["content"][0]["text"])
    assert form_fits(form, budget)
    assert larger_form(result) <= budget
    return form[0]


@settings(max_examples=60)
@given(SEARCHES, BUDGETS)
def test_a_search_fits_and_gets_further(found: dict[str, Any], budget: int) -> None:
    count = len(found["hits"])
    answer = _fits(serving(search=found), "search", budget, query="x")
    assert answer["hits"] or not count
    assert len(answer["hits"]) + answer.get("left_off", {}).get("hits", 0) == count
    if len(answer["hits"]) < count:
        assert answer["next_offset"] == len(answer["hits"])


@settings(max_examples=60)
@given(SEARCHES, CONTENTS, BUDGETS)
def test_texts_that_come_with_a_search_are_whole_or_marked_as_cut(
    found: dict[str, Any], content: str, budget: int
) -> None:
    texts = [{"kbid": hit["kbid"], "content": content, "truncated": False} for hit in found["hits"]]
    answer = _fits(serving(search=found, recall={"results": texts}), "search", budget, query="x", content=True)
    for hit in answer["hits"]:
        assert content.startswith(hit["content"])
        assert hit.get("truncated", False) == (hit["content"] != content)


@settings(max_examples=60)
@given(RECALLS, BUDGETS)
def test_a_recall_fits_and_counts_what_it_leaves_off(found: dict[str, Any], budget: int) -> None:
    found["omitted"] = len(found["omitted_kbids"])
    count, omitted = len(found["results"]), found["omitted"]
    asked = [result["kbid"] for result in found["results"]] or ["0" * 26]
    answer = _fits(serving(recall=found), "recall", budget, kbids=asked)
    assert answer["results"] or not count
    assert len(answer["results"]) + answer["omitted"] == count + omitted
    named = len(answer["omitted_kbids"])
    assert named + answer.get("left_off", {}).get("omitted_kbids", 0) == answer["omitted"]
    assert set(answer["omitted_kbids"]) <= {*asked, *found["omitted_kbids"]}


@settings(max_examples=60)
@given(st.one_of(SECTIONS, DOCUMENTS), BUDGETS)
def test_a_retrieve_fits_and_says_where_to_go_on(view: dict[str, Any], budget: int) -> None:
    content, last = view["content"], view["excerpt"]["next"]
    given_id = {"docid": "d"} if "manifest" in view else {"kbid": "0" * 26}
    answer = _fits(serving(retrieve=view), "retrieve", budget, lines="1-", **given_id)
    assert content.startswith(answer["content"])
    if answer["content"] == content:
        assert answer["next"] == last
    else:
        assert answer["content"]
        assert answer["next"]


@settings(max_examples=40)
@given(LEARNS)
def test_what_a_learn_tells_fits(found: dict[str, Any]) -> None:
    result = serving(learn=found).call_tool("learn", {"content": "x"}, Quiet())
    assert larger_form(result) <= 4000


@given(st.text("ab. \n\r中。", max_size=80), st.integers(1, 30), st.integers(1, 9), st.integers(1, 9))
def test_a_cut_text_goes_on_where_it_was_cut(text: str, most: int, line: int, column: int) -> None:
    end = cut_at(text, most)
    assert end > 0 or not text
    shown = text[:end]
    going_on = after(shown, LineRange(line, column))
    lines = shown.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert going_on == LineRange(line + len(lines) - 1, len(lines[-1]) + (column if len(lines) == 1 else 1))


def test_a_text_is_cut_after_a_sentence_where_one_ends_in_its_second_half() -> None:
    text = "One two three. Four five six. Seven eight"
    assert text[: cut_at(text, estimate("One two three. Four five six. Seven"))].endswith("six. ")
    assert cut_at("苹果在地窖里。" * 10, 30) % 7 == 0


@pytest.mark.parametrize("budget", [LEAST_TOKENS - 1, MOST_TOKENS + 1])
def test_a_budget_has_bounds(budget: int) -> None:
    result = serving().call_tool("search", {"query": "x", "max_tokens": budget}, Quiet())
    assert result["isError"]
    assert f"from {LEAST_TOKENS} to {MOST_TOKENS}" in result["content"][0]["text"]
