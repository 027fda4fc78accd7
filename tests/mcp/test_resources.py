"""Resources and completions over a real daemon."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from mcp_calls import Quiet

from kbdb.client import Client
from kbdb.mcp import resources
from kbdb.mcp.registry import InvalidParamsError, ResourceNotFoundError
from kbdb.mcp.server import KbdbServer
from kbdb.model.skill import SkillArgument


def listed(server: KbdbServer) -> list[str]:
    """The URIs of all pages."""
    found, cursor = [], None
    while True:
        page = server.resources(cursor)
        found += [resource["uri"] for resource in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return found


def complete(server: KbdbServer, argument: str, typed: str, prompt: str | None = None) -> list[str]:
    """The values of a completion."""
    ref = {"type": "ref/resource", "uri": "kbdb://x"} if prompt is None else {"type": "ref/prompt", "name": prompt}
    return list(server.complete(ref, argument, typed, {})["values"])  # type: ignore[arg-type]


def test_live_documents_are_listed_and_read_byte_for_byte(server: KbdbServer, guide: str, kb: Client) -> None:
    (resource,) = server.resources(None).items
    assert resource == {
        "uri": f"kbdb://document/{guide}",
        "name": guide,
        "title": "Orchard guide",
        "mimeType": "text/markdown",
        "description": kb.list().items[0].source,
    }
    (contents,) = server.read_resource(resource["uri"], Quiet())["contents"]
    assert contents["text"].encode() == kb.content(docid=guide)
    assert (contents["uri"], contents["mimeType"]) == (resource["uri"], "text/markdown")


def test_a_section_is_read_by_its_template(server: KbdbServer, guide: str, kb: Client) -> None:
    kbid = kb.search("juice").hits[0].kbid
    (contents,) = server.read_resource(f"kbdb://section/{kbid}", Quiet())["contents"]
    assert contents["text"] == "## Pressing\n\nPress the apples within a day, then boil the juice."
    assert guide


def test_what_is_no_text_comes_in_base64(server: KbdbServer, kb: Client, tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(b"\x89PNG\xff")
    docid = kb.learn([tmp_path / "p.png"]).documents[0].docid
    (contents,) = server.read_resource(f"kbdb://document/{docid}", Quiet())["contents"]
    assert (contents["mimeType"], base64.b64decode(contents["blob"])) == ("image/png", b"\x89PNG\xff")


@pytest.mark.parametrize(
    "uri",
    ["kbdb://section/" + "0" * 26, "kbdb://document/none", "kbdb://section/?", "kbdb://other/x", "file:///etc/x", ""],
)
def test_what_is_not_there_is_said_to_be_missing(server: KbdbServer, uri: str) -> None:
    with pytest.raises(ResourceNotFoundError):
        server.read_resource(uri, Quiet())


def test_pages_survive_what_changes_between_them(
    server: KbdbServer, kb: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(7):
        kb.learn(content=f"text {n}", title=f"T {n}", docid=f"d{n}")
    monkeypatch.setattr(resources, "PAGE", 3)
    assert listed(server) == [f"kbdb://document/d{n}" for n in range(7)]
    first = server.resources(None)
    kb.unlearn(docid="d2")
    kb.learn(content="early", title="A", docid="a")
    kb.learn(content="late", title="Z", docid="d25")
    second = server.resources(first.next_cursor)
    assert [resource["name"] for resource in second.items] == ["d25", "d3", "d4"]


@pytest.mark.parametrize("cursor", ["", "x", "YWZ0ZXI6", "ÿ", "YWZ0ZXI6Li4v", "\ud800"])
def test_a_cursor_of_somebody_elses_is_refused(server: KbdbServer, cursor: str) -> None:
    with pytest.raises(InvalidParamsError):
        server.resources(cursor)


def test_templates_name_what_they_take(server: KbdbServer) -> None:
    assert [template["uriTemplate"] for template in server.resource_templates()] == [
        "kbdb://section/{kbid}",
        "kbdb://document/{docid}",
    ]


def test_ids_tags_and_uris_are_completed(server: KbdbServer, guide: str, kb: Client) -> None:
    kbid = kb.search("juice").hits[0].kbid
    assert complete(server, "docid", guide[:3]) == [guide]
    assert complete(server, "kbid", kbid[:10]) == [kbid]
    assert complete(server, "tag", "f") == ["fruit"]
    assert complete(server, "uri", "kbdb://") == ["kbdb://document/", "kbdb://section/"]
    assert complete(server, "uri", "kbdb://document/" + guide[:4]) == [f"kbdb://document/{guide}"]
    assert complete(server, "colour", "r") == []


def test_a_completion_has_100_values_at_most_and_says_that_there_are_more(server: KbdbServer, kb: Client) -> None:
    text = "".join(f"# Part {n}\n\ntext {n}\n\n" for n in range(101))
    kb.learn(content=text, title="Parts", type="text/markdown")
    found = server.complete({"type": "ref/resource", "uri": "kbdb://section/{kbid}"}, "kbid", "", {})
    assert (len(found["values"]), found["hasMore"], "total" in found) == (100, True, False)
    some = server.complete({"type": "ref/resource", "uri": "x"}, "kbid", found["values"][0], {})
    assert some == {"values": found["values"][:1], "hasMore": False, "total": 1}


def test_prompts_are_listed_got_and_completed(server: KbdbServer, kb: Client) -> None:
    kb.add_skill("review-code", "Review {{file}} with care.", description="How we review")
    names = [prompt["name"] for prompt in server.prompts(None).items]
    assert names == ["memory-protocol", "review-code"]
    got = server.get_prompt("review-code", {"file": "a.py"}, Quiet())
    assert "Review a.py with care." in got["messages"][0]["content"]["text"]
    assert complete(server, "name", "rev", prompt="") == ["review-code"]
    with pytest.raises(InvalidParamsError):
        server.get_prompt("none", {}, Quiet())


def test_an_argument_of_a_prompt_is_completed_as_its_own_whatever_it_is_called(
    server: KbdbServer, kb: Client, guide: str
) -> None:
    kb.add_skill("tagger", "Use {{tag}} {{docid}}.", arguments=[SkillArgument("tag", "boolean")])
    assert complete(server, "tag", "f", prompt="tagger") == ["false"]
    assert complete(server, "docid", guide[:3], prompt="tagger") == []
