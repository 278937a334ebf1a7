"""The package as a whole: light to import, documented, small modules, children that old Pythons can read."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from gpuwhy import __version__

SRC = Path(__file__).parent.parent / "src" / "gpuwhy"
HEAVY = {"msgspec", "pynvml", "argparse", "json", "subprocess", "typing_extensions"}


def name_of(file: Path) -> str:
    return file.relative_to(SRC).as_posix()


def loaded_after(code: str) -> tuple[set[str], str]:
    """The modules a fresh Python holds after some code, and what the code printed."""
    after = "\nimport sys\nmods = ' '.join(sys.modules)\nprint('\\n@' + mods)"
    done = subprocess.run([sys.executable, "-c", code + after], capture_output=True, text=True, check=True)
    printed, _, names = done.stdout.rpartition("\n@")
    return set(names.split()), printed


def test_import_loads_nothing_heavy():
    names, _ = loaded_after("import gpuwhy")
    assert names & HEAVY == set()
    assert {n for n in names if n.startswith("gpuwhy")} == {"gpuwhy", "gpuwhy._version"}


def test_version_loads_nothing_heavy():
    asked = [sys.executable, "-I", "-X", "importtime", "-m", "gpuwhy", "--version"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"gpuwhy {__version__}"
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "gpuwhy" in names
    assert names & {"msgspec", "pynvml", "argparse"} == set()


@pytest.mark.parametrize("file", sorted((SRC / "machine" / "children").glob("*.py")), ids=name_of)
def test_children_parse_as_python_3_5(file):
    ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 5))


def test_package_is_typed_and_carries_its_pages():
    assert (SRC / "py.typed").is_file()
    assert list(SRC.glob("causes/*.md"))


def test_using_the_package_loads_what_it_needs():
    names, _ = loaded_after("import gpuwhy; gpuwhy.check")
    assert {"msgspec", "gpuwhy.api.python"} <= names
    assert "pynvml" not in names, "NVML is asked in a child process only"
