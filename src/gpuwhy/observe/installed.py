"""Installed files against their RECORD: libraries that two distributions both claim, and libraries that are damaged.

Only distributions of the GPU stack, for damage also those it stands on, and only their shared libraries are looked at.
A RECORD path that leads out of site-packages (scripts, or something hostile) is not followed. Without a RECORD (conda,
editable) nothing is claimed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gpuwhy.host.base import Stat
from gpuwhy.knowledge.flavours import flavour
from gpuwhy.knowledge.modules import FOUNDATION
from gpuwhy.model.fact import Absent, Fact, Known, Unknown, known, value_or
from gpuwhy.model.facts import NO_EXEC, Conflict, Damage, Distribution
from gpuwhy.observe.altered import changed
from gpuwhy.observe.built import TENSORFLOW, gpu_related
from gpuwhy.observe.commands import dead_commands, no_site
from gpuwhy.observe.contradictions import asked_by_the_stack
from gpuwhy.observe.editable import sources_gone
from gpuwhy.observe.headers import headers_gone
from gpuwhy.observe.misfits import misfits, strays
from gpuwhy.observe.modules import python_files
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.twice import damage_of, left_over
from gpuwhy.observe.unrecorded import unrecorded

_LIBRARY = re.compile(r"\.so(\.\d+)*$|\.(dll|pyd)$", re.IGNORECASE)
_HASH_AT_ONCE = 2 << 20  # bytes: up to this size a hash costs less than a doubt
_THREADS = 4
AFTER_A_CRASH = 1 << 30  # bytes


class Claim(NamedTuple):
    """One line of a RECORD: who says that a file is his, and what it should be."""

    owner: str  # "nvidia-cudnn-cu12 9.27.0.42"
    sha256: str
    size: int  # -1 = not recorded


Files = dict[str, list[Claim]]  # by path


def _ours(scene: Scene, beside: frozenset[str] = frozenset()) -> list[Distribution]:
    found = scene.facts.target.distributions.need() or ()
    stale = left_over(found)
    return [d for d in found if (gpu_related(d.name) or d.name in beside) and d not in stale]


def claims(scene: Scene, among: Iterable[Distribution]) -> Files:
    """The shared libraries of some distributions, with everybody who claims them."""
    files: Files = {}
    for dist in among:
        site = dist.location.rpartition("/")[0]
        module = _renamed(scene, dist, site)
        for line in value_or(scene.host.lines(f"{dist.location}/RECORD", *_endings(scene)), ()):
            parsed = _claim(line.replace(module, "tensorflow") if module else line, f"{dist.name} {dist.version}")
            if parsed:
                files.setdefault(f"{site}/{parsed[0]}", []).append(parsed[1])
    return files


def _renamed(scene: Scene, dist: Distribution, site: str) -> str:
    """tensorflow_gpu, where RECORD has that for every `tensorflow`, as in the published Windows wheels; else ""."""
    module = dist.name.replace("-", "_")
    if not _on_windows(scene) or module == "tensorflow" or not TENSORFLOW.fullmatch(dist.name):
        return ""
    return module if isinstance(scene.host.stat(f"{site}/{module}"), Absent) else ""


def _endings(scene: Scene) -> tuple[str, ...]:
    return (".dll", ".pyd") if _on_windows(scene) else (".so",)


def _on_windows(scene: Scene) -> bool:
    return value_or(scene.facts.surroundings.system, "") == "windows"


def _headers(scene: Scene, path: str) -> Fact[Any]:
    """The summary of a library in the form of its system: of both we need `machine` and `extent`."""
    return scene.host.pe(path) if _on_windows(scene) else scene.host.elf(path)


def _claim(line: str, owner: str) -> tuple[str, Claim] | None:
    """A library and what RECORD says of it; None for another file, and for a path that leads out of the folder."""
    parts = line.rstrip("\r").rsplit(",", 2)
    if len(parts) != 3:
        return None
    path = parts[0].strip('"')
    if path.endswith((".dll", ".pyd")) and not path.startswith("\\"):
        path = path.replace("\\", "/")
    if not _LIBRARY.search(path) or _leads_out(path):
        return None
    digest = parts[1].removeprefix("sha256=") if parts[1].startswith("sha256=") else ""
    return path, Claim(owner, digest, int(parts[2]) if parts[2].isdecimal() and len(parts[2]) < 19 else -1)


def _leads_out(path: str) -> bool:
    return path.startswith(("/", "~", "\\")) or path[1:2] == ":" or ".." in path.split("/") or "\0" in path


# ---------------------------------------------------------------- conflicts


def conflicts(scene: Scene) -> Fact[tuple[Conflict, ...]]:
    """Distributions that claim the same library with other contents, and whose contents are on disk."""
    among = _ours(scene)
    groups: dict[tuple[str, ...], list[str]] = {}
    files = claims(scene, among)
    for path, owners in _first_files(scene, among).items():
        files.setdefault(path, []).extend(owners)
    for path, owners in files.items():
        if len({(c.sha256, c.size) for c in owners}) > 1:
            groups.setdefault(tuple(dict.fromkeys(c.owner for c in owners)), []).append(path)
    found = [_conflict(scene, owners, paths, files) for owners, paths in groups.items() if len(owners) > 1]
    return known(tuple(found), "package", "RECORD", f"of {len(among)} distributions")


def _first_files(scene: Scene, among: Iterable[Distribution]) -> Files:
    """The file that a flavour's import begins with: all that TensorFlow 1.15 shares with its successors."""
    files: Files = {}
    for dist in among:
        kind, site = flavour(dist.name), dist.location.rpartition("/")[0]
        first = f"{kind.module}/__init__.py" if kind else ""
        for line in value_or(scene.host.lines(f"{dist.location}/RECORD", f"{first},"), ()) if first else ():
            path, digest, size = [*line.rstrip("\r").rsplit(",", 2), "", ""][:3]
            if path == first and size.isdecimal():
                claim = Claim(f"{dist.name} {dist.version}", digest.removeprefix("sha256="), int(size))
                files.setdefault(f"{site}/{path}", []).append(claim)
    return files


def _conflict(scene: Scene, owners: tuple[str, ...], paths: list[str], files: Files) -> Conflict:
    won = Counter(name for name in (_winner(scene, path, files[path]) for path in paths) if name)
    winner: Fact[str]
    if not won:
        winner = Unknown("neither sizes nor hashes tell whose files are on disk", "gpuwhy check --verify")
    elif len(won) == 1:
        winner = known(min(won), "file", paths[0], "by size and hash")
    else:
        mixture = " and ".join(f"{name} ({count} files)" for name, count in won.most_common())
        winner = known(mixture, "file", paths[0], "by size and hash")
    example = min(paths, key=lambda p: (len(p.rpartition("/")[2]), p))
    return Conflict(owners, len(paths), example, _module(example), winner)


def _winner(scene: Scene, path: str, owners: list[Claim]) -> str:
    """The one owner whose size, or hash where sizes agree, is the file's; empty when that is not clear."""
    stat = scene.host.stat(path)
    if not isinstance(stat, Known):
        return ""
    fits = [claim for claim in owners if claim.size == stat.value.size]
    if len(fits) > 1 and (stat.value.size < _HASH_AT_ONCE or scene.options.verify):
        digest = value_or(scene.host.sha256(path), "")
        fits = [claim for claim in fits if claim.sha256 == digest]
    names = {claim.owner for claim in fits}
    return names.pop() if len(names) == 1 else ""


def _module(path: str) -> str:
    """The import name that a library belongs to: tensorflow, nvidia.cudnn."""
    inside = re.split(r"/(?:site|dist)-packages/", path)[-1].split("/")
    return ".".join(inside[:2]) if inside[0] == "nvidia" and len(inside) > 2 else inside[0].partition(".")[0]


# ---------------------------------------------------------------- damage


def damage(scene: Scene) -> Fact[tuple[Damage, ...]]:
    """Libraries that are missing, empty, cut off, not ELF, for another machine or of another size than recorded."""
    among = _ours(scene, FOUNDATION)
    files = claims(scene, among)
    everything = scene.facts.target.distributions.need() or ()
    asked = _asked(scene, everything, among)
    found = [
        *filter(None, (_metadata(scene, dist) for dist in among)),
        *_libraries(scene, files, among, asked),
        *_strays(scene, [dist for dist in everything if dist not in among]),
        *(wrong for dist in (*among, *asked) for wrong in python_files(scene, dist)),
        *sources_gone(scene, tuple(everything)),
        *headers_gone(scene, everything),
        *dead_commands(scene, (*among, *asked)),
        *no_site(scene),
        *_no_programs(scene, among),
        *(unrecorded(scene, among) if not _on_windows(scene) else ()),
        *damage_of(scene, everything, [dist for dist in everything if gpu_related(dist.name)]),
    ]
    wanted = _to_hash(scene, files, {one.path for one in found})
    found += _verified(scene, files, wanted) if wanted else ()
    return known(tuple(found), "package", "RECORD", f"{len(files)} libraries of {len(among)} distributions")


def _libraries(
    scene: Scene, files: Files, among: Sequence[Distribution], asked: Sequence[Distribution]
) -> Iterator[Damage]:
    """What is wrong with libraries one by one, then with what was changed, then with whole distributions."""
    machines: dict[str, str] = {}
    differs = changed(scene, [*among, *asked])
    told = {one.path for one in differs.damage}
    for path, owners in files.items():
        one = _wrong(scene, path, owners, machines)
        if one and path not in told and not _only_rewritten(one, differs.fine):
            yield one
    yield from differs.damage
    yield from _told_once([*_foreign(scene, files, machines), *misfits(scene, among, _by_owner(files))])


def _asked(scene: Scene, found: Iterable[Distribution], among: Iterable[Distribution]) -> list[Distribution]:
    """What the GPU stack asks for besides: without its modules nothing is imported either."""
    names, known = asked_by_the_stack(scene), {one.name for one in among}
    return [dist for dist in found if dist.name in names and dist.name not in known]


def _no_programs(scene: Scene, among: Sequence[Distribution]) -> Iterator[Damage]:
    """Folders of the GPU stack on a file system from which nothing may be run: no library of them is loaded either."""
    for site in dict.fromkeys(dist.location.rpartition("/")[0] for dist in among if gpu_related(dist.name)):
        standing = scene.host.standing(site)
        if isinstance(standing, Known) and not standing.value.programs:
            yield Damage(site, "", NO_EXEC, "", "mounted noexec")


def _only_rewritten(one: Damage, fine: frozenset[str]) -> bool:
    """A library whose size is another because a tool rewrote its headers, or put something behind it."""
    return one.what == "other size" and one.path in fine


def _strays(scene: Scene, rest: list[Distribution]) -> Iterator[Damage]:
    """Of what the GPU stack asks for besides, what was built for something else."""
    found = list(strays(scene, rest, lambda dist: list(claims(scene, (dist,)))))
    asked = asked_by_the_stack(scene) if found else {}
    yield from (one for one in found if one.owner.partition(" ")[0] in asked)


def _metadata(scene: Scene, dist: Distribution) -> Damage | None:
    """A metadata folder without METADATA: what an interrupted installation leaves."""
    if not dist.location.endswith(".dist-info"):
        return None
    path = f"{dist.location}/METADATA"
    stat = scene.host.stat(path)
    if isinstance(stat, Known) and stat.value.kind == "file" and stat.value.size:
        return None
    actual = stat.reason if isinstance(stat, Unknown) else "missing" if isinstance(stat, Absent) else "empty"
    link = scene.host.link(path) if isinstance(stat, Absent) else stat
    if isinstance(stat, Absent) and isinstance(link, Known):
        return Damage(path, f"{dist.name} {dist.version}", "dangling link", "METADATA", f"points to {link.value}")
    what = "metadata unreadable" if isinstance(stat, Unknown) else "metadata gone"
    return Damage(path, f"{dist.name} {dist.version}", what, "METADATA", actual)


def _wrong(scene: Scene, path: str, owners: list[Claim], machines: dict[str, str]) -> Damage | None:
    """What is wrong with one library; what is read of it on the way goes to `machines`."""
    sizes = sorted({claim.size for claim in owners if claim.size >= 0})
    form = "PE" if _on_windows(scene) else "ELF"
    stat = scene.host.stat(path)
    wrong = _no_file(scene, path, stat, form)
    if not wrong and isinstance(stat, Known):
        wrong = _contents(scene, path, owners, sizes, stat.value.size, machines)
    if not wrong:
        return None
    expected = " or ".join(f"{size} bytes" for size in sizes) or f"{'an' if form == 'ELF' else 'a'} {form} library"
    return Damage(path, owners[0].owner, wrong[0], expected, wrong[1])


def _no_file(scene: Scene, path: str, stat: Fact[Stat], form: str) -> tuple[str, str] | None:
    """What is wrong where there is no plain file: the kind, and what is there."""
    if isinstance(stat, Unknown):
        return "unreadable", stat.reason.removeprefix(f"{path}: ")
    if isinstance(stat, Absent):
        link = scene.host.link(path)
        return ("dangling link", f"points to {link.value}") if isinstance(link, Known) else ("missing", "no file")
    return (f"not {form}", f"a {stat.value.kind}") if stat.value.kind != "file" else None


def _contents(
    scene: Scene, path: str, owners: list[Claim], sizes: list[int], size: int, machines: dict[str, str]
) -> tuple[str, str] | None:
    """What is wrong with a file by its size and its headers."""
    if size == 0:
        return ("empty", "0 bytes") if sizes != [0] else None
    same = size in sizes
    if same and not _worth_reading(path, owners):
        return None
    read = _headers(scene, path)
    if not isinstance(read, Known):
        return _unread(read, path, "PE" if _on_windows(scene) else "ELF") if isinstance(read, Unknown) else None
    machines[path] = read.value.machine
    if read.value.extent > size:
        return "truncated", f"{size} bytes, its headers say {read.value.extent}"
    return ("other size", f"{size} bytes") if sizes and not same else None


def _worth_reading(path: str, owners: list[Claim]) -> bool:
    """NVIDIA's libraries and the main ones of a framework: what the loader opens first; not every small module."""
    name = path.rpartition("/")[2]
    main = name.startswith(("lib", "_pywrap_tensorflow_i", "_pywrap_tensorflow.")) or name.endswith(".dll")
    return owners[0].owner.startswith("nvidia-") or main


def _unread(why: Unknown, path: str, form: str) -> tuple[str, str]:
    """What is wrong with a library that cannot be read, and in which words."""
    reason = why.reason.removeprefix(f"{path}: ")
    if why.kind == "foreign":
        return f"not {form}", f"no {form} header"
    if why.kind == "denied":
        return "unreadable", reason
    return "truncated" if why.kind == "cut" else f"not {form}", reason


def _told_once(found: Iterable[Damage]) -> list[Damage]:
    """One for each distribution, and none where Python itself is the one that does not fit."""
    first: dict[str, Damage] = {}
    for one in found:
        first.setdefault(one.owner, one)
    return [one for owner, one in first.items() if owner.startswith("Python ")] or list(first.values())


def _by_owner(files: Files) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for path, owners in files.items():
        out.setdefault(owners[0].owner, []).append(path)
    return out


def _foreign(scene: Scene, files: Files, machines: Mapping[str, str]) -> list[Damage]:
    """Distributions whose libraries are all for another machine than the interpreter (some carry both on purpose)."""
    python = scene.facts.target.interpreter
    if not isinstance(python, Known) or not python.value.machine:
        return []
    machine = python.value.machine
    seen: dict[str, list[str]] = {}
    for path in machines:
        seen.setdefault(files[path][0].owner, []).append(path)
    foreign = {owner: paths[0] for owner, paths in seen.items() if all(machines[p] != machine for p in paths)}
    here = value_or(scene.facts.surroundings.machine, machine)
    if len(foreign) == len(seen) > 1 and {machines[path] for path in foreign.values()} == {here}:
        return [Damage(python.value.path, f"Python {python.value.version}", "wrong architecture", here, machine)]
    return [Damage(path, owner, "wrong architecture", machine, machines[path]) for owner, path in foreign.items()]


def _to_hash(scene: Scene, files: Files, known_bad: set[str]) -> list[str]:
    """All libraries that have a recorded hash, or those that a failure makes doubtful."""
    options = scene.options
    hashed = [path for path, owners in files.items() if path not in known_bad and any(c.sha256 for c in owners)]
    if options.verify:
        return hashed
    doubted = [path for path in hashed if path.endswith(options.doubted)] if options.doubted else []
    return [*doubted, *(_smallest(scene, hashed) if options.crashed else ())]


def _verified(scene: Scene, files: Files, wanted: list[str]) -> Iterator[Damage]:
    """Hash libraries; at disk speed, a few at a time, saying how far it is."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_THREADS) as pool:
        for done, (path, digest) in enumerate(zip(wanted, pool.map(scene.host.sha256, wanted), strict=True), 1):
            scene.note(f"verifying installed libraries: {done} of {len(wanted)}")
            right = {claim.sha256 for claim in files[path] if claim.sha256}
            if isinstance(digest, Known) and digest.value not in right:
                owner = files[path][0].owner
                yield Damage(path, owner, "other hash", f"sha256 {min(right)}", f"sha256 {digest.value}")


def _smallest(scene: Scene, paths: list[str]) -> list[str]:
    """The smaller libraries, as many as are read in about a second."""
    sizes = {p: stat.value.size for p in paths if isinstance(stat := scene.host.stat(p), Known)}
    out, room = [], AFTER_A_CRASH
    for path in sorted(sizes, key=lambda p: sizes[p]):
        room -= sizes[path]
        if room < 0:
            break
        out.append(path)
    return out
