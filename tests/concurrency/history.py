"""What clients did and saw, and whether one order of all of it explains it.

A register is a document whose sections all carry the number of its revision; one client writes it, all read it. Every
commit has a generation, and every answer says which one it shows. So a history is linearizable where

- no answer shows an earlier generation than any answer that was there before its call began, of whatever client;
- what an answer shows of each register is what the last write up to its generation left.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

ABSENT = 0
"""The revision of a register whose document is not there."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a client.

    Attributes:
        began: when (``time.monotonic``, the same for all processes).
        ended: when it was answered.
        generation: the answer's; None where there was no answer, so that it may have been done or not.
        written: the register, and its revision from then on.
        seen: the revision of each register that it showed, those missing being absent; None for no look at them.
    """

    began: float
    ended: float
    generation: int | None
    written: tuple[str, int] | None = None
    seen: Mapping[str, int] | None = None


def save(call: Call) -> str:
    """A call as one line."""
    return json.dumps(asdict(call)) + "\n"


def load(path: Path) -> list[Call]:
    """The calls in a file, in their order."""
    found = [Call(**json.loads(line)) for line in path.read_text().splitlines()]
    return [Call(c.began, c.ended, c.generation, c.written and (c.written[0], c.written[1]), c.seen) for c in found]


def faults(histories: Iterable[Iterable[Call]]) -> list[str]:
    """What no order explains.

    Args:
        histories: of each client, its calls one after another.
    """
    calls = sorted((call for history in histories for call in history), key=lambda call: call.began)
    return [*_steps_back(calls), *_wrong_views(calls)]


def _steps_back(calls: list[Call]) -> list[str]:
    """Answers older than one that was there before they were asked for."""
    found = []
    answered = sorted((call for call in calls if call.generation is not None), key=lambda call: call.ended)
    place, newest = 0, Call(0, 0, 0)
    for call in calls:
        while place < len(answered) and answered[place].ended < call.began:
            newest = max(newest, answered[place], key=lambda known: known.generation or 0)
            place += 1
        if call.generation is not None and call.generation < (newest.generation or 0):
            found.append(f"{call} shows less than {newest}, which had ended")
    return found


def _wrong_views(calls: list[Call]) -> list[str]:
    writes = defaultdict[str, list[Call]](list)
    for call in calls:
        if call.written:
            writes[call.written[0]].append(call)
    found = []
    for call in calls:
        for register in writes if call.seen is not None else ():
            revision, allowed = (call.seen or {}).get(register, ABSENT), _allowed(writes[register], call)
            if revision not in allowed:
                found.append(f"{call} shows revision {revision} of {register}, not one of {sorted(allowed)}")
    return found


def _allowed(writes: list[Call], read: Call) -> set[int]:
    """The revisions a register may have at the generation of an answer."""
    assert read.generation is not None
    allowed = {ABSENT}
    for write in writes:
        assert write.written is not None
        if write.generation is None:
            if write.began < read.ended:
                allowed.add(write.written[1])
        elif write.generation <= read.generation:
            allowed = {write.written[1]}
        else:
            break
    return allowed
