"""kbdb.client.values: every value of kbdb.model comes back from its JSON as it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kbdb.model
from kbdb.client.values import from_json
from kbdb.errors import ProtocolError
from kbdb.model.learn import LearnedDocument
from kbdb.model.read import Metadata, RecallResults
from kbdb.model.to_json import as_json
from kbdb.model.truth import Placement, Section
from kbdb.model.upkeep import GcResult

MODULES = [import_module(f"kbdb.model.{found.name}") for found in iter_modules(kbdb.model.__path__)]
CLASSES = [
    value
    for module in MODULES
    for value in vars(module).values()
    if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.__name__
]

SIMPLE = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
st.register_type_strategy(bytes, st.binary(max_size=20) | st.text(max_size=10).map(str.encode))


def _build(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a class; mappings are given, because hypothesis knows none of ``Any``."""
    mappings = {
        "Mapping[str, Any]": st.dictionaries(st.text(max_size=5), SIMPLE, max_size=3),
        "Mapping[str, int]": st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
        "Mapping[str, str]": st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3),
    }
    given_fields = {}
    for field in fields(kind):
        for name, strategy in mappings.items():
            if str(field.type).startswith(name):
                given_fields[field.name] = strategy | st.none() if "None" in str(field.type) else strategy
    return st.builds(kind, **given_fields)


for _kind in CLASSES:
    st.register_type_strategy(_kind, _build(_kind))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
@settings(max_examples=25)
@given(data=st.data())
def test_a_value_comes_back_as_it_was(kind: Any, data: st.DataObject) -> None:
    value = data.draw(st.from_type(kind))
    told = json.loads(json.dumps(as_json(value)))
    back = from_json(kind, told)
    assert back == value
    assert _types(back) == _types(value)


def _types(value: Any) -> Any:
    """The classes of a value and of all that is in it, as 1 and 1.0 and True are equal."""
    if is_dataclass(value):
        return type(value), [_types(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, tuple):
        return tuple, [_types(item) for item in value]
    if isinstance(value, Mapping):
        return dict, {key: _types(item) for key, item in value.items()}
    return type(value)


PLACE: dict[str, Any] = {
    "kbid": "k",
    "level": 1,
    "parent": "",
    "heading_path": ["a", "b"],
    "line": 1,
    "line_end": 2,
    "gap": "",
}


def test_what_a_later_version_adds_is_passed_over() -> None:
    assert from_json(Placement, PLACE | {"colour": "red"}) == from_json(Placement, PLACE)


def test_what_an_earlier_version_does_not_say_has_its_default() -> None:
    assert from_json(RecallResults, {"results": []}) == RecallResults(())


def test_a_whole_number_will_do_for_a_fraction() -> None:
    told = {"removed": 1, "bytes_freed": 2, "kbids": [], "dry_run": False, "elapsed_ms": 3}
    assert type(from_json(GcResult, told).elapsed_ms) is float


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        (Placement, [], "Placement: expected an object, got"),
        (Placement, {}, "Placement: kbid is missing"),
        (Placement, PLACE | {"line": "1"}, r"Placement\.line: expected int, got '1'"),
        (Placement, PLACE | {"line": True}, r"Placement\.line: expected int, got True"),
        (Placement, PLACE | {"kbid": None}, r"Placement\.kbid: expected str, got None"),
        (Placement, PLACE | {"heading_path": "ab"}, r"Placement\.heading_path: expected a list"),
        (Placement, PLACE | {"heading_path": ["a", 2]}, r"Placement\.heading_path\[1\]: expected str, got 2"),
        (Placement, PLACE | {"gap": "x" * 99}, None),
        (RecallResults, {"results": [{"kbid": 1}]}, r"RecallResults\.results\[0\]\.kbid: expected str, got 1"),
        (Section, {"kbid": {"base64": "=" * 99}}, r"Section\.kbid: expected str, got \{'base64': '=+\.\.\.$"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(kind: Any, value: Any, says: str | None) -> None:
    if says is None:
        from_json(kind, value)
        return
    with pytest.raises(ProtocolError, match=says):
        from_json(kind, value)


@pytest.mark.parametrize("content", [1, None, [], {}, {"base64": 1}, {"base64": "*"}, {"base64": "YQ"}, "\ud800"])
def test_what_is_neither_text_nor_bytes_is_refused(content: Any) -> None:
    with pytest.raises(ProtocolError, match="expected text, or bytes in base64"):
        from_json(bytes, content)


@pytest.mark.parametrize("state", ["asleep", "", 1, None, []])
def test_a_state_that_is_none_is_refused(state: Any) -> None:
    told = {"type": "", "section_type": "", "state": state, "tags": [], "description": "", "created": "", "updated": ""}
    with pytest.raises(ProtocolError, match=r"Metadata\.state: expected one of active, superseded"):
        from_json(Metadata, told)


@pytest.mark.parametrize("status", ["eaten", 1, None, []])
def test_a_status_that_is_none_is_refused(status: Any) -> None:
    told = {"docid": "", "source": "", "status": status, "sections": 0, "kbids": []}
    with pytest.raises(ProtocolError, match=r"LearnedDocument\.status: expected one of added, updated"):
        from_json(LearnedDocument, told)


@given(st.recursive(SIMPLE, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10))
def test_any_json_is_a_value_or_an_error_with_a_code(value: Any) -> None:
    for kind in CLASSES:
        try:
            from_json(kind, value)
        except ProtocolError:
            continue
        assert isinstance(value, dict)
