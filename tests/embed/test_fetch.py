"""kbdb.embed.fetch over real HTTP: the whole file, checked, or none; what came before a stop is not asked for again."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from http_server import Answer, Asked, HttpServer, Reply

from kbdb.config import EmbeddingConfig
from kbdb.embed.fetch import Fetched, fetch
from kbdb.embed.web import TRIES
from kbdb.errors import (
    BusyError,
    ConfigError,
    DownloadFailedError,
    EmbeddingModelInvalidError,
    InterruptedByUserError,
    StorageError,
)
from kbdb.progress import Progress

pytest.importorskip("httpx")

MODEL = random.Random(6).randbytes(700_001)
SHA256 = hashlib.sha256(MODEL).hexdigest()
Settings = Callable[..., EmbeddingConfig]
Serve = Callable[[Answer], HttpServer]


def ranges(asked: Asked, content: bytes = MODEL) -> Reply:
    """What a file server answers, with and without Range."""
    wanted = asked.headers.get("Range")
    if wanted is None:
        return Reply(body=content)
    begin = int(wanted.removeprefix("bytes=").removesuffix("-"))
    if begin >= len(content):
        return Reply(416, headers={"Content-Range": f"bytes */{len(content)}"})
    place = f"bytes {begin}-{len(content) - 1}/{len(content)}"
    return Reply(206, content[begin:], {"Content-Range": place})


def cut_at(length: int) -> Answer:
    """Breaks off in the middle, once; goes on like a file server."""
    first = iter([True])

    def answer(asked: Asked) -> Reply:
        if next(first, False):
            return Reply(pieces=lambda: iter([MODEL[:length]]), length=len(MODEL))
        return ranges(asked)

    return answer


class Home:
    """A user's folder and the settings of a model to fetch."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.environ = {"XDG_DATA_HOME": str(folder)}
        self.path = folder / "kbdb" / "models" / "all-MiniLM-L6-v2" / "model.onnx"
        self.part = self.path.with_name("model.onnx.part")
        self.settings = settings
        self.waits: list[float] = []
        self.steps: list[Progress] = []

    def fetch(self, url: str, sha256: str = SHA256) -> Fetched:
        config = self.settings(provider="onnx", model_url=url, model_sha256=sha256)
        return fetch(config, self.environ, self.steps.append, read_s=5, sleep=self.waits.append)

    def leave(self, data: bytes) -> None:
        """What an earlier fetch left."""
        self.part.parent.mkdir(parents=True)
        self.part.write_bytes(data)


@pytest.fixture
def home(tmp_path: Path, settings: Settings) -> Home:
    """Empty at first."""
    return Home(tmp_path / "data", settings)


def test_a_model_is_downloaded_whole_and_once(serve: Serve, home: Home) -> None:
    server = serve(ranges)
    assert home.fetch(server.url + "/m.onnx") == Fetched(str(home.path), SHA256, len(MODEL), len(MODEL))
    assert home.path.read_bytes() == MODEL
    assert os.listdir(home.path.parent) == ["model.onnx"]
    assert (home.steps[-1].done, home.steps[-1].total) == (700, 700)
    assert home.fetch(server.url + "/m.onnx").downloaded == 0
    assert len(server.asked) == 1


def test_the_case_of_the_digest_does_not_matter(serve: Serve, home: Home) -> None:
    assert home.fetch(serve(ranges).url, SHA256.upper()).sha256 == SHA256


def test_a_damaged_model_is_fetched_anew(serve: Serve, home: Home) -> None:
    home.path.parent.mkdir(parents=True)
    home.path.write_bytes(MODEL[:-1] + b"?")
    home.fetch(serve(ranges).url)
    assert home.path.read_bytes() == MODEL


def test_a_transfer_that_breaks_off_goes_on_where_it_ended(serve: Serve, home: Home) -> None:
    server = serve(cut_at(300_000))
    assert home.fetch(server.url).downloaded == len(MODEL)
    assert home.path.read_bytes() == MODEL
    assert [asked.headers.get("Range") for asked in server.asked] == [None, "bytes=300000-"]


def test_what_a_stopped_fetch_left_is_not_asked_for_again(serve: Serve, home: Home) -> None:
    home.leave(MODEL[:500_000])
    server = serve(ranges)
    assert home.fetch(server.url).downloaded == 200_001
    assert home.path.read_bytes() == MODEL
    assert server.asked[0].headers["Range"] == "bytes=500000-"


def test_a_whole_file_that_was_left_is_taken_as_it_is(serve: Serve, home: Home) -> None:
    home.leave(MODEL)
    assert home.fetch(serve(ranges).url).downloaded == 0
    assert home.path.read_bytes() == MODEL


def test_a_server_without_ranges_sends_it_all_again(serve: Serve, home: Home) -> None:
    home.leave(MODEL[:500_000])
    assert home.fetch(serve(lambda _: Reply(body=MODEL)).url).downloaded == len(MODEL)
    assert home.path.read_bytes() == MODEL


@pytest.mark.parametrize("left", [b"another file" * 1000, MODEL + b"more"])
def test_what_was_left_of_another_file_is_thrown_away(serve: Serve, home: Home, left: bytes) -> None:
    home.leave(left)
    home.fetch(serve(ranges).url)
    assert home.path.read_bytes() == MODEL


def test_a_wrong_checksum_is_an_error_and_leaves_no_model(serve: Serve, home: Home) -> None:
    with pytest.raises(EmbeddingModelInvalidError, match="another file than meant") as raised:
        home.fetch(serve(ranges).url, "0" * 64)
    assert SHA256 in raised.value.message
    assert "model_sha256" in raised.value.hint
    assert not home.path.exists()
    assert home.part.read_bytes() == b""


def test_without_a_digest_of_ones_own_only_the_known_file_will_do(serve: Serve, home: Home) -> None:
    with pytest.raises(EmbeddingModelInvalidError, match="8199be6f"):
        home.fetch(serve(ranges).url, "")


def test_a_server_that_never_gets_to_the_end_is_an_error_that_keeps_what_came(serve: Serve, home: Home) -> None:
    server = serve(lambda _: Reply(503))
    home.leave(MODEL[:10])
    with pytest.raises(DownloadFailedError, match="answered 503") as raised:
        home.fetch(server.url)
    assert "after the 10 bytes" in raised.value.hint
    assert len(server.asked) == TRIES
    assert home.part.read_bytes() == MODEL[:10]


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        (Reply(404), "answered 404 Not Found"),
        (Reply(206, b"x", {"Content-Range": "bytes 5-5/9"}), "another part"),
        (Reply(206, b"x"), "another part"),
        (Reply(200, b"x", {"Content-Encoding": "gzip"}), "packed"),
    ],
)
def test_other_answers_are_refused(serve: Serve, home: Home, reply: Reply, named: str) -> None:
    server = serve(lambda _: reply)
    with pytest.raises(DownloadFailedError, match=named):
        home.fetch(server.url)
    assert len(server.asked) == 1
    assert not home.path.exists()


def test_downloads_may_be_handed_to_another_host(serve: Serve, home: Home) -> None:
    store = serve(ranges)
    server = serve(lambda _: Reply(302, headers={"Location": store.url + "/blob?signature=abc"}))
    home.leave(MODEL[:9])
    assert home.fetch(server.url).downloaded == len(MODEL) - 9
    assert store.asked[0].headers["Range"] == "bytes=9-"


def test_no_log_or_error_holds_a_signed_address(serve: Serve, home: Home, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    server = serve(lambda _: Reply(404))
    with pytest.raises(DownloadFailedError) as raised:
        home.fetch(server.url + "/m.onnx?signature=abc")
    assert server.asked[0].path == "/m.onnx?signature=abc"
    assert "abc" not in caplog.text + raised.value.message + raised.value.hint


def test_redirects_come_to_an_end(serve: Serve, home: Home) -> None:
    with pytest.raises(DownloadFailedError, match="without end"):
        home.fetch(serve(lambda _: Reply(302, headers={"Location": "/again"})).url)


def test_two_do_not_fetch_at_once(serve: Serve, home: Home) -> None:
    home.leave(b"")
    with open(home.part, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(BusyError, match="another process fetches"):
            home.fetch(serve(ranges).url)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_an_error(serve: Serve, home: Home) -> None:
    home.path.parent.mkdir(parents=True)
    home.path.parent.chmod(0o500)
    with pytest.raises(StorageError, match="cannot write"):
        home.fetch(serve(ranges).url)


def test_a_file_where_the_folder_should_be_is_an_error(serve: Serve, home: Home, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    with pytest.raises(StorageError, match="cannot write"):
        home.fetch(serve(ranges).url)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"model_url": ""}, "model_url is empty"),
        ({"model_url": "ftp://host/m"}, "model_url is 'ftp://host/m'"),
        ({"model_url": "http://me:word@host/m"}, "user name or password"),
        ({"model_url": "http://host/m", "model": "mine", "model_path": "/m"}, "cannot fetch"),
    ],
)
def test_settings_without_a_model_to_fetch_are_refused(
    home: Home, settings: Settings, changed: dict[str, str], named: str
) -> None:
    with pytest.raises(ConfigError, match=named):
        fetch(settings(provider="onnx", **changed), home.environ)


def test_an_interrupted_fetch_keeps_what_came(serve: Serve, home: Home) -> None:
    def stop(step: Progress) -> None:
        if step.done > 100:
            raise InterruptedByUserError("interrupted")

    server = serve(ranges)
    config = home.settings(model_url=server.url, model_sha256=SHA256)
    with pytest.raises(InterruptedByUserError):
        fetch(config, home.environ, stop)
    kept = home.part.read_bytes()
    assert kept == MODEL[: len(kept)] != b""
    assert home.fetch(server.url).downloaded == len(MODEL) - len(kept)


def test_a_killed_fetch_goes_on(serve: Serve, home: Home, tmp_path: Path) -> None:
    hold = threading.Event()

    def slow(asked: Asked) -> Reply:
        def pieces() -> Iterator[bytes]:
            yield MODEL[:400_000]
            hold.wait()

        return ranges(asked) if "Range" in asked.headers else Reply(pieces=pieces, length=len(MODEL))

    server = serve(slow)
    folder = tmp_path / "project"
    folder.mkdir()
    run_kbdb(folder, home, "init", check=True)
    lines = f'[embedding]\nmodel_url = "{server.url}/m.onnx"\nmodel_sha256 = "{SHA256}"\n'
    (folder / ".kbdb" / "worker.toml").write_text(lines)
    command = [sys.executable, "-m", "kbdb", "embed", "fetch"]
    with subprocess.Popen(command, cwd=folder, env=os.environ | home.environ) as process:
        while not (home.part.exists() and home.part.stat().st_size > 200_000):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    hold.set()
    assert not home.path.exists()
    ran = run_kbdb(folder, home, "embed", "fetch", check=True)
    assert ran.stdout.splitlines()[0] == str(home.path)
    assert ran.stderr == ""
    assert home.path.read_bytes() == MODEL
    assert "it was there already" in run_kbdb(folder, home, "embed", "fetch", check=True).stdout


def run_kbdb(folder: Path, home: Home, *words: str, check: bool) -> subprocess.CompletedProcess[str]:
    """Runs the command in a process of its own."""
    command = [sys.executable, "-m", "kbdb", *words]
    environ = os.environ | home.environ
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=check)
