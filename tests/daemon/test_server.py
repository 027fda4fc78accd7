"""What a daemon answers, over a real socket."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import stat
import sys
import time
from pathlib import Path
from typing import Any

import fasteners
import pytest
from daemons import Daemon, Talk, running, wait_for
from locks import unlocked

import kbdb
from kbdb import platform
from kbdb.daemon.connection import Connection
from kbdb.daemon.server import Server
from kbdb.daemon.writer import REST_S
from kbdb.knowledge import KnowledgeBase
from kbdb.model.to_json import as_json


def test_it_answers_as_the_database_itself_does(daemon: Daemon, tmp_path: Path) -> None:
    talk = daemon.talk()
    notes = tmp_path / "notes.md"
    notes.write_text("# Storage\n\nWe chose Postgres.\n\n## Why\n\nBecause of JSONB.\n", encoding="utf-8")
    learned = talk.ask("learn", paths=[str(notes)])
    found = talk.ask("search", query="postgres jsonb", explain=True, content=True)
    whole = talk.ask("retrieve", docid=learned["documents"][0]["docid"])
    assert whole["content"] == notes.read_text(encoding="utf-8")
    talk.close()
    daemon.stop()
    with kbdb.open(daemon.root) as kb:
        for name, answer in (
            ("search", as_json(kb.search("postgres jsonb", explain=True, content=True))),
            ("retrieve", as_json(kb.retrieve(docid=learned["documents"][0]["docid"]))),
        ):
            told = {"search": found, "retrieve": whole}[name]
            for changing in ("engine_ms", "elapsed_ms"):
                answer.pop(changing, None)
                told.pop(changing, None)
            assert json.loads(json.dumps(answer)) == told


def test_documents_are_arranged_and_sections_updated(daemon: Daemon) -> None:
    talk = daemon.talk()
    (gate,) = talk.ask("addSection", content="The gate code is 4711.", title="Gate", sectionType="agent")["kbids"]
    (bell,) = talk.ask("addSection", content={"base64": "iVBO/w=="}, title="Bell", type="image/png")["kbids"]
    grouped = talk.ask("groupSections", kbids=[bell, gate], title="Door", docid="door", tags=["home"])
    assert (grouped["docid"], grouped["kbids"], grouped["documents"]) == ("door", [bell, gate], [])
    updated = talk.ask("updateSection", kbid=gate, content="The gate code is 5000.", tags=["code"])
    assert updated["superseded"] == [gate]
    found = talk.ask("readSections", kbids=[updated["kbid"], "0" * 26, bell])
    assert [view["content"] for view in found["sections"]] == ["The gate code is 5000.", {"base64": "iVBO/w=="}]
    assert (found["missing"], found["unreadable"]) == (["0" * 26], [])
    assert talk.ask("content", kbid=bell) == {"content": {"base64": "iVBO/w=="}}
    listed = talk.ask("listByType", sectionType="agent")
    assert [item["state"] for item in listed["items"]].count("active") == 1
    assert "door" in [item["docid"] for item in talk.ask("listDocumentsByType", docType="agent")["items"]]
    ended = talk.ask("removeGrouping", docid="door")
    assert (ended["title"], ended["documents"]) == ("Door", [])
    assert "door" not in [item["docid"] for item in talk.ask("list")["items"]]


def test_a_hit_has_content_and_explain_only_on_request(daemon: Daemon) -> None:
    talk = daemon.talk()
    talk.ask("addSection", content="plain words", title="Plain")
    (hit,) = talk.ask("search", query="plain")["hits"]
    assert not {"content", "explain"} & hit.keys()


def test_what_was_acknowledged_is_found_by_every_later_read(daemon: Daemon) -> None:
    writer, reader = daemon.talk(), daemon.talk()
    for number in range(50):
        generation = writer.ask("addSection", content=f"statement{number} of fifty", title=f"S{number}")["generation"]
        found = reader.ask("search", query=f"statement{number}")
        assert found["total"] == 1
        assert found["generation"] >= generation


def test_writes_that_wait_together_each_get_their_own_answer(daemon: Daemon) -> None:
    talks = [daemon.talk() for _ in range(8)]
    facts = {(talk, n): f"fact{i}x{n}" for i, talk in enumerate(talks) for n in range(20)}
    sent = {(talk, talk.send("addSection", content=fact, title=fact)): fact for (talk, _), fact in facts.items()}
    for (talk, id), fact in sent.items():
        assert talk.answer_to(id)["result"]["sections_added"] == 1
        assert talk.ask("search", query=fact)["total"] == 1
    assert talks[0].ask("dbStatus")["sections"] == 160
    assert talks[0].ask("check")["ok"]


def test_the_first_message_must_be_hello(daemon: Daemon) -> None:
    talk = Talk(daemon.address())
    assert talk.refusal("search", query="x") == "-32600"


def test_another_database_is_refused(daemon: Daemon) -> None:
    talk = Talk(daemon.address())
    assert talk.refusal("hello", version="1.0", database="0" * 26) == "NOT_A_DATABASE"


def test_a_client_that_cannot_read_the_databases_format_is_refused(root: Path) -> None:
    async def told(format: int) -> Any:
        server = Server(kb, unlocked, lambda _: None)
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(lambda: Connection(server), ours)
            hello = {"version": "0.0.9", "format": format, "unheard": "of"}
            line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "hello", "params": hello}) + "\n"
            await loop.sock_sendall(theirs, line.encode())
            return json.loads(await loop.sock_recv(theirs, 10_000))
        finally:
            theirs.close()
            await asyncio.to_thread(server.close)

    class Newer(KnowledgeBase):
        format = 2  # type: ignore[assignment]

    with Newer.create(root) as kb:
        refused = asyncio.run(told(1))["error"]
        assert refused["data"]["code"] == "UNSUPPORTED_FORMAT"
        assert refused["message"] == "the database has format 2, kbdb 0.0.9 reads up to 1"
        assert asyncio.run(told(2))["result"]["format"] == 2


def test_an_unknown_method_and_wrong_parameters_are_named(daemon: Daemon) -> None:
    talk = daemon.talk()
    assert talk.refusal("frobnicate") == "-32601"
    answer = talk.answer_to(talk.send("search", query="x", limt=3))
    assert answer["error"]["code"] == -32602
    assert "limt" in answer["error"]["message"]
    assert "sectionType" in answer["error"]["data"]["hint"]
    assert talk.refusal("search", query=3) == "INVALID_ARGUMENT"
    assert talk.refusal("learn", paths=["notes.md"]) == "INVALID_ARGUMENT"
    assert talk.refusal("learn") == "INVALID_ARGUMENT"
    assert talk.ask("ping") == {}


@pytest.mark.parametrize(
    "line",
    [b"garbage\n", b"\xff\xfe\n", b"[]\n", b"{}\n", b"null\n", b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n'],
)
def test_garbage_gets_an_error_and_the_daemon_lives_on(daemon: Daemon, line: bytes) -> None:
    talk = daemon.talk()
    talk.send_raw(line)
    message = talk.receive()
    assert message is not None
    assert message["error"]["code"] in (-32700, -32600)
    assert talk.ask("ping") == {}


def test_json_nested_100000_deep_is_refused(daemon: Daemon) -> None:
    talk = daemon.talk()
    talk.send_raw(
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}\n"
    )
    message = talk.receive()
    assert message is not None
    assert message["error"]["code"] == -32700
    assert talk.ask("ping") == {}


@pytest.mark.large
def test_a_line_of_100_mb_ends_the_connection_and_nothing_else(daemon: Daemon) -> None:
    talk = daemon.talk()
    with pytest.raises(OSError, match=r"Broken pipe|reset"):
        talk.send_raw(b"x" * (100 << 20))
    assert daemon.talk().ask("ping") == {}


def test_half_a_message_and_silence_hold_nobody_up(daemon: Daemon) -> None:
    silent, other = daemon.talk(), daemon.talk()
    silent.send_raw(b'{"jsonrpc":"2.0","id":9,"method":"addSec')
    assert other.ask("addSection", content="while the other is silent", title="Talk")["sections_added"] == 1
    silent.close()
    assert other.ask("search", query="silent")["total"] == 1


def test_a_client_that_goes_away_takes_its_waiting_writes_along_and_no_others(daemon: Daemon) -> None:
    gone, stays = daemon.talk(), daemon.talk()
    for number in range(30):
        gone.send("addSection", content=f"unheard {number}", title=f"U{number}")
    gone.close()
    assert stays.ask("addSection", content="heard", title="Heard")["sections_added"] == 1
    assert stays.ask("check")["ok"]


def test_the_deadline_of_a_client_that_went_away_during_its_write_passes_unnoticed(
    daemon: Daemon, runtime: Path, tmp_path: Path
) -> None:
    for number in range(100):
        (tmp_path / f"n{number}.md").write_text(f"# Note {number}\n\n" + "text of the note. " * 300, encoding="utf-8")
    gone, stays = daemon.talk(), daemon.talk()
    gone.send("learn", paths=[str(tmp_path)], progress=True, deadlineMs=1000)
    gone.receive()
    gone.close()
    wait_for(lambda: stays.ask("daemonStatus")["doing"] == "")
    time.sleep(1)
    assert stays.ask("ping") == {}
    assert [log.name for log in runtime.glob("*.log") if "Traceback" in log.read_text()] == []


def test_a_client_that_reads_no_answers_does_not_fill_the_daemons_memory(daemon: Daemon) -> None:
    deaf, other = daemon.talk(), daemon.talk()
    other.ask("addSection", content="word " * 2000, title="Long")
    before = other.ask("daemonStatus")["rss_bytes"]
    deaf.socket.settimeout(0.5)
    question = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "search", "params": {"query": "word", "content": True}})
    with pytest.raises(TimeoutError):
        deaf.send_raw(f"{question}\n".encode() * 100_000)
    assert other.ask("daemonStatus")["rss_bytes"] - before < 32 << 20
    assert other.ask("search", query="word")["total"] == 1


def test_learning_a_folder_tells_how_far_it_is_and_stops_when_asked(daemon: Daemon, tmp_path: Path) -> None:
    for number in range(400):
        (tmp_path / f"n{number}.md").write_text(f"# Note {number}\n\n" + "text of the note. " * 300, encoding="utf-8")
    talk = daemon.talk()
    id = talk.send("learn", paths=[str(tmp_path)], progress=True, exclude=[".kbdb"])
    step = talk.receive()
    assert step is not None
    assert step["method"] == "progress"
    assert step["params"]["id"] == id
    assert 0 < step["params"]["done"] < step["params"]["total"] == 400
    talk.notify("cancel", id=id)
    answer = talk.answer_to(id)["result"]
    assert answer["interrupted"]
    stored = talk.ask("dbStatus")["documents"]
    assert stored == len(answer["documents"]) < 400
    assert talk.ask("check")["ok"]


def test_a_write_that_waits_too_long_is_told_who_writes(daemon: Daemon, tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"n{number}.md").write_text(f"# Note {number}\n\n" + "text of the note. " * 300, encoding="utf-8")
    busy, other = daemon.talk(), daemon.talk()
    id = busy.send("learn", paths=[str(tmp_path)], progress=True)
    busy.receive()
    answer = other.answer_to(other.send("addSection", content="a fact", title="Fact", deadlineMs=1))
    assert answer["error"]["data"]["code"] == "BUSY"
    assert f"learn of process {os.getpid()} has been writing for" in answer["error"]["message"]
    assert not busy.answer_to(id)["result"]["interrupted"]


def test_reads_go_on_while_a_folder_is_learned(daemon: Daemon, tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"n{number}.md").write_text(f"# Note {number}\n\n" + "text of the note. " * 300, encoding="utf-8")
    busy, reader = daemon.talk(), daemon.talk()
    id = busy.send("learn", paths=[str(tmp_path)], progress=True)
    busy.receive()
    before = reader.ask("search", query="note")
    assert reader.ask("daemonStatus")["doing"].startswith("learn of process")
    assert before["total"] < 200
    assert not busy.answer_to(id)["result"]["interrupted"]
    assert reader.ask("search", query="note")["total"] == 200


def test_files_can_be_reached_by_the_user_alone(daemon: Daemon, runtime: Path) -> None:
    address = Path(daemon.address())
    assert address.parent == runtime
    assert stat.S_IMODE(address.stat().st_mode) == 0o600
    assert (runtime / f"kbdb-{address.stem.removeprefix('kb-worker-')}.pid").read_text() == f"{daemon.process.pid}\n"


def test_its_process_is_named_kbdb_worker(daemon: Daemon) -> None:
    command = Path(f"/proc/{daemon.process.pid}/cmdline")
    if not command.exists():
        pytest.skip("no /proc on this system")
    assert command.read_bytes().rstrip(b"\0") == b"kbdb-worker"


def test_a_good_end_leaves_nothing_behind(daemon: Daemon, runtime: Path) -> None:
    daemon.talk().ask("addSection", content="kept", title="Kept")
    assert daemon.stop() == 0
    left = {path.name.partition(".")[2] for path in runtime.iterdir()}
    assert left <= {"log", "lock"}
    assert not (daemon.root / "daemon").exists()
    with kbdb.open(daemon.root) as kb:
        assert kb.search("kept").total == 1


def test_a_write_asked_for_before_the_end_is_answered_before_it(daemon: Daemon) -> None:
    talk = daemon.talk()
    ids = [talk.send("addSection", content=f"fact {n}", title=f"T{n}") for n in range(20)]
    daemon.talk().ask("shutdown")
    answered = [talk.answer_to(id) for id in ids]
    assert all("result" in answer for answer in answered)
    daemon.process.wait()
    with kbdb.open(daemon.root) as kb:
        assert kb.status().sections == 20


def test_at_its_end_it_says_which_requests_it_still_answers(daemon: Daemon, tmp_path: Path) -> None:
    for number in range(400):
        (tmp_path / f"n{number}.md").write_text(f"# Note {number}\n\n" + "text of the note. " * 300, encoding="utf-8")
    talk = daemon.talk()
    id = talk.send("learn", paths=[str(tmp_path)], progress=True, exclude=[".kbdb"])
    assert (talk.receive() or {})["method"] == "progress"
    daemon.talk().ask("shutdown")
    while (told := talk.receive() or {}).get("method") == "progress":
        pass
    assert told == {"jsonrpc": "2.0", "method": "closing", "params": {"answers": [id]}}
    assert talk.answer_to(id)["result"]["documents"]
    assert talk.receive() is None


def test_a_stop_ends_a_long_learn_with_what_it_stored_and_short_writes_are_done(daemon: Daemon, tmp_path: Path) -> None:
    for number in range(400):
        (tmp_path / f"n{number}.md").write_text(f"# Note {number}\n\n" + "text of the note. " * 300, encoding="utf-8")
    learner, waiting, writer = daemon.talk(), daemon.talk(), daemon.talk()
    id = learner.send("learn", paths=[str(tmp_path)], progress=True, exclude=[".kbdb"])
    assert (learner.receive() or {})["method"] == "progress"
    rebuild = waiting.send("rebuildIndexes")
    short = writer.send("addSection", content="a fact", title="Fact")
    assert waiting.ask("ping") == writer.ask("ping") == {}
    assert daemon.stop() == 0
    learned = learner.answer_to(id)["result"]
    assert (learned["interrupted"], learned["interrupted_by"]) == (True, "DAEMON_STOPPED")
    refused = waiting.answer_to(rebuild)["error"]
    assert refused["data"]["code"] == "DAEMON_STOPPED"
    assert "signal SIGTERM" in refused["message"]
    assert writer.answer_to(short)["result"]["sections_added"] == 1
    with kbdb.open(daemon.root) as kb:
        assert kb.check().ok
        assert kb.status().documents == len(learned["documents"]) + 1 < 401
        assert not kb.learn(tmp_path, exclude=[".kbdb"]).interrupted
        assert kb.status().documents == 401


def test_a_long_answer_arrives_whole_although_the_daemon_is_told_to_end_meanwhile(daemon: Daemon) -> None:
    talk = daemon.talk()
    text = "word after word " * 300_000
    (learned,) = talk.ask("addSection", content=text, title="Long")["documents"]
    id = talk.send("retrieveDocument", docid=learned["docid"])
    talk.socket.recv(1, socket.MSG_PEEK)
    daemon.talk().ask("shutdown")
    wait_for(lambda: not (daemon.root / "daemon").exists())
    assert talk.answer_to(id)["result"]["content"] == text
    assert daemon.process.wait() == 0


def test_it_leaves_when_its_database_is_removed_and_does_not_bring_it_back(daemon: Daemon, runtime: Path) -> None:
    talk = daemon.talk()
    talk.ask("addSection", content="soon gone", title="Gone")
    shutil.rmtree(daemon.root)
    assert talk.refusal("addSection", content="too late", title="Late") == "NOT_A_DATABASE"
    assert daemon.process.wait() == 0
    assert not daemon.root.exists()
    assert list(runtime.iterdir()) == []


def test_a_database_removed_during_a_learn_is_not_brought_back_and_its_daemon_ends(
    daemon: Daemon, runtime: Path, tmp_path: Path
) -> None:
    for number in range(400):
        (tmp_path / f"n{number}.md").write_text(f"# Note {number}\n\n" + "text of the note. " * 300, encoding="utf-8")
    talk = daemon.talk()
    id = talk.send("learn", paths=[str(tmp_path)], progress=True, exclude=[".kbdb"])
    talk.receive()
    daemon.root.rename(tmp_path / "removed")
    assert talk.answer_to(id)["error"]["data"]["code"] == "NOT_A_DATABASE"
    assert daemon.process.wait() == 0
    assert not daemon.root.exists()
    assert list(runtime.iterdir()) == []


def test_it_leaves_when_another_database_stands_in_the_place_of_its_own(daemon: Daemon) -> None:
    shutil.rmtree(daemon.root)
    kbdb.init(daemon.root).close()
    assert daemon.process.wait() == 0
    with kbdb.open(daemon.root) as kb:
        assert kb.status().sections == 0


def test_a_runtime_folder_that_vanished_is_made_anew(daemon: Daemon, runtime: Path) -> None:
    shutil.rmtree(runtime)
    runtime.mkdir(mode=0o700)
    wait_for(lambda: Path(daemon.address()).exists())
    talk = daemon.talk()
    assert talk.ask("addSection", content="still here", title="Here")["sections_added"] == 1


def test_an_address_and_a_pid_file_that_vanished_are_put_back_and_the_socket_stays(
    daemon: Daemon, runtime: Path
) -> None:
    socket_before = os.stat(daemon.address())
    (pid_file,) = runtime.glob("*.pid")
    pid_file.unlink()
    (daemon.root / "daemon").unlink()
    wait_for(lambda: daemon.address() and pid_file.exists())
    assert socket_before == os.stat(daemon.address())


def test_a_write_that_waits_for_the_lock_of_another_program_is_told_its_process(daemon: Daemon, runtime: Path) -> None:
    talk, other = daemon.talk(), daemon.talk()
    talk.ask("addSection", content="first", title="First")
    (path,) = runtime.glob("kbdb-*.lock")
    with fasteners.InterProcessLock(path):
        waits = talk.send("addSection", content="second", title="Second")
        wait_for(lambda: other.ask("daemonStatus")["waiting"] == 0)
        answer = other.answer_to(other.send("addSection", content="third", title="Third", deadlineMs=500))
        assert answer["error"]["data"]["code"] == "BUSY"
        if sys.platform == "linux":
            assert f"; process {os.getpid()} (" in answer["error"]["message"]
        assert f"holds {path}, for which a write has waited" in answer["error"]["message"]
        assert other.ask("daemonStatus")["doing"].endswith(" s")
    assert talk.answer_to(waits)["result"]["sections_added"] == 1


def waiting_for_the_lock(daemon: Daemon, talk: Talk) -> int:
    """The id of a write that the writer has begun, and that waits for another program."""
    id = talk.send("addSection", content="second", title="Second")
    wait_for(lambda: "for which a write has waited" in daemon.talk().ask("daemonStatus")["doing"])
    return id


def test_a_daemon_that_is_stopped_waits_for_no_other_program(daemon: Daemon, runtime: Path) -> None:
    talk = daemon.talk()
    talk.ask("addSection", content="first", title="First")
    (path,) = runtime.glob("kbdb-*.lock")
    with fasteners.InterProcessLock(path):
        waits = waiting_for_the_lock(daemon, talk)
        daemon.process.send_signal(signal.SIGTERM)
        assert talk.answer_to(waits)["error"]["data"]["code"] == "DATABASE_CLOSED"
        assert daemon.stop() == 0
    with kbdb.open(daemon.root) as kb:
        assert [item.title for item in kb.list("sections").items] == ["First"]


def test_a_write_that_waits_for_another_program_ends_when_it_is_cancelled(daemon: Daemon, runtime: Path) -> None:
    talk = daemon.talk()
    talk.ask("addSection", content="first", title="First")
    (path,) = runtime.glob("kbdb-*.lock")
    with fasteners.InterProcessLock(path):
        waits = waiting_for_the_lock(daemon, talk)
        talk.notify("cancel", id=waits)
        assert talk.answer_to(waits)["error"]["data"]["code"] == "INTERRUPTED"
    assert talk.ask("addSection", content="third", title="Third")["sections_added"] == 1
    assert talk.ask("search", query="second")["total"] == 0


def test_the_journal_that_another_program_kept_from_being_emptied_is_emptied_later(
    daemon: Daemon, runtime: Path
) -> None:
    talk = daemon.talk()
    talk.ask("addSection", content="first", title="First")
    (path,) = runtime.glob("kbdb-*.lock")
    journal = daemon.root / "journal.log"
    with fasteners.InterProcessLock(path):
        size = journal.stat().st_size
        time.sleep(REST_S + 0.5)
        assert journal.stat().st_size == size
    wait_for(lambda: journal.stat().st_size < size)


def test_what_is_left_of_a_database_that_is_gone_goes_with_the_next_daemon(
    daemon: Daemon, runtime: Path, tmp_path: Path
) -> None:
    gone, kept, held = (tmp_path / name / ".kbdb" for name in ("gone", "kept", "held"))
    files = {}
    for root in (gone, kept, held):
        with kbdb.init(root) as kb:
            kb.learn(content="a fact", title="Fact")
        files[root] = runtime / f"kbdb-{platform.context_id(root)}.lock"
        assert files[root].exists()
        files[root].with_suffix(".log").touch()
    (runtime / f"kbdb-{'0' * 16}.lock").touch()
    shutil.rmtree(gone)
    shutil.rmtree(held)
    with fasteners.InterProcessLock(files[held]):
        assert daemon.stop() == 0
    left = {path.name.partition(".")[0] for path in runtime.iterdir()}
    own = {path.stem for path in (files[kept], files[held], runtime / f"kbdb-{'0' * 16}.lock")}
    assert left == own | {f"kbdb-{platform.context_id(daemon.root)}"}
    assert {path.suffix for path in runtime.glob(f"{files[kept].stem}.*")} == {".lock", ".log"}


def test_it_leaves_when_nobody_calls(root: Path) -> None:
    kbdb.init(root).close()
    (root / "worker.toml").write_text("[daemon]\nidle_timeout_s = 1\n")
    with running(root) as daemon:
        daemon.talk().ask("ping")
        assert daemon.process.wait() == 0
    assert not (root / "daemon").exists()


def test_a_second_daemon_finds_the_first_and_goes(daemon: Daemon) -> None:
    second = Daemon(daemon.root)
    assert second.process.wait() == 0
    assert daemon.talk().ask("ping") == {}


def test_a_daemon_that_cannot_start_says_why(root: Path) -> None:
    kbdb.init(root).close()
    (root / "worker.toml").write_text("[search]\nlimt = 3\n")
    daemon = Daemon(root)
    assert daemon.process.stderr is not None
    told = json.loads(daemon.process.stderr.read().splitlines()[-1])
    assert told["error"]["code"] == "BAD_CONFIG"
    assert "limt" in told["error"]["message"]
    assert daemon.stop() == 1


def test_a_damaged_database_is_told_of_and_can_be_checked(root: Path) -> None:
    with kbdb.init(root) as kb:
        kbid = kb.learn(content="a fact", title="Fact").kbids[0]
        kb.unlearn(kbid)
    (events,) = (root / "events").iterdir()
    events.write_bytes(b"not an event\n")
    with running(root) as daemon:
        talk = daemon.talk()
        assert talk.refusal("search", query="fact") == "CORRUPT"
        assert not talk.ask("check")["ok"]
        assert talk.refusal("addSection", content="another", title="Other") == "CORRUPT"
        assert daemon.stop() == 0


def test_a_deadline_that_is_none_is_refused_before_anything_is_written(daemon: Daemon) -> None:
    talk = daemon.talk()
    for deadline in (-1, 10**400):
        assert talk.refusal("addSection", content="a fact", title="Fact", deadlineMs=deadline) == "INVALID_ARGUMENT"
    assert talk.ask("dbStatus")["sections"] == 0


def test_a_write_cancelled_while_it_waits_behind_others_is_not_done(daemon: Daemon, tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"n{number}.md").write_text(f"# Note {number}\n\n" + "text of the note. " * 300, encoding="utf-8")
    busy, other = daemon.talk(), daemon.talk()
    id = busy.send("learn", paths=[str(tmp_path)], progress=True)
    busy.receive()
    waiting = [other.send("addSection", content=f"fact {number}", title=f"F{number}") for number in range(8)]
    other.notify("cancel", id=waiting[7])
    assert other.answer_to(waiting[7])["error"]["data"]["code"] == "INTERRUPTED"
    for one in waiting[:7]:
        assert other.answer_to(one)["result"]["sections_added"] == 1
    busy.answer_to(id)
    assert other.ask("dbStatus")["sections"] == 207


def test_a_pause_empties_the_journal(daemon: Daemon) -> None:
    talk = daemon.talk()
    talk.ask("addSection", content="a fact", title="Fact")
    full = (daemon.root / "journal.log").stat().st_size
    wait_for(lambda: (daemon.root / "journal.log").stat().st_size < full)
    assert (daemon.root / "indexes" / "meta.toml").exists()
    assert talk.ask("search", query="fact")["total"] == 1
    daemon.stop(signal.SIGKILL)
    with kbdb.open(daemon.root) as kb:
        assert kb.search("fact").total == 1


def test_a_short_write_gets_its_turn_between_the_batches_of_a_long_learn(daemon: Daemon, tmp_path: Path) -> None:
    for number in range(1000):
        (tmp_path / f"n{number}.md").write_text(f"# Note {number}\n\n" + "text of the note. " * 300, encoding="utf-8")
    busy, other = daemon.talk(), daemon.talk()
    id = busy.send("learn", paths=[str(tmp_path)], progress=True)
    busy.receive()
    kbid = other.ask("addSection", content="a fact", title="Fact")["kbids"][0]
    assert other.ask("daemonStatus")["doing"].startswith("learn of"), "the long learn was over before"
    assert other.ask("search", query="fact")["hits"][0]["kbid"] == kbid
    assert other.ask("search", query="note")["total"] > 0, "what the learn stored so far is found"
    assert busy.answer_to(id)["result"]["sections_added"] == 1000
    assert other.ask("dbStatus")["sections"] == 1001
    assert other.ask("check")["ok"]
