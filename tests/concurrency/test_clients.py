"""Clients that come in numbers, or go in the middle."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

from daemons import Daemon, wait_for
from household import Household

from kbdb import platform
from kbdb.client import Client
from kbdb.daemon.server import READERS

IDLE_BYTES = 100_000


def threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def test_50_idle_connections_cost_little_memory_and_no_thread_each(daemon: Daemon) -> None:
    talk = daemon.talk()
    talk.ask("addSection", content="A word.", title="Word")
    for _ in range(20):
        talk.ask("search", query="word")
    before = talk.ask("daemonStatus")
    idle = [daemon.talk() for _ in range(50)]
    for one in idle:
        assert one.ask("search", query="word")["total"] == 1
    after = talk.ask("daemonStatus")
    assert after["connections"] == before["connections"] + 50
    cost = (after["rss_bytes"] - before["rss_bytes"]) / 50
    print(f"{cost / 1000:.1f} kB for each idle connection")
    assert cost < IDLE_BYTES
    # Those that read are started as they are needed, up to so many.
    assert threads(daemon.process.pid) <= READERS + len(("event loop", "writer"))
    for one in idle:
        one.close()
    wait_for(lambda: talk.ask("daemonStatus")["connections"] == before["connections"])


def test_learners_that_are_killed_in_the_middle_leave_whole_documents_and_hold_nobody_up(
    home: Household, tmp_path: Path
) -> None:
    chance = random.Random(3)
    folders = [tmp_path / f"folder{number}" for number in range(6)]
    for folder in folders:
        folder.mkdir()
        for number in range(60):
            words = f"{folder.name}x{number} " * 400
            (folder / f"{number}.md").write_text(f"# {folder.name} {number}\n\n{words}\n\n## More\n\n{words}\n")
    home.tell("daemon", "start")
    daemon = home.owner()
    for folder in folders:
        learner = home.start("learn", str(folder), "--json")
        time.sleep(chance.uniform(0.3, 1.5))
        os.kill(learner.pid, signal.SIGKILL)
        home.end(learner)
    (tmp_path / "last.md").write_text("# The last\n\nQuinces.\n")
    assert home.tell("learn", str(tmp_path / "last.md"))["sections_added"] == 1
    status = home.tell("status")
    assert status["sections"] == 2 * (status["documents"] - 1) + 1
    assert home.tell("check")["ok"]
    assert home.owner() == daemon
    assert home.orphans() == [daemon]
    for folder in folders:
        home.tell("learn", str(folder))
    assert home.tell("status")["documents"] == 6 * 60 + 1


def test_a_command_line_that_is_interrupted_tells_what_was_stored_and_so_it_is(home: Household, tmp_path: Path) -> None:
    for number in range(600):
        (tmp_path / f"{number}.md").write_text(f"# Note {number}\n\n" + f"text{number} of the note. " * 300)
    with Client(home.root) as client:
        learner = home.start("learn", str(tmp_path), "--json")
        wait_for(lambda: client.status().documents > 0)
        learner.send_signal(signal.SIGINT)
        ran = home.end(learner)
        assert ran.code == 130
        assert client.status().documents == len(ran.json["documents"]) < 600
        assert client.check().ok


def test_writes_of_20_connections_at_once_are_stored_each_once(daemon: Daemon) -> None:
    talks = [daemon.talk() for _ in range(20)]
    sent = [
        (talk, talk.send("addSection", content=f"fact{n}x{turn}", title="T"))
        for turn in range(5)
        for n, talk in enumerate(talks)
    ]
    answers = [talk.answer_to(id)["result"] for talk, id in sent]
    assert len({kbid for answer in answers for kbid in answer["kbids"]}) == 100
    assert talks[0].ask("dbStatus")["sections"] == 100
    assert platform.is_process_alive(daemon.process.pid)
