"""kbdb.embed.api, null and scripts: which provider is meant, what none of them loads early, and what they serve."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from kbdb.config import EmbeddingConfig
from kbdb.embed.api import provider_of
from kbdb.embed.models import KNOWN
from kbdb.embed.null import NullEmbeddingProvider
from kbdb.embed.scripts import serves
from kbdb.errors import ConfigError, EmbeddingProviderNotConfiguredError
from kbdb.model.embedding import Fingerprint

LATIN = frozenset({"Latn"})
Settings = Callable[..., EmbeddingConfig]


def test_without_a_provider_nothing_is_embedded_and_the_error_says_so(settings: Settings) -> None:
    provider = provider_of(settings())
    assert isinstance(provider, NullEmbeddingProvider)
    assert (provider.model_name(), provider.dimensions(), provider.scripts()) == ("none", 0, frozenset())
    for ask in (lambda: provider.embed(["a text"]), provider.fingerprint):
        with pytest.raises(EmbeddingProviderNotConfiguredError) as raised:
            ask()
        assert "worker.toml" in raised.value.hint


@pytest.mark.parametrize(
    ("provider", "more"), [("none", {}), ("onnx", {}), ("api", {"api_url": "http://127.0.0.1:1/v1"})]
)
def test_making_a_provider_loads_nothing_heavy(provider: str, more: dict[str, str]) -> None:
    lines = [
        "import sys",
        "from dataclasses import replace",
        "from kbdb.config import parse",
        "from kbdb.embed.api import provider_of",
        f"made = provider_of(replace(parse(b'').embedding, provider={provider!r}, **{more!r}))",
        "made.model_name(), made.dimensions(), made.scripts()",
        "made.fingerprint() if made.dimensions() else None",
        "print(*sys.modules)",
    ]
    ran = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    heavy = {"numpy", "onnxruntime", "tokenizers", "httpx", "asyncio", "socket", KNOWN["all-MiniLM-L6-v2"].package}
    assert {name.split(".")[0] for name in ran.stdout.split()} & heavy == set()


def test_a_fingerprint_tells_every_difference_apart() -> None:
    one = Fingerprint("m", 384, "mean", "unit", "abc")
    others = [
        replace(one, model="n"),
        replace(one, dimensions=385),
        replace(one, pooling="first"),
        replace(one, normalisation="none"),
        replace(one, tokenizer="abd"),
    ]
    assert len({one.digest(), *(other.digest() for other in others)}) == 6
    assert one.digest() == Fingerprint("m", 384, "mean", "unit", "abc").digest()


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"provider": "onnx", "dimensions": 768}, "embedding.dimensions is 768"),
        ({"provider": "onnx", "model": "another"}, "'another'"),
        ({"provider": "onnx", "model_path": "models/mine"}, "model_path is 'models/mine'"),
        ({"provider": "api"}, "api_url is empty"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_at_once(
    settings: Settings, changed: dict[str, object], named: str
) -> None:
    with pytest.raises(ConfigError, match=named) as raised:
        provider_of(settings(**changed))
    assert raised.value.hint


def test_the_default_model_declares_latin_script_and_services_all(settings: Settings) -> None:
    assert provider_of(settings(provider="onnx")).scripts() == LATIN
    assert provider_of(settings(provider="api", api_url="http://host")).scripts() is None


@pytest.mark.parametrize(
    ("text", "served"),
    [
        ("database rationale", True),
        ("Ångström naïve", True),
        ("α-synuclein in mice", True),
        ("Postgres 的理由", True),
        ("2024 / 100 %", True),
        ("", True),
        ("数据库选择的理由", False),
        ("データベースを選んだ理由", False),
        ("почему мы выбрали Postgres", False),
        ("قاعدة البيانات", False),
    ],
)
def test_a_latin_model_serves_texts_that_are_at_least_half_latin(text: str, served: bool) -> None:
    assert serves(LATIN, text) is served
    assert serves(None, text) is True
