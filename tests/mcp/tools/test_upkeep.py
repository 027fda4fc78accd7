"""check, gc, rebuild and export over a real daemon: what they give, how far they are, and how they are ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp_calls import Quiet, call, error

from kbdb.client import Client
from kbdb.mcp.server import KbdbServer


@pytest.fixture
def stocked(kb: Client) -> Client:
    """1,200 sections."""
    for part in range(3):
        learn_part(kb, part, 400)
    return kb


def learn_part(kb: Client, part: int, sections: int) -> None:
    text = "".join(f"# Part {part} {n}\n\ntext {n}\n\n" for n in range(sections))
    kb.learn(content=text, title=f"Parts {part}", type="text/markdown")


@pytest.mark.usefixtures("guide")
def test_a_sound_database_passes(server: KbdbServer) -> None:
    found = call(server, "check")
    assert (found["ok"], found["sections"]) == (True, 3)


def test_damage_is_told_with_what_to_do(server: KbdbServer, kb: Client) -> None:
    kbids = [kb.learn(content=f"text {n}", title=f"t{n}").kbids[0] for n in range(120)]
    for kbid in kbids:
        (kb.root / "sections" / kbid[:2] / f"{kbid}.sec").write_bytes(b"nonsense")
    found = call(server, "check")
    assert not found["ok"]
    assert 0 < len(found["errors"]) < 120
    assert len(found["errors"]) + found["left_off"]["errors"] >= 120
    assert found["errors"][0]["hint"]


def test_garbage_is_only_told_of_when_asked_so(server: KbdbServer) -> None:
    assert call(server, "gc", dry_run=True, keep_days=0)["dry_run"]
    assert call(server, "gc")["removed"] == 0


@pytest.mark.usefixtures("stocked")
def test_a_rebuild_tells_how_far_it_is(server: KbdbServer) -> None:
    context = Quiet()
    assert call(server, "rebuild", context)["sections"] == 1200
    assert context.steps[-1] == (1200, 1200, None)


@pytest.mark.usefixtures("stocked")
def test_an_export_tells_how_far_it_is(server: KbdbServer, tmp_path: Path) -> None:
    context = Quiet()
    found = call(server, "export", context, path=str(tmp_path / "out"))
    assert (found["sections"], found["path"]) == (1200, str(tmp_path / "out"))
    assert {step[1] for step in context.steps} == {1204}
    assert len(context.steps) > 1


def test_what_nobody_waits_for_any_more_ends_early(server: KbdbServer, kb: Client, tmp_path: Path) -> None:
    # So many that it is not done before the first word of how far it is.
    for part in range(3):
        learn_part(kb, part, 2500)
    result = server.call_tool("export", {"path": str(tmp_path / "out")}, Quiet(cancel_after=1))
    assert result["isError"]
    assert result["structuredContent"]["error"]["code"] == "INTERRUPTED"
    assert not (tmp_path / "out").exists()
    assert len(call(server, "search", query="text")["hits"]) == 10


def test_an_export_goes_to_an_absolute_path(server: KbdbServer) -> None:
    assert "absolute" in error(server, "export", path="out")["hint"]
