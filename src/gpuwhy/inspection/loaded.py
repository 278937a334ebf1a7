"""What the system's own loader does with a file, held against what was predicted for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gpuwhy.host.base import Host
from gpuwhy.observe.loader_v0.process import INTERPRETERS
from gpuwhy.model.fact import Known, Unknown, value_or
from gpuwhy.model.inspected import Header, Inspected, Listed, Probed, Tree
from gpuwhy.model.words import and_more

_SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 9: "SIGKILL", 11: "SIGSEGV"}
_MOST = 20


def probe(host: Host, found: Inspected) -> Inspected:
    """The same inspection with the loader's own answer; nothing of the file is run."""
    return msgspec.structs.replace(found, probe=_probed(host, found))


def _probed(host: Host, found: Inspected) -> Probed:
    if found.header is None:
        return Probed(skipped="the loader can be asked about a program or a shared library only")
    loader = found.header.interpreter or INTERPRETERS.get(found.header.machine, "")
    why = _unfit(host, found, found.header, loader)
    if why:
        return Probed(skipped=why)
    path = value_or(host.real(found.path), found.path) if found.kind == "program" else found.path
    answer = host.call("loaded", loader, path)
    if not isinstance(answer, Known):
        return Probed(loader, skipped=answer.reason if isinstance(answer, Unknown) else "no answer")
    return _compared(host, found.tree, loader, answer.value)


def _unfit(host: Host, found: Inspected, header: Header, loader: str) -> str:
    """Why the loader is not asked; nothing where it can be."""
    if not isinstance(host.elf(found.path), Known):
        return "it is a Windows file"
    uname = host.uname()
    here = uname.value.machine if isinstance(uname, Known) else ""
    if here not in ("", header.machine) and (here, header.machine) != ("x86_64", "i386"):
        return f"it is for {header.machine}, this machine is {here}: its loader does not run here"
    if "ld-musl" in loader or any("musl" in name for name in found.needed):
        return "it is built for musl, whose loader is not asked"
    program = _unfit_program(host, found, header) if found.kind == "program" else ""
    return program or ("" if loader else f"no loader is known for {header.machine}")


def _unfit_program(host: Host, found: Inspected, header: Header) -> str:
    if not header.interpreter:
        return "it is statically linked: no loader has a part in it"
    if _has_others_rights(host, found.path):
        return "it is setuid or setgid: asked by us, the loader would not do what it does for the program"
    return ""


def _has_others_rights(host: Host, path: str) -> bool:
    stat = host.stat(path)
    return isinstance(stat, Known) and "s" in stat.value.mode[1:7].lower()


def _compared(host: Host, tree: Tree, loader: str, lines: Sequence[Mapping[str, Any]]) -> Probed:
    refused = [str(line["refused"]) for line in lines if "refused" in line]
    ends = [line for line in lines if "code" in line]
    if refused or not ends:
        return Probed(loader, skipped=[*refused, _ended(lines)][0])
    listed = tuple(_listed(line) for line in lines if isinstance(line.get("name"), str))
    said = _said(ends[-1])
    stopped = ends[-1]["code"] != 0 and not listed
    out = list(_differences(host, tree, listed, said if tree.sound else "", stopped))
    more = and_more(len(out), _MOST).lstrip()
    return Probed(loader, listed, (*out[:_MOST], *filter(None, (more,))), said=said)


def _differences(host: Host, tree: Tree, listed: tuple[Listed, ...], said: str, stopped: bool) -> Iterator[str]:
    """Where the loader and our search disagree; the order is compared where nothing else differs."""
    out = [*_found_otherwise(host, tree, listed), *([] if stopped else _not_listed(host, tree, listed))]
    out += [f"the loader says: {said}"] if said else []
    yield from out
    if not out and not stopped:
        yield from _order(host, tree, listed)


def _listed(line: Mapping[str, Any]) -> Listed:
    path = line.get("path")
    return Listed(line["name"].rpartition("/")[2], path if isinstance(path, str) else None)


def _ended(lines: Sequence[Mapping[str, Any]]) -> str:
    return next((str(line["ended"]) for line in lines if "ended" in line), "the loader gave no answer")


def _said(end: Mapping[str, Any]) -> str:
    """The loader's complaints; that it passed over an entry of LD_PRELOAD is none."""
    code = end["code"]
    words = [line for line in str(end.get("said") or "").splitlines() if "cannot be preloaded" not in line]
    if code is None:
        return "no answer in time"
    if isinstance(code, int) and code < 0:
        words.append(f"died by signal {-code} ({_SIGNALS.get(-code, 'no other word')})")
    return "; ".join(words)


def _found_otherwise(host: Host, tree: Tree, listed: Sequence[Listed]) -> Iterator[str]:
    expected = {one.name: one.path for one in tree.libraries}
    files = {_real(host, one.path) for one in tree.libraries}
    for one in listed:
        wanted = expected.get(one.name)
        if one.path is None:
            if wanted:
                yield f"{one.name}: the loader does not find it; {wanted} was predicted"
            elif not any(gone.name.rpartition("/")[2] == one.name for gone in tree.missing):
                yield f"{one.name}: the loader looks for it and does not find it; that was not predicted"
        elif _real(host, one.path) not in files:
            what = f"{wanted} was predicted" if wanted else "the prediction does not have it"
            yield f"{one.name}: the loader takes {one.path}; {what}"


def _not_listed(host: Host, tree: Tree, listed: Sequence[Listed]) -> Iterator[str]:
    files = {_real(host, one.path) for one in listed if one.path}
    named = {one.name for one in listed}
    for library in tree.libraries:
        if library.name not in named and _real(host, library.path) not in files:
            yield f"{library.name}: {library.path} was predicted; the loader does not load it"
    for gone in tree.missing:
        name = gone.name.rpartition("/")[2]
        if name not in named and not gone.refused:
            yield f"{name}: predicted to be missing; the loader does not look for it"


def _order(host: Host, tree: Tree, listed: Sequence[Listed]) -> Iterator[str]:
    predicted = [_real(host, one.path) for one in tree.libraries]
    real = [_real(host, one.path) for one in listed if one.path]
    for left, right in zip(predicted, real, strict=False):
        if left != right:
            yield f"the order differs from {right} on, where {left} was predicted"
            return


def _real(host: Host, path: str) -> str:
    return value_or(host.real(path), path)
