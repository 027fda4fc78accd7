"""Learn, search, read back, take out and bring back: the commands on real files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

GUIDE = """\
---
title: Orchard guide
tags: [fruit]
---

# Apples

Apples keep in a cool cellar until spring.

## Pressing

Press the apples within a day, then boil the juice.

# Pears

Pears ripen off the tree.
"""


@pytest.fixture
def learned(kb: Any, folder: Path) -> Any:
    """``run`` in a folder whose guide is learned."""
    (folder / "guide.md").write_text(GUIDE, encoding="utf-8")
    assert kb("learn", "guide.md").code == 0
    return kb


def document(run: Any) -> str:
    """The docid of the one document."""
    (item,) = run("list", "--json").json["items"]
    return str(item["docid"])


def best(run: Any, query: str) -> Any:
    """The first hit of a search."""
    return run("search", query, "--json").json["hits"][0]


def test_a_newcomers_first_commands_in_processes_of_their_own(process: Any, folder: Path) -> None:
    (folder / "guide.md").write_text(GUIDE, encoding="utf-8")
    assert process("init").code == 0
    assert process("learn", ".").code == 0
    ran = process("search", "boil the juice")
    assert (ran.code, ran.err) == (0, b"")
    assert "Pressing" in ran.text
    docid = document(process)
    assert process("retrieve", docid).out == GUIDE.encode()
    assert process("learn", "-", "--title", "Quinces", stdin=b"Quinces are sour.\n").code == 0
    assert process("search", "zzyzx").code == 3


def test_learn_tells_what_became_of_each_document(kb: Any, folder: Path) -> None:
    (folder / "docs").mkdir()
    (folder / "docs" / "guide.md").write_text(GUIDE, encoding="utf-8")
    (folder / "docs" / "bad.md").write_bytes(b"# Caf\xe9\n")
    ran = kb("learn", "docs", "--json", "--tags", "a, b")
    assert ran.code == 4
    assert {d["source"]: d["status"] for d in ran.json["documents"]} == {
        "docs/bad.md": "failed",
        "docs/guide.md": "added",
    }
    (bad,) = [d for d in ran.json["documents"] if d["error"]]
    assert bad["error"]["code"] == "NOT_UTF8"
    assert ran.json["sections_added"] == len(ran.json["kbids"]) == 3
    again = kb("learn", "docs")
    assert again.code == 4
    assert "1 unchanged, 1 failed" in again.text
    assert "docs/bad.md" in again.text


def test_nothing_but_failures_is_a_failure(kb: Any, folder: Path) -> None:
    (folder / "bad.md").write_bytes(b"\xff\xfe")
    assert kb("learn", "bad.md").code == 1


def test_a_missing_path_fails_like_a_bad_file(kb: Any) -> None:
    ran = kb("learn", "nowhere", "--json")
    assert ran.code == 1
    assert ran.json["documents"][0]["error"]["code"] == "SOURCE_NOT_FOUND"


def test_a_file_that_may_not_be_read_fails_alone(kb: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path.name == "locked.md":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    (folder / "a.md").write_text("Apples.")
    (folder / "locked.md").write_text("Pears.")
    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    monkeypatch.setattr(os, "access", lambda path, *_, **__: Path(path).name != "locked.md")
    ran = kb("learn", "a.md", "locked.md", "--json")
    assert ran.code == 4
    assert {d["source"]: d["status"] for d in ran.json["documents"]} == {"a.md": "added", "locked.md": "failed"}


def test_an_empty_folder_is_nothing_to_learn(kb: Any, folder: Path) -> None:
    (folder / "empty").mkdir()
    ran = kb("learn", "empty")
    assert (ran.code, ran.text.splitlines()[0]) == (3, "nothing to learn")


def test_standard_input_is_learned(kb: Any) -> None:
    ran = kb("learn", "-", "--title", "Quinces", "--json", stdin=b"Quinces are hard and sour.\n")
    assert (ran.code, ran.json["sections_added"]) == (0, 1)
    assert best(kb, "quinces")["title"] == "Quinces"


def test_files_gone_are_told_and_pruned_on_request(kb: Any, folder: Path) -> None:
    (folder / "docs").mkdir()
    for name in ("a", "b"):
        (folder / "docs" / f"{name}.md").write_text(f"# {name}\n\nfruit {name}\n", encoding="utf-8")
    kb("learn", "docs")
    (folder / "docs" / "b.md").unlink()
    told = kb("learn", "docs")
    assert "source is gone:" in told.text
    assert "--prune" in told.text
    pruned = kb("learn", "docs", "--prune", "--json")
    assert len(pruned.json["pruned"]) == 1
    assert kb("search", "fruit", "--json").json["total"] == 1


def test_include_and_exclude_choose_files(kb: Any, folder: Path) -> None:
    (folder / "docs").mkdir()
    for name in ("a.md", "b.md", "c.txt"):
        (folder / "docs" / name).write_text(f"fruit {name}\n", encoding="utf-8")
    ran = kb("learn", "docs", "--include", "*.md", "--include", "*.txt", "--exclude", "b.*", "--json")
    assert [d["source"] for d in ran.json["documents"]] == ["docs/a.md", "docs/c.txt"]


def test_search_answers_in_json_with_the_promised_keys(learned: Any) -> None:
    answer = learned("search", "boil", "juice", "--json").json
    assert set(answer) >= {
        "query",
        "search_mode",
        "retrieval_method",
        "match",
        "verdict",
        "generation",
        "total",
        "hidden",
        "offset",
        "limit",
        "engine_ms",
        "elapsed_ms",
        "warnings",
        "unreadable",
        "hits",
    }
    (hit,) = answer["hits"]
    assert set(hit) == {
        "kbid",
        "docid",
        "title",
        "heading_path",
        "level",
        "line",
        "line_end",
        "source",
        "score",
        "snippet",
        "matched_terms",
        "tags",
        "section_type",
    }
    assert (answer["query"], answer["match"], answer["verdict"]) == ("boil juice", "all", "answered")
    assert (hit["title"], hit["heading_path"], hit["source"]) == ("Pressing", ["Apples"], "guide.md")
    assert GUIDE.splitlines()[hit["line"] - 1] == "## Pressing"


def test_content_and_explain_come_on_request(learned: Any) -> None:
    (hit,) = learned("search", "boil", "--content", "--explain", "--json").json["hits"]
    assert "then boil the juice" in hit["content"]
    score = 0.0
    for share in hit["explain"]:
        score += share["value"]
    assert score == hit["score"]


def test_search_is_readable(learned: Any) -> None:
    ran = learned("search", "boil")
    lines = ran.text.splitlines()
    assert lines[0].split()[:2] == ["1", "Pressing"]
    assert lines[1].split() == ["guide.md:10", ">", "Apples"]
    assert "boil" in lines[2]
    assert "\x1b" not in ran.text
    assert "score" in learned("search", "boil", "--explain").text


def test_filters_narrow(learned: Any) -> None:
    docid = document(learned)
    for option, right, wrong in (
        ("--tag", "fruit", "nut"),
        ("--type", "text/markdown", "text/plain"),
        ("--section-type", "default", "skill"),
        ("--doc", docid, "other-doc"),
    ):
        assert learned("search", "apples", option, right).code == 0
        assert learned("search", "apples", option, wrong).code == 3


def test_nothing_found_is_exit_code_three(learned: Any) -> None:
    ran = learned("search", "zzyzx", "--json")
    assert (ran.code, ran.json["hits"], ran.json["verdict"]) == (3, [], "unanswered")
    assert "Nothing found" in learned("search", "zzyzx").text


def test_pages_join(learned: Any) -> None:
    whole = learned("search", "apples pears", "--json").json["hits"]
    pages = [
        learned("search", "apples pears", "--limit", "1", "--offset", str(n), "--json").json["hits"] for n in range(3)
    ]
    assert [hit for page in pages for hit in page] == whole


def test_what_could_not_be_looked_for_is_told(learned: Any) -> None:
    for query in ("", "?!", "\U0001f389"):
        ran = learned("search", query, "--json")
        assert (ran.code, ran.json["match"]) == (3, "none")
        assert ran.json["warnings"] == ["nothing in the query can be searched for"]
    unknown = {
        "tag:Nope": "tag:nope",
        "doc:nope": "doc:nope",
        "doc:a doc:b": "doc:a or doc:b",
    }
    for query, key in unknown.items():
        assert learned("search", f"apples {query}", "--json").json["warnings"] == [f"{key}: no live section has it"]
    for option in ("tag", "doc"):
        ran = learned("search", "apples", f"--{option}", "nope", "--json")
        assert ran.json["warnings"] == [f"{option}:nope: no live section has it"]
    assert learned("search", "apples tag:fruit", "--doc", "guide.md", "--json").json["warnings"] == []


def test_a_query_that_only_excludes_is_not_answered(learned: Any) -> None:
    ran = learned("search", "--json", "--", "-apples")
    assert (ran.code, ran.json["match"], ran.json["verdict"]) == (0, "none", "unanswered")


@pytest.mark.skipif(os.name == "nt", reason="Windows arguments are always text")
def test_a_query_that_is_not_utf8_is_refused(learned: Any) -> None:
    ran = learned("search", b"caf\xe9", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "INVALID_ARGUMENT")


def test_vector_search_needs_a_provider(learned: Any) -> None:
    for mode in ("vector", "hybrid"):
        ran = learned("search", "apples", "--mode", mode, "--json")
        assert (ran.code, ran.json["error"]["code"]) == (1, "EMBEDDING_PROVIDER_NOT_CONFIGURED")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xef\xbb\xbf# A\r\n\r\nb\r\n",
        b"no end",
        "# \u6c34\n\n\u6c34 \U0001f34e\n\n\n".encode(),
        b"a\x00b\x1b[31m\n",
    ],
    ids=["empty", "crlf and bom", "no newline", "wide", "control"],
)
def test_a_document_comes_back_byte_for_byte(kb: Any, folder: Path, data: bytes) -> None:
    (folder / "x.md").write_bytes(data)
    assert kb("learn", "x.md").code == 0
    docid = document(kb)
    assert kb("retrieve", docid).out == data
    assert kb("retrieve", docid, "--json").json["content"] == data.decode()


def test_a_section_comes_back_with_its_places(learned: Any) -> None:
    kbid = best(learned, "boil")["kbid"]
    assert learned("retrieve", kbid).out == learned("retrieve", kbid.upper()).out
    view = learned("retrieve", kbid, "--json").json
    assert view["content"].encode() == learned("retrieve", kbid).out
    assert (view["title"], view["state"], view["places"][0]["source"]) == ("Pressing", "active", "guide.md")


def test_a_superseded_section_is_read_with_a_note_of_what_replaced_it(kb: Any) -> None:
    old = kb("learn", "-", "--title", "Port", "--json", stdin=b"It is 80.").json["kbids"][0]
    new = kb("learn", "-", "--title", "Port", "--replace", "--json", stdin=b"It is 81.").json["kbids"][0]
    ran = kb("retrieve", old)
    assert ran.out == b"It is 80."
    assert ran.err.decode() == f"note: {old} was superseded; {new} stands in its place now\n"
    assert kb("retrieve", old, "--json").json["successor"] == new
    assert f"replaced by: {new}" in kb("recall", old).text
    assert kb("retrieve", new).err == b""


@pytest.mark.parametrize("target", ["guide.md", "docs/guide", "./guide"])
def test_a_path_in_place_of_a_docid_is_told_where_docids_stand(learned: Any, target: str) -> None:
    ran = learned("retrieve", target, "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "INVALID_ID")
    assert "kbdb list" in ran.json["error"]["hint"]


def test_unknown_ids_are_not_found(learned: Any) -> None:
    for command in ("retrieve", "unlearn", "restore"):
        for target in ("0" * 26, "no-such-document"):
            ran = learned(command, target, "--json")
            assert (ran.code, ran.json["error"]["code"][-9:]) == (3, "NOT_FOUND")


@pytest.mark.parametrize("target", ["../../../etc/passwd", "..", "", "a/b", "x" * 5000])
def test_hostile_ids_are_refused(learned: Any, target: str) -> None:
    ran = learned("retrieve", "--json", target)
    assert ran.code in (2, 3)
    assert ran.json["error"]["message"]


def test_recall_shows_the_surroundings(learned: Any) -> None:
    kbid = best(learned, "cellar")["kbid"]
    (result,) = learned("recall", kbid, "--json").json["results"]
    assert (result["title"], result["documents"]) == ("Apples", [document(learned)])
    ran = learned("recall", kbid)
    assert "cool cellar" in ran.text
    assert kbid in ran.text


def test_recall_of_some_unknown_is_partly_done(learned: Any) -> None:
    kbid = best(learned, "cellar")["kbid"]
    ran = learned("recall", kbid, "0" * 26, "--json")
    assert (ran.code, ran.json["missing"]) == (4, ["0" * 26])
    assert learned("recall", "0" * 26).code == 3


def test_unlearn_takes_out_and_restore_brings_back(learned: Any) -> None:
    kbid = best(learned, "boil")["kbid"]
    ran = learned("unlearn", kbid, "--reason", "no boiling", "--json")
    assert (ran.code, ran.json["removed"]) == (0, True)
    assert learned("search", "boil").code == 3
    assert learned("unlearn", kbid, "--json").json["removed"] is False
    assert learned("restore", kbid).code == 0
    assert best(learned, "boil")["kbid"] == kbid


def test_a_document_is_unlearned_and_restored_whole(learned: Any) -> None:
    docid = document(learned)
    assert learned("unlearn", docid).code == 0
    assert learned("search", "apples").code == 3
    assert learned("restore", docid).code == 0
    assert learned("search", "apples").code == 0


def test_sections_are_grouped_read_in_their_order_and_ungrouped(learned: Any, folder: Path) -> None:
    learned("learn", "-", "--title", "Quinces", stdin=b"Quinces are sour.\n")
    names = [best(learned, query)["kbid"] for query in ("quinces", "boil the juice")]
    words = ("--title", "To read", "--tags", "later, x", "--description", "d")
    ran = learned("group", names[0].upper(), names[1], *words, "--json")
    assert (ran.code, ran.json["kbids"], ran.json["documents"], ran.json["title"]) == (0, names, [], "To read")
    docid = ran.json["docid"]
    assert learned("group", *names, *words).text == f"grouped {docid} (2 sections)\n"
    assert learned("retrieve", docid).text.startswith("Quinces are sour.\n\n## Pressing\n")
    assert best(learned, "tag:later quinces")["kbid"] == names[0]
    (folder / "guide.md").write_text("# Apples\n\nOnly.\n", encoding="utf-8")
    told = learned("learn", "guide.md").text
    assert f"{docid} lists it, too" in told
    told = learned("ungroup", docid).text
    assert told.startswith(f"ungrouped {docid} (2 sections)\nnow a document of its own: pressing-")
    assert best(learned, "boil")["kbid"] == names[1]
    assert learned("check").code == 0


def test_what_cannot_be_grouped_or_ungrouped_is_told(learned: Any) -> None:
    name = best(learned, "pears")["kbid"]
    assert learned("unlearn", name).code == 0
    ran = learned("group", name, "--title", "T", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "INVALID_ARGUMENT")
    assert learned("group", "0" * 26, "--title", "T", "--json").json["error"]["code"] == "SECTION_NOT_FOUND"
    assert learned("group", name).code == 2
    assert "mirrors guide.md" in learned("ungroup", document(learned)).errors


def test_list_shows_documents_and_sections(learned: Any) -> None:
    documents = learned("list", "--json").json
    assert (documents["total"], documents["items"][0]["sections"]) == (1, 3)
    sections = learned("list", "--sections", "--json").json
    assert {item["title"] for item in sections["items"]} == {"Apples", "Pressing", "Pears"}
    assert learned("list").text.startswith("DOCID")
    assert learned("list", "--sections").text.startswith("KBID")
    assert learned("list", "--tag", "nut").code == 3


def test_list_pages_and_filters_by_state(learned: Any) -> None:
    learned("unlearn", best(learned, "boil")["kbid"])
    assert learned("list", "--sections", "--state", "forgotten", "--json").json["total"] == 1
    page = learned("list", "--sections", "--limit", "1", "--offset", "1", "--json").json
    assert len(page["items"]) == 1


def test_status_counts(learned: Any) -> None:
    status = learned("status", "--json").json
    assert (status["documents"], status["sections"], status["states"]["active"]) == (1, 3, 3)
    assert set(status) >= {
        "database",
        "path",
        "generation",
        "sections",
        "documents",
        "states",
        "index",
        "engine",
        "daemon",
        "embedding",
        "auto_capture",
    }
    assert "generation" in learned("status").text


def test_check_is_ok_and_finds_a_damaged_section(learned: Any, folder: Path) -> None:
    assert learned("check").code == 0
    path = next((folder / ".kbdb" / "sections").rglob("*.sec"))
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    ran = learned("check", "--json")
    assert (ran.code, ran.json["ok"]) == (1, False)
    assert ran.json["errors"][0]["code"]
    assert "hint:" in learned("check").text


def test_rebuild_changes_no_answer(learned: Any) -> None:
    before = learned("search", "apples", "--json").json["hits"]
    assert learned("rebuild", "--json").json["sections"] == 3
    assert learned("search", "apples", "--json").json["hits"] == before


def test_gc_removes_only_what_it_announced(learned: Any, folder: Path) -> None:
    (folder / "guide.md").write_text(GUIDE.replace("spring", "winter"), encoding="utf-8")
    learned("learn", "guide.md")
    (folder / ".kbdb" / "worker.toml").write_text("[history]\nkeep_days = 0\n", encoding="utf-8")
    planned = learned("gc", "--dry-run", "--json").json
    done = learned("gc", "--json").json
    assert (planned["dry_run"], done["dry_run"]) == (True, False)
    assert planned["kbids"] == done["kbids"]
    assert learned("gc", "--json").json["removed"] == 0
    assert learned("check").code == 0


def test_an_export_is_imported_elsewhere(learned: Any, folder: Path) -> None:
    assert learned("export").code == 0
    assert (folder / "kbdb-export").is_dir()
    other = folder / "other"
    assert learned("init", "--db", other).code == 0
    ran = learned("import", "kbdb-export", "--db", other, "--json")
    assert (ran.code, ran.json["sections"], ran.json["documents"]) == (0, 3, 1)
    assert learned("retrieve", document(learned), "--db", other).out == GUIDE.encode()
    hits = learned("search", "apples", "--json").json["hits"]
    assert learned("search", "apples", "--db", other, "--json").json["hits"] == hits


def test_a_changed_export_is_refused_before_anything_is_written(learned: Any, folder: Path) -> None:
    learned("export", "out")
    path = next((folder / "out").rglob("*.sec"))
    path.write_bytes(path.read_bytes() + b"!")
    learned("init", "--db", "other")
    ran = learned("import", "out", "--db", "other", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (1, "HASH_MISMATCH")
    assert learned("list", "--db", "other").code == 3


def test_importing_what_is_not_there_is_an_error(kb: Any) -> None:
    assert kb("import", "nowhere", "--json").json["error"]["code"] == "SOURCE_NOT_FOUND"


@pytest.mark.skipif(os.name == "nt", reason="Windows file names are always text")
@pytest.mark.usefixtures("kb")
def test_a_file_name_that_is_not_text_does_not_stop_the_printing(process: Any, folder: Path) -> None:
    name = os.path.join(os.fsencode(folder), b"caf\xe9.md")
    with open(name, "wb") as file:
        file.write(b"# Coffee\n\nhot\n")
    ran = process("learn", b"caf\xe9.md", "--json")
    assert ran.code in (0, 1)
    assert ran.json["documents"][0]["source"] == "caf\\xe9.md"
    assert process("learn", b"caf\xe9.md").code in (0, 1)
    assert process("list").code in (0, 3)


@pytest.mark.usefixtures("kb")
def test_other_locales_get_escapes_and_json_stays_utf8(process: Any, folder: Path) -> None:
    (folder / "w.md").write_text("# \u6c34\n\nwater\n", encoding="utf-8")
    latin = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1", "PYTHONCOERCECLOCALE": "0"}
    process("learn", "w.md", env=latin)
    assert "\\u6c34" in process("search", "water", env=latin).out.decode("latin-1")
    assert process("search", "water", "--json", env=latin).json["hits"][0]["title"] == "\u6c34"


def test_lines_of_a_document_are_written_byte_for_byte(learned: Any) -> None:
    assert (
        learned("retrieve", document(learned), "--lines", "6-8").text
        == "# Apples\n\nApples keep in a cool cellar until spring.\n"
    )
    ran = learned("retrieve", document(learned), "--lines", "99-", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "INVALID_ARGUMENT")
