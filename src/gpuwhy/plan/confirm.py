"""Confirm: the pins of a plan, handed to uv or pip.

They may confirm it or take its ✓ away; they choose, build and install nothing.
"""

from gpuwhy.choose.choice import Choice
from gpuwhy.plan.commands import index_options, requirements

SECONDS = 60
_REFUSALS = ("No solution", "ResolutionImpossible", "No matching distribution", "conflicting")


def pins(choice: Choice) -> list[str]:
    """What is asked: releases that have wheels, and the other packages that were named."""
    sources = {pick.requirement for pick in choice.picks if pick.sdist}
    names = [name for name in requirements(choice) if name not in sources]
    return [name for name in names if name[:1] not in "-./" and "://" not in name]


def with_uv(choice: Choice) -> list[str]:
    """uv's command; it reads the pins from its standard input."""
    demand = choice.demand
    glibc = demand.glibc if demand.glibc not in ("", "musl") else "2.39"
    platform = f"{demand.arch}-manylinux_{glibc.replace('.', '_')}"
    if demand.system == "windows":
        platform = "x86_64-pc-windows-msvc"
    quiet = ["--quiet", "--no-header", "--no-annotate"]
    wheels = ["--only-binary=:all:", "--no-python-downloads"]
    target = [f"--python-version={choice.python}", f"--python-platform={platform}"]
    return ["uv", "pip", "compile", "-", *quiet, *wheels, *target, *index_options(choice)]


def with_pip(choice: Choice, python: str) -> list[str]:
    """pip's command for this same Python: it reads markers for the Python that runs it."""
    dry = ["install", "--dry-run", "--ignore-installed", "--quiet", "--only-binary=:all:"]
    return [python, "-m", "pip", *dry, *index_options(choice), *pins(choice)]


def judged(tool: str, code: int, output: str, error: str) -> tuple[bool | None, str]:
    """Whether the pins go together (None: it could not say), and the sentence for the plan."""
    if code == 0:
        count = sum(1 for line in output.splitlines() if "==" in line)
        return True, f"{tool} resolves these pins{f': {count} packages' if count else ''}"
    lines = [line.strip().removeprefix("ERROR: ") for line in error.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("WARNING", "DEPRECATION"))]
    why = " ".join(lines)[:300] or f"exit code {code}"
    if "no usable wheels" not in why and any(word in why for word in _REFUSALS):
        return False, f"{tool} does not resolve these pins from wheels alone: {why}"
    return None, f"{tool} could not say: {why}"
