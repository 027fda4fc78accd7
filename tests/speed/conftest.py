"""Lets the tests import ``bench``, which is in the checkout and in no package."""

from __future__ import annotations

import sys
from pathlib import Path

CHECKOUT = str(Path(__file__).resolve().parent.parent.parent)

if CHECKOUT not in sys.path:
    # Behind all else: an installed kbdb comes before the checkout's.
    sys.path.append(CHECKOUT)
