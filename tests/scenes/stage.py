"""A tree of files, an image, a Windows disk or an environment, judged as `check` judges it."""

import os
from collections.abc import Callable
from pathlib import Path

from gpuwhy.answer.answer import Answer, CauseFound
from gpuwhy.api.machine import Seen, observe
from gpuwhy.facts.facts import Facts
from gpuwhy.look.assumed import AssumedMachine, assume
from gpuwhy.look.look import Options
from gpuwhy.machine.image import open_image
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.machine import Machine
from gpuwhy.machine.recording import RecordingMachine
from gpuwhy.machine.windows import folder_machine
from tests.look.world import World


def machine_of(path: object, image: str = "") -> Machine:
    """What lies at a path."""
    return open_image(str(path), image, lambda _: None) or folder_machine(str(path))


def seen(path: object, python: str = "", on: AssumedMachine | None = None) -> Seen:
    """What shows there, on another machine's GPU where one is given."""
    as_on: Callable[[Facts], Facts] | None = (lambda facts: assume(facts, on)) if on else None
    machine = RecordingMachine(machine_of(path))
    return observe(machine, Options(python=python), as_on, on.gpus[0][0] if on else "")


def judged(path: object, python: str = "", on: AssumedMachine | None = None) -> Answer:
    """The answer."""
    return seen(path, python, on).report


# ---------------------------------------------------------------- an environment on a GPU machine

T4 = AssumedMachine((("Tesla T4", "7.5"),), "580.65.06")
LAB = Path(os.environ.get("GPUWHY_LAB", ""))
"""A folder of real environments; scenes that miss theirs are skipped."""


def _on_a_gpu(machine: Machine, options: Options) -> dict[str, CauseFound]:
    found = observe(machine, options, lambda facts: assume(facts, T4)).report
    return {one.id: one for one in found.causes}


def told(cause: CauseFound) -> str:
    """All that an answer says of a cause, as one text."""
    because = [line for one in cause.because for line in (one.text, *(e.text for e in one.saw))]
    return "\n".join([*because, *(f"{one.text} {one.command}" for one in cause.fixes)])


def small(world: World) -> dict[str, CauseFound]:
    """What is shown for an environment of small files."""
    return _on_a_gpu(world.machine(), Options())


def live(venv: Path, **environ: str) -> dict[str, CauseFound]:
    """What is shown for a real environment, under the given variables and no others."""
    machine = LiveMachine({"PATH": "/usr/bin:/bin", **environ})
    return _on_a_gpu(machine, Options(python=str(venv)))
