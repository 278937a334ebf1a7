"""What the system's own loader does with a file, compared with what was predicted for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpuwhy.facts.fact import Known, Unknown, value_or
from gpuwhy.inspect.inspected import Header, Inspected, Listed, Probed, Tree
from gpuwhy.loader.process import INTERPRETERS
from gpuwhy.machine.machine import Machine

_SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 9: "SIGKILL", 11: "SIGSEGV"}
_MOST = 20


def probed(machine: Machine, found: Inspected) -> Probed:
    """The loader's own answer; nothing of the file is run."""
    if found.header is None:
        return Probed(skipped="the loader can be asked about a program or a shared library only")
    loader = found.header.interpreter or INTERPRETERS.get(found.header.machine, "")
    why = _why_not(machine, found, found.header, loader)
    if why:
        return Probed(skipped=why)
    program = found.kind == "program"
    path = value_or(machine.real(found.path), found.path) if program else found.path
    answer = machine.call("loaded", loader, path)
    if not isinstance(answer, Known):
        why = answer.reason if isinstance(answer, Unknown) else "no answer"
        return Probed(loader, skipped=why)
    return _compared(machine, found.tree, loader, answer.value)


def _why_not(machine: Machine, found: Inspected, header: Header, loader: str) -> str:
    """Why the loader is not asked; "" where it can be."""
    if not isinstance(machine.elf(found.path), Known):
        return "it is a Windows file"
    uname = machine.uname()
    here = uname.value.machine if isinstance(uname, Known) else ""
    if here not in ("", header.machine) and (here, header.machine) != ("x86_64", "i386"):
        return f"it is for {header.machine}, this machine is {here}: its loader does not run here"
    if "ld-musl" in loader or any("musl" in name for name in found.needed):
        return "it is built for musl, whose loader is not asked"
    if found.kind == "program" and not header.interpreter:
        return "it is statically linked: no loader has a part in it"
    stat = machine.stat(found.path)
    if isinstance(stat, Known) and "s" in stat.value.mode[1:7].lower():
        return "it is setuid or setgid: for gpuwhy the loader would not do what it does for it"
    return "" if loader else f"no loader is known for {header.machine}"


def _compared(
    machine: Machine, tree: Tree, loader: str, lines: Sequence[Mapping[str, Any]]
) -> Probed:
    refused = [str(line["refused"]) for line in lines if "refused" in line]
    ends = [line for line in lines if "code" in line]
    if refused or not ends:
        ended = (str(line["ended"]) for line in lines if "ended" in line)
        why = [*refused, *ended, "the loader gave no answer"][0]
        return Probed(loader, skipped=why)
    listed = tuple(_listed(line) for line in lines if isinstance(line.get("name"), str))
    said = _said(ends[-1])
    stopped = ends[-1]["code"] != 0 and not listed
    out = list(_differences(machine, tree, listed, said if tree.sound else "", stopped))
    more = (f"and {len(out) - _MOST} more",) if len(out) > _MOST else ()
    return Probed(loader, listed, (*out[:_MOST], *more), said=said)


def _listed(line: Mapping[str, Any]) -> Listed:
    path = line.get("path")
    return Listed(line["name"].rpartition("/")[2], path if isinstance(path, str) else None)


def _said(end: Mapping[str, Any]) -> str:
    """The loader's complaints; that it passed over an entry of LD_PRELOAD is none."""
    code = end["code"]
    lines = str(end.get("said") or "").splitlines()
    words = [line for line in lines if "cannot be preloaded" not in line]
    if code is None:
        return "no answer in time"
    if isinstance(code, int) and code < 0:
        words.append(f"died by signal {-code} ({_SIGNALS.get(-code, 'no other word')})")
    return "; ".join(words)


def _differences(
    machine: Machine, tree: Tree, listed: tuple[Listed, ...], said: str, stopped: bool
) -> Iterator[str]:
    """Where the loader and our search disagree; the order is compared where nothing else does."""
    out = [*_found_otherwise(machine, tree, listed)]
    out += [] if stopped else _not_listed(machine, tree, listed)
    out += [f"the loader says: {said}"] if said else []
    yield from out
    if not out and not stopped:
        yield from _order(machine, tree, listed)


def _found_otherwise(machine: Machine, tree: Tree, listed: Sequence[Listed]) -> Iterator[str]:
    expected = {one.name: one.path for one in tree.libraries}
    files = {_real(machine, one.path) for one in tree.libraries}
    gone = {one.name.rpartition("/")[2] for one in tree.missing}
    for one in listed:
        wanted = expected.get(one.name)
        if one.path is None and wanted:
            yield f"{one.name}: the loader does not find it; {wanted} was predicted"
        elif one.path is None and one.name not in gone:
            yield f"{one.name}: the loader looks for it and does not find it, unlike predicted"
        elif one.path and _real(machine, one.path) not in files:
            what = f"{wanted} was predicted" if wanted else "the prediction does not have it"
            yield f"{one.name}: the loader takes {one.path}; {what}"


def _not_listed(machine: Machine, tree: Tree, listed: Sequence[Listed]) -> Iterator[str]:
    files = {_real(machine, one.path) for one in listed if one.path}
    named = {one.name for one in listed}
    for library in tree.libraries:
        if library.name not in named and _real(machine, library.path) not in files:
            yield f"{library.name}: {library.path} was predicted; the loader does not load it"
    for gone in tree.missing:
        name = gone.name.rpartition("/")[2]
        if name not in named and not gone.refused:
            yield f"{name}: predicted to be missing; the loader does not look for it"


def _order(machine: Machine, tree: Tree, listed: Sequence[Listed]) -> Iterator[str]:
    predicted = [_real(machine, one.path) for one in tree.libraries]
    real = [_real(machine, one.path) for one in listed if one.path]
    for left, right in zip(predicted, real, strict=False):
        if left != right:
            yield f"the order differs from {right} on, where {left} was predicted"
            return


def _real(machine: Machine, path: str) -> str:
    return value_or(machine.real(path), path)
