"""Ignore rules mean what git says they mean."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbdb.ingest.ignore import glob_rule, matches_within, read_rules, verdict
from kbdb.ingest.walk import walk

PATHS = [
    "a.md",
    "b.md",
    "ab.md",
    "d/a.md",
    "d/e/a.md",
    "d/e/b.md",
    "d/f/ab.md",
    "e/a.md",
    "f/d/e/a.md",
    "[x].md",
    "g h.md",
]
SEGMENTS = [
    "*",
    "**",
    "?",
    "a",
    "b",
    "d",
    "e",
    "f",
    "*.md",
    "a*",
    "a?.md",
    "[ab].md",
    "[!a].md",
    "[x",
    "\\[x].md",
    "[[:alpha:]].md",
    "a.md",
    "*b*",
    "**a.md",
    "[a-b]*",
    "[]x].md",
    "g h.md",
    "\\a.md",
    "[b-a].md",
]
PATTERN = st.builds(
    lambda negated, root, segments, folder: negated + root + "/".join(segments) + folder,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=3),
    st.sampled_from(["", "/", "  ", "\r", "\\ "]),
)
RULES = st.lists(PATTERN | st.sampled_from(["# a.md", "", "\\#x", "!", "/", "\ufeffa.md"]), max_size=4).map("\n".join)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git, the oracle, is not installed")
    root = tmp_path_factory.mktemp("tree")
    for path in PATHS:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("text")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def learned(root: Path, folder: str = "") -> list[str]:
    walked = walk([root / folder])
    assert walked.errors == ()
    return sorted(file.path.relative_to(root).as_posix() for file in walked.files)


def untracked(root: Path) -> list[str]:
    command = ["git", "-C", str(root), "-c", "core.excludesFile=", "ls-files", "-zco", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True).stdout
    return sorted(
        name for name in os.fsdecode(listed).split("\0") if name and not os.path.basename(name).startswith(".")
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=80)
@given(RULES, RULES)
def test_a_walk_finds_what_git_would_add(tree: Path, top: str, nested: str) -> None:
    (tree / ".gitignore").write_bytes(top.encode())
    (tree / "d/.gitignore").write_bytes(nested.encode())
    assert learned(tree) == untracked(tree)


def test_rules_above_the_folder_count(tree: Path) -> None:
    (tree / ".gitignore").write_text("e/\n/d/f\n")
    (tree / "d/.gitignore").write_text("!e/\n")
    assert learned(tree, "d") == ["d/a.md", "d/e/a.md", "d/e/b.md"]


@pytest.mark.parametrize(
    ("rules", "path", "is_folder", "expected"),
    [
        ("*.md", "d/a.md", False, True),
        ("*.md\n!a.md", "d/a.md", False, False),
        ("d/", "d", True, True),
        ("d/", "d", False, None),
        ("d/**", "d", True, None),
        ("d/**", "d/x/y", False, True),
        ("**/x/**/y", "a/x/y", False, True),
        ("**/x/**/y", "x/b/x/c/y", False, True),
        ("a/*/c", "a/b/b/c", False, None),
        ("a[/]b", "a/b", False, None),
        ("x\\", "x\\", False, None),
        ("trailing\\ ", "trailing ", False, True),
        ("\\!x", "!x", False, True),
    ],
)
def test_the_last_matching_rule_decides(rules: str, path: str, is_folder: bool, expected: bool | None) -> None:
    assert verdict(read_rules(rules), path, is_folder) is expected


def test_command_line_globs_match_within_folders() -> None:
    rules = [rule for glob in ("docs/", "*.txt", "!docs/no.txt") if (rule := glob_rule(glob))]
    assert matches_within(rules, "docs/a/b.md")
    assert matches_within(rules, "x/y.txt")
    assert not matches_within(rules, "x/y.md")


def test_hostile_patterns_end() -> None:
    for pattern in ("*a" * 60 + "b", "**/a/" * 60 + "b", "a*" * 60, "/" + "*/" * 60 + "b"):
        assert verdict(read_rules(pattern), "a/" * 500 + "a" * 255, False) in (None, True)
