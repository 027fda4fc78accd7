"""Writes the character tables of the analysis, for C, the reference and what both share.

The files: csrc/unicode_classes.h, reference/unicode_classes.py, kbdb/unicode_data.py.

Run with CPython 3.11, whose ``unicodedata`` is Unicode 14.0, and fontTools (scripts). What the kinds mean stands in
csrc/README.md section 7. ``--check`` writes nothing and fails when a file on disk differs.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from fontTools.unicodedata import script, script_extension  # type: ignore[import-untyped, unused-ignore]

ROOT = Path(__file__).resolve().parent.parent
CODE_POINTS = 0x110000
UNICODE_VERSION = "14.0"

KINDS = (
    "OTHER", "MARK", "DIGIT", "LETTER", "LOWER", "UPPER", "PAIR", "UNDERSCORE", "JOINER", "COLON", "APOSTROPHE",
)  # fmt: skip
OTHER, MARK, DIGIT, LETTER, LOWER, UPPER, PAIR, UNDERSCORE, JOINER, COLON, APOSTROPHE = range(len(KINDS))

JOINERS = {"_": UNDERSCORE, ":": COLON, "'": APOSTROPHE, "\u2019": APOSTROPHE, **dict.fromkeys("-\u2010./@#", JOINER)}

# Written without spaces, so indexed by pairs. Kanji and kana mix within one Japanese word: one script here.
PAIR_SCRIPTS = {
    "Hani": "CJK", "Hira": "CJK", "Kana": "CJK", "Hang": "Hang",
    "Thai": "Thai", "Laoo": "Laoo", "Khmr": "Khmr", "Mymr": "Mymr",
}  # fmt: skip
EAST_ASIAN = frozenset({"Hani", "Hira", "Kana", "Hang", "Bopo", "Yiii"})
NEUTRAL = ("Zyyy", "Zinh", "Zzzz")

# Default_Ignorable_Code_Point of Unicode 14.0 without U+200B, which stands between words.
IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200C, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip

# Scripts for which there is a stemmer (kbdb/languages.py).
STEMMED_SCRIPTS = ("Latn", "Cyrl", "Grek", "Arab", "Deva", "Armn", "Taml", "Hebr")


@dataclass(frozen=True, slots=True, order=True)
class Class:
    """What the tokeniser knows of a character: its kind, and its script ("" where it fits all)."""

    kind: int
    script: str


SEPARATOR = Class(OTHER, "")


def is_unassigned(code: int) -> bool:
    """Whether Unicode 14.0 gives the code point no character. Surrogates are none either."""
    return unicodedata.category(chr(code)) in ("Cn", "Cs")


def is_ignorable(code: int) -> bool:
    """Whether the character is invisible and says nothing about the word it stands in."""
    return not is_unassigned(code) and any(first <= code <= last for first, last in IGNORABLE)


def class_of(code: int) -> Class:
    """The class of one code point."""
    character = chr(code)
    category = unicodedata.category(character)
    if character in JOINERS:
        return Class(JOINERS[character], "")
    if category in ("Cn", "Cs", "Co"):
        return SEPARATOR
    if category[0] == "M" or is_ignorable(code):
        return Class(MARK, "")
    if category in ("Nd", "No"):
        return Class(DIGIT, "")
    if category[0] == "L" or category == "Nl":
        return _letter_class(character, category)
    return SEPARATOR


def _letter_class(character: str, category: str) -> Class:
    name = script(character)
    if name in NEUTRAL:
        if script_extension(character) <= EAST_ASIAN:
            return Class(PAIR, "CJK")
        return Class(LETTER, "")
    if name in PAIR_SCRIPTS:
        return Class(PAIR, PAIR_SCRIPTS[name])
    return Class({"Lu": UPPER, "Lt": UPPER, "Ll": LOWER}.get(category, LETTER), name)


def ranges_of(codes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Joins ascending code points to ranges, both ends inclusive."""
    first = last = -2
    for code in codes:
        if code != last + 1:
            if first >= 0:
                yield first, last
            first = code
        last = code
    if first >= 0:
        yield first, last


def _wrap(items: Iterable[str], indent: str = "    ") -> str:
    return textwrap.fill(" ".join(items), 118, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def c_header(classes: list[Class]) -> str:
    """csrc/unicode_classes.h: a two-stage table from code point to class number, and kind and script of each class."""
    numbers = {item: number for number, item in enumerate(sorted(set(classes)))}
    scripts = {name: number for number, name in enumerate(sorted({item.script for item in numbers}))}
    rows: dict[bytes, int] = {}
    pages = []
    for start in range(0, CODE_POINTS, 256):
        row = bytes(numbers[item] for item in classes[start : start + 256])
        pages.append(rows.setdefault(row, len(rows)))
    if len(numbers) > 256 or len(rows) > 256:
        raise SystemExit("the tables need more than 8 bits")
    kinds = _wrap(f"KB_KIND_{name}," for name in KINDS)
    row_text = "\n".join("    {" + _wrap((f"{value}," for value in row), "     ").strip() + "}," for row in rows)
    return f"""\
/* The class of every character of Unicode {UNICODE_VERSION}. Generated by tools/generate_unicode_classes.py. */
#ifndef KB_UNICODE_CLASSES_H
#define KB_UNICODE_CLASSES_H

#include <stdint.h>

enum {{
{kinds}
}};

enum {{ KB_SCRIPT_LATIN = {scripts["Latn"]} }};

/* By class: its kind, and its script (0: fits every script). */
static const uint8_t kb_class_kind[{len(numbers)}] = {{
{_wrap(f"{item.kind}," for item in numbers)}
}};
static const uint8_t kb_class_script[{len(numbers)}] = {{
{_wrap(f"{scripts[item.script]}," for item in numbers)}
}};

/* By ASCII character: its kind. */
static const uint8_t kb_ascii_kind[128] = {{
{_wrap(f"{item.kind}," for item in classes[:128])}
}};

/* The class of code point c is kb_class_rows[kb_class_pages[c >> 8]][c & 255]. */
static const uint8_t kb_class_pages[{len(pages)}] = {{
{_wrap(f"{page}," for page in pages)}
}};
static const uint8_t kb_class_rows[{len(rows)}][256] = {{
{row_text}
}};

#endif
"""


def reference_module(classes: list[Class]) -> str:
    """reference/unicode_classes.py: ranges of equal class."""
    scripts = sorted({item.script for item in classes})
    numbers = {name: number for number, name in enumerate(scripts)}
    ranges = []
    first = 0
    for item, run in groupby(classes):
        last = first + len(list(run)) - 1
        if item.kind != OTHER:
            ranges.append((first, last, item.kind, numbers[item.script]))
        first = last + 1
    kinds = "\n".join(f"{name} = {number}" for number, name in enumerate(KINDS))
    return f'''\
"""The class of every character of Unicode {UNICODE_VERSION}. Generated by tools/generate_unicode_classes.py."""

UNICODE_VERSION = "{UNICODE_VERSION}"

{kinds}

# By number; number 0 fits every script.
SCRIPTS = (
{_wrap(f'"{name}",' for name in scripts)}
)

# First, last, kind, script number; characters in no range are OTHER.
RANGES = (
{_wrap(f"({first:#x},{last:#x},{kind},{number})," for first, last, kind, number in ranges)}
)
'''


def data_module() -> str:
    """kbdb/unicode_data.py: what Python needs before and after the tokeniser."""
    unassigned = ranges_of(code for code in range(CODE_POINTS) if is_unassigned(code))
    ignorable = ranges_of(code for code in range(CODE_POINTS) if is_ignorable(code))
    scripts = []
    for name in STEMMED_SCRIPTS:
        letters = (c for c in range(CODE_POINTS) if chr(c).isalpha() and script(chr(c)) == name)
        ranges = _wrap((f"({first:#x},{last:#x})," for first, last in ranges_of(letters)), "        ")
        scripts.append(f'    "{name}": (\n{ranges}\n    ),')
    script_text = "\n".join(scripts)
    return f'''\
"""Character ranges of Unicode {UNICODE_VERSION} (ends inclusive). Generated by tools/generate_unicode_classes.py."""

UNICODE_VERSION = "{UNICODE_VERSION}"

# Code points without a character, surrogates among them.
UNASSIGNED = (
{_wrap(f"({first:#x},{last:#x})," for first, last in unassigned)}
)

# Invisible characters that say nothing about the word they stand in.
IGNORABLE = (
{_wrap(f"({first:#x},{last:#x})," for first, last in ignorable)}
)

# The letters of each script that has a stemmer, by ISO 15924 code.
SCRIPT_LETTERS = {{
{script_text}
}}
'''


def generate() -> dict[Path, str]:
    """All generated files: path and text."""
    classes = [class_of(code) for code in range(CODE_POINTS)]
    return {
        ROOT / "csrc" / "unicode_classes.h": c_header(classes),
        ROOT / "reference" / "unicode_classes.py": reference_module(classes),
        ROOT / "kbdb" / "unicode_data.py": data_module(),
    }


def main() -> int:
    """Writes the files, or compares them with ``--check``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is not up to date")
    check = parser.parse_args().check
    if unicodedata.unidata_version != f"{UNICODE_VERSION}.0":
        raise SystemExit(f"needs Unicode {UNICODE_VERSION} (CPython 3.11), this is {unicodedata.unidata_version}")
    differing = []
    for path, text in generate().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            differing.append(path)
            if not check:
                path.write_text(text, encoding="utf-8")
    for path in differing:
        print(f"{path.relative_to(ROOT)}: {'not up to date' if check else 'written'}", file=sys.stderr)
    return 1 if check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
