"""What each method of the client asks a daemon for: its method on the wire, and the params."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kbdb.client import Client
from kbdb.model.skill import SkillArgument

CALLS: dict[str, tuple[Callable[[Client], object], str, dict[str, Any]]] = {
    "search": (
        lambda c: c.search("q", mode="lexical", limit=3, tags=("a",), section_type="skill", docid="d", content=True),
        "search",
        {
            **{"query": "q", "mode": "lexical", "limit": 3, "offset": 0, "content": True, "explain": False},
            **{"tags": ["a"], "sectionType": "skill", "docid": "d"},
        },
    ),
    "rank": (lambda c: c.rank("q", 5), "search", {"query": "q", "mode": "lexical", "limit": 5}),
    "similar": (lambda c: c.similar("k", 5), "similar", {"kbid": "k", "limit": 5}),
    "recall": (
        lambda c: c.recall(kbids=("a", "b"), depth=2, max_tokens=9, format="compact"),
        "recall",
        {"kbids": ["a", "b"], "depth": 2, "maxTokens": 9, "format": "compact"},
    ),
    "retrieve": (lambda c: c.retrieve("k"), "retrieve", {"kbid": "k"}),
    "retrieve lines": (
        lambda c: c.retrieve("k", lines="2-3", max_bytes=9),
        "retrieve",
        {"kbid": "k", "lines": "2-3", "maxBytes": 9},
    ),
    "retrieve a document": (lambda c: c.retrieve(docid="d"), "retrieve", {"docid": "d"}),
    "read_sections": (lambda c: c.read_sections(["k"]), "readSections", {"kbids": ["k"]}),
    "retrieve_document": (lambda c: c.retrieve_document("d"), "retrieveDocument", {"docid": "d"}),
    "content": (lambda c: c.content(docid="d"), "content", {"docid": "d"}),
    "list": (
        lambda c: c.list("sections", state="active", type="t", limit=7),
        "list",
        {"what": "sections", "state": "active", "tags": [], "type": "t", "limit": 7, "offset": 0},
    ),
    "list_by_type": (lambda c: c.list_by_type("skill"), "listByType", {"sectionType": "skill"}),
    "list_documents_by_type": (
        lambda c: c.list_documents_by_type("text/plain"),
        "listDocumentsByType",
        {"docType": "text/plain"},
    ),
    "documents": (lambda c: c.documents("a", 7), "documents", {"after": "a", "limit": 7}),
    "complete": (
        lambda c: c.complete("tag", "p", 7),
        "complete",
        {"what": "tag", "prefix": "p", "limit": 7},
    ),
    "status": (lambda c: c.status(), "dbStatus", {}),
    "db_status": (lambda c: c.db_status(), "dbStatus", {}),
    "init_directory": (lambda c: c.init_directory(), "initDirectory", {}),
    "daemon_status": (lambda c: c.daemon_status(), "daemonStatus", {}),
    "shutdown": (lambda c: c.shutdown(), "shutdown", {}),
    "check": (lambda c: c.check(), "check", {"duplicates": False}),
    "check for duplicates": (
        lambda c: c.check(duplicates=True, threshold=0.9),
        "check",
        {"duplicates": True, "threshold": 0.9},
    ),
    "add_section": (
        lambda c: c.add_section(b"\xff", title="t", section_type="agent", who="agent"),
        "addSection",
        {"content": {"base64": "/w=="}, "title": "t", "tags": [], "sectionType": "agent", "who": "agent"},
    ),
    "update": (
        lambda c: c.update("k", content="é", tags=[]),
        "updateSection",
        {"kbid": "k", "content": "é", "tags": [], "who": "user"},
    ),
    "update_section": (
        lambda c: c.update_section("k", title="t"),
        "updateSection",
        {"kbid": "k", "title": "t", "who": "user"},
    ),
    "unlearn": (
        lambda c: c.unlearn("k", reason="r"),
        "removeSection",
        {"kbid": "k", "reason": "r", "who": "user"},
    ),
    "remove_section": (
        lambda c: c.remove_section(docid="d", who="agent"),
        "removeSection",
        {"docid": "d", "reason": "", "who": "agent"},
    ),
    "restore": (lambda c: c.restore(docid="d"), "restore", {"docid": "d", "who": "user"}),
    "group": (
        lambda c: c.group(["k"], "t", tags=("a",)),
        "groupSections",
        {"kbids": ["k"], "title": "t", "description": "", "tags": ["a"], "who": "user"},
    ),
    "group_sections": (
        lambda c: c.group_sections(["k"], "t", docid="d"),
        "groupSections",
        {"kbids": ["k"], "title": "t", "docid": "d", "description": "", "tags": [], "who": "user"},
    ),
    "ungroup": (lambda c: c.ungroup("d"), "removeGrouping", {"docid": "d", "who": "user"}),
    "remove_grouping": (
        lambda c: c.remove_grouping("d", who="agent"),
        "removeGrouping",
        {"docid": "d", "who": "agent"},
    ),
    "gc": (lambda c: c.gc(True, keep_days=3), "gc", {"dryRun": True, "keepDays": 3}),
    "rebuild": (lambda c: c.rebuild(print), "rebuildIndexes", {"progress": True}),
    "rebuild_indexes": (lambda c: c.rebuild_indexes(), "rebuildIndexes", {}),
    "export": (lambda c: c.export("/x/../y"), "export", {"path": "/x/../y"}),
    "export with progress": (lambda c: c.export("/y", print), "export", {"path": "/y", "progress": True}),
    "import": (lambda c: c.import_(Path("/y")), "import", {"path": "/y"}),
    "skills": (lambda c: c.skills(), "skills", {}),
    "skill": (lambda c: c.skill("n", {"a": 1, "b": True}), "skill", {"name": "n", "values": {"a": 1, "b": True}}),
    "add_skill": (
        lambda c: c.add_skill("n", "b", arguments=[SkillArgument("a", "number")], tags=["t"]),
        "addSkill",
        {
            **{"name": "n", "body": "b", "tags": ["t"], "who": "user"},
            "arguments": [{"name": "a", "type": "number", "description": "", "required": True}],
        },
    ),
    "remove_skill": (
        lambda c: c.remove_skill("n", reason="r"),
        "removeSkill",
        {"name": "n", "reason": "r", "who": "user"},
    ),
    "agents": (lambda c: c.agents(), "agents", {}),
    "agent": (lambda c: c.agent("n"), "agent", {"name": "n"}),
    "add_agent": (
        lambda c: c.add_agent("n", b"\xff", description="d", skills=("s",), who="agent"),
        "addAgent",
        {"name": "n", "persona": {"base64": "/w=="}, "description": "d", "skills": ["s"], "who": "agent"},
    ),
    "remove_agent": (
        lambda c: c.remove_agent("n", who="agent"),
        "removeAgent",
        {"name": "n", "reason": "", "who": "agent"},
    ),
}
