"""Human output drawn from model values: what is shown, that it fits, and that nothing hostile gets through."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.cli.render.admin import draw_check, draw_gc, draw_rebuilt, draw_status
from kbdb.cli.render.group import draw_grouped, draw_ungrouped
from kbdb.cli.render.learn import draw_learned, draw_restored, draw_unlearned
from kbdb.cli.render.paper import Paper, cells, counted, milliseconds, size
from kbdb.cli.render.read import draw_list, draw_recall
from kbdb.cli.render.search import draw_search, draw_similar, marked_text
from kbdb.cli.render.table import Column, columns
from kbdb.model.change import GroupResult, Receipt, RemoveSectionResult, RestoreResult
from kbdb.model.learn import AddSectionResult, LearnedDocument, NearDuplicate, Suppressed
from kbdb.model.read import (
    ListItem,
    ListResult,
    Metadata,
    RecallResult,
    RecallResults,
    Reference,
    SectionRef,
)
from kbdb.model.search import ExplainShare, LegRank, PagedSearchResult, SearchHit, Unreadable
from kbdb.model.similar import SimilarHit, SimilarResult
from kbdb.model.to_json import as_json
from kbdb.model.truth import State
from kbdb.model.upkeep import (
    CheckFault,
    CheckResult,
    DbStatus,
    DuplicatePair,
    DuplicateReport,
    DuplicateSection,
    EngineStatus,
    GcResult,
    IndexStatus,
    RebuildResult,
)
from kbdb.query.snippet import MARKS

PLAIN = Paper()
KBID = "01arz3ndektsv4rrffq69g5fa0"
OTHER = "11arz3ndektsv4rrffq69g5fa0"

HIT = SearchHit(
    kbid=KBID,
    docid="guide-abc",
    title="Pressing",
    heading_path=("Orchard", "Apples"),
    level=2,
    line=12,
    line_end=15,
    source="docs/guide.md",
    score=3.41159,
    snippet="then **boil** the juice",
    matched_terms=("boil",),
    tags=("fruit",),
    section_type="default",
)
ANSWER = PagedSearchResult(
    query="boil",
    search_mode="lexical",
    retrieval_method="lexical",
    match="all",
    verdict="answered",
    generation=7,
    total=3,
    total_is_exact=True,
    hidden=0,
    offset=0,
    limit=10,
    engine_ms=0.125,
    elapsed_ms=12.0,
    warnings=(),
    unreadable=(),
    hits=(HIT,),
)
LEARNED = AddSectionResult(
    kbids=(KBID,),
    generation=2,
    documents=(LearnedDocument("guide-abc", "guide.md", "added", 3, (KBID,)),),
    sections_added=3,
    sections_reused=0,
    sections_retired=0,
    near_duplicates=(),
    suppressed=(),
    vector_embedding_failed=False,
    elapsed_ms=4.0,
)
STATUS = DbStatus(
    database="abc",
    path="/home/x/.kbdb",
    generation=1234,
    sections=3,
    documents=1,
    states={"active": 2, "forgotten": 1, "erased": 0},
    index=IndexStatus(1500, 20, 30, 40, None, 1, stale=False),
    engine=EngineStatus("c", 2_000_000),
    journal_bytes=0,
)


def test_a_hit_shows_rank_title_place_score_snippet_and_kbid() -> None:
    lines = draw_search(ANSWER, PLAIN).splitlines()
    assert lines[0] == " 1  Pressing  3.412"
    assert lines[1] == "    docs/guide.md:12 > Orchard > Apples"
    assert lines[2] == "    then **boil** the juice"
    assert lines[3] == f"    {KBID} #fruit"
    assert lines[5] == "1-1 of 3, the best fits all words (lexical, 0.12 ms engine, 12 ms in all)"


def test_a_hit_by_meaning_shows_what_its_score_is_made_of() -> None:
    legs = (LegRank("lexical", 12, 1.5), LegRank("vector", 1, 0.625))
    hit = replace(HIT, score=0.030282, legs=legs, explain=())
    asked = replace(ANSWER, search_mode="hybrid", retrieval_method="hybrid", match="none", hits=(hit,))
    lines = draw_search(asked, PLAIN).splitlines()
    assert lines[0] == " 1  Pressing  0.0303"
    assert lines[3:6] == [
        "    1.500000  by words, rank 12",
        "    0.625000  cosine, rank 1",
        "    0.030282  score, of both ranks",
    ]
    assert lines[-1] == "1-1 of 3, found by meaning (hybrid, 0.12 ms engine, 12 ms in all)"
    alone = replace(asked, retrieval_method="vector", verdict="unanswered", hits=(replace(hit, legs=None),))
    assert "0.030282  cosine\n" in draw_search(alone, PLAIN)
    assert "found by meaning, and none is near (vector instead of hybrid" in draw_search(alone, PLAIN)


def test_an_answer_by_words_alone_says_so_where_another_was_asked_for() -> None:
    answer = replace(ANSWER, search_mode="vector", warnings=("searched by words alone: it is late",))
    lines = draw_search(answer, PLAIN).splitlines()
    assert lines[0] == "note: searched by words alone: it is late"
    assert lines[-1].endswith("(lexical instead of vector, 0.12 ms engine, 12 ms in all)")


def test_what_is_near_to_a_section_is_drawn_like_hits() -> None:
    hit = SimilarHit(OTHER, "guide-abc", "Juice", ("Orchard",), 3, 4, "docs/guide.md", 0.8125, ("fruit",), "default")
    fault = Unreadable(KBID, "/x", "damaged")
    result = SimilarResult(KBID, "Pressing", 7, 10, 0.5, 2.0, ("1 section waits",), (fault,), (hit,))
    assert draw_similar(result, PLAIN).splitlines() == [
        "note: 1 section waits",
        "",
        " 1  Juice  0.812",
        "    docs/guide.md:3 > Orchard",
        f"    {OTHER} #fruit",
        "",
        f"unreadable: {KBID}  damaged",
        "1 section nearest in meaning to Pressing (0.50 ms engine, 2.00 ms in all)",
    ]
    assert draw_similar(replace(result, title="", warnings=(), unreadable=(), hits=()), PLAIN) == (
        f"Nothing near to {KBID} (0.50 ms engine, 2.00 ms in all)\n"
    )


def test_near_duplicates_are_told_in_pairs_and_counted() -> None:
    first = DuplicateSection(KBID, "guide-abc", "Pressing", "docs/guide.md", 12)
    second = DuplicateSection(OTHER, "juice-abc", "", "", 1)
    report = DuplicateReport(0.95, 2000, 3, 1500, False, (DuplicatePair(0.98765, first, second),))
    checked = CheckResult(True, (), (), 2003, 5, 1.0, report)
    assert draw_check(checked, PLAIN).splitlines() == [
        f"0.9877  Pressing    {KBID}  docs/guide.md:12",
        f"        (untitled)  {OTHER}  juice-abc:1",
        "near duplicates: 1,500 or more pairs among 2,000 sections (cosine 0.95 or more), the nearest 1 shown; "
        "3 without a vector not compared",
        "ok: 2,003 sections in 5 documents checked in 1.00 ms",
    ]
    nothing = DuplicateReport(0.95, 0, 7, 0, True, ())
    assert "no section has a vector" in draw_check(replace(checked, duplicates=nothing), PLAIN)
    one = DuplicateReport(0.9, 2, 0, 1, True, report.pairs)
    assert "near duplicates: 1 pair among 2 sections (cosine 0.9 or more)\n" in draw_check(
        replace(checked, duplicates=one), PLAIN
    )


def test_ranks_go_on_over_pages() -> None:
    assert draw_search(replace(ANSWER, offset=9, total=10), PLAIN).startswith("10  Pressing")


def test_colour_takes_the_place_of_marks() -> None:
    assert MARKS == ("**", "**")
    (line,) = marked_text("then **boil** the **juice**", 0, Paper(80, colour=True))
    assert line == "then \x1b[1;33mboil\x1b[0m the \x1b[1;33mjuice\x1b[0m"


def test_a_mark_may_reach_over_a_line_end() -> None:
    lines = list(marked_text("aaaa bbbb **cccc dddd eeee** ffff", 10, Paper(30, colour=True)))
    assert [line.strip() for line in lines] == [
        "aaaa bbbb \x1b[1;33mcccc dddd\x1b[0m",
        "\x1b[1;33meeee\x1b[0m ffff",
    ]


def test_warnings_unreadable_and_held_back_sections_are_told() -> None:
    answer = replace(
        ANSWER,
        warnings=("no section has foo; tried food",),
        unreadable=(Unreadable(OTHER, "sections/11/x.sec", "checksum is wrong"),),
        hidden=2,
        total=1000,
        total_is_exact=False,
    )
    text = draw_search(answer, PLAIN)
    assert text.startswith("note: no section has foo; tried food\n")
    assert f"unreadable: {OTHER}  checksum is wrong" in text
    assert "of 1,000 or more" in text
    assert "2 held back" in text


def test_nothing_found_and_a_page_past_the_end_differ() -> None:
    nothing = replace(ANSWER, hits=(), total=0, match="none", verdict="unanswered")
    assert draw_search(nothing, PLAIN).startswith("Nothing found")
    assert draw_search(replace(ANSWER, hits=(), offset=10), PLAIN).startswith("No more: 3 sections found")


def test_a_page_of_unreadable_hits_is_not_the_end() -> None:
    answer = replace(ANSWER, hits=(), total=1, unreadable=(Unreadable(OTHER, "sections/11/x.sec", "damaged"),))
    assert "1 section found, but none of this page can be read" in draw_search(answer, PLAIN)
    assert "more" not in draw_search(answer, PLAIN)


def test_hits_of_a_query_that_only_excludes_are_no_answer() -> None:
    text = draw_search(replace(ANSWER, match="none", verdict="unanswered"), PLAIN)
    assert "1-1 of 3, listed for what they do not have (" in text


def test_each_tag_is_told_from_the_next() -> None:
    tags = ("c", "a b", "b")
    assert f'{KBID} #c #"a b" #b\n' in draw_search(replace(ANSWER, hits=(replace(HIT, tags=tags),)), PLAIN)
    item = ListItem("guide-abc", "", "Guide", "text/markdown", "default", "live", "guide.md", tags, 3, "2026-01-02")
    listed = ListResult((item,), 1, 0, 50)
    assert "c, a b, b" in draw_list(listed, PLAIN)


def test_only_the_same_words_are_told_to_be_the_same() -> None:
    def told(jaccard: float) -> str:
        return draw_learned(replace(LEARNED, near_duplicates=(NearDuplicate(KBID, OTHER, "Twin", jaccard),)), PLAIN)

    assert f"near duplicate: {KBID} is 99% like {OTHER} (Twin)" in told(0.9999)
    assert f"near duplicate: {KBID} has the same words as {OTHER} (Twin)" in told(1.0)


def test_an_explanation_lists_shares_and_score() -> None:
    share = ExplainShare("boil", "boil", 3.41159, 1.0, 5.2, 0.65, {"title": 0, "body": 2})
    text = draw_search(replace(ANSWER, hits=(replace(HIT, explain=(share,)),)), PLAIN)
    assert "3.411590  boil  boil  1       5.2000  0.6500      body:2" in text
    assert "3.411590  score" in text


def test_content_takes_the_snippets_place() -> None:
    text = draw_search(replace(ANSWER, hits=(replace(HIT, content="# Pressing\n\n\tboil\n"),)), PLAIN)
    assert "    # Pressing\n    \n    \tboil\n" in text
    assert "then" not in text


def test_json_has_content_and_explain_only_on_request() -> None:
    (hit,) = as_json(ANSWER)["hits"]
    assert not {"content", "explain"} & set(hit)
    (hit,) = as_json(replace(ANSWER, hits=(replace(HIT, content="", explain=()),)))["hits"]
    assert (hit["content"], hit["explain"]) == ("", [])


def test_one_learned_document_is_named() -> None:
    assert draw_learned(LEARNED, PLAIN).splitlines() == [
        "added guide-abc (3 sections)",
        "sections: 3 added, 0 reused, 0 retired; 4.00 ms",
    ]


def test_a_learned_folder_is_counted_and_everything_odd_is_told() -> None:
    bad = LearnedDocument("", "b.md", "failed", 0, (), {"code": "NOT_UTF8", "message": "byte 3", "hint": "convert it"})
    result = replace(
        LEARNED,
        documents=(*LEARNED.documents, LearnedDocument("c", "c.md", "unchanged", 1, ()), bad),
        near_duplicates=(NearDuplicate(KBID, OTHER, "Twin", 0.9),),
        suppressed=(
            Suppressed(KBID, "Old", "forgotten", "2026-01-02T03:04:05Z", "was wrong", f"kbdb restore {KBID}"),
            Suppressed("", "Secret", "forgotten", "2026-01-02T03:04:05Z", "", "kbdb restore secret-abc"),
        ),
        missing=("gone-1", "gone-2"),
        pruned=("gone-2",),
        superseded=(OTHER,),
        warnings=("links leave the folder",),
    )
    text = draw_learned(result, PLAIN)
    assert text.startswith("3 documents: 1 added, 1 unchanged, 1 failed\n")
    for line in (
        "failed: b.md: byte 3",
        "  hint: convert it",
        f"held back: Old (forgotten on 2026-01-02, was wrong): kbdb restore {KBID} brings it back",
        "held back: Secret (forgotten on 2026-01-02): kbdb restore secret-abc brings it back",
        f"near duplicate: {KBID} is 90% like {OTHER} (Twin)",
        f"superseded: {OTHER}",
        "source is gone: gone-1",
        "retired: gone-2",
        "note: links leave the folder",
    ):
        assert f"{line}\n" in text


def test_long_lists_of_remarks_are_cut_and_say_so() -> None:
    text = draw_learned(replace(LEARNED, missing=tuple(f"gone-{n}" for n in range(25))), PLAIN)
    assert text.count("source is gone: gone-") == 10
    assert "source is gone: 15 more; --json lists all" in text


def test_an_interruption_comes_first() -> None:
    assert draw_learned(replace(LEARNED, interrupted=True), PLAIN).startswith("interrupted:")
    stopped = replace(LEARNED, interrupted=True, interrupted_by="DAEMON_STOPPED")
    assert draw_learned(stopped, PLAIN).startswith("interrupted: the daemon was stopped")


def test_an_unlearning_says_how_to_take_it_back() -> None:
    receipt = Receipt("e1", (KBID,), "guide-abc", ("other-doc",), "kbdb restore guide-abc")
    text = draw_unlearned(RemoveSectionResult(True, 1.0, 3, receipt), PLAIN)
    assert text.splitlines() == [
        "unlearned guide-abc (1 section)",
        "note: also listed by: other-doc",
        "take it back with: kbdb restore guide-abc",
    ]
    assert draw_unlearned(RemoveSectionResult(False, 1.0, 3, receipt), PLAIN).startswith("already unlearned")


def test_a_restoring_says_what_is_back() -> None:
    assert draw_restored(RestoreResult((KBID,), "", 4), PLAIN) == f"restored {KBID}\n"
    assert draw_restored(RestoreResult((KBID, OTHER), "guide", 4), PLAIN) == "restored guide (2 sections)\n"
    assert draw_restored(RestoreResult((), "", 4), PLAIN).startswith("nothing to restore")


def test_a_grouping_says_where_what_it_does_not_list_is() -> None:
    result = GroupResult("sea", "Sea", (KBID, OTHER), ("tides-abc",), 5, ("one thing more",))
    rest = ["now a document of its own: tides-abc", "note: one thing more"]
    assert draw_grouped(result, PLAIN).splitlines() == ["grouped sea (2 sections)", *rest]
    assert draw_ungrouped(result, PLAIN).splitlines() == ["ungrouped sea (2 sections)", *rest]


def test_status_is_a_table() -> None:
    text = draw_status(replace(STATUS, warnings=("one section is damaged",)), PLAIN)
    rows = dict(line.split(maxsplit=1) for line in text.splitlines() if not line.startswith("note"))
    assert rows["generation"] == "1,234"
    assert rows["sections"] == "3 (2 active, 1 forgotten)"
    assert rows["terms.idx"] == "1.5 kB"
    assert "vectors.idx" not in rows
    assert rows["engine"] == "c, 2.0 MB of memory"
    assert text.endswith("note: one section is damaged\n")
    assert "stale" in draw_status(replace(STATUS, index=replace(STATUS.index, stale=True)), PLAIN)


def test_check_names_each_fault_and_the_remedy() -> None:
    fault = CheckFault("SECTION_DAMAGED", "sections/01/x.sec", KBID, "hash differs", "restore it from a backup")
    text = draw_check(CheckResult(False, (fault,), (), 3, 1, 5.0), PLAIN)
    assert text.splitlines() == [
        "error SECTION_DAMAGED: hash differs",
        f"  at:   sections/01/x.sec ({KBID})",
        "  hint: restore it from a backup",
        "1 error: 3 sections in 1 document checked in 5.00 ms",
    ]
    assert draw_check(CheckResult(True, (), (), 3, 1, 5.0), PLAIN).startswith("ok: 3 sections")


def test_gc_says_would_on_a_dry_run() -> None:
    assert draw_gc(GcResult(1, 999, (KBID,), True, 1.0), PLAIN).startswith("would remove 1 section, 999 B\n")
    assert draw_gc(GcResult(0, 0, (), False, 1.0), PLAIN) == "removed 0 sections, 0 B\n"


def item(**changes: Any) -> ListItem:
    """A document in a list."""
    values: dict[str, Any] = {
        "docid": "guide-abc",
        "kbid": "",
        "title": "Guide",
        "type": "text/markdown",
        "section_type": "default",
        "state": "live",
        "source": "guide.md",
        "tags": ("a", "b"),
        "sections": 3,
        "updated": "2026-01-02T03:04:05Z",
    }
    return ListItem(**values | changes)


def test_a_list_is_aligned_and_ends_with_its_place_in_the_whole() -> None:
    result = ListResult((item(), item(docid="x", title="水の本")), 12, 5, 2)
    first, second, third, last = draw_list(result, PLAIN).splitlines()
    place = first.index("SOURCE")
    assert second.index("guide.md") == place
    assert cells(third[: third.index("guide.md")]) == place
    assert last == "6-7 of 12"


def test_what_a_list_or_an_index_leaves_out_is_noted() -> None:
    told = ("documents/b.toml: line 1: not TOML",)
    assert draw_list(ListResult((item(),), 1, 0, 50, told), PLAIN).splitlines()[-2] == f"note: {told[0]}"
    assert draw_list(ListResult((), 0, 0, 50, told), PLAIN) == f"note: {told[0]}\nnothing listed\n"
    assert draw_rebuilt(RebuildResult(3, 0, 1.0, told), PLAIN).splitlines()[-1] == f"note: {told[0]}"


def test_a_list_of_sections_starts_with_kbids() -> None:
    assert draw_list(ListResult((item(kbid=KBID),), 1, 0, 50), PLAIN).splitlines()[1].startswith(KBID)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
def test_a_list_is_cut_to_the_width_and_keeps_its_ids(width: int) -> None:
    long = item(title="水" * 60, source="a/b/" * 20, tags=("x" * 30,))
    table = draw_list(ListResult((long,), 1, 0, 50), Paper(width)).splitlines()
    assert all(cells(line) <= width for line in table)
    assert table[1].startswith("guide-abc  ")
    assert "…" in table[1]


def test_a_narrow_list_leaves_out_what_matters_least() -> None:
    head = draw_list(ListResult((item(),), 1, 0, 50), Paper(40)).splitlines()[0]
    assert head.split() == ["DOCID", "TITLE", "SOURCE", "STATE"]


def test_recall_shows_text_and_surroundings() -> None:
    result = RecallResult(
        kbid=KBID,
        title="Pressing",
        content="Press.\n",
        level=2,
        parent="",
        metadata=Metadata("text/markdown", "default", State.ACTIVE, ("fruit",), "", "", ""),
        references=(Reference("doc:cellar", "", "", ""),),
        back_references=(SectionRef(OTHER, "Apples", "guide-abc"),),
        documents=("guide-abc",),
        siblings=(),
    )
    text = draw_recall(RecallResults((result,), 2, ("zz",), (KBID, OTHER)), PLAIN)
    assert text.startswith(f"Pressing\n{KBID} active text/markdown #fruit\n\nPress.\n\n")
    assert "links to     doc:cellar  (not stored)" in text
    assert f"linked from  Apples      {OTHER}" in text
    assert f"2 sections left out, as this would be too long; recall {KBID} {OTHER}" in text
    assert "unknown: zz" in text
    assert "replaced by" not in text
    assert "not shown" not in text
    stale = replace(result, successor=OTHER, left_off={"back_references": 1200})
    text = draw_recall(RecallResults((stale,)), PLAIN)
    assert f"\nreplaced by: {OTHER}\n" in text
    assert text.rstrip().endswith("[not shown: 1,200 back references]")


def test_numbers_for_people() -> None:
    assert [counted(1, "section"), counted(2000, "section"), counted(0, "entry", "entries")] == [
        "1 section",
        "2,000 sections",
        "0 entries",
    ]
    assert [size(0), size(999), size(1000), size(12_345_678), size(10**15)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "12.3 MB",
        "1000.0 TB",
    ]
    assert [milliseconds(0.123), milliseconds(12.3), milliseconds(2500)] == ["0.12 ms", "12 ms", "2.5 s"]


def test_paper_without_a_terminal_is_endless_and_colourless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert Paper.for_stream(io.StringIO()) == Paper(None, colour=False)
    monkeypatch.setenv("COLUMNS", "50")
    assert Paper.for_stream(io.StringIO()) == Paper(50, colour=False)


_text = st.text(st.sampled_from("ab \t\n*水火ñ\u0301\U0001f34e\x1b\x00\x9b\u202e\u2028\udcff"), max_size=200)


@given(_text, st.integers(20, 120), st.booleans())
def test_any_text_is_set_within_the_width_and_loses_nothing(text: str, width: int, colour: bool) -> None:
    lines = list(marked_text(text, 4, Paper(width, colour)))
    bare = [line.replace("\x1b[1;33m", "").replace("\x1b[0m", "") for line in lines]
    assert all(cells(line) <= width for line in bare)
    assert not {"\x1b", "\x00", "\x9b", "\u202e", "\u2028"} & set("".join(bare))
    kept = "".join("".join(bare).split()).replace("*", "")
    assert kept == "".join(PLAIN.plain(text).split()).replace("*", "")


@given(_text, st.integers(0, 60))
def test_any_text_is_cut_to_the_width(text: str, width: int) -> None:
    assert cells(PLAIN.cut(text, width)) <= max(width, 1)


@given(st.lists(st.tuples(_text, _text, _text), min_size=1, max_size=5), st.integers(40, 100))
def test_columns_fit_when_they_may_shrink(rows: list[tuple[str, str, str]], width: int) -> None:
    assert all(cells(line) <= width for line in columns(Paper(width), rows, [Column(cut=True)] * 3))
