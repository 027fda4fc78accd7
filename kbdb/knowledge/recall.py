"""recall: sections in full with what stands around them, as deep and as long as asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kbdb.errors import InvalidArgumentError
from kbdb.graphemes import boundaries_around
from kbdb.knowledge.around import MOST_AROUND, Around, Listed, successor_of
from kbdb.knowledge.core import Core, utc_now
from kbdb.knowledge.entries import text_of
from kbdb.model.read import Metadata, RecallResult, RecallResults
from kbdb.model.truth import Section

MAX_DEPTH = 3
MOST_RECALLED = 1000
"""Of the sections that links lead to, no more are given, and no more have theirs followed: the others are named."""

BYTES_A_TOKEN = 4
"""A token is counted as this many bytes of UTF-8: near enough for English, generous for other scripts."""


def recall(
    core: Core, kbids: Sequence[str], depth: int | None, max_tokens: int | None, *, compact: bool
) -> RecallResults:
    """The sections asked for, then those they refer to.

    Args:
        kbids: in the order of the answer.
        depth: how many links to follow, 0 to 3; None: none, or with a budget three, as far as it allows.
        max_tokens: budget for the contents. The first section is always given, cut where the budget ends.
        compact: leave references, documents and siblings out.

    Raises:
        InvalidArgumentError: depth or max_tokens out of range.
    """
    if depth is None:
        depth = 0 if max_tokens is None else MAX_DEPTH
    if not 0 <= depth <= MAX_DEPTH:
        raise InvalidArgumentError(f"depth is {depth}", f"use 0 to {MAX_DEPTH}")
    if max_tokens is not None and max_tokens < 1:
        raise InvalidArgumentError(f"max_tokens is {max_tokens}", "use a positive number")
    wanted = list(dict.fromkeys(kbids))
    missing = tuple(kbid for kbid in wanted if not core.store.has_section(kbid))
    present = [kbid for kbid in wanted if kbid not in missing]
    around = Around(core)
    reached = _reach(around, present, depth)
    most = max(MOST_RECALLED, len(present))
    results: list[RecallResult] = []
    omitted: list[str] = []
    left = None if max_tokens is None else max_tokens * BYTES_A_TOKEN
    for place, kbid in enumerate(reached):
        if place >= most:
            omitted.append(kbid)
            continue
        section = core.store.read_section(kbid)
        content = text_of(section)
        size = len(content.encode())
        if left is not None and size > left:
            if results:
                omitted.append(kbid)
                continue
            content, size = cut_text(content, left), left
        left = None if left is None else left - size
        results.append(_recall_one(around, section, content, compact=compact))
    return RecallResults(tuple(results), len(omitted), missing, tuple(omitted))


def _reach(around: Around, kbids: Sequence[str], depth: int) -> list[str]:
    """The sections, then what they refer to, nearest first; past those that may be given, none is followed."""
    reached = dict.fromkeys(kbids)
    level, followed = list(kbids), 0
    for _ in range(depth):
        follow = level[: max(0, MOST_RECALLED - followed)]
        followed += len(follow)
        targets = (target for kbid in follow for target in around.targets(around.core.store.read_section(kbid)))
        further = filter(None, map(around.section_at, dict.fromkeys(targets)))
        level = [kbid for kbid in dict.fromkeys(further) if kbid not in reached]
        reached.update(dict.fromkeys(level))
    return list(reached)


def _recall_one(around: Around, section: Section, content: str, *, compact: bool) -> RecallResult:
    core, kbid, text = around.core, section.kbid, text_of(section)
    live = around.documents_of(kbid)
    stored = core.indexer.stored(kbid)
    placement = live[0].placements[kbid] if live else None
    result = RecallResult(
        kbid=kbid,
        title=section.title,
        content=content,
        level=placement.level if placement else 0,
        parent=placement.parent if placement else "",
        metadata=Metadata(
            type=section.type,
            section_type=section.section_type,
            state=core.beliefs.section(kbid, utc_now()).state,
            tags=stored.tags if stored else (),
            description=stored.description if stored else "",
            created=min((document.manifest.created for document in live), default=""),
            updated=max((document.manifest.updated for document in live), default=""),
        ),
        references=(),
        back_references=(),
        documents=(),
        siblings=(),
        truncated=len(content) < len(text),
        successor=successor_of(core, kbid),
    )
    return result if compact else _with_surroundings(around, result, section, live)


def _with_surroundings(
    around: Around, result: RecallResult, section: Section, documents: Sequence[Listed]
) -> RecallResult:
    targets = around.targets(section)
    back, backs = around.back_references(section.kbid, documents)
    beside, siblings = around.siblings(documents[0], section.kbid) if documents else ([], 0)
    shown = {"references": targets[:MOST_AROUND], "back_references": back, "siblings": beside}
    counts = {"references": len(targets), "back_references": backs, "siblings": siblings}
    left_off = {name: count - len(shown[name]) for name, count in counts.items() if count > len(shown[name])}
    return replace(
        result,
        references=tuple(map(around.reference, targets[:MOST_AROUND])),
        back_references=tuple(back),
        documents=tuple(document.manifest.docid for document in documents),
        siblings=tuple(beside),
        left_off=left_off or None,
    )


def cut_text(text: str, size: int) -> str:
    """The beginning of a text that fits ``size`` bytes of UTF-8, up to the last whole line, word or character."""
    part = text.encode()[:size].decode(errors="ignore")
    if len(part) == len(text):
        return text
    part = part[: boundaries_around(text, len(part))[0]]
    for border in ("\n", " "):
        head, found, _ = part.rpartition(border)
        if found and len(head) >= len(part) // 2:
            return head.removesuffix("\r")
    return part
