"""A client that works on a database until it is told to stop, and writes down all it did and saw.

python actor.py ROLE NAME ROOT HISTORY STOP

It ends with 1 where an answer contradicts itself. ``STOP`` is a file that appears when it is time to stop.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kbdb.client import Client
from kbdb.errors import DaemonLostError, DaemonStartError, DocumentNotFoundError, InterruptedByStopError
from tests.concurrency.history import ABSENT, Call, save

PARTS = 4
"""Sections of a register."""

_MARK = re.compile(r"register (\w+) at revision (\d+) here, part (\d)")


class Actor:
    """One client.

    Attributes:
        name: the register that it writes, where it writes one.
        chance: its dice.
    """

    def __init__(self, name: str, root: Path, history: Path, stop: Path) -> None:
        self.name = name
        self.chance = random.Random(name)
        self._client = Client(root)
        self._history = history.open("a", buffering=1)
        self._stop = stop

    def turns(self) -> Iterator[int]:
        """Numbers, until it is time to stop."""
        turn = 0
        while not self._stop.exists():
            turn += 1
            yield turn

    def write(self, revision: int, method: str, **named: Any) -> bool:
        """Writes the register; false where it is not known whether that was done."""
        began = time.monotonic()
        answer = self.ask(method, docid=self.name, **named)
        generation = answer and answer.generation
        self._note(Call(began, time.monotonic(), generation, written=(self.name, revision)))
        return answer is not None

    def read(self) -> None:
        """Looks at all registers at once."""
        began = time.monotonic()
        found = self.ask("search", "register", limit=500, content=True)
        if found is None:
            return
        ended = time.monotonic()
        assert not found.unreadable, found.unreadable
        parts = defaultdict[str, list[tuple[int, int]]](list)
        for hit in found.hits:
            for register, revision, part in _MARK.findall(hit.content):
                parts[register].append((int(revision), int(part)))
        for register, seen in parts.items():
            revision = seen[0][0]
            assert sorted(seen) == [(revision, part) for part in range(PARTS)], f"torn: {register} {sorted(seen)}"
        assert found.total == len(found.hits) == PARTS * len(parts), found
        self._note(Call(began, ended, found.generation, seen={name: of[0][0] for name, of in parts.items()}))

    def ask(self, method: str, *arguments: Any, **named: Any) -> Any:
        """A call that may be lost, or ended early with its daemon; None where it is."""
        try:
            return getattr(self._client, method)(*arguments, **named)
        except InterruptedByStopError:
            return None
        except (DaemonLostError, DaemonStartError) as error:
            print(f"lost at {time.time():.3f}: {method}: {error!r}", file=sys.stderr, flush=True)
            return None

    def _note(self, call: Call) -> None:
        self._history.write(save(call))


def text(register: str, revision: int) -> str:
    """The document of a register."""
    first, *others = [
        f"register {register} at revision {revision} here, part {part}\n\n{register}x{revision}x{part}"
        for part in range(PARTS)
    ]
    return "\n\n".join(
        [f"# {register}\n\n{first}", *(f"## {register} {n}\n\n{other}" for n, other in enumerate(others))]
    )


def revise(actor: Actor) -> None:
    """Writes one revision after the other."""
    for turn in actor.turns():
        content = text(actor.name, turn)
        actor.write(turn, "learn", content=content, replace=True)


def forget(actor: Actor) -> None:
    """Learns, forgets and brings back."""
    for turn in actor.turns():
        content = text(actor.name, turn)
        known = actor.write(turn, "learn", content=content, replace=True)
        if known and actor.write(ABSENT, "unlearn") and actor.chance.random() < 0.7:
            actor.write(turn, "restore")


def learn(actor: Actor) -> None:
    """Learns facts, which it prints, and looks each of them up; now and then a folder of them."""
    with tempfile.TemporaryDirectory() as folder:
        for turn in actor.turns():
            facts = [f"fact{actor.name}x{turn}x{number}" for number in range(8 if turn % 8 == 0 else 1)]
            for fact in facts:
                path = Path(folder, str(turn), f"{fact}.md")
                path.parent.mkdir(exist_ok=True)
                path.write_text(f"# {fact}\n\nIt is known that {fact}, {'and so on ' * 500}.\n")
            learned = actor.ask("learn", paths=[path.parent])
            if learned is None or learned.interrupted:
                continue
            print(*facts, sep="\n", flush=True)
            for fact in facts:
                found = actor.ask("search", f'"{fact}"')
                assert found is None or found.total == 1, (fact, found)


def watch(actor: Actor) -> None:
    """Reads."""
    for _ in actor.turns():
        actor.read()


def browse(actor: Actor) -> None:
    """Reads what has no generation: a document is there as it was written once, or it is gone."""
    for _ in actor.turns():
        listed = actor.ask("list", "documents", limit=500)
        for item in listed.items if listed else ():
            try:
                view = actor.ask("retrieve", docid=item.docid)
            except DocumentNotFoundError:
                continue
            if view is not None and (marks := _MARK.findall(content := view.content.decode())):
                assert content == text(marks[0][0], int(marks[0][1]))


def tidy(actor: Actor) -> None:
    """Rebuilds, collects garbage and checks."""
    for turn in actor.turns():
        if turn % 3 == 1:
            actor.ask("rebuild")
        elif turn % 3 == 2:
            actor.ask("gc", keep_days=0)
        else:
            checked = actor.ask("check")
            assert checked is None or checked.ok, checked
        time.sleep(0.2)


ROLES = {role.__name__: role for role in (learn, revise, forget, watch, browse, tidy)}


if __name__ == "__main__":
    role, name, *paths = sys.argv[1:]
    actor = Actor(name, *map(Path, paths))
    ROLES[role](actor)
