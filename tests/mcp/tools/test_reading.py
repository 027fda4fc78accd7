"""search, recall, retrieve and status over a real daemon: what they give, how much, and where to go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp_calls import Quiet, call, error, text_of

from kbdb.client import Client
from kbdb.mcp.server import KbdbServer

SENTENCE = "The cellar at number {} keeps its apples cool and dry until the spring comes round again. "


def _shown(server: KbdbServer, name: str, **arguments: Any) -> str:
    """The text of a call's answer."""
    return text_of(server.call_tool(name, arguments, Quiet()))


@pytest.fixture
def many(kb: Client, tmp_path: Path) -> Client:
    """Sixty sections of some length, in one document."""
    sections = (f"# Cellar {n}\n\n{SENTENCE.format(n) * 12}\n\n" for n in range(60))
    path = tmp_path / "cellars.md"
    path.write_text("".join(sections), encoding="utf-8")
    kb.learn([path], tags=["cellar"])
    return kb


def test_a_search_gives_hits_that_recall_takes(server: KbdbServer, guide: str) -> None:
    found = call(server, "search", query="boil the juice")
    assert (found["verdict"], found["total"], found["next_offset"]) == ("answered", 1, None)
    (hit,) = found["hits"]
    assert (hit["title"], hit["docid"], hit["heading_path"]) == ("Pressing", guide, ["Apples"])
    (result,) = call(server, "recall", kbid=hit["kbid"])["results"]
    assert result["content"] == "## Pressing\n\nPress the apples within a day, then boil the juice."
    assert result["metadata"]["tags"] == ["cellar", "fruit"]


def test_a_search_takes_the_filters_of_the_command_line(server: KbdbServer, guide: str, kb: Client) -> None:
    kb.learn(content="Apples, pressed by hand.", title="Press", section_type="skill", tags=["x"])
    assert [hit["title"] for hit in call(server, "search", query="apples", type="skill")["hits"]] == ["Press"]
    assert {hit["docid"] for hit in call(server, "search", query="apples", docid=guide)["hits"]} == {guide}
    assert call(server, "search", query="apples", tags=["fruit", "x"])["hits"] == []
    assert len(call(server, "search", query="apples", type="text/markdown", tags=["fruit"])["hits"]) == 2


def test_pages_of_a_search_follow_each_other_without_gap_or_double(server: KbdbServer, many: Client) -> None:
    expected = [hit.kbid for hit in many.search("cellar", limit=60).hits]
    found, offset = [], 0
    while offset is not None:
        page = call(server, "search", query="cellar", limit=50, offset=offset, max_tokens=1500)
        assert page["hits"]
        found += [hit["kbid"] for hit in page["hits"]]
        assert page["left_off"]["hits"] == min(50, 60 - offset) - len(page["hits"]) if "left_off" in page else True
        offset = page["next_offset"]
    assert expected == found


@pytest.mark.usefixtures("many")
def test_whole_texts_come_with_a_search_as_far_as_they_fit(server: KbdbServer) -> None:
    page = call(server, "search", query="cellar", content=True)
    assert 0 < len(page["hits"]) < 10
    assert page["left_off"]["hits"] == 10 - len(page["hits"])
    assert page["next_offset"] == len(page["hits"])
    assert all(hit["content"].endswith("round again.") for hit in page["hits"])


def test_a_search_without_hits_says_so(server: KbdbServer) -> None:
    found = call(server, "search", query="zzyzx")
    assert (found["hits"], found["verdict"], found["next_offset"]) == ([], "unanswered", None)


@pytest.mark.usefixtures("guide")
def test_a_search_for_a_type_that_nothing_has_says_which_there_are(server: KbdbServer) -> None:
    found = call(server, "search", query="apples", type="bogus")
    assert (found["hits"], found["verdict"]) == ([], "unanswered")
    assert found["warnings"] == [
        "type:bogus: no live section has it; types are text/markdown, section types are default"
    ]
    assert f"warning: {found['warnings'][0]}" in _shown(server, "search", query="apples", type="bogus")


def test_a_path_in_the_place_of_a_docid_is_told_the_docid(server: KbdbServer, guide: str, tmp_path: Path) -> None:
    told = error(server, "retrieve", docid=str(tmp_path / "guide.md"))
    assert (told["code"], f"learned as {guide}" in told["hint"]) == ("INVALID_ID", True)


def test_a_recall_names_what_it_left_off(server: KbdbServer, many: Client) -> None:
    kbids = [hit.kbid for hit in many.search("cellar", limit=30).hits]
    found, left = [], kbids
    while left:
        page = call(server, "recall", kbids=left, max_tokens=3000, format="compact")
        found += [result["kbid"] for result in page["results"]]
        assert len(left) == len(page["results"]) + page["omitted"]
        left = left[len(page["results"]) :]
        assert page["omitted_kbids"] == left[: len(page["omitted_kbids"])]
    assert kbids == found


def test_a_section_too_long_is_cut_after_a_sentence_and_goes_on_in_retrieve(server: KbdbServer, kb: Client) -> None:
    text = "".join(SENTENCE.format(n) for n in range(100))
    (kbid,) = kb.learn(content=text.strip(), title="Long").kbids
    (result,) = call(server, "recall", kbid=kbid, max_tokens=1000)["results"]
    assert result["truncated"]
    assert result["content"].endswith("round again. ")
    whole, lines = result["content"], result["next_lines"]
    while lines:
        piece = call(server, "retrieve", kbid=kbid, lines=lines, max_tokens=1000)
        whole += piece["content"]
        lines = piece["next"]
    assert text.strip() == whole


@pytest.mark.usefixtures("guide")
def test_links_are_followed_as_deep_as_asked(server: KbdbServer) -> None:
    apples = next(hit for hit in call(server, "search", query="apples")["hits"] if hit["title"] == "Apples")
    assert [r["title"] for r in call(server, "recall", kbid=apples["kbid"])["results"]] == ["Apples"]
    deep = call(server, "recall", kbid=apples["kbid"], depth=1)["results"]
    assert [result["title"] for result in deep] == ["Apples", "Pears"]
    assert [reference["title"] for reference in deep[0]["references"]] == ["Pears"]


def test_what_is_not_stored_is_named(server: KbdbServer) -> None:
    assert call(server, "recall", kbids=["0" * 26])["missing"] == ["0" * 26]
    assert error(server, "retrieve", kbid="0" * 26)["code"] == "SECTION_NOT_FOUND"
    assert error(server, "retrieve", docid="nothing")["code"] == "DOCUMENT_NOT_FOUND"
    assert error(server, "recall", kbid="?")["code"] == "INVALID_ID"


def test_a_document_is_read_line_by_line_byte_for_byte(server: KbdbServer, many: Client, tmp_path: Path) -> None:
    docid = many.list().items[0].docid
    source = (tmp_path / "cellars.md").read_text(encoding="utf-8")
    whole, lines = "", "1-"
    while lines:
        piece = call(server, "retrieve", docid=docid, lines=lines)
        assert piece["content"]
        whole += piece["content"]
        lines = piece["next"]
    assert source == whole


def test_a_range_of_lines_comes_with_its_sections_alone(server: KbdbServer, guide: str) -> None:
    piece = call(server, "retrieve", docid=guide, lines="11-13")
    assert piece["content"] == "## Pressing\n\nPress the apples within a day, then boil the juice.\n"
    assert (piece["first_line"], piece["last_line"], piece["total_lines"], piece["next"]) == (11, 13, 17, "14-")
    assert [place["line"] for place in piece["manifest"]["sections"]] == [11]
    assert call(server, "retrieve", docid=guide, lines="14-17")["next"] == ""


def test_a_single_long_line_is_read_to_its_end(server: KbdbServer, kb: Client) -> None:
    text = "中文字" * 4000
    (kbid,) = kb.learn(content=text, title="Line", type="application/json").kbids
    whole, lines = "", "1-"
    while lines:
        piece = call(server, "retrieve", kbid=kbid, lines=lines)
        whole += piece["content"]
        lines = piece["next"]
    assert text == whole


def test_what_is_no_text_points_to_its_resource(server: KbdbServer, kb: Client, tmp_path: Path) -> None:
    path = tmp_path / "p.png"
    path.write_bytes(b"\x89PNG\x00\xff")
    (docid,) = [document.docid for document in kb.learn([path]).documents]
    found = call(server, "retrieve", docid=docid)
    assert (found["content"], found["resource"], found["bytes"]) == (None, f"kbdb://document/{docid}", 6)


@pytest.mark.parametrize("name", ["recall", "retrieve", "unlearn"])
def test_one_id_is_asked_for(server: KbdbServer, name: str) -> None:
    assert "either" in error(server, name)["message"]
    second = {"kbids": ["0" * 26]} if name == "recall" else {"docid": "d"}
    assert "either" in error(server, name, kbid="0" * 26, **second)["message"]


@pytest.mark.usefixtures("guide")
def test_status_tells_which_database_it_is(server: KbdbServer, kb: Client) -> None:
    found = call(server, "status")
    assert (found["sections"], found["documents"], found["path"]) == (3, 1, str(kb.root))


def test_a_mode_without_its_provider_is_explained(server: KbdbServer) -> None:
    assert error(server, "search", query="x", mode="vector")["code"] == "EMBEDDING_PROVIDER_NOT_CONFIGURED"


def test_the_text_of_a_search_reads_well(server: KbdbServer, guide: str) -> None:
    text = text_of(server.call_tool("search", {"query": "pears"}, Quiet()))
    assert "Pears ripen off the tree" in text.replace("**", "")
    assert guide in text


def test_no_kbids_at_all_are_refused_with_what_to_give(server: KbdbServer) -> None:
    refused = error(server, "recall", kbids=[])
    assert refused["code"] == "INVALID_ARGUMENT"
    assert "at least one" in refused["hint"]


def test_names_that_do_not_fit_a_recall_are_counted_with_a_way_to_get_them(
    server: KbdbServer, many: Client, kb: Client
) -> None:
    every = [hit.kbid for hit in many.search("cellar", limit=60).hits]
    links = " ".join(f"$(link:{kbid})" for kbid in every)
    (hub,) = kb.learn(content=f"All of them: {links}", title="Hub").kbids
    page = call(server, "recall", kbid=hub, depth=1, format="compact", max_tokens=1600)
    named, omitted = page["omitted_kbids"], page["omitted"]
    assert omitted == 61 - len(page["results"])
    assert len(named) < omitted
    assert page["left_off"]["omitted_kbids"] == omitted - len(named)
    assert "max_tokens" in page["more"]
    wider = call(server, "recall", kbid=hub, depth=1, format="compact", max_tokens=20_000)
    assert {hub, *every} == {*wider["omitted_kbids"], *(result["kbid"] for result in wider["results"])}
    text = _shown(server, "recall", kbid=hub, depth=1, format="compact", max_tokens=1600)
    assert f"left off: {omitted - len(named)} omitted_kbids" in text
    assert page["more"] in text


def test_a_text_cut_to_fit_a_search_is_marked_in_object_and_text(server: KbdbServer, kb: Client) -> None:
    kb.learn(content="Quinces ripen. " * 110, title="Quinces")
    asked = {"query": "quinces", "content": True, "max_tokens": 500}
    (hit,) = call(server, "search", **asked)["hits"]
    assert hit["truncated"]
    assert 0 < len(hit["content"]) < 15 * 110 - 1
    assert "content (cut; recall has more):" in _shown(server, "search", **asked)


def test_a_superseded_section_is_read_with_what_replaced_it(server: KbdbServer, kb: Client) -> None:
    (old,) = kb.learn(content="It is 80.", title="Port").kbids
    (new,) = kb.learn(content="It is 81.", title="Port", supersedes=[old]).kbids
    (result,) = call(server, "recall", kbid=old)["results"]
    assert (result["successor"], call(server, "retrieve", kbid=old)["successor"]) == (new, new)
    for tool in ("recall", "retrieve"):
        assert f"replaced by: {new}" in _shown(server, tool, kbid=old)
        assert "replaced by" not in _shown(server, tool, kbid=new)


def test_a_table_of_contents_is_recalled_with_the_links_counted(
    server: KbdbServer, many: Client, tmp_path: Path
) -> None:
    page = tmp_path / "contents.md"
    page.write_text("# Contents\n\n" + "".join(f"[{n}](cellars.md#cellar-{n})\n" for n in range(60)), encoding="utf-8")
    (kbid,) = many.learn([page]).kbids
    (result,) = call(server, "recall", kbid=kbid)["results"]
    assert (len(result["references"]), result["left_off"]) == (10, {"references": 50})
