"""Cursors of pages: what a page needs to go on, as text that clients hand back unread."""

from __future__ import annotations


def written(text: str) -> str:
    """The cursor that holds a text."""
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(text.encode()).decode()


def read(cursor: str) -> str:
    """What a cursor holds.

    Raises:
        ValueError: it is none.
    """
    from base64 import b64decode

    return b64decode(cursor.encode(), b"-_", validate=True).decode()
