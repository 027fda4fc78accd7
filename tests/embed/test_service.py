"""kbdb.embed.service over real HTTP: good answers, bad answers, none, and a key that nobody gets to see."""

from __future__ import annotations

import json
import logging
import pickle
import socket
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from email.utils import formatdate
from typing import Any

import pytest
from http_server import Answer, Asked, HttpServer, Reply
from hypothesis import given
from hypothesis import strategies as st

from kbdb.config import EmbeddingConfig
from kbdb.embed import web
from kbdb.embed.service import ApiEmbeddingProvider, vectors_in
from kbdb.errors import (
    ConfigError,
    EmbeddingBadAnswerError,
    EmbeddingRefusedError,
    EmbeddingUnavailableError,
    KbdbError,
)

np = pytest.importorskip("numpy")
pytest.importorskip("httpx")

KEY = "sk-very-secret-0123456789"
DIMENSIONS = 3
Settings = Callable[..., EmbeddingConfig]
Serve = Callable[[Answer], HttpServer]
Provider = Callable[..., ApiEmbeddingProvider]


def embedding(text: str) -> list[float]:
    """A vector that tells texts apart, exact in float32."""
    return [float(len(text)), float(sum(text.encode("utf-8", "replace")) % 1000), 0.5]


def embeddings(asked: Asked) -> Reply:
    """What a service that works answers."""
    texts = json.loads(asked.body)["input"]
    items = [{"index": place, "embedding": embedding(text)} for place, text in enumerate(texts)]
    return Reply(body=json.dumps({"data": items}).encode())


def in_turn(*replies: Reply) -> Answer:
    """One answer after the other; then working ones."""
    waiting = iter(replies)
    return lambda asked: next(waiting, None) or embeddings(asked)


@pytest.fixture
def waits() -> list[float]:
    """How long the provider waited between tries; it does not really wait."""
    return []


@pytest.fixture
def provider(settings: Settings, waits: list[float]) -> Provider:
    """Makes a provider that asks this address."""

    def make(url: str, key: str = KEY, **more: Any) -> ApiEmbeddingProvider:
        config = settings(provider="api", api_url=url, dimensions=DIMENSIONS, model="a-model", api_key_env="MY_KEY")
        return ApiEmbeddingProvider(config, {"MY_KEY": key} if key else {}, sleep=waits.append, **more)

    return make


def rows(texts: Sequence[str]) -> Any:
    return np.array([embedding(text) for text in texts], np.float32)


def test_texts_become_rows_in_their_order(serve: Serve, provider: Provider) -> None:
    server = serve(embeddings)
    texts = ["one", "two three", "naïve 数据", ""]
    found = provider(server.url + "/v1/").embed(texts)
    assert found.dtype == np.float32
    assert (found == rows(texts)).all()
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/v1/embeddings")
    assert json.loads(asked.body) == {"input": texts, "model": "a-model"}
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.headers["Content-Type"] == "application/json"


def test_without_a_key_none_is_sent(serve: Serve, provider: Provider) -> None:
    server = serve(embeddings)
    provider(server.url, key="").embed(["one"])
    assert "Authorization" not in server.asked[0].headers


def test_no_text_asks_nobody(provider: Provider) -> None:
    assert provider("http://127.0.0.1:1").embed([]).shape == (0, DIMENSIONS)


def test_many_texts_go_in_batches_of_at_most_64(serve: Serve, provider: Provider) -> None:
    server = serve(embeddings)
    texts = [f"text {number}" for number in range(150)]
    assert (provider(server.url).embed(texts) == rows(texts)).all()
    assert [len(json.loads(asked.body)["input"]) for asked in server.asked] == [64, 64, 22]


def test_long_texts_go_in_smaller_batches(serve: Serve, provider: Provider) -> None:
    server = serve(embeddings)
    texts = ["a" * 300_000, "b" * 300_000, "c" * 500_000, "d", "e"]
    assert (provider(server.url).embed(texts) == rows(texts)).all()
    assert [len(json.loads(asked.body)["input"]) for asked in server.asked] == [1, 1, 1, 2]


def test_half_a_surrogate_pair_is_sent_as_a_question_mark(serve: Serve, provider: Provider) -> None:
    server = serve(embeddings)
    provider(server.url).embed(["a \ud800 b"])
    assert json.loads(server.asked[0].body)["input"] == ["a ? b"]


def test_answers_may_come_in_another_order(serve: Serve, provider: Provider) -> None:
    def backwards(asked: Asked) -> Reply:
        answer = json.loads(embeddings(asked).body)
        return Reply(body=json.dumps({"data": answer["data"][::-1]}).encode())

    assert (provider(serve(backwards).url).embed(["one", "three"]) == rows(["one", "three"])).all()


def test_a_busy_service_is_asked_again_when_it_says(serve: Serve, provider: Provider, waits: list[float]) -> None:
    server = serve(in_turn(Reply(429, headers={"Retry-After": "7"})))
    assert (provider(server.url).embed(["one"]) == rows(["one"])).all()
    assert waits == [7.0]


def test_a_date_as_retry_after_is_waited_for(serve: Serve, provider: Provider, waits: list[float]) -> None:
    past = formatdate(0, usegmt=True)
    provider(serve(in_turn(Reply(503, headers={"Retry-After": past}))).url).embed(["one"])
    assert waits == [0.0]


def test_a_fault_of_the_service_is_tried_again_ever_later(serve: Serve, provider: Provider, waits: list[float]) -> None:
    server = serve(in_turn(Reply(500), Reply(502), Reply(504)))
    assert (provider(server.url).embed(["one"]) == rows(["one"])).all()
    assert len(server.asked) == 4
    assert waits == sorted(waits)
    assert waits[0] > 0


def test_a_service_that_stays_faulty_is_an_error(serve: Serve, provider: Provider) -> None:
    server = serve(lambda _: Reply(500, b'{"error": {"message": "out of memory"}}'))
    with pytest.raises(EmbeddingUnavailableError, match="answered 500: out of memory"):
        provider(server.url).embed(["one"])
    assert len(server.asked) == web.TRIES


def test_a_wait_that_is_too_long_is_told_instead(serve: Serve, provider: Provider, waits: list[float]) -> None:
    server = serve(lambda _: Reply(429, headers={"Retry-After": "3600"}))
    with pytest.raises(EmbeddingUnavailableError, match="answered 429") as raised:
        provider(server.url).embed(["one"])
    assert "3600 seconds" in raised.value.hint
    assert (len(server.asked), waits) == (1, [])


def test_a_refusal_is_not_tried_again_and_tells_why(serve: Serve, provider: Provider) -> None:
    server = serve(lambda _: Reply(404, b'{"error": {"message": "no model a-model"}}'))
    with pytest.raises(EmbeddingRefusedError, match="answered 404: no model a-model") as raised:
        provider(server.url).embed(["one"])
    assert "embedding.model" in raised.value.hint
    assert len(server.asked) == 1


@pytest.mark.parametrize(("key", "state"), [(KEY, "is not accepted"), ("", "is not set")])
def test_a_refused_key_is_told_by_the_name_of_its_variable(
    serve: Serve, provider: Provider, key: str, state: str
) -> None:
    server = serve(lambda _: Reply(401, f'{{"error": {{"message": "Incorrect key: {KEY[:8]}***"}}}}'.encode()))
    with pytest.raises(EmbeddingRefusedError, match=rf"\$MY_KEY {state}") as raised:
        provider(server.url, key=key).embed(["one"])
    assert KEY[:8] not in raised.value.message


def test_nobody_listening_is_unavailable(provider: Provider) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(EmbeddingUnavailableError, match=f"cannot reach http://127.0.0.1:{port}/embeddings"):
            provider(f"http://127.0.0.1:{port}").embed(["one"])


def test_a_silent_service_is_unavailable(serve: Serve, provider: Provider) -> None:
    over = threading.Event()

    def silent(_: Asked) -> Reply:
        over.wait()
        return Reply()

    server = serve(silent)
    try:
        with pytest.raises(EmbeddingUnavailableError, match="did not answer in time"):
            provider(server.url, read_s=0.05).embed(["one"])
    finally:
        over.set()
    assert len(server.asked) == web.TRIES


def test_an_answer_that_drips_for_ever_is_cut(serve: Serve, provider: Provider) -> None:
    def drops() -> Iterator[bytes]:
        while True:
            yield b" "

    with pytest.raises(EmbeddingUnavailableError, match="did not finish its answer in 0 seconds"):
        provider(serve(lambda _: Reply(pieces=drops)).url, whole_s=0).embed(["one"])


def test_an_answer_cut_short_is_unavailable(serve: Serve, provider: Provider) -> None:
    server = serve(lambda _: Reply(pieces=lambda: iter([b'{"data"']), length=1000))
    with pytest.raises(EmbeddingUnavailableError, match="cannot reach"):
        provider(server.url).embed(["one"])


def test_a_huge_answer_is_refused_before_it_is_read_whole(serve: Serve, provider: Provider) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < 1 << 30:
            sent += 1 << 16
            yield b" " * (1 << 16)

    with pytest.raises(EmbeddingBadAnswerError, match="more than the"):
        provider(serve(lambda _: Reply(pieces=endless)).url).embed(["one"])
    assert sent < 1 << 28


def test_a_packed_answer_is_refused(serve: Serve, provider: Provider) -> None:
    server = serve(lambda _: Reply(headers={"Content-Encoding": "gzip"}, body=b"x"))
    with pytest.raises(EmbeddingBadAnswerError, match="packed"):
        provider(server.url).embed(["one"])


def data(*vectors: object) -> bytes:
    """The body of an answer with these as vectors; NaN and all."""
    return json.dumps({"data": [{"embedding": vector} for vector in vectors]}).encode()


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"", "something else than embeddings"),
        (b"<html>", "something else than embeddings"),
        (b"\xff\xfe", "something else than embeddings"),
        (b"[" * 100_000, "something else than embeddings"),
        (b"[]", "something else than embeddings"),
        (b"null", "something else than embeddings"),
        (b'{"data": null}', "something else than embeddings"),
        (b'{"data": [1, 2]}', "something else than embeddings"),
        (b'{"data": [{"vector": []}, {}]}', "something else than embeddings"),
        (data([1, 2, 3]), "1 vectors for 2 texts"),
        (data([1, 2, 3], [1, 2, 3], [1, 2, 3]), "3 vectors for 2 texts"),
        (data([1, 2, 3], [1, 2]), "a vector of 2 numbers, and embedding.dimensions is 3"),
        (data([1, 2, 3], [1, 2, 3, 4]), "a vector of 4 numbers"),
        (data([1, 2, 3], "abc"), "something else than a list of numbers as vector 1"),
        (data([1, 2, 3], None), "something else than a list"),
        (data([1, 2, 3], [1, "2", 3]), "something else than finite numbers in vector 1"),
        (data([1, 2, 3], [1, True, 3]), "something else than finite numbers"),
        (data([1, 2, 3], [1, None, 3]), "something else than finite numbers"),
        (data([1, 2, 3], [1, float("nan"), 3]), "something else than finite numbers in vector 1"),
        (data([float("inf"), 2, 3], [1, 2, 3]), "something else than finite numbers in vector 0"),
        (data([1, 2, 10**400], [1, 2, 3]), "something else than finite numbers"),
        (data([1, 2, 1e300], [1, 2, 3]), "numbers that are too large"),
        (b'{"data": [{"index": 0, "embedding": [1,2,3]}, {"index": 0, "embedding": [1,2,3]}]}', "numbered its vectors"),
        (b'{"data": [{"index": "0", "embedding": [1,2,3]}, {"embedding": [1,2,3]}]}', "numbered its vectors"),
    ],
)
def test_what_is_not_the_vectors_asked_for_is_an_error(
    serve: Serve, provider: Provider, body: bytes, named: str
) -> None:
    server = serve(lambda _: Reply(body=body))
    with pytest.raises(EmbeddingBadAnswerError, match=named):
        provider(server.url).embed(["one", "two"])
    assert len(server.asked) == 1


@given(
    st.binary()
    | st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["data", "embedding", "index", "x"]), inner),
    ).map(lambda value: json.dumps(value).encode())
)
def test_any_bytes_are_vectors_or_a_bad_answer(body: bytes) -> None:
    try:
        found = vectors_in(body, 1, 2, "here")
    except EmbeddingBadAnswerError:
        return
    assert [len(vector) for vector in found] == [2]


def test_a_redirect_to_another_origin_is_refused_and_sends_nothing_there(serve: Serve, provider: Provider) -> None:
    elsewhere = serve(embeddings)
    server = serve(lambda _: Reply(307, headers={"Location": f"{elsewhere.url}/embeddings?token=abc"}))
    with pytest.raises(EmbeddingRefusedError, match="redirects to") as raised:
        provider(server.url).embed(["one"])
    assert elsewhere.asked == []
    assert "token" not in raised.value.message


def test_a_redirect_within_the_origin_is_followed(serve: Serve, provider: Provider) -> None:
    server = serve(in_turn(Reply(308, headers={"Location": "/v2/embeddings"})))
    assert (provider(server.url).embed(["one"]) == rows(["one"])).all()
    assert [asked.path for asked in server.asked] == ["/embeddings", "/v2/embeddings"]


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        (Reply(302, headers={"Location": "/v2/embeddings"}), "turns the request into another"),
        (Reply(307, headers={"Location": "/embeddings"}), "redirects without end"),
    ],
)
def test_other_redirects_are_refused(serve: Serve, provider: Provider, reply: Reply, named: str) -> None:
    with pytest.raises(EmbeddingRefusedError, match=named):
        provider(serve(lambda _: reply).url).embed(["one"])


ECHOES = {
    "message": lambda _: Reply(400, json.dumps({"error": {"message": f"what is {KEY}?"}}).encode()),
    "page": lambda _: Reply(500, f"<html>{KEY}</html>".encode()),
    "location": lambda _: Reply(307, headers={"Location": f"http://127.0.0.1:1/?key={KEY}"}),
    "refused": lambda _: Reply(403, KEY.encode()),
    "header": lambda asked: Reply(200, b"[]", headers={"X-Echo": asked.headers["Authorization"]}),
}


@pytest.mark.parametrize("answer", ECHOES.values(), ids=ECHOES)
def test_the_key_is_in_no_error_log_or_repr(
    serve: Serve, provider: Provider, caplog: pytest.LogCaptureFixture, answer: Answer
) -> None:
    caplog.set_level(logging.DEBUG, "kbdb")
    caplog.set_level(logging.INFO)
    asking = provider(serve(answer).url)
    with pytest.raises(KbdbError) as raised:
        asking.embed(["one"])
    told = [repr(asking), str(vars(raised.value)), repr(raised.value), str(pickle.dumps(raised.value)), caplog.text]
    told += traceback.format_exception(raised.value)
    assert not any(KEY in text for text in told)


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel", "a\x00b"])
def test_a_key_with_characters_no_key_has_is_refused_without_showing_it(provider: Provider, key: str) -> None:
    with pytest.raises(ConfigError, match=r"\$MY_KEY") as raised:
        provider("http://127.0.0.1:1", key=key).embed(["one"])
    assert key not in raised.value.message + raised.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "http://user:pass-word@host/v1",
        "https://host/v1?key=pass-word",
        "ftp://host/pass",
        "host/v1",
        "http://",
        "http://host:port/v1",
    ],
)
def test_an_address_that_cannot_be_used_is_refused(provider: Provider, url: str) -> None:
    with pytest.raises(ConfigError, match=r"embedding\.api_url") as raised:
        provider(url).embed(["one"])
    assert "pass-word" not in raised.value.message
