"""The environment variables that steer the GPU stack, and what is wrong with their values."""

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from gpuwhy.facts.fact import Absent, Fact, Known, Source, absent, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.variables import Fault, PathProblem, Problem, SetAtStart, Variable
from gpuwhy.knowledge.settings import CONTAINER_FOLDERS, FOREIGN, is_private, steers
from gpuwhy.look.files import exists, lines
from gpuwhy.look.installs.startup import presets
from gpuwhy.look.look import Options, is_windows
from gpuwhy.look.windows import expanded, is_whole, tidy
from gpuwhy.machine.machine import Machine, printable

_LONGEST = 4096
_LOGIN = "/etc/environment"
"""Variables of every login, on a Linux disk whose shell nobody can ask."""
_PLACES = ("SYSTEMROOT", "PROGRAMFILES", "PROGRAMDATA", "LOCALAPPDATA")  # of Windows; steer nothing
_TOOLKITS = r"CUDA_(HOME|PATH(_V\d+_\d+)?|ROOT|TOOLKIT_ROOT_DIR)"
_IN_TABLES = (
    r"(CUDA|CUDNN|CUBLAS|CUBLASLT|NVIDIA|NVCC|NCCL|XLA|TF|PYTORCH|TORCH\w*|KERAS|JAX|CUPY|ORT"
    r"|TRITON|NUMBA|PADDLE|MXNET|TENSORRT|TRT|BNB|HSA|ROCR)_"
)
"""Names that tables of values judge, misspelt ones too; the tables are loaded for these alone."""

Problems = tuple[Problem, ...]


def variables(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Variable, ...]]:
    """Every variable that may be read; of PATH the CUDA entries only."""
    windows = is_windows(facts)
    seen = machine.environ()
    if not isinstance(seen, Known):
        wrong = tuple(_judged(machine, facts, _at_login(machine)))
        return Known(wrong, Source("file", _LOGIN)) if wrong else seen
    found = list(_judged(machine, facts, [(n, *row) for n, row in presets(facts).items()]))
    told = {one.name for one in found}
    for name, value in seen.value.items():
        name, value = (name.upper() if windows else name), printable(value)
        if name.startswith(FOREIGN) or name in told or (windows and name in _PLACES):
            continue
        hidden = _hides_every_gpu(name, value)
        starts = value_or(machine.set_at_start(), ()) if hidden else ()  # of an image
        scripts = (start.script for start in starts if start.name == name and start.script)
        one, script = _variable(machine, facts, name, value), next(scripts, "")
        found.append(replace(one, faults=hidden, set_in=script) if script else one)
    return Known(tuple(one for one in found if one.value or one.name != "PATH"), seen.source)


def set_at_start(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[SetAtStart, ...]]:
    """What the entrypoint or the command of an image sets after its ENV."""
    if not isinstance(machine.offline(), Known):
        return absent("call", "offline", "a running machine")
    return machine.set_at_start()


def _at_login(machine: Machine) -> Iterator[tuple[str, str, str]]:
    match = r"(?:export\s+)?([A-Z][A-Z0-9_]*)=['\"]?([^'\"$`\\]*)['\"]?\s*$"
    for line in lines(machine, _LOGIN, "="):
        said = re.match(match, line)
        if said and steers(said[1]) and not re.search("TOKEN|SECRET|PASS|AUTH", said[1]):
            yield said[1], said[2], _LOGIN


def _hides_every_gpu(name: str, value: str) -> tuple[Fault, ...]:
    """A value that shows no GPU on any machine; the shell's own is judged with the devices."""
    from gpuwhy.look.devices import VISIBLE, reads_nothing

    text = "CUDA then shows no GPU to any program of this environment"
    return (Fault("off", (), text),) if name == VISIBLE and reads_nothing(value) else ()


def _judged(
    machine: Machine, facts: Facts, rows: Iterable[tuple[str, str, str]]
) -> Iterator[Variable]:
    """Of names, values and files: those that their readers do not take as they were meant."""
    for name, value, file in rows:
        one = _variable(machine, facts, name, value)
        wrong = one.faults or _hides_every_gpu(name, value)
        if wrong:
            yield replace(one, faults=wrong, set_in=file)


def _variable(machine: Machine, facts: Facts, name: str, value: str) -> Variable:
    """One variable, and what is wrong with it: by the tables of values; where these say
    nothing, by the machine's own files.
    """
    if is_private(name):
        return Variable(name, "set")
    problems: Problems = ()
    if name == "PATH":
        value, problems = _command_path(machine, value, is_windows(facts))
        return Variable(name, _shortened(value), problems)
    if name == "LD_LIBRARY_PATH" and not is_windows(facts):
        problems = _library_path(machine, value)
    elif re.fullmatch(_TOOLKITS, name):
        problems = _toolkit_folder(machine, value)
    found: tuple[Fault, ...] = ()
    if re.match(_IN_TABLES, name):
        from gpuwhy.knowledge.settings import ANYTHING, faults

        installed = facts.frameworks.installed
        releases = {one.name: one.version for one in value_or(installed, ())}
        found = faults(name, value, releases if isinstance(installed, Known) else ANYTHING)
    if name == "TORCH_LOGS" and not found:
        found = tuple(_no_such_log(machine, facts, value))
    return Variable(name, _shortened(value), problems, found)


def _no_such_log(machine: Machine, facts: Facts, value: str) -> Iterator[Fault]:
    """Names of logs that the installed PyTorch does not have: its import ends at them."""
    frameworks = value_or(facts.frameworks.installed, ())
    torch = next((one for one in frameworks if one.name == "torch"), None)
    file = f"{torch.path}/_logging/_registrations.py" if torch else ""
    match = r'\s*(?:register_(?:log|artifact)\(\s*)?"([\w.]+)"'
    listed = lines(machine, file, '"') if file else ()
    known = {said[1] for line in listed if (said := re.match(match, line))}
    asked = [part.strip().lstrip("+-") for part in value.split(",")]
    plain = (name for name in asked if name and "." not in name and name not in ("all", "help"))
    sites = [site.path for site in value_or(facts.environment.sites, ())]
    for name in (one for one in plain if known and one not in known):
        module = rf"{re.escape(name)}(\.py)?$"  # a module has a log of its own
        if not any(value_or(machine.list(site, module), ("",)) for site in sites):
            text = f"PyTorch has no log called {name!r}, and its import ends there"
            yield Fault("rejected", ("torch",), text)
            return


def _shortened(value: str) -> str:
    half = _LONGEST // 2
    return value if len(value) <= _LONGEST else f"{value[:half]} … {value[-half:]}"


_CUDA_FOLDER = r"(?i)cuda|cudnn|nvidia|tensorrt|nvcc"
_UNREPLACED = r"~|.*(\$\{?(?!(USER|ORIGIN|LIB|PLATFORM)\b)[A-Za-z_]\w*\}?|\$\(|%[A-Z_]+%)"
_UNREPLACED_WINDOWS = r"(?i)%[^%;]+%|\$env:\w+|\$\{?\w+"
_MOST = 200


def _library_path(machine: Machine, value: str) -> Problems:
    """LD_LIBRARY_PATH, where the loader takes ':' and ';' as separators."""
    found: list[Problem] = []
    folders = dict.fromkeys(one.rstrip("/") or "/" for one in re.split("[:;]", value) if one)
    for folder in list(folders)[:_MOST]:
        if folder in CONTAINER_FOLDERS or re.search(r"\$\{?(ORIGIN|LIB|PLATFORM)\b", folder):
            continue
        wrong = _one_folder(machine, folder)
        cuda = re.search(_CUDA_FOLDER, folder.rpartition("/")[2])
        if wrong and ",/" in folder:
            wrong = (Problem(PathProblem.WRONG_SEPARATOR, folder),)
        elif not wrong and folder.endswith("/stubs"):
            wrong = (Problem(PathProblem.STUBS, folder),)
        elif not wrong and cuda and exists(machine, f"{folder}/lib64"):
            wrong = (Problem(PathProblem.TOP_FOLDER, folder),)
        found += wrong
    return tuple(found)


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
    kind, shown = None, value
    if not value.strip():
        kind, shown = PathProblem.EMPTY, ""
    elif '"' in value:
        kind = PathProblem.QUOTED
    elif re.match(_UNREPLACED, value):
        kind = PathProblem.NOT_EXPANDED
    elif not folder.startswith("/") and not drive:
        kind = PathProblem.RELATIVE
    else:
        found, shown = machine.stat(folder), folder
        if isinstance(found, Absent):
            dangling = isinstance(machine.link(folder), Known)
            kind = PathProblem.DANGLING if dangling else PathProblem.NOT_THERE
        elif isinstance(found, Known) and found.value.kind != "folder":
            kind = PathProblem.NO_FOLDER
    return (Problem(kind, shown),) if kind else ()


def _command_path(machine: Machine, value: str, windows: bool) -> tuple[str, Problems]:
    """PATH cut down to its CUDA entries, the others are nobody's business; on Windows, where
    libraries are searched along it, what is wrong with them.
    """
    tie = ";" if windows else ":"
    entries = [one for one in dict.fromkeys(value.split(tie)) if re.search(_CUDA_FOLDER, one)]
    if not windows:
        return tie.join(one.rstrip("/") for one in entries), ()
    found: list[Problem] = []
    for entry in entries[:_MOST]:
        folder, wrong = tidy(entry), _one_folder(machine, entry)
        if '"' not in entry and re.search(_UNREPLACED_WINDOWS, entry):
            wrong = (Problem(PathProblem.NOT_EXPANDED, entry.strip()),)
        elif not wrong and re.search(r"(?i)/cuda/v?\d[\d.]*$", folder):
            wrong = (Problem(PathProblem.TOP_FOLDER, folder),)
        elif not wrong and re.search(r"(?i)cud(a|nn).*/lib(/x64)?$", folder):
            wrong = (Problem(PathProblem.LIBRARIES, folder),)
        found += wrong
    return tie.join(tidy(expanded(machine, one)) for one in entries), tuple(found)
