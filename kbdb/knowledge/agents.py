"""Agents by name: documents that open with a section of the section type ``agent``, the persona, and list skills.

An agent is a live document that opens with a live persona of its own title. The skills are the sections of type
``skill`` that it lists, in its order, each read through its revisions. Where it lists none, as a file cannot, they are
those that its front matter names, whatever is stored under these names now. One that is not live any more, or not yet,
stays listed, and has no name. Of several agents of a name, one without a source goes before those with one, then the
one changed last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from kbdb.builtin import BUILT_IN
from kbdb.errors import AgentNotFoundError, SkillNotFoundError
from kbdb.ingest.declared import read_declared
from kbdb.knowledge.admission import live_twins, text_keys_of
from kbdb.knowledge.core import Core
from kbdb.knowledge.entries import text_of
from kbdb.knowledge.grouping import Rehoused, rehouse
from kbdb.knowledge.names import check_name, name_of
from kbdb.knowledge.skills import built_in_item, declared_of, front_matter, no_skill, ranked, skills_by_name
from kbdb.knowledge.sourceless import own_document
from kbdb.knowledge.stating import Named, homes_of, read_text, state
from kbdb.knowledge.templates import Value, arguments_of, check_values, rendered
from kbdb.model.change import Receipt, RemoveSectionResult
from kbdb.model.skill import AddAgentResult, AgentDefinition, AgentItem, AgentList, AgentSkill
from kbdb.model.truth import Manifest, Section
from kbdb.store.ids import is_kbid, kbid_decode
from kbdb.store.store import Change


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What the caller of add_agent said besides name and persona. None means: as its text says, or as it was."""

    description: str | None = None
    skills: tuple[str, ...] | None = None
    who: str = "user"


@dataclass(frozen=True, slots=True)
class _Skill:
    """What an agent's reference leads to: no section where it is not live, no kbid where none is stored."""

    kbid: str
    section: Section | None
    declared: str = ""

    @property
    def missing(self) -> str:
        """What an agent is told that has to do without it."""
        if self.declared:
            return f"No skill {self.declared} is stored."
        back = f"if it was forgotten, kbdb restore {self.kbid} brings it back"
        return f"Section {self.kbid} is not live any more; {back}."


@dataclass(frozen=True, slots=True)
class _Agent:
    """A live agent; ``listed`` are the skills of its document, ``skills`` what those or its front matter lead to."""

    home: Manifest
    persona: Section
    listed: tuple[str, ...]
    skills: tuple[_Skill, ...]

    @property
    def named(self) -> Named:
        return Named(self.persona, self.home)

    def shown_skills(self) -> tuple[AgentSkill, ...]:
        return tuple(
            AgentSkill(skill.kbid, name_of(skill.section.title) if skill.section else None, position, skill.declared)
            for position, skill in enumerate(self.skills)
        )


def list_agents(core: Core) -> AgentList:
    """All agents by name."""
    shown = [_definition(core, name, same[0]) for name, same in sorted(_agents(core).items())]
    items = tuple(AgentItem(a.docid, a.name, a.description, a.skills, a.kbid, a.arguments) for a in shown)
    return AgentList(items, len(items), core.notices)


def show_agent(core: Core, name: str, values: Mapping[str, Value] | None) -> AgentDefinition:
    """One agent.

    Args:
        values: of arguments of its persona and skills, to put in; None: no prompt is made.

    Raises:
        AgentNotFoundError: there is none of that name.
        InvalidArgumentError: values are unknown or not of their type.
    """
    found = _agents(core)
    if name not in found:
        raise _no_agent(name, found)
    agent = found[name][0]
    shown = _definition(core, name, agent)
    if values is None:
        return shown
    texts = check_values(shown.arguments, values, f"agent {name}")
    return replace(shown, prompt=rendered("\n\n".join(_pieces(core, agent)) + "\n", texts))


def add_agent(core: Core, name: str, persona: bytes, options: AgentOptions) -> AddAgentResult:
    """Stores an agent; the persona of a live one of that name is superseded.

    Raises:
        InvalidArgumentError: the name is not kebab-case, or there is no persona.
        SkillNotFoundError: some of the skills are not there; the message names them.
        NotUtf8Error: the persona is not UTF-8.
    """
    check_name(name, "agent")
    text = read_text("agent", name, persona)
    before = _agents(core).get(name, [])
    wanted = _Wanted(core, options.who)
    said = text.declared.skills if options.skills is None else options.skills
    if said is None and before:
        wanted.keep(before[0].skills)
    for skill in said or ():
        wanted.add(skill)
    wanted.require_all()
    listed = wanted.kbids
    head = text.head if text.has_front_matter or not before else before[0].home.head
    if options.skills == () and (declared := read_declared(head)).skills:
        # Without a listed skill, those of the front matter would count.
        head = front_matter(declared.arguments) if declared.arguments else ""
    sections = [*wanted.sections, *core.readable(kbid for kbid in listed if kbid not in wanted.own_documents)]
    sections.sort(key=lambda section: listed.index(section.kbid))
    stated = state(
        core,
        text,
        [agent.named for agent in before],
        head=head,
        description=options.description,
        listed=sections,
        brought=wanted.own_documents,
        who=options.who,
    )
    gone = set(listed) - {section.kbid for section in sections}
    warnings = [f"section {kbid} is not stored any more and was left out" for kbid in sorted(gone)]
    warnings += [f"no skill {name} is stored; it was left out" for name in wanted.left_out]
    built = [f"the skill {section.title} was built in; it is stored now, as it is" for section in wanted.sections]
    agents = _agents(core).get(name, [])
    return AddAgentResult(
        name=name,
        kbid=stated.kbid,
        docid=stated.docid,
        status=stated.status,
        skills=agents[0].shown_skills() if agents else (),
        superseded=stated.superseded,
        suppressed=stated.suppressed,
        generation=core.generation,
        warnings=(*stated.warnings, *warnings, *built, *core.notices),
    )


def remove_agent(core: Core, name: str, reason: str, who: str) -> RemoveSectionResult:
    """Forgets all live agents of a name, with their personas. Their skills stay.

    Raises:
        AgentNotFoundError: there is none.
    """
    started = perf_counter()
    found = _agents(core)
    if name not in found:
        raise _no_agent(name, found)
    same = found[name]
    personas = list({agent.persona.kbid: agent.persona for agent in same}.values())
    kbids = tuple(section.kbid for section in (*personas, *live_twins(core, personas)))
    keys = text_keys_of(core, *personas)
    first = core.event("forget", who, docid=same[0].home.docid, kbids=kbids, reason=reason, text_keys=keys)
    more = [core.event("forget", who, docid=agent.home.docid, reason=reason) for agent in same[1:]]
    homeless = [_homes_for_skills(core, agent, who) for agent in same]
    manifests = {manifest.docid: manifest for housed in homeless for manifest in housed.manifests}
    events = (first, *more, *(event for housed in homeless for event in housed.events))
    core.commit([Change(manifests=tuple(manifests.values()), events=events)])
    docid, others = same[0].home.docid, tuple(agent.home.docid for agent in same[1:])
    receipt = Receipt(first.id, kbids, docid, others, f"kbdb restore {docid}")
    return RemoveSectionResult(True, (perf_counter() - started) * 1000, core.generation, receipt)


class _Wanted:
    """The skills that an agent is to have, as they are found.

    Attributes:
        kbids: all of them in order, each once.
        sections: those built in, which are to be stored with the agent.
        own_documents: the documents of those, by kbid.
        unknown: names and kbids of which there is no live skill.
        left_out: names that the agent had so far, and of which there is no skill.
    """

    def __init__(self, core: Core, who: str) -> None:
        self._core, self._who = core, who
        self._found = skills_by_name(core)[0]
        self.kbids: list[str] = []
        self.sections: list[Section] = []
        self.own_documents: dict[str, Manifest] = {}
        self.unknown: list[str] = []
        self.left_out: list[str] = []

    def keep(self, skills: Sequence[_Skill]) -> None:
        """Adds what the agent had before, live or not."""
        for skill in skills:
            if skill.kbid:
                self.kbids.append(skill.kbid)
            elif skill.section:
                self.add(skill.declared)
            else:
                self.left_out.append(skill.declared)

    def add(self, skill: str) -> None:
        """Adds a skill by its name or kbid."""
        if skill in self._found:
            kbid = ranked(self._core, self._found[skill])[0].section.kbid
        elif skill in BUILT_IN:
            kbid = self._bring(skill)
        elif is_kbid(skill) and any(skill == one.kbid for same in self._found.values() for one in same):
            kbid = skill
        else:
            self.unknown.append(skill)
            return
        if kbid not in self.kbids:
            self.kbids.append(kbid)

    def require_all(self) -> None:
        """Raises SkillNotFoundError where some were not found."""
        if len(self.unknown) == 1:
            raise no_skill(self.unknown[0], self._found)
        if self.unknown:
            raise SkillNotFoundError(f"no skills {', '.join(map(repr, self.unknown))}", "kbdb skill list shows them")

    def _bring(self, name: str) -> str:
        item = built_in_item(name)
        section = item.section
        if section.kbid not in self.own_documents:
            self.sections.append(section)
            home = own_document(self._core, [item], description=BUILT_IN[name], who=self._who)
            self.own_documents[section.kbid] = home
        return section.kbid


def _agents(core: Core) -> dict[str, list[_Agent]]:
    """All live agents by name, of each name the one that counts first."""
    found: dict[str, list[_Agent]] = {}
    named = _Declared(core)
    personas = core.indexer.holding("section_type:agent")
    for manifest in core.indexer.manifests_listing(*sorted(personas)):
        opening = manifest.sections[0].kbid
        if opening not in personas or not core.document_is_live(manifest.docid):
            continue
        persona = _live(core, opening, "agent")
        if persona is None or core.title_of(opening) != manifest.title:
            continue
        listed = dict.fromkeys(place.kbid for place in manifest.sections if _may_be_skill(core, place.kbid))
        skills = dict.fromkeys(core.beliefs.head_of(kbid) for kbid in listed)
        led_to = tuple(_Skill(kbid, _live(core, kbid, "skill")) for kbid in skills) or named.of(manifest)
        found.setdefault(name_of(persona.title), []).append(_Agent(manifest, persona, tuple(listed), led_to))
    for same in found.values():
        same.sort(key=lambda agent: agent.home.updated, reverse=True)
        same.sort(key=lambda agent: bool(agent.home.origin.source))
    return found


class _Declared:
    """The skills that front matter names; what is stored is looked through when the first is looked for."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._stored: dict[str, list[Section]] | None = None

    def of(self, manifest: Manifest) -> tuple[_Skill, ...]:
        """Those of an agent's document."""
        return tuple(map(self._one, read_declared(manifest.head).skills or ()))

    def _one(self, name: str) -> _Skill:
        if self._stored is None:
            self._stored = skills_by_name(self._core)[0]
        for meant in dict.fromkeys((name, name_of(name))):
            if meant in self._stored:
                section = ranked(self._core, self._stored[meant])[0].section
                return _Skill(section.kbid, section, name)
            if meant in BUILT_IN:
                return _Skill("", built_in_item(meant).section, name)
        by_kbid = (one for same in self._stored.values() for one in same if one.kbid == name)
        section_of = next(by_kbid, None)
        return _Skill(section_of.kbid if section_of else "", section_of, name)


def _may_be_skill(core: Core, kbid: str) -> bool:
    """Whether a section is a skill, as far as is known of one that is gone."""
    stored = core.indexer.stored(kbid)
    return stored is None or stored.section_type == "skill"


def _live(core: Core, kbid: str, section_type: str) -> Section | None:
    """The newest revision of a section, where it is live and of this type."""
    head = core.beliefs.head_of(kbid)
    if not core.snapshot().is_live(kbid_decode(head)):
        return None
    return next((section for section in core.readable([head]) if section.section_type == section_type), None)


def _definition(core: Core, name: str, agent: _Agent) -> AgentDefinition:
    persona = text_of(agent.persona)
    arguments = {argument.name: argument for argument in arguments_of(persona, declared_of(agent.named).arguments)}
    for named in _live_skills(core, agent):
        for argument in arguments_of(text_of(named.section), declared_of(named).arguments):
            arguments.setdefault(argument.name, argument)
    optional = tuple(replace(argument, required=False) for argument in arguments.values())
    home, skills = agent.home, agent.shown_skills()
    return AgentDefinition(home.docid, name, home.description, persona, skills, agent.persona.kbid, optional)


def _live_skills(core: Core, agent: _Agent) -> list[Named]:
    sections = [skill.section for skill in agent.skills if skill.section]
    homes = homes_of(core, sections)
    return [Named(section, homes.get(section.kbid)) for section in sections]


def _pieces(core: Core, agent: _Agent) -> Iterator[str]:
    """The persona, then the skills in their order, each under its name."""
    yield text_of(agent.persona).strip()
    homes = {named.section.kbid: named.home for named in _live_skills(core, agent)}
    for skill in agent.skills:
        if skill.section is None:
            yield f"# Missing skill\n\n{skill.missing}"
            continue
        name, home = name_of(skill.section.title), homes[skill.section.kbid]
        said = home.description if home else "" if skill.kbid else BUILT_IN[name]
        yield "\n\n".join(filter(None, [f"# Skill: {name}", said, text_of(skill.section).strip()]))


def _homes_for_skills(core: Core, agent: _Agent, who: str) -> Rehoused:
    """Documents of their own for the skills that only the agent's document lists."""
    leaving = [place for place in agent.home.sections if place.kbid in agent.listed]
    return rehouse(core, agent.home, leaving, who)


def _no_agent(name: str, found: Mapping[str, Sequence[_Agent]]) -> AgentNotFoundError:
    meant = name_of(name)
    known = meant != name and meant in found
    return AgentNotFoundError(f"no agent {name!r}", f"use {meant}" if known else "kbdb agent list shows them")
