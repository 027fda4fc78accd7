"""The registry that the conformance suite of the protocol expects: tools, resources and prompts by the names it calls.

It stands behind the real protocol and transport, and behind the tests of both.
"""

from __future__ import annotations

import base64
import struct
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kbdb.mcp.registry import Context, InvalidParamsError, Page, Registry, ResourceNotFoundError

PAUSE_S = 0.05
"""The suite wants to see several messages of one call, one after another."""


def _png() -> str:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\0\xff\0\0")
    whole = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")
    return base64.b64encode(whole).decode()


def _wav() -> str:
    """Two silent samples."""
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    data = struct.pack("<4sI", b"data", 2) + b"\x80\x80"
    whole = b"RIFF" + struct.pack("<I", 4 + len(fmt) + len(data)) + b"WAVE" + fmt + data
    return base64.b64encode(whole).decode()


PNG, WAV = _png(), _wav()


def text(words: str) -> dict[str, Any]:
    """A content of text."""
    return {"type": "text", "text": words}


def said(*contents: Any) -> dict[str, Any]:
    """A tool's result."""
    return {"content": [text(one) if isinstance(one, str) else one for one in contents]}


IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}


def embedded(uri: str, mime: str, words: str) -> dict[str, Any]:
    """A content that holds a resource."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": words}}


def elicitation(message: str, properties: dict[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    """A question to the user."""
    schema = {"type": "object", "properties": properties, "required": [*required]}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def sampling(words: str, tokens: int = 100) -> dict[str, Any]:
    """A question to the model."""
    messages = [{"role": "user", "content": text(words)}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": tokens}}


ROOTS = {"method": "roots/list", "params": {}}
NAME = elicitation("What is your name?", {"name": {"type": "string"}}, ["name"])
CONFIRM = elicitation("Please confirm", {"ok": {"type": "boolean"}}, ["ok"])


def _logging(_arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        context.log("info", words)
        time.sleep(PAUSE_S)
    return said("Tool with logging executed successfully")


def _progress(_arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    for done in (0, 50, 100):
        context.progress(done, 100, f"Completed step {done} of 100")
        time.sleep(PAUSE_S)
    return said("done")


def _sampling(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    answer = context.ask({"answer": sampling(arguments["prompt"])})["answer"]
    return said(f"LLM response: {answer['content']['text']}")


def _elicitation(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    properties = {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    }
    answer = context.ask({"user": elicitation(arguments["message"], properties, [*properties])})["user"]
    return said(f"User response: action={answer['action']}, content={answer.get('content')}")


def _asks(requests: Mapping[str, dict[str, Any]]) -> Callable[[Mapping[str, Any], Context], dict[str, Any]]:
    def handle(_arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        return said(f"state-ok {dict(context.ask(requests))}")

    return handle


def _rounds(_arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    first = elicitation("Step 1: What is your name?", {"name": {"type": "string"}}, ["name"])
    name = context.ask({"step1": first})["step1"]["content"]["name"]
    second = elicitation("Step 2: What is your favorite color?", {"color": {"type": "string"}}, ["color"])
    color = context.ask({"step2": second})["step2"]["content"]["color"]
    return said(f"{name} likes {color}")


def _capabilities(_arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    wanted = {"question": sampling("Say hello"), "name": NAME, "roots": ROOTS}
    offered = {name: one for name, one in wanted.items() if context.can_ask(one["method"])}
    return said(f"asked for {sorted(context.ask(offered))}")


def _changes(change: Any) -> Callable[[Mapping[str, Any], Context], dict[str, Any]]:
    def handle(_arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
        context.announce(change, "test://watched-resource" if change == "resource" else None)
        return said("changed")

    return handle


def _slow(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Runs until it is cancelled, or for as long as it is told."""
    until = time.monotonic() + arguments.get("seconds", 60)
    while not context.cancelled and time.monotonic() < until:
        time.sleep(0.005)
        context.progress(time.monotonic(), None, "still at it")
    return said("slept")


def _break(_arguments: Mapping[str, Any], _context: Context) -> dict[str, Any]:
    raise KeyError("a secret of the server's own")


def _print(_arguments: Mapping[str, Any], _context: Context) -> dict[str, Any]:
    print("a stray print", flush=True)
    return said(f"read {sys.stdin.read()!r}")


TEXT_IN = {"type": "object", "properties": {"prompt": {"type": "string"}, "message": {"type": "string"}}}
NOTHING_IN: dict[str, Any] = {"type": "object", "properties": {}}

SCHEMA_2020 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

DEFAULTS = elicitation(
    "Please fill this in",
    {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
)
OPTIONS = ["option1", "option2", "option3"]
TITLED = [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]
ENUMS = elicitation(
    "Please choose",
    {
        "untitledSingle": {"type": "string", "enum": OPTIONS},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
)

Handler = Callable[[Mapping[str, Any], Context], dict[str, Any]]

TOOLS: dict[str, Handler] = {
    "test_simple_text": lambda _a, _c: said("This is a simple text response for testing."),
    "test_image_content": lambda _a, _c: said(IMAGE),
    "test_audio_content": lambda _a, _c: said({"type": "audio", "data": WAV, "mimeType": "audio/wav"}),
    "test_embedded_resource": lambda _a, _c: said(
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": lambda _a, _c: said(
        "Multiple content types test:",
        IMAGE,
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
    "test_error_handling": lambda _a, _c: {
        **said("This tool intentionally returns an error for testing"),
        "isError": True,
    },
    "test_tool_with_logging": _logging,
    "test_logging_tool": _logging,
    "test_tool_with_progress": _progress,
    "test_sampling": _sampling,
    "test_missing_capability": _asks({"answer": sampling("Anything")}),
    "test_elicitation": _elicitation,
    "test_elicitation_sep1034_defaults": _asks({"user": DEFAULTS}),
    "test_elicitation_sep1330_enums": _asks({"user": ENUMS}),
    "test_streaming_elicitation": _asks({"user": CONFIRM}),
    "test_input_required_result_elicitation": _asks({"user_name": NAME}),
    "test_input_required_result_sampling": _asks({"capital_question": sampling("What is the capital of France?")}),
    "test_input_required_result_list_roots": _asks({"client_roots": ROOTS}),
    "test_input_required_result_request_state": _asks({"confirm": CONFIRM}),
    "test_input_required_result_multiple_inputs": _asks(
        {"user_name": NAME, "greeting": sampling("Generate a greeting", 50), "client_roots": ROOTS}
    ),
    "test_input_required_result_multi_round": _rounds,
    "test_input_required_result_tampered_state": _asks({"confirm": CONFIRM}),
    "test_input_required_result_capabilities": _capabilities,
    "test_trigger_tool_change": _changes("tools"),
    "test_trigger_prompt_change": _changes("prompts"),
    "test_trigger_resource_change": _changes("resource"),
    "json_schema_2020_12_tool": lambda _a, _c: said("valid"),
    "slow": _slow,
    "broken": _break,
    "printing": _print,
}


def _definition(name: str) -> Any:
    schema = SCHEMA_2020 if name == "json_schema_2020_12_tool" else NOTHING_IN
    if name in ("test_sampling", "test_elicitation"):
        schema = {**TEXT_IN, "required": ["prompt" if name == "test_sampling" else "message"]}
    if name == "slow":
        schema = {"type": "object", "properties": {"seconds": {"type": "number"}}}
    title = name.replace("_", " ").capitalize()
    hints = {"readOnlyHint": True, "openWorldHint": False}
    return {"name": name, "title": title, "description": title, "inputSchema": schema, "annotations": hints}


STATIC = {
    "test://static-text": ("text/plain", {"text": "This is the content of the static text resource."}),
    "test://static-binary": ("image/png", {"blob": PNG}),
    "test://watched-resource": ("text/plain", {"text": "Watched resource content"}),
}
TEMPLATE = "test://template/{id}/data"

PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


def messages(*contents: Any) -> dict[str, Any]:
    """A prompt's result."""
    return {"messages": [{"role": "user", "content": text(one) if isinstance(one, str) else one} for one in contents]}


class FixtureRegistry(Registry):
    """What the suite calls, and a few tools of the other tests."""

    instructions = "Fixtures: for tests alone."
    announces = ("tools", "prompts", "resource")

    def tools(self) -> Any:
        return [_definition(name) for name in TOOLS]

    def call_tool(self, name: str, arguments: Any, context: Context) -> Any:
        if name not in TOOLS:
            raise InvalidParamsError(f"no tool {name!r}")
        return TOOLS[name](arguments, context)

    def resources(self, cursor: str | None) -> Page[Any]:
        uris = [*STATIC]
        if cursor not in (None, "2"):
            raise InvalidParamsError(f"the cursor {cursor!r} is none of this server's")
        shown, next_cursor = (uris[2:], None) if cursor else (uris[:2], "2")
        return Page([{"uri": uri, "name": uri[7:], "mimeType": STATIC[uri][0]} for uri in shown], next_cursor)

    def resource_templates(self) -> Any:
        return [{"uriTemplate": TEMPLATE, "name": "data", "description": "Data", "mimeType": "application/json"}]

    def read_resource(self, uri: str, context: Context) -> Any:  # noqa: ARG002
        if uri in STATIC:
            mime, content = STATIC[uri]
            return {"contents": [{"uri": uri, "mimeType": mime, **content}]}
        before, after = TEMPLATE.split("{id}")
        if uri.startswith(before) and uri.endswith(after):
            id = uri[len(before) : -len(after)]
            words = f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'
            return {"contents": [{"uri": uri, "mimeType": "application/json", "text": words}]}
        raise ResourceNotFoundError(f"no resource {uri}")

    def prompts(self, cursor: str | None) -> Page[Any]:
        if cursor is not None:
            raise InvalidParamsError(f"the cursor {cursor!r} is none of this server's")
        return Page(
            [
                {"name": name, "description": name, "arguments": [{"name": one, "required": True} for one in arguments]}
                for name, arguments in PROMPTS.items()
            ]
        )

    def get_prompt(self, name: str, arguments: Mapping[str, str], context: Context) -> Any:
        if name not in PROMPTS:
            raise InvalidParamsError(f"no prompt {name!r}")
        missing = [one for one in PROMPTS[name] if one not in arguments]
        if missing:
            raise InvalidParamsError(f"the prompt takes {', '.join(missing)}")
        if name == "test_prompt_with_arguments":
            return messages(f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'")
        if name == "test_prompt_with_embedded_resource":
            resource = embedded(arguments["resourceUri"], "text/plain", "Embedded resource content for testing.")
            return messages(resource, "Please process the embedded resource above.")
        if name == "test_prompt_with_image":
            return messages(IMAGE, "Please analyze the image above.")
        if name == "test_input_required_result_prompt":
            question = elicitation("What context should the prompt use?", {"context": {"type": "string"}}, ["context"])
            return messages(str(context.ask({"user_context": question})["user_context"]))
        return messages("This is a simple prompt for testing.")

    def complete(self, ref: Any, argument: str, typed: str, arguments: Mapping[str, str]) -> Any:
        known = "".join(f"{name}={value} " for name, value in arguments.items())
        values = [f"{typed}{number} {known}{ref['type']} {argument}" for number in range(150)]
        return {"values": values, "total": len(values)}


if __name__ == "__main__":
    from kbdb.mcp.stdio import serve

    sys.exit(serve(FixtureRegistry()))
