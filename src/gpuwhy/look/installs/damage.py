"""Installed files that are not what was installed, and packages that do not fit the environment.

The libraries of the GPU stack come first; then whether its other files exist, as far as the time
goes. Every byte is read only where that was asked for.
"""

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from gpuwhy.facts.environment import FileRow, Package
from gpuwhy.facts.fact import Absent, Fact, Known, Owner, Unknown, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Conflict, Damage, DamageKind, Part, Share
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.formats.elf import Elf
from gpuwhy.knowledge.modules import FOUNDATION
from gpuwhy.look.environment.packages import gpu_related
from gpuwhy.look.environment.python import on_the_path
from gpuwhy.look.files import gone, lines, names
from gpuwhy.look.installs.requirements import asked
from gpuwhy.look.look import Options
from gpuwhy.machine.machine import Changed, How, Level, Machine, printable

_LIBRARY = r"(?i)\.(so(\.\d+)*|dll|pyd|dylib)$"
_DISPENSABLE = (
    r"(^|/)(_?tests?|docs?|examples?|samples?|benchmarks?|tutorials?|include)/"
    r"|(^|/)(test_\w*|\w*_test|conftest|setup)\.py$|\.(dist|egg)-info/|\.pyi$|(^|/)py\.typed$"
)
"""What people take out of images, and no import asks for; `testing` is asked for."""
_FIRST = ("__init__", "version", "_version")
_PROGRAM = r"[A-Za-z_][\w.-]*/(?:[\w.-]+/)*bin/[\w+-]+"
_PLAIN: dict[How, DamageKind] = {
    "missing": DamageKind.MISSING,
    "empty": DamageKind.EMPTY,
    "denied": DamageKind.UNREADABLE,
    "folder": DamageKind.MISSING,
    "link": DamageKind.DANGLING,
}
_OF_DATA: dict[How, DamageKind] = {
    **dict.fromkeys(("missing", "link", "folder"), DamageKind.MISSING),
    "empty": DamageKind.EMPTY,
}
_UNREAD = {"denied": DamageKind.UNREADABLE, "cut": DamageKind.TRUNCATED}
_VERSION_FILES = ("version.py", "_version.py")
_VERSION = r"_{0,2}version_{0,2}\s*(?::\s*\w+\s*)?=\s*['\"](\d[\w.+]*)['\"]"
_STATING = ("torch", "jax", "jaxlib", "numpy", "torchvision", "cupy")
"""Modules that state the version of their package's metadata."""
_MOST_COMPILED = 40
_MOST_LISTED, _FEW_LISTED = 1500, 400
"""Files up to which each folder of a package is listed: of the GPU stack, and of what it needs."""
_MOST_TOLD, _MANY = 200, 400  # damaged files: of one package, and in all
_TABLES = 128 << 10  # bytes of tables that tools write behind a library whose headers they change
_ROOM = 1 << 30  # bytes that are hashed after a crash


def damage(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Damage, ...]]:
    """Everything that is wrong with files and packages."""
    facts.environment.packages.need()
    check = _Check(machine, facts, options)
    found = [*_by_all_claimants(check.among, list(check.files()))]
    found += _misfits(machine, facts, check.among)
    for site in dict.fromkeys(one.site for one in check.among if gpu_related(one.name)):
        standing = machine.standing(site)
        if isinstance(standing, Known) and not standing.value.programs:
            found.append(Damage(site, DamageKind.NOEXEC, Part.FOLDER, Owner("")))
    if not check.windows:
        found += _broken_off(machine, facts)
    said = f"{check.looked_at} files of {len(check.among)} packages"
    if check.left_out:
        said += f"; only libraries of {', '.join(check.left_out)}: the file system is slow"
    return known(tuple(dict.fromkeys(found)), "package", "RECORD", said)


def _by_all_claimants(among: Sequence[Package], found: list[Damage]) -> Iterator[Damage]:
    """Without files that are as another package lists them: those are conflicts."""
    seen = {(one.path, one.owner) for one in found}
    told = set()
    among = among if len(found) < _MANY else ()  # more than builds of one package have in common
    for one in found:
        claims = (
            other.owner
            for other in among
            if one.path.startswith(f"{other.site}/")
            and other.files.find(one.path[len(other.site) + 1 :])
        )
        if one.path not in told and all((one.path, owner) in seen for owner in claims):
            told.add(one.path)
            yield one


def _first_module(one: Package) -> str:
    """The module that a package of the GPU stack is imported as; "" for others."""
    from gpuwhy.knowledge.packages import flavour

    if kind := flavour(one.name):
        return kind.module
    named = gpu_related(one.name) and not one.name.startswith("nvidia-")
    return one.name.replace("-", "_") if named else ""


class _Check:
    """The files of the GPU stack, of what it stands on and of what it asks for."""

    def __init__(self, machine: Machine, facts: Facts, options: Options) -> None:
        self.machine = machine
        self.options = options
        self.until = time.monotonic() + options.seconds
        self.windows = value_or(facts.system.os, "") == "windows"
        self.processor = value_or(facts.system.machine, "")
        self.asked = asked(facts).owners
        every = [one for one in value_or(facts.environment.packages, ()) if not one.second]
        stack = [one for one in every if gpu_related(one.name)]
        foundation = [one for one in every if one.name in FOUNDATION]
        beside = [one for one in every if one.name in self.asked]
        self.among = list({id(one): one for one in (*stack, *foundation, *beside)}.values())
        self.elsewhere: dict[str, bool] = {}
        self.looked_at = 0
        self.left_out: list[str] = []

    def files(self) -> Iterator[Damage]:
        """What is wrong file by file: with libraries, modules, data, then with programs."""
        for one in self.among:
            changes = [change for change in self._changes(one) if not self._is_spare(one, change)]
            edited: list[Changed] = []
            for change in changes[:_MOST_TOLD]:
                kind, part, actual = _OF_DATA.get(change.how), Part.DATA, ""
                if re.search(_LIBRARY, change.path):
                    part = Part.LIBRARY
                    kind, actual = self._library(one, change) or (None, "")
                elif change.path.endswith(".py"):
                    kind, part = _PLAIN.get(change.how), _part_of_module(one, change.path)
                    edited += [] if kind else [change]
                if kind:
                    yield self._wrong(one, change, kind, part, actual)
            yield from self._edited(one, edited)
            yield from self._first_modules(one, {change.path for change in changes})
            yield from self._programs(one)
        yield from self._hashed()

    def _wrong(
        self, one: Package, change: Changed, kind: DamageKind, part: Part, actual: str = ""
    ) -> Damage:
        sized = part is Part.LIBRARY
        return Damage(
            path=printable(f"{one.site}/{change.path}"),
            kind=kind,
            part=part,
            owner=one.owner,
            actual=actual,
            size=change.size if sized else -1,
            recorded_size=change.recorded if sized else -1,
            stack=gpu_related(one.name) or one.name in self.asked,
        )

    def _changes(self, one: Package) -> Iterator[Changed]:
        """What is not as a RECORD says; every folder is listed of small packages alone."""
        listed, module = one.name.replace("-", "_"), _first_module(one)
        renamed = self.windows and module == "tensorflow" != listed
        if not one.recorded or (renamed and gone(self.machine, f"{one.site}/{listed}")):
            return  # published wheels for Windows list tensorflow_gpu for each `tensorflow`
        main = gpu_related(one.name)
        late = self.options.files != "all" and time.monotonic() > self.until
        few = len(one.files) <= (_MOST_LISTED if main else _FEW_LISTED)
        level: Level = "files" if few and not late else "libraries"
        level = "hashes" if self.options.files == "all" else level
        self.left_out += [one.name] if late else []
        changes = self.machine.changes(f"{one.location}/RECORD", level)
        if isinstance(changes, Known):
            self.looked_at += changes.value.looked_at
            yield from changes.value.rows
            if level == "libraries" and main and not late and one.files.known == "all":
                yield from self._top_modules(one)

    def _top_modules(self, one: Package) -> Iterator[Changed]:
        """The modules of a large package that are missing, down to three folders."""
        held: dict[str, set[str] | None] = {}
        for path in one.files.modules(3):
            folder, _, name = path.rpartition("/")
            if folder.startswith((".", "/", '"')):
                continue
            if folder not in held:
                listed = self.machine.list(f"{one.site}/{folder}")
                seen = {entry.name for entry in value_or(listed, ())}
                held[folder] = None if isinstance(listed, Unknown) else seen
            there = held[folder]
            if there is not None and name not in there and f"{name}c" not in there:
                yield Changed(path, "missing")

    def _is_spare(self, one: Package, change: Changed) -> bool:
        """Files that nobody misses, and modules that another place of the path has."""
        if re.search(_DISPENSABLE, change.path):
            return True
        if change.how != "missing":
            return False
        row, top = one.files.find(change.path), change.path.partition("/")[0]
        key = f"{one.site}/{top}"
        if key not in self.elsewhere:
            lost = gone(self.machine, key)
            self.elsewhere[key] = lost and on_the_path(self.machine, one.site, top)
        nothing = row is not None and row.size == 0  # an empty __init__.py
        return nothing or self.elsewhere[key]

    def _library(self, one: Package, change: Changed) -> tuple[DamageKind, str] | None:
        """What is wrong with a library, and in what words; None where a tool only rewrote it."""
        path = f"{one.site}/{change.path}"
        if change.how == "folder":
            return DamageKind.NOT_A_LIBRARY, ""
        if change.how in _PLAIN:
            link = value_or(self.machine.link(path), "") if change.how == "link" else ""
            return _PLAIN[change.how], link
        read = self.machine.pe(path) if self.windows else self.machine.elf(path)
        if change.how == "longer" or isinstance(read, Absent):
            return None
        if isinstance(read, Unknown):
            return _UNREAD.get(read.kind, DamageKind.NOT_A_LIBRARY), ""
        if read.value.extent > change.size >= 0:
            return DamageKind.TRUNCATED, f"its headers say {read.value.extent} bytes"
        elf = read.value if isinstance(read.value, Elf) else None
        if elf and (refused := self._refused(elf)):
            return DamageKind.NOT_LOADABLE, refused
        if change.how == "zeros":
            return DamageKind.ZEROS, ""
        if change.how == "size":
            near = change.recorded - min(_TABLES, change.recorded // 4)
            grown = change.size > change.recorded and elf is not None
            tool = grown and elf and near <= elf.last <= change.recorded + 4096
            return None if tool else (DamageKind.OTHER_SIZE, "")
        hashed = self.windows or self.options.files == "all"
        return (DamageKind.OTHER_HASH, "") if hashed else None

    def _refused(self, elf: Elf) -> str:
        """Why the loader does not take a library; "" where it does."""
        if not all(re.fullmatch(r"[\w.+@-]+", name) for name in elf.needed):
            return "its table of names is scrambled"
        here = self.processor
        foreign = here and (elf.machine != here or (elf.bits == 32 and here.endswith("64")))
        return elf.refused or (f"{elf.machine}, {elf.bits} bits" if foreign else "")

    def _hashed(self) -> Iterator[Damage]:
        """Libraries that a failure makes doubtful: those that it names, and the smaller ones."""
        doubted, room = self.options.doubted, _ROOM if self.options.crashed else 0
        if self.options.files == "all" or not (room or doubted):
            return
        every = [(row, one) for one in self.among for row in one.files.ending(".so", ".dll")]
        for row, one in sorted(every, key=lambda pair: pair[0].size):
            if not row.sha256 or row.size < 0 or row.path.startswith(("/", "..")):
                continue
            room -= row.size
            if room > 0 or (doubted and row.path.endswith(doubted)):
                digest = self.machine.sha256(f"{one.site}/{row.path}")
                if value_or(digest, row.sha256) != row.sha256:
                    change = Changed(row.path, "hash")
                    yield self._wrong(one, change, DamageKind.OTHER_HASH, Part.LIBRARY)

    def _edited(self, one: Package, edited: Sequence[Changed]) -> Iterator[Damage]:
        """Modules with other contents: of another release, not compiling, or edited."""
        module = _first_module(one)
        for name in _VERSION_FILES if edited and module in _STATING else ():
            path = f"{one.site}/{module}/{name}"
            rows = (re.match(_VERSION, line) for line in lines(self.machine, path, "ersion"))
            said = next((row[1] for row in rows if row), "")
            if said and said.partition("+")[0] != one.version.partition("+")[0]:
                kind, part = DamageKind.OTHER_RELEASE, Part.PACKAGE
                yield Damage(path, kind, part, one.owner, one.version, said)
                return
        paths = [f"{one.site}/{change.path}" for change in edited[:_MOST_COMPILED]]
        compiled = value_or(self.machine.call("compiles", *paths), ()) if paths else ()
        broken = {str(said.get("path", "")): str(said.get("wrong", "")) for said in compiled}
        for change in edited:
            wrong = broken.get(f"{one.site}/{change.path}", "")
            if wrong or self.options.files == "all":  # people patch modules, and all is well
                kind = DamageKind.NOT_COMPILING if wrong else DamageKind.EDITED
                yield self._wrong(one, change, kind, _part_of_module(one, change.path), wrong)

    def _first_modules(self, one: Package, told: set[str]) -> Iterator[Damage]:
        """The modules that an import reads first, where they have become empty or another size."""
        module, edited = _first_module(one), []
        for name in _FIRST if module and self.options.files != "all" else ():
            row = one.files.find(f"{module}/{name}.py")
            if row is None or row.size <= 0 or row.path in told:
                continue
            stat = self.machine.stat(f"{one.site}/{row.path}")
            size = stat.value.size if isinstance(stat, Known) else -1
            change = Changed(row.path, "size", size, row.size)
            lost = isinstance(stat, Absent) and one.files.known == "some"  # in a recording
            if lost or size == 0:
                kind = DamageKind.MISSING if lost else DamageKind.EMPTY
                yield self._wrong(one, change, kind, Part.FIRST_MODULE)
            elif size not in (-1, row.size):
                edited.append(change)
        yield from self._edited(one, edited)

    def _programs(self, one: Package) -> Iterator[Damage]:
        """Programs in a package's own folder bin, which it starts."""
        for row in one.files.ending("/bin/") if gpu_related(one.name) and not self.windows else ():
            path = f"{one.site}/{row.path}"
            stat = self.machine.stat(path) if re.fullmatch(_PROGRAM, row.path) else None
            if not isinstance(stat, Known) or stat.value.kind != "file" or "x" in stat.value.mode:
                continue
            if path.endswith("bin/ptxas") or isinstance(self.machine.elf(path), Known):
                change, mode = Changed(row.path, "denied"), stat.value.mode
                yield self._wrong(one, change, DamageKind.NOT_EXECUTABLE, Part.PROGRAM, mode)


def _part_of_module(one: Package, path: str) -> Part:
    first = _first_module(one)
    early = bool(first) and path in {f"{first}/{name}.py" for name in _FIRST}
    return Part.FIRST_MODULE if early else Part.MODULE


_MODULES = ("torch", "tensorflow", "jax", "jaxlib", "onnxruntime", "cupy", "numpy")
_ASIDE = r"~+(?P<rest>[\w.]+?)-(?P<version>\d[^-]*)\.dist-info"
"""How pip names what it has moved aside: with another first letter."""
_MOST_PARTS = 4000


def _broken_off(machine: Machine, facts: Facts) -> Iterator[Damage]:
    """Frameworks that pip had moved aside (~orch) for another release when it was ended.

    Told by the first file of those moved aside that is not in its old place.
    """
    installed = facts.environment.by_name
    for site in value_or(facts.environment.sites, ()):
        for name in names(machine, site.path, r"~.*\.dist-info$"):
            aside = re.fullmatch(_ASIDE, name)
            module = next((one for one in _MODULES if aside and one[1:] == aside["rest"]), "")
            if not aside or not module or module in installed:
                continue
            listed = lines(machine, f"{site.path}/{name}/RECORD", "/__init__.py,")
            named = (line.partition(",")[0] for line in listed if line.startswith(f"{module}/"))
            files = dict.fromkeys((f"{module}/__init__.py", *islice(named, _MOST_PARTS)))
            paths = (f"{site.path}/{file}" for file in files)
            if path := next((path for path in paths if gone(machine, path)), ""):
                owner = Owner(module, aside["version"], "pip")
                yield Damage(path, DamageKind.HALF_UPGRADED, Part.PACKAGE, owner, actual=name)


_TAG = r"\.cpython-3(\d+)([a-z]*)-(?:([a-z0-9_]+)-linux-(?:gnu|musl)\w*|(darwin))\.so$"
_SAME = {"powerpc64le": "ppc64le", "i386": "i686"}
_FEW = 4  # libraries whose headers are read


Misfit = tuple[DamageKind, str, str]
"""In which respect a package does not fit: what was expected, and what it is."""


def _misfits(machine: Machine, facts: Facts, among: Iterable[Package]) -> Iterator[Damage]:
    """Of each package that fits in no respect, one library."""
    python = value_or(facts.environment.python, None)
    version = numbers(python.version) if python else ()
    linux = value_or(facts.system.os, "linux") == "linux"
    if not python or not linux or version[:1] != (3,) or len(version) < 2 or "pypy" in python.path:
        return  # no name of a module tells anything
    release = major_minor(python.version)
    sites = value_or(facts.environment.sites, ())
    if any(f"/python{release}t/" in f"{site.path}/" for site in sites):
        release += "t"  # without the global lock
    for one in among:
        rows = [row.path for row in one.files.ending(".so", ".pyd")]
        paths = [f"{one.site}/{path}" for path in rows if not path.startswith(("/", ".."))]
        found = _misfit(machine, release, python.machine, paths)
        if found:
            path, (kind, expected, actual) = found
            yield Damage(path, kind, Part.PACKAGE, one.owner, expected, actual)


def _misfit(
    machine: Machine, release: str, processor: str, paths: list[str]
) -> tuple[str, Misfit] | None:
    libraries = [path for path in paths if re.search(r"\.so[.\d]*$", path)]
    if not libraries and any(path.endswith(".pyd") for path in paths):
        return paths[0], (DamageKind.WRONG_SYSTEM, "Linux", "Windows")
    tags = {path: tag for path in libraries if (tag := re.search(_TAG, path))}
    named = {path: _refusal(tag, release, processor) for path, tag in tags.items()}
    for path, wrong in named.items():
        if wrong and all(named.values()):
            return path, wrong
    elves = [] if named else [machine.elf(path) for path in libraries[:_FEW]]
    machines = {elf.value.machine for elf in elves if isinstance(elf, Known)}
    if machines and processor and processor not in machines:
        return libraries[0], (DamageKind.WRONG_MACHINE, processor, min(machines))
    return None


def _refusal(tag: re.Match[str], release: str, processor: str) -> Misfit | None:
    """Why a module's name is not one that this Python looks for."""
    minor, flags, machine, mac = tag.groups()
    if mac:
        return DamageKind.WRONG_SYSTEM, "Linux", "macOS"
    machine, python = _SAME.get(machine, machine), f"3.{minor}{'t' if 't' in flags else ''}"
    if processor and machine != processor:
        return DamageKind.WRONG_MACHINE, processor, machine
    return (DamageKind.WRONG_PYTHON, release, python) if python != release else None


_CLAIMED = r"(?i)(?![/\\]|\.\.|.:)(?!.*/\.\./).*\.(so(\.\d+)*|dll|pyd)$"
_HASHED = 2 << 20  # bytes: up to this size a hash costs less than a doubt


def conflicts(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Conflict, ...]]:
    """Packages of the GPU stack that list the same library with other contents.

    Beside the libraries, the file that their import begins with: what two flavours always share.
    """
    from gpuwhy.knowledge.packages import flavour

    packages = facts.environment.packages.need() or ()
    among = [one for one in packages if gpu_related(one.name) and not one.second]
    ends = (".dll", ".pyd") if value_or(facts.system.os, "") == "windows" else (".so",)
    claims: dict[str, list[tuple[Owner, FileRow]]] = {}
    for one in among:
        rows = [row for row in one.files.ending(*ends) if re.match(_CLAIMED, row.path)]
        kind = flavour(one.name)
        first = one.files.find(f"{kind.module}/__init__.py") if kind else None
        for row in (*rows, first) if first else rows:
            claims.setdefault(f"{one.site}/{row.path}", []).append((one.owner, row))
    groups: dict[tuple[Owner, ...], list[str]] = {}
    for path, several in claims.items():
        owners = tuple(dict.fromkeys(owner for owner, _ in several))
        if len(owners) > 1 and len({(row.sha256, row.size) for _, row in several}) > 1:
            groups.setdefault(owners, []).append(path)
    found = []
    for owners, paths in groups.items():
        won = Counter(filter(None, (_winner(machine, p, claims[p], options) for p in paths)))
        shares = tuple(Share(owner, count) for owner, count in won.most_common())
        unseen = Unknown("neither sizes nor hashes show whose files these are", "check --deep")
        winners = known(shares, "file", paths[0], "by size and hash") if won else unseen
        example = min(paths, key=lambda path: (len(path.rpartition("/")[2]), path))
        inside = re.split(r"/(?:site|dist)-packages/", example)[-1].split("/")
        module = inside[0].partition(".")[0]
        if inside[0] == "nvidia" and len(inside) > 2:
            module = ".".join(inside[:2])
        found.append(Conflict(owners, len(paths), example, module, winners))
    return known(tuple(found), "package", "RECORD", f"of {len(among)} packages")


def _winner(
    machine: Machine, path: str, claims: list[tuple[Owner, FileRow]], options: Options
) -> Owner | None:
    """The one owner whose size, or hash where sizes agree, is the file's."""
    stat = machine.stat(path)
    size = stat.value.size if isinstance(stat, Known) else -1
    fits = [(owner, row) for owner, row in claims if row.size == size >= 0]
    if len(fits) > 1 and (size < _HASHED or options.files == "all"):
        digest = value_or(machine.sha256(path), "")
        fits = [(owner, row) for owner, row in fits if row.sha256 == digest]
    owners = {owner for owner, _ in fits}
    return owners.pop() if len(owners) == 1 else None
