"""Sourced: what goes wrong where a shell runs the environment's activation, for the causes that it speaks for."""

from __future__ import annotations

from collections.abc import Sequence

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Finding, Fix, mild, noted, saw, strong, weak
from gpuwhy.model.fact import Source, value_or
from gpuwhy.model.facts import Sourced
from gpuwhy.rooms.shared.commands import word


def found(case: Case, *kinds: str) -> list[Sourced]:
    """What was seen of these kinds; a program that failed tells for itself."""
    seen: tuple[Sourced, ...] = value_or(case.facts.target.sourced, ())
    return [one for one in seen if one.kind in kinds] if not case.symptoms and not case.facts.run.failed else []


def fails(case: Case) -> Finding | None:
    """The activation ends the shell, or complains and leaves another Python first; if it only complains, a note."""
    said, ends, away = found(case, "said"), found(case, "ends"), found(case, "python")
    first = next(iter((*said, *ends)), None)
    if first is None:
        return None
    text = f"{first.file} does not run in a shell: {_words(first)}" if said else f"{first.file} ends the shell"
    evidence = saw(_words(first), Source("file", first.file))
    if ends:
        return mild(strong(f"{text}; a shell that reads it ends there" if said else f"{text} that reads it", evidence))
    if not away:
        return noted(mild(weak(text, evidence)))
    return mild(strong(f"{text}; python is then {away[0].text or 'not found'}, not the environment's", evidence))


def _words(one: Sourced) -> str:
    return f"line {one.line}: {one.text}" if one.line else "it ends the shell"


def unbound(case: Case) -> Finding | None:
    """A job script with `set -u` ends in the activation."""
    seen = found(case, "unbound")
    frameworks = value_or(case.facts.target.frameworks, ())
    if not seen or (case.framework is not None and case.framework.name != frameworks[0].name):
        return None
    one = seen[0]
    text = (
        f"{one.file}, line {one.line}, uses a variable that need not be set ({one.text}): scripts with set -u end there"
    )
    return mild(weak(text, saw("run with set -u", Source("file", one.file))))


def mending(case: Case, owners: Sequence[str]) -> tuple[Fix, ...]:
    """Where the activation does not run, and no package is damaged: mend it."""
    return (mended(case, found(case, "said", "ends")[0]),) if fails(case) and not owners else ()


def mended(case: Case, one: Sourced) -> Fix:
    """Mend the file; a copy of the environment has an activation of its own."""
    python = value_or(case.facts.target.interpreter, None)
    own = python is not None and python.kind == "venv" and one.file.startswith(f"{python.prefix}/")
    if "\\r" in one.text:
        command = on.linux(f"sed -i 's/\\r$//' {word(one.file)}")
        return Fix("Give the file the line ends of Linux; it was edited on Windows", command, safe=own, anew=own)
    if one.kind == "unbound":
        name = one.text.partition(":")[0]
        return Fix(f"Write ${{{name}:-}} for ${name} there, or set +u before it is read", safe=own, anew=own)
    line = f", line {one.line}," if one.line else ""
    return Fix(f"Mend {one.file}{line} or take that line out of it", safe=own, anew=own)


def limited(case: Case, name: str) -> Sourced | None:
    """The limit of this name that the activation lowers."""
    return next((one for one in found(case, "limit") if one.text == name), None)
