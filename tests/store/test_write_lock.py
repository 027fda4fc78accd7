"""kbdb.store.write_lock: others know that nothing is written, and whoever waits for them knows for whom."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import fasteners
import pytest

import kbdb
from kbdb import platform
from kbdb.errors import BusyError, DatabaseClosedError
from kbdb.knowledge import KnowledgeBase
from kbdb.knowledge.embed_sections import Made
from kbdb.model.embedding import Fingerprint
from kbdb.store import write_lock
from kbdb.store.write_lock import WriteLock

HOLD = """
import sys, fasteners
with fasteners.InterProcessLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""

LOOK = "import sys, fasteners; print(fasteners.InterProcessLock(sys.argv[1]).acquire(blocking=False))"


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The runtime folder."""
    made = tmp_path / "run"
    made.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(made))
    monkeypatch.setattr(platform, "SOCKET_PATH_MAX", 4096)
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A database's folder."""
    return tmp_path / ".kbdb"


def file_of(runtime: Path, root: Path) -> Path:
    return runtime / f"kbdb-{platform.context_id(root)}.lock"


@contextmanager
def holder(path: Path) -> Iterator[int]:
    """Another program that holds the lock, as a backup does; its process."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        assert child.stdout.readline() == "held\n"
        try:
            yield child.pid
        finally:
            child.kill()


def is_free(path: Path) -> bool:
    """Whether another program can take it."""
    return subprocess.check_output([sys.executable, "-c", LOOK, str(path)], text=True) == "True\n"


def test_it_is_held_for_one_operation_and_those_within(runtime: Path, root: Path) -> None:
    lock, path = WriteLock(root), file_of(runtime, root)
    with lock.held():
        with lock.held():
            assert not is_free(path)
        assert not is_free(path)
    assert is_free(path)
    lock.close()


def writes(kb: KnowledgeBase, kbid: str, path: Path) -> dict[str, Callable[[], object]]:
    """A call of each verb that writes."""
    return {
        "add_agent": lambda: kb.add_agent("keeper", "You keep the gate."),
        "add_skill": lambda: kb.add_skill("press", "Press."),
        "gc": lambda: kb.gc(),
        "group": lambda: kb.group([kbid], "Group"),
        "import_": lambda: kb.import_(path),
        "learn": lambda: kb.learn(content="another", title="Other"),
        "rebuild": lambda: kb.rebuild(),
        "remove_agent": lambda: kb.remove_agent("porter"),
        "remove_skill": lambda: kb.remove_skill("ring"),
        "restore": lambda: kb.restore(kbid),
        "take_vectors": lambda: kb.take_vectors(Made(Fingerprint("m", 1, "mean", "unit", ""), (), b"")),
        "ungroup": lambda: kb.ungroup("group"),
        "unlearn": lambda: kb.unlearn(kbid),
        "update": lambda: kb.update(kbid, title="New"),
    }


def reads(kb: KnowledgeBase, kbid: str, path: Path) -> dict[str, Callable[[], object]]:
    """A call of each verb that reads."""
    return {
        "agent": lambda: kb.agent("porter"),
        "agents": lambda: kb.agents(),
        "check": lambda: kb.check(),
        "complete": lambda: kb.complete("tag", "t"),
        "content": lambda: kb.content(kbid),
        "documents": lambda: kb.documents(),
        "embedding_status": lambda: kb.embedding_status(),
        "export": lambda: kb.export(path),
        "list": lambda: kb.list(),
        "rank": lambda: kb.rank("fact"),
        "read_sections": lambda: kb.read_sections([kbid]),
        "recall": lambda: kb.recall(kbid),
        "retrieve": lambda: kb.retrieve(kbid),
        "search": lambda: kb.search("fact"),
        "skill": lambda: kb.skill("ring"),
        "skills": lambda: kb.skills(),
        "status": lambda: kb.status(),
    }


NO_VERBS = {
    *("create", "open", "close", "let_go"),
    *("parse_with", "pause_with", "reading", "settle", "together", "writing"),
    *("note_trouble", "with_outcome"),
    *("embed", "next_vectors", "similar"),
}
"""Methods that are the life of an open database, what its owner does around verbs, and what needs a provider; of
what it gives ``take_vectors`` writes."""


def test_every_write_of_an_owner_holds_it_and_no_read_does(
    runtime: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_lock, "PATIENCE_S", 0.0)
    with kbdb.init(root) as kb:
        (kbid,) = kb.learn(content="a fact", title="Fact").kbids
        kb.add_skill("ring", "Ring.")
        kb.add_agent("porter", "You open the gate.")
        path, generation = file_of(runtime, root), kb.generation
        called = kb, kbid, root.parent / "export"
        verbs = {name for name, _ in inspect.getmembers(kb, inspect.ismethod) if not name.startswith("_")}
        assert sorted([*writes(*called), *reads(*called)]) == sorted(verbs - NO_VERBS)
        assert is_free(path)
        with holder(path):
            for name, read in reads(*called).items():
                assert read() is not None, name
            for name, write in writes(*called).items():
                with pytest.raises(BusyError):
                    pytest.fail(f"{name} gave {write()}")
            assert kb.generation == generation
        assert kb.learn(content="another", title="Other").sections_added == 1


def test_closing_does_not_wait_for_others_where_there_is_nothing_to_write(runtime: Path, root: Path) -> None:
    with kbdb.init(root) as kb:
        kb.learn(content="a fact", title="Fact")
    with holder(file_of(runtime, root)), kbdb.open(root) as kb:
        assert kb.search("fact").total == 1


def test_closing_waits_for_nobody_and_leaves_the_rest_to_the_next_opening(
    runtime: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pause(_: float) -> None:
        raise AssertionError("it waits")

    kb = kbdb.init(root)
    kb.learn(content="a fact", title="Fact")
    with holder(file_of(runtime, root)):
        monkeypatch.setattr(write_lock.time, "sleep", pause)
        kb.close()
    with kbdb.open(root) as kb:
        assert kb.search("fact").total == 1


def test_a_wait_ends_when_there_is_nothing_to_wait_for(runtime: Path, root: Path) -> None:
    lock, asked = WriteLock(root), list[None]()

    def ended() -> DatabaseClosedError | None:
        asked.append(None)
        return DatabaseClosedError("over", "") if len(asked) == 3 else None

    with holder(file_of(runtime, root)), pytest.raises(DatabaseClosedError, match="over"), lock.held(None, ended):
        pass
    assert (len(asked), lock.waits) == (3, "")
    with lock.held(None, ended):
        assert len(asked) == 3
    lock.close()


@pytest.mark.skipif(sys.platform != "linux", reason="who holds a lock is told on Linux alone")
def test_the_error_names_the_process_and_how_long_it_was_waited_for(
    runtime: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_lock, "PATIENCE_S", 0.2)
    lock, path = WriteLock(root), file_of(runtime, root)
    with holder(path) as pid, pytest.raises(BusyError) as caught, lock.held():
        pass
    assert caught.value.message.startswith(f"process {pid} (")
    assert re.search(rf"\) holds {re.escape(str(path))}, for which a write has waited \d\.\d s$", caught.value.message)
    assert lock.waits == ""
    with lock.held():
        assert platform.lock_holder(str(path)) == os.getpid()
    assert platform.lock_holder(str(path)) is None
    lock.close()


def test_a_lock_file_that_was_removed_or_replaced_is_opened_anew(runtime: Path, root: Path) -> None:
    lock, path = WriteLock(root), file_of(runtime, root)
    with lock.held():
        pass
    path.unlink()
    with lock.held():
        assert not is_free(path)
    shutil.rmtree(runtime)
    runtime.mkdir(mode=0o700)
    with lock.held():
        assert not is_free(path)
    lock.close()


def test_without_a_runtime_folder_writes_go_on(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    monkeypatch.setattr(platform, "get_tmpdir", lambda: tmp_path / "file")
    with kbdb.init(root) as kb:
        assert kb.learn(content="a fact", title="Fact").sections_added == 1


def test_a_lock_file_that_cannot_be_made_stops_no_write(runtime: Path, root: Path) -> None:
    file_of(runtime, root).mkdir()
    with kbdb.init(root) as kb:
        assert kb.learn(content="a fact", title="Fact").sections_added == 1


def test_it_is_the_lock_that_fasteners_takes(runtime: Path, root: Path) -> None:
    lock = WriteLock(root)
    with lock.held():
        pass
    with fasteners.InterProcessLock(file_of(runtime, root)):
        assert not is_free(file_of(runtime, root))
    lock.close()
