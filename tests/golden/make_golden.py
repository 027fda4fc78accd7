"""Makes a golden database, once for each format version: ``python tests/golden/make_golden.py tests/golden/v1``.

It refuses to touch one that is there. What it writes is described in README.md beside it.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from unittest import mock

import kbdb
from kbdb.index import fingerprint
from kbdb.knowledge import KnowledgeBase
from kbdb.model.learn import AddSectionResult
from kbdb.model.read import DocumentView
from kbdb.store.change import Change

SOURCES: dict[str, bytes] = {
    "crlf-bom.md": (
        "\ufeff# Windows\r\n\r\nA file with a byte-order mark.\r\n\r\n## Line ends\r\n\r\nCR and LF.\r\n"
    ).encode(),
    "cjk.md": (
        "# 知識ベース\n\n全文検索は単語を二文字ずつ切る。\n\n## 中文\n\n数据库把知识保存在普通文件里。\n\n## 字\n\n水\n"
    ).encode(),
    "setext.md": b"Old style\n=========\n\nUnderlined headings.\n\nSecond\n------\n\nStill *Markdown*.\n",
    "yaml.md": (
        b"---\ntitle: Front matter\ntags: [ops, draft]\ndescription: Said above the text\n---\n\n"
        b"# Inside\n\nBody of the first.\n"
    ),
    "toml.md": (
        b'+++\ntitle = "Front matter in TOML"\ntags = ["ops"]\n+++\nNo heading at all, and no newline at the end.'
    ),
    "shared-a.md": (
        b"# Alpha\n\nOnly in alpha.\n\n## Licence\n\nThe same words in two documents.\n\n## Tail\n\nAlpha ends.\n"
    ),
    "shared-b.md": (
        b"# Beta\n\nOnly in beta.\n\n## Licence\n\nThe same words in two documents.\n\n## Tail\n\nBeta ends.\n"
    ),
    "links.md": (
        b"# Links\n\nSee [the licence](shared-a.md#licence) and [[nothing]].\n\n"
        b"\n\n## Empty\n\n## Fence\n\n```sh\n# no heading\n```\n"
    ),
    "plain.txt": b"plain text, \xc3\xa4 and all\n\n    indented\n\ttabbed\n",
    "tool.py": b'"""A tool."""\n\n\ndef parse_config(path):\n    return path\n',
    "changing.md": (
        b"# Changing\n\nStays.\n\n## Goes\n\nThis passage is dropped later.\n\n## Kept\n\nKept to the end.\n"
    ),
    "removed.md": b"# Removed\n\nIts file is deleted later.\n",
    "withdrawn.md": b"# Withdrawn\n\nA document that is unlearned whole.\n",
    "returned.md": b"# Returned\n\nUnlearned, then restored.\n",
    "secret.md": b"# Mixed\n\nFine to keep.\n\n## Regret\n\nThe passphrase is marzipan.\n",
    "mistaken.md": b"# Mistaken\n\nWrong from the start.\n",
    "offer.md": b"# Offer\n\nHalf price until the first of January 2001.\n",
    "empty.md": b"",
}
CHANGED = b"# Changing\n\nStays.\n\n## Kept\n\nKept to the end.\n\n## New\n\nCame in the second version.\n"

QUERIES = [
    "line ends",
    "byte-order mark",
    "全文検索",
    "数据库",
    "水",
    "underlined",
    "tag:ops title:inside body",
    "newline",
    "same words in two documents",
    "parse_config",
    "config",
    "wrong from the start",
    "offer",
    "marzipan",
    "restored",
    "unlearned whole",
    "second version",
    "staging database",
    "db7.example.net",
    '"kept to the end"',
    "licence -alpha",
]


def live(base: KnowledgeBase, source: str) -> str:
    """The docid of the document that came from a file."""
    return next(item.docid for item in base.list(limit=1000).items if item.source.endswith(source))


def section(base: KnowledgeBase, title: str) -> str:
    """The kbid of the section with a title."""
    return next(item.kbid for item in base.list("sections", limit=1000).items if item.title == title)


def history(base: KnowledgeBase, notes: Path) -> None:
    """Every kind of change that a database of this format may hold."""
    for name, data in SOURCES.items():
        (notes / name).write_bytes(data)
    done(base.learn([notes]))
    done(base.learn(content="The staging database is db7.example.net.", title="Staging database", tags=["ops"]))
    done(base.learn(content="The staging database is db9.example.net.", title="Staging database", replace=True))
    base.unlearn(kbid=section(base, "Regret"), reason="a secret, written down by mistake")
    base.unlearn(docid=live(base, "withdrawn.md"), reason="never true")
    base.unlearn(docid=live(base, "returned.md"))
    base.restore(docid=live(base, "returned.md"))
    base.unlearn(kbid=section(base, "Second"))
    base.restore(kbid=section(base, "Second"))
    (notes / "changing.md").write_bytes(CHANGED)
    (notes / "removed.md").unlink()
    done(base.learn([notes], prune=True))
    core = base._core  # these two kinds have no verb yet
    wrong = core.event("invalidate", "user", kbids=(section(base, "Mistaken"),), reason="it was never so")
    over = core.event("valid-until", "agent", kbids=(section(base, "Offer"),), until="2001-01-01T00:00:00.000000Z")
    core.commit([Change(events=(wrong, over))])


def done(result: AddSectionResult) -> None:
    """Stops where something was not learned."""
    assert not [document for document in result.documents if document.error], result.documents


def expected(base: KnowledgeBase) -> dict[str, object]:
    """What must be read from the database for ever."""
    documents = base.list(limit=1000).items
    sources = {}
    for item in documents:
        view = base.retrieve(docid=item.docid)
        assert isinstance(view, DocumentView)
        sources[item.docid] = item.source
    sections = base.list("sections", limit=1000).items
    return {
        "sources": sources,
        "documents": {item.docid: item.state for item in documents},
        "sections": {item.kbid: item.state for item in sections},
        "queries": {query: sorted(hit.kbid for hit in base.search(query, limit=100).hits) for query in QUERIES},
    }


def main(target: Path) -> None:
    if target.exists():
        sys.exit(f"{target} is there already; a golden database is never made again")
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        notes.mkdir()
        with kbdb.open(folder, create=True) as base:
            history(base, notes)
            record = expected(base)
        with mock.patch.object(fingerprint, "FORMAT", 0), kbdb.open(folder) as base:
            base.rebuild()
        root = Path(folder) / ".kbdb"
        target.mkdir(parents=True)
        shutil.copytree(notes, target / "notes")
        shutil.copytree(root / "indexes", target / "older-index")
        left_out = shutil.ignore_patterns("indexes", "journal.log", "lock", "writer.toml", ".git*")
        shutil.copytree(root, target / "database", ignore=left_out)
    text = json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True)
    (target / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
