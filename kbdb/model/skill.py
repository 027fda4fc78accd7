"""Skills and agents: what they are made of, and what the verbs about them answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from kbdb.model.learn import Suppressed

ArgumentType = Literal["string", "number", "boolean"]


@dataclass(frozen=True, slots=True)
class SkillArgument:
    """One argument of a template; without a default, for what is not given leaves a hole.

    ``required``: whether rendering without it is an error; one that is not is left empty.
    """

    name: str
    type: ArgumentType = "string"
    description: str = ""
    required: bool = True


@dataclass(frozen=True, slots=True)
class SkillDefinition:
    """The answer to skill: a template with ``{{argument}}`` markers, and what they stand for, in their order.

    ``kbid`` and ``docid`` are empty where it is built in, ``docid`` also where no document is its own. ``others``: live
    skills of the same name that it goes before. ``prompt``: the body with values put in, where values were given.
    """

    ON_REQUEST: ClassVar = ("prompt",)

    name: str
    description: str
    arguments: tuple[SkillArgument, ...]
    body: str
    kbid: str
    docid: str
    built_in: bool = False
    others: tuple[str, ...] = ()
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class SkillItem:
    """One line of skills: a SkillDefinition without its body."""

    name: str
    description: str
    arguments: tuple[SkillArgument, ...]
    kbid: str
    docid: str
    built_in: bool = False
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkillList:
    """The answer to skills; ``warnings`` tell what could not be read."""

    items: tuple[SkillItem, ...]
    total: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentSkill:
    """A skill that an agent has: ``name`` is None where it was forgotten or is gone; ``position`` counts from 0.

    ``kbid``: what says now what the agent's document lists, the newest revision of it; ``""`` where nothing is stored
    under the name that its front matter gives. ``declared``: that name; ``""`` for skills that are listed.
    """

    kbid: str
    name: str | None
    position: int
    declared: str = ""


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """The answer to agent: who it is to be, and its skills in their order.

    ``kbid``: the section of its persona. ``arguments``: of persona and skills, none of them required. ``prompt``: the
    persona, then the skills, where values were given; markers without a value stay.
    """

    ON_REQUEST: ClassVar = ("prompt",)

    docid: str
    name: str
    description: str
    persona: str
    skills: tuple[AgentSkill, ...]
    kbid: str
    arguments: tuple[SkillArgument, ...] = ()
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class AgentItem:
    """One line of agents: an AgentDefinition without its persona."""

    docid: str
    name: str
    description: str
    skills: tuple[AgentSkill, ...]
    kbid: str
    arguments: tuple[SkillArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentList:
    """The answer to agents; ``warnings`` tell what could not be read."""

    items: tuple[AgentItem, ...]
    total: int
    warnings: tuple[str, ...] = ()


Outcome = Literal["added", "updated", "unchanged"]


@dataclass(frozen=True, slots=True)
class AddSkillResult:
    """The answer to add_skill.

    ``superseded``: whose place it took. ``documents``: all whose manifests changed, its own first. ``suppressed``: set
    where its text was withdrawn before and stays so.
    """

    name: str
    kbid: str
    docid: str
    status: Outcome
    arguments: tuple[SkillArgument, ...]
    superseded: tuple[str, ...]
    documents: tuple[str, ...]
    suppressed: tuple[Suppressed, ...]
    generation: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AddAgentResult:
    """The answer to add_agent; ``kbid`` is its persona's, the rest as in AddSkillResult."""

    name: str
    kbid: str
    docid: str
    status: Outcome
    skills: tuple[AgentSkill, ...]
    superseded: tuple[str, ...]
    suppressed: tuple[Suppressed, ...]
    generation: int
    warnings: tuple[str, ...] = ()
