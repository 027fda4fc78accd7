"""Chooses the engine: the compiled one, its twin in plain Python, or both in lock-step.

``KBDB_ENGINE=c|reference|checked`` forces one; unset means the compiled engine, or the reference where the
package was installed without it (``KBDB_PURE=1``).
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from kbdb.errors import InvalidArgumentError

if TYPE_CHECKING:
    from kbdb.index.api import EngineModule

VARIABLE = "KBDB_ENGINE"
MODULES = {"c": "kbdb._engine", "reference": "kbdb.reference", "checked": "kbdb.index.checked"}


def engine() -> EngineModule:
    """The engine module this process uses; its names are described in ``kbdb.index.api``."""
    return _load(os.environ.get(VARIABLE, ""))


@cache
def _load(choice: str) -> EngineModule:
    if choice:
        if choice not in MODULES:
            raise InvalidArgumentError(f"{VARIABLE} is {choice!r}", f"use one of: {', '.join(MODULES)}")
        try:
            return import_module(MODULES[choice])
        except ImportError as error:
            raise InvalidArgumentError(
                f"the engine {choice!r} is not installed ({error})", "reinstall kbdb with a C compiler present"
            ) from error
    try:
        return import_module(MODULES["c"])
    except ModuleNotFoundError as error:
        if error.name != MODULES["c"]:
            raise
        return import_module(MODULES["reference"])
