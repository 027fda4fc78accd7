"""What front matter declares of a skill's arguments: read from any bytes, believed only where it can be understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.ingest.declared import MAX_DEPTH, Declared, read_declared
from kbdb.ingest.inline import one_line
from kbdb.knowledge.skills import front_matter
from kbdb.model.skill import SkillArgument

COUNT = SkillArgument("count", "number", "how many", False)


def yaml(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", ""])


@pytest.mark.parametrize(
    "head",
    [
        yaml("name: ring", "arguments:",
             "  - {name: count, type: number, description: how many, required: no}", "  - loud"),
        "\ufeff" + yaml('"name": ring', "arguments:", "- name: count", "  type: number", "  default: 3",
                       "  description: how\n    many", "  required: FALSE", "- name: loud"),
        '+++\nname = "ring"\narguments = [{name = "count", type = "number", description = "how many", '
        'required = false}, "loud"]\n+++\n',
    ],
)  # fmt: skip
def test_yaml_and_toml_declare_name_and_arguments(head: str) -> None:
    assert read_declared(head) == Declared("ring", (COUNT, SkillArgument("loud")))


@pytest.mark.parametrize(
    "head",
    ["", "\n\n", "text", yaml(), yaml("# nothing"), yaml("- a"), yaml("a: [b"), "+++\na = \n+++\n", yaml("arguments:")],
)
def test_what_declares_nothing_is_no_fault(head: str) -> None:
    assert read_declared(head) == Declared()


@pytest.mark.parametrize(
    ("lines", "arguments", "fault"),
    [
        (["arguments: {a: b}"], (), "not a list"),
        (["arguments: [[a]]"], (), "no name"),
        (["arguments: [a b, c]"], (SkillArgument("c"),), "'a b' is no name"),
        (["arguments: [{name: a, type: int}]"], (SkillArgument("a"),), "the type 'int'"),
        (["arguments: [{name: a, required: 1}]"], (SkillArgument("a"),), "is '1': use true or false"),
    ],
)
def test_what_cannot_be_understood_is_told_and_left_out(
    lines: list[str], arguments: tuple[SkillArgument, ...], fault: str
) -> None:
    declared = read_declared(yaml(*lines))
    assert declared.arguments == arguments
    assert fault in declared.faults[0]


def test_the_first_of_two_declarations_counts() -> None:
    head = yaml("arguments: [{name: a, type: number, type: boolean}, {name: a, description: other}]")
    assert read_declared(head).arguments == (SkillArgument("a", "number"),)


def test_aliases_and_deep_nesting_count_as_nothing() -> None:
    bomb = yaml("a: &a [x, x]", "b: &b [*a, *a]", "name: *b", "arguments: [*a, c]")
    assert read_declared(bomb).arguments == (SkillArgument("c"),)
    deep = yaml("arguments: " + "[" * 500 + "]" * 500, "name: ring")
    assert read_declared(deep).name in ("ring", "")
    assert MAX_DEPTH < 500


@given(st.text(max_size=200), st.sampled_from(["---", "+++"]))
def test_no_text_makes_reading_fail(text: str, mark: str) -> None:
    read_declared(f"{mark}\n{text}\n{mark}\n")
    read_declared(f"{mark}\narguments: {text}\n{mark}\n")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ARGUMENTS = st.builds(
    SkillArgument,
    st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_-]{0,10}\Z"),
    st.sampled_from(["string", "number", "boolean"]),
    TEXTS.map(one_line),
    st.booleans(),
)


@given(st.lists(ARGUMENTS, min_size=1, max_size=5, unique_by=lambda argument: argument.name))
def test_what_is_written_is_read_again(arguments: list[SkillArgument]) -> None:
    head = front_matter(arguments)
    assert read_declared(head).arguments == tuple(arguments)
    assert read_declared(head + "text").faults == ()
