"""The environment variables that steer the GPU stack, and what is wrong with their values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from gpuwhy.facts.fact import Fact, Known, Source, absent, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.variables import Fault, SetAtStart, Variable
from gpuwhy.knowledge.variables import FOREIGN, is_private, steers
from gpuwhy.look.installs.startup import presets
from gpuwhy.look.look import Options, is_windows
from gpuwhy.look.variables.folders import Problems, command_path, library_path, toolkit_folder
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


def variables(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Variable, ...]]:
    """Every variable that may be read; of PATH the CUDA entries only."""
    look = _Look(machine, facts, options)
    seen = machine.environ()
    if not isinstance(seen, Known):
        wrong = tuple(look.judged(_at_login(machine)))
        return Known(wrong, Source("file", _LOGIN)) if wrong else seen
    found = list(look.judged([(n, *row) for n, row in presets(machine, facts).items()]))
    if "keras" in facts.environment.by_name:
        from gpuwhy.look.variables.settings import keras_file

        found += keras_file(machine, facts)
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


def hides_every_gpu(name: str, value: str) -> tuple[Fault, ...]:
    """A value that shows no GPU on any machine; the shell's own is judged with the devices."""
    from gpuwhy.look.devices import VISIBLE, reads_nothing

    text = "CUDA then shows no GPU to any program of this environment"
    return (Fault("off", (), text),) if name == VISIBLE and reads_nothing(value) else ()


class _Look:
    """The frameworks whose readers count."""

    def __init__(self, machine: Machine, facts: Facts, options: Options) -> None:
        self.machine = machine
        self.facts = facts
        self.options = options
        self.windows = is_windows(facts)

    def judged(self, rows: Iterable[tuple[str, str, str]]) -> Iterator[Variable]:
        """Of names, values and files: those that their readers do not take as they were meant."""
        for name, value, file in rows:
            one = self.variable(name, value)
            wrong = one.faults or hides_every_gpu(name, value)
            if wrong:
                yield replace(one, faults=wrong, set_in=file)

    def variable(self, name: str, value: str) -> Variable:
        """One variable, and what is wrong with it."""
        if is_private(name):
            return Variable(name, "set")
        if name == "PATH":
            kept, problems = command_path(self.machine, value, self.windows)
            return Variable(name, _shortened(kept), problems)
        return Variable(
            name, _shortened(value), self._problems(name, value), self._faults(name, value)
        )

    def _problems(self, name: str, value: str) -> Problems:
        if name == "LD_LIBRARY_PATH" and not self.windows:
            return library_path(self.machine, value)
        return toolkit_folder(self.machine, value) if re.fullmatch(_TOOLKITS, name) else ()

    def _faults(self, name: str, value: str) -> tuple[Fault, ...]:
        """By the tables of values; where these say nothing, by the machine's own files."""
        from gpuwhy.look.variables.settings import seen_here

        found = self._by_tables(name, value) if re.match(_IN_TABLES, name) else ()
        return found or seen_here(self.machine, self.facts, self.options, name, value)

    def _by_tables(self, name: str, value: str) -> tuple[Fault, ...]:
        from gpuwhy.knowledge.settings import ANYTHING, faults

        installed = self.facts.frameworks.installed
        known = isinstance(installed, Known)
        releases = {one.name: one.version for one in value_or(installed, ())}
        return faults(name, value, releases if known else ANYTHING)

    def with_origin(self, one: Variable) -> Variable:
        """With the file or registry key that sets it for every program, where that is known."""
        hidden = hides_every_gpu(one.name, one.value)
        for row in value_or(self.facts.environment.activation, ()):
            if row.name == one.name and row.value == one.value:
                return replace(one, faults=one.faults or hidden, set_in=row.file)
        for start in value_or(self.machine.set_at_start(), ()) if hidden else ():
            if start.name == one.name and start.script:
                return replace(one, faults=hidden, set_in=start.script)
        for key in _REGISTRY if self.windows and hidden else ():
            found = self.machine.registry(key)
            values = found.value.values.items() if isinstance(found, Known) else ()
            if any(n.upper() == one.name and text == one.value for n, text in values):
                return replace(one, faults=hidden, set_in=key)
        return one


def _shortened(value: str) -> str:
    half = _LONGEST // 2
    return value if len(value) <= _LONGEST else f"{value[:half]} … {value[-half:]}"
