"""learn and unlearn over a real daemon: stored as an agent's, corrected, forgotten, and what is said of it."""

from __future__ import annotations

import pytest
from mcp_calls import call, error

from kbdb.client import Client
from kbdb.mcp.server import KbdbServer


def test_what_is_learned_is_found_and_is_the_agents(server: KbdbServer, kb: Client) -> None:
    learned = call(
        server, "learn", content="We deploy on Tuesdays.", title="Deploys", tags=["ops"], description="when we deploy"
    )
    assert (learned["sections_added"], len(learned["kbids"])) == (1, 1)
    (hit,) = call(server, "search", query="deploy tuesdays")["hits"]
    assert (hit["kbid"], hit["tags"]) == (learned["kbids"][0], ["ops"])
    assert kb.retrieve_document(hit["docid"]).manifest.origin.who == "agent"


def test_a_correction_takes_the_place_of_what_it_corrects(server: KbdbServer) -> None:
    old = call(server, "learn", content="We deploy on Tuesdays.", title="Deploys")["kbids"][0]
    new = call(server, "learn", content="We deploy on Fridays.", title="Deploys", supersedes=[old])
    assert new["superseded"] == [old]
    found = call(server, "search", query="deploy")
    assert ([hit["kbid"] for hit in found["hits"]], found["hidden"]) == (new["kbids"], 1)


def test_a_text_of_the_same_title_is_replaced(server: KbdbServer) -> None:
    old = call(server, "learn", content="One way.", title="Way", docid="way")["kbids"][0]
    assert call(server, "learn", content="Another.", title="Way", docid="way", replace=True)["superseded"] == [old]


def test_a_near_duplicate_is_reported_and_stored(server: KbdbServer) -> None:
    text = "The release goes out after the smoke tests on staging have passed twice in a row, never on a Friday."
    first = call(server, "learn", content=text, title="Release")["kbids"][0]
    (twin,) = call(server, "learn", content=f"{text} Really.", title="Release")["near_duplicates"]
    assert twin["other"] == first


def test_a_skill_is_stored_with_its_partition(server: KbdbServer) -> None:
    call(server, "learn", content="Do it well.", title="doing", section_type="skill")
    assert [hit["title"] for hit in call(server, "search", query="well", type="skill")["hits"]] == ["doing"]


def test_a_skill_under_another_title_is_told_the_name_of_its_prompt(server: KbdbServer) -> None:
    learned = call(server, "learn", content="Do it well.", title="Doing Things!", section_type="skill")
    assert learned["warnings"] == ["the skill 'Doing Things!' is called doing-things"]
    assert "doing-things" in [prompt["name"] for prompt in server.prompts(None).items]


def test_a_text_of_many_sections_names_some_of_them_and_counts_the_rest(server: KbdbServer) -> None:
    text = "".join(f"# Part {n}\n\ntext {n}\n\n" for n in range(400))
    learned = call(server, "learn", content=text, title="Parts", type="text/markdown")
    assert learned["sections_added"] == 400
    assert 0 < len(learned["kbids"]) < 400
    assert len(learned["kbids"]) + learned["left_off"]["kbids"] == 400


def test_what_is_forgotten_is_gone_with_a_receipt(server: KbdbServer) -> None:
    kbid = call(server, "learn", content="A secret.", title="Secret")["kbids"][0]
    gone = call(server, "unlearn", kbid=kbid, reason="asked to")
    assert (gone["removed"], gone["receipt"]["kbids"]) == (True, [kbid])
    assert call(server, "search", query="secret")["hits"] == []
    again = call(server, "learn", content="A secret.", title="Secret")
    assert [one["state"] for one in again["suppressed"]] == ["forgotten"]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("learn", {}, "'content' is missing"),
        ("learn", {"content": 5}, "'content' must be a string, not 5"),
        ("learn", {"content": "x", "tag": ["a"]}, "'tag' is no parameter, 'tags' is"),
        ("learn", {"content": "x", "section_type": "note"}, "must be one of default, skill, agent"),
        ("learn", {"content": "\ud800"}, "lone surrogate"),
        ("unlearn", {"kbid": "x", "force": True}, "'force' is no parameter"),
        ("search", {"query": "x", "limit": 0}, "'limit' must be from 1 to 50"),
        ("search", {"query": "x", "limit": "3"}, "'limit' must be an integer, not \"3\""),
        ("search", {"query": "x", "content": 1}, "'content' must be true or false"),
        ("search", {"query": "x", "tags": [1]}, "array of strings"),
        ("search", {"qeury": "x", "limits": 1}, "'qeury' is no parameter, 'query' is"),
    ],
)
def test_bad_arguments_are_named_with_what_would_be_right(
    server: KbdbServer, name: str, arguments: dict[str, object], expected: str
) -> None:
    told = error(server, name, **arguments)
    assert told["code"] == "INVALID_ARGUMENT"
    assert expected in told["message"]
    assert "it takes: " in told["hint"]


def test_null_stands_for_what_is_not_given(server: KbdbServer) -> None:
    assert call(server, "search", query="x", limit=None, tags=None)["limit"] == 10
