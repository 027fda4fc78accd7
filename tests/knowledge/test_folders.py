"""Learning folders: which files, what fails alone, what is missing, and what an interruption leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from knowledge_base import docid, read_back, statuses, titles, write

import kbdb
from kbdb.knowledge import KnowledgeBase
from kbdb.knowledge.learn import BATCH_DOCUMENTS
from kbdb.store import faults


def test_include_and_exclude_choose_files(kb: KnowledgeBase, home: Path) -> None:
    for name in ("a.md", "b.txt", "c.md"):
        write(home / "docs" / name, f"text of {name}\n")
    assert statuses(kb.learn([home], include=["*.md"], exclude=["c*"])) == {"docs/a.md": "added"}


def test_hidden_and_ignored_files_are_left_out_and_binary_ones_told(kb: KnowledgeBase, home: Path) -> None:
    write(home / ".hidden.md", "x\n")
    write(home / "ignored.md", "x\n")
    write(home / "picture.png", b"\x89PNG")
    write(home / ".gitignore", "ignored.md\n")
    write(home / "a.md", "# A\n")
    learned = kb.learn([home])
    assert statuses(learned) == {"a.md": "added"}
    assert learned.warnings == ("left out 1: not known as text (picture.png)",)


def test_what_is_left_out_is_named_up_to_three_and_exports_are(kb: KnowledgeBase, home: Path) -> None:
    for name in ("a.png", "b.png", "c.png", "d.png"):
        write(home / "docs" / name, b"\x89PNG")
    kb.export(home / "docs" / "backup")
    assert kb.learn([home]).warnings == (
        "left out 1: kbdb export (docs/backup)",
        "left out 4: not known as text (docs/a.png, docs/b.png, docs/c.png, …)",
    )


def test_a_warning_about_front_matter_names_the_file(kb: KnowledgeBase, home: Path) -> None:
    write(home / "a.md", "---\ntitle: [\n---\n# A\n")
    (warning,) = kb.learn([home]).warnings
    assert warning.startswith("a.md: front matter is not valid YAML")


def test_a_bad_file_fails_alone_and_is_tried_again(kb: KnowledgeBase, home: Path) -> None:
    write(home / "a.md", "# A\n\nalpha\n")
    write(home / "bad.md", b"# Caf\xe9\n")
    write(home / "c.md", "# C\n\ngamma\n")
    learned = kb.learn([home])
    assert statuses(learned) == {"a.md": "added", "bad.md": "failed", "c.md": "added"}
    (error,) = [document.error for document in learned.documents if document.error]
    assert error["code"] == "NOT_UTF8"
    assert "offset 5" in error["message"]
    assert error["hint"]
    assert titles(kb, "gamma") == ["C"]
    write(home / "bad.md", "# Café\n")
    assert statuses(kb.learn([home])) == {"a.md": "unchanged", "bad.md": "added", "c.md": "unchanged"}


def test_a_file_that_went_bad_keeps_what_was_learned_of_it(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "a.md", "# A\n\nalpha\n")
    learned = kb.learn([source])
    write(source, b"\xff\xfe")
    assert statuses(kb.learn([home])) == {"a.md": "failed"}
    assert titles(kb, "alpha") == ["A"]
    assert read_back(kb, docid(learned)) == b"# A\n\nalpha\n"


def test_what_cannot_be_stored_fails_alone(kb: KnowledgeBase, home: Path) -> None:
    write(home / "a.md", "# A\n\nalpha\n")
    write(home / "half.md", '---\ntitle: "\\ud800"\ndescription: "\\udfff"\ntags: ["\\ud801"]\n---\n\n# Half\n\nbeta\n')
    write(home / "z.md", "# Z\n\nomega\n")
    learned = kb.learn([home])
    assert {name: status for name, status in statuses(learned).items() if name != "half.md"} == {
        "a.md": "added",
        "z.md": "added",
    }
    assert kb.check().ok


def test_an_unreadable_file_fails_alone(kb: KnowledgeBase, home: Path) -> None:
    write(home / "a.md", "# A\n")
    os.mkfifo(home / "pipe.md")
    (home / "loop.md").symlink_to(home / "loop.md")
    learned = kb.learn([home, home / "nowhere.md"])
    assert statuses(learned)["a.md"] == "added"
    failed = {document.source: document.error for document in learned.documents if document.status == "failed"}
    assert failed["nowhere.md"] is not None
    assert failed["nowhere.md"]["code"] == "SOURCE_NOT_FOUND"


def test_a_file_that_is_gone_is_missing_then_pruned_then_back(kb: KnowledgeBase, home: Path) -> None:
    kept = write(home / "docs" / "a.md", "# A\n\nalpha\n")
    gone = write(home / "docs" / "b.md", "# B\n\nbeta\n")
    missing = kb.learn([home / "docs"]).documents[1].docid
    gone.unlink()
    told = kb.learn([home / "docs"])
    assert (told.missing, told.pruned) == ((missing,), ())
    assert titles(kb, "beta") == ["B"]
    pruned = kb.learn([home / "docs"], prune=True)
    assert (pruned.missing, pruned.pruned) == ((), (missing,))
    assert titles(kb, "beta") == []
    assert kb.list(state="retired").total == 1
    assert kb.learn([home / "docs"], prune=True).pruned == ()
    write(gone, "# B\n\nbeta\n")
    back = kb.learn([home / "docs"])
    assert statuses(back) == {"docs/a.md": "unchanged", "docs/b.md": "updated"}
    assert back.suppressed == ()
    assert titles(kb, "beta") == ["B"]
    assert kept.exists()


def test_a_pruned_file_is_live_again_even_after_gc(kb: KnowledgeBase, home: Path) -> None:
    source = write(home / "docs" / "b.md", "# B\n\nbeta\n")
    kb.learn([home])
    source.unlink()
    kb.learn([home], prune=True)
    assert kb.gc(keep_days=0).removed == 1
    assert kb.list().total == 0
    write(source, "# B\n\nbeta\n")
    assert statuses(kb.learn([home])) == {"docs/b.md": "added"}
    assert titles(kb, "beta") == ["B"]
    assert kb.check().ok


def test_only_files_of_the_learned_folders_can_be_missing(kb: KnowledgeBase, home: Path, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside" / "o.md", "# O\n")
    inside = write(home / "in" / "i.md", "# I\n")
    other = write(home / "inner" / "j.md", "# J\n")
    for source in (outside, inside, other):
        kb.learn([source])
        source.unlink()
    kb.learn(content="a fact")
    (home / "in").mkdir(exist_ok=True)
    (missing,) = kb.learn([home / "in"]).missing
    assert kb.list(docid=missing).items[0].source == "in/i.md"
    assert len(kb.learn([home]).missing) == 2
    assert len(kb.learn([tmp_path]).missing) == 3


def test_excluded_files_are_not_missing(kb: KnowledgeBase, home: Path) -> None:
    write(home / "a.md", "# A\n")
    kb.learn([home])
    learned = kb.learn([home], exclude=["*.md"], prune=True)
    assert (learned.missing, learned.pruned) == ((), ())


def test_a_name_that_is_not_utf8_fails_alone(kb: KnowledgeBase, home: Path) -> None:
    write(home / "a.md", "# A\n")
    try:
        Path(os.fsdecode(os.fsencode(home) + b"/caf\xe9.md")).write_bytes(b"# Coffee\n\nbeans\n")
    except OSError:
        pytest.skip("the file system takes UTF-8 names only")
    assert statuses(kb.learn([home])) == {"caf\\xe9.md": "failed", "a.md": "added"}


def test_a_full_disk_fails_what_could_not_be_stored_and_tells_what_was(kb: KnowledgeBase, home: Path) -> None:
    for number in range(BATCH_DOCUMENTS + 3):
        write(home / "docs" / f"{number:03}.md", f"# N{number}\n\ncommon text\n")
    syncs = 0

    def full(point: str) -> faults.Action | None:
        nonlocal syncs
        syncs += point == "sync:journal"
        return "enospc" if syncs == 2 and point == "sync:journal" else None

    with faults.hooked(full):
        learned = kb.learn([home])
    assert [document.status for document in learned.documents].count("added") == BATCH_DOCUMENTS
    errors = [document.error["code"] for document in learned.documents if document.error]
    assert errors == ["STORAGE_ERROR"] * 3
    assert kb.list().total == BATCH_DOCUMENTS
    assert kb.search("common").total == BATCH_DOCUMENTS
    learned = kb.learn([home])
    assert list(statuses(learned).values()).count("added") == 3
    assert kb.check().ok


CHILD = """
import os, signal, sys
import kbdb

def interrupt(progress):
    if progress.done == 3:
        os.kill(os.getpid(), signal.SIGINT)

with kbdb.open(sys.argv[1]) as kb:
    result = kb.learn([sys.argv[1]], progress=interrupt)
    print(result.interrupted, len(result.documents), len(result.missing))
    print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def test_an_interrupted_folder_keeps_what_was_done(home: Path) -> None:
    for number in range(10):
        write(home / f"{number}.md", f"# N{number}\n\ncommon text\n")
    kbdb.init(home).close()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(home)], env=environment, capture_output=True, text=True, check=False
    )
    assert (child.returncode, child.stdout.split()) == (0, ["True", "3", "0", "True"]), child.stderr
    with kbdb.open(home) as kb:
        assert kb.search("common").total == 3
        assert list(statuses(kb.learn([home])).values()).count("added") == 7
        assert kb.check().ok


def test_an_interruption_inside_a_commit_leaves_an_index_that_agrees(
    kb: KnowledgeBase, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.learn(content="a first fact", title="First")
    indexer = kb._core.indexer
    with monkeypatch.context() as patch:
        patch.setattr(indexer, "absorb", lambda *_: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            kb.learn(content="a second fact", title="Second")
    assert sorted(titles(kb, "fact")) == ["First", "Second"]
    assert kb.check().ok
    kb.close()
    with kbdb.open(home) as again:
        assert sorted(titles(again, "fact")) == ["First", "Second"]
        assert again.check().ok
