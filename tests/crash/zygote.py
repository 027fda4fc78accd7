"""Imports a function once, then runs it in a forked process for each order: no imports and no disk to wait for.

Run as a script with ``module:function``; a function ``warm_up`` in the module is called first. An order is a line of
JSON on standard input: the folder to call the function with, the fault to arm, the file for the fault points passed,
the files for the output. The answer is a line with the exit code.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import Any

from kbdb.store import faults
from tests.crash.quick import without_syncs


def main(target: str) -> None:
    """Carries out orders until there are no more."""
    module_name, _, name = target.partition(":")
    module = import_module(module_name)
    function = getattr(module, name)
    if hasattr(module, "warm_up"):
        module.warm_up()
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _live(function, order)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _live(function: Callable[[str], object], order: dict[str, Any]) -> None:
    """The forked process; it never returns."""
    code = 1
    try:
        for fd, path in ((0, os.devnull), (1, order["output"]), (2, order["errors"])):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), fd)
        with without_syncs(), faults.hooked(faults.hook_for(order["fault"], order["log"])):
            function(order["folder"])
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1])
