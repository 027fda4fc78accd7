"""Threads: none before there is work, no more than there is work for, and all gone at the end."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from queue import Queue
from typing import Any

import pytest
from daemons import wait_for
from mcp_driver import INFO, envelope, line
from mcp_registry import FixtureRegistry

from kbdb.mcp.protocol import Protocol
from kbdb.mcp.workers import MAX_QUEUED, MAX_WORKERS, Workers


class Gated(FixtureRegistry):
    """A registry whose tools wait until they are let go, or cancelled by its end."""

    def __init__(self) -> None:
        self.begun: Queue[str] = Queue()
        self.gate = threading.Semaphore(0)
        self.closed = 0

    def call_tool(self, name: str, *given: Any) -> Any:
        if name == "test_sampling":
            return super().call_tool(name, *given)
        if name == "ended":
            end = threading.Event()
            with given[1].ended_by(end.set):
                self.begun.put(name)
                end.wait()
            self.begun.put("over")
            return {"content": []}
        self.begun.put(name)
        self.gate.acquire()
        return {"content": []}

    def queues(self, name: str) -> bool:
        return name.startswith("write")

    def close(self) -> None:
        self.closed += 1
        self.gate.release(100)


class Bench:
    """Workers, and what they send."""

    def __init__(self) -> None:
        self.registry = Gated()
        self.sent: Queue[Any] = Queue()
        self.workers = Workers(
            self.registry, Protocol(self.registry, INFO), lambda data: self.sent.put(json.loads(data or b"null"))
        )

    def ask(self, id: int | str, method: str = "tools/call", **params: Any) -> None:
        """Makes a request."""
        params = {"name": f"tool {id}", "_meta": envelope(), **params}
        self.workers.receive(line({"id": id, "method": method, "params": params}))


def threads() -> int:
    return len([one for one in threading.enumerate() if one.name.startswith("mcp-")])


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Workers that are closed afterwards."""
    made = Bench()
    yield made
    made.workers.close(60)


def test_what_does_not_wait_takes_no_thread(bench: Bench) -> None:
    for id, method in enumerate(("server/discover", "tools/list", "resources/templates/list")):
        bench.ask(id, method)
        assert bench.sent.get()["result"]
    assert threads() == 0


def test_calls_one_after_another_share_a_thread(bench: Bench) -> None:
    for id in range(5):
        bench.ask(id)
        bench.registry.gate.release()
        assert bench.sent.get()["id"] == id
        wait_for(lambda: bench.workers._idle)  # it has answered, and is on its way back
    assert threads() == 1


def test_calls_at_once_have_a_thread_each_up_to_the_bound(bench: Bench) -> None:
    for id in range(MAX_WORKERS + 2):
        bench.ask(id)
    running = {bench.registry.begun.get() for _ in range(MAX_WORKERS)}
    assert running == {f"tool {id}" for id in range(MAX_WORKERS)}
    assert threads() == MAX_WORKERS
    bench.registry.gate.release(100)
    assert {bench.sent.get()["id"] for _ in range(MAX_WORKERS + 2)} == {*range(MAX_WORKERS + 2)}


def test_a_call_that_is_cancelled_while_it_waits_is_never_made(bench: Bench) -> None:
    for id in range(MAX_WORKERS + 2):
        bench.ask(id)
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": MAX_WORKERS}}
    bench.workers.receive(line(cancelled))
    bench.registry.gate.release(100)
    answered = {bench.sent.get()["id"] for _ in range(MAX_WORKERS + 1)}
    assert MAX_WORKERS not in answered
    begun = {bench.registry.begun.get() for _ in range(MAX_WORKERS + 1)}
    assert f"tool {MAX_WORKERS}" not in begun


def test_a_handler_is_ended_by_its_clients_cancellation(bench: Bench) -> None:
    bench.ask(1, name="ended")
    assert bench.registry.begun.get() == "ended"
    bench.workers.receive(line({"method": "notifications/cancelled", "params": {"requestId": 1}}))
    assert bench.registry.begun.get() == "over"


def test_who_reads_is_served_while_all_that_may_stand_in_a_queue_do(bench: Bench) -> None:
    for id in range(MAX_WORKERS + 2):
        bench.ask(id, name=f"write {id}")
    begun = {bench.registry.begun.get() for _ in range(MAX_QUEUED)}
    assert begun == {f"write {id}" for id in range(MAX_QUEUED)}
    for id in range(MAX_WORKERS - MAX_QUEUED):
        bench.ask(f"r{id}", name=f"read {id}")
        assert bench.registry.begun.get() == f"read {id}"
    bench.registry.gate.release(100)
    answered = [bench.sent.get()["id"] for _ in range(2 * MAX_WORKERS + 2 - MAX_QUEUED)]
    assert {*range(MAX_WORKERS + 2)} < {*answered}


def test_at_the_end_all_threads_go_and_the_registry_is_closed_once() -> None:
    bench = Bench()
    for id in range(3):
        bench.ask(id)
        bench.registry.begun.get()
    hello = {"protocolVersion": "2025-11-25", "capabilities": {"sampling": {}}}
    bench.workers.receive(line({"id": "i", "method": "initialize", "params": hello}))
    assert bench.sent.get()["id"] == "i"
    asking = {"name": "test_sampling", "arguments": {"prompt": "x"}}
    bench.workers.receive(line({"id": "q", "method": "tools/call", "params": asking}))
    assert bench.sent.get()["method"] == "sampling/createMessage"
    assert bench.workers.close(60)
    assert (threads(), bench.registry.closed) == (0, 1)
    sent = [bench.sent.get() for _ in range(bench.sent.qsize())]
    assert [one for one in sent if one] == []
