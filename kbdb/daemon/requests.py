"""What each method takes: one class a method, by which requests are checked and JSON Schemas made.

Names are snake_case here and camelCase on the wire. Types are checked here; what a value may be beyond that is checked
where it is understood, in ``kbdb.knowledge``.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec


class Encoded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bytes that are not UTF-8 text, in base64."""

    base64: bytes


class Params(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Parameters of a method that reads."""


class WriteParams(Params, frozen=True, kw_only=True):
    """Parameters of a method that writes.

    Attributes:
        deadline_ms: how long the request may wait for its turn.
        progress: whether to tell how far it is.
    """

    deadline_ms: Annotated[int, msgspec.Meta(ge=0, le=86_400_000)] = 60_000
    progress: bool = False


class EmbeddedParams(WriteParams, frozen=True, kw_only=True):
    """Parameters of a method that stores sections.

    Attributes:
        wait_embeddings: whether to answer only once their vectors are made.
    """

    wait_embeddings: bool = False


class Nothing(Params, frozen=True):
    """No parameters."""


class Hello(Params, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """Who connects: its version of kbdb, the newest format it reads, the id of the database it means or ``""``.

    A newer client may tell more of itself.
    """

    version: str
    format: int = 0
    database: str = ""


class Search(Params, frozen=True, kw_only=True):
    query: str
    mode: str | None = None
    limit: int | None = None
    offset: int = 0
    content: bool = False
    explain: bool = False
    tags: tuple[str, ...] = ()
    type: str | None = None
    section_type: str | None = None
    docid: str | None = None


class Similar(Params, frozen=True, kw_only=True):
    kbid: str
    limit: int = 10


class Recall(Params, frozen=True, kw_only=True):
    kbid: str | None = None
    kbids: tuple[str, ...] | None = None
    depth: int | None = None
    max_tokens: int | None = None
    format: Literal["full", "compact"] = "full"


class SectionOrDocument(Params, frozen=True, kw_only=True):
    """One of both."""

    kbid: str | None = None
    docid: str | None = None


class Retrieve(SectionOrDocument, frozen=True, kw_only=True):
    """All of it, or a part."""

    lines: str | None = None
    max_bytes: int | None = None


class ReadSections(Params, frozen=True, kw_only=True):
    kbids: tuple[str, ...]


class RetrieveDocument(Params, frozen=True, kw_only=True):
    docid: str


class ListByType(Params, frozen=True, kw_only=True):
    section_type: str


class ListDocumentsByType(Params, frozen=True, kw_only=True):
    """A media type, or what the document's sections are for."""

    doc_type: str


class List(Params, frozen=True, kw_only=True):
    what: Literal["documents", "sections"] = "documents"
    state: str | None = None
    tags: tuple[str, ...] = ()
    type: str | None = None
    section_type: str | None = None
    docid: str | None = None
    limit: int = 50
    offset: int = 0


class Documents(Params, frozen=True, kw_only=True):
    """A page, past a docid."""

    after: str = ""
    limit: int = 50


class Complete(Params, frozen=True, kw_only=True):
    what: Literal["docid", "kbid", "tag"]
    prefix: str
    limit: int = 100


class Learn(EmbeddedParams, frozen=True, kw_only=True):
    """Files and folders by absolute paths, or a text."""

    paths: tuple[str, ...] | None = None
    content: str | Encoded | None = None
    title: str | None = None
    type: str | None = None
    section_type: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    docid: str | None = None
    replace: bool = False
    supersedes: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    prune: bool = False
    who: str = "user"


class AddSection(EmbeddedParams, frozen=True, kw_only=True):
    content: str | Encoded
    type: str | None = None
    title: str | None = None
    description: str | None = None
    docid: str | None = None
    tags: tuple[str, ...] = ()
    section_type: str | None = None
    who: str = "user"


class UpdateSection(WriteParams, frozen=True, kw_only=True):
    kbid: str
    title: str | None = None
    content: str | Encoded | None = None
    description: str | None = None
    tags: tuple[str, ...] | None = None
    who: str = "user"


class RemoveSection(WriteParams, frozen=True, kw_only=True):
    kbid: str | None = None
    docid: str | None = None
    reason: str = ""
    who: str = "user"


class Restore(WriteParams, frozen=True, kw_only=True):
    kbid: str | None = None
    docid: str | None = None
    who: str = "user"


class GroupSections(WriteParams, frozen=True, kw_only=True):
    kbids: tuple[str, ...]
    title: str
    docid: str | None = None
    description: str = ""
    tags: tuple[str, ...] = ()
    who: str = "user"


class RemoveGrouping(WriteParams, frozen=True, kw_only=True):
    docid: str
    who: str = "user"


class Check(WriteParams, frozen=True, kw_only=True):
    duplicates: bool = False
    threshold: float | None = None


class Gc(WriteParams, frozen=True, kw_only=True):
    dry_run: bool = False
    keep_days: int | None = None


class WriteNothing(WriteParams, frozen=True):
    """Nothing but what every method that writes takes."""


class Transfer(WriteParams, frozen=True, kw_only=True):
    """The absolute path of an export."""

    path: str


class Argument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be known of an argument of a skill."""

    name: str
    type: Literal["string", "number", "boolean"] = "string"
    description: str = ""
    required: bool = True


class AddSkill(WriteParams, frozen=True, kw_only=True):
    name: str
    body: str | Encoded
    description: str | None = None
    arguments: tuple[Argument, ...] = ()
    tags: tuple[str, ...] = ()
    who: str = "user"


class AddAgent(WriteParams, frozen=True, kw_only=True):
    name: str
    persona: str | Encoded
    description: str | None = None
    skills: tuple[str, ...] | None = None
    who: str = "user"


class ByName(Params, frozen=True, kw_only=True):
    """A skill or an agent; with values its prompt is made, too."""

    name: str
    values: dict[str, str | int | float | bool] | None = None


class RemoveByName(WriteParams, frozen=True, kw_only=True):
    name: str
    reason: str = ""
    who: str = "user"
