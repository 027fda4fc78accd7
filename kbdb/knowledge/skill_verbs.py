"""The verbs of a KnowledgeBase about skills and agents. Checks arguments, then hands over to the verb's module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kbdb.checks import utf8
from kbdb.errors import InvalidArgumentError
from kbdb.knowledge.arguments import check_lists, check_texts, check_who
from kbdb.knowledge.core import Core
from kbdb.knowledge.entries import clean_tags
from kbdb.knowledge.one_write import one_write
from kbdb.model.change import RemoveSectionResult
from kbdb.model.skill import (
    AddAgentResult,
    AddSkillResult,
    AgentDefinition,
    AgentList,
    SkillArgument,
    SkillDefinition,
    SkillList,
)

Values = Mapping[str, str | int | float | bool]


class SkillVerbs:
    """What a KnowledgeBase does with skills and agents, by their names. Names are kebab-case."""

    _core: Core

    @one_write
    def add_skill(
        self,
        name: str,
        body: str | bytes,
        *,
        description: str | None = None,
        arguments: Sequence[SkillArgument] = (),
        tags: Sequence[str] = (),
        who: str = "user",
    ) -> AddSkillResult:
        """Stores a skill: a text with ``{{argument}}`` markers. It supersedes the live skills of that name.

        The text may begin with front matter: description, tags, arguments. What is said of a skill and not said again
        stays as it was.

        Args:
            name: of the skill.
            body: its text, in Markdown.
            description: what it does; None: as its text says, or as it was.
            arguments: what is to be known of arguments beside their names. What was declared of others that are still
                in the text stays.
            tags: added to those it had.
            who: ``user``, ``agent``, ``import`` or ``auto-capture``.
        """
        from kbdb.knowledge.skills import SkillOptions, add_skill

        self._core.require_open()
        check_lists(arguments=arguments, tags=tags)
        check_who(who)
        said = "".join(argument.name + argument.description for argument in arguments)
        check_texts(name=name, description=description or "", argument=said, tag="".join(tags))
        options = SkillOptions(description, tuple(arguments), clean_tags(tags), who)
        return add_skill(self._core, name, utf8(body, "body") if isinstance(body, str) else body, options)

    def skills(self) -> SkillList:
        """All live skills by name, after those that come with kbdb."""
        from kbdb.knowledge.skills import list_skills

        self._core.require_open()
        return list_skills(self._core)

    def skill(self, name: str, values: Values | None = None) -> SkillDefinition:
        """One skill.

        Args:
            name: of the skill.
            values: of its arguments: the result then has its ``prompt`` too, with the values put in.
        """
        from kbdb.knowledge.skills import show_skill

        self._core.require_open()
        _check_values(values)
        return show_skill(self._core, name, values)

    @one_write
    def remove_skill(self, name: str, *, reason: str = "", who: str = "user") -> RemoveSectionResult:
        """Takes the skills of a name out of all answers, as ``unlearn`` does; agents go on to list them."""
        from kbdb.knowledge.skills import remove_skill

        self._core.require_open()
        check_who(who)
        check_texts(reason=reason)
        return remove_skill(self._core, name, reason, who)

    @one_write
    def add_agent(
        self,
        name: str,
        persona: str | bytes,
        *,
        description: str | None = None,
        skills: Sequence[str] | None = None,
        who: str = "user",
    ) -> AddAgentResult:
        """Stores an agent: a persona, and skills in an order. It supersedes the persona of that name.

        Args:
            name: of the agent.
            persona: who it is to be, in Markdown; may begin with front matter.
            description: what it does; None: as its text says, or as it was.
            skills: names or kbids of live skills, each once; None: as it was.
            who: ``user``, ``agent``, ``import`` or ``auto-capture``.
        """
        from kbdb.knowledge.agents import AgentOptions, add_agent

        self._core.require_open()
        check_lists(skills=skills)
        check_who(who)
        check_texts(name=name, description=description or "")
        options = AgentOptions(description, None if skills is None else tuple(skills), who)
        return add_agent(self._core, name, utf8(persona, "persona") if isinstance(persona, str) else persona, options)

    def agents(self) -> AgentList:
        """All live agents by name."""
        from kbdb.knowledge.agents import list_agents

        self._core.require_open()
        return list_agents(self._core)

    def agent(self, name: str, values: Values | None = None) -> AgentDefinition:
        """One agent.

        Args:
            name: of the agent.
            values: of arguments of its persona and skills: the result then has its ``prompt`` too: the persona, then
                its skills in their order. Markers without a value stay.
        """
        from kbdb.knowledge.agents import show_agent

        self._core.require_open()
        _check_values(values)
        return show_agent(self._core, name, values)

    @one_write
    def remove_agent(self, name: str, *, reason: str = "", who: str = "user") -> RemoveSectionResult:
        """Takes the agents of a name out of all answers; their skills stay."""
        from kbdb.knowledge.agents import remove_agent

        self._core.require_open()
        check_who(who)
        check_texts(reason=reason)
        return remove_agent(self._core, name, reason, who)


def _check_values(values: Values | None) -> None:
    if values is None:
        return
    if not isinstance(values, Mapping):
        raise InvalidArgumentError(f"values is {values!r}", "give a mapping of names to values")
    check_texts(**{f"the value of {name}": str(value) for name, value in values.items()})
