"""init, where, config and doctor: which database, which settings, and whether this machine is fit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import kbdb
from kbdb import platform


def test_init_creates_a_database_in_the_current_folder_once(run: Any, folder: Path) -> None:
    made = run("init", "--json")
    assert made.code == 0
    assert made.json["path"] == str(folder.resolve() / ".kbdb")
    again = run("init", "--json")
    assert (again.code, again.json["error"]["code"]) == (1, "DATABASE_EXISTS")
    assert run("status", "--json").json["database"] == made.json["database"]


def test_db_init_is_the_same_command(run: Any, folder: Path) -> None:
    assert run("db", "init", "--db", folder / "mine").code == 0
    assert run("where", "--db", folder / "mine").code == 0
    assert (folder / "mine" / ".kbdb").is_dir()


def test_where_names_the_nearest_database_and_why(kb: Any, folder: Path) -> None:
    below = folder / "a" / "b"
    below.mkdir(parents=True)
    ran = kb("where", "--json", cwd=below)
    assert ran.code == 0
    assert ran.json == {
        "path": str(folder.resolve() / ".kbdb"),
        "exists": True,
        "rule": "nearest",
        "reason": "it is the nearest above the current folder",
    }
    assert kb("where", cwd=below).text.splitlines()[0] == ran.json["path"]


def test_where_there_is_none_is_exit_code_three(run: Any) -> None:
    ran = run("where", "--json")
    assert (ran.code, ran.json["exists"], ran.json["rule"]) == (3, False, "user")


def test_the_variable_chooses_and_the_option_wins(run: Any, folder: Path) -> None:
    env = {"KBDB_DB": str(folder / "x")}
    assert run("init", env=env).code == 0
    assert run("where", "--json", env=env).json["rule"] == "environment"
    assert run("where", "--json", "--db", "y", env=env).json["path"] == str(folder.resolve() / "y" / ".kbdb")


def test_config_tells_each_value_and_its_origin(kb: Any, folder: Path) -> None:
    (folder / ".kbdb" / "worker.toml").write_text("[search]\nlimit = 3\n", encoding="utf-8")
    values = kb("config", "--json").json["values"]
    assert values["search.limit"] == {"value": 3, "origin": "worker.toml:2"}
    assert values["daemon.idle_timeout_s"] == {"value": 900, "origin": "default"}
    line = next(line for line in kb("config").text.splitlines() if line.startswith("search.limit"))
    assert line.split() == ["search.limit", "3", "worker.toml:2"]


def test_a_wrong_setting_is_named_by_every_command_that_reads_it(kb: Any, folder: Path) -> None:
    (folder / ".kbdb" / "worker.toml").write_text("[search]\nlimti = 3\n", encoding="utf-8")
    for words in (["config"], ["search", "x"], ["status"]):
        ran = kb(*words, "--json")
        assert (ran.code, ran.json["error"]["code"]) == (1, "BAD_CONFIG")
        assert "line 2" in ran.json["error"]["message"]
    assert kb("doctor").code == 1


def test_the_limit_of_a_search_comes_from_the_settings(kb: Any, folder: Path) -> None:
    (folder / "a.md").write_text("".join(f"# Apple {n}\n\nan apple\n\n" for n in range(6)), encoding="utf-8")
    assert kb("learn", "a.md").code == 0
    (folder / ".kbdb" / "worker.toml").write_text("[search]\nlimit = 3\n", encoding="utf-8")
    assert len(kb("search", "apple", "--json").json["hits"]) == 3
    assert len(kb("search", "apple", "--limit", "5", "--json").json["hits"]) == 5


def test_doctor_finds_a_sound_database_sound(kb: Any) -> None:
    ran = kb("doctor", "--json")
    assert ran.code == 0
    assert ran.json["ok"] is True
    found = {finding["name"] for finding in ran.json["findings"]}
    assert {"python", "kbdb", "engine", "text", "database", "access", "space", "config", "contents", "index"} <= found
    assert "database" in kb("doctor").text


def test_doctor_warns_of_a_network_file_system(kb: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def finding() -> tuple[str, str]:
        found = {one["name"]: one for one in kb("doctor", "--json").json["findings"]}["file system"]
        return found["status"], found["message"]

    monkeypatch.setattr(platform, "is_network_file_system", lambda _: False)
    assert finding()[0] == "ok"
    monkeypatch.setattr(platform, "is_network_file_system", lambda _: True)
    assert finding() == ("warning", "a network file system: locks may not hold there")


def test_doctor_works_without_a_database(run: Any) -> None:
    ran = run("doctor", "--json")
    assert ran.code == 0
    status = {finding["name"]: finding["status"] for finding in ran.json["findings"]}
    assert status["database"] == "warning"


def test_doctor_names_a_wrong_engine(run: Any) -> None:
    ran = run("doctor", "--json", env={"KBDB_ENGINE": "steam"})
    assert ran.code == 1
    assert any(finding["name"] == "engine" and "steam" in finding["message"] for finding in ran.json["findings"])


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_doctor_names_a_database_that_cannot_be_written(kb: Any, folder: Path) -> None:
    (folder / ".kbdb").chmod(0o500)
    try:
        assert kb("doctor").code == 1
    finally:
        (folder / ".kbdb").chmod(0o700)


@pytest.mark.usefixtures("kb")
def test_a_second_owner_is_told_who_has_the_database(process: Any, folder: Path) -> None:
    with kbdb.open(folder):
        ran = process("status", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (1, "DATABASE_LOCKED")
    assert str(os.getpid()) in ran.json["error"]["message"]
