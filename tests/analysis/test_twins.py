"""Both engines give the same words, keep the promises of csrc/README.md section 7, and the C one is safe on any bytes.

The C tokeniser is tested through ``kbdb._engine`` where that is built, and alone in a program made with sanitizers.
"""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbdb.normalise import ANALYSIS_VERSION, fold, normalise
from kbdb.reference.analysis import slices, tokenise
from kbdb.reference.unicode_classes import RANGES

_TELLING = [
    *"aabBcCsSsxZ019____--..//::@#'' ’‐éÉßДдяΩσ漢字かカー々ไทยำา้ၡ한국ʼ²ªǅİ﷽ＡꭰᲐა",
    *("\u0301", "\u0308", "\u200d", "\u00ad", "\ufe0f", "\u3099", "\u0344", "\u0378", "\U0001f600", "ｶﾞ", "\u200b"),
]  # fmt: skip

_any_class = st.sampled_from(RANGES).flatmap(lambda item: st.integers(item[0], item[1])).map(chr)
_repeated = st.tuples(st.sampled_from(_TELLING), st.sampled_from([1, 14, 15, 16, 17, 40, 72, 145])).map(
    lambda item: item[0] * item[1]
)

texts = st.one_of(
    st.text(st.sampled_from("aaabBsCX1_-.:'"), max_size=120),
    st.lists(st.sampled_from(_TELLING), max_size=80).map("".join),
    st.lists(_any_class, max_size=40).map("".join),
    st.lists(_repeated, max_size=12).map("".join),
    st.text(st.characters(), max_size=40),
)

ROOT = Path(__file__).resolve().parents[2]
KB_OK, KB_E_UTF8 = 0, 5

TokeniseInC = Callable[[Sequence[bytes]], list[tuple[list[tuple[int, bytes]], int, int]]]


@pytest.fixture(scope="session")
def tokenise_in_c(tmp_path_factory: pytest.TempPathFactory) -> TokeniseInC:
    """Texts to (tokens, status, positions), by a program made with the address and undefined behaviour sanitizers."""
    compiler = shutil.which("clang") or shutil.which("gcc") or shutil.which("cc")
    if compiler is None or not (ROOT / "csrc").is_dir():
        pytest.skip("needs a C compiler and the sources")
    program = tmp_path_factory.mktemp("tokeniser") / "tokenise_records"
    flags = ["-std=c11", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    sources = [Path(__file__).with_name("tokenise_records.c"), ROOT / "csrc" / "analysis.c"]
    built = subprocess.run([compiler, *flags, f"-I{ROOT / 'csrc'}", "-o", program, *sources], capture_output=True)
    if built.returncode != 0 and b"sanitize" in built.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert built.returncode == 0, built.stderr.decode()

    def run(records: Sequence[bytes]) -> list[tuple[list[tuple[int, bytes]], int, int]]:
        data = b"".join(struct.pack("=I", len(record)) + record for record in records)
        done = subprocess.run([program], input=data, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return [_parse(line) for line in done.stdout.decode("ascii").splitlines()]

    return run


def _parse(line: str) -> tuple[list[tuple[int, bytes]], int, int]:
    *tokens, status, positions = line.split()
    pairs = [token.split(":") for token in tokens]
    return [(int(position), bytes.fromhex(text)) for position, text in pairs], int(status), int(positions)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60, deadline=None)
@given(samples=st.lists(texts, min_size=1, max_size=20))
def test_equals_the_reference(tokenise_in_c: TokeniseInC, samples: list[str]) -> None:
    normalised = [normalise(sample) for sample in samples]
    results = tokenise_in_c([text.encode() for text in normalised])
    for text, (tokens, status, positions) in zip(normalised, results, strict=True):
        expected = slices(text)
        assert [(position, token.encode()) for position, token in expected] == tokens
        assert (KB_OK, expected[-1][0] + 1 if expected else 0) == (status, positions)


def test_any_bytes_are_safe(tokenise_in_c: TokeniseInC) -> None:
    generator = random.Random(7)
    records = [generator.randbytes(generator.randrange(64)) for _ in range(3000)]
    records += [_damaged(generator) for _ in range(3000)]
    for record, (tokens, status, _) in zip(records, tokenise_in_c(records), strict=True):
        try:
            record.decode("utf-8")
        except UnicodeDecodeError:
            assert (tokens, status) == ([], KB_E_UTF8)
        else:
            assert status == KB_OK


def _damaged(generator: random.Random) -> bytes:
    """Text of all lengths of UTF-8 sequences with one byte changed, or cut short."""
    text = bytearray("".join(generator.choices("aB_.é漢ก\u0301\U00020000’", k=generator.randrange(1, 12))).encode())
    if generator.random() < 0.5:
        text[generator.randrange(len(text))] = generator.randrange(256)
    return bytes(text[: generator.randrange(len(text) + 1)])


def test_long_hostile_texts_take_one_pass_or_two(tokenise_in_c: TokeniseInC) -> None:
    hostile = ["a_" * 200_000, "a" + "_" * 400_000, "a'" * 200_000, "aB" * 200_000, "水" * 100_000, "\u0301" * 200_000]
    results = tokenise_in_c([text.encode() for text in hostile])
    assert [positions for _, _, positions in results] == [200_000, 1, 2778, 2778, 99_999, 0]


@given(text=texts)
def test_equal_words(text: str) -> None:
    engine = pytest.importorskip("kbdb._engine", reason="the C engine is not built")
    assert tokenise(text) == engine.tokenise(text)


def test_equal_words_of_real_documents(shared_data: Path) -> None:
    engine = pytest.importorskip("kbdb._engine", reason="the C engine is not built")
    assert engine.ANALYSIS_VERSION == ANALYSIS_VERSION
    for path in sorted((shared_data / "markdown").rglob("*.md"))[::8]:
        text = path.read_text(encoding="utf-8")
        assert tokenise(text) == engine.tokenise(text), path


@given(text=texts)
def test_tokens_are_ordered_slices(text: str) -> None:
    normalised = normalise(text)
    position, before, length = -1, "", 0
    for token_position, token in slices(normalised):
        assert token in normalised
        if token_position == position:
            assert before.startswith(token)
            assert len(token) < length
        else:
            assert position + 1 == token_position
        position, before, length = token_position, token, len(token)


@given(text=texts)
def test_words_are_never_empty_and_short_enough(text: str) -> None:
    for _, word in tokenise(text):
        assert 1 <= len(word.encode("utf-8")) <= 255


@given(text=texts)
def test_normalised_text_is_in_normal_form(text: str) -> None:
    assert unicodedata.is_normalized("NFKC", normalise(text))


@given(text=texts)
def test_case_does_not_matter_within_a_word(text: str) -> None:
    for _, token in slices(normalise(text)):
        if token.isascii():
            assert fold(token) == fold(token.upper()) == fold(token.lower())
