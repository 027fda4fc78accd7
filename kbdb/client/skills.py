"""The verbs about skills and agents, done by the daemon; ``kbdb.knowledge.skill_verbs`` explains them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kbdb.client.calls import Calls, content_as_json, listed

if TYPE_CHECKING:
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


class SkillVerbs(Calls):
    """What a KnowledgeBase does with skills and agents, under the same names."""

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
        """Stores a skill: a text with ``{{argument}}`` markers."""
        from kbdb.model.skill import AddSkillResult
        from kbdb.model.to_json import as_json

        listed(arguments=arguments)  # type: ignore[arg-type]
        params = {
            "name": name,
            "body": content_as_json(body),
            "description": description,
            "arguments": as_json(tuple(arguments)),
            "tags": listed(tags=tags),
            "who": who,
        }
        return self._value(AddSkillResult, "addSkill", params)

    def skills(self) -> SkillList:
        """All live skills by name, after those that come with kbdb."""
        from kbdb.model.skill import SkillList

        return self._value(SkillList, "skills")

    def skill(self, name: str, values: Values | None = None) -> SkillDefinition:
        """One skill, with its prompt where values are given."""
        from kbdb.model.skill import SkillDefinition

        return self._value(SkillDefinition, "skill", {"name": name, "values": values})

    def remove_skill(self, name: str, *, reason: str = "", who: str = "user") -> RemoveSectionResult:
        """Takes the skills of a name out of all answers."""
        from kbdb.model.change import RemoveSectionResult

        return self._value(RemoveSectionResult, "removeSkill", {"name": name, "reason": reason, "who": who})

    def add_agent(
        self,
        name: str,
        persona: str | bytes,
        *,
        description: str | None = None,
        skills: Sequence[str] | None = None,
        who: str = "user",
    ) -> AddAgentResult:
        """Stores an agent: a persona, and skills in an order."""
        from kbdb.model.skill import AddAgentResult

        params = {
            "name": name,
            "persona": content_as_json(persona),
            "description": description,
            "skills": listed(skills=skills),
            "who": who,
        }
        return self._value(AddAgentResult, "addAgent", params)

    def agents(self) -> AgentList:
        """All live agents by name."""
        from kbdb.model.skill import AgentList

        return self._value(AgentList, "agents")

    def agent(self, name: str, values: Values | None = None) -> AgentDefinition:
        """One agent, with its prompt where values are given."""
        from kbdb.model.skill import AgentDefinition

        return self._value(AgentDefinition, "agent", {"name": name, "values": values})

    def remove_agent(self, name: str, *, reason: str = "", who: str = "user") -> RemoveSectionResult:
        """Takes the agents of a name out of all answers; their skills stay."""
        from kbdb.model.change import RemoveSectionResult

        return self._value(RemoveSectionResult, "removeAgent", {"name": name, "reason": reason, "who": who})
