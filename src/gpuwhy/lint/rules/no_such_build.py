"""A build that PyTorch's index does not have: a release for a CUDA that it was never built for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import indexes, variants
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import PYTORCH, Index, Pin, holds_only
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least, major_minor, numbers

RULE = Rule("no-such-build", "error", "a CUDA build of torch that was never made")
_KEPT = "202512"  # a year before these rows
_NIGHTLY = source("pytorch/test-infra, s3_management", "the index of nightly builds keeps the newest of each package")
_SURE = "1.13"  # older releases have builds that the matrix does not list


def check(scope: Scope) -> Iterator[Mistake]:
    """torch==2.6.0+cu121; torch==1.13.0 with the index cu113; a nightly of years ago."""
    yield from _nightlies(scope)
    yield from _stable_of_nightlies(scope)
    yield from _of_nvidia(scope)
    yield from _of_conda(scope)
    if scope.environment.machine == "aarch64" or scope.environment.other_index:
        return
    yield from _ended(scope)
    for pin in scope.environment.pins:
        version = pin.version.split("+")[0]
        if pin.name == "torch" and pin.by_name and at_least(version or "0", _SURE):
            built = [variant.backend for variant in variants.variants(version)]
            if built and pin.backend and not pin.indexes and not pin.local:
                yield from _sourced(pin, version, built)
            elif built:
                yield from _labelled(pin, version, built) if pin.local else _indexed(pin, version, built)


_CONDA = {
    "1.13": ("11.6", "11.7"), "2.0": ("11.7", "11.8"), "2.1": ("11.8", "12.1"), "2.2": ("11.8", "12.1"),
    "2.3": ("11.8", "12.1"), "2.4": ("11.8", "12.1", "12.4"), "2.5": ("11.8", "12.1", "12.4"),
}  # fmt: skip
"""PyTorch of its own channel → the pytorch-cuda that it was built with; the channel ended with 2.5."""
_BUILT = source("PyTorch, previous versions; deprecation of the channel, pytorch/pytorch issue 138506", "1.13 to 2.5")


def _of_conda(scope: Scope) -> Iterator[Mistake]:
    """pytorch=2.2 with pytorch-cuda=11.7; pytorch=2.6, which the channel does not have; no pytorch-cuda at all."""
    pin, chosen = (next((p for p in scope.pins if p.name == n and p.origin == "conda"), None) for n in _BOTH)
    if chosen is None:
        return
    never = list(_never(scope, chosen, _number(chosen)))
    yield from never
    if pin and _number(pin) and not never and "conda-forge" not in scope.environment.channels:
        yield from _unfit(pin, chosen)


def _number(pin: Pin) -> str:
    """The first two numbers of a conda pin; '' for a range."""
    found = re.match(r"={1,2}\s*(\d+\.\d+)", pin.specifier)
    return found[1] if found else ""


def _unfit(pin: Pin, chosen: Pin) -> Iterator[Mistake]:
    """A pytorch of the channel, and a pytorch-cuda that it was not built with."""
    version, wanted = _number(pin), _number(chosen)
    built = _CONDA.get(version, ())
    if at_least(version, "2.6"):
        text = f"the channel pytorch ended with 2.5: it has no pytorch {version}"
        yield RULE.mistake(pin.place, text, _BUILT, "take it from conda-forge, or with pip")
    elif not at_least(version, _SURE):
        text = (
            f"pytorch {version} was built with cudatoolkit: pytorch-cuda goes with {_SURE} and newer, so nothing fits"
        )
        yield RULE.mistake(chosen.place, text, _BUILT, "write cudatoolkit=11.3 (1.10 to 1.12), or take a newer pytorch")
    elif built and wanted and wanted not in built:
        text = f"the channel pytorch has pytorch {version} for pytorch-cuda {' and '.join(built)}, not for {wanted}"
        yield RULE.mistake(chosen.place, text, _BUILT, f"write pytorch-cuda={built[-1]}")


def _never(scope: Scope, chosen: Pin, wanted: str) -> Iterator[Mistake]:
    """A pytorch-cuda that was never made, or that no channel of the file has."""
    made = sorted({cuda for row in _CONDA.values() for cuda in row}, key=numbers)
    channels = {channel.rsplit("/", 1)[-1] for channel in scope.environment.channels}
    channels |= {pin.channel for pin in scope.pins if pin.channel and channels}
    if wanted and wanted not in made:
        text = (
            f"there is no pytorch-cuda {wanted}: the channel pytorch has {', '.join(made)}, so conda finds no solution"
        )
        near = max((one for one in made if numbers(one) <= numbers(wanted)), key=numbers, default=made[0])
        yield RULE.mistake(chosen.place, text, _BUILT, f"write pytorch-cuda={near}")
    elif scope.kind == "conda" and channels and "pytorch" not in channels and not chosen.channel:
        text = f"pytorch-cuda is of the channel pytorch alone, and the file names {', '.join(sorted(channels))}"
        yield RULE.mistake(chosen.place, text, _BUILT, "add the channels pytorch and nvidia")


_BOTH = ("pytorch", "pytorch-cuda")


def _of_nvidia(scope: Scope) -> Iterator[Mistake]:
    """torch==2.0.0+nv23.05, which no index has: a file of NVIDIA's for Jetson, or a build of its containers."""
    for pin in scope.pins:
        told = " ".join(index.url for index in pin.indexes)
        if pin.by_name and re.match(r"nv\d\d\.\d", pin.local) and not re.search(r"redist|jetson|nvidia\.com", told):
            fix = _NGC if pin.name.startswith("nvidia-") else _REDIST
            text = f"{pin.name}=={pin.version} is a build of NVIDIA's own, and no index that is named here has it"
            yield RULE.mistake(pin.place, text, _JETSON, fix)
            return


_NGC = "take it from NVIDIA's index, --extra-index-url https://pypi.ngc.nvidia.com, or a release of the default one"
_REDIST = (
    "on Jetson name its file, https://developer.download.nvidia.com/compute/redist/jp/…; else take a plain release"
)
_JETSON = source("NVIDIA, Installing PyTorch for Jetson Platform", "wheels by address, one for each JetPack")


def _ended(scope: Scope) -> Iterator[Mistake]:
    """torch>=2.8 from an index alone whose last torch is older."""
    for pin in scope.pins:
        alone = [i for i in pin.indexes if i.role == "only" and holds_only(i.url) == "torch" and not _is_trial(i)]
        last = indexes.ends(alone[0].backend) if len(alone) == 1 and pin.name == "torch" and not pin.version else ""
        oldest = re.search(r">=?\s*([\d.]+)", pin.specifier) if last and len(pin.indexes) == 1 else None
        if oldest and not at_least(last, major_minor(oldest[1])):
            text = f"PyTorch's index {alone[0].backend} ended with torch {last}: pip finds no torch{pin.specifier}"
            yield RULE.mistake(pin.place, text, indexes.ENDED, "take the index of a newer CUDA, or an older torch")


def _stable_of_nightlies(scope: Scope) -> Iterator[Mistake]:
    """A release that is asked of the index of nightly builds alone."""
    for pin in scope.pins:
        alone = len(pin.indexes) == 1 and pin.indexes[0].role == "only" and "/whl/nightly" in pin.indexes[0].url
        if alone and pin.name in PYTORCH and re.fullmatch(r"\d+(\.\d+)+", pin.version):
            text = f"{pin.indexes[0].url} holds nightly builds alone: pip finds no {pin.name}=={pin.version}"
            yield RULE.mistake(pin.place, text, _NIGHTLY, "write the same address without nightly/")
            return


def _nightlies(scope: Scope) -> Iterator[Mistake]:
    for pin in scope.environment.pins:
        made = re.search(r"\.dev(20\d\d)(\d\d)\d\d", pin.version)
        if made and pin.name in PYTORCH and pin.origin == "pip" and made[1] + made[2] < _KEPT:
            text = f"{pin.name} {pin.version} is a nightly build of {made[1]}: PyTorch deletes them after some months"
            yield RULE.mistake(pin.place, text, _NIGHTLY, "take a release")
            return


def _labelled(pin: Pin, version: str, built: list[str]) -> Iterator[Mistake]:
    if pin.local.startswith("cu") and pin.local not in built:
        text = f"torch {version} was not built for {pin.local}: pip finds no torch=={pin.version}"
        yield RULE.mistake(pin.place, text, variants.listed_in(version), _fix(version, built))


def _sourced(pin: Pin, version: str, built: list[str]) -> Iterator[Mistake]:
    """A source of uv's or Poetry's that is an index of PyTorch's, without that release."""
    if pin.backend.startswith("cu") and pin.backend not in built:
        text = f"PyTorch's index {pin.backend} has no torch {version}: the installer finds none"
        yield RULE.mistake(pin.place, text, variants.listed_in(version), _fix(version, built))


def _indexed(pin: Pin, version: str, built: list[str]) -> Iterator[Mistake]:
    named = [i for i in pin.indexes if holds_only(i.url) == "torch" and not _is_trial(i)]
    if len({index.url for index in named}) != 1 or not named[0].backend.startswith("cu") or named[0].backend in built:
        return
    index = named[0]
    alone = index.role == "only"
    ends = "pip finds none" if alone else "the build of the default index is taken, for another CUDA"
    text = f"PyTorch's index {index.backend} has no torch {version}: {ends}"
    yield RULE.mistake(pin.place, text, variants.listed_in(version), _fix(version, built), None if alone else "warning")


def _is_trial(index: Index) -> bool:
    return "nightly" in index.url or "/test" in index.url or "/lts" in index.url


def _fix(version: str, built: list[str]) -> str:
    return f"torch {version} was built for {', '.join(reversed(built))}: take one of these"
