"""Choose: of a cause's remedies those for the case at hand: its messages and who speaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuwhy.causes.text.asked import Asked, asked
from gpuwhy.causes.text.contradictions import told_to_clash
from gpuwhy.causes.text.hosted import as_a_service, in_a_pod, in_a_service, in_an_image
from gpuwhy.causes.text.meant import common, exact
from gpuwhy.causes.text.rooms import rooms
from gpuwhy.causes.text.set_where import reaching
from gpuwhy.causes.text.tongues import in_its_tongue
from gpuwhy.causes.text.windows_ways import at_a_prompt, under_wsl
from gpuwhy.knowledge.programs import APPLICATIONS
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.facts import Facts
from gpuwhy.model.symptom import Reading, Symptom


def remedies(cause: str, symptoms: Sequence[Symptom], reading: Reading, facts: Facts | None = None) -> tuple[Fix, ...]:
    """The fixes for a cause where only a text is known.

    What the text names itself comes first; then those for the very messages, those by who speaks and where; else those
    made for what was asked; else the common ones. What only looks comes after two that mend.
    """
    room, case = rooms()[cause], asked(symptoms, reading, facts)
    hosted, alone = in_a_service(cause, case)
    if alone:
        return _looks_later(_once(hosted))
    very, enough = exact(room.remedies, case)
    rather = tuple(room.rather(reading, case.windows))
    very = (*rather, *(fix for fix in very if not rather or fix.role == "look"))
    if not rather and not (enough and sum(fix.role != "look" for fix in very) >= _BEFORE):
        very = (*very, *room.ladder(case))
    if not enough and not rather:
        made = tuple(room.made(case))
        very = (*made, *very) if made else (*very, *common(room.remedies, case))
    named = (
        *told_to_clash(cause, case),
        *hosted,
        *_by_place(cause, case),
        *room.first(case),
        *room.named(symptoms, reading),
    )
    rest = (fix for fix in very if not named or not fix.command.endswith(" PACKAGE"))
    once = _once(tuple(reaching((*named, *rest), case)))
    return _looks_later(_for_users(cause, case, in_its_tongue(cause, case, once)), _here(case))


def _here(case: Asked) -> frozenset[str]:
    """The tools and the system that a text tells of."""
    return frozenset((*case.tools, "windows")) if case.windows else case.tools


def _by_place(cause: str, case: Asked) -> Iterator[Fix]:
    """What the place asks for: a unit of systemd, a pod, a prompt of Windows, WSL."""
    for ways in (as_a_service, in_a_pod, in_an_image, at_a_prompt, under_wsl):
        yield from ways(cause, case)


def _for_users(cause: str, case: Asked, fixes: Sequence[Fix]) -> Sequence[Fix]:
    """Who uses an application writes no Python for it: its options, and none of a program's lines, where there are any."""
    if "jetson" in case.tools:
        fixes = [fix for fix in fixes if not any(one in fix.command for one in _NOT_ON_BOARDS)] or fixes
    if not cause.startswith("memory."):
        return fixes
    own = {text for one in case.programs if one.name in APPLICATIONS for text, _ in one.less}
    return [fix for fix in fixes if not own or fix.text in own or not _is_code(fix)] or fixes


_NOT_ON_BOARDS = ("--torch-backend", "pytorch-gpu", "nvidia-cudnn-cu", "nvidia-cublas-cu", "[and-cuda]", "jax[cuda")
"""Builds for x86-64 and servers' ARM: none of them knows a Jetson's GPU."""


def _is_code(fix: Fix) -> bool:
    return isinstance(fix.command, on.Command) and fix.command.shell == "code"


_BEFORE = 2
"""The remedies that stand before what only looks."""


def _has_a_gap(fix: Fix) -> bool:
    """Whether a command names no package: one that does is better."""
    return fix.command.endswith((" PACKAGE", " EXTENSION"))


def _for_others(fix: Fix, here: frozenset[str]) -> bool:
    """Whether a sentence is for Windows alone, and nothing in the text is of it: the same for Linux goes before."""
    return fix.text.startswith(("Windows", "WSL: ")) and not here & {"windows", "wsl"}


def _looks_later(fixes: Sequence[Fix], here: frozenset[str] = frozenset()) -> tuple[Fix, ...]:
    """Two remedies, where there are two, then what only looks, then the rest."""
    remedies = sorted((fix for fix in fixes if fix.role != "look"), key=lambda fix: (_for_others(fix, here), _has_a_gap(fix)))  # fmt: skip
    looks = [fix for fix in fixes if fix.role == "look"]
    return (*remedies[:_BEFORE], *looks, *remedies[_BEFORE:])


def _once(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """The same command once."""
    out: dict[str, Fix] = {}
    texts: set[str] = set()
    for fix in fixes:
        if fix.text not in texts:
            out.setdefault(fix.command or fix.text, fix)
        texts.add(fix.text)
    return tuple(out.values())
