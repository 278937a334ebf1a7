"""A companion without a version in a later command, which brings another torch than the one that was pinned."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import asked, held
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.knowledge.tables import source
from gpuwhy.lint import holding, solving
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin, holds_only
from gpuwhy.lint.versions import LINUX, allowed, allows, together
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule(
    "torch-replaced", "error", "a companion without a version in a later command, which replaces the pinned torch"
)
_COMPANIONS = ("torchvision", "torchaudio", "xformers")


def check(scope: Scope) -> Iterator[Mistake]:
    """torch pinned by a command, by conda or the image, and later a package whose release wants another."""
    if not _takes_any(scope):
        return
    torch = next((pin for pin in scope.pins if pin.name == "torch" and pin.version and pin.step), None)
    held = holding.torch(scope) if torch is None else None
    if held and held.pin.step and scope.kind != "conda":
        yield from _by_others(scope, held.pin, held.version, held.said)
    elif torch:
        yield from _by_project(scope, torch)
        said = f"torch=={torch.version} (line {torch.place.line})"
        yield from _by_others(scope, torch, torch.version.partition("+")[0], said)
        yield from _by_companions(scope, torch)
    else:
        yield from _over_another(scope)
        yield from _over_image(scope)


def _by_companions(scope: Scope, torch: Pin) -> Iterator[Mistake]:
    """A companion without a version, in a later command."""
    for pin in filter(_takes_the_newest, scope.pins):
        if torch.step < pin.step and together(torch, pin) and not _is_there(scope, pin):
            named = f"torch=={torch.version} (line {torch.place.line})"
            yield from _replaced(scope, pin, torch.version.split("+")[0], named)


def _is_there(scope: Scope, pin: Pin) -> bool:
    """Whether an earlier command installed the companion, which then stays: it is asked for without a release."""
    lifted = {"-U", "--upgrade", "--force-reinstall"} & set(scope.environment.commands[pin.step - 1].words)
    return not lifted and any(p.name == pin.name and p.step < pin.step and not p.arms for p in scope.pins)


def _over_image(scope: Scope) -> Iterator[Mistake]:
    """xformers without a version over the torch of the image."""
    image = scope.base.version if scope.base.family == "pytorch" else ""
    for pin in filter(_takes_the_newest, scope.pins) if image else ():
        if pin.name == "xformers":
            yield from _replaced(scope, pin, image, f"torch {image} of the image")


def _by_others(scope: Scope, torch: Pin, version: str, said: str) -> Iterator[Mistake]:
    """A later command whose packages, as pip takes them, do not go with the torch that is there."""
    for step, pins in solving.steps(scope).items():
        named = [pin for pin in pins if not pin.limits]
        if step <= torch.step or not solving.is_compared(scope, step) or any(p.name == "torch" for p in named):
            continue
        asking = [pin for pin in named if pin.name not in _COMPANIONS and _excludes(scope, pin, version)]
        if asking and not _indexed(asking[0]):
            pin = asking[0]
            text = f"{pin.name}{pin.specifier} asks for another torch and replaces it: {said}"
            fix = (
                f"install both in one command, or a {pin.name} for that torch: gpuwhy plan torch=={version} {pin.name}"
            )
            yield RULE.mistake(pin.place, text, asked.SOURCE, fix)
            return


def _over_another(scope: Scope) -> Iterator[Mistake]:
    """pip's packages over a torch that conda installs, or that the image holds: what they ask for takes its place."""
    version, said = _held_elsewhere(scope)
    named = [pin for pin in scope.pins if pin.installed and not pin.arms and not pin.indexes]
    if not version or any(pin.name == "torch" for pin in scope.pins):
        return
    asking = [pin for pin in named if pin.name not in ("xformers",) and _excludes(scope, pin, version)]
    if asking:
        pin = asking[0]
        text = f"{pin.name}{pin.specifier or ' without a version'} asks for a newer torch, and pip puts it over {said}"
        fix = f"pin {pin.name} to a release for that torch: gpuwhy plan torch=={version} {pin.name}"
        yield RULE.mistake(pin.place, text, asked.SOURCE, fix)


def _held_elsewhere(scope: Scope) -> tuple[str, str]:
    """The release of conda's PyTorch or of the image's, and the words for it."""
    conda = next((pin for pin in scope.pins if pin.origin == "conda" and pin.name == "pytorch"), None)
    found = re.fullmatch(r"==(\d+\.\d+(?:\.\d+)?)(\.\*)?", conda.specifier) if conda else None
    if conda and found:
        return _patched(found[1]), f"conda's pytorch {found[1]} (line {conda.place.line})"
    base = scope.base
    if conda is None and base.framework == "torch" and base.version and not _is_limited(scope):
        return base.version, f"torch {base.version} of the image"
    return "", ""


def _is_limited(scope: Scope) -> bool:
    """Whether the image keeps its torch itself, by constraints of pip's."""
    base = scope.base
    return base.family == "ngc" and held.month(base.name.rpartition(":")[2]) >= held.LIMITED


def _patched(version: str) -> str:
    """The newest patch of a minor release: conda's 1.9 is any 1.9."""
    rows = allowed("torch", f"=={version}.*") if version.count(".") == 1 else ()
    return rows[-1].version if rows else version


def _excludes(scope: Scope, pin: Pin, version: str) -> bool:
    """Whether the newest release that a pin allows brings another torch, on every Python that it may be."""
    found = [solving.network([pin], python) for python in solving.pythons(scope)]
    known = [network for network in found if not network.lacking and not network.empty]
    return bool(known) and all(network.excludes(pin.name, "torch", version) for network in known)


def _by_project(scope: Scope, torch: Pin) -> Iterator[Mistake]:
    """A project that is installed later and does not take the pinned torch."""
    version = torch.version.partition("+")[0]
    for pin in scope.project:
        if pin.name == "torch" and torch.step < pin.step and not allows(pin.specifier, version):
            said = f"torch=={torch.version} (line {torch.place.line})"
            text = f"the project asks for torch{pin.specifier} itself, and its installation replaces {said}"
            fix = "pin what the project asks for, or install it with --no-deps or a constraints file"
            yield RULE.mistake(pin.place, text, _PROJECT, fix)
            return


_PROJECT = source("pyproject.toml or setup.py beside the file", "pip does not look back at earlier commands")


def _takes_any(scope: Scope) -> bool:
    """Whether commands follow each other, and nothing holds a later one back."""
    stage = scope.environment
    limited = "PIP_CONSTRAINT" in stage.variables or any(pin.limits for pin in stage.pins)
    one_by_one = scope.kind in ("dockerfile", "script", "workflow", "modal", "cog", "conda", "sagemaker")
    return one_by_one and not stage.other_index and not limited


def _takes_the_newest(pin: Pin) -> bool:
    """Whether a companion of torch is asked for without a release."""
    free = not pin.specifier and not pin.reference and not _indexed(pin)
    return pin.name in _COMPANIONS and pin.origin == "pip" and free


def _indexed(pin: Pin) -> bool:
    return any(holds_only(index.url) == "torch" for index in pin.indexes)


def _replaced(scope: Scope, pin: Pin, version: str, said: str) -> Iterator[Mistake]:
    row = scope.taken(pin)
    wanted = row.pairs.get("torch", "") if row and isinstance(row.pairs, dict) and row.platform == LINUX else ""
    if row and wanted and not allows(wanted, version):
        text = f"{pin.name} without a version takes {row.version}, which brings torch{wanted} in the place of {said}"
        both = f"gpuwhy plan torch=={version} {pin.name}"
        fix = f"install both in one command, or pin {pin.name} to the release for that torch: {both}"
        yield RULE.mistake(pin.place, text, evidence_of(row, "pairs"), fix)
