"""The runner's end of a worker: starts it, asks, and stops it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.speed.places import Places

CHECKOUT = Path(__file__).resolve().parents[2]
ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)
"""Engines are compared on one thread."""


class WorkerFailedError(Exception):
    """A worker ended without an answer; its traceback is on standard error."""


class WorkerProcess:
    """A worker. Use it as a context manager: leaving ends the process."""

    def __init__(self, engine: str, size: int, places: Places) -> None:
        self.engine = engine
        environment = os.environ | dict.fromkeys(ONE_THREAD, "1")
        environment["PYTHONPATH"] = str(CHECKOUT)
        command = [sys.executable, "-m", "bench.speed.worker", engine, str(size), str(places.work.resolve())]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, encoding="ascii"
        )

    def ask(self, call: str, **arguments: Any) -> Any:
        """The answer to a request.

        Raises:
            WorkerFailedError: the call failed, or the process died.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"call": call, **arguments}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise WorkerFailedError(f"{self.engine}: {call} failed with exit code {self._process.wait()}")
        return json.loads(line)

    def __enter__(self) -> WorkerProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._process.kill()
        self._process.communicate()
