"""Start of the ``kbdb`` command: answers what needs no command line, and hands the rest to ``kbdb.cli``.

Kept light on purpose: nothing heavy is imported before it is known what is asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: the words after the program's name; those of the process when None.

    Returns:
        The exit code (``kbdb.cli.exits``).
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    _fill_closed_streams()
    try:
        if "--version" in words[:2] and set(words) <= {"--version", "--json"}:
            return _version(as_json="--json" in words)
        if words[:1] == ["mcp"]:
            from kbdb.mcp.command import parsed, serve

            if (options := parsed(words[1:])) is not None:
                return serve(options)
        from kbdb.cli.app import run

        return run(words)
    except KeyboardInterrupt:
        return INTERRUPTED


def _fill_closed_streams() -> None:
    """Puts the null device where the caller closed a standard stream, so that no file of ours takes its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _version(*, as_json: bool) -> int:
    from kbdb import __version__

    print(f'{{"version": "{__version__}"}}' if as_json else f"kbdb {__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
