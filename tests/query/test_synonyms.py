"""The built-in list, and what people write into synonyms.toml."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kbdb.query.parser
from kbdb.errors import ConfigError, StorageError
from kbdb.query.synonyms import BUILT_IN, SynonymList, load_synonyms, make_synonyms, parse_synonyms


def no_stems(words: list[str]) -> list[str]:
    return words


def plurals(words: list[str]) -> list[str]:
    return [word.removesuffix("s") for word in words]


def test_a_group_works_both_ways_and_a_word_one_way() -> None:
    listed = SynonymList((("db", "database", "data store"),), (("helm", ("kubernetes",)),))
    synonyms = make_synonyms((listed,), no_stems)
    assert synonyms.of("db") == ("database", "data store")
    assert synonyms.of("database") == ("db", "data store")
    assert synonyms.of("data store") == ()
    assert synonyms.of("helm") == ("kubernetes",)
    assert synonyms.of("kubernetes") == ()


def test_words_are_looked_up_by_stem_and_folded() -> None:
    synonyms = make_synonyms((SynonymList((("Repos", "Repository"),), ()),), plurals)
    assert synonyms.of("repo") == ("repository",)


def test_earlier_lists_come_first_and_nothing_stands_for_itself() -> None:
    first, second = SynonymList((("log", "logs", "journal"),), ()), SynonymList((("log", "protocol", "journal"),), ())
    assert make_synonyms((first, second), plurals).of("log") == ("journal", "protocol")


def test_the_built_in_list_is_tidy() -> None:
    assert 60 <= len(BUILT_IN.groups) <= 130
    for group in BUILT_IN.groups:
        assert len(set(group)) == len(group) > 1
        assert all(text == text.casefold().strip() for text in group)
    firsts = [group[0] for group in BUILT_IN.groups]
    assert sorted(firsts) == firsts


def test_without_a_file_the_built_in_list_remains(tmp_path: Path) -> None:
    assert load_synonyms(tmp_path / "synonyms.toml", no_stems).of("k8s") == ("kubernetes",)


def test_the_file_adds_to_the_built_in_list(tmp_path: Path) -> None:
    path = tmp_path / "synonyms.toml"
    path.write_bytes('groups = [["k8s", "kube"]]\n[words]\noncall = ["pager duty"]\n"数据库" = ["database"]\n'.encode())
    synonyms = load_synonyms(path, no_stems)
    assert synonyms.of("k8s") == ("kube", "kubernetes")
    assert synonyms.of("oncall") == ("pager duty",)
    assert synonyms.of("数据库") == ("database",)


def test_the_readme_shows_a_file_that_is_read() -> None:
    readme = (Path(kbdb.query.parser.__file__).parent / "README.md").read_text("utf-8")
    example = readme.split("```toml\n")[1].split("```")[0]
    assert parse_synonyms(example.encode(), "README.md").words == (("oncall", ("pager duty", "rota")),)


def test_a_file_that_cannot_be_read_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        load_synonyms(tmp_path, no_stems)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('groups = [["a", "b"]]\nx = 1\n', "line 2", "'x'"),
        ("\n[other]\n", "line 2", "'other'"),
        ("groups = 3\n", "line 1", "list of lists"),
        ('\ngroups = [["a"]]\n', "line 2", "group 1"),
        ('groups = [["a", "b"], ["c", 4]]\n', "line 1", "group 2"),
        ("words = []\n", "line 1", "words must be a table"),
        ('[words]\na = ["b"]\nc = "d"\n', "line 3", "'c'"),
        ('[words]\n"two words" = ["b"]\n', "line 2", "one word"),
        ('[words]\na = [" "]\n', "line 2", "'a'"),
        ("[words]\na = []\n", "line 2", "'a'"),
        ("groups = [\n", "line 2", "the end"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(text: str, line: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_synonyms(text.encode(), "synonyms.toml")
    assert line in caught.value.message
    assert message in caught.value.message
    assert "groups" in caught.value.hint


def test_bytes_that_are_not_utf8_are_refused_with_their_line() -> None:
    with pytest.raises(ConfigError, match="line 2: not UTF-8"):
        parse_synonyms(b"groups = []\n# \xff\n", "synonyms.toml")


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(ConfigError):
        assert isinstance(parse_synonyms(data, "synonyms.toml"), SynonymList)
