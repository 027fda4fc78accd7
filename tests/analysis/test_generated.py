"""The generated tables are what the generator writes."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

GENERATOR = Path(__file__).resolve().parents[2] / "tools" / "generate_unicode_classes.py"


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the generator needs CPython 3.11's Unicode 14.0")
def test_tables_are_up_to_date() -> None:
    pytest.importorskip("fontTools.unicodedata", reason="the generator needs fontTools")
    done = subprocess.run([sys.executable, GENERATOR, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
