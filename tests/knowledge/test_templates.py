"""Templates: markers found in their order, values put in once and as they are, types and gaps told."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.errors import InvalidArgumentError
from kbdb.knowledge.names import MAX_NAME, is_kebab, kebab, name_of
from kbdb.knowledge.templates import arguments_of, check_values, markers, rendered
from kbdb.model.skill import ArgumentType, SkillArgument

NAMES = st.from_regex(re.compile("[A-Za-z_][A-Za-z0-9_-]{0,8}"), fullmatch=True)
PLAIN = st.text(st.characters(exclude_characters="{}", exclude_categories=["Cs"]), max_size=8)
BLANKS = st.text(" \t", max_size=2)
PIECES = st.lists(st.one_of(PLAIN, st.tuples(NAMES, BLANKS, BLANKS)), max_size=12)


def template(pieces: list[str | tuple[str, str, str]]) -> str:
    """The text of plain pieces and markers."""
    return "".join(p if isinstance(p, str) else f"{{{{{p[1]}{p[0]}{p[2]}}}}}" for p in pieces)


@given(PIECES)
def test_markers_are_found_in_order_of_first_appearance_each_once(pieces: list[str | tuple[str, str, str]]) -> None:
    named = [piece[0] for piece in pieces if not isinstance(piece, str)]
    assert markers(template(pieces)) == tuple(dict.fromkeys(named))


@given(PIECES, st.data())
def test_values_go_in_literally_and_once(pieces: list[str | tuple[str, str, str]], data: st.DataObject) -> None:
    named = markers(template(pieces))
    hostile = st.one_of(
        st.text(max_size=8), NAMES.map("{{{{{}}}}}".format), st.sampled_from(["\\1", "\\g<0>", "{{", "}}"])
    )
    values = {name: data.draw(hostile) for name in named}
    expected = "".join(piece if isinstance(piece, str) else values[piece[0]] for piece in pieces)
    assert rendered(template(pieces), values) == expected


@given(st.text(st.sampled_from("{} ax-_\n"), max_size=30))
def test_any_text_without_values_stays_as_it_is(text: str) -> None:
    assert rendered(text, {}) == text
    assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_-]*", name) for name in markers(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{{a}} {{ b_c }} {{\td-e\t}}", ("a", "b_c", "d-e")),
        ("{{{x}}}", ("x",)),
        ("{{}} {{ }} {x} {{x y}} {{1x}} {{a.b}} {{a\n}}", ()),
        ("{{café}} {{" + "x" * 65 + "}}", ()),
    ],
)
def test_what_is_a_marker(text: str, found: tuple[str, ...]) -> None:
    assert markers(text) == found


def test_arguments_are_those_of_the_markers_with_what_was_declared() -> None:
    declared = [SkillArgument("idle"), SkillArgument("count", "number", "how many", False)]
    assert arguments_of("{{what}} {{count}}", declared) == (SkillArgument("what"), declared[1])


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("string", "x", "x"), ("string", "", ""), ("string", 3, "3"), ("string", True, "true"),
        ("number", "3", "3"), ("number", "-0.50", "-0.50"), ("number", "1e9", "1e9"), ("number", 2.5, "2.5"),
        ("number", "0x1f", None), ("number", "1,5", None), ("number", "", None), ("number", " 3", None),
        ("number", "nan", None), ("number", float("inf"), None), ("number", "٣", None), ("number", True, None),
        ("boolean", "true", "true"), ("boolean", "false", "false"), ("boolean", False, "false"),
        ("boolean", "yes", None), ("boolean", "True", None), ("boolean", 1, None),
    ],
)  # fmt: skip
def test_values_are_of_their_types(kind: ArgumentType, value: str | int | float | bool, text: str | None) -> None:
    arguments = [SkillArgument("a", kind)]
    if text is not None:
        assert check_values(arguments, {"a": value}, "skill x") == {"a": text}
        return
    with pytest.raises(InvalidArgumentError, match=f"a is .*, not a {kind}"):
        check_values(arguments, {"a": value}, "skill x")


@given(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_every_number_is_a_number(value: float) -> None:
    assert check_values([SkillArgument("a", "number")], {"a": value}, "skill x") == {"a": str(value)}


def test_all_that_is_missing_or_unknown_is_named_with_what_would_be_right() -> None:
    arguments = [SkillArgument("a"), SkillArgument("b", "number"), SkillArgument("c", required=False)]
    with pytest.raises(InvalidArgumentError, match="skill x needs a value for a, b") as missing:
        check_values(arguments, {}, "skill x")
    assert missing.value.hint == "it takes: a, b (number), c (optional)"
    with pytest.raises(InvalidArgumentError, match="skill x has no argument 'd', 'e'"):
        check_values(arguments, {"d": "1", "a": "1", "e": "1"}, "skill x")
    assert check_values(arguments, {"a": "1", "b": "2"}, "skill x") == {"a": "1", "b": "2"}


@given(st.text(max_size=80))
def test_a_kebab_name_made_of_any_text_is_a_name_or_nothing_and_stays_itself(text: str) -> None:
    name = kebab(text)
    assert name == "" or is_kebab(name)
    assert len(name) <= MAX_NAME
    assert kebab(name) == name


@given(st.text(max_size=80))
def test_a_title_is_called_by_a_name_or_by_itself_and_the_name_of_a_name_is_that(title: str) -> None:
    name = name_of(title)
    assert is_kebab(name) or (name == title and not kebab(title))
    assert name_of(name) == name


@given(st.text("абв部署๒ß", min_size=1), st.text("абв部署๒ß", min_size=1))
def test_titles_of_other_letters_have_other_names(one: str, other: str) -> None:
    assert (name_of(f"{one} API") == name_of(f"{other} API")) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"), [("Деплой API", "деплой  api!"), ("CAFÉ", "cafe"), ("Деплои\u0306 API", "Деплой API")]
)
def test_case_spacing_and_the_form_of_marks_make_no_other_name(one: str, other: str) -> None:
    assert name_of(one) == name_of(other)
