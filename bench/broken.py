"""Breaks a copy of an environment with PyTorch in many ways and asks what is found.

    cp -al ENV COPY
    python bench/broken.py COPY [--import] [--beside "{python} -m torch.utils.collect_env"] [CASE …]

Each case is undone before the next. It says for each what the files alone show, and with --import
what an import shows; of each command that is named beside, whether its output differs at all from
what it says of the whole environment. The copy may be lost where this is ended from outside.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding, Weight
from gpuwhy.loader.loads import loads
from gpuwhy.look.look import Options, look, look_by_importing
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.recording import RecordingMachine
from gpuwhy.signs.judged import judge

ORDER = (Weight.PROOF, Weight.STRONG, Weight.WEAK)


class Env:
    """The copy; what a case takes away is put back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (self.site,) = folder.glob("lib/python*/site-packages")
        self.variables: dict[str, str] = {}
        self.beside = Path(tempfile.mkdtemp(prefix="broken-", dir=folder.parent))
        self._taken: list[tuple[Path, Path | None]] = []

    def take(self, path: Path) -> Path:
        """Move a file or folder aside; the place is free then."""
        aside = self.beside / f"taken-{len(self._taken)}"
        there = os.path.lexists(path)
        if there:
            path.rename(aside)
        self._taken.append((path, aside if there else None))
        return aside

    def write(self, name: str, content: bytes | str) -> None:
        """Other contents, with the same mode."""
        path = self.site / name
        mode = path.stat().st_mode if path.exists() else 0o644
        self.take(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(mode)

    def edit(self, name: str, change: Callable[[bytes], bytes]) -> None:
        """Contents that are made of the old ones."""
        self.write(name, change((self.site / name).read_bytes()))

    def one(self, pattern: str) -> str:
        """The first name that fits, below the folder of packages."""
        return str(sorted(self.site.glob(pattern))[0].relative_to(self.site))

    def gone(self, pattern: str) -> None:
        """Take away what fits."""
        self.take(self.site / self.one(pattern))

    def release(self, package: str, version: str) -> None:
        """Another release by its metadata alone."""
        old = self.site / self.one(f"{package}-*.dist-info")
        kept = self.take(old)
        new = self.site / f"{package}-{version}.dist-info"
        self.take(new)
        shutil.copytree(kept, new)
        text = (new / "METADATA").read_text(errors="replace")
        (new / "METADATA").unlink()
        (new / "METADATA").write_text(re.sub(r"(?m)^Version: .*", f"Version: {version}", text))

    def on_pythonpath(self, name: str) -> None:
        """An empty module in a folder of its own."""
        path = self.beside / "path" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        self.variables["PYTHONPATH"] = str(self.beside / "path")

    def undo(self) -> None:
        """Put everything back."""
        for path, aside in reversed(self._taken):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            if aside:
                aside.rename(path)
        self._taken.clear()
        self.variables.clear()
        shutil.rmtree(self.beside / "path", ignore_errors=True)


class Case(NamedTuple):
    """What is broken, which causes are right, and how it is done."""

    name: str
    causes: str  # expression; "" = nothing may be found
    act: Callable[[Env], object]


def half(data: bytes) -> bytes:
    """A write that was cut short."""
    return data[: len(data) // 2]


def holes(data: bytes) -> bytes:
    """Pages that never reached the disk."""
    return data[: len(data) // 4] + bytes(len(data) // 2) + data[len(data) * 3 // 4 :]


def retagged(env: Env) -> None:
    """Modules whose names are for another Python."""
    for path in sorted(env.site.glob("torch/_C*.cpython-3*.so")):
        kept = env.take(path)
        new = path.with_name(re.sub(r"cpython-3\d+", "cpython-36", path.name))
        env.take(new)
        os.link(kept, new)


TORCH_PYTHON, FUNCTIONAL = "torch/lib/libtorch_python.so", "torch/functional.py"
DAMAGED, CLASH = r"install\.corrupted", r"install\.(inconsistent|conflict|corrupted)"
SHADOWED = r"env\.shadowed|install\.inconsistent"
CASES = (
    Case("nothing", "", lambda e: None),
    Case("library missing", DAMAGED, lambda e: e.gone("torch/lib/libc10.so")),
    Case("library cut", DAMAGED, lambda e: e.edit(TORCH_PYTHON, half)),
    Case("library empty", DAMAGED, lambda e: e.write(TORCH_PYTHON, b"")),
    Case("library is text", DAMAGED, lambda e: e.write(TORCH_PYTHON, "version https://git-lfs")),
    Case("library with holes", DAMAGED, lambda e: e.edit(TORCH_PYTHON, holes)),
    Case("cuDNN missing", "cudnn|install", lambda e: e.gone("nvidia/*/lib/libcudnn.so.*")),
    Case("cuBLAS missing", "cuda|install", lambda e: e.gone("nvidia/*/lib/libcublas.so.*")),
    Case("first module missing", DAMAGED, lambda e: e.gone("torch/__init__.py")),
    Case("first module empty", DAMAGED, lambda e: e.write("torch/__init__.py", "")),
    Case("module missing", DAMAGED, lambda e: e.gone(FUNCTIONAL)),
    Case("module cut", DAMAGED, lambda e: e.edit(FUNCTIONAL, half)),
    Case("first module cut", DAMAGED, lambda e: e.edit("torch/__init__.py", half)),
    Case("subpackage missing", DAMAGED, lambda e: e.gone("torch/nn")),
    Case("deep module missing", DAMAGED, lambda e: e.gone("torch/nn/modules/conv.py")),
    Case("NumPy's core missing", DAMAGED, lambda e: e.gone("numpy/_core")),
    Case("METADATA missing", DAMAGED, lambda e: e.gone("torch-*.dist-info/METADATA")),
    Case(
        "other release over it",
        DAMAGED,
        lambda e: e.edit(
            "torch/version.py",
            lambda t: re.sub(rb"__version__ = '[^']*", b"__version__ = '1.2.3", t),
        ),
    ),
    Case("made for another Python", CLASH, retagged),
    Case("requirement missing", CLASH, lambda e: (e.gone("filelock"), e.gone("filelock-*"))),
    Case("requirement's module missing", CLASH, lambda e: e.gone("typing_extensions.py")),
    Case("requirement too old", CLASH, lambda e: e.release("sympy", "1.0")),
    Case("triton of another release", CLASH, lambda e: e.release("triton", "2.0.0")),
    Case(
        ".pth blocks torch",
        "install|env",
        lambda e: e.write("zz.pth", "import sys; sys.modules['torch'] = None\n"),
    ),
    Case(
        "sitecustomize blocks torch",
        "install|env",
        lambda e: e.write("sitecustomize.py", "import sys\nsys.modules['torch'] = None\n"),
    ),
    Case(
        "sitecustomize hides the GPU",
        "env|device",
        lambda e: e.write(
            "sitecustomize.py", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = ''\n"
        ),
    ),
    Case("torch.py on PYTHONPATH", SHADOWED, lambda e: e.on_pythonpath("torch.py")),
    Case("typing.py on PYTHONPATH", SHADOWED, lambda e: e.on_pythonpath("typing.py")),
    Case("_ctypes.py on PYTHONPATH", SHADOWED, lambda e: e.on_pythonpath("_ctypes.py")),
    Case("numpy on PYTHONPATH", SHADOWED, lambda e: e.on_pythonpath("numpy/__init__.py")),
    Case(
        "TORCH_LOGS with a wrong name", r"env\.", lambda e: e.variables.update(TORCH_LOGS="dynano")
    ),
    Case(
        "PYTHONHOME leads nowhere",
        r"env\.|install",
        lambda e: e.variables.update(PYTHONHOME="/nowhere"),
    ),
    Case("PYTHONUTF8=2", r"env\.|install", lambda e: e.variables.update(PYTHONUTF8="2")),
    Case("no pyvenv.cfg", "install|env", lambda e: e.take(e.folder / "pyvenv.cfg")),
    Case(
        "upgrade broken off",
        DAMAGED,
        lambda e: (
            e.take(e.site / "torch/__init__.py"),
            shutil.copytree(
                e.take(e.site / e.one("torch-*.dist-info")),
                (lambda p: (e.take(p), p)[1])(e.site / "~orch-9.9.dist-info"),
            ),
        ),
    ),
    Case(
        "ptxas may not be run",
        "install|cuda|env",
        lambda e: (
            e.edit("triton/backends/nvidia/bin/ptxas", lambda t: t),
            (e.site / "triton/backends/nvidia/bin/ptxas").chmod(0o644),
        ),
    ),
)


def seen(env: Env, by_importing: bool) -> tuple[Facts, float]:
    """The facts, and the seconds that they took."""
    given = {"PATH": "/usr/bin:/bin", "HOME": str(env.beside), **env.variables}
    machine = RecordingMachine(LiveMachine(given))
    options = Options(python=str(env.folder), folder=str(env.beside), imports=by_importing)
    start = time.perf_counter()
    facts = look(machine, options)
    facts = msgspec.structs.replace(facts, loads=loads(machine, facts))
    if by_importing:
        facts = look_by_importing(machine, facts, options)
    return facts, time.perf_counter() - start


def first(facts: Facts) -> Finding | None:
    """The finding that says most, of the environment: this machine may have no driver."""
    found = [one for one in judge(facts).findings if one.weight is not Weight.AGAINST]
    about = [one for one in found if not one.cause.startswith(("driver.", "device.absent"))]
    return min(about, key=lambda one: ORDER.index(one.weight), default=None)


def printed(env: Env, command: str) -> str:
    """What another tool says of the environment: its words, without numbers and times."""
    words = shlex.split(command.replace("{python}", str(env.folder / "bin/python")))
    path = f"{env.folder / 'bin'}:/usr/bin:/bin"
    given = {"PATH": path, "HOME": str(env.beside), **env.variables}
    try:
        out = subprocess.run(words, capture_output=True, timeout=120, env=given).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    return re.sub(r"\d+", "0", out.decode("utf-8", "replace"))


def main() -> None:
    """Break, look, undo."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--import", dest="by_importing", action="store_true")
    parser.add_argument("--beside", action="append", default=[], metavar="COMMAND")
    asked = parser.parse_intermixed_args()
    env, right, breaking = Env(asked.folder.resolve()), 0, 0
    whole = {command: printed(env, command) for command in asked.beside}
    noticed: Counter[str] = Counter()
    try:
        for case in CASES:
            if asked.cases and case.name not in asked.cases:
                continue
            try:
                env.take(env.folder / "bin/activate")  # it names the environment that was copied
                case.act(env)
                facts, took = seen(env, asked.by_importing)
                noticed.update(one for one in whole if printed(env, one) != whole[one])
            finally:
                env.undo()
            one = first(facts)
            fits = bool(one and case.causes and re.search(case.causes, one.cause))
            fits = fits or (one is None and not case.causes)
            right, breaking = right + fits, breaking + 1
            shown = f"{one.cause} ({one.weight.value}): {one.says[:80]}" if one else "nothing"
            failed = [t.module for t in value_or(facts.imports.tried, ()) if t.failed]
            imported = f" [fails: {', '.join(failed)}]" if failed else ""
            print(f"{'ok ' if fits else 'NO '} {case.name:30} {took:5.2f} s  {shown}{imported}")
    finally:
        shutil.rmtree(env.beside, ignore_errors=True)
    print(f"{right} of {breaking}")
    for command in whole:
        print(f"{noticed[command]} of {breaking} change the output of: {command}")


if __name__ == "__main__":
    main()
