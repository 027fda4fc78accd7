"""What pages and files tell the programs of agents: docs/server.json for the registry, the example of a .mcp.json."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import kbdb
from kbdb.paths import locate_from
from kbdb.setup.change import adding
from kbdb.setup.clients import Folders, client
from kbdb.setup.server import server

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SERVER: dict[str, Any] = json.loads((ROOT / "docs" / "server.json").read_text(encoding="utf-8"))


def test_the_registry_takes_the_server() -> None:
    assert SERVER["$schema"].endswith("/2025-12-11/server.schema.json")
    assert SERVER.keys() <= {"$schema", "name", "title", "description", "version", "packages"}
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])
    assert 3 <= len(SERVER["name"]) <= 200
    assert 1 <= len(SERVER["description"]) <= 100
    assert 1 <= len(SERVER["title"]) <= 100
    assert SERVER["version"] == kbdb.__version__


def test_the_registry_is_told_how_to_start_this_version() -> None:
    (package,) = SERVER["packages"]
    assert (package["registryType"], package["identifier"]) == ("pypi", "kbdb")
    assert package["version"] == kbdb.__version__
    assert package["transport"] == {"type": "stdio"}
    assert package["packageArguments"] == [{"type": "positional", "value": "mcp"}]


def test_the_readme_says_whose_the_server_is() -> None:
    assert re.findall(r"^<!-- mcp-name: (\S+) -->$", README, re.MULTILINE) == [SERVER["name"]]


def test_the_example_of_a_shared_file_is_what_setup_leaves_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (example,) = re.findall(r"^```json\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / ".mcp.json").write_text(example, encoding="utf-8")
    program = tmp_path / "kbdb"
    program.write_text("", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", [str(program)])
    of, folders = client("claude-code"), Folders(tmp_path / "p", tmp_path, {}, "linux")
    wanted = server(of, "project", locate_from(folders.project), folders.project)
    assert adding(of, "project", folders, wanted).action == "none"
