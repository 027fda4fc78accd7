"""Works out what has to change in a program's settings file, shows it as a diff, and writes it."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from kbdb.errors import SettingsFileError
from kbdb.setup import files, jsonc_edit, toml_edit
from kbdb.setup.clients import NAME, Client, Entry, Folders, Scope, check_values
from kbdb.setup.fault import TextFault
from kbdb.setup.options import merged
from kbdb.setup.server import Server, same_program

Action = Literal["add", "update", "remove", "none"]

CONTEXT = 3
"""Lines around a change in its diff."""

_SWITCH = "enabled"
"""What opencode wants in an entry that counts; where it stands in one, it is the user's."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class _Format(NamedTuple):
    """What can be done with the text of a settings file."""

    read: Callable[[str], dict[str, Any]]
    put: Callable[[str, Sequence[str], Any], str]
    take_out: Callable[[str, Sequence[str]], str]
    snippet: Callable[[Sequence[str], Any], str]


_FORMATS = {
    "json": _Format(jsonc_edit.read, jsonc_edit.put, jsonc_edit.take_out, jsonc_edit.snippet),
    "toml": _Format(toml_edit.read, toml_edit.put, toml_edit.take_out, toml_edit.snippet),
}


@dataclass(frozen=True, slots=True)
class Change:
    """What would change in one file.

    Attributes:
        client: the program.
        scope: whose settings they are.
        file: where.
        action: what happens to the entry.
        entry: the entry as it will be, or as it was when it is taken out; None where there is none.
        before: the file's bytes; None where there is no file.
        after: what they become; ``before`` when nothing changes.
        server: what the entry starts; None when it is taken out.
        kept: what stays in the entry of what somebody put there to be started otherwise.
        left_out: words of the entry that ``kbdb mcp`` does not take, and that do not stay.
    """

    client: Client
    scope: Scope
    file: Path
    action: Action
    entry: Entry | None
    before: bytes | None
    after: bytes | None
    server: Server | None = None
    kept: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty when there is none."""
        if self.after is None or self.before == self.after:
            return ""
        return _diff(self.file, self.before, self.after)

    def write(self) -> None:
        """Writes the file.

        Raises:
            SettingsFileError: it was changed since it was read.
            StorageError: the system refused; the file holds what it held.
        """
        if self.after is not None and self.before != self.after:
            files.write(self.file, self.before, self.after, "private" if self.scope == "user" else "shared")


def adding(of: Client, scope: Scope, folders: Folders, server: Server) -> Change:
    """The change that makes a program start a server.

    What somebody added to the entry stays, such as ``env``, ``--read-only`` and whether it is switched off; an entry
    with the address of a server is replaced as a whole.

    Raises:
        UsageError: the program would not take the command line as it is.
        SettingsFileError: the file is not what the program reads; says on which line.
        StorageError: it cannot be read.
    """
    check_values(of, [server.command, *server.arguments])
    file, text, held = _settings(of, scope, folders)
    key = _key_in(of, held)
    there = _lookup(held, key)
    entry = _entry(of, key, server)
    form = _FORMATS[of.format]
    with_entry = entry
    kept: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    off = _off(there)
    try:
        if isinstance(there, dict) and not _is_elsewhere(there):
            server, kept, left_out = merged(of, there, server)
            entry = _keeping_the_name(there, _entry(of, key, server))
            if _SWITCH in there or "command" in there:
                entry.pop(_SWITCH, None)
            new = text
            for name, value in entry.items():
                if name not in there or there[name] != value:
                    new = form.put(new, (*key, name), value)
            with_entry = {**there, **entry}
        else:
            with_entry = entry = {**entry, **off}
            new = form.put(text, key, entry)
    except TextFault as fault:
        raise _told(file.path, fault) from fault
    _make_sure(of, file.path, new, _with(held, key, with_entry))
    action: Action = "none" if new == text else "add" if there is None else "update"
    after = file.encoded(new)
    kept = (*kept, *(f"{name}: {json.dumps(value)}" for name, value in off.items()))
    return Change(of, scope, file.path, action, with_entry, file.data, after, server, kept, left_out)


def removing(of: Client, scope: Scope, folders: Folders) -> Change:
    """The change that takes the entry out; none where there is no entry.

    Raises:
        SettingsFileError: the file is not what the program reads; says on which line.
        StorageError: it cannot be read.
    """
    file, text, held = _settings(of, scope, folders)
    for key in _keys(of):
        there = _lookup(held, key)
        if there is not None:
            break
    else:
        return Change(of, scope, file.path, "none", None, file.data, file.data)
    try:
        new = _FORMATS[of.format].take_out(text, key)
    except TextFault as fault:
        raise _told(file.path, fault) from fault
    _make_sure(of, file.path, new, _with(held, key, None))
    entry = there if isinstance(there, dict) else None
    return Change(of, scope, file.path, "remove", entry, file.data, file.encoded(new))


def snippet(of: Client, server: Server) -> tuple[str, Entry]:
    """What to paste into a program's settings by hand, and the entry in it."""
    check_values(of, [server.command, *server.arguments])
    entry = of.shape(server.command, server.arguments)
    return _FORMATS[of.format].snippet((*of.key, NAME), entry), entry


def entry_in(of: Client, scope: Scope, folders: Folders) -> Entry | None:
    """The entry that a program has now.

    Raises:
        SettingsFileError: the file is not what the program reads.
        StorageError: it cannot be read.
    """
    _, _, held = _settings(of, scope, folders)
    found = next((there for key in _keys(of) if (there := _lookup(held, key)) is not None), None)
    return found if isinstance(found, dict) else None


class _File(NamedTuple):
    path: Path
    data: bytes | None

    def text(self) -> str:
        return files.decoded(self.data or b"", self.path).removeprefix(files.BOM)

    def encoded(self, text: str) -> bytes:
        mark = files.BOM if (self.data or b"").startswith(files.BOM.encode()) else ""
        try:
            return (mark + text).encode()
        except UnicodeEncodeError as error:
            # Half a character, which JSON can escape; as an argument no system can pass it on.
            message = f"{self.path}: the entry holds {text[error.start]!a}, which is no character"
            raise SettingsFileError(message, "mend it and run the command again; nothing was written") from error


def _settings(of: Client, scope: Scope, folders: Folders) -> tuple[_File, str, dict[str, Any]]:
    """The file that a program keeps its settings in, its text and what it holds.

    Of several that it may read, the one with an entry, else the first that is there, else the usual one.
    """
    form = _FORMATS[of.format]
    there: list[tuple[_File, str, dict[str, Any]]] = []
    for place in of.files[scope]:
        file = _File(folders.file(place), files.read(folders.file(place)))
        if file.data is None:
            continue
        text = file.text()
        try:
            there.append((file, text, form.read(text)))
        except TextFault as fault:
            raise _told(file.path, fault) from fault
        if any(_lookup(there[-1][2], key) is not None for key in _keys(of)):
            return there[-1]
    return there[0] if there else (_File(folders.file(of.files[scope][0]), None), "", {})


def _keys(of: Client) -> list[tuple[str, ...]]:
    """The names that may lead to the entry; opencode has had its servers one level deeper since its version 2."""
    return [(*of.key, NAME), *([(*of.key, "servers", NAME)] if of.name == "opencode" else [])]


def _key_in(of: Client, held: dict[str, Any]) -> tuple[str, ...]:
    """Where the entry is in a file, else where it belongs there."""
    usual, *deeper = _keys(of)
    for key in (usual, *deeper):
        if _lookup(held, key) is not None:
            return key
    for key in deeper:
        servers = _lookup(held, key[:-1])
        if isinstance(servers, dict) and "type" not in servers:
            return key
    return usual


def _entry(of: Client, key: tuple[str, ...], server: Server) -> Entry:
    """The form of an entry; opencode's newer place has none that is switched on."""
    entry = of.shape(server.command, server.arguments)
    return entry if key == _keys(of)[0] else {name: value for name, value in entry.items() if name != _SWITCH}


def _is_elsewhere(there: Entry) -> bool:
    """Whether an entry has the address of a server instead of a program to start."""
    return "command" not in there and any(name.lower().endswith("url") for name in there)


def _off(there: Any) -> dict[str, bool]:
    """What switches an entry off, in the words of one program or another."""
    switches = {_SWITCH: False, "disabled": True} if isinstance(there, dict) else {}
    return {name: value for name, value in switches.items() if there.get(name) is value}


def _keeping_the_name(there: Entry, entry: Entry) -> Entry:
    """The entry with the command as it is written in the file, where that starts the same program."""
    old, new = there.get("command"), entry["command"]
    if isinstance(new, list):
        old = old if isinstance(old, list) else []
        return {**entry, "command": [old[0], *new[1:]]} if old and same_program(old[0], new[0]) else entry
    return {**entry, "command": old} if same_program(old, new) else entry


def _lookup(held: Any, key: Sequence[str]) -> Any:
    for name in key:
        if not isinstance(held, dict) or name not in held:
            return None
        held = held[name]
    return held


def _with(held: dict[str, Any], key: Sequence[str], entry: Entry | None) -> dict[str, Any]:
    """What a file must hold with an entry, or without any; empty objects that lead to one do not count."""
    name, *rest = key
    inner = held.get(name)
    if rest:
        entry = _with(inner if isinstance(inner, dict) else {}, rest, entry) or None
    others = {other: value for other, value in held.items() if other != name}
    return others if entry is None else {**others, name: entry}


def _make_sure(of: Client, path: Path, text: str, wanted: dict[str, Any]) -> None:
    """Reads a text again before it takes the place of somebody's file.

    Raises:
        SettingsFileError: it does not hold what it should: the file is written in a way that cannot be changed here.
    """
    try:
        held = _FORMATS[of.format].read(text)
    except TextFault:
        held = None
    if held is None or _trimmed(of, held) != _trimmed(of, wanted):
        hint = f"kbdb setup {of.name} --print shows what to put there by hand; nothing was written"
        raise SettingsFileError(f"{path} is written in a way that kbdb cannot change", hint)


def _trimmed(of: Client, held: dict[str, Any]) -> dict[str, Any]:
    """What a file holds without empty objects on the way to an entry."""
    for key in _keys(of):
        held = _with(held, key, _lookup(held, key))
    return held


def _told(path: Path, fault: TextFault) -> SettingsFileError:
    message = f"{path}, line {fault.line}, column {fault.column}: {fault.what}"
    return SettingsFileError(message, "mend it and run the command again; nothing was written")


def _diff(path: Path, before: bytes | None, after: bytes) -> str:
    """A unified diff; only the lines that differ are compared, for settings files may be long."""
    old, new = _LINE.findall((before or b"").decode("utf-8")), _LINE.findall(after.decode("utf-8"))
    start = common(old, new)
    end = common(old[start:][::-1], new[start:][::-1])
    first = max(0, start - CONTEXT)
    left, right = (lines[first : len(lines) - max(0, end - CONTEXT)] for lines in (old, new))
    name = "/dev/null" if before is None else str(path)
    lines = difflib.unified_diff(left, right, name, str(path), n=CONTEXT)
    return "".join(_shifted(line, first) if line.startswith("@@") else _ended(line) for line in lines)


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items, or letters, two begin with alike."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _shifted(hunk: str, lines: int) -> str:
    return re.sub(r"(?<=[-+])\d+", lambda found: str(int(found[0]) + lines), hunk)


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
