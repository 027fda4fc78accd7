"""The numbers of errors are those of the specification."""

from __future__ import annotations

from kbdb.mcp import codes


def test_the_numbers_are_those_of_the_specification() -> None:
    named = {name: value for name, value in vars(codes).items() if name.isupper()}
    assert named == {
        "PARSE_ERROR": -32700,
        "INVALID_REQUEST": -32600,
        "METHOD_NOT_FOUND": -32601,
        "INVALID_PARAMS": -32602,
        "INTERNAL_ERROR": -32603,
        "RESOURCE_NOT_FOUND": -32002,
        "NOT_INITIALIZED": -32002,
        "HEADER_MISMATCH": -32020,
        "MISSING_REQUIRED_CLIENT_CAPABILITY": -32021,
        "UNSUPPORTED_PROTOCOL_VERSION": -32022,
    }
