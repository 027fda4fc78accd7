"""worker.toml: defaults, what is accepted, and errors that name key, line and what is allowed."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.config import SETTINGS, Config, load, parse, toml_value
from kbdb.errors import ConfigError, StorageError
from kbdb.plan import FIELDS


def refused(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse(text.encode())
    return caught.value


def attempt(data: bytes) -> tuple[Config | None, str]:
    """The configuration, or the message of the error."""
    try:
        return parse(data), ""
    except ConfigError as error:
        return None, error.message


def test_a_missing_file_gives_every_default(tmp_path: Path) -> None:
    config = load(tmp_path / "worker.toml")
    assert config == parse(b"")
    assert (config.analysis.language, config.search.mode, config.search.limit) == ("english", "lexical", 10)
    assert (config.daemon.idle_timeout_s, config.history.keep_days) == (900, 30)
    assert (config.embedding.provider, config.embedding.dimensions, config.embedding.rrf_k) == ("none", 384, 60)
    assert (config.auto_capture.enabled, config.capture.auto_accept) == (False, False)
    assert set(config.origins.values()) == {"default"}


def test_every_default_is_allowed() -> None:
    assert [setting.key for setting in SETTINGS if not setting.accepts(setting.default)] == []


def test_a_value_and_the_line_it_came_from(tmp_path: Path) -> None:
    path = tmp_path / "worker.toml"
    path.write_text('# mine\n[search]\nlimit = 25\n\n[analysis]\nlanguage = "german"\n', encoding="utf-8")
    config = load(path)
    assert (config.search.limit, config.origins["search.limit"]) == (25, "worker.toml:3")
    assert (config.analysis.language, config.origins["analysis.language"]) == ("german", "worker.toml:6")
    assert config.origins["search.k1"] == "default"


def test_weights_by_field_reach_the_engines_parameters() -> None:
    params = parse(b"[search]\nk1 = 2\n[search.weights]\ntitle = 9\n[search.b]\nbody = 0.25\n").search.params()
    assert (params.k1, params.weights[0], params.b[1]) == (2.0, 9.0, 0.25)
    assert (params.weights[1:], params.b[0]) == (parse(b"").search.weights[1:], parse(b"").search.b[0])
    assert all(type(number) is float for number in (params.k1, *params.weights, *params.b))


def test_one_b_stands_for_all_fields() -> None:
    config = parse(b"[search]\nb = 0.5\n")
    assert config.search.b == (0.5,) * len(FIELDS)
    assert config.origins["search.b.tags"] == "worker.toml:2"


@pytest.mark.parametrize(
    "text",
    ["search = { limit = 7 }\n", "search.limit = 7\n", '["search"]\n"limit" = 7\n', "\ufeff[search]\r\nlimit = 7\r\n"],
)
def test_every_way_to_write_a_key_is_read(text: str) -> None:
    config = parse(text.encode())
    assert config.search.limit == 7
    assert config.origins["search.limit"].startswith("worker.toml:")


@pytest.mark.parametrize(
    ("text", "line", "key", "allowed"),
    [
        ("[search]\n\nlimit = 0\n", 3, "search.limit", "from 1 to 1000"),
        ("[search]\nlimit = true\n", 2, "search.limit", "a whole number"),
        ('[search]\nlimit = "10"\n', 2, "search.limit", "a whole number"),
        ("[search]\nk1 = nan\n", 2, "search.k1", "a number"),
        ("[search]\nk1 = -1\n", 2, "search.k1", "a number"),
        ('[search]\nmode = "fuzzy"\n', 2, "search.mode", '"lexical", "vector", "hybrid"'),
        ("[search]\nb = 1.5\n", 2, "search.b.title", "from 0 to 1"),
        ("[search]\nweights = {title = -1}\n", 2, "search.weights.title", "from 0"),
        ('[analysis]\nlanguage = "klingon"\n', 2, "analysis.language", '"english"'),
        ("[capture]\nnudge = 1\n", 2, "capture.nudge", "true or false"),
        ("[embedding]\napi_url = 3\n", 2, "embedding.api_url", "a string"),
        ('[embedding]\napi_key_env = " "\n', 2, "embedding.api_key_env", "not empty"),
        ("note = 1\n", 1, "note", "search"),
        ("search = 3\n", 1, "search", "must be a table"),
        ("[search]\n[search.weights]\ntitel = 2\n", 3, "search.weights.titel", "did you mean search.weights.title?"),
        ("[search]\nlimti = 2\n", 2, "search.limti", "did you mean search.limit?"),
        ("[serach]\nlimit = 2\n", 1, "serach", "did you mean search?"),
        ('x = """\n[search]\nlimit = 0\n"""\n[search]\nlimit = 1\n', 1, "x", "search"),
    ],
)
def test_an_error_names_the_key_the_line_and_what_is_allowed(text: str, line: int, key: str, allowed: str) -> None:
    error = refused(text)
    assert f"line {line}: " in error.message
    assert key in error.message
    assert allowed in error.hint


def test_what_is_not_toml_is_refused_with_its_line() -> None:
    assert "line 2" in refused("[search]\nlimit =\n").message


def test_what_is_not_utf8_is_refused_with_its_line() -> None:
    with pytest.raises(ConfigError, match="line 2"):
        parse(b"[search]\n# caf\xe9\n")


def test_a_file_that_cannot_be_read_is_an_error_and_not_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "worker.toml").mkdir()
    with pytest.raises(StorageError, match=r"worker\.toml"):
        load(tmp_path / "worker.toml")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_text_is_written_as_toml_reads_it(text: str) -> None:
    assert tomllib.loads(f"x = {toml_value(text)}") == {"x": text}


_scalar = st.one_of(st.integers(-5, 2000), st.booleans(), st.floats(), st.sampled_from(["", "english", "api", "x"]))


@given(st.dictionaries(st.sampled_from([s.key for s in SETTINGS]), _scalar, max_size=6))
def test_any_values_are_taken_or_refused_by_name(values: dict[str, Any]) -> None:
    text = "".join(f"{key} = {toml_value(value)}\n" for key, value in values.items())
    config, message = attempt(text.encode())
    if config:
        assert {key: config.values[key] for key in values} == values
    else:
        assert any(key in message for key in values)


@given(st.binary(max_size=60))
def test_any_bytes_are_taken_or_refused(data: bytes) -> None:
    config, message = attempt(data)
    assert config or "worker.toml" in message
