"""docs/cli.md, docs/configuration.md and docs/methods.json say what the program says."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import typer

from kbdb.cli.app import command_line
from kbdb.config import SETTINGS, parse
from kbdb.daemon.methods import METHODS, OWN
from kbdb.embed.api import provider_of
from kbdb.query.synonyms import make_synonyms, parse_synonyms

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = runpy.run_path(str(ROOT / "tools" / "generate_cli_reference.py"))
PAGES: dict[Path, str] = REFERENCE["pages"]()


def commands(command: Any, path: str) -> list[tuple[str, Any]]:
    """Every command with its full name."""
    found = [(path, command)]
    for name, child in getattr(command, "commands", {}).items():
        found += commands(child, f"{path} {name}")
    return found


COMMANDS = commands(typer.main.get_command(command_line()), "kbdb")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_generated_page_is_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == PAGES[path], "run tools/generate_cli_reference.py"


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_command_and_option_stands_in_the_reference_and_is_explained(name: str, command: Any) -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    section = page.split(f"## {name}\n", 1)[1].split("\n## ", 1)[0]
    assert command.help
    for parameter in command.params:
        assert parameter.help
        if parameter.param_type_name == "option":
            assert all(option in section for option in parameter.opts)


def test_every_setting_stands_in_the_reference() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert [setting.key for setting in SETTINGS if f"`{setting.key}`" not in page] == []


def test_every_command_takes_db_and_json() -> None:
    lacking = [
        name
        for name, command in COMMANDS
        if name not in ("kbdb db", "kbdb daemon", "kbdb skill", "kbdb agent", "kbdb embed")
        and not {"--db", "--json"} <= {option for p in command.params for option in p.opts}
    ]
    assert lacking == []


def examples() -> list[str]:
    """The TOML on the page of settings."""
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    return re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_the_settings_shown_make_the_providers_they_are_shown_for() -> None:
    shown = [example for example in examples() if "[embedding]" in example]
    made = [provider_of(parse(example.encode()).embedding) for example in shown]
    assert [type(provider).__name__ for provider in made] == [
        *("OnnxEmbeddingProvider", "OnnxEmbeddingProvider", "ApiEmbeddingProvider")
    ]


def test_the_synonyms_shown_are_read_as_the_page_says() -> None:
    (example,) = (example for example in examples() if "groups" in example)
    synonyms = make_synonyms((parse_synonyms(example.encode(), "synonyms.toml"),), lambda words: words)
    assert synonyms.of("db") == ("database", "data store")
    assert synonyms.of("oncall") == ("pager duty", "rota")
    assert synonyms.of("rota") == ()


def test_every_method_of_the_daemon_stands_in_the_reference_with_all_it_takes() -> None:
    page = json.loads((ROOT / "docs" / "methods.json").read_text(encoding="utf-8"))
    takes = OWN | {name: method.params for name, method in METHODS.items()}
    assert page.keys() - {"$comment"} == takes.keys()
    for name, params in takes.items():
        schema = page[name]["$defs"][page[name]["$ref"].removeprefix("#/$defs/")]
        assert list(schema["properties"]) == list(params.__struct_encode_fields__)
