"""A disk as looks see it: variables given, earlier looks done."""

from __future__ import annotations

from typing import Any

from gpuwhy.host.base import Host
from gpuwhy.host.recording import RecordingHost
from gpuwhy.model.fact import Fact, Known, Source
from gpuwhy.model.facts import Facts
from gpuwhy.observe.engine import observe
from gpuwhy.observe.looks import LOOKS
from gpuwhy.observe.scene import Options, Scene
from tests.windows.trees import Disk


class Answering(Host):
    """A host in front of which some questions are answered."""

    def __init__(self, inner: Host, answers: dict[tuple[Any, ...], Any]) -> None:
        self._inner, self._answers = inner, answers

    def ask(self, op: str, *args: Any) -> Fact[Any]:
        """From the given answers, else from the host."""
        if (op, *args) in self._answers:
            return Known(self._answers[(op, *args)], Source("call", op))
        return self._inner.ask(op, *args)


def facts_of(disk: Disk, python: str = "", answers: dict[tuple[Any, ...], Any] | None = None, **environ: str) -> Facts:
    """All that is observed of a disk."""
    scene = Scene(RecordingHost(Answering(disk.host(**environ), answers or {})), Options(python=python))
    observe(scene, LOOKS)
    return scene.facts
