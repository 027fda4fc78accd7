"""kbdb.embed.onnx, models and golden: the vectors of the real model, wherever it lies, and what is no such model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from http_server import Answer, HttpServer, Reply
from hypothesis import given, settings
from hypothesis import strategies as st

from kbdb.config import EmbeddingConfig
from kbdb.config import parse as parse_config
from kbdb.embed import models
from kbdb.embed.golden import LEAST_COSINE, Golden, read_golden, self_test
from kbdb.embed.onnx import Network, OnnxEmbeddingProvider
from kbdb.errors import (
    EmbeddingModelInvalidError,
    EmbeddingModelNotFoundError,
    EmbeddingPackageMissingError,
    StorageError,
)

np = pytest.importorskip("numpy")

MINILM = models.KNOWN["all-MiniLM-L6-v2"]
MADE_UP = "no_such_package_of_models"
Settings = Callable[..., EmbeddingConfig]
Make = Callable[..., OnnxEmbeddingProvider]


@pytest.fixture(scope="module")
def provider(model_file: Path) -> OnnxEmbeddingProvider:
    """The provider as kbdb[minilm] gives it."""
    assert model_file.is_file()
    return OnnxEmbeddingProvider(parse_config(b'[embedding]\nprovider = "onnx"\n').embedding, {})


@pytest.fixture
def make(settings: Settings, tmp_path: Path) -> Make:
    """Makes a provider with a user's folder of its own."""

    def made(**changed: object) -> OnnxEmbeddingProvider:
        return OnnxEmbeddingProvider(settings(provider="onnx", **changed), {"XDG_DATA_HOME": str(tmp_path / "data")})

    return made


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel with the model is not installed."""
    monkeypatch.setitem(models.KNOWN, "all-MiniLM-L6-v2", replace(MINILM, package=MADE_UP))


def cosines(found: Any, wanted: Any) -> Any:
    """Row by row; both are unit vectors."""
    return (found.astype(np.float64) * np.asarray(wanted, np.float64)).sum(axis=1)


def test_every_reference_text_has_the_tokens_and_the_vector_it_should(
    provider: OnnxEmbeddingProvider, reference: list[dict[str, Any]]
) -> None:
    network = provider.load().network
    assert [network.tokens(one["text"]) for one in reference] == [one["input_ids"] for one in reference]
    found = provider.embed([one["text"] for one in reference])
    assert (found.dtype, found.shape) == (np.float32, (52, 384))
    assert cosines(found, [one["vector"] for one in reference]).min() >= 0.99
    assert abs(np.square(found, dtype=np.float64).sum(axis=1) - 1).max() < 1e-6


def test_a_vector_is_the_same_to_the_bit_whatever_it_is_asked_with(
    provider: OnnxEmbeddingProvider, reference: list[dict[str, Any]]
) -> None:
    texts = [one["text"] for one in reference[:27]]
    together = provider.embed(texts)
    assert (provider.embed(texts[::-1])[::-1] == together).all()
    assert (np.vstack([provider.embed([text]) for text in texts]) == together).all()
    assert (np.vstack([provider.embed(texts[:5]), provider.embed(texts[5:])]) == together).all()


def test_threads_share_one_model(provider: OnnxEmbeddingProvider) -> None:
    texts = [f"text number {number}" for number in range(24)]
    with ThreadPoolExecutor(6) as pool:
        found = np.vstack(list(pool.map(lambda text: provider.embed([text]), texts)))
    assert (found == provider.embed(texts)).all()


def test_a_text_is_cut_at_256_tokens(provider: OnnxEmbeddingProvider) -> None:
    words = ["word"] * 254
    assert len(provider.load().network.tokens(" ".join(words))) == 256
    long = provider.embed([" ".join(words), " ".join([*words, "more", "words"]), " ".join([*words[1:], "more"])])
    assert (long[0] == long[1]).all()
    assert (long[0] != long[2]).any()
    assert len(provider.load().network.tokens("x " * 10_000_000)) == 256


def test_no_text_gives_no_rows(provider: OnnxEmbeddingProvider) -> None:
    assert provider.embed([]).shape == (0, 384)


@given(st.text(alphabet=st.characters(), max_size=300))
@settings(max_examples=40)
def test_any_text_has_a_unit_vector(text: str) -> None:
    pytest.importorskip("onnxruntime")
    network = _network()
    vector = network.vector(text)
    assert abs(float(np.square(vector, dtype=np.float64).sum()) - 1) < 1e-6
    assert 2 <= len(network.tokens(text)) <= 256


_NETWORKS: list[Network] = []


def _network() -> Network:
    if not _NETWORKS:
        provider = OnnxEmbeddingProvider(parse_config(b'[embedding]\nprovider = "onnx"\n').embedding, {})
        try:
            _NETWORKS.append(provider.load().network)
        except (EmbeddingPackageMissingError, EmbeddingModelNotFoundError) as error:
            pytest.skip(error.message)
    return _NETWORKS[0]


def test_meaning_is_found_where_no_word_is_shared(provider: OnnxEmbeddingProvider) -> None:
    query, near, far = provider.embed(
        ["database rationale", "we chose Postgres because of JSONB", "the cat sat on the mat"]
    )
    assert float(query @ near) > float(query @ far) + 0.1


def test_the_fingerprint_tells_of_the_tokenizer_without_loading_a_model(make: Make) -> None:
    one = make().fingerprint()
    assert (one.model, one.dimensions, one.pooling, one.normalisation) == ("all-MiniLM-L6-v2", 384, "mean", "unit")
    assert len(one.tokenizer) == 64
    assert one == make(model_path="/elsewhere").fingerprint()


def test_model_path_comes_before_the_package_and_the_users_folder(make: Make, model_file: Path, tmp_path: Path) -> None:
    assert make().load().place.path == model_file
    for name in ("mine", "data/kbdb/models/all-MiniLM-L6-v2"):
        (tmp_path / name).mkdir(parents=True)
        os.symlink(model_file, tmp_path / name / "model.onnx")
    assert make(model_path=str(tmp_path / "mine")).load().place.path == tmp_path / "mine" / "model.onnx"
    assert make(model_path=str(tmp_path / "empty")).load().place.path == model_file


@pytest.mark.usefixtures("no_package")
def test_without_the_package_the_users_folder_serves(make: Make, model_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "kbdb" / "models" / "all-MiniLM-L6-v2"
    folder.mkdir(parents=True)
    os.symlink(model_file, folder / "model.onnx")
    loaded = make().load()
    assert loaded.place.path == folder / "model.onnx"
    assert loaded.cosine >= LEAST_COSINE


@pytest.mark.usefixtures("no_package")
def test_a_model_that_is_nowhere_is_an_error_with_all_places_and_cures(make: Make, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingModelNotFoundError) as raised:
        make(model_path=str(tmp_path / "mine")).embed(["a text"])
    for place in ("mine/model.onnx", "kbdb[minilm] (not installed)", "data/kbdb/models/all-MiniLM-L6-v2/model.onnx"):
        assert place in raised.value.message
    for cure in ("pip install 'kbdb[minilm]'", "model_url", "kbdb embed fetch"):
        assert cure in raised.value.hint


@pytest.mark.usefixtures("no_package")
def test_the_first_use_downloads_the_model_only_where_that_is_allowed(
    make: Make, model_file: Path, tmp_path: Path, serve: Callable[[Answer], HttpServer]
) -> None:
    pytest.importorskip("httpx")
    server = serve(lambda _: Reply(body=model_file.read_bytes()))
    with pytest.raises(EmbeddingModelNotFoundError):
        make(model_url=server.url).embed(["a text"])
    assert server.asked == []
    provider = make(model_url=server.url, allow_download=True)
    assert provider.embed(["a text"]).shape == provider.embed(["another"]).shape == (1, 384)
    assert provider.load().place.path.is_relative_to(tmp_path / "data")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("damage", "pinned"),
    [
        ("one bit", True),
        *((damage, pinned) for damage in ("cut", "empty", "text", "zeros") for pinned in (True, False)),
    ],
)
def test_a_damaged_model_is_an_error_wherever_it_lies(
    make: Make, model_file: Path, tmp_path: Path, damage: str, pinned: bool
) -> None:
    data = bytearray(model_file.read_bytes())
    if damage == "one bit":
        data[10_000_000] ^= 1
    elif damage == "zeros":
        # Behind the vectors of words, in weights that every text passes.
        data[15_000_000:16_000_000] = bytes(1_000_000)
    else:
        data = {"cut": data[: len(data) // 2], "empty": bytearray(), "text": bytearray(b"<html>")}[damage]
    (tmp_path / "model.onnx").write_bytes(data)
    digest = MINILM.sha256 if pinned else ""
    with pytest.raises(EmbeddingModelInvalidError) as raised:
        make(model_path=str(tmp_path), model_sha256=digest).embed(["a text"])
    assert str(tmp_path) in raised.value.message
    assert raised.value.code == "EMBEDDING_MODEL_INVALID"


def test_the_packages_file_is_checked_against_the_known_hash(
    make: Make, model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "path" / "tampered_models"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('no code of the package runs')\n")
    (package / "model.onnx").write_bytes(model_file.read_bytes() + b"\0")
    monkeypatch.syspath_prepend(str(tmp_path / "path"))
    monkeypatch.setitem(models.KNOWN, "all-MiniLM-L6-v2", replace(MINILM, package="tampered_models"))
    with pytest.raises(EmbeddingModelInvalidError, match="SHA-256"):
        make().embed(["a text"])


def test_a_model_file_that_cannot_be_read_is_an_error(make: Make, model_file: Path, tmp_path: Path) -> None:
    place = models.Place(tmp_path, "a folder where a file should be", "")
    assert model_file.is_file()
    with pytest.raises(StorageError, match=str(tmp_path)):
        models.read(place)
    assert make().model_name() == "all-MiniLM-L6-v2"


def own_model(folder: Path, model_file: Path, reference: list[dict[str, Any]], shared_data: Path) -> None:
    """The same model, as a folder of the user's with the published tokenizer file."""
    folder.mkdir()
    os.symlink(model_file, folder / "model.onnx")
    shutil.copyfile(shared_data / "minilm-reference" / "tokenizer.json", folder / "tokenizer.json")
    lines = [json.dumps({"text": one["text"], "vector": one["vector"]}) for one in reference[:6]]
    (folder / "golden.jsonl").write_text("\n".join(lines) + "\n")


def test_a_model_of_the_users_own_serves_with_its_tokenizer_uncut_by_it(
    make: Make, model_file: Path, reference: list[dict[str, Any]], shared_data: Path, tmp_path: Path
) -> None:
    own_model(tmp_path / "mine", model_file, reference, shared_data)
    provider = make(model="mine", model_path=str(tmp_path / "mine"))
    texts = [one["text"] for one in reference]
    assert [provider.load().network.tokens(text) for text in texts] == [one["input_ids"] for one in reference]
    assert provider.scripts() is None
    (tmp_path / "mine" / "tokenizer.json").write_text("{}")
    assert make(model="mine", model_path=str(tmp_path / "mine")).fingerprint() != provider.fingerprint()


@pytest.mark.parametrize("lacking", ["model.onnx", "tokenizer.json", "golden.jsonl"])
def test_a_model_of_the_users_own_needs_all_its_files(
    make: Make, model_file: Path, reference: list[dict[str, Any]], shared_data: Path, tmp_path: Path, lacking: str
) -> None:
    own_model(tmp_path / "mine", model_file, reference, shared_data)
    (tmp_path / "mine" / lacking).unlink()
    with pytest.raises(EmbeddingModelNotFoundError, match=lacking):
        make(model="mine", model_path=str(tmp_path / "mine")).embed(["a text"])


@pytest.mark.parametrize("bad", ["", "{}", '{"model": 1}', "\udce9"])
def test_a_tokenizer_that_is_none_is_an_error(
    make: Make, model_file: Path, reference: list[dict[str, Any]], shared_data: Path, tmp_path: Path, bad: str
) -> None:
    own_model(tmp_path / "mine", model_file, reference, shared_data)
    (tmp_path / "mine" / "tokenizer.json").write_bytes(bad.encode("utf-8", "surrogateescape"))
    with pytest.raises(EmbeddingModelInvalidError, match="is no tokenizer"):
        make(model="mine", model_path=str(tmp_path / "mine")).embed(["a text"])


def first_token(network: Network, text: str) -> Any:
    """Pooling as some other models have it."""
    ids = np.array([network.tokens(text)], np.int64)
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    return network._session.run(None, given)[0][0, 0]


@pytest.mark.parametrize(
    "wrong",
    [
        first_token,
        lambda network, text: network.vector("query: " + text),
        lambda network, text: network.vector(text.swapcase() + "."),
        lambda network, text: network.vector(text[:-3]),
        lambda _, __: np.zeros(384),
        lambda network, text: network.vector(text)[:383],
        lambda network, text: network.vector(text) * float("nan"),
    ],
    ids=["pooling", "prefix", "other text", "cut", "zeros", "dimensions", "NaN"],
)
def test_the_self_test_notices(provider: OnnxEmbeddingProvider, wrong: Callable[[Network, str], Any]) -> None:
    network = provider.load().network
    golden = read_golden(MINILM.golden)
    assert self_test(golden, lambda text: list(map(float, network.vector(text))), "m") >= LEAST_COSINE
    with pytest.raises(EmbeddingModelInvalidError, match="fails its self-test"):
        self_test(golden, lambda text: list(map(float, wrong(network, text))), "m")


def test_the_golden_vectors_are_the_references(reference: list[dict[str, Any]]) -> None:
    known = {one["text"]: tuple(one["vector"]) for one in reference}
    golden = read_golden(MINILM.golden)
    assert [known[one.text] for one in golden] == [one.vector for one in golden]
    assert len(golden) == 2


NO_GOLDEN = ["", "\n", "{", "[]", '{"text": 1, "vector": [1]}', '{"text": "a", "vector": []}', '{"vector": [1]}']
NO_GOLDEN += ['{"text": "a", "vector": ["x"]}', '{"text": "a", "vector": [0, 0]}', '{"text": "a", "vector": [NaN]}']


@pytest.mark.parametrize("text", NO_GOLDEN)
def test_a_file_without_golden_vectors_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "golden.jsonl").write_text(text)
    with pytest.raises(EmbeddingModelInvalidError, match=r"golden\.jsonl"):
        read_golden(tmp_path / "golden.jsonl")


def test_golden_vectors_need_no_unit_length() -> None:
    assert self_test([Golden("a", (3.0, 4.0))], lambda _: [30.0, 40.0], "m") == pytest.approx(1)


@pytest.mark.parametrize("module", ["onnxruntime", "tokenizers", "numpy"])
def test_a_package_that_is_not_installed_is_named_with_the_cure(model_file: Path, module: str) -> None:
    lines = [
        "import sys",
        f"sys.modules[{module!r}] = None",
        "from dataclasses import replace",
        "from kbdb.config import parse",
        "from kbdb.embed.api import provider_of",
        "from kbdb.errors import KbdbError",
        "try:",
        "    provider_of(replace(parse(b'').embedding, provider='onnx')).embed(['a'])",
        "except KbdbError as error:",
        "    print(error.code, error.message, error.hint)",
    ]
    assert model_file.is_file()
    ran = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith(EmbeddingPackageMissingError.code)
    assert module in ran.stdout
    assert "pip install 'kbdb[onnx]'" in ran.stdout
