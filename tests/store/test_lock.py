"""kbdb.store.lock: one owner at a time, and a message that says who."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kbdb import platform
from kbdb.errors import DatabaseLockedError, StorageError
from kbdb.store.lock import OwnerLock

HOLD = """
import sys, time
from pathlib import Path
from kbdb.store.lock import OwnerLock
lock = OwnerLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""


def _holder(path: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)}
    argv = [sys.executable, "-c", HOLD, str(path)]
    child = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def test_a_second_owner_is_told_the_pid_and_what_to_do(tmp_path: Path) -> None:
    child = _holder(tmp_path / "lock")
    try:
        with pytest.raises(DatabaseLockedError, match=f"in use by process {child.pid}") as caught:
            OwnerLock(tmp_path / "lock")
        assert f"kill {child.pid}" in caught.value.hint
    finally:
        child.kill()
        child.communicate()
    OwnerLock(tmp_path / "lock").release()


def test_the_same_process_is_told_that_it_is_itself(tmp_path: Path) -> None:
    lock = OwnerLock(tmp_path / "lock")
    with pytest.raises(DatabaseLockedError, match="already open in this process"):
        OwnerLock(tmp_path / "lock")
    lock.release()
    lock.release()
    OwnerLock(tmp_path / "lock").release()


def test_whoever_only_looks_is_in_nobodys_way(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    OwnerLock(path).release()
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.001):
            platform.is_locked(path)

    lookers = [threading.Thread(target=look) for _ in range(3)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(50):
            OwnerLock(path).release()
    finally:
        ended.set()
        for looker in lookers:
            looker.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_cannot_give_the_lock_away(tmp_path: Path) -> None:
    lock = OwnerLock(tmp_path / "lock")
    child = os.fork()
    if child == 0:
        lock.release()
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(DatabaseLockedError):
        OwnerLock(tmp_path / "lock")
    lock.release()


@pytest.mark.parametrize("content", ["", "nonsense", "99999999999999999999", "-5", "4194304999\n"])
def test_what_is_written_in_the_file_proves_nothing(content: str, tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(content)
    lock = OwnerLock(tmp_path / "lock")
    assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"
    (tmp_path / "lock").write_text(content)
    with pytest.raises(DatabaseLockedError, match="in use by another process"):
        OwnerLock(tmp_path / "lock")
    lock.release()


def test_a_missing_folder_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot open"):
        OwnerLock(tmp_path / "none" / "lock")


def test_a_lock_knows_when_its_file_was_removed_moved_or_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    lock = OwnerLock(folder / "lock")
    assert lock.is_in_place()
    folder.rename(tmp_path / "there")
    assert not lock.is_in_place()
    folder.mkdir()
    (folder / "lock").write_bytes(b"another")
    assert not lock.is_in_place()
    lock.release()
    assert not lock.is_in_place()
