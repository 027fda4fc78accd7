"""kbdb.embed.native: an end of the interpreter finds no thread in foreign code."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kbdb.embed.native import GATE, Gate
from kbdb.errors import EmbeddingUnavailableError

EMBEDS_AT_ITS_END = """
import threading
from contextlib import suppress
from kbdb.config import parse
from kbdb.embed.onnx import OnnxEmbeddingProvider
from kbdb.errors import EmbeddingUnavailableError

provider = OnnxEmbeddingProvider(parse(b'[embedding]\\nprovider = "onnx"\\n').embedding, {})
provider.load()
begun = threading.Event()

def embed():
    with suppress(EmbeddingUnavailableError):
        while True:
            provider.embed(["many words " * 60] * 4)
            begun.set()

threading.Thread(target=embed, daemon=True).start()
begun.wait()
"""


def test_it_closes_once_nobody_is_inside_and_lets_nobody_in_after_that() -> None:
    gate, inside, leave = Gate(), threading.Event(), threading.Event()

    def stay() -> None:
        with gate, gate:
            inside.set()
            leave.wait()

    threads = [threading.Thread(target=stay), threading.Thread(target=gate.close)]
    threads[0].start()
    inside.wait()
    threads[1].start()
    threads[1].join(0.05)
    assert threads[1].is_alive()
    leave.set()
    for thread in threads:
        thread.join()
    with pytest.raises(EmbeddingUnavailableError), gate:
        pass


def test_a_fork_does_not_wait_for_those_who_were_inside_before() -> None:
    with GATE:
        child = os.fork()
        if not child:
            GATE.close()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_process_that_ends_while_a_thread_embeds_ends_well(model_file: Path) -> None:
    assert model_file.is_file()
    ended = subprocess.run([sys.executable, "-c", EMBEDS_AT_ITS_END], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
