"""What the commands of ``skill`` and ``agent`` say, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kbdb.cli.render.paper import Paper, joined, notes, visible
from kbdb.cli.render.table import Column, columns

if TYPE_CHECKING:
    from kbdb.model.skill import (
        AddAgentResult,
        AddSkillResult,
        AgentDefinition,
        AgentList,
        AgentSkill,
        SkillArgument,
        SkillDefinition,
        SkillList,
    )


def draw_added_skill(result: AddSkillResult, paper: Paper) -> str:
    """What became of it, and what it takes."""
    told = [_outcome("skill", result)]
    told += [f"takes: {_takes(result.arguments)}"] if result.arguments else []
    told += [f"now also in: {docid}" for docid in result.documents[1:]]
    return joined([*told, *_remarks(result, paper)])


def draw_added_agent(result: AddAgentResult, paper: Paper) -> str:
    """What became of it, and its skills."""
    told = [_outcome("agent", result)]
    told += [f"skills: {_skills(result.skills)}"] if result.skills else []
    return joined([*told, *_remarks(result, paper)])


def draw_skills(result: SkillList, paper: Paper) -> str:
    """A line for each: name, arguments, what it does, where it is from."""
    rows = [
        (item.name, _takes(item.arguments), item.description, "built in" if item.built_in else item.kbid)
        for item in result.items
    ]
    form = (Column("strong"), Column("good", cut=True), Column(cut=True), Column("dim", rank=1))
    told = [f"{item.name}: also {', '.join(item.others)}, of the same name" for item in result.items if item.others]
    table = columns(paper, [("NAME", "ARGUMENTS", "DESCRIPTION", "KBID"), *rows], form)
    return joined([*table, *notes((*result.warnings, *told), paper)])


def draw_agents(result: AgentList, paper: Paper) -> str:
    """A line for each: name, skills, what it does."""
    if not result.items:
        return joined([*notes(result.warnings, paper), paper.paint("no agents; kbdb agent add makes one", "dim")])
    rows = [(item.name, _skills(item.skills), item.description, item.docid) for item in result.items]
    form = (Column("strong"), Column("good", cut=True), Column(cut=True), Column("dim", rank=1))
    table = columns(paper, [("NAME", "SKILLS", "DESCRIPTION", "DOCID"), *rows], form)
    return joined([*table, *notes(result.warnings, paper)])


def draw_skill(skill: SkillDefinition, paper: Paper) -> str:
    """What is known of it, then its text."""
    place = "built in" if skill.built_in else f"{skill.kbid} {skill.docid}".rstrip()
    same = [f"also {', '.join(skill.others)}, of the same name"] if skill.others else []
    head = [*_head(skill.name, skill.description, place, paper), *_arguments(skill.arguments, paper)]
    return joined([*head, *notes(same, paper), "", *visible(skill.body).rstrip().split("\n")])


def draw_agent(agent: AgentDefinition, paper: Paper) -> str:
    """What is known of it, its skills, then its persona."""
    head = [*_head(agent.name, agent.description, f"{agent.kbid} {agent.docid}", paper)]
    rows = [(f"{s.position + 1}.", s.name or f"(missing) {s.declared}".rstrip(), s.kbid) for s in agent.skills]
    skills = columns(paper, rows, (Column("dim"), Column(cut=True), Column("dim"))) if rows else []
    arguments = _arguments(agent.arguments, paper)
    return joined([*head, *arguments, *skills, "", *visible(agent.persona).rstrip().split("\n")])


def _head(name: str, description: str, place: str, paper: Paper) -> Iterator[str]:
    yield paper.paint(paper.plain(name), "strong")
    yield paper.paint(place, "dim")
    if description:
        yield paper.plain(description)


def _arguments(arguments: Sequence[SkillArgument], paper: Paper) -> list[str]:
    rows = [
        (f"{{{{{argument.name}}}}}", argument.type, "" if argument.required else "optional", argument.description)
        for argument in arguments
    ]
    return columns(paper, rows, (Column("good"), Column(), Column(), Column("dim", cut=True))) if rows else []


def _takes(arguments: Sequence[SkillArgument]) -> str:
    return ", ".join(argument.name + ("" if argument.required else "?") for argument in arguments)


def _skills(skills: Sequence[AgentSkill]) -> str:
    return ", ".join(skill.name or f"(missing {skill.declared or skill.kbid})" for skill in skills)


def _outcome(what: str, result: AddSkillResult | AddAgentResult) -> str:
    return f"{result.status} {what} {result.name}" + (f" ({result.docid})" if result.docid else "")


def _remarks(result: AddSkillResult | AddAgentResult, paper: Paper) -> Iterator[str]:
    yield from (f"{paper.paint('superseded:', 'dim')} {kbid}" for kbid in result.superseded)
    for text in result.suppressed:
        back = f"; {text.restore} brings it back" if text.restore else ""
        yield f"{paper.paint('held back:', 'warn')} this text was {text.state} on {text.since[:10]}{back}"
    yield from notes(result.warnings, paper)
