"""Wires the stages: host → observe → resolve → judge → report. No logic of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from gpuwhy.causes.load import page
from gpuwhy.host.alias import Alias, Plain
from gpuwhy.host.base import Host
from gpuwhy.host.live import LiveHost
from gpuwhy.host.recorded import BadRecordingError, RecordedHost, read_recording
from gpuwhy.host.recording import RecordingHost
from gpuwhy.host.windows_root import root_of
from gpuwhy.knowledge.releases import newest
from gpuwhy.observe.loader_v0 import loads
from gpuwhy.observe.loader_v0.extensions import extensions
from gpuwhy.model.expect import lacks_gpu
from gpuwhy.model.fact import NOT_TRIED, NOT_YET, Absent, Known, Unknown, value_or
from gpuwhy.model.facts import Facts
from gpuwhy.model.facts import Run as WatchedRun
from gpuwhy.model.report import Report
from gpuwhy.observe.as_if import Elsewhere, named_machine, somewhere
from gpuwhy.observe.engine import observe
from gpuwhy.observe.looks import EARLY, LOOKS
from gpuwhy.observe.scene import Client, Look, Options, Scene
from gpuwhy.observe.started import as_started, is_image, moved
from gpuwhy.reason.report import report
from gpuwhy.reason.tried import left_to_read, printed, worth
from gpuwhy.rooms import CAUSES
from gpuwhy.shell.gate import placed, typed, with_names
from gpuwhy.shell.place import place_of

if TYPE_CHECKING:
    pass

__all__ = [
    "CAUSES",
    "BadRecordingError",
    "Elsewhere",
    "Facts",
    "Options",
    "Report",
    "Run",
    "UnreadableError",
    "active_environment",
    "facts_for_plan",
    "facts_of",
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

    def __init__(
        self,
        host: Host,
        options: Options,
        note: Callable[[str], None] = lambda _: None,
        elsewhere: Elsewhere | Facts | None = None,
    ) -> None:
        start, self.took = time.monotonic(), 0.0
        options = msgspec.structs.replace(options, python=host.hide(options.python))
        scene = Scene(host, options, note)
        self.options = options
        self.host = host
        if isinstance(host, RecordingHost):
            _ask_early(host)
        self.hung = observe(scene, _patient(host, (*LOOKS, *RESOLVE)))
        self.facts: Facts = moved(_with_run(scene.facts, host), elsewhere)
        self.elsewhere = elsewhere
        self.as_if = "" if elsewhere is None else named_machine(elsewhere)
        if options.imports == "no" and self.live:
            self.facts = _without_imports(self.facts)
        elif options.imports and self.live:
            self._try_imports(scene)
        self.took = time.monotonic() - start

    def _try_imports(self, scene: Scene) -> None:
        """The last test: each framework imported for real, where nothing else is wrong."""
        from gpuwhy.observe import imports

        if worth(self._by_facts().causes):
            self.hung = observe(scene, imports.LOOKS) or self.hung
            self.facts = moved(_with_run(scene.facts, self.host), self.elsewhere)
        else:
            self.facts = _without_imports(self.facts, NOT_YET)

    @property
    def found_python(self) -> bool:
        """Whether there is a Python environment to look at."""
        return isinstance(self.facts.target.interpreter, Known)

    @property
    def live(self) -> bool:
        """Whether this running machine was asked, not a recording, a folder or an image."""
        return isinstance(self.host, RecordingHost) and isinstance(self.host.offline(), Absent)

    @property
    def why_no_python(self) -> str:
        """Why there is none."""
        found = self.facts.target.interpreter
        return found.reason if isinstance(found, Unknown) else "no Python there"

    def report(self) -> Report:
        """Judge the facts, and what imports printed."""
        made = self._by_facts()
        unread = left_to_read(made, self.facts)
        if unread:
            from gpuwhy.logs import read_imports

            made = read_imports(made, unread, self.took, self.options.python)
        elif said := printed(made, self.facts):
            from gpuwhy.logs import read_printed

            made = read_printed(made, said, self.took, self.options.python)
        causes = placed(made.causes, place_of(self.facts))
        return msgspec.structs.replace(made, causes=causes, knows_until=newest())

    def _by_facts(self) -> Report:
        """What the facts show by themselves."""
        asked = [c for c in CAUSES if c.asked(self.facts)]
        if self.elsewhere is None and is_image(self.facts):
            begun = as_started(self.facts)
            return report(asked, begun, self.took, self.options.python, seen=self.facts)
        with_gpu = somewhere(self.facts) if lacks_gpu(self.facts) else None
        return report(asked, self.facts, self.took, self.options.python, with_gpu, self.as_if)

    def typed(self, report: Report) -> Report:
        """The report for this machine's own terminal: commands name other people's folders, which no kept form does."""
        if not self.live:
            return report
        causes = tuple(
            msgspec.structs.replace(c, fixes=tuple(with_names(fix, self.host.path) for fix in c.fixes))
            for c in report.causes
        )
        return msgspec.structs.replace(report, causes=causes)

    def typed_line(self, command: str) -> str:
        """The same for one command."""
        return typed(command, self.host.path) if self.live else command

    def recording(self, **more: Any) -> bytes:
        """Everything the host answered, as a file; `more` are further fields of it."""
        assert isinstance(self.host, RecordingHost)
        return self.host.dump(msgspec.to_builtins(self.options), **more)

    @property
    def output(self) -> str:
        """What the watched program printed, where a recording holds that."""
        return str(self.host.recording.run.get("output", "")) if isinstance(self.host, RecordedHost) else ""


def _with_run(facts: Facts, host: Host) -> Facts:
    """The facts with those of the watched program, where a recording holds them."""
    if not isinstance(host, RecordedHost) or "facts" not in host.recording.run:
        return facts
    try:
        return msgspec.structs.replace(facts, run=msgspec.convert(host.recording.run["facts"], type=WatchedRun))
    except msgspec.ValidationError as error:
        unknown = Unknown(f"the recording's watched program makes no sense: {error}")
        return msgspec.structs.replace(facts, run=WatchedRun(program=unknown))


def _without_imports(facts: Facts, why: Unknown = NOT_TRIED) -> Facts:
    """The facts, with the imports named as not tried where there is something that could be imported."""
    python, installed = facts.target.interpreter, value_or(facts.target.distributions, ())
    if python != NOT_TRIED and (not isinstance(python, Known) or python.value.gone or not installed):
        return facts
    return msgspec.structs.replace(facts, target=msgspec.structs.replace(facts.target, imports=why))


def _patient(host: Host, looks: tuple[Look, ...]) -> tuple[Look, ...]:
    """Compressed layers answer slowly, and never hang."""
    offline = host.offline()
    packed = isinstance(offline, Known) and offline.value.kind != "folder"
    return tuple(look._replace(seconds=look.seconds * 60) for look in looks) if packed else looks


def _ask_early(host: Host) -> None:
    """Start the questions that wait for another process; the looks that need them find the answers ready."""
    for question in EARLY:
        threading.Thread(target=host.ask, args=question, daemon=True).start()


def live_host(environ: dict[str, str] | None = None, runs: bool = False) -> Host:
    """The machine we run on, as a program with these variables has it; every answer is kept and asked for once.

    Nothing of the environment under diagnosis is run, unless `runs` allows it.
    """
    return RecordingHost(LiveHost(environ, runs=runs))


def root_host(path: str, image: str = "", note: Callable[[str], None] = lambda _: None) -> Host:
    """Another machine's files: a folder, an image or an archive; raises UnreadableError."""
    return RecordingHost(_offline(path, image, note))


def _offline(
    path: str,
    image: str = "",
    note: Callable[[str], None] = lambda _: None,
    environ: dict[str, str] | None = None,
    alias: Alias | None = None,
) -> Host:
    from gpuwhy.host.blobs import UnreadableImageError
    from gpuwhy.host.image import open_image

    try:
        opened = open_image(path, image, note, alias)
    except UnreadableImageError as error:
        raise UnreadableError(str(error)) from error
    if opened is None:
        return root_of(path, environ, alias)
    opened.give(environ or {})
    return opened


def inspect_host(
    environ: dict[str, str], given: dict[str, str], root: str = "", plain: bool = False, runs: bool = False
) -> Host:
    """The machine, or a folder, under an environment in which some variables are given; `plain` hides no names."""
    alias = Plain() if plain else None
    if root:
        return RecordingHost(_offline(root, environ=given or None, alias=alias))
    return RecordingHost(LiveHost({**environ, **given}, alias, runs))


class UnreadableError(Exception):
    """What was to be inspected cannot be read; the text says what and where."""


def recorded_host(data: bytes, name: str) -> tuple[Host, Options]:
    """A recording, with the options it was made with."""
    recording = read_recording(data, name)
    try:
        options = msgspec.convert(recording.options, type=Options)
    except msgspec.ValidationError as error:
        raise BadRecordingError(f"{name} was recorded with options that make no sense: {error}") from error
    return RecordedHost(recording), options


def facts_of(host: Host, options: Any = None) -> Facts:
    """The facts of a host, without a judgement."""
    return Run(host, options or Options()).facts


def facts_for_plan(host: Host, python: str = "") -> Facts:
    """What a plan needs to know of this machine, and nothing else."""
    return _seen_for("plan", host, Options(python=host.hide(python), folder="."))


def active_environment(host: Host) -> str:
    """The folder of the Python environment that a check would look at; "" where there is none."""
    found = facts_for_plan(host).target.interpreter
    return found.value.prefix if isinstance(found, Known) else ""


def _seen_for(client: Client, host: Host, options: Options) -> Facts:
    """The facts by the looks that declare whom they serve."""
    scene = Scene(host, options)
    observe(scene, [look for look in LOOKS if client in look.serves])
    return scene.facts
