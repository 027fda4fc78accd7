"""Estimated tokens against those of o200k: never under on what people write, and not far over."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path
from string import punctuation

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_calls import tokens

from kbdb.mcp.tokens import beginning, estimate, fits

ROOT = Path(__file__).resolve().parents[2]
FILES = 40
PIECE = 1500

SENTENCES = {
    "th": "ฐานข้อมูลความรู้เก็บไฟล์ข้อความธรรมดาและค้นหาได้อย่างรวดเร็วโดยไม่ต้องใช้อินเทอร์เน็ต",
    "hi": "ज्ञान का यह भंडार सादे पाठ की फ़ाइलों से बना है और बिना इंटरनेट के भी तुरंत उत्तर देता है।",
    "ar": "قاعدة المعرفة مكونة من ملفات نصية بسيطة ويمكن البحث فيها بسرعة دون اتصال بالإنترنت.",
    "he": "מאגר הידע בנוי מקבצי טקסט פשוטים ואפשר לחפש בו במהירות גם בלי חיבור לאינטרנט.",
    "el": "Η βάση γνώσεων αποτελείται από απλά αρχεία κειμένου και απαντά γρήγορα.",
    "ko": "지식 저장소는 일반 텍스트 파일로 이루어져 있으며 인터넷 연결 없이도 빠르게 검색할 수 있습니다.",
    "ka": "ცოდნის ბაზა შედგება უბრალო ტექსტური ფაილებისგან და სწრაფად პასუხობს.",
    "de": "Die Wissensdatenbank besteht aus einfachen Dateien; jede Antwort lässt sich überprüfen.",
    "vi": "Cơ sở tri thức gồm các tệp văn bản đơn giản và trả lời nhanh chóng mà không cần kết nối mạng.",
    "pl": "Baza wiedzy składa się ze zwykłych plików tekstowych i szybko odpowiada bez połączenia.",
    "ru": "База знаний состоит из обычных текстовых файлов и быстро отвечает без подключения к сети.",
    "emoji": "👍🏽🎉🚀👨‍👩‍👧‍👦✨",
}


def texts(folder: Path, pattern: str) -> list[str]:
    """Some files of a collection, always the same."""
    found = sorted(folder.glob(pattern))
    assert found
    random.Random(1).shuffle(found)
    return [path.read_text(encoding="utf-8", errors="replace")[:100_000] for path in found[:FILES]]


@pytest.mark.parametrize(
    ("folder", "pattern", "most"),
    [
        ("markdown/fastapi-en", "**/*.md", 1.6),
        ("markdown/fastapi-ja", "**/*.md", 1.6),
        ("markdown/fastapi-zh", "**/*.md", 1.8),
        ("markdown/prometheus", "**/*.md", 1.6),
        ("xquad/ru", "**/*.*", 2.5),
        ("xquad/zh", "**/*.*", 1.6),
        ("cmrc2018-zh", "**/*.json*", 1.7),
        ("locomo", "**/*.json*", 1.6),
    ],
)
def test_what_people_write_is_never_estimated_under(shared_data: Path, folder: str, pattern: str, most: float) -> None:
    found = texts(shared_data / folder, pattern)
    pieces = [text[at : at + PIECE] for text in found for at in range(0, len(text) - PIECE // 2, PIECE)]
    under = [piece[:60] for piece in pieces if estimate(piece) < tokens(piece)]
    assert under == []
    assert sum(map(estimate, found)) <= most * sum(map(tokens, found))


def test_source_code_is_never_estimated_under() -> None:
    for path in [*sorted(ROOT.glob("kbdb/**/*.py")), *sorted(ROOT.glob("csrc/*.c"))]:
        text = path.read_text(encoding="utf-8")
        assert estimate(text) >= tokens(text), path


def _random_texts() -> dict[str, str]:
    rng = random.Random(2)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return {
        "base64": base64.b64encode(rng.randbytes(6000)).decode(),
        "hex": rng.randbytes(3000).hex(),
        "latin-1": rng.randbytes(6000).decode("latin-1"),
        "mended": rng.randbytes(6000).decode("utf-8", "replace"),
        "letters": "".join(rng.choices(letters, k=6000)),
        "words": " ".join("".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(1000)),
        "capitals": "".join(rng.choices(letters.upper(), k=6000)),
        "signs": "".join(rng.choices("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", k=4000)),
        "kbids": " ".join("".join(rng.choices("0123456789abcdefghjkmnpqrstvwxyz", k=26)) for _ in range(200)),
        "ideographs": "".join(chr(rng.randint(0x4E00, 0x9FFF)) for _ in range(4000)),
        "hangul": "".join(chr(rng.randint(0xAC00, 0xD7A3)) for _ in range(4000)),
        "white space": "".join(rng.choices(" \t\n\r", k=4000)),
    }


@pytest.mark.parametrize(("name", "text"), _random_texts().items())
def test_noise_is_never_estimated_under(name: str, text: str) -> None:
    assert estimate(text) >= tokens(text), name


@pytest.mark.parametrize(("language", "text"), SENTENCES.items())
def test_other_scripts_are_never_estimated_under(language: str, text: str) -> None:
    assert estimate(text * 5) >= tokens(text * 5), language


@pytest.mark.parametrize("sign", punctuation)
def test_runs_of_one_sign_are_never_estimated_under(sign: str) -> None:
    for length in (1, 2, 3, 7, 64, 400):
        assert estimate(sign * length) >= tokens(sign * length), length


@pytest.mark.parametrize("unit", ['\\"', '"', '\\\\"', "\\n", '"\\', "'\"", '{"', '"**', "=+^", '^"', "[[", "\\'"])
def test_signs_repeated_are_never_estimated_under_as_they_are_or_in_json(unit: str) -> None:
    for text in (unit * 500, json.dumps(unit * 500), json.dumps(json.dumps(unit * 500))):
        assert estimate(text) >= tokens(text), text[:12]


@settings(max_examples=500)
@given(st.text(punctuation, min_size=1, max_size=4))
def test_any_few_signs_repeated_are_never_estimated_under(unit: str) -> None:
    for text in (unit * 200, json.dumps(unit * 200)):
        assert estimate(text) >= tokens(text)


@given(st.text('ab, .中\n"1é', max_size=200), st.integers(1, 100))
def test_the_longest_beginning_about_fits(text: str, most: int) -> None:
    end = beginning(text, most)
    assert 0 <= end <= len(text)
    assert estimate(text[:end]) <= most * 1.5 + 2
    assert end == len(text) or estimate(text[: end + 30]) * 1.5 + 2 >= min(most, estimate(text))


@given(st.text(max_size=100))
def test_what_costs_no_more_bytes_than_tokens_fits(text: str) -> None:
    assert fits(text, len(text.encode()) * 4)
    assert tokens(text) <= len(text.encode())
