"""Other releases of packages, in a copy of the environment: from what an installer would choose
today down to the one that matters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec

from gpuwhy.facts.environment import Package, Python
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.machine.process import Limits, child_command, collect
from gpuwhy.machine.writing import keep
from gpuwhy.prove.endings import said
from gpuwhy.prove.proof import Tweak
from gpuwhy.prove.session import Session
from gpuwhy.prove.tables import tables
from gpuwhy.run.stage import found_program, fresh_folder, linked

SPEAK_FOR = ("install.", "framework.", "cuda.", "cudnn.", "env.shadowed", "other.not_gpu")
"""Families of causes that another release may change."""
FRAMEWORKS = ("torch", "jax", "jaxlib", "tensorflow", "onnxruntime-gpu", "onnxruntime")
TOOLS = ("pip", "setuptools", "wheel", "uv")
ANEW, OTHER, EXTRA, SUSPECT = 0.15, 1.0, 0.1, 30.0
"""How likely the same release written again is, another one, one that is too much; and how much
likelier a package is that the last words name.
"""
SECONDS = 300.0
"""How long an installer may take."""


class FailedError(Exception):
    """uv did not do what it was asked."""


class Copies(msgspec.Struct, frozen=True):
    """Makes copies of one environment below a folder of ours, broken files and all."""

    uv: str
    python: str
    prefix: str
    site: str  # lib/python3.12/site-packages
    folder: str
    environ: Mapping[str, str]
    borrows: bool  # from the system's packages

    def made(self, tweaks: Sequence[Tweak]) -> str:
        """The Python of a copy in which these releases are in place, and nothing else changed."""
        made = f"{self.folder}/copy"
        borrow = ["--system-site-packages"] if self.borrows else []
        self._uv("venv", "--clear", "--no-project", *borrow, "--python", self.python, made)
        linked(f"{self.prefix}/{self.site}", f"{made}/{self.site}")
        at = ("--python", f"{made}/bin/python")
        gone = [one.name for one in tweaks if one.name and not one.value]
        wanted = [f"{one.name}=={one.value}" for one in tweaks if one.value]
        if gone:
            self._uv("pip", "uninstall", *at, *gone)
        if wanted:
            self._uv("pip", "install", *at, "--no-deps", "--reinstall", *wanted)
        return f"{made}/bin/python"

    def resolved(self, wanted: Sequence[str]) -> dict[str, str]:
        """What an installer would choose today for these."""
        asked = f"{self.folder}/wanted.txt"
        keep(asked, "\n".join(wanted).encode() + b"\n")
        words = ("--no-header", "--no-annotate", "--python", self.python, asked)
        lines = self._uv("pip", "compile", *words).splitlines()
        pins = (line.split(";")[0].strip().split("==") for line in lines)
        return {_normal(pin[0]): pin[1] for pin in pins if len(pin) == 2}

    def _uv(self, *words: str) -> str:
        limits = Limits(SECONDS, keeps_errors=True)
        end = collect(child_command("become", self.uv, *words, "-q"), limits, self.environ)
        if end.code != 0:
            raise FailedError(f"uv {words[0]} {end.words}: {end.err.strip()[-300:]}")
        return end.out


def packages(
    session: Session,
    facts: Facts,
    environ: Mapping[str, str],
    use: Callable[[Callable[[Sequence[Tweak]], str]], None],
) -> None:
    """Try other releases, where the failure may be one of packages and a copy can be made."""
    python: Python | None = value_or(facts.environment.python, None)
    spoken = any(
        one.startswith(SPEAK_FOR) and value >= 0.1 for one, value in session.causes.items()
    )
    if not spoken or session.base is None:
        return
    if python is None or python.kind != "venv" or python.own:
        session.left.append("packages were not tried: that needs a virtual environment of its own")
        return
    uv = found_program(("uv",), environ)
    if not uv:
        session.left.append("packages were not tried: that needs uv, which is not installed")
        return
    prefix = python.prefix.rstrip("/")
    borrows = any(site.kind == "system" for site in value_or(facts.environment.sites, ()))
    found = facts.environment.by_name.values()
    inside = [one for one in found if one.location.startswith(f"{prefix}/")]
    with fresh_folder(beside=prefix) as folder:
        site = f"lib/python{'.'.join(python.version.split('.')[:2])}/site-packages"
        copies = Copies(uv, python.path, prefix, site, folder, environ, borrows)
        use(copies.made)
        try:
            _tried(session, copies, inside, facts)
        except (FailedError, OSError) as error:
            session.left.append(f"packages were not tried: {error}")


def _tried(session: Session, copies: Copies, inside: Sequence[Package], facts: Facts) -> None:
    """As the installer would have it with the same main releases, then with others."""
    assert session.base
    here = {one.name: one.version for one in inside}
    damaged = {_normal(one.owner.name) for one in value_or(facts.installs.damage, ())}
    owners = " ".join(frame.owner for frame in session.base.stack)
    blamed = _suspects(f"{said(session.base)} {owners}", here) | damaged
    control = Tweak("package", "package", "in a copy of its environment")
    if session.once((control,), "look").outcome != "same":
        session.left.append("packages were not compared: in a copy it fails otherwise, or runs")
        return
    lost = [one for one in _suspects(said(session.base), FRAMEWORKS) if one not in here]
    for wanted in _wishes(inside, here, blamed):
        try:
            fresh = copies.resolved([*wanted, *lost])
        except FailedError:
            continue
        tweaks = sorted(differences(here, fresh, blamed), key=lambda one: -one.weight)
        session.hunted(tweaks)
        if session.proven:
            return
        session.found = ()


def differences(
    here: Mapping[str, str], fresh: Mapping[str, str], blamed: Collection[str] = ()
) -> Iterator[Tweak]:
    """A tweak for each package: another release, the same again, one missing, one too much."""
    for name in sorted({*here, *fresh}):
        old, new = here.get(name, ""), fresh.get(name, "")
        if old == new:
            how, text, weight = "anew", f"with {name} {old} installed again", ANEW
        elif not new:
            how, text, weight = "extra", f"without {name} {old}", EXTRA
        elif not old:
            how, text, weight = "missing", f"with {name} {new} installed", OTHER
        else:
            how, text, weight = "other", f"with {name} {new} instead of {old}", OTHER
        install = f'pip install --force-reinstall --no-deps "{name}=={new}"'
        weight *= SUSPECT if name in blamed else 1.0
        command = install if new else f"pip uninstall {name}"
        key, causes = f"package {name}", _causes(name, how)
        yield Tweak(key, "package", text, name, new, causes, weight, command)


def _causes(name: str, how: str) -> tuple[str, ...]:
    """What such a difference stands for; of a package of CUDA or cuDNN first that of its layer."""
    layer = next((one for one in ("cudnn", "nvidia-") if one in name), "")
    rows = tables().packages
    return (*rows.get(f"{layer} {how}", ()), *rows[how])


def _suspects(text: str, names: Collection[str]) -> set[str]:
    """The packages that the program's last words speak of."""
    words = {word.lower().replace("_", "-") for word in re.findall(r"[A-Za-z_][\w-]+", text)}
    return words & set(names)


def _wishes(
    found: Sequence[Package], here: Mapping[str, str], blamed: Collection[str]
) -> Iterator[list[str]]:
    """Requirements to resolve: the main releases as they are; frameworks as they are; anything.

    A main package is one that nothing else that is installed needs.
    """
    asked = (text for one in found for text in value_or(one.requires, ()))
    needed = {_normal(text) for text in asked if "extra ==" not in text}
    roots = [one for one in here if one not in needed and one not in TOOLS] or list(here)
    for kept in (roots, FRAMEWORKS, [one for one in roots if one not in blamed], ()):
        yield [f"{one}=={here[one]}" if one in kept else one for one in roots]


def _normal(requirement: str) -> str:
    """The package that a requirement names."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement.strip())
    return re.sub(r"[-_.]+", "-", found[0]).strip("-").lower() if found else ""
