"""Fixes that point at what the text itself named: the process that holds the memory, the package that did not build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuwhy.causes.clues import tailored
from gpuwhy.model.cause import Fix
from gpuwhy.model.facts import Facts
from gpuwhy.model.symptom import Reading, Symptom

_LOOK = 1
"""Where a fix that ends a process stands: after the one that only looks."""


def remedies(
    cause: str, own: Sequence[Fix], symptoms: Sequence[Symptom], reading: Reading, facts: Facts | None = None
) -> tuple[Fix, ...]:
    """The fixes for a cause where only a text is known, those among them that it names."""
    fixes = tailored.remedies(cause, own, symptoms, reading, facts)
    if cause == "memory.other_process":
        return (*fixes[:_LOOK], *_ended(symptoms, reading), *fixes[_LOOK:])
    if cause == "program.build":
        return (*_unisolated(symptoms, reading), *fixes)
    return fixes


def _ended(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """End the process that the message names."""
    for one in symptoms:
        if one.signature == "memory.torch_oom" and one.get("pid"):
            pid = one.get("pid")
            windows = reading.told.os == "windows"
            yield Fix(
                f"End process {pid}, which holds {one.get('held')}, where it is yours and not needed",
                f"taskkill /PID {pid}" if windows else f"ps -o user,etime,cmd -p {pid}\nkill {pid}",
                check="gpuwhy explain LOG",
            )
            return


def _unisolated(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """Build where the module is installed, not in pip's own environment."""
    module = next((s.get("name") for s in symptoms if s.signature == "python.module"), "")
    if module and reading.has("build.isolated"):
        package = next((s.get("package") for s in reading.all("build.package")), "PACKAGE")
        yield Fix(
            f"Build in the environment that has {module}, not in pip's own; install {module} there first",
            f"pip install {module} ninja packaging wheel setuptools\npip install --no-build-isolation {package}"
            if module == "torch"
            else f"pip install {module}\npip install --no-build-isolation {package}",
            safe=True,
            check="gpuwhy explain LOG",
        )
