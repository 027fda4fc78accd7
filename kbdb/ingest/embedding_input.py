"""The text of a section that a model of meaning gets to see: its title and its body. Pure."""

from __future__ import annotations

from kbdb.ingest.body import body_of
from kbdb.ingest.media import is_text
from kbdb.model.truth import Section


def embedding_input(section: Section, description: str = "") -> str:
    """Title, newline, body without its heading line; of content that is no text, title and description.

    The title comes first because it says what a section is about, and a model reads the beginning of a long one only.

    Args:
        section: what is stored.
        description: of its document, where the section opens it; counts where the content is no text.

    Returns:
        Empty for a section without words, which gets no vector.
    """
    text = section.content.decode() if is_text(section.type) else description
    body = body_of(text, section.title, section.type) if is_text(section.type) else text
    return "\n".join(part for part in (section.title, body) if part.strip())
