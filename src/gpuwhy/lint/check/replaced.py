"""A framework that is there, and what a later command puts in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge import asked, images
from gpuwhy.knowledge.drivers import floor
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.mistakes import Mistake
from gpuwhy.lint.rules import told
from gpuwhy.lint.scope import ONE_BY_ONE, Scope, newest_said
from gpuwhy.lint.sheet import Pin, holds_only
from gpuwhy.lint.solve import solve
from gpuwhy.lint.versions import LINUX, allowed, allows, major, meets_one

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
    pins = [pin for pin in scope.pins if pin.name == "torch"]
    pin = next((pin for pin in pins if pin.version and pin.step), None)
    after = [one for one in scope.pins if not one.arms]
    version, said = _held_elsewhere(scope) if not pins else ("", "")
    if pin:
        after = [p for p in scope.pins if p.step > pin.step and pin.beside(p)]
        version, said = pin.public, pin.said
    for later in after if version else ():
        what, source = _wants_another(scope, later, version)
        if source:
            values = {"what": what, "said": said, "version": version}
            yield told("torch-replaced", later, source, values=values)
            return


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


def _wants_another(scope: Scope, pin: Pin, version: str) -> tuple[str, Source | None]:
    """What a later package, as pip takes it, brings in the place of that torch."""
    own_index = any(holds_only(index.url) == "torch" for index in pin.indexes)
    named = any(p.name == "torch" and p.step == pin.step for p in scope.pins)
    if not pin.installed or own_index or named or scope.is_bare(pin.step):
        return "", None
    if pin.name not in _COMPANIONS:
        what = f"{pin.name}{pin.specifier or ' without a version'} asks for another torch"
        return what, asked.SOURCE if _excludes(scope, pin, version) else None
    lifted = {"-U", "--upgrade", "--force-reinstall"} & set(scope.environment.words_of(pin.step))
    earlier = (p for p in scope.pins if p.name == pin.name and p.step < pin.step)
    stays = not lifted and any(not one.arms for one in earlier)
    row = scope.taken(pin) if not pin.specifier and not stays else None
    wanted = row.pairs.get("torch", "") if row and isinstance(row.pairs, dict) else ""
    if not row or row.platform != LINUX or not wanted or allows(wanted, version):
        return "", None  # with a version, pair-mismatch compares
    what = f"{pin.name} without a version takes {row.version}, which brings torch{wanted}"
    return what, evidence_of(row, "pairs")


def _excludes(scope: Scope, pin: Pin, version: str) -> bool:
    """Whether what pip takes for a pin, or what that brings, asks for another torch everywhere."""
    found = [solve([pin], python) for python in scope.pythons]
    known = [one.releases for one in found if not one.clash and pin.name in one.releases]
    for chosen in known:
        own = asked.asks(pin.name, chosen[pin.name])
        wishes = [own.get("torch", ())]
        if not wishes[0]:
            wishes = [asked.asks(one, chosen[one]).get("torch", ()) for one in own if one in chosen]
        if not any(wish and not meets_one(wish, version) for wish in wishes):
            return False
    return bool(known)


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
    if not row or not isinstance(row.cuda, str) or major(row.cuda) <= major(base.cuda):
        return
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
    base, ngc = scope.base, scope.base.family == "ngc"
    if base.family not in ("ngc", "pytorch", "tensorflow", "aws") or not base.framework:
        return
    for pin in scope.pins:
        gone = any("uninstall" in one.words for one in scope.environment.commands[: pin.step])
        if pin.name != base.framework or pin.origin != "pip" or gone:
            continue
        if ngc and ("a0+" in pin.version or pin.local.startswith("nv")):
            continue
        same = pin.local in ("", "cu" + base.cuda.replace(".", ""))
        if base.version and allows(pin.specifier.split("+")[0], base.version) and same:
            continue
        if pin.specifier if ngc else base.version:  # of NVIDIA's every release is another build
            own = f"{base.framework} {base.version}" if base.version else f"a {base.framework}"
            keeps = " (pip install --constraint keeps the image's build)" if ngc else ""
            yield told("image-overridden", pin, image=base.name, own=own, keeps=keeps)
