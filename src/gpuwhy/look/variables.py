"""The environment variables that steer the GPU stack, and what is wrong with their values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from gpuwhy.facts.fact import Absent, Fact, Known, Source, absent, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.variables import Fault, PathProblem, Problem, SetAtStart, Variable
from gpuwhy.knowledge.settings import CONTAINER_FOLDERS, FOREIGN, is_private, steers
from gpuwhy.look.files import exists
from gpuwhy.look.installs.startup import presets
from gpuwhy.look.look import Options, is_windows
from gpuwhy.look.windows import expanded, is_whole, tidy
from gpuwhy.machine.machine import Machine, printable

_LONGEST = 4096
_LOGIN = "/etc/environment"
"""Variables of every login, on a Linux disk whose shell nobody can ask."""
_PLACES = ("SYSTEMROOT", "PROGRAMFILES", "PROGRAMDATA", "LOCALAPPDATA")  # of Windows; steer nothing
_REGISTRY = (
    "HKCU/Environment",
    "HKLM/SYSTEM/CurrentControlSet/Control/Session Manager/Environment",
)
"""Where Windows keeps a user's variables and those of all; programs get the user's own."""
_TOOLKITS = r"CUDA_(HOME|PATH(_V\d+_\d+)?|ROOT|TOOLKIT_ROOT_DIR)"
_IN_TABLES = (
    r"(CUDA|CUDNN|CUBLAS|CUBLASLT|NVIDIA|NVCC|NCCL|XLA|TF|PYTORCH|TORCH\w*|KERAS|JAX|CUPY|ORT"
    r"|TRITON|NUMBA|PADDLE|MXNET|TENSORRT|TRT|BNB|HSA|ROCR)_"
)
"""Names that tables of values judge, misspelt ones too; the tables are loaded for these alone."""

Problems = tuple[Problem, ...]


def variables(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Variable, ...]]:
    """Every variable that may be read; of PATH the CUDA entries only."""
    look = _Look(machine, facts)
    seen = machine.environ()
    if not isinstance(seen, Known):
        wrong = tuple(look.judged(_at_login(machine)))
        return Known(wrong, Source("file", _LOGIN)) if wrong else seen
    found = list(look.judged([(n, *row) for n, row in presets(machine, facts).items()]))
    told = {one.name for one in found}
    for name, value in seen.value.items():
        name, value = (name.upper() if look.windows else name), printable(value)
        if name.startswith(FOREIGN) or name in told or (look.windows and name in _PLACES):
            continue
        found.append(look.with_origin(look.variable(name, value)))
    return Known(tuple(one for one in found if one.value or one.name != "PATH"), seen.source)


def set_at_start(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[SetAtStart, ...]]:
    """What the entrypoint or the command of an image sets after its ENV."""
    if not isinstance(machine.offline(), Known):
        return absent("call", "offline", "a running machine")
    return machine.set_at_start()


def _at_login(machine: Machine) -> Iterator[tuple[str, str, str]]:
    match = r"(?:export\s+)?([A-Z][A-Z0-9_]*)=['\"]?([^'\"$`\\]*)['\"]?\s*$"
    for line in value_or(machine.lines(_LOGIN, "="), ()):
        said = re.match(match, line)
        if said and steers(said[1]) and not re.search("TOKEN|SECRET|PASS|AUTH", said[1]):
            yield said[1], said[2], _LOGIN


def _hides_every_gpu(name: str, value: str) -> tuple[Fault, ...]:
    """A value that shows no GPU on any machine; the shell's own is judged with the devices."""
    from gpuwhy.look.devices import VISIBLE, reads_nothing

    text = "CUDA then shows no GPU to any program of this environment"
    return (Fault("off", (), text),) if name == VISIBLE and reads_nothing(value) else ()


class _Look:
    """The frameworks whose readers count."""

    def __init__(self, machine: Machine, facts: Facts) -> None:
        self.machine = machine
        self.facts = facts
        self.windows = is_windows(facts)

    def judged(self, rows: Iterable[tuple[str, str, str]]) -> Iterator[Variable]:
        """Of names, values and files: those that their readers do not take as they were meant."""
        for name, value, file in rows:
            one = self.variable(name, value)
            wrong = one.faults or _hides_every_gpu(name, value)
            if wrong:
                yield replace(one, faults=wrong, set_in=file)

    def variable(self, name: str, value: str) -> Variable:
        """One variable, and what is wrong with it."""
        if is_private(name):
            return Variable(name, "set")
        problems: Problems = ()
        if name == "PATH":
            value, problems = _command_path(self.machine, value, self.windows)
            return Variable(name, _shortened(value), problems)
        if name == "LD_LIBRARY_PATH" and not self.windows:
            problems = _library_path(self.machine, value)
        elif re.fullmatch(_TOOLKITS, name):
            problems = _toolkit_folder(self.machine, value)
        return Variable(name, _shortened(value), problems, self._faults(name, value))

    def _faults(self, name: str, value: str) -> tuple[Fault, ...]:
        """By the tables of values; where these say nothing, by the machine's own files."""
        from gpuwhy.look.settings import seen_here

        found: tuple[Fault, ...] = ()
        if re.match(_IN_TABLES, name):
            from gpuwhy.knowledge.settings import ANYTHING, faults

            installed = self.facts.frameworks.installed
            releases = {one.name: one.version for one in value_or(installed, ())}
            found = faults(name, value, releases if isinstance(installed, Known) else ANYTHING)
        return found or seen_here(self.machine, self.facts, name, value)

    def with_origin(self, one: Variable) -> Variable:
        """With the file or registry key that sets it for every program, where that is known."""
        hidden = _hides_every_gpu(one.name, one.value)
        for row in value_or(self.facts.environment.activation, ()):
            if row.name == one.name and row.value == one.value:
                return replace(one, faults=one.faults or hidden, set_in=row.file)
        for start in value_or(self.machine.set_at_start(), ()) if hidden else ():
            if start.name == one.name and start.script:
                return replace(one, faults=hidden, set_in=start.script)
        for key in _REGISTRY if self.windows and hidden else ():
            found = self.machine.registry(key)
            values = found.value.values.items() if isinstance(found, Known) else ()
            if (one.name, one.value) in ((name.upper(), text) for name, text in values):
                return replace(one, faults=hidden, set_in=key)
        return one


def _shortened(value: str) -> str:
    half = _LONGEST // 2
    return value if len(value) <= _LONGEST else f"{value[:half]} … {value[-half:]}"


# ------------------------------------------------------------ folders that variables name

_CUDA_FOLDER = r"(?i)cuda|cudnn|nvidia|tensorrt|nvcc"
_UNREPLACED = r"~|.*(\$\{?(?!(USER|ORIGIN|LIB|PLATFORM)\b)[A-Za-z_]\w*\}?|\$\(|%[A-Z_]+%)"
_UNREPLACED_WINDOWS = r"(?i)%[^%;]+%|\$env:\w+|\$\{?\w+"
_MOST = 200


def _library_path(machine: Machine, value: str) -> Problems:
    """LD_LIBRARY_PATH, where the loader takes ':' and ';' as separators."""
    folders = dict.fromkeys(one.rstrip("/") or "/" for one in re.split("[:;]", value) if one)
    return tuple(p for one in list(folders)[:_MOST] for p in _searched(machine, one))


def _searched(machine: Machine, folder: str) -> Problems:
    if folder in CONTAINER_FOLDERS or re.search(r"\$\{?(ORIGIN|LIB|PLATFORM)\b", folder):
        return ()
    wrong = _one_folder(machine, folder)
    if wrong and ",/" in folder:
        return (Problem(PathProblem.WRONG_SEPARATOR, folder),)
    if wrong or folder.endswith("/stubs"):
        return wrong or (Problem(PathProblem.STUBS, folder),)
    top = re.search(_CUDA_FOLDER, folder.rpartition("/")[2]) and exists(machine, f"{folder}/lib64")
    return (Problem(PathProblem.TOP_FOLDER, folder),) if top else ()


def _toolkit_folder(machine: Machine, value: str) -> Problems:
    """A variable that must name a toolkit with its compiler."""
    root = tidy(value)
    wrong = _one_folder(machine, value)
    programs = [machine.stat(f"{root}/bin/{name}") for name in ("nvcc", "nvcc.exe")]
    if wrong or any(not isinstance(one, Absent) for one in programs):
        return wrong
    return (Problem(PathProblem.NO_COMPILER, root),)


def _one_folder(machine: Machine, value: str) -> Problems:
    """A value that must be one folder, as it is written and where it leads."""
    folder, drive = tidy(value), is_whole(value.replace("\\", "/"))
    if not value.strip():
        return (Problem(PathProblem.EMPTY),)
    if '"' in value:
        return (Problem(PathProblem.QUOTED, value),)
    if re.match(_UNREPLACED, value):
        return (Problem(PathProblem.NOT_EXPANDED, value),)
    if not folder.startswith("/") and not drive:
        return (Problem(PathProblem.RELATIVE, value),)
    found = machine.stat(folder)
    if isinstance(found, Absent):
        link = value_or(machine.link(folder), "")
        kind = PathProblem.DANGLING if link else PathProblem.NOT_THERE
        return (Problem(kind, folder),)
    if isinstance(found, Known) and found.value.kind != "folder":
        return (Problem(PathProblem.NO_FOLDER, folder),)
    return ()


def _command_path(machine: Machine, value: str, windows: bool) -> tuple[str, Problems]:
    """PATH cut down to its CUDA entries, the others are nobody's business; on Windows, where
    libraries are searched along it, what is wrong with them.
    """
    tie = ";" if windows else ":"
    entries = dict.fromkeys(one for one in value.split(tie) if re.search(_CUDA_FOLDER, one))
    if not windows:
        return tie.join(one.rstrip("/") for one in entries), ()
    found = [problem for one in list(entries)[:_MOST] for problem in _on_path(machine, one)]
    return tie.join(tidy(expanded(machine, one)) for one in entries), tuple(found)


def _on_path(machine: Machine, entry: str) -> Problems:
    folder = tidy(entry)
    if '"' not in entry and re.search(_UNREPLACED_WINDOWS, entry):
        return (Problem(PathProblem.NOT_EXPANDED, entry.strip()),)
    if wrong := _one_folder(machine, entry):
        return wrong
    if re.search(r"(?i)/cuda/v?\d[\d.]*$", folder):
        return (Problem(PathProblem.TOP_FOLDER, folder),)
    library = re.search(r"(?i)cud(a|nn).*/lib(/x64)?$", folder)
    return (Problem(PathProblem.LIBRARIES, folder),) if library else ()
