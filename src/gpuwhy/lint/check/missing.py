"""What is not there or fails: names, releases, wheels for a Python, builds without torch."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import product

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import flaws, packages, published
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.knowledge.published import is_missing
from gpuwhy.knowledge.releases import has_python
from gpuwhy.lint.mistakes import Edit, Mistake, know
from gpuwhy.lint.rules import pattern, table
from gpuwhy.lint.scope import TENSORFLOW, Scope, told
from gpuwhy.lint.sheet import Pin, holds_only
from gpuwhy.lint.versions import LINUX, PYTHONS, allowed, holds, parsed, rows, span

_OF_CONDA: dict[str, str] = table("names.of_conda")
"""Names of the package index, and what conda's channels call the same."""
_FRAMEWORKS = table("names.frameworks")


@cache
def _meant() -> dict[str, tuple[str, str]]:
    """Wrong names: absent, placeholder or another, and what is meant."""
    out: dict[str, tuple[str, str]] = {}
    for kind in ("another", "placeholder", "absent"):
        for meant, wrong in table(f"names.{kind}").items():
            out |= dict.fromkeys(wrong.split(), (kind, meant))
    return out


def wrong_name(scope: Scope) -> Iterator[Mistake]:
    """What pip or conda is asked for by a wrong name; a frozen system is told once."""
    said: set[str] = set()
    for pin in scope.pins:
        if pin.origin == "conda" and pin.name in _OF_CONDA and not (pin.channel or pin.build):
            yield told("wrong-name.conda", pin, meant=_OF_CONDA[pin.name])
        kind, meant = _misnamed(scope, pin) if pin.by_name else ("", "")
        if kind and meant not in said:
            said |= {meant} if meant.startswith("leave") else set()
            edit = Edit("pytorch", "torch") if pin.name == "pytorch" and not pin.specifier else None
            fix = meant if meant.startswith("leave") else f"write {meant}"
            yield told(f"wrong-name.{kind}", pin, fix=fix, edit=edit)


def _misnamed(scope: Scope, pin: Pin) -> tuple[str, str]:
    """What is wrong with a name of pip's, and the right one; two times "" where nothing is."""
    name = pin.name
    if name == "pytorch":
        return "placeholder", "torch"
    if scope.is_elsewhere(pin):
        return "", ""
    kind, meant = _meant().get(name, ("", ""))
    if kind and (kind != "another" or scope.for_gpus):
        return kind, meant
    if re.fullmatch(r"nvidia-[a-z-]+-cu11[0-7]|nvidia-cudnn|nvidia-tensorflow", name):
        own = any(p.name == "nvidia-pyindex" and p.step < pin.step for p in scope.pins)
        fix = "the wheel for its CUDA major (-cu11, -cu12), or NVIDIA's index"
        return ("", "") if own else ("placeholder", fix)
    meant = published.meant(name)
    return ("absent" if meant else ""), meant


def no_such_release(scope: Scope) -> Iterator[Mistake]:
    """A number that nobody published."""
    for pin in scope.pins if scope.for_gpus else ():
        asked, every = parsed(pin.version), published.releases(pin.name)
        lts = any("/lts/" in one.url for one in pin.indexes)
        if not asked or not every or not pin.installed or pin.variant or lts:
            continue
        framework = pin.name in _FRAMEWORKS
        trial = asked.is_devrelease or (asked.is_prerelease and pin.indexes)
        older = asked < every[0] and pin.name != "jaxlib"
        if framework and (scope.environment.other_index or trial or older):
            continue
        if not framework and (pin.name in ("pytorch", "jax") or scope.is_elsewhere(pin)):
            continue
        ended = pin.name == "tensorflow-gpu" and asked > every[-1]
        if ended or published.is_missing(pin.name, pin.version):
            stable = [one for one in every if not one.is_prerelease] or every
            nearest = next((one for one in stable if one > asked), stable[-1])
            yield told("no-such-release", pin, published.SOURCE, nearest=nearest)


def tombstone(scope: Scope) -> Iterator[Mistake]:
    """tensorflow-gpu where pip takes 2.12.0, a source package that only refuses to be built."""
    for pin in scope.pins:
        found = pin.releases if pin.name == "tensorflow-gpu" and pin.origin == "pip" else ()
        if found and found[-1].platform == "source":
            row = found[-1]
            said = f"{pin.name}{pin.specifier or ' without a version'}"
            known = pin.version and allowed("tensorflow", pin.specifier)
            instead = pin.version if known else "2.11.1"
            source = know(row.file, f"sha256 {row.sha256[:12]}…")
            yield told("tombstone", pin, source, said=said, version=row.version, instead=instead)


def broken(scope: Scope) -> Iterator[Mistake]:
    """TensorFlow releases whose GPU part does not work as published."""
    path = scope.environment.variables.get("LD_LIBRARY_PATH")
    full = scope.base.family in ("cuda", "pytorch", "ngc", "tensorflow")
    for pin in scope.pins:
        row = scope.taken(pin) if pin.name in TENSORFLOW and scope.from_index(pin) else None
        flaw = flaws.flaw(pin.name, row.version) if row else None
        by_extra = "and-cuda" in pin.extras
        if (
            not row
            or not flaw
            or not (by_extra or (scope.gpu_meant and "and-cuda" not in flaw.text))
        ):
            continue
        cured = (full and scope.base.variant != "base") or (path and flaw.cure in path.text)
        if flaw.cure and cured:
            continue
        plain = (one.version for one in rows(pin.name) if one.platform == LINUX)
        numbered = (version for version in plain if re.fullmatch(r"[\d.]+", version))
        sound = [version for version in numbered if not flaws.flaw(pin.name, version)]
        chosen = next((one for one in sound if at_least(one, row.version)), sound[-1])
        wanted = gpu_requirement("tensorflow", pin.name, chosen, None)
        fix = f'write "{wanted or f"{pin.name}=={chosen}"}"'
        if flaw.cure:
            fix += f", or LD_LIBRARY_PATH=…/site-packages/nvidia/{flaw.cure}/lib"
        values = {"version": row.version, "flaw": flaw.text}
        severity = "" if pin.version else "warning"
        yield told("broken-release", pin, flaw.source, fix=fix, severity=severity, values=values)


_TOLD = re.compile(r"no[-_]build[-_]isolation|extra-build-dependencies|match-runtime")
_NEW_PIP = pattern("builds.new_pip")
_JUDGED: dict[str, str] = table("builds.judged")
_OF_THREE = re.compile(r"(\S*/)?(pip3|python3)( |$)")


def torch_at_build(scope: Scope) -> Iterator[Mistake]:
    """Such a package in one step with torch, or built apart from an installed torch."""
    extra = scope.kind == "pyproject" and scope.environment.part
    there = scope.base.framework == "torch" or scope.over_unknown
    if extra or there or scope.kind == "notebook" or _is_told(scope):
        return
    known = packages.table()
    for pin in scope.pins:
        own = pin.name in (known.repositories if pin.reference else known.need_torch)
        page = any(one.role == "links" or not holds_only(one.url) for one in pin.indexes)
        if not own or pin.origin != "pip" or page or pin.local or (pin.reference and pin.version):
            continue
        if pin.version and is_missing(pin.name, pin.version):
            continue  # no-such-release tells that: it cannot be installed at all
        torches = (p for p in scope.pins if p.name in ("torch", "pytorch") and p.beside(pin))
        torch = next(torches, None)
        why = _why(scope, pin, torch) if torch else ""
        if why:
            case = "torch-at-build" + (".pyg" if pin.name.startswith("torch-") else "")
            severity = "warning" if scope.kind in ("requirements", "pyproject") else ""
            yield told(case, pin, packages.SOURCES, severity=severity, why=why)


def _is_told(scope: Scope) -> bool:
    """Whether this file or one near it says the way that works."""
    if "PIP_NO_BUILD_ISOLATION" in scope.environment.variables:
        return True
    own = _TOLD.search(scope.read(scope.environment.path) or "")
    return bool(own) or (scope.kind != "dockerfile" and scope.repository.says(_TOLD))


def _why(scope: Scope, pin: Pin, torch: Pin) -> str:
    """Why the build sees no torch; "" where it does, or where nobody can tell."""
    words, pythons = scope.environment.words_of(pin.step), scope.environment.pythons

    def all_since(version: str) -> bool:
        return bool(pythons) and all(at_least(python, version) for python in pythons)

    if torch.origin == "conda":
        new = scope.kind == "conda" and all_since("3.10")
        pinned = "pip" in scope.names and scope.names["pip"].specifier
        alone = "pip builds it apart from conda's torch, and sees none"
        return alone if new and not pinned else ""
    if pin.step == torch.step:
        return f"it is built before the torch of line {torch.place.line} is installed"
    if torch.step > pin.step:
        return f"torch comes only on line {torch.place.line}"
    if not words or "--no-build-isolation" in words or scope.kind == "cog":
        return ""
    before = scope.environment.commands[: pin.step - 1]
    upgraded = any(_NEW_PIP.search(command.text) for command in before)
    isolated = words[0] == "uv" or upgraded or all_since("3.12")
    return "a build of its own sees no torch without --no-build-isolation" if isolated else ""


def python_no_wheel(scope: Scope) -> Iterator[Mistake]:
    """No wheel of any allowed release of a framework for the Python that is used."""
    used, said = scope.environment.pythons, scope.environment.python_from
    if not used and scope.kind in ("requirements", "conda"):
        used, said = scope.repository.pythons, "another file of the repository names it"
    for pin in scope.pins:
        here = tuple(one for one in used if one in PYTHONS and holds(pin.marker, one))
        name = _JUDGED.get(pin.name, "")
        if pin.reference:
            yield from _named(scope, pin)
            continue
        own = pin.by_name and not scope.environment.other_index and here
        if not name or not own or (pin.variant and not pin.version):
            continue
        found = allowed(name, f"=={pin.public}" if pin.version else pin.specifier)
        wheels = [row for row in found if row.platform in (LINUX, "any")]
        if wheels and not any(has_python(row, one) for row, one in product(wheels, here)):
            row, has = wheels[-1], span(wheels[-1].pythons)
            values = {"name": name, "version": row.version, "has": has, "pin": pin.name}
            values |= {"used": span(here), "said": said, "last": has.split()[-1]}
            source = know(row.file, f"sha256 {row.sha256[:12]}…")
            yield told("python-no-wheel", pin, source, values=values)


def _named(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    """A wheel that is named by its file, for another Python."""
    found = re.fullmatch(r"cp([23])(\d+)", pin.tag)
    if not found or pin.marker or scope.kind == "pyproject":
        return
    used, tagged = scope.environment.pythons, f"{found[1]}.{found[2]}"
    by_three = any(_OF_THREE.match(one.text) for one in scope.environment.commands)
    if tagged not in used and (used or (found[1] == "2" and by_three)):
        wanted = span(used) if used else "Python 3"
        where = f"{wanted} ({scope.environment.python_from})" if used else "Python 3, of pip3"
        yield told("python-no-wheel.named", pin, tagged=tagged, used=where, wanted=wanted)
