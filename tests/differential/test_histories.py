"""Whatever happened to a database, it answers like one rebuilt from its truth files, and both engines agree on the way.

Histories of learning, replacing, forgetting, restoring, crashing and tidying are made up step by step on a real
database with the lock-step engine. In between and at the end, a copy of the truth files without an index is opened: all
searches, lists, documents and recalls must be equal to the last bit, and rebuilt index files to the last byte.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from engines import needs_compiled
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from knowledge_base import answers, without_index

import kbdb
from kbdb.errors import InvalidArgumentError
from kbdb.index import engine as chosen
from kbdb.knowledge import KnowledgeBase

pytestmark = needs_compiled

FILES = ("a.md", "b.md", "docs/c.md", "docs/d.txt")
SECTIONS = (
    "# Apples\n\nApples keep in a cool cellar until spring.\n\n",
    "# Apples\n\nApples keep in a *dry* cellar.\n\n",
    "# Pears\n\nPears ripen off the tree, see [apples](a.md#apples).\n\n",
    "## Pressing\n\nPress apples_and_pears within v1.2.3 days. 日本語の本。\n\n",
    "intro to cellars $(link:facts)\n\n",
    "---\ntags: [fruit]\ntitle: Orchard\n---\n\n",
)
FACTS = (
    "The cellar is cool.",
    "The cellar is dry!",
    "the CELLAR is cool",
    "# Apples\n\nApples keep.\n\n## Pears\n\nkept\n",
    "本",
)
TITLES = ("Cellar", "Apples", "")
QUERIES = (
    *(
        "cellar",
        "apples pears",
        "reading",
        "odd tag:x",
        '"cool cellar"',
        "appels",
        "cel*",
        "本",
        "日本",
        "-apples cellar",
        "title:apples",
    ),
    *("tag:fruit", "apples doc:facts", "fruit", "press juice", "the", "apples_and_pears", "1.2.3", "orchard"),
)

contents = st.lists(st.sampled_from(SECTIONS[:5]), max_size=4).map("".join)
sources = st.builds(lambda front, text: front + text, st.sampled_from(("", "", SECTIONS[5])), contents)
actors = st.sampled_from(("user", "user", "agent", "auto-capture"))
choices = st.integers(0, 10**6)


class Histories(RuleBasedStateMachine):
    """One database and what happens to it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.home = self.folder / "home"
        self.copies = 0
        self.compared = 0
        self.kb = kbdb.init(self.home)

    @initialize(texts=st.lists(sources, min_size=1, max_size=len(FILES)))
    def begin(self, texts: list[str]) -> None:
        for name, text in zip(FILES, texts, strict=False):
            self._write(name, text)
        self.kb.learn([self.home])

    @rule(name=st.sampled_from(FILES), text=sources, who=actors, replace=st.booleans())
    def learn_file(self, name: str, text: str, who: str, replace: bool) -> None:
        self.kb.learn([self._write(name, text)], who=who, replace=replace)

    @rule(tags=st.sets(st.sampled_from(("x", "Y"))), prune=st.booleans(), who=actors)
    def learn_folder(self, tags: set[str], prune: bool, who: str) -> None:
        self.kb.learn([self.home], tags=sorted(tags), prune=prune, who=who)

    @rule(name=st.sampled_from(FILES))
    def lose_file(self, name: str) -> None:
        (self.home / name).unlink(missing_ok=True)

    @rule(fact=st.sampled_from(FACTS), title=st.sampled_from(TITLES), who=actors, replace=st.booleans())
    def state_fact(self, fact: str, title: str, who: str, replace: bool) -> None:
        # Refused where several sections have the title.
        with suppress(InvalidArgumentError):
            self.kb.learn(content=fact, title=title or None, who=who, replace=replace)

    @rule(fact=st.sampled_from(FACTS), who=actors, olds=st.lists(choices, min_size=1, max_size=2))
    def supersede(self, fact: str, who: str, olds: list[int]) -> None:
        names = [name for old in olds if (name := self._section(old))]
        # Refused where the fact itself was withdrawn.
        with suppress(InvalidArgumentError):
            self.kb.learn(content=fact, docid="facts", who=who, supersedes=names)

    @rule(
        olds=st.lists(choices, min_size=1, max_size=4),
        title=st.sampled_from(("Reading", "Cellar")),
        docid=st.sampled_from((None, None, "facts")),
        tags=st.sets(st.sampled_from(("x", "Y"))),
        who=actors,
    )
    def group(self, olds: list[int], title: str, docid: str | None, tags: set[str], who: str) -> None:
        names = [name for old in olds if (name := self._section(old))]
        # Refused where one of them must not be found.
        with suppress(InvalidArgumentError):
            self.kb.group(names, title, docid=docid, tags=sorted(tags), who=who)

    @rule(choice=choices, who=actors)
    def ungroup(self, choice: int, who: str) -> None:
        ours = [item.docid for item in self.kb.list(state="live", limit=10_000).items if not item.source]
        before = self._states()
        # Refused for a section's own document.
        with suppress(InvalidArgumentError):
            if ours:
                self.kb.ungroup(ours[choice % len(ours)], who=who)
        assert self._states() == before

    @rule(
        choice=choices,
        title=st.sampled_from((None, "Apples", "# odd")),
        fact=st.sampled_from((None, *FACTS, SECTIONS[0])),
        tags=st.sampled_from((None, [], ["x"])),
        who=actors,
    )
    def update(self, choice: int, title: str | None, fact: str | None, tags: list[str] | None, who: str) -> None:
        # Refused where it is not active, nothing lists it, or the text was withdrawn.
        with suppress(InvalidArgumentError):
            if name := self._section(choice):
                updated = self.kb.update(name, title=title, content=fact, tags=tags, who=who)
                assert updated.docid in {item.docid for item in self.kb.list(state="live", limit=10_000).items}

    @rule(choice=choices)
    def unlearn_section(self, choice: int) -> None:
        if name := self._section(choice):
            self.kb.unlearn(name)

    @rule(choice=choices)
    def unlearn_document(self, choice: int) -> None:
        if name := self._document(choice):
            self.kb.unlearn(docid=name)

    @rule(choice=choices)
    def restore_section(self, choice: int) -> None:
        if name := self._section(choice):
            self.kb.restore(name)

    @rule(choice=choices)
    def restore_document(self, choice: int) -> None:
        if name := self._document(choice):
            self.kb.restore(docid=name)

    @rule()
    def reopen(self) -> None:
        self.kb.close()
        self.kb = kbdb.open(self.home)

    @rule()
    def crash(self) -> None:
        """The process ends without closing: what is in the journal only is caught up with."""
        self.kb._core.store.close()
        self.kb = kbdb.open(self.home)

    @rule()
    def checkpoint(self) -> None:
        self.kb._core.checkpoint()

    @rule()
    def rebuild(self) -> None:
        self.kb.rebuild()

    @rule()
    def collect_garbage(self) -> None:
        self.kb.gc(keep_days=0)

    @precondition(lambda self: self.compared < 3)
    @rule()
    def compare(self) -> None:
        """The database as it is, one that catches up from its journal, and one rebuilt give the same answers."""
        self.compared += 1
        expected = answers(self.kb, QUERIES)
        with self._opened_without_index() as other:
            assert answers(other, QUERIES) == expected
            other.rebuild()
            assert answers(other, QUERIES) == expected

    @invariant()
    def every_hit_is_live(self) -> None:
        active = {item.kbid for item in self.kb.list("sections", state="active", limit=10_000).items}
        assert {name for name, _ in self.kb.rank("cellar apples pears the", 1000)} <= active

    def teardown(self) -> None:
        try:
            self.compare()
            assert self.kb.check().errors == ()
            self.kb.rebuild()
            with self._opened_without_index() as other:
                other.rebuild()
                root = other.root
            self.kb.close()
            assert _index_files(self.kb.root) == _index_files(root)
        finally:
            self.kb._core.store.close()
            shutil.rmtree(self.folder)

    def _opened_without_index(self) -> KnowledgeBase:
        self.copies += 1
        return kbdb.open(without_index(self.home / ".kbdb", self.folder / f"copy-{self.copies}"))

    def _write(self, name: str, text: str) -> Path:
        path = self.home / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def _states(self) -> dict[str, str]:
        return {item.kbid: item.state for item in self.kb.list("sections", limit=10_000).items}

    def _section(self, choice: int) -> str:
        items = self.kb.list("sections", limit=10_000).items
        return items[choice % len(items)].kbid if items else ""

    def _document(self, choice: int) -> str:
        items = self.kb.list(limit=10_000).items
        return items[choice % len(items)].docid if items else ""


def _index_files(root: Path) -> dict[str, bytes]:
    """The files of the one segment."""
    paths = list((root / "indexes").glob("*/*.*"))
    assert len({path.parent for path in paths}) <= 1
    return {path.name: path.read_bytes() for path in paths}


@pytest.fixture(autouse=True)
def _lock_step(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(chosen.VARIABLE, "checked")
    chosen._load.cache_clear()
    yield
    chosen._load.cache_clear()


def test_any_history_answers_like_its_truth_files() -> None:
    run_state_machine_as_test(Histories, settings=settings(max_examples=12, stateful_step_count=12))


@pytest.mark.long
def test_many_long_histories_answer_like_their_truth_files() -> None:
    run_state_machine_as_test(Histories, settings=settings(max_examples=80, stateful_step_count=25))
