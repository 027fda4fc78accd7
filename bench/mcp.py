"""How soon `kbdb mcp` answers, and how many searches a second go through it, beside their bars.

``python -m bench.mcp DIR [--queries FILE]``: DIR holds a database; FILE one query a line.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any

STARTS = 31
IN_FLIGHT, WARM_UP, CALLS = 8, 300, 2_000
START_MS, START_RATIO, CALLS_PER_S = 50.0, 3.0, 2_000.0
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
FIRST: dict[str, dict[str, Any]] = {
    "initialize": HELLO,
    "server/discover": {"_meta": MODERN},
    "tools/list": {"_meta": MODERN},
}
QUERIES = ("database migration", "how to restore a table", "error handling", "what we decided", "install package")


def main(arguments: list[str]) -> int:
    """Measures and prints; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.mcp", description=__doc__)
    parser.add_argument("database", type=Path, help="the folder that holds .kbdb")
    parser.add_argument("--queries", type=Path, help="a file with one query a line")
    parsed = parser.parse_args(arguments)
    queries = parsed.queries.read_text(encoding="utf-8").splitlines() if parsed.queries else list(QUERIES)
    command = [sys.executable, "-m", "kbdb", "mcp", "--db", str(parsed.database)]
    importing = statistics.median(_importing() for _ in range(STARTS))
    print(f"import json: {importing:.1f} ms")
    missed = False
    for method, params in FIRST.items():
        took = statistics.median(_first_reply(command, method, params) for _ in range(STARTS))
        missed |= took > START_MS or took > START_RATIO * importing
        print(f"{method}: {took:.1f} ms (≤ {START_MS:g}), {took / importing:.2f} x import json (≤ {START_RATIO:g})")
    rate = _searches_per_second(command, queries)
    missed |= rate < CALLS_PER_S
    print(f"search, {IN_FLIGHT} in flight: {rate:,.0f} calls/s (≥ {CALLS_PER_S:,.0f})")
    return int(missed)


def _importing() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import json"], check=True)
    return (time.perf_counter() - began) * 1000


def _first_reply(command: list[str], method: str, params: dict[str, Any]) -> float:
    """Milliseconds from the start of the process to its first answer."""
    began = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(_request(1, method, params))
        process.stdin.flush()
        _result(process.stdout)
        took = (time.perf_counter() - began) * 1000
        process.stdin.close()
    return took


def _searches_per_second(command: list[str], queries: list[str]) -> float:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sent = 0

        def send() -> None:
            nonlocal sent
            arguments = {"query": queries[sent % len(queries)]}
            assert process.stdin is not None
            process.stdin.write(
                _request(sent, "tools/call", {"name": "search", "arguments": arguments, "_meta": MODERN})
            )
            process.stdin.flush()
            sent += 1

        for _ in range(IN_FLIGHT):
            send()
        for _ in range(WARM_UP):
            _result(process.stdout)
            send()
        began = time.perf_counter()
        for _ in range(CALLS):
            _result(process.stdout)
            send()
        took = time.perf_counter() - began
        process.stdin.close()
    return CALLS / took


def _request(id: int, method: str, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"


def _result(answers: IO[bytes]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(answers.readline())
    result: dict[str, Any] = answer["result"]
    if result.get("isError"):
        raise SystemExit(f"kbdb mcp answers: {result['content'][0]['text']}")
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
