"""kbdb.ingest.embedding_input: what a model of meaning gets to see of a section."""

from __future__ import annotations

import pytest

from kbdb.ingest.embedding_input import embedding_input
from kbdb.model.truth import Section


def section(title: str, content: bytes, type: str = "text/markdown") -> Section:
    """A section whose kbid does not matter."""
    return Section("", "default", type, title, content)


@pytest.mark.parametrize(
    ("title", "content", "type", "text"),
    [
        ("Storage", b"# Storage\n\nWe chose Postgres.", "text/markdown", "Storage\nWe chose Postgres."),
        ("Storage", b"Storage\n===\n\nWe chose Postgres.\n", "text/markdown", "Storage\nWe chose Postgres.\n"),
        ("Storage", b"# Another heading\n\nText", "text/markdown", "Storage\n# Another heading\n\nText"),
        ("notes", b"# not markdown", "text/plain", "notes\n# not markdown"),
        ("Storage", b"# Storage", "text/markdown", "Storage"),
        ("Storage", b"# Storage\n\n \n", "text/markdown", "Storage"),
        ("", b"Only a body", "text/plain", "Only a body"),
        ("", b"", "text/plain", ""),
        (" ", b"\n\t ", "text/plain", ""),
        ("数据", "# 数据\n\n内容".encode(), "text/markdown", "数据\n内容"),
    ],
)
def test_text_gives_title_and_body_without_its_heading(title: str, content: bytes, type: str, text: str) -> None:
    assert embedding_input(section(title, content, type), "a description") == text


@pytest.mark.parametrize(
    ("title", "description", "text"),
    [("logo.png", "Our logo, blue", "logo.png\nOur logo, blue"), ("logo.png", "", "logo.png"), ("", "", "")],
)
def test_other_content_gives_title_and_description(title: str, description: str, text: str) -> None:
    assert embedding_input(section(title, b"\x89PNG\xff", "image/png"), description) == text
