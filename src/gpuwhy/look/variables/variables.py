"""The environment variables that steer the GPU stack: who reads each, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec.structs import replace

from gpuwhy.facts.fact import Fact, Known, Source, absent, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.variables import Fault, Problem, SetAtStart, Variable
from gpuwhy.knowledge.variables import (
    FOREIGN,
    NOT_READ_BY_TENSORFLOW,
    VariableRow,
    variable_row,
)
from gpuwhy.look.installs.startup import presets
from gpuwhy.look.look import Options
from gpuwhy.look.variables import search_paths
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
_TOOLKITS = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR")
_CUDNN = ("CUDNN_PATH", "CUDNN_HOME", "CUDNN_ROOT")
_IN_TABLES = (
    r"(CUDA|CUDNN|CUBLAS|CUBLASLT|NVIDIA|NVCC|NCCL|XLA|TF|PYTORCH|TORCH\w*|KERAS|JAX|CUPY|ORT"
    r"|TRITON|NUMBA|PADDLE|MXNET|TENSORRT|TRT|BNB|HSA|ROCR)_"
)
"""Names that tables of values judge, misspelt ones too; the tables are loaded for these alone."""

Check = Callable[[Machine, str], tuple[Problem, ...]]
CHECKS: Mapping[str, Check] = {
    "LD_LIBRARY_PATH": search_paths.library_path,
    **dict.fromkeys(_TOOLKITS, search_paths.toolkit_folder),
    **dict.fromkeys(_CUDNN, search_paths.one_folder),
    "XLA_FLAGS": search_paths.xla_flags,
}
"""What can be wrong with the folders in a value."""


def variables(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Variable, ...]]:
    """Every variable that may be read; of PATH the CUDA entries only."""
    look = _Look(machine, facts, options)
    seen = machine.environ()
    if not isinstance(seen, Known):
        wrong = tuple(look.judged(_at_login(machine)))
        return Known(wrong, Source("file", _LOGIN)) if wrong else seen
    found = list(look.judged([(n, *row) for n, row in presets(machine, facts).items()]))
    found += look.of_files()
    told = {one.name for one in found}
    for name, value in seen.value.items():
        name, value = (name.upper() if look.windows else name), printable(value)
        if name.startswith(FOREIGN) or name in told or (look.windows and name in _PLACES):
            continue
        one = look.path(value) if name == "PATH" else look.variable(name, value)
        if one is not None:
            found.append(look.with_origin(one))
    return Known(tuple(found), seen.source)


def set_at_start(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[SetAtStart, ...]]:
    """What the entrypoint or the command of an image sets after its ENV."""
    if not isinstance(machine.offline(), Known):
        return absent("call", "offline", "a running machine")
    return machine.set_at_start()


def _at_login(machine: Machine) -> Iterator[tuple[str, str, str]]:
    match = r"(?:export\s+)?([A-Z][A-Z0-9_]*)=['\"]?([^'\"$`\\]*)['\"]?\s*$"
    for line in value_or(machine.lines(_LOGIN, "="), ()):
        said = re.match(match, line)
        if said and variable_row(said[1]) and not re.search("TOKEN|SECRET|PASS|AUTH", said[1]):
            yield said[1], said[2], _LOGIN


def hides_every_gpu(name: str, value: str) -> tuple[Fault, ...]:
    """A value that shows no GPU on any machine; the shell's own is judged with the devices."""
    if name != "CUDA_VISIBLE_DEVICES":
        return ()
    first = value.split(",")[0]
    index = re.match(r"\s*([+-]?\d+)", first)
    nothing = int(index[1]) < 0 if index else not re.match(r"(?i)(GPU|MIG)-\S", first)
    text = "CUDA then shows no GPU to any program of this environment"
    return (Fault("off", (), text),) if nothing else ()


class _Look:
    """The frameworks whose readers count."""

    def __init__(self, machine: Machine, facts: Facts, options: Options) -> None:
        self.machine = machine
        self.facts = facts
        self.options = options
        self.windows = value_or(facts.system.os, "") == "windows"
        found = facts.frameworks.installed
        self.installed: dict[str, str] | None = None
        if isinstance(found, Known):
            self.installed = {one.name: one.version for one in found.value}

    def judged(self, rows: Iterable[tuple[str, str, str]]) -> Iterator[Variable]:
        """Of names, values and files: those that their readers do not take as they were meant."""
        for name, value, file in rows:
            one = self.variable(name, value)
            wrong = one.faults or hides_every_gpu(name, value)
            if wrong:
                yield replace(one, faults=wrong, set_in=file)

    def of_files(self) -> Iterator[Variable]:
        """Settings that Keras' file makes."""
        if "keras" in self.facts.environment.by_name:
            from gpuwhy.look.variables.settings import keras_file

            yield from keras_file(self.machine, self.facts)

    def path(self, value: str) -> Variable | None:
        """PATH, cut down to its CUDA entries: the others are nobody's business."""
        if self.windows:
            from gpuwhy.look.variables import windows as windows_paths

            folders, problems = windows_paths.command_path(self.machine, value)
            reader, tie = "the DLL search", ";"
        else:
            folders, problems = search_paths.command_path(self.machine, value)
            reader, tie = "the shell", ":"
        if not folders and not problems:
            return None
        return Variable("PATH", _shortened(tie.join(folders)), reader, problems)

    def variable(self, name: str, value: str) -> Variable:
        """One variable with its reader, its notes, and what is wrong with it."""
        row = variable_row(name)
        private = row is not None and row.private
        check = self._check(name)
        return Variable(
            name=name,
            value="set" if private else _shortened(value),
            reader=self._reader(row),
            problems=check(self.machine, value) if check else (),
            faults=() if private else self._faults(name, value),
            notes=tuple(self._notes(name, value, row)),
        )

    def _check(self, name: str) -> Check | None:
        if not self.windows:
            return CHECKS.get(name)
        from gpuwhy.look.variables import windows as windows_paths

        if name in _TOOLKITS or re.match(r"CUDA_PATH(_V\d+_\d+)?$", name):
            return windows_paths.toolkit_folder
        if name in _CUDNN:
            return windows_paths.one_folder
        return None if name.startswith("LD_") else CHECKS.get(name)

    def _reader(self, row: VariableRow | None) -> str:
        """Who reads it; "" when that is not installed. Where that is unknown, its readers."""
        if row is None:
            return ""
        needs = row.frameworks if self.installed is not None else ()
        return "" if needs and set(self.installed or ()).isdisjoint(needs) else row.reader

    def _faults(self, name: str, value: str) -> tuple[Fault, ...]:
        """By the tables of values; where these say nothing, by the machine's own files."""
        from gpuwhy.look.variables.settings import seen_here

        found = self._by_tables(name, value) if re.match(_IN_TABLES, name) else ()
        return found or seen_here(self.machine, self.facts, self.options, name, value)

    def _by_tables(self, name: str, value: str) -> tuple[Fault, ...]:
        from gpuwhy.knowledge.settings import ANYTHING, faults

        installed = ANYTHING if self.installed is None else self.installed
        return tuple(
            Fault(
                kind=one.kind,
                frameworks=one.frameworks,
                text=one.text,
                allowed=one.allowed,
                instead=one.instead,
                source=one.source,
                needed=one.needed,
            )
            for one in faults(name, value, installed)
        )

    def _notes(self, name: str, value: str, row: VariableRow | None) -> Iterator[str]:
        if row is not None and row.note and value not in ("", "0"):
            yield row.note
        if name in NOT_READ_BY_TENSORFLOW and "tensorflow" in (self.installed or ()):
            yield f"TensorFlow on {'Windows' if self.windows else 'Linux'} does not read it"
        if name == "TF_CPP_MIN_LOG_LEVEL" and value.strip() in ("2", "3"):
            yield f"{value.strip()} hides the warnings that name missing libraries"
        if self.installed and re.match(_IN_TABLES, name):
            from gpuwhy.knowledge.settings import times

            said = times(name, self.installed)
            if said:
                yield said

    def with_origin(self, one: Variable) -> Variable:
        """With the file or registry key that sets it for every program, where that is known."""
        wrong = one.faults or hides_every_gpu(one.name, one.value)
        for row in value_or(self.facts.environment.activation, ()):
            if row.name == one.name and row.value == one.value:
                return replace(one, faults=wrong, set_in=row.file)
        for start in value_or(self.machine.set_at_start(), ()):
            if start.name == one.name == "CUDA_VISIBLE_DEVICES" and start.script:
                return replace(one, faults=wrong, set_in=start.script)
        for key in _REGISTRY if self.windows and hides_every_gpu(one.name, one.value) else ():
            found = self.machine.registry(key)
            values = found.value.values.items() if isinstance(found, Known) else ()
            if any(n.upper() == one.name and text == one.value for n, text in values):
                return replace(one, faults=wrong, set_in=key)
        return one


def _shortened(value: str) -> str:
    half = _LONGEST // 2
    return value if len(value) <= _LONGEST else f"{value[:half]} … {value[-half:]}"
