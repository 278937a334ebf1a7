"""A framework that is there, and what a later command puts in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.facts.version import numbers
from gpuwhy.knowledge import asked, held
from gpuwhy.knowledge.containers import Base
from gpuwhy.knowledge.drivers import floor
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint import solving
from gpuwhy.lint.mistakes import Mistake, Place, know, mistake
from gpuwhy.lint.rules import pattern
from gpuwhy.lint.scope import Scope, newest_said, of_gpus
from gpuwhy.lint.sheet import Pin, holds_only
from gpuwhy.lint.versions import LINUX, allowed, allows, major, together

_COMPANIONS = ("torchvision", "torchaudio", "xformers")
_PROJECT = know("pyproject.toml beside the file", "pip does not look back at earlier commands")
_LATER = know("pip install --upgrade", "takes the newest release, whatever is installed")
_OVER = know("pip", "replaces the image's build with the one from the index")
_INDEXES = {11: "cu118", 12: "cu126"}
"""Of each CUDA major an index of PyTorch's that many releases are on."""
_ON_PURPOSE = pattern("replaced.on_purpose", re.IGNORECASE)


def torch(scope: Scope) -> Iterator[Mistake]:
    """torch pinned by a command, conda or the image, and later a package that wants another."""
    limited = "PIP_CONSTRAINT" in scope.environment.variables
    limited = limited or any(pin.limits for pin in scope.environment.pins)
    one_by_one = scope.kind in ("dockerfile", "script", "cog", "conda")
    if not one_by_one or scope.environment.other_index or limited:
        return
    pins = (pin for pin in scope.pins if pin.name == "torch" and pin.version and pin.step)
    pin = next(pins, None)
    if pin:
        yield from _by_project(scope, pin)
        later = [p for p in scope.pins if p.step > pin.step and together(pin, p)]
        yield from _by_later(scope, later, pin.public, pin.said)
    elif not any(one.name == "torch" for one in scope.pins):
        version, said = _held_elsewhere(scope)
        later = [one for one in scope.pins if not one.arms]
        yield from _by_later(scope, later if version else [], version, said)


def _held_elsewhere(scope: Scope) -> tuple[str, str]:
    """The release of conda's PyTorch or of the image's, and the words for it."""
    conda, base = scope.by_conda("pytorch"), scope.base
    found = re.fullmatch(r"==(\d+\.\d+(?:\.\d+)?)(\.\*)?", conda.specifier) if conda else None
    if conda and found:
        patches = allowed("torch", f"=={found[1]}.*") if found[1].count(".") == 1 else ()
        version = patches[-1].version if patches else found[1]
        return version, f"conda's pytorch {found[1]} (line {conda.place.line})"
    month = held.month(base.name.rpartition(":")[2])
    limited = base.family == "ngc" and month >= held.LIMITED  # keeps its packages by constraints
    if conda is None and base.framework == "torch" and base.version and not limited:
        return base.version, f"torch {base.version} of the image"
    return "", ""


def _by_later(scope: Scope, pins: list[Pin], version: str, said: str) -> Iterator[Mistake]:
    """The first later package whose release, as pip takes it, does not go with that torch."""
    for pin in pins:
        own_index = any(holds_only(index.url) == "torch" for index in pin.indexes)
        named = any(p.name == "torch" and p.step == pin.step for p in scope.pins)
        if not pin.installed or own_index or named or scope.is_bare(pin.step):
            continue
        if pin.name in _COMPANIONS and (pin.specifier or _is_there(scope, pin)):
            continue  # pair-mismatch compares releases
        if pin.name in _COMPANIONS:
            row = scope.taken(pin)
            pairs = row.pairs if row and isinstance(row.pairs, dict) else {}
            wanted = pairs.get("torch", "")
            if not row or row.platform != LINUX or not wanted or allows(wanted, version):
                continue
            text = f"{pin.name} without a version takes {row.version}, which brings torch{wanted}"
            source = evidence_of(row, "pairs")
        elif _excludes(scope, pin, version):
            text = f"{pin.name}{pin.specifier or ' without a version'} asks for another torch"
            source = asked.SOURCE
        else:
            continue
        both = f"gpuwhy plan torch=={version} {pin.name}"
        fix = f"install both in one command, or a {pin.name} for that torch: {both}"
        text = f"{text} in the place of {said}"
        yield mistake("torch-replaced", pin.place, text, source, fix)
        return


def _is_there(scope: Scope, pin: Pin) -> bool:
    """Whether an earlier command installed the companion, which then stays."""
    lifted = {"-U", "--upgrade", "--force-reinstall"} & set(scope.environment.words_of(pin.step))
    earlier = (p for p in scope.pins if p.name == pin.name and p.step < pin.step)
    return not lifted and any(not one.arms for one in earlier)


def _excludes(scope: Scope, pin: Pin, version: str) -> bool:
    """Whether what pip takes for a pin asks for another torch, on every Python."""
    found = [solving.taken([pin], python) for python in scope.pythons]
    known = [one.releases for one in found if not one.clash and pin.name in one.releases]
    return bool(known) and all(_wants_other(pin.name, one, version) for one in known)


def _wants_other(name: str, releases: object, version: str) -> bool:
    chosen: dict[str, str] = dict(releases) if isinstance(releases, dict) else {}
    wishes = asked.asks(name, chosen.get(name, "")).get("torch", ())
    if wishes:
        return not any(allows(one.partition(";")[0], version) for one in wishes)
    inner = [one for one in asked.asks(name, chosen.get(name, "")) if one in chosen]
    asks = (asked.asks(one, chosen[one]).get("torch", ()) for one in inner)
    return any(w and not any(allows(one.partition(";")[0], version) for one in w) for w in asks)


def _by_project(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    """A project that is installed later and does not take the pinned torch."""
    for own in scope.project:
        later = own.name == "torch" and pin.step < own.step
        if later and not allows(own.specifier, pin.public):
            text = f"the project asks for torch{own.specifier} itself, and replaces {pin.said}"
            fix = "pin what the project asks for, or install it with --no-deps or constraints"
            yield mistake("torch-replaced", own.place, text, _PROJECT, fix)
            return


def pin_undone(scope: Scope) -> Iterator[Mistake]:
    """pip install -U transformers after transformers==4.51.3."""
    for pin in scope.pins if scope.kind in ("dockerfile", "script", "cog") else ():
        earlier = [p for p in scope.pins if p.name == pin.name and 0 < p.step < pin.step]
        exact = [p for p in earlier if p.version and together(p, pin)]
        if not exact or not of_gpus(pin) or pin.origin != "pip" or pin.arms:
            continue
        before, words = exact[-1], scope.environment.words_of(pin.step)
        lifted = {"-U", "--upgrade"} & set(words) and not pin.specifier and not pin.reference
        framework = pin.name in ("torch", "tensorflow", "tensorflow-gpu", "jax", "jaxlib")
        other = framework and pin.public not in ("", before.public)
        if (lifted and "--no-deps" not in words) or other:
            takes = f"{pin.name}=={pin.version}" if pin.version else f"the newest {pin.name}"
            text = f"{takes} replaces {before.said}"
            fix = f"name {pin.name} once, with the version that is meant"
            yield mistake("pin-undone", _here(scope, pin), text, _LATER, fix, "warning")
            return


def _here(scope: Scope, pin: Pin) -> Place:
    """The command of this file that installs it, also from another one."""
    path = scope.environment.path
    elsewhere = pin.place.path != path and 0 < pin.step <= len(scope.environment.commands)
    return Place(path, scope.environment.commands[pin.step - 1].line) if elsewhere else pin.place


def image_outrun(scope: Scope) -> Iterator[Mistake]:
    """torch of the default index in an nvidia/cuda image of an older major."""
    base, stage = scope.base, scope.environment
    gone = any(re.search(r"\buninstall\b.*\btorch\b", one.text) for one in stage.commands)
    if base.family != "cuda" or not base.cuda or scope.named_otherwise or gone:
        return
    if not stage.runs or stage.other_index:
        return
    named = [pin for pin in (*stage.pins, *stage.carried) if pin.name in ("torch", "pytorch")]
    named = [pin for pin in named if not pin.limits] or _brought(scope)
    pin = named[0] if len(named) == 1 else None
    if not pin or pin.variant or pin.indexes or pin.arms or not pin.by_name:
        return
    row = scope.taken(pin)
    if row and isinstance(row.cuda, str) and major(row.cuda) > major(base.cuda):
        yield from _outrun(scope, pin, row.cuda, newest_said(pin, row), base)


def _brought(scope: Scope) -> list[Pin]:
    """The torch that a package of the file brings, on the line of that package."""
    for pin in scope.pins if not scope.environment.includes_unknown else ():
        if pin.installed and not pin.indexes and "torch" in scope.asks(pin):
            found = list(scope.solved("torch", pin.step))[-3:]
            newest = max(found, key=numbers, default="")
            return [Pin("torch", pin.place, f"=={newest}", step=pin.step)] if newest else []
    return []


def _outrun(scope: Scope, pin: Pin, cuda: str, said: str, base: Base) -> Iterator[Mistake]:
    needs, admits = floor(cuda), floor(base.cuda)
    if needs is None or admits is None:
        return
    text = (
        f"{said} is built for CUDA {cuda} and needs driver {needs.driver} or newer; image "
        f"{base.name} was chosen for CUDA {base.cuda}, which runs from {admits.driver} on"
    )
    number = major(base.cuda)
    label = _INDEXES.get(number, f"cu{''.join(map(str, numbers(base.cuda)[:2]))}")
    exact = next(
        (one for one in scope.pins if one.name != "torch" and "torch" in scope.asks(one)), None
    )
    fix = f"take torch from PyTorch's index for CUDA {number} (such as {label}), or a newer image"
    if exact and exact.version:
        fix = f"take a newer image: {exact.name} {exact.version} wants this torch"
    row = next(iter(allowed("torch", pin.specifier)[-1:]), None)
    source = evidence_of(row, "cuda") if row else _OVER
    yield mistake("image-outrun", pin.place, text, source, fix, "warning")


def image_overridden(scope: Scope) -> Iterator[Mistake]:
    """Another build of the framework that the image was made for."""
    base = scope.base
    if base.family not in ("ngc", "pytorch", "tensorflow", "aws") or not base.framework:
        return
    keeps = " (pip install --constraint keeps the image's build)" if base.family == "ngc" else ""
    for pin in scope.environment.pins:
        over = pin.name == base.framework and pin.origin == "pip" and not pin.limits
        gone = any("uninstall" in one.words for one in scope.environment.commands[: pin.step])
        if not over or gone or not _replaces(pin, base):
            continue
        if scope.is_explained(pin.place, _ON_PURPOSE):
            continue
        own = f"{base.framework} {base.version}" if base.version else f"a {base.framework}"
        text = f"image {base.name} holds {own}, and {pin.name}{pin.specifier} is installed over it"
        fix = f"remove {pin.name} from what is installed, or start from a plain image{keeps}"
        yield mistake("image-overridden", pin.place, text, _OVER, fix, "warning")


def _replaces(pin: Pin, base: Base) -> bool:
    """Whether a pin asks for another build than the image's; of NVIDIA's every release is one."""
    if base.family == "ngc" and ("a0+" in pin.version or pin.local.startswith("nv")):
        return False
    same = pin.local in ("", "cu" + base.cuda.replace(".", ""))
    if base.version and allows(pin.specifier.split("+")[0], base.version) and same:
        return False
    return bool(pin.specifier if base.family == "ngc" else base.version)
