"""Belongings: what an environment has beside its distributions, and its copy must have too, for programs to find it.

Modules and .pth files that somebody dropped into site-packages, and the variables that its activation exports; but
nothing that the diagnosis blames.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence

from gpuwhy.host.activated import PYTHON, exported
from gpuwhy.host.base import Host
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Distribution, Facts, Start
from gpuwhy.repair import hook
from gpuwhy.repair.patient import Patient

MOST = 200 << 20
"""Bytes that go over."""
STARTS = ("sitecustomize.py", "usercustomize.py")
_FILE = re.compile(r"[~/][^\s:'\"]*\.so\b[^\s:'\"]*")
"""A library that an error names."""
_OURS = ("_virtualenv.py", "_virtualenv.pth", "distutils-precedence.pth", "_distutils_hack", "__pycache__")
_SEARCH = "LD_LIBRARY_PATH"
_LOADERS = frozenset({"LD_PRELOAD", "LD_AUDIT", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE"})
_PLACES = ("env.", "cuda.", "cudnn.", "driver.")
"""Causes of these layers may be what such a variable leads to."""
_LACKS = frozenset({"cuda.missing_library", "cudnn.missing", "cudnn.dependency_missing"})
"""Those of them that no folder of the search brings about."""


def bring(host: Host, facts: Facts, one: Patient, new: str, causes: Collection[str], environ: Mapping[str, str]) -> str:
    """Everything that goes over to a copy; what that was, in words, "" where there is nothing."""
    files = list(_files(host, facts, one, new))
    exports = _exports(host, facts, causes, environ)
    values = {name: _led(value, one.prefix, new) for name, value in exports.items() if name != _SEARCH}
    blamed = any(cause.startswith(_PLACES) and cause not in _LACKS for cause in causes)
    if search := _searched(exports.get(_SEARCH, ""), one.prefix, new, blamed):
        values[_SEARCH] = search
    if values:
        hook.export_all(new, values)
    told = [*files, *(f"export {name}" for name in values)]
    return ", ".join(told[:8]) + (f" and {len(told) - 8} more" if len(told) > 8 else "")


def _exports(host: Host, facts: Facts, causes: Collection[str], environ: Mapping[str, str]) -> dict[str, str]:
    """What the activation exports, and nothing speaks against."""
    found = value_or(facts.target.activation, ())
    files = list(dict.fromkeys(host.path(one.file) for one in found if one.name not in ("VIRTUAL_ENV", "PATH")))
    names = {one.name for one in found}
    raw = exported(files, {name: value for name, value in environ.items() if name not in names}) if files else None
    bad = {*_blamed_variables(facts), PYTHON}
    if any(cause.startswith(_PLACES) for cause in causes):
        bad |= _LOADERS
    return {name: value for name, value in (raw or {}).items() if name not in bad}


def _blamed_variables(facts: Facts) -> Iterator[str]:
    yield from (one.culprit for one in value_or(facts.target.imports, ()) if one.blame.startswith("variable"))
    yield from (one.name for one in value_or(facts.environment.variables, ()) if one.faults)
    yield from (one.via for one in value_or(facts.target.shadows, ()))
    start = value_or(facts.target.start, None)
    yield from [start.variable] if start is not None and start.variable else []


def _searched(value: str, old: str, new: str, blamed: bool) -> str:
    """The folders of the search: the copy's own for the old ones, and others where no cause may be what they hold."""
    kept = []
    for part in filter(None, value.split(":")):
        now = new + part[len(old) :] if part.startswith(f"{old}/") else ""
        if now and os.path.isdir(now):
            kept.append(now)
        elif not blamed:
            kept.append(part)
    return ":".join(kept)


def _led(value: str, old: str, new: str) -> str:
    """A list of paths with the copy's own for the old ones, where the copy has them."""
    parts = [new + part[len(old) :] if part.startswith(f"{old}/") else part for part in value.split(":")]
    return ":".join(now if os.path.exists(now) else was for was, now in zip(value.split(":"), parts, strict=True))


def _files(host: Host, facts: Facts, one: Patient, new: str) -> Iterator[str]:
    """The names of what nobody lists, copied into the folders of the same place; what is there already stays."""
    blamed, unsure = _blamed_files(host, facts)
    room = MOST
    for site in sorted({os.path.dirname(dist.location) for dist in one.distributions}):
        target = new + site[len(one.prefix) :]
        for name in _unlisted(site, [d for d in one.distributions if os.path.dirname(d.location) == site]):
            source, made = f"{site}/{name}", f"{target}/{name}"
            bad = any(path == source or path.startswith(f"{source}/") for path in blamed) or (unsure and _runs(source))
            if bad or os.path.lexists(made) or not os.path.isdir(target):
                continue
            room -= _size(source)
            if room > 0:
                _copy(source, made)
                yield name


def _blamed_files(host: Host, facts: Facts) -> tuple[set[str], bool]:
    """Files that the diagnosis names; and whether one of those that Python runs at its start is at fault, unnamed."""
    start, tried = value_or(facts.target.start, None), value_or(facts.target.imports, ())
    ended = start is not None and bool(start.ends) and not start.file
    unsure = ended or any(one.blame == "files" for one in tried)
    return {host.path(path) for path in _named(facts) if path.startswith(("/", "~"))}, unsure


def _named(facts: Facts) -> Iterator[str]:
    """What stands in for a module, is damaged, ends Python's start, or was on the way to a failed import."""
    target = facts.target
    for shadow in value_or(target.shadows, ()):
        yield from (shadow.path, shadow.via)
    yield from (one.path for one in value_or(target.damage, ()))
    yield value_or(target.start, Start()).file
    for one in value_or(target.imports, ()):
        yield from (one.source, *one.files, *_FILE.findall(one.words)) if one.failed else ()
        yield one.culprit if one.blame in ("file", "files") else ""


def _unlisted(site: str, dists: Sequence[Distribution]) -> list[str]:
    known = {name.partition("/")[0] for dist in dists for name in _listed(dist)}
    names = sorted(os.listdir(site)) if os.path.isdir(site) else []
    return [name for name in names if name not in known and _is_own(name)]


def _is_own(name: str) -> bool:
    return not name.startswith(("~", ".")) and not name.endswith((".dist-info", ".egg-info")) and name not in _OURS


def _listed(one: Distribution) -> Iterator[str]:
    for file in ("RECORD", "top_level.txt", "installed-files.txt"):
        try:
            with open(f"{one.location}/{file}", encoding="utf-8", errors="surrogateescape", newline="") as lines:
                rows = [row[0] for row in csv.reader(lines) if row]
        except (OSError, csv.Error):
            continue
        yield from rows
        yield from (f"{row}.py" for row in rows if file == "top_level.txt")


def _runs(path: str) -> bool:
    """Whether Python runs it when it starts."""
    return path.endswith((".pth", *STARTS))


def _size(path: str) -> int:
    if not os.path.isdir(path) or os.path.islink(path):
        return os.lstat(path).st_size
    return sum(os.lstat(f"{folder}/{name}").st_size for folder, _, names in os.walk(path) for name in names)


def _copy(source: str, made: str) -> None:
    if os.path.isdir(source) and not os.path.islink(source):
        shutil.copytree(source, made, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy2(source, made, follow_symlinks=False)
