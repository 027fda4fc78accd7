"""What people type, read without ever failing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbdb.query.parser import MAX_CHARACTERS, MAX_TERMS, PROSE_WORDS, Filter, Term, parse_query


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("", ()),
        (" \t\n\u3000", ()),
        ("two words", (Term("two"), Term("words"))),
        ('"a phrase" word', (Term("a phrase", "phrase"), Term("word"))),
        ('say "a phrase"now', (Term("say"), Term("a phrase", "phrase"), Term("now"))),
        ("\u201ccurly one\u201d", (Term("curly one", "phrase"),)),
        ("\uff02wide\uff02", (Term("wide", "phrase"),)),
        ("\u201elow\u201c", (Term("low", "phrase"),)),
        ("-word", (Term("word", excluded=True),)),
        ('-"a phrase"', (Term("a phrase", "phrase", excluded=True),)),
        ("\uff0dword", (Term("word", excluded=True),)),
        ("conf*", (Term("conf", "prefix"),)),
        ("-conf*", (Term("conf", "prefix", excluded=True),)),
        ("snake_c*", (Term("snake_c", "prefix"),)),
        ("title:word", (Term("word", title=True),)),
        ('title:"two words"', (Term("two words", "phrase", title=True),)),
        ("title:conf*", (Term("conf", "prefix", title=True),)),
        ("-title:word", (Term("word", title=True, excluded=True),)),
        ("Title:word", (Term("word", title=True),)),
    ],
)
def test_syntax(query: str, terms: tuple[Term, ...]) -> None:
    assert terms == parse_query(query).terms
    assert parse_query(query).filters == ()


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ("tag:x", (Filter("tag", "x"),)),
        ("tag:x tag:y", (Filter("tag", "x"), Filter("tag", "y"))),
        ('tag:"two words"', (Filter("tag", "two words"),)),
        ("tag:\u201ctwo words\u201d", (Filter("tag", "two words"),)),
        ("tag\uff1ax", (Filter("tag", "x"),)),
        ("TYPE:text/markdown", (Filter("type", "text/markdown"),)),
        ("doc:guide-1a2b", (Filter("doc", "guide-1a2b"),)),
        ("-tag:x", (Filter("tag", "x", excluded=True),)),
        ("tag:c++", (Filter("tag", "c++"),)),
    ],
)
def test_filters(query: str, filters: tuple[Filter, ...]) -> None:
    assert filters == parse_query(query).filters
    assert parse_query(query).terms == ()


@pytest.mark.parametrize(
    "query",
    [
        "-", "--", "--option", "->", "->next", "a-b", "*", "**bold**", "foo*bar", "v1.*", "tag:", "title:",
        "type::name", "std::vector", "12:30", "https://x.org/a?b=c", "doc://x", "foo:bar", "mytag:x", "tag :x",
        'print("x")', 'x"', "AND", "+word", "(tag:x)", "C++", "c#", "'single'", "\u300c\u5f15\u7528\u300d",
    ],
)  # fmt: skip
def test_what_only_looks_like_syntax_is_text(query: str) -> None:
    parsed = parse_query(query)
    assert tuple(Term(word) for word in query.split()) == parsed.terms
    assert parsed.filters == ()


def test_an_open_quote_is_left_out() -> None:
    assert (Term("open"), Term("quote")) == parse_query('"open quote').terms
    assert (Term('5"'), Term("disk")) == parse_query('5" disk').terms
    assert (Term("word"),) == parse_query('word -"').terms[:1]


def test_empty_quotes_say_nothing() -> None:
    assert parse_query('"" " "').terms == ()
    assert parse_query('tag:""').filters == ()


def test_cjk_text_needs_no_spaces() -> None:
    assert (Term("数据库"), Term("索引", "phrase"), Term("查询")) == parse_query('数据库"索引"查询').terms
    assert (Term("数据"), Term("索引"), Term("查询", excluded=True)) == parse_query("数据，索引。-查询").terms


def test_in_a_pasted_passage_quotes_and_hyphens_are_no_syntax() -> None:
    passage = "word " * PROSE_WORDS + 'and "a quote" -then title:this tag:x'
    parsed = parse_query(passage)
    assert parsed.terms[PROSE_WORDS:] == (Term("and"), Term("a"), Term("quote"), Term("then"), Term("this", title=True))
    assert parsed.filters == (Filter("tag", "x"),)


def test_a_huge_query_is_read_in_part_and_says_so() -> None:
    parsed = parse_query("w " * MAX_CHARACTERS)
    assert len(parsed.terms) == MAX_TERMS
    assert len(parsed.warnings) == 2
    assert "only the first" in parsed.warnings[0]
    assert not parse_query("w " * MAX_TERMS).warnings


@given(st.text() | st.text(alphabet='ab"\u201c\u201d-*:tagiledoc \uff1a\u3002数\n\ud800'))
def test_no_text_raises_and_every_term_comes_from_it(query: str) -> None:
    parsed = parse_query(query)
    for term in parsed.terms:
        assert term.text.strip()
        assert term.text.replace("\ufffd", "") in query or "\ufffd" in term.text
    for one in parsed.filters:
        assert one.value.strip()
    "".join(term.text for term in parsed.terms).encode()


@given(st.text(st.characters(exclude_characters='"\uff02\u201c\u201d\u201e\u201f-\uff0d\ufe63\u2212')))
def test_a_filter_behind_a_query_changes_none_of_its_terms(query: str) -> None:
    assert parse_query(query).terms == parse_query(f"{query} tag:x").terms


@given(
    st.text(st.characters(exclude_characters='"\uff02\u201c\u201d\u201e\u201f'))
    | st.text(alphabet=" ab-:*\u3002\ud800")
)
def test_a_filter_behind_a_phrase_changes_none_of_its_terms(phrase: str) -> None:
    assert parse_query(f'"{phrase}"').terms == parse_query(f'"{phrase}" tag:x').terms
