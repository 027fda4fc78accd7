"""kbdb.rpc.refusals: an error arrives as the error it was."""

from __future__ import annotations

import pytest

from kbdb import errors
from kbdb.errors import InvalidArgumentError, KbdbError, ProtocolError, SectionNotFoundError
from kbdb.rpc.codes import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, PARSE_ERROR, REFUSED
from kbdb.rpc.messages import Failure, decode, encode
from kbdb.rpc.refusals import error_in, failure_of

CLASSES = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, KbdbError)]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_an_error_arrives_with_class_message_and_hint(kind: type[KbdbError]) -> None:
    told = decode(encode(failure_of(3, kind("what is wrong: é", "what to do")))[:-1])
    assert isinstance(told, Failure)
    assert told.id == 3
    assert told.code == (INVALID_PARAMS if issubclass(kind, InvalidArgumentError) else REFUSED)
    error = error_in(told)
    assert type(error) is kind
    assert (error.code, error.message, error.hint) == (kind.code, "what is wrong: é", "what to do")


def test_no_two_classes_share_a_code() -> None:
    codes = [kind.code for kind in CLASSES]
    assert sorted(codes) == sorted(set(codes))


def test_a_code_of_a_later_version_is_told() -> None:
    data = {"code": "TOO_CLEVER", "message": "beyond me", "hint": "upgrade"}
    error = error_in(Failure(1, REFUSED, "beyond me", data))
    assert type(error) is KbdbError
    assert (error.message, error.hint) == ("beyond me (TOO_CLEVER)", "upgrade")


@pytest.mark.parametrize("data", [None, {}, {"code": 1, "message": [], "hint": None}, {"message": "x"}])
def test_a_failure_without_proper_data_is_told_by_its_number(data: dict[str, object] | None) -> None:
    assert isinstance(error_in(Failure(None, PARSE_ERROR, "not JSON", data)), ProtocolError)
    unknown = error_in(Failure(1, METHOD_NOT_FOUND, "no method 'x'", data))
    assert isinstance(unknown, ProtocolError)
    assert "another version" in unknown.hint
    assert error_in(Failure(1, INTERNAL_ERROR, "broken", data)).code == "INTERNAL"


def test_a_subclass_made_elsewhere_does_not_take_a_code_over() -> None:
    class Special(SectionNotFoundError):
        """As a library might make."""

    assert type(errors.error_of(Special.code, "x")) is SectionNotFoundError
