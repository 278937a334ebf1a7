"""A machine for observation tests: real files below a folder, and scripted answers for what a folder cannot tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpuwhy.host.base import Stat, Uname
from gpuwhy.host.root import RootHost
from gpuwhy.model.fact import Fact, known
from gpuwhy.observe.engine import observe
from gpuwhy.observe.scene import Look, Options, Scene

KERNEL = "6.8.0-31-generic"


class Machine(RootHost):
    """Files from `root`; other questions from `answers`, by operation and arguments."""

    def __init__(self, root: Path) -> None:
        super().__init__(str(root))
        self.answers: dict[tuple[Any, ...], Fact[Any]] = {
            ("uname",): known(Uname("linux", KERNEL, "x86_64"), "call", "uname"),
            ("environ",): known({}, "env", "environment"),
            ("call", "nvml"): known((), "call", "nvml"),
            ("call", "nodes"): known((), "call", "nodes"),
            ("stat", "/dev/null"): known(Stat("char", 0, "crw-rw-rw-", 0.0), "file", "/dev/null"),
        }

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        key = (op, *args)
        return self.answers[key] if key in self.answers else super().ask(op, *args)

    def write(self, path: str, text: str | bytes = "") -> None:
        file = Path(self.root + path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def says(self, child: str, *lines: dict[str, Any]) -> None:
        self.answers[("call", child)] = known(tuple(lines), "call", child)

    def scene(self) -> Scene:
        return Scene(self, Options())


def look(scene: Scene, looks: tuple[Look, ...], field: str) -> Any:
    """Run the looks that fill one field and return it."""
    chosen = [one for one in looks if one.field == field]
    observe(scene, chosen)
    return getattr(getattr(scene.facts, chosen[0].subject), field)
