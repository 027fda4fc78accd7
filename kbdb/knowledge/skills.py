"""Skills by name: sections of the section type ``skill``, and those that come with kbdb.

A skill's name is the kebab-case form of its title. Of several live ones of a name the one counts whose document was
changed last. What its arguments are beside their markers stands in the front matter of its own document.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from kbdb.builtin import BUILT_IN, built_in_text
from kbdb.errors import InvalidArgumentError, SkillNotFoundError
from kbdb.ingest.declared import Declared, argument_faults, read_declared
from kbdb.ingest.front_matter import MAX_FRONT_MATTER
from kbdb.knowledge.core import Core
from kbdb.knowledge.entries import text_of
from kbdb.knowledge.forget import forget_sections
from kbdb.knowledge.names import check_name, name_of
from kbdb.knowledge.statement import Item
from kbdb.knowledge.stating import Named, Text, homes_of, live_kbids, live_sections, read_text, state
from kbdb.knowledge.templates import Value, arguments_of, check_values, markers, rendered
from kbdb.model.change import RemoveSectionResult
from kbdb.model.skill import AddSkillResult, SkillArgument, SkillDefinition, SkillItem, SkillList
from kbdb.model.truth import Manifest, Section
from kbdb.store.toml import dumps


@dataclass(frozen=True, slots=True)
class SkillOptions:
    """What the caller of add_skill said besides name and body. None and none mean: as its text says, or as it was."""

    description: str | None = None
    arguments: tuple[SkillArgument, ...] = ()
    tags: tuple[str, ...] = ()
    who: str = "user"


def skills_by_name(core: Core) -> tuple[dict[str, list[Section]], tuple[str, ...]]:
    """All live skills by name, and what could not be read."""
    sections, warnings = live_sections(core, "skill")
    found: dict[str, list[Section]] = {}
    for section in sections:
        found.setdefault(name_of(section.title), []).append(section)
    return found, warnings


def skills_of(core: Core, name: str) -> tuple[list[Section], set[str]]:
    """The live skills of a name, and the names of all. Files are read for names that are not known yet."""
    known, kbids = core.skill_names, live_kbids(core, "skill")
    for section in core.store.read_sections(kbid for kbid in kbids if kbid not in known):
        if isinstance(section, Section):
            known[section.kbid] = name_of(section.title)
    same = core.readable(kbid for kbid in kbids if known.get(kbid) == name)
    return same, {known[kbid] for kbid in kbids if kbid in known}


def ranked(core: Core, same: Sequence[Section]) -> list[Named]:
    """Skills of one name with their own documents, the one that counts first.

    Finding documents takes longer than reading skills: it is done for the names that somebody asks for.
    """
    return _ranked(same, homes_of(core, same))


def _ranked(same: Sequence[Section], homes: Mapping[str, Manifest]) -> list[Named]:
    named = [Named(section, homes.get(section.kbid)) for section in same]
    return sorted(named, key=lambda one: one.updated, reverse=True)


def list_skills(core: Core) -> SkillList:
    """All skills that have a name to themselves: those built in first, the others by name."""
    found, warnings = skills_by_name(core)
    homes = homes_of(core, [section for same in found.values() for section in same])
    names = [*BUILT_IN, *sorted(found.keys() - BUILT_IN.keys())]
    shown = [_definition(name, _ranked(found[name], homes)) if name in found else built_in(name) for name in names]
    items = tuple(SkillItem(s.name, s.description, s.arguments, s.kbid, s.docid, s.built_in, s.others) for s in shown)
    return SkillList(items, len(items), (*warnings, *core.notices))


def show_skill(core: Core, name: str, values: Mapping[str, Value] | None) -> SkillDefinition:
    """One skill.

    Args:
        values: of its arguments, to put in; None: it is shown as it is.

    Raises:
        SkillNotFoundError: there is none of that name.
        InvalidArgumentError: values are unknown, missing or not of their type.
    """
    same, names = skills_of(core, name)
    if not same and name not in BUILT_IN:
        raise no_skill(name, names)
    skill = _definition(name, ranked(core, same)) if same else built_in(name)
    if values is None:
        return skill
    texts = check_values(skill.arguments, values, f"skill {name}")
    empty = {argument.name: "" for argument in skill.arguments}
    return replace(skill, prompt=rendered(skill.body, {**empty, **texts}))


def add_skill(core: Core, name: str, body: bytes, options: SkillOptions) -> AddSkillResult:
    """Stores a skill; a live one of that name is superseded.

    Raises:
        InvalidArgumentError: the name is not kebab-case, there is no text, or arguments are declared as they cannot be.
        NotUtf8Error: the text is not UTF-8.
    """
    check_name(name, "skill")
    text = read_text("skill", name, body)
    before = ranked(core, skills_of(core, name)[0])
    head = _head(name, text, before, options.arguments)
    stated = state(core, text, before, head=head, description=options.description, tags=options.tags, who=options.who)
    declared = read_declared(head).arguments
    content = text_of(text.item.section)
    said = declared if options.arguments or text.has_front_matter else ()
    idle = [argument.name for argument in said if argument.name not in markers(content)]
    unused = [f"argument {name} is declared, but {{{{{name}}}}} is nowhere in the text" for name in idle]
    return AddSkillResult(
        name=name,
        kbid=stated.kbid,
        docid=stated.docid,
        status=stated.status,
        arguments=arguments_of(content, declared),
        superseded=stated.superseded,
        documents=stated.documents,
        suppressed=stated.suppressed,
        generation=core.generation,
        warnings=(*stated.warnings, *unused, *core.notices),
    )


def remove_skill(core: Core, name: str, reason: str, who: str) -> RemoveSectionResult:
    """Forgets all live skills of a name.

    Raises:
        SkillNotFoundError: there is none.
        InvalidArgumentError: the one of that name is built in.
    """
    same, names = skills_of(core, name)
    if same:
        return forget_sections(core, tuple(named.section.kbid for named in ranked(core, same)), reason, who)
    if name in BUILT_IN:
        instead = f"kbdb skill add {name} FILE puts another in its place"
        raise InvalidArgumentError(f"the skill {name} is built in and cannot be removed", instead)
    raise no_skill(name, names)


def no_skill(name: str, found: Container[str]) -> SkillNotFoundError:
    """What to raise where no skill has a name."""
    meant = name_of(name)
    known = meant != name and (meant in found or meant in BUILT_IN)
    return SkillNotFoundError(f"no skill {name!r}", f"use {meant}" if known else "kbdb skill list shows them")


def declared_of(named: Named) -> Declared:
    """What a skill's or agent's own document declares."""
    return read_declared(named.home.head) if named.home else Declared()


@cache
def built_in(name: str) -> SkillDefinition:
    """A skill that comes with kbdb."""
    body = text_of(built_in_item(name).section)
    return SkillDefinition(name, BUILT_IN[name], (), body, "", "", built_in=True)


def built_in_item(name: str) -> Item:
    """The section that it would be."""
    return read_text("skill", name, built_in_text(name).encode()).item


def _definition(name: str, same: Sequence[Named]) -> SkillDefinition:
    named, body = same[0], text_of(same[0].section)
    return SkillDefinition(
        name=name,
        description=named.home.description if named.home else "",
        arguments=arguments_of(body, declared_of(named).arguments),
        body=body,
        kbid=named.section.kbid,
        docid=named.home.docid if named.home else "",
        others=tuple(other.section.kbid for other in same[1:]),
    )


def _head(name: str, text: Text, before: Sequence[Named], arguments: Sequence[SkillArgument]) -> str:
    """The front matter of the skill's document: what its text begins with, else as it was, but for what is declared."""
    for fault in _faults(arguments):
        raise InvalidArgumentError(f"skill {name}: {fault}")
    if text.has_front_matter:
        if arguments:
            raise InvalidArgumentError(
                f"the text of skill {name} begins with front matter", "declare its arguments there"
            )
        return text.head
    if arguments:
        head = front_matter([*_still_declared(text, before, arguments), *arguments])
        if len(head) > MAX_FRONT_MATTER:
            raise InvalidArgumentError(
                f"the arguments of skill {name} take {len(head):,} characters to declare", "say less"
            )
        return head
    return before[0].home.head if before and before[0].home else ""


def _still_declared(text: Text, before: Sequence[Named], anew: Sequence[SkillArgument]) -> Iterator[SkillArgument]:
    """What was declared before of arguments that the text still has, and that are not declared anew."""
    known = declared_of(before[0]).arguments if before else ()
    wanted = {*markers(text_of(text.item.section))} - {argument.name for argument in anew}
    return (argument for argument in known if argument.name in wanted)


def _faults(arguments: Sequence[SkillArgument]) -> Iterator[str]:
    names = [argument.name for argument in arguments]
    for argument in arguments:
        yield from argument_faults(argument)
        if names.count(argument.name) > 1:
            yield f"argument {argument.name} is declared twice"


def front_matter(arguments: Sequence[SkillArgument]) -> str:
    """Front matter that declares arguments, and the blank line after it."""
    declared = [
        {"name": a.name, "type": a.type, "description": a.description, "required": a.required} for a in arguments
    ]
    return f"+++\n{dumps({'arguments': declared}).decode()}+++\n\n"
