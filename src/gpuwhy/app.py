"""Wires the stages: host → observe → resolve → judge → report. No logic of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from gpuwhy.causes import CAUSES
from gpuwhy.causes.pages import page
from gpuwhy.host.alias import Plain
from gpuwhy.host.base import Host
from gpuwhy.host.live import LiveHost
from gpuwhy.host.recorded import BadRecordingError, RecordedHost, read_recording
from gpuwhy.host.recording import RecordingHost
from gpuwhy.host.root import RootHost
from gpuwhy.loader import loads
from gpuwhy.loader.extensions import extensions
from gpuwhy.model.fact import Known, Unknown
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Report
from gpuwhy.observe.engine import observe
from gpuwhy.observe.looks import EARLY, LOOKS
from gpuwhy.observe.scene import Look, Options, Scene
from gpuwhy.reason.report import report

if TYPE_CHECKING:
    from gpuwhy.model.inspected import Inspected

__all__ = [
    "CAUSES",
    "BadRecordingError",
    "Options",
    "Run",
    "UnreadableError",
    "check",
    "explain",
    "facts_of",
    "inspect",
    "inspect_host",
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

    @property
    def found_python(self) -> bool:
        """Whether there is a Python environment to look at."""
        return isinstance(self.facts.target.interpreter, Known)

    @property
    def why_no_python(self) -> str:
        """Why there is none."""
        found = self.facts.target.interpreter
        return found.reason if isinstance(found, Unknown) else "no Python there"

    def report(self) -> Report:
        """Judge the facts."""
        return report([c for c in CAUSES if not c.needs_log], self.facts, self.took, again=self.options.python)

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


def inspect_host(environ: dict[str, str], given: dict[str, str], root: str = "", plain: bool = False) -> Host:
    """The machine, or a folder, under an environment in which some variables are given; `plain` hides no names."""
    alias = Plain() if plain else None
    if root:
        return RecordingHost(RootHost(root, given or None, alias))
    return RecordingHost(LiveHost({**environ, **given}, alias))


class UnreadableError(Exception):
    """What was to be inspected cannot be read; the text says what and where."""


def inspect(host: Host, path: str, folder: str = "/", note: Callable[[str], None] = lambda _: None) -> Inspected:
    """What a binary, wheel, folder or environment needs, and what would be loaded; raises UnreadableError."""
    from gpuwhy.inspection.environment import inspect_environment, prefix_of
    from gpuwhy.inspection.inspect import inspect_path

    path, folder = host.hide(path), host.hide(folder)
    prefix = prefix_of(host, path)
    if prefix:
        found = inspect_environment(host, path, Run(host, Options(python=prefix, folder=folder), note).facts)
    else:
        note(f"reading {path}")
        found = inspect_path(host, path, folder)
    if isinstance(found, Known):
        return found.value
    raise UnreadableError(found.reason if isinstance(found, Unknown) else f"{path}: no such file or folder")


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


def explain(text: str, *, log_only: bool = False, python: str = "") -> Report:
    """Why a program failed, from what it printed; this machine's facts decide too unless `log_only`."""
    from gpuwhy.logs import explain_text

    return explain_text(text, None if log_only else Run(live_host(), Options(python=python)).facts)


def facts_of(host: Host, options: Any = None) -> Facts:
    """The facts of a host, without a judgement."""
    return Run(host, options or Options()).facts
