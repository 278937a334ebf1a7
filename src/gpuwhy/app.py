"""Wires the stages: host → observe → resolve → judge → report. No logic of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from gpuwhy.causes import CAUSES
from gpuwhy.causes.pages import page
from gpuwhy.host.base import Host
from gpuwhy.host.live import LiveHost
from gpuwhy.host.recorded import BadRecordingError, RecordedHost, read_recording
from gpuwhy.host.recording import RecordingHost
from gpuwhy.host.root import RootHost
from gpuwhy.loader import loads
from gpuwhy.loader.extensions import extensions
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Report
from gpuwhy.observe.engine import observe
from gpuwhy.observe.looks import EARLY, LOOKS
from gpuwhy.observe.scene import Look, Options, Scene
from gpuwhy.reason.report import report

__all__ = [
    "CAUSES",
    "BadRecordingError",
    "Options",
    "Run",
    "check",
    "facts_of",
    "live_host",
    "page",
    "recorded_host",
    "root_host",
]

RESOLVE: tuple[Look, ...] = (
    Look("loads", "libcuda", lambda scene: loads.libcuda(scene.host, scene.facts)),
    Look("loads", "libnvml", lambda scene: loads.libnvml(scene.host, scene.facts)),
    Look("loads", "trees", lambda scene: loads.trees(scene.host, scene.facts)),
    Look("loads", "needs", lambda scene: loads.needs(scene.host, scene.facts)),
    Look("loads", "extensions", lambda scene: extensions(scene.host, scene.facts)),
)
"""What the loader would do, once everything else is observed."""


class Run:
    """One diagnosis: the host that was asked, the facts, and whether a look hung."""

    def __init__(self, host: Host, options: Options, note: Callable[[str], None] = lambda _: None) -> None:
        start = time.monotonic()
        options = msgspec.structs.replace(options, python=host.hide(options.python))
        scene = Scene(host, options, note)
        self.options = options
        self.host = host
        if isinstance(host, RecordingHost):
            _ask_early(host)
        self.hung = observe(scene, (*LOOKS, *RESOLVE))
        self.facts: Facts = scene.facts
        self.took = time.monotonic() - start

    def report(self) -> Report:
        """Judge the facts."""
        return report(CAUSES, self.facts, self.took)

    def recording(self) -> bytes:
        """Everything the host answered, as a file."""
        assert isinstance(self.host, RecordingHost)
        return self.host.dump(msgspec.to_builtins(self.options))


def _ask_early(host: Host) -> None:
    """Start the questions that wait for another process; the looks that need them find the answers ready."""
    for question in EARLY:
        threading.Thread(target=host.ask, args=question, daemon=True).start()


def live_host() -> Host:
    """The machine we run on; every answer is kept, so that the same question is asked once."""
    return RecordingHost(LiveHost())


def root_host(folder: str) -> Host:
    """Another machine's files under a folder."""
    return RecordingHost(RootHost(folder))


def recorded_host(data: bytes, name: str) -> tuple[Host, Options]:
    """A recording, with the options it was made with."""
    recording = read_recording(data, name)
    try:
        options = msgspec.convert(recording.options, type=Options)
    except msgspec.ValidationError as error:
        raise BadRecordingError(f"{name} was recorded with options that make no sense: {error}") from error
    return RecordedHost(recording), options


def check(python: str = "", *, verify: bool = False) -> Report:
    """Diagnose this machine and a Python environment (the active one unless `python` names another)."""
    return Run(live_host(), Options(python=python, verify=verify)).report()


def facts_of(host: Host, options: Any = None) -> Facts:
    """The facts of a host, without a judgement."""
    return Run(host, options or Options()).facts
