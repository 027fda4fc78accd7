"""Tests of one daemon."""

from daemon_fixtures import daemon, root, runtime

__all__ = ["daemon", "root", "runtime"]
