"""The import table of the design, enforced: which folder may import which, who may touch the world, who may print."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tools.density import MOST, functions

SRC = Path(__file__).parent.parent / "src" / "gpuwhy"

# folder (or top-level module) → the folders of gpuwhy it may import, besides itself and `_version`
MAY_IMPORT: dict[str, set[str]] = {
    "__init__": {"app", "fit", "guard", "inside"},  # lazily: test_package.py proves that `import gpuwhy` loads nothing
    "__main__": {"cli"},
    "_version": set(),
    "app": {
        "knowledge", "model", "host", "observe", "loader", "causes", "reason", "probe", "inspection", "logs", "shell",
    },
    "after": {"app", "logs", "model", "reason", "run", "settling"},  # what follows a watched run
    "logs": {"model", "symptoms", "causes", "reason", "knowledge", "shell", "spoken"},  # explain without the machine
    "fixing": {"app", "settling", "model", "reason", "repair"},  # what follows a diagnosis
    "settling": {"causes", "model", "plan", "reason", "shell"},  # exact releases for a fix
    "border": set(),
    "proving": {
        "after", "app", "causes", "host", "logs", "model", "prove", "repair", "run", "symptoms",
    },  # wires the experiments with what runs them
    "prove": {"knowledge", "model"},  # which experiment next, and what the outcomes prove; pure
    "cli": {
        "app", "logs", "after", "border", "fixing", "settling", "proving", "run", "render", "knowledge", "plan", "lint",
        "fitting", "fleet", "refit", "page", "ranks", "showing", "shell", "mcp",
    },
    "mcp": {"border", "model", "schemas"},  # asks the commands themselves, in processes of their own
    "schemas": set(),
    "page": {"border"},  # drawn from the plain values of the contracts
    "showing": {"model", "render", "page"},  # an answer in the forms that people look at
    "guard": {"inside"},
    "inside": {"app", "border", "logs", "render", "model", "showing"},  # app and logs only once there is an error
    "pytest_plugin": {"inside"},
    "model": set(),
    "formats": set(),
    "host": {"model", "formats", "border"},
    "observe": {"host", "model", "knowledge"},
    "loader": {"host", "formats", "model"},
    "inspection": {"host", "loader", "formats", "model"},
    "knowledge": {"model"},
    "symptoms": {"model", "knowledge", "causes"},  # the rooms' own messages
    "causes": {"model", "knowledge"},
    "plan": {"model", "knowledge"},
    "lint": {"model", "knowledge"},
    "ranks": {"logs", "model"},  # the logs of a job's processes: which failed first
    "fleet": {"host", "model", "border"},  # many nodes: what each says in a line, and who differs
    "reason": {"model"},
    "spoken": {"model", "knowledge"},  # plain words: the topic, its likely causes, how to go on
    "shell": {"model", "knowledge"},  # the gate for every printed command
    "probe": {"host", "model"},
    "render": {"model", "border"},
    "run": {"host", "model", "border"},
    "repair": {"host", "knowledge", "model"},  # the only part that changes anything
    "refit": {"fit", "fitting", "model"},  # an out-of-memory log that names its model
    "fitting": {"app", "fit", "model"},  # a model, the GPUs, the account
    "fit": {"formats", "border", "knowledge", "model"},  # headers, what a use takes, what would fit
}  # fmt: skip

THIRD_PARTY = {"msgspec", "packaging", "resolvelib", "yaml", "tomli"}
"""Besides the standard library; pynvml is imported by two of host/children alone."""

WORLD = {"os", "subprocess", "ctypes", "glob", "pathlib", "shutil", "tempfile", "resource", "platform", "mmap", "pwd"}
WORLDLY = ("border", "host", "run", "repair")
NETWORK = {"socket", "urllib", "http", "ssl", "ftplib", "smtplib", "asyncio", "xmlrpc", "socketserver", "requests"}

# Exceptions, each with its reason.
WORLD_ALLOWED = {
    ("cli", "os"): "the terminal, and the files the user names",
    ("__main__", "os"): "to start again in isolated mode",
    ("cli", "shutil"): "the terminal's width",
    ("cli", "platform"): "`--version --verbose`",
    ("inside", "os"): "its own process: variables that frameworks read, its number; a script's path; its own notes",
    ("inside", "ctypes"): "libraries that its own process has already loaded",
}
THIRD_PARTY_ALLOWED = {
    ("host/children/nvml.py", "pynvml"): "NVML is asked in a child process only",
    ("host/children/sampler.py", "pynvml"): "NVML is asked in a child process only",
    ("cli/run.py", "cairosvg"): "where it is installed, a plot can be a PNG; asked for before the program starts",
    ("formats/compress.py", "compression"): "the standard library of Python 3.14; older ones are told so",
    ("symptoms/scan.py", "hyperscan"): "an extra: the fast engine, with a fallback",
    ("pytest_plugin.py", "pytest"): "it is pytest that loads it",
    ("fleet/ray_cluster.py", "ray"): "an extra: `fleet --ray`, in a process of its own",
}


class Import(NamedTuple):
    file: str  # host/live.py
    line: int
    module: str  # gpuwhy.model.fact, or os

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


def modules() -> list[Path]:
    return sorted(SRC.rglob("*.py"))


def name_of(file: Path) -> str:
    return file.relative_to(SRC).as_posix()


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def imports_of(file: Path) -> list[Import]:
    out = []
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            out += [Import(name_of(file), node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: relative import"
            assert node.module
            # `from gpuwhy import app` imports gpuwhy.app
            names = [f"gpuwhy.{a.name}" for a in node.names] if node.module == "gpuwhy" else [node.module]
            out += [Import(name_of(file), node.lineno, name) for name in names]
    return out


@cache
def imports() -> tuple[Import, ...]:
    return tuple(one for file in modules() for one in imports_of(file))


def is_child(one: Import) -> bool:
    return one.file.startswith("host/children/")


def shown(wrong: list[Import]) -> list[str]:
    return [f"{one.file}:{one.line} imports {one.module}" for one in wrong]


def test_every_folder_has_its_line_in_the_table():
    folders = {name_of(file).split("/")[0].removesuffix(".py") for file in modules()}
    assert folders <= set(MAY_IMPORT), "a new folder gets its line in the design and here"


UPWARD = {("model/rich.py", "showing"), ("fit/__init__.py", "fitting")}
"""A notebook asks the answer itself how it looks; `gpuwhy.fit` is called; loaded then."""


def test_folders_import_only_what_the_table_allows():
    wrong = [
        one
        for one in imports()
        if one.within not in ("", "_version", one.folder)
        and one.within not in MAY_IMPORT[one.folder]
        and (one.file, one.within) not in UPWARD
    ]
    assert shown(wrong) == []


def test_no_function_is_so_dense_that_it_is_read_twice():
    """`python -m tools.density 10` lists those that come next."""
    found = [one for file in modules() for one in functions(tree_of(file), name_of(file)) if one.ways > MOST]
    assert found == [], "unfold it into steps with names, a table or a small type"


ASKS_NEIGHBOUR = {
    ("causes/cudnn/dependency_missing.py", "gpuwhy.causes.cudnn.version_mismatch"),
    ("causes/cudnn/mixed_libraries.py", "gpuwhy.causes.cudnn.version_mismatch"),
    ("causes/framework/cpu_only.py", "gpuwhy.causes.framework.platform_dropped"),
}
"""Signs that ask whether a neighbouring cause explains it all."""


def of_text(name: str) -> bool:
    """Whether a module of causes/ belongs to the half that reads texts."""
    return name.startswith("causes/text/") or name.removesuffix(".py").endswith("_text")


def test_a_room_imports_no_other_room_and_facts_know_nothing_of_texts():
    """causes/<layer>/<name>.py → shared; <name>_text.py → text, shared; shared → shared; text → text, shared."""
    wrong = []
    for one in (one for one in imports() if one.folder == "causes" and one.module.startswith("gpuwhy.causes.")):
        part, text = one.module.split(".")[2], of_text(one.module.removeprefix("gpuwhy.").replace(".", "/") + "/")
        allowed = part == "shared" or (part == "text" and of_text(one.file))
        if not allowed and (one.file, one.module) not in ASKS_NEIGHBOUR:
            wrong.append(one)
        assert not text or of_text(one.file)
    assert shown(wrong) == []


def test_check_loads_nothing_of_what_reads_texts():
    code = (
        "import sys; from tests.hosts.hosts import run; assert run('h200-bare').report().status == 'healthy'\n"
        "print(*(name for name in sys.modules if name.startswith('gpuwhy.')))"
    )
    command, root = [sys.executable, "-c", code], SRC.parent.parent
    loaded = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split()
    assert "gpuwhy.causes.shared.needs" in loaded
    read = ("gpuwhy.causes.text", "gpuwhy.symptoms", "gpuwhy.logs")
    assert [name for name in loaded if name.startswith(read) or name.endswith("_text")] == []


def test_no_permission_is_idle():
    """What a folder may import and nobody in it does goes from the table."""
    used = {(one.folder, one.within) for one in imports()}
    idle = [(folder, other) for folder, others in MAY_IMPORT.items() for other in others if (folder, other) not in used]
    assert idle == []


def test_children_know_nothing_of_gpuwhy():
    """They run inside other Pythons: the standard library, each other, and NVML's binding where that is the point."""
    known = sys.stdlib_module_names | {file.stem for file in (SRC / "host" / "children").glob("*.py")}
    wrong = [
        one
        for one in imports()
        if is_child(one) and one.top not in known and (one.file, one.top) not in THIRD_PARTY_ALLOWED
    ]
    assert shown(wrong) == []


def test_dependencies_are_the_declared_ones():
    wrong = [
        one
        for one in imports()
        if not is_child(one)
        and one.top not in {"gpuwhy", *sys.stdlib_module_names, *THIRD_PARTY}
        and (one.file, one.top) not in THIRD_PARTY_ALLOWED
    ]
    assert shown(wrong) == []


def test_only_the_host_reads_the_world():
    wrong = [
        one
        for one in imports()
        if one.top in WORLD and one.folder not in WORLDLY and (one.folder, one.module) not in WORLD_ALLOWED
    ]
    assert shown(wrong) == []


NETWORK_ALLOWED = {
    (
        "host/children/reach.py",
        "socket",
    ): "`fleet probe` alone, when somebody asks whether the rendezvous can be reached",
    ("host/children/fetch.py", "urllib"): "`releases --update` alone, for the address that the user names",
    ("host/children/ray_node.py", "socket"): "`fleet --ray --probe` alone: a free port for the group's rendezvous",
}


def test_nothing_leaves_the_machine():
    wrong = [one for one in imports() if one.top in NETWORK and (one.file, one.top) not in NETWORK_ALLOWED]
    assert shown(wrong) == []


EXITS = {"print", "input", "exit", "quit", "sys.exit", "os._exit", "sys.stdout.write", "sys.stderr.write", "breakpoint"}
READS = {"open"}
PRINTS = ("cli/", "host/children/", "__main__.py", "inside/hook.py", "inside/notebook.py", "inside/script.py")
"""Inside the user's process: the hooks and the magic print a note where Python does not, the script its usage."""


@cache
def calls(file: Path) -> list[tuple[int, str]]:
    """Calls by name: of a name, or of an attribute of one."""
    found = [(node.lineno, node.func) for node in ast.walk(tree_of(file)) if isinstance(node, ast.Call)]
    return [(line, ast.unparse(func)) for line, func in found if isinstance(func, ast.Name | ast.Attribute)]


@pytest.mark.parametrize("forbidden, allowed", [(EXITS, PRINTS), (READS, ("border/", "host/", "run/", "repair/"))])
def test_who_may_print_exit_and_open(forbidden, allowed):
    wrong = [
        f"{name_of(file)}:{line} calls {call}"
        for file in modules()
        if not name_of(file).startswith(allowed)
        for line, call in calls(file)
        if call in forbidden
    ]
    assert wrong == []


def test_the_walker_sees_lazy_and_from_imports():
    within = {one.within for one in imports() if one.file == "cli/check.py"}
    assert within >= {"app", "cli", "render"}
    assert "print" in {call for _, call in calls(SRC / "__main__.py")}
