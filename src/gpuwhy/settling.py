"""Wires fixes and plan: a fix that installs anything gets exact releases, for the whole environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from gpuwhy.model.cause import Fix
from gpuwhy.model.fact import Known
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Report
from gpuwhy.reason.remedy import Chosen
from gpuwhy.rooms.shared.commands import change, of_own_index, requirement, word
from gpuwhy.shell.gate import to_fill_in
from gpuwhy.shell.place import system_of

if TYPE_CHECKING:
    from gpuwhy.plan_v0.mending import Clash, Mend


def settled(report: Report, facts: Facts) -> Report:
    """The report whose fixes name the releases that `gpuwhy fix` would install; not for an image, nor for Windows."""
    here = system_of(facts) in ("linux", "wsl") and not isinstance(facts.surroundings.offline, Known)
    if not here or not any(_installs(fix) for cause in report.causes for fix in cause.fixes):
        return report
    causes = (replace(one, fixes=tuple(planned(fix, facts).fix for fix in one.fixes)) for one in report.causes)
    return replace(report, causes=tuple(causes))


def _installs(fix: Fix) -> bool:
    """Whether releases are left to choose: what is installed again has its own."""
    return bool(fix.wishes or (fix.install and not fix.again))


def planned(fix: Fix, facts: Facts) -> Chosen:
    """The fix with releases that work on this machine, beside everything that is installed."""
    if not _installs(fix):
        return Chosen(fix)
    from gpuwhy.plan_v0.mending import Clash, mended

    found = mended(fix, facts)
    chosen = _apart(facts, found) if isinstance(found, Clash) else _with(fix, facts, found)
    return replace(chosen, fix=to_fill_in(chosen.fix))


def is_placed(name: str) -> bool:
    """Whether the plan places a package: the installer alone may then not move it."""
    from gpuwhy.plan_v0 import mending

    return mending.is_placed(name)


def _with(fix: Fix, facts: Facts, mend: Mend) -> Chosen:
    if not mend.wanted:
        return Chosen(fix, note=mend.note)
    made = change(facts, mend.text, *mend.wanted, because_of=mend.because_of, removing=mend.removing, check=fix.check)
    command = of_own_index(made.command, mend.backend) if mend.backend else made.command
    return Chosen(replace(made, command=command, role=fix.role), mend.why, mend.note, mend.backend)


def _apart(facts: Facts, clash: Clash) -> Chosen:
    """No set holds both: the pair is named, an environment of its own proposed, and the releases that do share."""
    found = facts.target.interpreter
    prefix, python = (found.value.prefix, found.value.path) if isinstance(found, Known) else ("env", "python3")
    folder = f"{prefix.rstrip('/')}-{clash.one.split(' ')[0]}"
    lines = [f"uv venv --python {word(python)} {word(folder)}"]
    lines.append(f"uv pip install --python {word(folder)}/bin/python {' '.join(map(requirement, clash.alone))}")
    shares = "; or ".join(" and ".join(each) for each in clash.shares)
    note = f"{clash.text}. Releases that do share: {shares}" if shares else f"{clash.text}. No releases share here"
    text = f"Give {clash.one} an environment of its own: it cannot share one with {clash.other}"
    own = Fix(text, "\n".join(lines), check=f"gpuwhy check --python {word(folder)}")
    return Chosen(own, clash.text, note, apart=True)
