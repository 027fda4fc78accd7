"""The progress bar of long runs: on stderr, only on a terminal, and only once a run proves long."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from kbdb.cli.render.paper import Paper

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from kbdb.progress import Progress

PATIENCE_S = 0.5
"""Runs shorter than this show nothing."""


class ProgressBar:
    """A context in which ``show`` may be called with each step; leaves no trace on the screen."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._wanted = stream.isatty()
        self._started = time.monotonic()
        self._bar: tuple[RichProgress, TaskID] | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar[0].stop()

    def show(self, step: Progress) -> None:
        """Draws how far the run is."""
        if not self._wanted or (self._bar is None and time.monotonic() - self._started < PATIENCE_S):
            return
        if self._bar is None:
            self._bar = _start(self._stream)
        bar, task = self._bar
        rate = step.done / max(time.monotonic() - self._started, PATIENCE_S)
        shown = Paper().cut(step.source, 40)
        bar.update(task, completed=step.done, total=step.total, rate=f"{rate:,.0f}/s", source=shown)


def _start(stream: TextIO) -> tuple[RichProgress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(),
        TextColumn("{task.fields[source]}", markup=False),
        console=Console(file=stream, highlight=False),
        transient=True,
    )
    bar.start()
    return bar, bar.add_task("learn", total=None, rate="", source="")
