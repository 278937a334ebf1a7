"""Walks the native stages, each group of them in a child process that may crash or hang."""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

from msgspec.structs import replace

from gpuwhy.facts.fact import Known, Unknown
from gpuwhy.facts.probe import Stage
from gpuwhy.machine.machine import Machine
from gpuwhy.probe.lines import UNNAMED, Said, read
from gpuwhy.probe.stages import BY_NAME, GROUPS, NEEDED, STEPS, Stack, Step

Note = Callable[[str], None]

TRIES = 3
"""How often a group is begun again after a crash or a hang, for the stages behind it."""
BROKEN = ("failed", "crashed", "hung")


def walk(
    machine: Machine, stack: Stack, gentle: bool, note: Note, roomy: bool = False
) -> tuple[Stage, ...]:
    """The stages of all groups in their order.

    Where the GPUs are `roomy`, the groups that hold a context each run side by side.
    """
    done = _Walk(machine, stack, gentle, note)
    done.group("driver")
    with ThreadPoolExecutor(1) as beside:  # these touch no GPU
        others = [beside.submit(done.group, group) for group in ("runtime", "cudnn")]
        done.group("device")
        for other in others:
            other.result()
    with ThreadPoolExecutor(3 if roomy else 1) as together:  # each has a context of its own
        groups = ("blas", "convolution", "nccl")
        for one in [together.submit(done.group, group) for group in groups]:
            one.result()
    order = {step.name: place for place, step in enumerate(STEPS)}
    stages = sorted(
        done.done,
        key=lambda one: (order.get(one.name, len(order)), -1 if one.device is None else one.device),
    )
    return tuple(stages)


class _Walk:
    """What is known so far, and how to learn the rest."""

    def __init__(self, machine: Machine, stack: Stack, gentle: bool, note: Note) -> None:
        self._machine, self._gentle, self._note = machine, gentle, note
        self._libraries, self._preload = stack.libraries, stack.preload
        self.done: list[Stage] = []

    def group(self, group: str) -> None:
        """Run one group's stages, and say of each that did not run why."""
        steps = [step for step in STEPS if step.group == group]
        if any(self._left_out(step) is None for step in steps):
            self._note(steps[0].title)
            self._run(group, steps)
        for step in steps:
            for device in self._devices(step):
                if not self._of(step.name, device):
                    spent = "the time for this part was spent on other GPUs"
                    why = self._left_out(step, device) or spent
                    self.done.append(Stage(step.name, "skipped", device=device, why=why))

    def _run(self, group: str, steps: Sequence[Step]) -> None:
        arguments = [*self._arguments(group), *self._driver_state(group)]
        skip = [f"{step.name}:{index}" for step in steps for index in self._bad(group)]
        for _ in range(TRIES if GROUPS[group].again else 1):
            without = chain.from_iterable(("--skip", name) for name in skip)
            said = self._ask(group, steps, [*arguments, *without])
            self.done += said.stages
            if not said.broke or not said.stages or not _is_of_one_gpu(said.stages[-1]):
                return
            skip += [_key(stage) for stage in said.stages]

    def _ask(self, group: str, steps: Sequence[Step], arguments: Sequence[str]) -> Said:
        answer = self._machine.call("probe", group, *arguments)
        if not isinstance(answer, Known):
            why = answer.reason if isinstance(answer, Unknown) else "the probe is not there"
            return self._none(steps, why)
        said = read(answer.value)
        ended = next((str(line["ended"]) for line in answer.value if "ended" in line), "")
        if ended and not said.stages:
            return self._none(steps, ended)
        return said._replace(stages=self._named(said.stages, [step.name for step in steps]))

    def _named(self, stages: Sequence[Stage], names: list[str]) -> tuple[Stage, ...]:
        """The stages that were asked for; what happened before any began belongs to the next."""
        reached = {stage.name for stage in (*self.done, *stages)}
        next_one = next((name for name in names if name not in reached), names[-1])
        kept = (one if one.name != UNNAMED else replace(one, name=next_one) for one in stages)
        return tuple(one for one in kept if one.name in names)

    def _none(self, steps: Sequence[Step], why: str) -> Said:
        due = (step.name for step in steps if self._left_out(step) is None)
        return Said(tuple(Stage(name, "skipped", why=why) for name in due))

    def _arguments(self, group: str) -> Iterator[str]:
        families, names, _ = GROUPS[group]
        if group == "cudnn" and not re.search(r"cudnn(\.so\.|64_)9", self._libraries["cudnn"]):
            names = GROUPS["convolution"].preload  # its parts are linked with cuBLAS
        tested = {one: self._libraries[one] for one in families if one in self._libraries}
        for family, path in tested.items():
            yield from (f"--{family}", path)
        for path in self._preload:
            if re.match(names, path.rpartition("/")[2]) and path not in tested.values():
                yield from ("--preload", path)

    def _driver_state(self, group: str) -> tuple[str, ...]:
        """What the child may ask of the driver, as far as the driver's own stages went."""
        driver = ("libcuda", "init", "devices")
        ends = {stage.outcome for stage in self.done if stage.name in driver}
        if group == "driver" or ends == {"passed"}:
            return ()
        answered = "failed" in ends and ends.isdisjoint(("crashed", "hung"))
        return ("--no-gpu",) if answered else ("--no-driver",)

    def _devices(self, step: Step) -> list[int | None]:
        """The GPUs that a stage has a result for; None where it is not per GPU."""
        seen = {one.device for one in self.done if one.name == "context"}
        numbers = sorted(one for one in seen if one is not None)
        return [*numbers] if numbers and step.per_gpu else [None]

    def _bad(self, group: str) -> list[int]:
        """The GPUs that later groups leave alone: no context there, or something hung."""
        bad = set()
        for one in self.done if group != "device" else ():
            no_context = one.name == "context" and one.outcome != "passed"
            if one.device is not None and (one.outcome == "hung" or no_context):
                bad.add(one.device)
        return sorted(bad)

    def _of(self, name: str, device: int | None = None) -> list[Stage]:
        """The results of a stage: on one GPU, or on none; on any, where none is asked for."""
        found = [stage for stage in self.done if stage.name == name]
        here = [stage for stage in found if device is None or stage.device in (device, None)]
        return here or (found if name == "nvrtc" else [])

    def _left_out(self, step: Step, device: int | None = None) -> str | None:
        """Why a stage is not run; None where no reason is known."""
        if self._gentle and not step.gentle:
            return "left out: --gentle only reads"
        if step.library and step.library not in self._libraries:
            return f"no {step.library} library to test"
        hung = {stage.device for stage in self.done if stage.outcome == "hung"}
        if step.group != "device" and device is not None and device in hung:
            return f"left out: GPU {device} hung before"
        return self._stopped_by(step, device)

    def _stopped_by(self, step: Step, device: int | None) -> str | None:
        """The earlier stage without which this one tells nothing."""
        for need in step.after:
            if blamed := self._blamed(need, device):
                name, went = blamed
                at = "which" if name == need else f"but {NEEDED[name]}"
                return f"needs {NEEDED[need]}, {at} {went}"
        return None

    def _blamed(self, need: str, device: int | None) -> tuple[str, str] | None:
        """A stage that did not pass, or the one below it that is to blame, and how that went."""
        ends = {stage.outcome for stage in self._of(need, device)}
        if "passed" in ends:
            return None
        if broken := [end for end in BROKEN if end in ends]:
            return need, broken[0]
        below = (self._blamed(name, device) for name in BY_NAME[need].after)
        return next((found for found in below if found), (need, "was left out"))


def _is_of_one_gpu(stage: Stage) -> bool:
    """Whether another GPU may do better."""
    return stage.device is not None or stage.name == "nvrtc"


def _key(stage: Stage) -> str:
    """How --skip names a stage; a compiler that crashed is not asked for another GPU."""
    alone = stage.device is None or stage.name == "nvrtc"
    return stage.name if alone else f"{stage.name}:{stage.device}"
