"""Runs looks one after another, each guarded and timed: a crash or a hang becomes Unknown, and the rest goes on."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Sequence
from typing import Any

import msgspec

from gpuwhy.model.fact import Fact, Undetermined, Unknown
from gpuwhy.observe.scene import Look, Scene


class _Worker(threading.Thread):
    """Takes looks from the front of a shared list until it is empty or the watcher gives up on it."""

    def __init__(self, scene: Scene, looks: list[Look]) -> None:
        super().__init__(daemon=True)
        self._scene = scene
        self._looks = looks
        self.current: tuple[Look, float] | None = None
        self.abandoned = False
        self.lock = threading.Lock()

    def run(self) -> None:
        """Work through the list."""
        while True:
            with self.lock:
                if self.abandoned or not self._looks:
                    self.current = None
                    return
                look = self._looks.pop(0)
                self.current = (look, time.monotonic())
            answer = guarded(self._scene, look)
            with self.lock:
                if self.abandoned:
                    return
                place(self._scene, look, answer)


def guarded(scene: Scene, look: Look) -> Fact[Any]:
    """One look; whatever it raises becomes Unknown with the reason."""
    try:
        return look.see(scene)
    except Undetermined as missing:
        return missing.unknown
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}"
        return Unknown(f"gpuwhy failed while looking ({type(error).__name__}: {error}, {where}); please report it")


def place(scene: Scene, look: Look, answer: Fact[Any]) -> None:
    """Put an answer into its field."""
    subject = msgspec.structs.replace(getattr(scene.facts, look.subject), **{look.field: answer})
    scene.facts = msgspec.structs.replace(scene.facts, **{look.subject: subject})


def observe(scene: Scene, looks: Sequence[Look]) -> bool:
    """Run every look; return whether one had to be abandoned in a hang (its thread is then still alive)."""
    left = list(looks)
    hung = False
    while left:
        worker = _Worker(scene, left)
        worker.start()
        hung = _watch(worker, scene) or hung
    return hung


def _watch(worker: _Worker, scene: Scene) -> bool:
    """Wait for a worker; give up on it when its current look outlasts its time."""
    while True:
        worker.join(0.05 if worker.current is None else _left(worker))
        if not worker.is_alive():
            return False
        with worker.lock:
            current = worker.current
            if current is not None and time.monotonic() - current[1] >= current[0].seconds:
                worker.abandoned = True
                look = current[0]
                place(scene, look, Unknown(f"no answer within {look.seconds:g} s"))
                return True


def _left(worker: _Worker) -> float:
    current = worker.current
    return 0.05 if current is None else max(0.001, current[1] + current[0].seconds - time.monotonic())
