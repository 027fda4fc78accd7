"""Start of the ``kbdb`` command: answers what needs no command line, and hands the rest to ``kbdb.cli``.

Kept light on purpose: nothing heavy is imported before it is known what is asked for.
"""

from __future__ import annotations

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
    try:
        if "--version" in words[:2] and set(words) <= {"--version", "--json"}:
            return _version(as_json="--json" in words)
        from kbdb.cli.app import run

        return run(words)
    except KeyboardInterrupt:
        return INTERRUPTED


def _version(*, as_json: bool) -> int:
    from kbdb import __version__

    print(f'{{"version": "{__version__}"}}' if as_json else f"kbdb {__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
