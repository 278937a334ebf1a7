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
from gpuwhy.lint.versions import allowed, allows, meets_one

_TOLD = re.compile(r"PIP_(EXTRA_)?INDEX_URL|PIP_FIND_LINKS|pip\.conf|pip config")
_AGAIN = {"-U", "--upgrade", "--force-reinstall", "-I", "--ignore-installed", "--target", "-t"}
_OLD = "2.6"
"""Indexes that ended before it have no code for Blackwell, and no torch for transformers 5."""


def local_version(scope: Scope) -> Iterator[Mistake]:
    """A build that is on another index alone, and nothing names that index."""
    stage = scope.environment
    for one in stage.refused:
        yield told("local-version.range", one.place, bound=one.text)
    there = scope.over_unknown or scope.base.family in ("ngc", "pytorch", "aws")
    for pin in scope.pins if not stage.other_index and not there else ():
        labelled = pin.name in PYTORCH and re.match(r"cu|cpu|rocm", pin.local)
        if not labelled or pin.indexes or not pin.installed or pin.backend:
            continue
        if not _is_told(scope, pin):
            option = f"--extra-index-url https://download.pytorch.org/whl/{pin.local}"
            written = f"{pin.name}{pin.specifier}"
            listed = scope.kind == "requirements"
            edit = Edit(written, f"{option}\n{written}") if listed else None
            fix = f"list {option} under pip:" if scope.kind == "conda" else f"add {option}"
            yield told("local-version", pin, fix=fix, edit=edit)
            return


def _is_told(scope: Scope, pin: Pin) -> bool:
    """Whether some file says where the build is; conda hands pip nothing but the file."""
    own = scope.read(scope.environment.path) or ""
    if scope.kind == "conda":
        return "download.pytorch.org" in own or scope.repository.says(_TOLD)
    near = bool(TORCH_INDEX.search(own)) or scope.repository.says(TORCH_INDEX)
    return near or scope.repository.tells_torch_index(pin.public)


def ended(scope: Scope) -> Iterator[Mistake]:
    """torch without a limit from an index that ended years ago, asked instead of the default."""
    for pin in scope.pins:
        index = pin.indexes[0] if len(pin.indexes) == 1 else None
        if not index or index.role not in ("only", "first") or index.trial or pin.is_pinned:
            continue
        last = torch_builds.index_ends(index.backend) if pin.by_name and index.backend else ""
        patches = allowed("torch", f"=={last}.*") if last.count(".") == 1 else ()
        last = patches[-1].version if patches else last
        if pin.name != "torch" or not last or at_least(last, _OLD):
            continue
        # another package of the same command that asks for an older torch decides
        beside = (p for p in scope.pins if p.step == pin.step and p.version and p.origin == "pip")
        wishes = [scope.asks(other).get("torch", ()) for other in beside]
        decided = any(one and not meets_one(one, last) for one in wishes)
        if allows(pin.specifier, last) and not decided:
            lacks = " (no code for Blackwell GPUs)" if index.backend.startswith("cu") else ""
            values = {"index": index.backend, "last": last, "lacks": lacks}
            yield told("index-ended", pin, torch_builds.source("matrix"), values=values)
            return


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
    if one.name != "torch" or not 0 < one.step < pin.step or one.origin != "pip":
        return False
    row = scope.taken(one)
    version = one.public or (row.version if row else "")
    fits = allows(pin.specifier, version) if version else one.reference and not pin.specifier
    return bool(fits) and one.backend != pin.backend and one.beside(pin)


def outrun(scope: Scope) -> Iterator[Mistake]:
    """torch, and an index beside the default one whose last torch is older than what pip takes."""
    for pin in scope.pins if scope.base.framework != "torch" else ():
        extra = [one for one in pin.indexes if one.role in ("extra", "links") and one.backend]
        only = any(index.role == "only" for index in pin.indexes)
        if pin.name != "torch" or len({one.backend for one in extra}) != 1 or only:
            continue
        if not pin.by_name or pin.local or (pin.is_pinned and not pin.version):
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
        if pin.name != "torch" or not pin.by_name or not pin.version:
            continue
        if not at_least(pin.public, "1.13"):
            continue  # older releases have builds that the matrix does not list
        built = [variant.backend for variant in torch_builds.variants(pin.public)]
        named = [one for one in pin.indexes if holds_only(one.url) == "torch"]
        label = pin.local or pin.backend
        several = not pin.local and len({index.url for index in named}) > 1
        known = built and label.startswith("cu") and not any(one.trial for one in named)
        if known and label not in built and not several:
            beside = not pin.local and named and named[0].role != "only"
            values = {"version": pin.public, "build": label, "built": ", ".join(reversed(built))}
            values["ends"] = (
                "the build of the default index is taken" if beside else "pip finds none"
            )
            level, source = "warning" if beside else "", torch_builds.listed_in(pin.public)
            yield told("no-such-build", pin, source, severity=level, values=values)
