"""Wheel, pure wheel and sdist hold what they should and nothing else, and a missing compiler is told plainly."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

pytestmark = pytest.mark.long

CHECKOUT = Path(__file__).resolve().parents[2]
LEFT_BEHIND = shutil.ignore_patterns(
    ".git",
    "build",
    "dist",
    "*.so",
    ".venv",
    "venv",
    "__pycache__",
    ".*_cache",
    ".hypothesis",
    ".benchmarks",
    "*.egg-info",
)


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout as a fresh clone would be."""
    pytest.importorskip("scikit_build_core")
    pytest.importorskip("Cython")
    if not (CHECKOUT / "CMakeLists.txt").exists():
        pytest.skip("the tests run outside of a checkout")
    copy = tmp_path_factory.mktemp("source") / "kbdb"
    shutil.copytree(CHECKOUT, copy, symlinks=True, ignore=LEFT_BEHIND)
    return copy


def run(*arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs this Python on arguments."""
    return subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def build_wheel(source: Path, out: Path, **environment: str) -> zipfile.ZipFile:
    """The wheel made from a source folder."""
    made = run(
        *("pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", out, source), cwd=out, **environment
    )
    assert made.returncode == 0, made.stderr
    (wheel,) = out.glob("*.whl")
    return zipfile.ZipFile(wheel)


@pytest.fixture(scope="session")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel with the compiled engine."""
    return build_wheel(source, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def pure_wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel without it."""
    return build_wheel(source, tmp_path_factory.mktemp("pure"), KBDB_PURE="1")


@pytest.fixture(scope="session")
def sdist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> tarfile.TarFile:
    """The source distribution."""
    pytest.importorskip("build")
    out = tmp_path_factory.mktemp("sdist")
    made = run("build", "--sdist", "--no-isolation", "--outdir", out, source, cwd=out)
    assert made.returncode == 0, made.stderr
    (archive,) = out.glob("*.tar.gz")
    return tarfile.open(archive)


def packaged(archive: zipfile.ZipFile) -> set[str]:
    """A wheel's files, without its metadata."""
    return {name for name in archive.namelist() if ".dist-info/" not in name}


def modules(source: Path) -> set[str]:
    """The Python files that belong in a wheel, the skills and the vocabulary that come with kbdb."""
    built_in = (source / "kbdb" / "builtin").glob("[a-z]*.md")
    vocabulary = (source / "kbdb" / "embed" / "minilm").iterdir()
    own = {path.relative_to(source).as_posix() for path in (*(source / "kbdb").rglob("*.py"), *built_in, *vocabulary)}
    own = {name for name in own if not name.startswith("kbdb/reference/")}
    return own | {
        f"kbdb/reference/{path.relative_to(source / 'reference')}" for path in (source / "reference").rglob("*.py")
    }


def test_the_wheel_holds_the_package_the_reference_once_and_the_engine(source: Path, wheel: zipfile.ZipFile) -> None:
    files = packaged(wheel)
    engines = {name for name in files if PurePosixPath(name).suffix in {".so", ".pyd"}}
    assert len(engines) == 1
    assert next(iter(engines)).startswith("kbdb/_engine.")
    assert files - engines == modules(source) | {"kbdb/py.typed", "kbdb/_engine.pyi"}
    assert len(wheel.namelist()) == len(set(wheel.namelist()))


def test_the_wheel_names_the_command_and_brings_the_licence(wheel: zipfile.ZipFile) -> None:
    metadata = {PurePosixPath(name).name: name for name in wheel.namelist() if ".dist-info/" in name}
    assert b"kbdb = kbdb.__main__:main" in wheel.read(metadata["entry_points.txt"]).replace(b"=", b" = ").replace(
        b"  ", b" "
    )
    assert b"Apache License" in wheel.read(metadata["LICENSE"])
    assert b"License-Expression: Apache-2.0" in wheel.read(metadata["METADATA"])


def test_the_pure_wheel_is_for_every_machine(source: Path, pure_wheel: zipfile.ZipFile) -> None:
    assert str(pure_wheel.filename).endswith("-py3-none-any.whl")
    assert packaged(pure_wheel) == modules(source) | {"kbdb/py.typed"}


def test_the_sdist_builds_and_tests_and_has_nothing_else(sdist: tarfile.TarFile) -> None:
    members = sdist.getmembers()
    names = {"/".join(PurePosixPath(member.name).parts[1:]) for member in members}
    assert all(member.isfile() for member in members)
    assert {PurePosixPath(name).parts[0] for name in names} == {
        *("CMakeLists.txt", "LICENSE", "PKG-INFO", "README.md", "csrc", "docs", "kbdb", "pyproject.toml", "reference"),
        *("tests", "tools"),
    }
    assert not [name for name in names if name.startswith("kbdb/reference/")]
    assert not [name for name in names if PurePosixPath(name).suffix in {".so", ".o", ".a", ".pyc"}]
    for needed in ("csrc/search.c", "csrc/README.md", "kbdb/_engine.pyx", "reference/search.py", "tests/conftest.py"):
        assert needed in names


def test_the_sdist_makes_the_same_wheel(sdist: tarfile.TarFile, wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    sdist.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    out = tmp_path / "wheel"
    out.mkdir()
    assert packaged(build_wheel(unpacked, out)) == packaged(wheel)


def test_a_missing_compiler_fails_the_install_and_says_what_to_do(source: Path, tmp_path: Path) -> None:
    made = run(
        *("pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", tmp_path, source),
        cwd=tmp_path,
        CC=str(tmp_path / "no-such-compiler"),
    )
    said = " ".join((made.stdout + made.stderr).split())
    assert made.returncode != 0
    assert "no C compiler was found" in said
    assert "KBDB_PURE=1" in said


def test_the_version_stands_in_one_place(source: Path) -> None:
    lines = (source / "kbdb" / "__init__.py").read_text(encoding="utf-8").splitlines()
    version = next(line.split('"')[1] for line in lines if line.startswith("__version__"))
    named = [
        path.relative_to(source).as_posix()
        for folder in ("kbdb", "reference", "csrc")
        for path in (source / folder).rglob("*")
        if path.suffix in {".py", ".pyx", ".c", ".h"} and f'"{version}"' in path.read_text(encoding="utf-8")
    ]
    assert named == ["kbdb/__init__.py"]
    assert f'"{version}"' not in (source / "pyproject.toml").read_text(encoding="utf-8")
