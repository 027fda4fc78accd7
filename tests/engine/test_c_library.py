"""The C unit tests (tests/c), built with sanitizers, and a short run of every fuzz target where there is clang."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

CHECKOUT = Path(__file__).resolve().parents[2]
FUZZ_SECONDS = 10


def configure(build: Path, *options: str) -> None:
    """Configures and builds the library without the Python module."""
    if shutil.which("cmake") is None or not (CHECKOUT / "CMakeLists.txt").exists():
        pytest.skip("needs cmake and a checkout")
    for command in (
        ["cmake", "-S", str(CHECKOUT), "-B", str(build), "-DKBDB_MODULE=OFF", "-DKBDB_SANITIZE=ON", *options],
        ["cmake", "--build", str(build)],
    ):
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stdout + made.stderr


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_c_unit_tests_pass_with_sanitizers(compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    configure(tmp_path, "-DKBDB_C_TESTS=ON", f"-DCMAKE_C_COMPILER={compiler}")
    ran = subprocess.run([tmp_path / "tests/c/kbdb_c_tests"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_no_fuzz_target_finds_anything_in_a_short_run(tmp_path: Path) -> None:
    if shutil.which("clang") is None:
        pytest.skip("libFuzzer comes with clang")
    configure(tmp_path / "build", "-DKBDB_FUZZ=ON", "-DCMAKE_C_COMPILER=clang", "-DCMAKE_BUILD_TYPE=RelWithDebInfo")
    targets = sorted((tmp_path / "build/csrc/fuzz").glob("fuzz_*"))
    assert len(targets) == 7
    for target in targets:
        ran = subprocess.run(
            [target, f"-max_total_time={FUZZ_SECONDS}"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr[-4000:]
