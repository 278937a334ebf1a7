"""PyTorch's own indexes: named too late, in the wrong place, ended, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import torch_builds
from gpuwhy.lint.mistakes import Edit, Mistake
from gpuwhy.lint.repository import TORCH_INDEX
from gpuwhy.lint.rules import told
from gpuwhy.lint.scope import ONE_BY_ONE, Scope
from gpuwhy.lint.sheet import PYTORCH, Index, Pin, holds_only
from gpuwhy.lint.versions import allowed, allows, is_pinned, meets_one, together

_PYG = ("torch-scatter", "torch-sparse", "torch-cluster", "torch-spline-conv", "pyg-lib")
_TOLD = re.compile(r"PIP_(EXTRA_)?INDEX_URL|PIP_FIND_LINKS|pip\.conf|pip config")
_OF_PYG, _OF_JAX = re.compile(r"pyg\.org|pytorch-geometric\.com"), re.compile("jax-releases")
_AGAIN = {"-U", "--upgrade", "--force-reinstall", "-I", "--ignore-installed", "--target", "-t"}
_OLD = "2.6"
"""Indexes that ended before it have no code for Blackwell, and no torch for transformers 5."""


def local_version(scope: Scope) -> Iterator[Mistake]:
    """A build that is on another index alone, and nothing names that index."""
    stage = scope.environment
    for one in stage.refused:
        yield told("local-version.range", one.place, bound=one.text)
    there = scope.over_unknown or scope.base.family in ("ngc", "pytorch", "aws")
    for pin in scope.pins if not stage.other_index else ():
        if pin.indexes or not pin.installed or pin.backend:
            continue
        if pin.name in PYTORCH and re.match(r"cu|cpu|rocm", pin.local):
            if not there and not _is_told(scope, pin):
                option = f"--extra-index-url https://download.pytorch.org/whl/{pin.local}"
                written = f"{pin.name}{pin.specifier}"
                listed = scope.kind == "requirements"
                edit = Edit(written, f"{option}\n{written}") if listed else None
                fix = f"list {option} under pip:" if scope.kind == "conda" else f"add {option}"
                yield told("local-version", pin, fix=fix, edit=edit)
                return
        elif pin.name in _PYG and re.match(r"pt\d", pin.local):
            if not scope.repository.says(_OF_PYG):
                yield told("local-version.pyg", pin)
                return
        elif _is_googles(pin) and not scope.repository.says(_OF_JAX):
            yield told("local-version.jax", pin)


def _is_googles(pin: Pin) -> bool:
    if pin.name == "jaxlib":
        return pin.local.startswith("cuda")
    extras = [one for one in pin.extras if one.startswith("cuda") and not one.endswith("-local")]
    since = "0.4.26" if extras[:1] == ["cuda12"] else "0.4.30"
    return pin.name == "jax" and bool(extras and pin.version) and not at_least(pin.version, since)


def _is_told(scope: Scope, pin: Pin) -> bool:
    """Whether some file says where the build is; conda hands pip nothing but the file."""
    own = scope.read(scope.environment.path) or ""
    if scope.kind == "conda":
        return "download.pytorch.org" in own or scope.repository.says(_TOLD)
    near = bool(TORCH_INDEX.search(own)) or scope.repository.says(TORCH_INDEX)
    return near or scope.repository.tells_torch_index(pin.public)


def ended(scope: Scope) -> Iterator[Mistake]:
    """torch without a limit from an index or a channel that ended years ago."""
    yield from _channel(scope)
    for pin in scope.pins:
        index = _alone(pin)
        last = _patch(torch_builds.index_ends(index.backend)) if index else ""
        if not index or not last or is_pinned(pin) or not allows(pin.specifier, last):
            continue
        if not at_least(last, _OLD) and not _by_neighbour(scope, pin, last):
            lacks = " (no code for Blackwell GPUs)" if index.backend.startswith("cu") else ""
            values = {"index": index.backend, "last": last, "lacks": lacks}
            yield told("index-ended", pin, torch_builds.source("matrix"), values=values)
            return


def _by_neighbour(scope: Scope, torch: Pin, last: str) -> bool:
    """Whether another package of the same command asks for an older torch, which then decides."""
    pins = (p for p in scope.pins if p.step == torch.step and p.version and p.origin == "pip")
    wishes = [scope.asks(pin).get("torch", ()) for pin in pins]
    return any(one and not meets_one(one, last) for one in wishes)


def _alone(pin: Pin) -> Index | None:
    """PyTorch's index that is asked for torch instead of the default one."""
    index = pin.indexes[0] if len(pin.indexes) == 1 else None
    ours = pin.name == "torch" and pin.by_name and index and index.backend
    return index if ours and index and index.role in ("only", "first") and not index.trial else None


def _patch(minor: str) -> str:
    """2.5 → 2.5.1; a whole release stays as it is."""
    found = allowed("torch", f"=={minor}.*") if minor.count(".") == 1 else ()
    return found[-1].version if found else minor


def _channel(scope: Scope) -> Iterator[Mistake]:
    """pytorch beside pytorch-cuda, which is of PyTorch's channel, where 2.5.1 is the last."""
    pin, channels = scope.by_conda("pytorch"), scope.environment.channels
    open_ = pin and not pin.specifier and "pytorch" in channels and "conda-forge" not in channels
    if pin and open_ and scope.by_conda("pytorch-cuda"):
        yield told("index-ended.channel", pin)


def late(scope: Scope) -> Iterator[Mistake]:
    """torch by one command, and by a later one again, with an index and without a release."""
    if scope.kind not in ONE_BY_ONE or scope.base.framework == "torch":
        return
    for pin in scope.pins:
        own = any(holds_only(index.url) == "torch" for index in pin.indexes)
        if pin.name != "torch" or not own or pin.version or pin.reference or not pin.step:
            continue
        commands = scope.environment.commands[: pin.step]
        removed = any({"uninstall", "torch"} <= set(command.words) for command in commands)
        first = next((p for p in scope.pins if _is_first(scope, p, pin)), None)
        if first and not removed and not _AGAIN & set(commands[-1].words):
            values = {"line": first.place.line, "path": first.place.path}
            yield told("index-late", pin, values=values, url=pin.indexes[-1].url)
            return


def _is_first(scope: Scope, one: Pin, pin: Pin) -> bool:
    """Whether an earlier command installs a torch from elsewhere that satisfies this one."""
    if one.name != "torch" or not 0 < one.step < pin.step or one.origin != "pip" or one.limits:
        return False
    row = scope.taken(one)
    version = one.public or (row.version if row else "")
    fits = allows(pin.specifier, version) if version else one.reference and not pin.specifier
    return bool(fits) and one.backend != pin.backend and together(one, pin)


def outrun(scope: Scope) -> Iterator[Mistake]:
    """torch, and an index beside the default one whose last torch is older than what pip takes."""
    for pin in scope.pins if scope.base.framework != "torch" else ():
        extra = [one for one in pin.indexes if one.role in ("extra", "links") and one.backend]
        only = any(index.role == "only" for index in pin.indexes)
        if pin.name != "torch" or len({one.backend for one in extra}) != 1 or only:
            continue
        if not pin.by_name or pin.local or (is_pinned(pin) and not pin.version):
            continue
        row = scope.taken(Pin("torch", pin.place, pin.specifier))
        last = torch_builds.index_ends(extra[0].backend)
        if last and row and not at_least(last, major_minor(row.version)):
            values = {"taken": row.version, "index": extra[0].backend, "last": last}
            values["wanted"] = f"=={last}.*" if len(numbers(last)) == 2 else f"=={last}"
            values["cuda"] = f" for CUDA {row.cuda}" if isinstance(row.cuda, str) else ""
            level, source = "warning" if pin.version else "", torch_builds.source("matrix")
            url = extra[0].url
            yield told("index-outrun", pin, source, severity=level, values=values, url=url)
            return


def replaced(scope: Scope) -> Iterator[Mistake]:
    """PyTorch's index in the place of the default one, for packages that it does not have."""
    lost: dict[Index, list[Pin]] = {}
    for pin in scope.pins:
        beside = any(index.role in ("extra", "first") for index in pin.indexes)
        only = [one for one in pin.indexes if one.role == "only" and holds_only(one.url) == "torch"]
        if only and not beside and pin.by_name and not torch_builds.is_mirrored(pin.name):
            lost.setdefault(only[0], []).append(pin)
    ours = [pin for pin in scope.pins if pin.name in PYTORCH and pin.by_name]
    for index, pins in lost.items():
        named = ", ".join(dict.fromkeys(pin.name for pin in pins[:4])) + " …" * (len(pins) > 4)
        own = [pin for pin in ours if index in pin.indexes]
        sure = own and all(pin.local for pin in own)
        new = f"--extra-index-url {index.url}"
        edit = Edit(f"--index-url {index.url}", new) if sure else None
        source = torch_builds.source("held")
        yield told("index-replaced", index.place, source, edit=edit, url=index.url, named=named)


def no_such_build(scope: Scope) -> Iterator[Mistake]:
    """torch==2.6.0+cu121; torch==1.13.0 with the index cu113."""
    if scope.environment.machine == "aarch64" or scope.environment.other_index:
        return
    for pin in scope.environment.pins:
        if pin.name == "torch" and pin.by_name:
            yield from _missing(pin)


def _missing(pin: Pin) -> Iterator[Mistake]:
    if not pin.version or not at_least(pin.public, "1.13"):
        return  # older releases have builds that the matrix does not list
    built = [variant.backend for variant in torch_builds.variants(pin.public)]
    named = [one for one in pin.indexes if holds_only(one.url) == "torch"]
    label = pin.local or pin.backend
    several = not pin.local and len({index.url for index in named}) > 1
    known = built and label.startswith("cu") and not any(one.trial for one in named)
    if known and label not in built and not several:
        beside = not pin.local and named and named[0].role != "only"
        values = {"version": pin.public, "build": label, "built": ", ".join(reversed(built))}
        values["ends"] = "the build of the default index is taken" if beside else "pip finds none"
        level, source = "warning" if beside else "", torch_builds.listed_in(pin.public)
        yield told("no-such-build", pin, source, severity=level, values=values)
