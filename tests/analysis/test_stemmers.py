"""PyStemmer and the pure Snowball classes give the same stems."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbdb.languages import LANGUAGES
from kbdb.reference.analysis import tokenise
from kbdb.reference.stemmer import Stemmer as ReferenceStemmer

PyStemmerStemmer = pytest.importorskip("kbdb.index.stemmer", reason="PyStemmer is not installed").Stemmer

ALPHABETS = {
    "Latn": "abcdefghijklmnopqrstuvwxyzäöüßàâçéèêëíîïñóôúûåæøčşğıőűžłąę'",
    "Cyrl": "абвгдежзийклмнопрстуфхцчшщъыьэюяёђјљњћџ",
    "Grek": "αβγδεζηθικλμνξοπρστυφχψωάέήίόύώς",
    "Arab": "ابتثجحخدذرزسشصضطظعغفقكلمنهويةىءآأإؤئکگچپیـ\u064b\u064e",
    "Deva": "कखगघचछजझटठडढतथदधनपफबभमयरलवशषसह\u093e\u093f\u0940\u0941\u0942\u0947\u0948\u094b\u094d\u0902",
    "Armn": "աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆ",
    "Taml": "கஙசஞடணதநபமயரலவழளறன\u0bbe\u0bbf\u0bc0\u0bc1\u0bc6\u0bc7\u0bc8\u0bcd",
    "Hebr": "אבגדהוזחטיכלמנסעפצקרשתםןץףך",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_equal_stems_of_made_up_words(language: str) -> None:
    scripts = LANGUAGES[language] or ("Latn",)
    alphabet = "".join(ALPHABETS[script] for script in scripts)
    compiled, pure = PyStemmerStemmer(language), ReferenceStemmer(language)

    @settings(max_examples=25, deadline=None)
    @given(words=st.lists(st.text(st.sampled_from(alphabet), min_size=1, max_size=14), max_size=60))
    def check(words: list[str]) -> None:
        assert pure.stems(words) == compiled.stems(words)

    check()


def test_equal_stems_of_real_words(shared_data: Path) -> None:
    words: set[str] = set()
    for path in sorted((shared_data / "markdown").rglob("*.md"))[::10]:
        words.update(word for _, word in tokenise(path.read_text(encoding="utf-8")))
    for path in sorted((shared_data / "xquad").rglob("*.json*")):
        for line in path.read_text(encoding="utf-8").splitlines()[:60]:
            words.update(word for _, word in tokenise(str(json.loads(line))))
    ordered = sorted(words)
    for language in ("english", "german"):
        assert ReferenceStemmer(language).stems(ordered) == PyStemmerStemmer(language).stems(ordered)


@pytest.mark.parametrize(
    ("language", "stems"),
    [
        ("english", {"running": "run", "user's": "user", "users": "user", "generously": "generous", "apis": "api"}),
        ("german", {"häuser": "haus", "aufeinander": "aufeinand"}),
        ("french", {"l'homme": "homm", "continuellement": "continuel"}),
        ("russian", {"книгами": "книг", "running": "run"}),
    ],
)
def test_known_stems(language: str, stems: dict[str, str]) -> None:
    for stemmer in (PyStemmerStemmer(language), ReferenceStemmer(language)):
        assert dict(zip(stems, stemmer.stems(list(stems)), strict=True)) == stems


def test_words_that_would_be_emptied_stay() -> None:
    tatweel = "\u0640\u0640"
    assert PyStemmerStemmer("english").stems([tatweel]) == [tatweel] == ReferenceStemmer("english").stems([tatweel])


def test_words_without_algorithm_stay() -> None:
    words = ["snake_cases", "v1.2", "漢字", "running2", ""]
    assert PyStemmerStemmer("english").stems(words) == words == ReferenceStemmer("english").stems(words)


def test_threads_may_share_a_stemmer() -> None:
    stemmer = PyStemmerStemmer("english")
    words = [f"{'abcdefgh'[i % 8]}{'running' if i % 2 else 'hopefully'}" for i in range(2000)]
    expected = stemmer.stems(words)
    with ThreadPoolExecutor(4) as pool:
        assert all(stems == expected for stems in pool.map(stemmer.stems, [words] * 8))
