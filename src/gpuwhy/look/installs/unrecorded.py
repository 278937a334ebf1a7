"""What an installation that was cut short leaves: pip writes RECORD last, and moves the old release
aside (~orch) while it installs the new one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from gpuwhy.facts.environment import Metadata, Package
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Damage, DamageKind, Part
from gpuwhy.facts.record import Owner
from gpuwhy.look.environment.packages import gone
from gpuwhy.machine.machine import Machine

_MODULES = ("torch", "tensorflow", "jax", "jaxlib", "onnxruntime", "cupy", "numpy")
_ASIDE = r"~+(?P<rest>[\w.]+?)-(?P<version>\d[^-]*)\.dist-info"
"""How pip names what it has moved aside: with another first letter."""
_MOST_PARTS = 4000


def unrecorded(machine: Machine, facts: Facts, among: Iterable[Package]) -> Iterator[Damage]:
    """What is missing or cut in packages that no RECORD describes."""
    if value_or(facts.system.os, "") == "windows":
        return
    python = value_or(facts.environment.python, None)
    for package in among if python and python.kind == "venv" else ():
        whole = package.metadata is Metadata.WHOLE
        if whole and not package.recorded and not package.installer:  # pip writes both last
            path, kind = f"{package.location}/RECORD", DamageKind.MISSING
            yield Damage(path, kind, Part.METADATA, package.owner)
    yield from _broken_off(machine, facts)


def _broken_off(machine: Machine, facts: Facts) -> Iterator[Damage]:
    """Frameworks that pip had moved aside (~orch) for another release when it was ended."""
    names = {one.name for one in value_or(facts.environment.packages, ())}
    for site in value_or(facts.environment.sites, ()):
        for entry in value_or(machine.list(site.path, r"~.*\.dist-info$"), ()):
            aside = re.fullmatch(_ASIDE, entry.name)
            rest = aside["rest"] if aside else ""
            module = next((one for one in _MODULES if rest and one[1:] == rest), "")
            if not aside or not module or module in names:
                continue
            path = _not_there(machine, site.path, entry.name, module)
            if path:
                owner = Owner(module, aside["version"], "pip")
                kind, part = DamageKind.HALF_UPGRADED, Part.PACKAGE
                yield Damage(path, kind, part, owner, actual=entry.name)


def _not_there(machine: Machine, site: str, aside: str, module: str) -> str:
    """The first package of what was moved aside that is not in its old place; "" if all are."""
    lines = value_or(machine.lines(f"{site}/{aside}/RECORD", "/__init__.py,"), ())
    named = (line.partition(",")[0] for line in lines if line.startswith(f"{module}/"))
    paths = (f"{site}/{one}" for one in dict.fromkeys((f"{module}/__init__.py", *named)))
    return next((path for path in islice(paths, _MOST_PARTS) if gone(machine, path)), "")
