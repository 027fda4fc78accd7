"""The provider that asks a service: ``POST {api_url}/embeddings``, as OpenAI's and many others answer it.

The key is read when it is needed and goes into one header; no message, log line or repr of ours holds it, and none
quotes what a server wrote without looking for it.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kbdb.embed import web
from kbdb.embed.api import BATCH, EmbeddingProvider
from kbdb.errors import (
    ConfigError,
    EmbeddingBadAnswerError,
    EmbeddingPackageMissingError,
    EmbeddingRefusedError,
    EmbeddingTextRefusedError,
    EmbeddingUnavailableError,
    KbdbError,
)
from kbdb.model.embedding import Fingerprint

if TYPE_CHECKING:
    import httpx

    from kbdb.config import EmbeddingConfig
    from kbdb.embed.api import Vectors

READ_S = 30.0
"""Longest silence of a service that is asked."""
WHOLE_S = 120.0
"""Longest time that one answer may take to arrive."""
BATCH_CHARACTERS = 400_000
"""Characters in one request; a longer single text goes alone."""
NUMBER_BYTES = 32
ANSWER_BYTES = 1 << 20
"""An answer may have ``NUMBER_BYTES`` for each number it should hold, and these besides."""
REDIRECTS = 3
OF_TEXT = frozenset({400, 413, 422})
"""Refusals that may be about one text of several; others are about whoever asks, or for what."""
QUOTED = 200


class ApiEmbeddingProvider(EmbeddingProvider):
    """Opens a connection for each call of ``embed``; keeps nothing between calls."""

    def __init__(
        self,
        config: EmbeddingConfig,
        environ: Mapping[str, str],
        *,
        read_s: float = READ_S,
        whole_s: float = WHOLE_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Args:
            config: the ``[embedding]`` table.
            environ: where the key is, under the name that ``api_key_env`` says.
            read_s, whole_s: how long to wait for the next bytes and for all of them.
            sleep: waits between tries.

        Raises:
            ConfigError: there is no address.
        """
        if not config.api_url.strip():
            raise ConfigError(
                "embedding.provider is api, and embedding.api_url is empty",
                "set api_url to the service's address, such as https://host/v1",
            )
        self._config = config
        self._environ = environ
        self._read_s = read_s
        self._whole_s = whole_s
        self._sleep = sleep

    def prepare(self) -> None:
        """There is nothing to prepare: connections are made with the first request."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors as the service sends them, in batches of at most 64 texts.

        Raises:
            ConfigError: the address or the key cannot be used.
            EmbeddingPackageMissingError: httpx or numpy is not installed.
            EmbeddingUnavailableError: not reached, too slow or too busy, after several tries.
            EmbeddingTextRefusedError: the service does not want this request.
            EmbeddingRefusedError: it wants none, or leads elsewhere.
            EmbeddingBadAnswerError: another count, other dimensions, no numbers, too much.
        """
        numpy = _numpy()
        rows = numpy.empty((len(texts), self.dimensions()), numpy.float32)
        if not texts:
            return _typed(rows)
        url = self._url()
        headers = self._headers()
        done = 0
        with web.client(url, self._read_s) as client:
            for batch in _batches(texts):
                vectors = self._vectors(client, url, headers, batch)
                with numpy.errstate(over="ignore"):  # what is too large for float32 is refused below
                    rows[done : done + len(batch)] = vectors
                done += len(batch)
        if not numpy.isfinite(rows).all():
            raise EmbeddingBadAnswerError(f"{web.shown(url)} sent numbers that are too large")
        return _typed(rows)

    def dimensions(self) -> int:
        """As configured; every answer is held to it."""
        return self._config.dimensions

    def model_name(self) -> str:
        """As configured."""
        return self._config.model

    def scripts(self) -> frozenset[str] | None:
        """All: services do not tell, and most models that are served know many languages."""
        return None

    def floors(self) -> tuple[float, float] | None:
        """None: cosines of one model mean nothing for another."""
        return None

    def fingerprint(self) -> Fingerprint:
        """The service decides on all but name and length."""
        return Fingerprint(self.model_name(), self.dimensions(), "service", "service", "")

    def address(self) -> str:
        """Whom it asks, for messages."""
        return web.shown(self._url())

    def has_key(self) -> bool:
        """Whether the variable with the key is set."""
        return bool(self._key())

    def _key(self) -> str:
        return self._environ.get(self._config.api_key_env, "").strip()

    def _url(self) -> httpx.URL:
        base = web.address_of(self._config.api_url, "embedding.api_url")
        if base.query:
            # Keys have been put there, and addresses stand in other people's logs.
            raise ConfigError("embedding.api_url has a part after ?", "leave it out; keys come from the environment")
        return base.copy_with(path=base.path.rstrip("/") + "/embeddings", fragment=None)

    def _headers(self) -> dict[str, str]:
        key = self._key()
        if not (key.isascii() and key.isprintable()):
            raise ConfigError(
                f"${self._config.api_key_env} holds characters that no key has", "set it to the key and nothing else"
            )
        return {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    def _vectors(
        self, client: httpx.Client, url: httpx.URL, headers: Mapping[str, str], batch: Sequence[str]
    ) -> list[list[float]]:
        """One batch, with as many tries as it gets."""
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in batch]
        body = json.dumps({"input": clean, "model": self._config.model}, ensure_ascii=False).encode()
        most = ANSWER_BYTES + len(batch) * self.dimensions() * NUMBER_BYTES
        for attempt in range(1, web.TRIES + 1):
            retry_after = None
            try:
                status, retry_after, data = self._ask(client, url, headers, body, most)
                if status == 200:
                    self.last_failure = ""
                    return vectors_in(data, len(batch), self.dimensions(), web.shown(url))
                failure = self._refusal(status, data, url)
            except EmbeddingUnavailableError as error:
                failure = error
            self.last_failure = failure.message
            if not isinstance(failure, EmbeddingUnavailableError) or attempt == web.TRIES:
                raise failure
            wait = web.wait_before(attempt, retry_after)
            if wait > web.LONGEST_WAIT_S:
                raise EmbeddingUnavailableError(failure.message, f"it asks to wait {wait:.0f} seconds; try then")
            self._sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _ask(
        self, client: httpx.Client, url: httpx.URL, headers: Mapping[str, str], body: bytes, most: int
    ) -> tuple[int, str | None, bytes]:
        """Status, Retry-After and body of one answer, redirects within the origin followed."""
        httpx = web.httpx_module()
        began, first = time.monotonic(), url
        try:
            for _ in range(REDIRECTS + 1):
                with client.stream("POST", url, headers=headers, content=body) as answer:
                    if answer.next_request is None:
                        data = self._body(answer, most, began, url)
                        return answer.status_code, answer.headers.get("Retry-After"), data
                    url = _next(answer, first)
        except httpx.TimeoutException:
            # Without its cause: httpx's errors carry the request, and that carries the key.
            raise _unavailable(f"{web.shown(url)} did not answer in time") from None
        except httpx.TransportError as error:
            reason = self._safe(str(error) or type(error).__name__)
            raise _unavailable(f"cannot reach {web.shown(url)}: {reason}") from None
        raise EmbeddingRefusedError(f"{web.shown(first)} redirects without end", "set api_url to the final address")

    def _body(self, answer: httpx.Response, most: int, began: float, url: httpx.URL) -> bytes:
        if answer.headers.get("Content-Encoding", "identity").lower() != "identity":
            # Unpacking it could make any size of few bytes.
            raise EmbeddingBadAnswerError(f"{web.shown(url)} sends packed answers, which were not asked for")
        data = bytearray()
        for piece in answer.iter_raw():
            data += piece
            if len(data) > most:
                raise EmbeddingBadAnswerError(
                    f"{web.shown(url)} sends more than the {most} bytes that the vectors asked for can take",
                    "look at what api_url points to",
                )
            if time.monotonic() - began > self._whole_s:
                raise _unavailable(f"{web.shown(url)} did not finish its answer in {self._whole_s:g} seconds")
        return bytes(data)

    def _refusal(self, status: int, data: bytes, url: httpx.URL) -> KbdbError:
        where = web.shown(url)
        if status in (401, 403):
            # What is wrong with a key is told with parts of it; nothing of that is quoted.
            state = "is not accepted" if self._key() else "is not set"
            return EmbeddingRefusedError(
                f"{where} answered {status}: the key in ${self._config.api_key_env} {state}",
                f"export {self._config.api_key_env}=… where the daemon starts, then: kbdb daemon restart",
            )
        said = self._safe(_words_of(data))
        message = f"{where} answered {status}" + (f": {said}" if said else "")
        if status in web.PASSING:
            return _unavailable(message)
        hint = "look at embedding.api_url and embedding.model in worker.toml"
        return EmbeddingTextRefusedError(message, hint) if status in OF_TEXT else EmbeddingRefusedError(message, hint)

    def _safe(self, text: str) -> str:
        key = self._key()
        plain = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
        return (plain.replace(key, "[key]") if key else plain)[:QUOTED]


def vectors_in(data: bytes, count: int, dimensions: int, where: str) -> list[list[float]]:
    """The vectors of an answer, in the order of the texts.

    Raises:
        EmbeddingBadAnswerError: it is not what was asked for.
    """
    try:
        answer: Any = json.loads(data)
        items = answer["data"]
        vectors = [item["embedding"] for item in items]
        places = [item.get("index", place) for place, item in enumerate(items)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        hint = 'an answer is like {"data": [{"embedding": [0.1, …]}, …]}'
        raise EmbeddingBadAnswerError(f"{where} sent something else than embeddings", hint) from None
    if len(vectors) != count:
        raise EmbeddingBadAnswerError(f"{where} sent {len(vectors)} vectors for {count} texts")
    if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
        raise EmbeddingBadAnswerError(f"{where} numbered its vectors otherwise than 0 to {count - 1}, each once")
    for place, vector in enumerate(vectors):
        _check_vector(vector, place, dimensions, where)
    return [vector for _, vector in sorted(zip(places, vectors, strict=True), key=lambda pair: pair[0])]


def _check_vector(vector: Any, place: int, dimensions: int, where: str) -> None:
    if not isinstance(vector, list):
        raise EmbeddingBadAnswerError(f"{where} sent something else than a list of numbers as vector {place}")
    if len(vector) != dimensions:
        raise EmbeddingBadAnswerError(
            f"{where} sent a vector of {len(vector)} numbers, and embedding.dimensions is {dimensions}",
            f"set dimensions = {len(vector)} under [embedding], if this is the model that is meant",
        )
    try:
        sound = all(type(number) in (int, float) and math.isfinite(number) for number in vector)
    except OverflowError:  # an integer that no float holds
        sound = False
    if not sound:
        raise EmbeddingBadAnswerError(f"{where} sent something else than finite numbers in vector {place}")


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    first, characters = 0, 0
    for place, text in enumerate(texts):
        if place > first and (place - first == BATCH or characters + len(text) > BATCH_CHARACTERS):
            yield texts[first:place]
            first, characters = place, 0
        characters += len(text)
    yield texts[first:]


def _next(answer: httpx.Response, first: httpx.URL) -> httpx.URL:
    """Where an answer redirects to, if the request may be sent there as it is."""
    url = answer.next_request.url if answer.next_request else first
    if web.origin(url) != web.origin(first):
        raise EmbeddingRefusedError(
            f"{web.shown(first)} redirects to {web.shown(url)}, another address than the configured one",
            "if that is the service that is meant, set api_url to it",
        )
    if answer.status_code not in (307, 308):
        message = f"{web.shown(first)} answered {answer.status_code}, which turns the request into another"
        raise EmbeddingRefusedError(message, "set api_url to the final address")
    return url


def _words_of(data: bytes) -> str:
    """What a service says of a failure: the message in its JSON, else the beginning of its text."""
    try:
        value: Any = json.loads(data)
        error = value.get("error", value)
        told = error.get("message", "") if isinstance(error, dict) else error
    except (ValueError, AttributeError, RecursionError):
        told = data[: 4 * QUOTED].decode("utf-8", "replace")
    return told if isinstance(told, str) else ""


def _unavailable(message: str) -> EmbeddingUnavailableError:
    return EmbeddingUnavailableError(message, "look whether the service runs, and try again")


def _numpy() -> Any:
    try:
        import numpy
    except ImportError as error:
        message = "the api embedding provider needs numpy, which cannot be imported"
        raise EmbeddingPackageMissingError(message, "pip install 'kbdb[api]'") from error
    return numpy


def _typed(rows: Any) -> Vectors:
    found: Vectors = rows
    return found
