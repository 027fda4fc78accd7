"""The shape of the tree: who imports whom (kbdb/README.md), what is loaded at the start, what each folder explains."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "kbdb"

GROUND = {"model", "errors", "config", "paths", "platform", "plan", "checks", "normalise", "languages", "stop_words"}
GROUND |= {"unicode_data", "progress", "lines", "graphemes", "sentences", "builtin"}
BELOW: dict[str, set[str]] = {
    "cli": {"mcp", "client", "daemon", "knowledge", "ingest", "embed", "query", "store", "index", "setup"},
    "mcp": {"client"},
    "daemon": {"rpc", "knowledge", "ingest"},
    "client": {"rpc"},
    "rpc": set(),
    "setup": set(),
    "knowledge": {"ingest", "embed", "query", "store", "index"},
    "ingest": set(),
    "embed": set(),
    "query": {"index"},
    "store": {"index"},
    "index": {"_engine", "reference"},
    "_engine": set(),
    "reference": set(),
    "checks": set(),
}
"""For each layer, which others it may import, at the top or inside a function; the ground is open to all."""

GROUND_BELOW: dict[str, set[str]] = {
    "errors": set(),
    "model": set(),
    "builtin": set(),
    "progress": set(),
    "graphemes": set(),
    "sentences": set(),
    "plan": {"errors"},
    "unicode_data": set(),
    "stop_words": set(),
    "languages": {"stop_words", "unicode_data", "errors"},
    "normalise": {"unicode_data"},
    "platform": {"errors"},
    "lines": {"errors"},
    "paths": {"errors", "platform"},
    "checks": {"errors", "plan"},
    "config": {"errors", "languages", "plan", "paths", "model"},
}
"""The ground has an order, too."""

LIGHT = {"numpy", "typer", "rich", "asyncio", "httpx", "yaml", "regex", "subprocess", "socket", "tomllib", "inspect"}
SOURCES = [
    path for path in ROOT.glob("*/**/*") if path.suffix in {".py", ".pyx", ".pxd", ".pxi", ".pyi", ".c", ".h", ".md"}
]
OWN = {"kbdb", "reference", "csrc", "tests", "tools", "bench", "docs"}
GENERATED = {"csrc/unicode_classes.h", "reference/unicode_classes.py", "docs/cli.md"}


def modules() -> Iterator[tuple[str, Path]]:
    """Every Python module of the package, the reference under its installed name."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if "reference" not in path.relative_to(PACKAGE).parts:
            yield "kbdb." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts), path
    for path in sorted((ROOT / "reference").glob("*.py")):
        yield f"kbdb.reference.{path.stem}", path


@cache
def imported(path: Path) -> frozenset[str]:
    """What a module imports of kbdb, wherever in it and also only for its types."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide which layer is meant"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            found |= {str(argument.value) for argument in node.args[:1] if isinstance(argument, ast.Constant)}
    return frozenset(name for name in found if name.split(".")[0] == "kbdb")


def layer(module: str) -> str:
    """The folder, or the single file, a module of kbdb belongs to; empty for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in BELOW.keys() | GROUND else ""


@pytest.mark.parametrize(("module", "path"), [pytest.param(*one, id=one[0]) for one in modules()])
def test_imports_point_down(module: str, path: Path) -> None:
    own = layer(module)
    if not own:
        assert module in ("kbdb.__init__", "kbdb.__main__"), f"{module} has no layer; give it one in kbdb/README.md"
        return
    allowed = {own, ""} | (GROUND_BELOW[own] if own in GROUND_BELOW else BELOW[own] | GROUND)
    assert {name for name in imported(path) if layer(name) not in allowed} == set()


def test_only_the_index_layer_knows_that_there_are_two_engines() -> None:
    users = {layer(module) for module, path in modules() for name in imported(path) if layer(name) == "_engine"}
    users |= {layer(module) for module, path in modules() for name in imported(path) if layer(name) == "reference"}
    assert users <= {"index", "reference"}


def test_importing_kbdb_loads_nothing_heavy() -> None:
    script = "import sys; before = set(sys.modules); import kbdb; print(*sorted(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = {name for name in ran.stdout.split() if not name.startswith(("_editable", "__editable"))}
    assert {name.split(".")[0] for name in loaded} & LIGHT == set()
    assert {name for name in loaded if name.startswith("kbdb.")} == set()


@pytest.mark.parametrize("layer", ["rpc.messages", "client"])
def test_talking_to_a_daemon_loads_nothing_heavy(layer: str) -> None:
    script = f"import sys; before = set(sys.modules); import kbdb.{layer}; print(*sorted(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = set(ran.stdout.split())
    assert {name.split(".")[0] for name in loaded} & (LIGHT - {"socket"}) == set()
    assert loaded & {"kbdb.model", "kbdb.config", "kbdb.knowledge", "kbdb.daemon", "dataclasses"} == set()


def test_the_python_api_loads_no_command_line() -> None:
    script = "import sys; import kbdb.knowledge; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert {name.split(".")[0] for name in ran.stdout.split()} & {"typer", "rich", "numpy", "asyncio", "httpx"} == set()
    assert "kbdb.cli" not in ran.stdout.split()


FOLDERS = sorted(
    {path.parent for path in (ROOT / name for name in ["csrc/x", "reference/x", "tests/x", "tools/x", "bench/x"])}
    | {path for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    | {PACKAGE}
)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_folder_explains_itself(folder: Path) -> None:
    assert (folder / "README.md").read_text(encoding="utf-8").startswith("# ")


def sources() -> Iterator[Path]:
    for path in SOURCES:
        name = path.relative_to(ROOT).as_posix()
        if name.split("/")[0] in OWN and "kbdb/reference/" not in name and name not in GENERATED:
            yield path


def test_no_file_is_longer_than_600_lines() -> None:
    lengths = {path.relative_to(ROOT).as_posix(): path.read_bytes().count(b"\n") for path in sources()}
    assert {name: lines for name, lines in lengths.items() if lines > 600} == {}


def test_every_python_file_says_its_job_in_its_first_sentence() -> None:
    lacking = [
        path.relative_to(ROOT).as_posix()
        for path in sources()
        if path.suffix == ".py" and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert lacking == []
