"""CTranslate2's extension, which leads the loader to what its wheel brings, had another name before 2.0."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from gpuwhy.loader.frameworks import _plain
from gpuwhy.facts.fact import Fact, Known, Source
from gpuwhy.facts.facts import Facts


class Folder:
    """A host that has one folder."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def list(self, folder: str, match: str) -> Fact[tuple[Any, ...]]:
        found = tuple(SimpleNamespace(name=name) for name in self.names if re.match(match, name))
        return Known(found, Source("folder", folder))


@pytest.mark.parametrize(
    "name, opened",
    [("_ext.cpython-311-x86_64-linux-gnu.so", True), ("translator.cpython-38-x86_64-linux-gnu.so", True),
     ("specs.py", False), ("libother.so", False)],
)  # fmt: skip
def test_the_extension_is_opened(name: str, opened: bool) -> None:
    asked: list[str] = []
    machine = Folder("__init__.py", name)
    process: Any = SimpleNamespace(machine=machine, loaded=[], dlopen=lambda path: asked.append(path))
    framework: Any = SimpleNamespace(path="/venv/ctranslate2", name="ctranslate2")
    _plain(process, Facts(), framework)
    assert asked == ([f"/venv/ctranslate2/{name}"] if opened else [])
