"""The twins share names: what a header of csrc/ offers, the module of that name in reference/ offers, and back."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from engines import ENGINES, needs_compiled

CHECKOUT = Path(__file__).resolve().parent.parent.parent
CSRC = CHECKOUT / "csrc"
REFERENCE = CHECKOUT / "reference"

WITHOUT_TWIN = {
    "best_blocks": "the reference scores every posting",
    "bitmap": "Python has sets",
    "bytes_out": "Python has bytearray",
    "crc32": "Python has zlib",
    "cursor": "Python has struct; varint.py reads whole lists",
    "error": "Python has exceptions (kbdb/errors.py)",
    "exhaustive": "the reference has one way to search",
    "gaps": "terms.py reads them",
    "intern": "Python has dict",
    "lanes": "the reference adds up in doubles",
    "merge_task": "merge.py has no parts",
    "sink": "Python has callables",
    "union": "Python has set and sorted()",
    "lists_write": "postings_encode and positions_encode write whole lists",
    "phrase": "occurrences_read compares all positions",
    "plan": "kbdb/plan.py",
    "scratch": "the reference keeps no memory between searches",
    "sketch": "the reference looks at every vector",
    "stems_of": "Segment.stem_sets reads them all",
    "sweep": "the reference scores every posting",
    "topk": "Python has sorted()",
    "unicode_classes": "a table without functions, in both",
    "utf8": "Python has str",
}

LIFETIME = re.compile(r"_(open|close|free|new)$")
"""Python's objects are made by their classes or when they are read, and die by themselves."""

ONLY_IN_C = {
    # Lists are read whole by postings_read, positions_read and occurrences_read, not walked.
    *(
        "postings_next",
        "postings_corrupt",
        "postings_block",
        "postings_block_end",
        "postings_code",
        "postings_codes",
        "postings_codes_sum",
        "postings_exceptions",
    ),
    *(
        "postings_exception",
        "postings_find",
        "postings_impact",
        "postings_last",
        "postings_locate",
        "postings_move",
        "postings_ref",
        "postings_positions",
        *("postings_ahead", "postings_prefetch", "postings_reach", "postings_reach_on"),
        "postings_rewind",
        "postings_seek",
    ),
    *("positions_corrupt", "positions_forms", "positions_go", "positions_has", "positions_next"),
    *("positions_prefetch", "positions_seek", "positions_skip", "positions_verify_block"),
    *("occurrences_next", "occurrences_possible", "lists_corrupt", "table_check"),
    # What kind a file is of, and where things are in it, are fields of Kind, Container and EntryRecord.
    *("container_regions", "container_is_lists", "keyed_count"),
    # Ranges of strings and bitmaps of keys are comprehensions.
    *("strings_seek", "strings_find_between", "strings_prefix", "keyed_bitmap"),
    # Tables of norms and of what was looked up before make C fast.
    *("bm25f_prepare", "bm25f_tabulate", "term_find"),
    # How wide numbers are: lists and dicts of widths.
    *("ref_shape_of", "record_shape_of", "terms_shape_of"),
    # A number at a time, and what bounds are made of.
    *("bits_bytes", "bits_get", "bits_put", "bits_word", "bm25f_most", "corpus_code_length", "corpus_length"),
    # The steps of Builder.add, merge and finish, between which C hands words to Python to be folded and stemmed.
    *("builder_analyse", "builder_commit", "builder_filter", "builder_fold", "builder_reference", "builder_set_stem"),
    *("builder_forget_tokens", "builder_sort_words", "numbers_put", "places_mark", "places_corrupt", "places_possible"),
    # Files are written whole, not region by region to a sink.
    *("container_end", "region_begin_table", "region_begin_lists", "region_put", "region_put_u32", "region_end"),
    # Kbids are searched as a list, numbers are unpacked record by record, and there is one way to multiply them.
    *("vectors_components", "vectors_are_finite", "vectors_seek", "dot_portable", "dot_avx2", "dot_widen"),
    # The scanner of reference/toml.py is a class that gives the whole table.
    *("toml_init", "toml_next", "toml_decode"),
}

ONLY_IN_PYTHON = {
    # invert.c and merge.c write the files in one go.
    *("strings_write", "keyed_write", "terms_write", "corpus_write", "postings_encode", "positions_encode"),
    *("varint_encode", "merge_entries", "slices"),
    # Lists and tables are read whole.
    *("varint_decode", "strings_all", "strings_count", "strings_text", "table_rows", "terms_words", "terms_stems"),
    *("terms_forms", "positions_read", "occurrences_read", "corpus_entries", "corpus_removed"),
    *("keyed_find", "keyed_keys", "keyed_record", "container_length", "container_place"),
    *("terms_find_word", "words_df", "bm25f_averages", "scan_toml", "postings_read"),
    # Numbers are packed and unpacked a block at a time.
    *("bits_pack", "bits_size", "bits_unpack", "varint_first", "narrow_encode", "narrow_decode"),
    *("corpus_record_widths", "terms_word_widths", "terms_stem_widths"),
    # C gives kbids as bytes; it has two ways to multiply; what is kept of vectors is Python's.
    *("kbid_text", "dot", "vectors_vector", "vectors_prepare", "vectors_verify"),
}


def public_in_c(header: Path) -> set[str]:
    """The functions of a header without their prefix: declared, or defined as static inline."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
    return set(re.findall(r"^(?=\w)[\w \*]*?\bkb_(\w+)\(", text, flags=re.MULTILINE))


CLASSES = {"Builder": "builder", "Segment": "segment", "Searcher": "searcher", "Vectors": "vectors"}
CLASSES |= {"VectorSearcher": "vector"}
"""What their methods' names begin with in C."""


def public_in_python(module: Path) -> set[str]:
    """The public functions of a module, and the methods of its classes as ``builder_add`` etc."""
    names: set[str] = set()
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            names.add(node.name)
        if isinstance(node, ast.ClassDef) and node.name in CLASSES:
            methods = [item.name for item in node.body if isinstance(item, ast.FunctionDef) and not item.decorator_list]
            names |= {f"{CLASSES[node.name]}_{method}" for method in methods if not method.startswith("_")}
    return names


HEADERS = sorted(header.stem for header in CSRC.glob("*.h") if header.stem not in WITHOUT_TWIN)


@pytest.mark.parametrize("name", HEADERS)
def test_what_a_header_offers_its_twin_offers(name: str) -> None:
    twin = REFERENCE / f"{name}.py"
    assert twin.is_file()
    offered = {function for function in public_in_c(CSRC / f"{name}.h") if not LIFETIME.search(function)}
    verify = public_in_python(REFERENCE / "verify.py")
    assert set() == offered - ONLY_IN_C - public_in_python(twin) - verify


@pytest.mark.parametrize("name", sorted(module.stem for module in REFERENCE.glob("*.py")))
def test_what_a_twin_offers_the_engine_offers(name: str) -> None:
    methods = re.compile(r"^(builder|segment|searcher)_")
    declared = {function for header in CSRC.glob("*.h") for function in public_in_c(header)}
    offered = {function for function in public_in_python(REFERENCE / f"{name}.py") if not methods.match(function)}
    assert set() == offered - ONLY_IN_PYTHON - declared


@needs_compiled
@pytest.mark.parametrize("name", CLASSES)
def test_the_classes_have_the_same_methods(name: str) -> None:
    methods = [
        {
            item
            for item in dir(getattr(engine, name))
            if item[0] != "_" and callable(getattr(getattr(engine, name), item))
        }
        for engine in ENGINES
    ]
    assert methods[0] == methods[1]


def test_no_exception_is_out_of_date() -> None:
    in_c = {function for header in CSRC.glob("*.h") for function in public_in_c(header)}
    in_python = {function for module in REFERENCE.glob("*.py") for function in public_in_python(module)}
    assert set() == ONLY_IN_C - in_c
    assert set() == ONLY_IN_C & in_python
    assert set() == ONLY_IN_PYTHON - in_python
    assert set() == ONLY_IN_PYTHON & in_c
    assert set() == WITHOUT_TWIN.keys() - {header.stem for header in CSRC.glob("*.h")}
