"""kbdb.daemon.methods: the one list of what a daemon answers."""

from __future__ import annotations

import pytest
from daemons import Daemon

from kbdb.client.methods import REPEATABLE
from kbdb.daemon.methods import METHODS, OWN, schemas

GIVEN = {"hello": {"version": "1"}}


@pytest.mark.parametrize("name", OWN)
def test_what_the_daemon_answers_for_itself_it_answers(name: str, daemon: Daemon) -> None:
    talk = daemon.talk()
    assert talk.ask(name, **GIVEN.get(name, {})) is not None


def test_every_method_has_a_schema_and_stands_in_one_list() -> None:
    assert METHODS.keys() & OWN.keys() == set()
    assert schemas().keys() == METHODS.keys() | OWN.keys()


def test_the_client_names_no_other_methods() -> None:
    assert schemas().keys() >= REPEATABLE
