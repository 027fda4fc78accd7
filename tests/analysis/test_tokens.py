"""The rules of csrc/README.md section 7, one example each, for both engines."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pytest


@pytest.fixture(params=["kbdb.reference", "kbdb._engine"])
def engine(request: pytest.FixtureRequest) -> ModuleType:
    """The engine's module; the C engine is absent from a pure install."""
    name = str(request.param)
    if name == "kbdb._engine":
        pytest.importorskip(name, reason="the C engine is not built")
    return import_module(name)


EXAMPLES = {
    "nothing": ("", ""),
    "only separators": (" \t\n.,;!? -- () \u2026 \U0001f600", ""),
    "words are folded": ("The Cat", "0 the, 1 cat"),
    "full case folding": ("STRASSE Straße ΣΊΣΥΦΟΣ σίσυφος", "0 strasse, 1 strasse, 2 σίσυφοσ, 3 σίσυφοσ"),
    "compatibility forms": ("ＡＢＣ ﬁn ① ｶﾞｷ", "0 abc, 1 fin, 2 1, 3 ガキ"),
    "digits and letters stay together": ("v1 3d sha256 utf8 2FA", "0 v1, 1 3d, 2 sha256, 3 utf8, 4 2fa"),
    "snake case": ("snake_case_name", "0 snake_case_name, 0 snake, 1 case, 2 name"),
    "camel case": ("camelCase PascalCase", "0 camelcase, 0 camel, 1 case, 2 pascalcase, 2 pascal, 3 case"),
    "end of an acronym": ("HTTPServer2 utf8Decode", "0 httpserver2, 0 http, 1 server2, 2 utf8decode, 2 utf8, 3 decode"),
    "plural of an acronym": ("APIs URLsFor IDs", "0 apis, 1 urlsfor, 1 urls, 2 for, 3 ids"),
    "no plural": ("HTTPServer ABsolute", "0 httpserver, 0 http, 1 server, 2 absolute, 2 a, 3 bsolute"),
    "kebab case": ("kebab-case", "0 kebab-case, 0 kebab, 1 case"),
    "unicode hyphens": ("a\u2010b a\u2011b", "0 a-b, 0 a, 1 b, 2 a-b, 2 a, 3 b"),
    "version": ("v1.2.3", "0 v1.2.3, 0 v1, 1 2, 2 3"),
    "path": ("./a/b/c.py", "0 a/b/c.py, 0 a, 1 b, 2 c, 3 py"),
    "scope": ("foo::bar", "0 foo::bar, 0 foo, 1 bar"),
    "address": ("user@host issue#12", "0 user@host, 0 user, 1 host, 2 issue#12, 2 issue, 3 12"),
    "time": ("12:30", "0 12:30, 0 12, 1 30"),
    "two levels": ("pd.DataFrame", "0 pd.dataframe, 0 pd, 1 dataframe, 1 data, 2 frame"),
    "underscores around a sign": (
        "self._name x/__init__.py",
        "0 self._name, 0 self, 1 name, 2 x/__init__.py, 2 x, 3 init, 4 py",
    ),
    "outer joiners are left out": ("__init__ /usr/ -x- end. #tag @me", "0 init, 1 usr, 2 x, 3 end, 4 tag, 5 me"),
    "two signs separate": ("a..b a--b http://c a:::b", "0 a, 1 b, 2 a, 3 b, 4 http, 5 c, 6 a, 7 b"),
    "an address on the web": ("https://a.io/x-y", "0 https, 1 a.io/x-y, 1 a, 2 io, 3 x, 4 y"),
    "a sentence without a space": ("end.Next", "0 end.next, 0 end, 1 next"),
    "contractions": ("user's don’t we'll couldn't've", "0 user's, 1 don't, 2 we'll, 3 couldn't've"),
    "elisions and names": ("l'homme d'or O'Brien", "0 l'homme, 0 l, 1 homme, 2 d'or, 3 o'brien, 3 o, 4 brien"),
    "quotes": ("'quoted' users' 'tis", "0 quoted, 1 users, 2 tis"),
    "no contraction after a digit": ("1990's", "0 1990's, 0 1990, 1 s"),
    "capitals in a contraction": ("DON'T x'aB", "0 don't, 1 x'ab"),
    "marks stay with their letter": ("e\u0301te\u0301 q\u0303x नमस्ते", "0 été, 1 q\u0303x, 2 नमस्ते"),
    "a mark without a letter separates": ("a \u0301b", "0 a, 1 b"),
    "invisible characters": ("co\u00adop می\u200cخواهم a\u200bb", "0 coop, 1 میخواهم, 2 a, 3 b"),
    "not assigned in Unicode 14.0": ("a\u0378b \U0001fae8 \U00031350", "0 a, 1 b"),
    "han": ("中文字", "0 中文, 1 文字"),
    "one character": ("水 a", "0 水, 1 a"),
    "kanji and kana are one run": ("食べる東タワー々", "0 食べ, 1 べる, 2 る東, 3 東タ, 4 タワ, 5 ワー, 6 ー々"),
    "a cut at script borders": ("Python入門 API를", "0 python, 1 入門, 2 api, 3 를"),
    "a cut between alphabets": ("abcдеж", "0 abc, 1 деж"),
    "alphabets joined": ("usb-кабель", "0 usb-кабель, 0 usb, 1 кабель"),
    "digits end a run": ("2024年3月", "0 2024, 1 年, 2 3, 3 月"),
    "hangul": ("한국어", "0 한국, 1 국어"),
    "han and hangul": ("漢字한글", "0 漢字, 1 한글"),
    "thai with marks": ("ที่นี่", "0 ที่นี่"),
    "thai": ("ไทยดี", "0 ไท, 1 ทย, 2 ยด\u0e35"),
    "lao, khmer, myanmar": ("ລາວ កខគ ကခဂ", "0 ລາ, 1 າວ, 2 កខ, 3 ខគ, 4 ကခ, 5 ခဂ"),
    "no joiner into a run": ("a-水 水-a a_水", "0 a, 1 水, 2 水, 3 a, 4 a, 5 水"),
    "variation selectors": ("葛\U000e0100城", "0 葛城"),
}


@pytest.mark.parametrize(("text", "expected"), EXAMPLES.values(), ids=EXAMPLES.keys())
def test_example(engine: ModuleType, text: str, expected: str) -> None:
    assert expected == ", ".join(f"{position} {word}" for position, word in engine.tokenise(text))


def test_whole_of_64_characters_is_a_token(engine: ModuleType) -> None:
    text = "a" * 31 + "_" + "b" * 32
    assert [(0, text), (0, "a" * 31), (1, "b" * 32)] == engine.tokenise(text)


def test_longer_whole_is_left_out(engine: ModuleType) -> None:
    assert engine.tokenise("a" * 32 + "_" + "b" * 32) == [(0, "a" * 32), (1, "b" * 32)]


def test_longer_camel_case_is_left_out(engine: ModuleType) -> None:
    assert engine.tokenise("a" * 40 + "B" + "b" * 39) == [(0, "a" * 40), (1, "b" * 40)]


def test_hex_digest_is_one_word(engine: ModuleType) -> None:
    assert engine.tokenise("0f" * 64) == [(0, "0f" * 64)]


def test_long_word_is_cut(engine: ModuleType) -> None:
    expected = [(0, "x" * 144), (1, "x" * 144), (2, "x" * 12), (3, "y")]
    assert expected == engine.tokenise("x" * 300 + " y")


def test_long_word_is_cut_between_characters(engine: ModuleType) -> None:
    assert engine.tokenise("ж" * 75) == [(0, "ж" * 72), (1, "ж" * 3)]


def test_long_word_is_not_cut_by_case(engine: ModuleType) -> None:
    assert [len(word) for _, word in engine.tokenise("aB" * 100)] == [144, 56]


def test_surplus_marks_separate(engine: ModuleType) -> None:
    zero_width = "\u200d" * 16
    assert engine.tokenise(f"a{zero_width}b") == [(0, "a"), (1, "b")]
    assert engine.tokenise(f"a{zero_width[1:]}b") == [(0, "ab")]


def test_rows_of_combining_characters_are_shortened(engine: ModuleType) -> None:
    assert engine.tokenise("a" + "\u0301\u0316" * 5) == engine.tokenise("a" + "\u0301\u0316" * 50_000)


def test_lone_surrogates_separate(engine: ModuleType) -> None:
    assert engine.tokenise("a\udc80b") == [(0, "a"), (1, "b")]
