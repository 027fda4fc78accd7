"""Reading callgrind's output: costs belong to the function named last, and those of callees are not counted twice."""

from __future__ import annotations

from bench.speed.callgrind import by_object, less, parse

OUTPUT = """\
version: 1
events: Ir
ob=(1) /lib/engine.so
fl=(1) search.c
fn=(1) search
12 100
+3 20
cob=(2) /lib/libc.so.6
cfn=(2) memcpy
calls=2 40
13 5000
* 7

ob=(2)
fn=(2)
40 2500
fn=(3) memset'2
-1 4
ob=(1)
fn=(1)
20 1
totals: 2632
"""


def test_costs_are_summed_by_object_and_function() -> None:
    assert parse(OUTPUT.splitlines(keepends=True)) == {
        ("/lib/engine.so", "search"): 128,
        ("/lib/libc.so.6", "memcpy"): 2500,
        ("/lib/libc.so.6", "memset'2"): 4,
    }


def test_costs_are_summed_by_the_name_of_the_object() -> None:
    assert by_object(parse(OUTPUT.splitlines(keepends=True))) == {"engine.so": 128, "libc.so.6": 2504}


def test_what_the_setup_executes_is_taken_off() -> None:
    counts = parse(OUTPUT.splitlines(keepends=True))
    setup = parse(["ob=(1) /lib/engine.so\n", "fn=(1) search\n", "1 28\n", "fn=(4) open\n", "1 9\n"])
    assert less(counts, setup)["/lib/engine.so", "search"] == 100
    assert ("/lib/engine.so", "open") not in less(counts, setup)
