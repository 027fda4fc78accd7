"""Which files a learn means: the named ones, and what is worth learning in the named folders, in a stable order.

Reads directories and ignore files, never the sources themselves. Nothing is raised for a single bad entry: what was
left out, and what could not be looked at, is part of the answer.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from kbdb.errors import InvalidArgumentError, KbdbError, SourceNotFoundError, SourceUnreadableError
from kbdb.ingest.ignore import Rule, glob_rule, matches_within, read_rules, verdict
from kbdb.ingest.media import is_known_text
from kbdb.paths import DATABASE_FOLDER, absolute

IGNORE_FILES = (".gitignore", ".kbdbignore")
"""Read in this order in each folder; later rules win."""

EXPORT_MARKS = frozenset(("SHA256SUMS", "catalog.toml"))
"""What a folder that ``kbdb export`` wrote holds beside its sections and documents."""


class Reason(StrEnum):
    """Why an entry of a folder was left out."""

    HIDDEN = "hidden"
    IGNORED = "ignored"
    EXCLUDED = "excluded"
    NOT_INCLUDED = "not included"
    NOT_TEXT = "not known as text"
    OUTSIDE = "link out of the folder"
    DUPLICATE = "link to what is learned already"
    SPECIAL = "neither a file nor a folder"
    EXPORT = "kbdb export"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to learn; ``named`` when it was given itself; ``folder`` is the named folder it was found in, or None."""

    path: Path
    named: bool
    folder: Path | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """An entry left out: a file, or a folder with all that is in it."""

    path: Path
    reason: Reason


@dataclass(frozen=True, slots=True)
class WalkError:
    """An entry that could not be looked at."""

    path: Path
    error: KbdbError


@dataclass(frozen=True, slots=True)
class Walked:
    """The answer: files in the order of the given paths, within a folder by path; each file once."""

    files: tuple[SourceFile, ...]
    skipped: tuple[Skipped, ...]
    errors: tuple[WalkError, ...]


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of one folder's ignore files."""

    folder: str
    rules: tuple[Rule, ...]

    def verdict(self, path: str, is_folder: bool) -> bool | None:
        return verdict(self.rules, _relative(path, self.folder), is_folder)


def walk(paths: Iterable[Path], include: Sequence[str] = (), exclude: Sequence[str] = ()) -> Walked:
    """Finds the files to learn.

    Args:
        paths: files and folders. A file is taken whatever it is; a folder is walked even if hidden or ignored itself.
        include: globs (as in ignore files, relative to the named folder); when given, they say instead of the known
            text suffixes which files of a folder are learned. Hidden and ignored files stay out.
        exclude: globs of files and folders to leave out.

    Raises:
        StorageError: a path is relative, and the current folder was removed.
    """
    includes = [rule for glob in include if (rule := glob_rule(glob)) is not None]
    excludes = [rule for glob in exclude if (rule := glob_rule(glob)) is not None]
    files: dict[str, SourceFile] = {}
    skipped: list[Skipped] = []
    errors: list[WalkError] = []
    for path in paths:
        named = Path(os.path.abspath(absolute(path)))
        try:
            is_folder = _is_named_folder(named)
        except KbdbError as error:
            errors.append(WalkError(path, error))
            continue
        if not is_folder:
            files[str(named)] = SourceFile(named, True, None)
            continue
        folder = _FolderWalk(named, includes, excludes)
        folder.run()
        for found in sorted(folder.files, key=lambda file: file.path.relative_to(named).parts):
            files.setdefault(str(found.path), found)
        skipped += sorted(folder.skipped, key=lambda entry: entry.path.parts)
        errors += folder.errors
    return Walked(tuple(files.values()), tuple(skipped), tuple(errors))


def _is_named_folder(path: Path) -> bool:
    """Whether a named path is a folder.

    Raises:
        SourceNotFoundError, SourceUnreadableError: there is no such thing, or no way to it.
        InvalidArgumentError: it is part of a database, an export, neither file nor folder, or its name is not text.
    """
    if DATABASE_FOLDER in path.parts:
        raise InvalidArgumentError(f"{path} is inside a database", "learn the sources, not kbdb's own files")
    _check_name(str(path))
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SourceNotFoundError(f"{path} does not exist", "check the path") from error
    except (OSError, ValueError) as error:
        raise SourceUnreadableError(f"{path}: {error}", "check its permissions") from error
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise InvalidArgumentError(
            f"{path} is neither a file nor a folder", "learn its content in the place of its path"
        )
    if not stat.S_ISDIR(mode):
        return False
    if all(os.path.isfile(path / name) for name in EXPORT_MARKS):
        raise InvalidArgumentError(f"{path} is an export", f"kbdb import {path} takes it in")
    return True


def _check_name(name: str) -> None:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")
        raise SourceUnreadableError(f"the name {shown} is not UTF-8", "rename it") from None


def _relative(path: str, folder: str) -> str:
    """``path``, which lies in ``folder``, relative to it, with ``/`` between folders."""
    return path[len(folder) :].replace(os.sep, "/").lstrip("/")


@dataclass(slots=True)
class _FolderWalk:
    """The walk through one named folder.

    Links wait until all real folders were seen, so that what they lead to is learned under its own name if it has one.
    """

    root: Path
    includes: Sequence[Rule]
    excludes: Sequence[Rule]
    files: list[SourceFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    errors: list[WalkError] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    links: list[tuple[str, tuple[_Rules, ...]]] = field(default_factory=list)

    def run(self) -> None:
        real = os.path.realpath(self.root)
        self._folder(str(self.root), real, self._rules_above())
        while self.links:
            waiting, self.links = sorted(self.links, key=lambda link: link[0]), []
            for path, rules in waiting:
                self._link(path, real, rules)

    def _folder(self, path: str, real: str, rules: tuple[_Rules, ...]) -> None:
        """Walks a folder and those in it; folders wait on a list, so that no depth is too deep."""
        waiting = [(path, real, rules)]
        while waiting:
            path, real, rules = waiting.pop()
            if real in self.seen:
                self._skip(path, Reason.DUPLICATE)
                continue
            self.seen.add(real)
            try:
                entries = sorted(os.scandir(path), key=lambda entry: entry.name)
            except OSError as error:
                self._fail(path, error)
                continue
            names = {entry.name for entry in entries}
            if names >= EXPORT_MARKS:
                self._skip(path, Reason.EXPORT)
                continue
            rules = (*rules, *self._rules_in(path, names))
            for entry in entries:
                inside = os.path.join(real, entry.name)
                if self._entry(entry, inside, rules):
                    waiting.append((entry.path, inside, rules))

    def _entry(self, entry: os.DirEntry[str], real: str, rules: tuple[_Rules, ...]) -> bool:
        """Takes a file, puts a link off, leaves out what is to be left out; true for a folder to enter."""
        try:
            _check_name(entry.name)
            is_link = entry.is_symlink()
            is_folder = entry.is_dir()
            is_file = entry.is_file()
        except KbdbError as error:
            self.errors.append(WalkError(Path(entry.path), error))
            return False
        except OSError as error:
            self._fail(entry.path, error)
            return False
        reason = self._reason(entry.path, is_folder, rules)
        if reason is None and not (is_link or is_folder or is_file):
            reason = Reason.SPECIAL
        if reason is not None:
            self._skip(entry.path, reason)
        elif is_link:
            self.links.append((entry.path, rules))
        elif is_folder:
            return True
        else:
            self.seen.add(real)
            self.files.append(SourceFile(Path(entry.path), False, self.root))
        return False

    def _reason(self, path: str, is_folder: bool, rules: tuple[_Rules, ...]) -> Reason | None:
        """Why an entry is left out, by its name alone."""
        if os.path.basename(path).startswith("."):
            return Reason.HIDDEN
        for folder_rules in reversed(rules):
            ignored = folder_rules.verdict(path, is_folder)
            if ignored is not None:
                if ignored:
                    return Reason.IGNORED
                break
        relative = _relative(path, str(self.root))
        if self.excludes and verdict(self.excludes, relative, is_folder):
            return Reason.EXCLUDED
        if is_folder:
            return None
        if self.includes:
            return None if matches_within(self.includes, relative) else Reason.NOT_INCLUDED
        return None if is_known_text(path) else Reason.NOT_TEXT

    def _link(self, path: str, root: str, rules: tuple[_Rules, ...]) -> None:
        real = os.path.realpath(path)
        if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
            self._skip(path, Reason.OUTSIDE)
        elif DATABASE_FOLDER in Path(real).relative_to(root).parts:
            self._skip(path, Reason.HIDDEN)
        elif os.path.isdir(real):
            self._folder(path, real, rules)
        elif not os.path.isfile(real):
            self._skip(path, Reason.SPECIAL)
        elif real in self.seen:
            self._skip(path, Reason.DUPLICATE)
        else:
            self.seen.add(real)
            self.files.append(SourceFile(Path(path), False, self.root))

    def _rules_above(self) -> tuple[_Rules, ...]:
        """The rules of the folders above the named one, from the root of its git work tree down; none without git."""
        if os.path.exists(self.root / ".git"):
            return ()
        above: list[str] = []
        for folder in self.root.parents:
            above.append(str(folder))
            if os.path.exists(folder / ".git"):
                return tuple(rules for path in reversed(above) for rules in self._rules_in(path))
        return ()

    def _rules_in(self, folder: str, names: Container[str] = IGNORE_FILES) -> Iterator[_Rules]:
        """The rules of a folder's ignore files; ``names`` are what it holds, where that is known."""
        for name in IGNORE_FILES:
            if name not in names:
                continue
            path = os.path.join(folder, name)
            try:
                with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
                    rules = read_rules(file.read())
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                continue
            except OSError as error:
                self._fail(path, error)
                continue
            if rules:
                yield _Rules(folder, rules)

    def _skip(self, path: str, reason: Reason) -> None:
        self.skipped.append(Skipped(Path(path), reason))

    def _fail(self, path: str, error: OSError) -> None:
        why = error.strerror or str(error)
        self.errors.append(WalkError(Path(path), SourceUnreadableError(f"{path}: {why}", "check its permissions")))
