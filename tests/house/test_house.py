"""The house: imports by the table, lines by the budget, no habits that made it grow."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent.parent
SRC = ROOT / "src" / "gpuwhy"
HOUSE = tomllib.loads((Path(__file__).parent / "house.toml").read_text(encoding="utf-8"))
EVERYBODY = {"", "facts", "_version"}
DOORS = {"cli", "mcp", "api", "__init__", "__main__", "guard", "pytest_plugin"}

THIRD_PARTY = {"msgspec", "packaging", "yaml", "tomli", "ahocorasick_rs"}
THIRD_PARTY_ALLOWED = {
    ("pytest_plugin.py", "pytest"),  # it is pytest that loads it
    ("formats/compress.py", "compression"),  # Python 3.14's own; older ones are told so
    ("fleet/ray_cluster.py", "ray"),  # an extra: `fleet --ray`
}
CHILDREN = ("machine/children/",)
"""Scripts that run in other Pythons: the standard library, each other, NVML's binding."""

NETWORK = {"socket", "urllib", "http", "ssl", "ftplib", "smtplib", "asyncio", "xmlrpc"}
WORLD = {"os", "subprocess", "ctypes", "glob", "shutil", "tempfile", "resource", "platform", "mmap"}
WORLDLY = {"machine", "run", "fix", "cli", "api", "__main__"}
PRINTS = {"print", "input", "exit", "quit", "sys.exit", "os._exit", "sys.stdout.write"}
PRINTERS = ("cli/", "api/", "mcp/", "machine/children/", "__main__.py")


class Import(NamedTuple):
    file: str
    line: int
    module: str

    @property
    def folder(self) -> str:
        return self.file.split("/")[0].removesuffix(".py")

    @property
    def top(self) -> str:
        return self.module.split(".")[0]

    @property
    def within(self) -> str:
        """The folder of gpuwhy that is imported; "" for gpuwhy itself and for others."""
        return [*self.module.split("."), ""][1] if self.top == "gpuwhy" else ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


@cache
def sources() -> dict[str, str]:
    files = sorted(SRC.rglob("*.py"))
    return {file.relative_to(SRC).as_posix(): file.read_text(encoding="utf-8") for file in files}


@cache
def trees() -> dict[str, ast.Module]:
    return {name: ast.parse(text) for name, text in sources().items()}


@cache
def imports() -> tuple[Import, ...]:
    found = []
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found += [Import(name, node.lineno, one.name) for one in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                whole = node.module == "gpuwhy"
                names = [f"gpuwhy.{one.name}" for one in node.names] if whole else [node.module]
                found += [Import(name, node.lineno, one) for one in names]
    return tuple(found)


def folder_of(name: str) -> str:
    return name.split("/")[0] if "/" in name else "(top)"


def lines() -> Counter[str]:
    count: Counter[str] = Counter()
    for name, text in sources().items():
        count[folder_of(name)] += text.count("\n")
    return count


def test_the_walker_sees_lazy_and_from_imports():
    assert any(one.file.startswith("cli/") and one.within for one in imports())
    assert len(imports()) > 500


def test_every_folder_has_a_place():
    known = set(HOUSE["lines"])
    assert {folder_of(name) for name in sources()} <= known


def test_folders_import_only_what_the_table_allows():
    wrong = [
        str(one)
        for one in imports()
        if one.folder not in DOORS
        and one.within not in EVERYBODY
        and one.within != one.folder
        and one.within not in HOUSE["imports"].get(one.folder, ())
    ]
    assert wrong == []


def test_no_permission_is_idle():
    used = {(one.folder, one.within) for one in imports()}
    allowed = {(a, b) for a, several in HOUSE["imports"].items() for b in several}
    assert allowed - used == set()


def test_lines_are_within_the_budget():
    count = lines()
    over = {name: count[name] for name, most in HOUSE["lines"].items() if count[name] > most}
    assert over == {}, "subtract first: a new case is a data row"


def test_no_long_lines_and_no_formatting_switched_off():
    wrong = [
        f"{name}:{number}"
        for name, text in sources().items()
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > HOUSE["limits"]["columns"] or re.search(r"# fmt: (?:skip|off)", line)
    ]
    assert wrong == []


def test_dependencies_are_the_declared_ones():
    wrong = [
        str(one)
        for one in imports()
        if one.top not in {"gpuwhy", *sys.stdlib_module_names, *THIRD_PARTY}
        and not one.file.startswith(CHILDREN)
        and (one.file, one.top) not in THIRD_PARTY_ALLOWED
    ]
    assert wrong == []


def test_nothing_leaves_the_machine():
    wrong = [str(one) for one in imports() if one.top in NETWORK]
    assert wrong == []


def test_only_the_machine_reads_the_world():
    """New folders: files, processes and the environment are asked through gpuwhy.machine."""
    wrong = [str(one) for one in imports() if one.top in WORLD and one.folder not in WORLDLY]
    assert wrong == []


def test_only_doors_print():
    wrong = [
        f"{name}:{node.lineno} calls {ast.unparse(node.func)}"
        for name, tree in trees().items()
        if not name.startswith(PRINTERS)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in PRINTS
    ]
    assert wrong == []


@pytest.mark.parametrize("module", ["gpuwhy", "gpuwhy.facts.fact"])
def test_importing_the_package_loads_little(module):
    code = f"import sys, {module}; print(sum(one.startswith('gpuwhy') for one in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 8


# ---------------------------------------------------------------- the page that describes it

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_folder_and_noun_of_the_page_exists():
    assert set(re.findall(r"`([a-z]+)/`", PAGE)) >= {folder_of(n) for n in sources() if "/" in n}
    nouns = PAGE[PAGE.index("## Nouns") : PAGE.index("## To change")]
    lost = []
    for names, homes in re.findall(r"^\| ([A-Z][^|]*) \| ([^|]+) \|", nouns, flags=re.MULTILINE):
        files = [f"{one}.py" for one in re.findall(r"[a-z_]+/[a-z_]+", homes)]
        text = "\n".join(sources().get(file, "") for file in files)
        assert all(file in sources() for file in files), f"{names}: {homes}"
        named = re.findall(r"\b[A-Z]\w+", names) if files else []
        lost += [one for one in named if not re.search(rf"^(?:class )?{one}\b", text, re.MULTILINE)]
    assert lost == []


def test_every_file_to_edit_exists():
    files = re.findall(r"`([\w/]+\.(?:py|toml|jsonl?))`", PAGE[PAGE.index("## To change") :])
    homes = (SRC, SRC / "knowledge" / "data", ROOT)
    assert [one for one in files if not any((home / one).exists() for home in homes)] == []
