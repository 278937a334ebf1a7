"""A framework that is there, and what a later command puts in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge import asked, images
from gpuwhy.knowledge.drivers import floor
from gpuwhy.knowledge.images import Base
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.mistakes import Mistake
from gpuwhy.lint.rules import told
from gpuwhy.lint.scope import ONE_BY_ONE, Scope, newest_said
from gpuwhy.lint.sheet import Pin, holds_only
from gpuwhy.lint.versions import LINUX, allowed, allows, major, meets_one, solve, together

_COMPANIONS = ("torchvision", "torchaudio", "xformers")
_INDEXES = {11: "cu118", 12: "cu126"}
"""Of each CUDA major an index of PyTorch's that many releases are on."""


def torch(scope: Scope) -> Iterator[Mistake]:
    """torch pinned by a command, conda or the image, and later a package that wants another."""
    limited = "PIP_CONSTRAINT" in scope.environment.variables
    limited = limited or any(pin.limits for pin in scope.environment.pins)
    one_by_one = scope.kind in (*ONE_BY_ONE, "conda")
    if not one_by_one or scope.environment.other_index or limited:
        return
    pins = (pin for pin in scope.pins if pin.name == "torch" and pin.version and pin.step)
    pin = next(pins, None)
    if pin:
        after = [p for p in scope.pins if p.step > pin.step and together(pin, p)]
        yield from _by_later(scope, after, pin.public, pin.said)
    elif not any(one.name == "torch" for one in scope.pins):
        version, said = _held_elsewhere(scope)
        after = [one for one in scope.pins if not one.arms]
        yield from _by_later(scope, after if version else [], version, said)


def _held_elsewhere(scope: Scope) -> tuple[str, str]:
    """The release of conda's PyTorch or of the image's, and the words for it."""
    conda, base = scope.by_conda("pytorch"), scope.base
    found = re.fullmatch(r"==(\d+\.\d+(?:\.\d+)?)(\.\*)?", conda.specifier) if conda else None
    if conda and found:
        patches = allowed("torch", f"=={found[1]}.*") if found[1].count(".") == 1 else ()
        version = patches[-1].version if patches else found[1]
        return version, f"conda's pytorch {found[1]} (line {conda.place.line})"
    month = images.month(base.name.rpartition(":")[2])
    limited = base.family == "ngc" and month >= images.LIMITED  # keeps its packages by constraints
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
        source: Source | None = None
        if pin.name in _COMPANIONS and not pin.specifier and not _is_there(scope, pin):
            row = scope.taken(pin)  # with a version, pair-mismatch compares
            pairs = row.pairs if row and isinstance(row.pairs, dict) else {}
            wanted = pairs.get("torch", "")
            if row and row.platform == LINUX and wanted and not allows(wanted, version):
                what = f"{pin.name} without a version takes {row.version}, which brings "
                what, source = f"{what}torch{wanted}", evidence_of(row, "pairs")
        elif pin.name not in _COMPANIONS and _excludes(scope, pin, version):
            what = f"{pin.name}{pin.specifier or ' without a version'} asks for another torch"
            source = asked.SOURCE
        if source:
            values = {"what": what, "said": said, "version": version}
            yield told("torch-replaced", pin, source, values=values)
            return


def _is_there(scope: Scope, pin: Pin) -> bool:
    """Whether an earlier command installed the companion, which then stays."""
    lifted = {"-U", "--upgrade", "--force-reinstall"} & set(scope.environment.words_of(pin.step))
    earlier = (p for p in scope.pins if p.name == pin.name and p.step < pin.step)
    return not lifted and any(not one.arms for one in earlier)


def _excludes(scope: Scope, pin: Pin, version: str) -> bool:
    """Whether what pip takes for a pin asks for another torch, on every Python."""
    found = [solve([pin], python) for python in scope.pythons]
    known = [one.releases for one in found if not one.clash and pin.name in one.releases]
    return bool(known) and all(_wants_other(pin.name, one, version) for one in known)


def _wants_other(name: str, chosen: Mapping[str, str], version: str) -> bool:
    """Whether a package, or one that it brings, asks for another torch."""
    own = asked.asks(name, chosen.get(name, "")).get("torch", ())
    inner = asked.asks(name, chosen.get(name, "")) if not own else {}
    wishes = [asked.asks(one, chosen[one]).get("torch", ()) for one in inner if one in chosen]
    return any(wish and not meets_one(wish, version) for wish in (own, *wishes))


def image_outrun(scope: Scope) -> Iterator[Mistake]:
    """torch of the default index in an nvidia/cuda image of an older major."""
    base, stage = scope.base, scope.environment
    gone = any(re.search(r"\buninstall\b.*\btorch\b", one.text) for one in stage.commands)
    if base.family != "cuda" or not base.cuda or scope.named_otherwise or gone:
        return
    named = [pin for pin in (*scope.pins, *stage.carried) if pin.name in ("torch", "pytorch")]
    pin = named[0] if len(named) == 1 and stage.runs and not stage.other_index else None
    if not pin or pin.variant or pin.indexes or pin.arms or not pin.by_name:
        return
    row = scope.taken(pin)
    if row and isinstance(row.cuda, str) and major(row.cuda) > major(base.cuda):
        needs, admits, number = floor(row.cuda), floor(base.cuda), major(base.cuda)
        bringing = (p for p in scope.pins if p.name != "torch" and "torch" in scope.asks(p))
        exact = next((one for one in bringing if one.version), None)
        label = _INDEXES.get(number, f"cu{''.join(map(str, numbers(base.cuda)[:2]))}")
        fix = f"take torch from PyTorch's index for CUDA {number} (such as {label}), "
        fix += "or a newer image"
        if exact:
            fix = f"take a newer image: {exact.name} {exact.version} wants this torch"
        if needs and admits:
            values = {"said": newest_said(pin, row), "cuda": row.cuda, "needs": needs.driver}
            values |= {"image": base.name, "held": base.cuda, "admits": admits.driver}
            yield told("image-outrun", pin, evidence_of(row, "cuda"), fix=fix, values=values)


def image_overridden(scope: Scope) -> Iterator[Mistake]:
    """Another build of the framework that the image was made for."""
    base = scope.base
    if base.family not in ("ngc", "pytorch", "tensorflow", "aws") or not base.framework:
        return
    for pin in scope.environment.pins:
        over = pin.name == base.framework and pin.origin == "pip" and not pin.limits
        gone = any("uninstall" in one.words for one in scope.environment.commands[: pin.step])
        if not over or gone or not _replaces(pin, base):
            continue
        own = f"{base.framework} {base.version}" if base.version else f"a {base.framework}"
        keeps = " (pip install --constraint keeps the image's build)"
        values = {"image": base.name, "own": own, "keeps": keeps * (base.family == "ngc")}
        yield told("image-overridden", pin, values=values)


def _replaces(pin: Pin, base: Base) -> bool:
    """Whether a pin asks for another build than the image's; of NVIDIA's every release is one."""
    if base.family == "ngc" and ("a0+" in pin.version or pin.local.startswith("nv")):
        return False
    same = pin.local in ("", "cu" + base.cuda.replace(".", ""))
    if base.version and allows(pin.specifier.split("+")[0], base.version) and same:
        return False
    return bool(pin.specifier if base.family == "ngc" else base.version)
