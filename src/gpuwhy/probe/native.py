"""Native: walks the staircase from the driver library to a convolution, each group of stages in a child process."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import NamedTuple

from msgspec.structs import replace

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Known, Unknown
from gpuwhy.model.facts import Rate, Stage
from gpuwhy.probe.lines import UNNAMED, Told, read
from gpuwhy.probe.stages import STEPS, Step

Note = Callable[[str], None]

TRIES = 3
"""How often a group is begun again after a crash or a hang, so that the stages behind it get their turn."""

AGAIN = frozenset({"device", "blas", "convolution"})
"""The groups in which something is left to do after a crash: other GPUs, other stages."""

AFTER: Mapping[str, tuple[str, ...]] = {
    "init": ("libcuda",),
    "devices": ("init",),
    "context": ("devices",),
    "memory": ("context",),
    "launch": ("memory", "nvrtc"),
    "cublas": ("context",),
    "cudnn_create": ("context", "cudnn"),
    "convolution": ("cudnn_create",),
    "nccl": ("context",),
}
"""The stages that must have passed before, on the same GPU."""

WORDS = {
    "libcuda": "the driver library",
    "init": "cuInit",
    "devices": "a GPU",
    "context": "a context",
    "memory": "GPU memory",
    "nvrtc": "a compiled kernel",
    "cudnn": "a cuDNN that is whole",
    "cudnn_create": "a cuDNN handle",
}
PER_GPU = frozenset({"context", "memory", "launch", "cublas", "cudnn_create", "convolution"})
BROKEN = ("failed", "crashed", "hung")


class Wants(NamedTuple):
    """What a group's child is told: libraries under test, and what the framework's process has loaded beside them."""

    families: tuple[str, ...]
    preload: str = "$^"  # names of files


def _named(*names: str) -> str:
    """How the files of some libraries are called: libcudart.so.12, cudart64_12.dll, nvJitLink_120_0.dll."""
    return rf"(lib)?({'|'.join(names)})(\.so|(64)?_)"


GROUPS: Mapping[str, Wants] = {
    "driver": Wants(("cuda",)),
    "device": Wants(("cuda", "nvrtc"), _named("nvrtc-builtins")),
    "runtime": Wants(("cudart",)),
    "blas": Wants(("cuda", "cublas"), _named("cudart", "cublasLt", "nvrtc")),
    "cudnn": Wants(("cudnn",), _named("cudart")),
    "convolution": Wants(
        ("cuda", "cudnn", "cudart"), _named("cudart", "cublas", "cublasLt", "nvrtc", "nvrtc-builtins", "nvJitLink")
    ),
    "nccl": Wants(("cuda", "nccl"), _named("cudart")),
}


def stages(
    host: Host, libraries: Mapping[str, str], preload: Sequence[str], *, gentle: bool, note: Note, roomy: bool = False
) -> tuple[tuple[Stage, ...], tuple[Rate, ...], int | None]:
    """Walk all groups; the stages in the staircase's order, the rates reached, the GPU memory taken at the height.

    Where the GPUs are `roomy`, the groups that hold a context each run side by side.
    """
    walk = _Walk(host, libraries, preload, gentle, note)
    walk.group("driver")
    with ThreadPoolExecutor(1) as beside:  # these touch no GPU
        others = [beside.submit(walk.group, group) for group in ("runtime", "cudnn")]
        walk.group("device")
        for other in others:
            other.result()
    with ThreadPoolExecutor(3 if roomy else 1) as together:  # each has a context of its own
        for under_way in [together.submit(walk.group, group) for group in ("blas", "convolution", "nccl")]:
            under_way.result()
    order = {step.name: place for place, step in enumerate(STEPS)}
    done = sorted(walk.done, key=lambda s: (order.get(s.name, len(order)), -1 if s.device is None else s.device))
    return tuple(done), tuple(walk.rates), walk.memory


class _Walk:
    """What is known so far, and how to learn the rest."""

    def __init__(
        self, host: Host, libraries: Mapping[str, str], preload: Sequence[str], gentle: bool, note: Note
    ) -> None:
        self._host, self._libraries, self._preload = host, libraries, preload
        self._gentle, self._note = gentle, note
        self.done: list[Stage] = []
        self.rates: list[Rate] = []
        self.memory: int | None = None

    def group(self, group: str) -> None:
        """Run one group's stages, and say of each that did not run why."""
        steps = [step for step in STEPS if step.group == group]
        if any(self._left_out(step) is None for step in steps):
            self._note(steps[0].title)
            self._run(group, steps)
        for step in steps:
            for device in self._devices(step):
                if not self._of(step.name, device):
                    why = self._left_out(step, device) or "the time for this part was spent on other GPUs"
                    self.done.append(Stage(step.name, "skipped", device=device, why=why))

    def _run(self, group: str, steps: Sequence[Step]) -> None:
        arguments = [*self._arguments(group), *self._driver_state(group)]
        skip = [f"{step.name}:{index}" for step in steps for index in self._bad(group)]
        for _ in range(TRIES if group in AGAIN else 1):
            told = self._ask(group, steps, [*arguments, *chain.from_iterable(("--skip", name) for name in skip)])
            self._keep(told)
            if not told.broke or not told.stages or not _is_of_one_gpu(told.stages[-1]):
                return
            skip += [_key(stage) for stage in told.stages]

    def _keep(self, told: Told) -> None:
        self.done += told.stages
        self.rates += told.rates
        if told.memory is not None:
            self.memory = max(told.memory, self.memory or 0)

    def _ask(self, group: str, steps: Sequence[Step], arguments: Sequence[str]) -> Told:
        answer = self._host.call("probe", group, *arguments)
        if not isinstance(answer, Known):
            return self._none(steps, answer.reason if isinstance(answer, Unknown) else "the probe is not there")
        told = read(answer.value)
        ended = next((str(line["ended"]) for line in answer.value if "ended" in line), "")
        if ended and not told.stages:
            return self._none(steps, ended)
        return told._replace(stages=self._named(told.stages, [step.name for step in steps]))

    def _named(self, stages: Sequence[Stage], names: list[str]) -> tuple[Stage, ...]:
        """The stages that were asked for; what happened before any began belongs to the next."""
        reached = {stage.name for stage in (*self.done, *stages)}
        next_one = next((name for name in names if name not in reached), names[-1])
        kept = (replace(stage, name=next_one) if stage.name == UNNAMED else stage for stage in stages)
        return tuple(stage for stage in kept if stage.name in names)

    def _none(self, steps: Sequence[Step], why: str) -> Told:
        return Told(tuple(Stage(name, "skipped", why=why) for name in self._due(steps)))

    def _due(self, steps: Sequence[Step]) -> list[str]:
        return [step.name for step in steps if self._left_out(step) is None]

    def _arguments(self, group: str) -> Iterator[str]:
        families, names = GROUPS[group]
        if group == "cudnn" and not re.search(r"cudnn(\.so\.|64_)9", self._libraries["cudnn"]):
            names = GROUPS["convolution"].preload  # the parts of older ones are linked with cuBLAS
        tested = {family: self._libraries[family] for family in families if family in self._libraries}
        for family, path in tested.items():
            yield from (f"--{family}", path)
        for path in self._preload:
            if re.match(names, path.rpartition("/")[2]) and path not in tested.values():
                yield from ("--preload", path)

    def _driver_state(self, group: str) -> tuple[str, ...]:
        """What the child may ask of the driver, as far as the driver's own stages went."""
        ends = {stage.outcome for stage in self.done if stage.name in ("libcuda", "init", "devices")}
        if group == "driver" or ends == {"passed"}:
            return ()
        return ("--no-gpu",) if ends <= {"passed", "failed", "skipped"} and "failed" in ends else ("--no-driver",)

    def _devices(self, step: Step) -> list[int | None]:
        """The GPUs that a stage has a result for, each; one without a number where it is not told per GPU."""
        seen = {stage.device for stage in self.done if stage.name == "context" and stage.device is not None}
        return [*sorted(seen)] if seen and step.name in PER_GPU else [None]

    def _bad(self, group: str) -> list[int]:
        """The GPUs that later groups leave alone: no context there, or something hung."""
        told = [stage for stage in self.done if stage.device is not None and group != "device"]
        bad = {s.device for s in told if s.outcome == "hung" or (s.name == "context" and s.outcome != "passed")}
        return sorted(index for index in bad if index is not None)

    def _of(self, name: str, device: int | None = None) -> list[Stage]:
        """The results of a stage: on one GPU, or told for no GPU; on any, where none is asked for."""
        found = [stage for stage in self.done if stage.name == name]
        here = [stage for stage in found if device is None or stage.device in (device, None)]
        return here or (found if name == "nvrtc" else [])

    def _left_out(self, step: Step, device: int | None = None) -> str | None:
        """Why a stage is not run; None when nothing speaks against it."""
        if self._gentle and not step.gentle:
            return "left out: --gentle only reads"
        lacking = [family for family in step.needs if family not in self._libraries]
        if lacking:
            return f"no {lacking[0]} library to test"
        if step.group != "device" and device is not None and any(_hung(stage, device) for stage in self.done):
            return f"left out: GPU {device} hung before"
        return self._stopped_by(step, device)

    def _stopped_by(self, step: Step, device: int | None) -> str | None:
        """The earlier stage without which this one tells nothing."""
        for need in AFTER.get(step.name, ()):
            if blamed := self._blamed(need, device):
                name, went = blamed
                return f"needs {WORDS[need]}, {'which' if name == need else f'but {WORDS[name]}'} {went}"
        return None

    def _blamed(self, need: str, device: int | None) -> tuple[str, str] | None:
        """A stage that did not pass, or the one below it that is to blame, and how that went."""
        ends = {stage.outcome for stage in self._of(need, device)}
        if "passed" in ends:
            return None
        if broken := [end for end in BROKEN if end in ends]:
            return need, broken[0]
        below = (self._blamed(name, device) for name in AFTER.get(need, ()))
        return next((found for found in below if found), (need, "was left out"))


def _is_of_one_gpu(stage: Stage) -> bool:
    """Whether another GPU may do better."""
    return stage.device is not None or stage.name == "nvrtc"


def _key(stage: Stage) -> str:
    """How a child is told to leave a stage out; a compiler that crashed is not asked for another GPU."""
    return stage.name if stage.device is None or stage.name == "nvrtc" else f"{stage.name}:{stage.device}"


def _hung(stage: Stage, device: int) -> bool:
    return stage.outcome == "hung" and stage.device == device
