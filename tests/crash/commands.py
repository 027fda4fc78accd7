"""The verbs of a KnowledgeBase as scenarios that a crash test can end early, and what a database shows.

A scenario is a folder to start from and steps that are taken there; ``states`` are what it may be found in afterwards,
by generation. ``main`` takes the steps in a forked process and prints what was acknowledged.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

import kbdb
from kbdb.errors import StorageError
from kbdb.knowledge import KnowledgeBase
from kbdb.knowledge.core import Core
from kbdb.model.search import SearchHit

Say = Callable[[KnowledgeBase], None]

NOTES = {
    "tides.md": "# Tides\n\nThe moon pulls the sea.\n\n## Spring tides\n\nSun and moon pull: see [ports](ports.md).\n",
    "ports.md": "---\ntags: [harbour]\n---\r\n# Ports\r\n\r\nShips await the flood.\r\n\r\n## Pilots\r\n\r\nThey go",
    "naïve 潮.txt": "Das Meer kommt und geht.\n潮汐と月。\n",
    "sub/cables.md": "# Cables\n\nRopes of hemp.\n\n# Anchors\n\nIron, and heavy.\n",
}
CHANGED = {
    "tides.md": "# Tides\n\nThe moon pulls at it.\n\n## Spring tides\n\nSun and moon pull.\n\n## Neap\n\nAt odds.\n",
    "sub/cables.md": "# Cables\n\nRopes of hemp.\n\n# Chains\n\nIron, and heavy.\n",
    "whales.md": "# Whales\n\nThey sing under the moon.\n",
}
GONE = "ports.md"
QUERIES = ("moon", "ships flood", "iron heavy", '"sun and moon"', "潮", "tag:harbour", "rope* -sea", "title:anchors")


class SomeFailedError(StorageError):
    """Learning a folder went on after documents that could not be stored."""


@dataclass(frozen=True, slots=True)
class View:
    """All that a database shows: documents by docid as state and bytes, states by kbid, what queries find."""

    documents: dict[str, tuple[str, bytes]]
    sections: dict[str, str]
    answers: dict[str, tuple[tuple[SearchHit, ...], int, str, str]]


@dataclass(frozen=True, slots=True)
class Life:
    """A database in use.

    Attributes:
        kb: the database.
        folder: that holds it.
        say: what to call whenever something has been acknowledged.
    """

    kb: KnowledgeBase
    folder: Path
    say: Say = lambda _: None


Step = Callable[[Life], object]


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is done to which database.

    Attributes:
        steps: each a call that is acknowledged when it returns; the database is opened before and closed after them.
        before: steps that bring it to where the scenario begins.
        unclosed: whether those end without closing, so that the journal is still full.
    """

    steps: tuple[Step, ...]
    before: tuple[Step, ...] = ()
    unclosed: bool = False

    def prepare(self, folder: Path) -> None:
        """Makes what the scenario starts from; ``init`` starts from nothing but a folder."""
        write(folder / "notes", NOTES)
        if not self.before:
            return
        kb = kbdb.init(folder)
        for step in self.before:
            step(Life(kb, folder))
        if self.unclosed:
            kb._core.store.close()
        else:
            kb.close()

    def live(self, folder: Path, say: Say) -> None:
        """Takes all steps."""
        with open_or_make(folder) as kb, patch("kbdb.knowledge.learn.BATCH_DOCUMENTS", 2):
            say(kb)
            for step in self.steps:
                step(Life(kb, folder, say))
                say(kb)


def view_of(kb: KnowledgeBase) -> View:
    """What a database shows now; writes nothing but what opening the index does."""
    documents = {}
    for item in kb.list(limit=1000).items:
        document = kb.retrieve(docid=item.docid)
        documents[item.docid] = (document.state, document.content)
    sections = {item.kbid: item.state for item in kb.list("sections", limit=1000).items}
    answers = {}
    for query in QUERIES:
        found = kb.search(query, limit=100, content=True)
        assert not found.unreadable
        answers[query] = (found.hits, found.total, found.match, found.verdict)
    return View(documents, sections, answers)


def states(scenario: Scenario, start: Path, place: Path) -> dict[int, View]:
    """The views that an undisturbed run goes through, by generation, oldest first."""
    shutil.copytree(start, place)
    found: dict[int, View] = {}
    commit = Core.commit

    def look(kb: KnowledgeBase) -> None:
        found.setdefault(kb.generation, view_of(kb))

    def commit_and_look(core: Core, *args: object, **options: object) -> int:
        generation = commit(core, *args, **options)  # type: ignore[arg-type]
        look(KnowledgeBase(core))
        return generation

    with patch.object(Core, "commit", commit_and_look):
        scenario.live(place, look)
    shutil.rmtree(place)
    return found


def open_or_make(folder: Path) -> KnowledgeBase:
    """Opens the database in a folder, or makes it where there is none."""
    return kbdb.open(folder, create=True)


def write(folder: Path, contents: dict[str, str]) -> None:
    """Writes files, bytes as they are given."""
    for name, text in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def learn_notes(life: Life, *, prune: bool = False) -> None:
    """Learns the folder of notes; what was committed is acknowledged while it goes on."""
    learned = life.kb.learn([life.folder / "notes"], prune=prune, progress=lambda _: life.say(life.kb))
    for document in learned.documents:
        if document.error is not None:
            raise SomeFailedError(f"{document.source}: {document.error['message']}")


def learn_content(life: Life, *, text: str = "# Said\n\nThe moon is round.\n") -> None:
    """Learns one text."""
    life.kb.learn(content=text)


def replace_sections(life: Life) -> None:
    """Supersedes a section by its title: in a document of its own, and in the one it stands in."""
    life.kb.learn(content="# Said\n\nThe moon is nearly round.\n", replace=True)
    life.say(life.kb)
    life.kb.learn(content="# Pilots\n\nThey know the bar and the moon.\n", replace=True)


def change_notes(life: Life) -> None:
    """Changes, adds and removes files of the notes; the database is not touched."""
    write(life.folder / "notes", CHANGED)
    (life.folder / "notes" / GONE).unlink()


def unlearn(life: Life) -> None:
    """Withdraws a section, then a document."""
    life.kb.unlearn(kbid=_kbid(life.kb, "Anchors"), reason="wrong")
    life.say(life.kb)
    life.kb.unlearn(docid=_docid(life.kb, "ports.md"))


def restore(life: Life) -> None:
    """Takes ``unlearn`` back."""
    life.kb.restore(kbid=_kbid(life.kb, "Anchors"))
    life.say(life.kb)
    life.kb.restore(docid=_docid(life.kb, "ports.md"))


def facts(life: Life) -> None:
    """Learns a text of several sections."""
    life.kb.learn(content="# Reefs\n\nThe moon bares them.\n\n# Sands\n\nThey wander.\n", docid="facts")


def forget_a_fact(life: Life) -> None:
    """Withdraws one of them."""
    life.kb.unlearn(kbid=_kbid(life.kb, "Sands"))


def group(life: Life, *, docid: str = "sea", titles: tuple[str, ...] = ("Reefs", "Anchors", "Spring tides")) -> None:
    """Makes a grouping of sections of files and a fact; one of facts loses those that stand nowhere else."""
    life.kb.group([_kbid(life.kb, title) for title in titles], "Sea", docid=docid, tags=["harbour"])


def ungroup(life: Life, *, docid: str = "sea") -> None:
    """Ends a document without a source, unless that was done before Ctrl-C came."""
    if life.kb.list(docid=docid).items:
        life.kb.ungroup(docid)


def update_fact(life: Life) -> None:
    """Revises a fact and its document's tags, unless that was done before Ctrl-C came."""
    if not _kbid(life.kb, "Moon reefs"):
        life.kb.update(_kbid(life.kb, "Reefs"), title="Moon reefs", tags=["harbour"])


def update_file(life: Life) -> None:
    """Revises what a file says, unless that was done before Ctrl-C came."""
    if not _kbid(life.kb, "Anchor"):
        life.kb.update(_kbid(life.kb, "Anchors"), title="Anchor", content="Iron, heavy, and lost.")


def update_tags(life: Life) -> None:
    """Says more of a file."""
    life.kb.update(_kbid(life.kb, "Tides"), tags=["harbour"], description="What the moon does.")


def checkpoint(life: Life) -> None:
    """What closing does, and a long run now and then."""
    life.kb._core.checkpoint()


def rebuild(life: Life) -> None:
    """Makes the index anew."""
    life.kb.rebuild()


def rebuild_in_pieces(life: Life) -> None:
    """The same for a store that is too large to be indexed at once."""
    life.kb._core.indexer.build_memory = 1
    life.kb.rebuild()


def gc(life: Life) -> None:
    """Removes what nothing lists any more, whatever its age."""
    life.kb.gc(keep_days=0)


def export(life: Life) -> None:
    """Exports over what was exported before."""
    life.kb.export(life.folder / "export")


def interrupt_export(life: Life) -> None:
    """Leaves what an export leaves that ended between its two renames."""
    (life.folder / "export").rename(life.folder / ".export.kbdb-old")


def import_(life: Life) -> None:
    """Takes in what ``export_elsewhere`` made."""
    life.kb.import_(life.folder / "elsewhere" / "export")


def export_elsewhere(life: Life) -> None:
    """Exports another database, which knows newer notes and has withdrawn some."""
    write(life.folder / "elsewhere" / "notes", NOTES | CHANGED)
    with kbdb.init(life.folder / "elsewhere") as other:
        learn_notes(Life(other, life.folder / "elsewhere"))
        other.learn(content="# Said\n\nThe moon is round.\n")
        other.unlearn(kbid=_kbid(other, "Said"))
        other.unlearn(docid=_docid(other, "ports.md"))
        other.export(life.folder / "elsewhere" / "export")
    shutil.rmtree(life.folder / "elsewhere" / ".kbdb")


def _learn_more(number: int) -> Step:
    return partial(learn_content, text=f"# More {number}\n\nThe moon was seen {number} times.\n")


MERGE = tuple(step for number in range(5) for step in (_learn_more(number), checkpoint))

SCENARIOS: dict[str, Scenario] = {
    "init": Scenario(()),
    "learn": Scenario((learn_notes, learn_content), (checkpoint,)),
    "relearn": Scenario((partial(learn_notes, prune=True),), (learn_notes, change_notes)),
    "replace": Scenario((replace_sections,), (learn_notes, learn_content)),
    "unlearn": Scenario((unlearn,), (learn_notes, learn_content)),
    "restore": Scenario((restore,), (learn_notes, unlearn)),
    "group": Scenario((group, partial(group, docid="facts", titles=("Tides",))), (learn_notes, facts)),
    "ungroup": Scenario((ungroup, partial(ungroup, docid="facts")), (learn_notes, facts, group, forget_a_fact)),
    "update": Scenario((update_fact, update_file, update_tags), (learn_notes, facts, group)),
    "merge": Scenario(MERGE, (learn_content,)),
    "open": Scenario((), (learn_notes, checkpoint, learn_content, unlearn), unclosed=True),
    "rebuild": Scenario((rebuild,), (learn_notes, checkpoint, learn_content)),
    "rebuild-in-pieces": Scenario((rebuild_in_pieces,), (learn_notes, checkpoint, learn_content)),
    "gc": Scenario((gc,), (learn_notes, change_notes, partial(learn_notes, prune=True))),
    "export": Scenario((export,), (learn_notes, export, learn_content, unlearn)),
    "export-again": Scenario((export,), (learn_notes, export, learn_content, unlearn, interrupt_export)),
    "import": Scenario((import_,), (learn_notes, learn_content, export_elsewhere)),
}


def main(folder: str) -> None:
    """Lives the scenario that a file of the folder names, and prints each generation that is acknowledged."""
    place = Path(folder)
    scenario = SCENARIOS[(place / "scenario").read_text()]
    scenario.live(place, lambda kb: print(kb.generation, flush=True))


def warm_up() -> None:
    """Does once what would else be done in each forked process: imports made when first needed."""
    with tempfile.TemporaryDirectory() as place:
        start = Path(place, "start")
        SCENARIOS["import"].prepare(start)
        states(SCENARIOS["import"], start, Path(place, "run"))


def _kbid(kb: KnowledgeBase, title: str) -> str:
    """The section of this title; empty where there is none."""
    return next((item.kbid for item in kb.list("sections", limit=1000).items if item.title == title), "")


def _docid(kb: KnowledgeBase, name: str) -> str:
    return next(item.docid for item in kb.list(limit=1000).items if item.source.endswith(name))
