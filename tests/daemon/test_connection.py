"""One client's connection, with a transport that keeps what is written."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import cast

import pytest

from kbdb.daemon import connection as connections
from kbdb.daemon.connection import Connection
from kbdb.rpc.messages import Id, Request, Result, encode


class Transport(asyncio.Transport):
    """Says who is connected, whether it is read from, and takes what is written."""

    def __init__(self, end: socket.socket) -> None:
        super().__init__({"socket": end})
        self.reads = True
        self.written: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview[int]) -> None:
        self.written.append(bytes(data))

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True

    def is_closing(self) -> bool:
        return False


class Echo:
    """Answers each request at once."""

    def __init__(self) -> None:
        self.answered: list[Id] = []

    def connected(self, connection: Connection) -> None:
        connection.greeted = True

    def request(self, connection: Connection, request: Request) -> None:
        self.answered.append(request.id)
        connection.answer(request.id, encode(Result(request.id, {})))

    def cancel(self, connection: Connection, id: Id) -> None:
        raise AssertionError(f"{connection.peer} cancels {id}")

    def disconnected(self, connection: Connection) -> None: ...


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    pair = socket.socketpair(socket.AF_UNIX)
    yield pair
    for end in pair:
        end.close()


def requests(count: int) -> bytes:
    return b"".join(encode(Request(number, "ping", {})) for number in range(count))


def test_what_is_sent_at_once_is_answered_in_order(ends: tuple[socket.socket, socket.socket]) -> None:
    echo, transport = Echo(), Transport(ends[0])

    async def talk() -> None:
        connection = Connection(echo)
        connection.connection_made(transport)
        connection.data_received(requests(300))
        while not transport.reads or len(echo.answered) < 300:
            await asyncio.sleep(0)

    asyncio.run(talk())
    assert echo.answered == list(range(300))
    assert [encode(Result(number, {})) for number in range(300)] == transport.written


def test_a_client_that_sends_much_at_once_lets_others_have_their_turn(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "TURN_S", 0.0)
    many, one = Echo(), Echo()
    reads = []

    async def talk() -> None:
        greedy, modest = Connection(many), Connection(one)
        transport = Transport(ends[0])
        greedy.connection_made(transport)
        modest.connection_made(Transport(ends[1]))
        greedy.data_received(requests(50))
        reads.append(transport.reads)
        modest.data_received(requests(1))
        assert (len(many.answered), one.answered) == (1, [0])
        while len(many.answered) < 50:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        reads.append(transport.reads)

    asyncio.run(talk())
    assert many.answered == list(range(50))
    assert reads == [False, True], "no more is taken in before what has come was looked at"


def test_half_a_line_that_came_with_whole_ones_waits_for_its_end(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "TURN_S", 0.0)
    echo, transport = Echo(), Transport(ends[0])

    async def talk() -> None:
        connection = Connection(echo)
        connection.connection_made(transport)
        sent = requests(3)
        connection.data_received(sent[:-5])
        for _ in range(20):
            await asyncio.sleep(0)
        assert (echo.answered, transport.reads) == ([0, 1], True)
        connection.data_received(sent[-5:])
        await asyncio.sleep(0)

    asyncio.run(talk())
    assert cast(list[int], echo.answered) == [0, 1, 2]
