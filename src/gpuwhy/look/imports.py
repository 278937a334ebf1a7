"""`--import`: the frameworks, and what is compiled against them, imported in a sandbox.

The only file of this folder that has something of the environment executed. What fails is tried
again without one thing at a time, so that the answer names the variable or file that it is about.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from gpuwhy.facts.environment import Python
from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, absent, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.imports import Ended, Imports, Isolation, Tried, Without, WithoutKind
from gpuwhy.facts.installs import Damage, DamageKind, Part
from gpuwhy.facts.version import at_least
from gpuwhy.look.environment.python import user_sites
from gpuwhy.look.files import exists
from gpuwhy.look.look import Options
from gpuwhy.machine.machine import Machine
from gpuwhy.machine.sandbox import MEMORY, SECONDS, Order, encoded

_OLDEST = "3.5"  # the oldest Python that the child runs in
_BESIDE = (
    *("torchvision", "torchaudio", "keras", "tf_keras", "xformers", "flash_attn", "bitsandbytes"),
    *("torch_scatter", "torch_sparse", "torch_cluster", "pyg_lib", "torchtext", "transformers"),
    *("tensorflow_text", "tensorflow_io", "jax_plugins.xla_cuda12", "jax_plugins.xla_cuda13"),
)
"""Modules that are compiled against a framework or stand on it."""
_BASES = {"tensorflow": ("keras", "tf_keras", "tensorflow_"), "jax": ("jax_plugins",)}
_COMPUTES = ("torch", "tensorflow", "jax")
_NOT_TRIED = ("vllm", "deepspeed", "sglang", "tensorrt_llm")
"""Their imports start compilers or servers, or take minutes."""
_COMPILERS = {
    "torch": ("triton/backends/nvidia/bin/ptxas",),
    "jax": ("nvidia/cuda_nvcc/bin/ptxas", "nvidia/cu13/bin/ptxas"),
    "tensorflow": ("nvidia/cuda_nvcc/bin/ptxas",),
}
"""Programs in packages that make code for the GPU."""
_DRIVER = (
    r"(?i)libcuda\.so|libnvidia-|libnvcuda|nvidia driver|cuda driver|cuda (is )?(not available|"
    r"unavailable)|no cuda(?![- ](python|bindings|toolkit|headers|core))|no (nvidia |cuda[- ])?"
    r"(gpu|device)|cudaErrorInsufficientDriver|(?<!py)nvml|0 active drivers|cuInit"
    r"|requires? a gpu"
)
"""What a module says whose import wants a driver or a GPU."""
_REFUSED = (1, 13, 30, 101, 111)  # EPERM, EACCES, EROFS, ENETUNREACH, ECONNREFUSED
_SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV"}
_STEERING = r"(LD_|PYTHON|CUDA_|XLA_|TF_|TORCH_|PYTORCH_|JAX_|KERAS_|NUMBA_|CUPY_|PROTOCOL_BUFFERS)"
_STATED = ("file", "version", "words", "error", "missing", "source")
_NEEDED = ("PATH", "PYTHONUSERBASE", "CUDA_VISIBLE_DEVICES")
_LEAST = {"AS": 1 << 45, "DATA": 1 << 45, "STACK": 4 << 20, "NOFILE": 512, "NPROC": 256}
"""Limits below which they may be what an import fails by."""
_MOST_ALONE = 12  # variables and start-up files that are left out one by one


def imports(machine: Machine, facts: Facts, options: Options) -> Imports:
    """Each framework in a process of its own."""
    python = facts.environment.python.need()
    frameworks = value_or(facts.frameworks.installed, ())
    groups = [group for one in frameworks if (group := _group(machine, facts, one))]
    if python is None or python.gone or not groups or not at_least(python.version, _OLDEST):
        none = absent("package", "frameworks", "nothing that could be imported")
        return Imports(none, none)
    if not isinstance(machine.offline(), Absent):
        offline = Unknown("another machine's files: nothing can be imported", kind="offline")
        return Imports(offline, offline)
    look = _Look(machine, facts, python)
    found = [one for group in groups for one in look.tried(group)]
    source = Source("call", python.path, "imported, isolated")
    isolation: Fact[Isolation] = Unknown("the sandbox told nothing")
    if look.held is not None:
        why = look.held.get("why") or ()
        words = why.values() if isinstance(why, Mapping) else why
        names, no = ("writes", "network", "processes"), "not available"
        writes, network, processes = (look.held.get(name, no) for name in names)
        words = tuple(str(one) for one in words)
        isolation = Known(Isolation(writes, network, processes, MEMORY, SECONDS, words), source)
    return Imports(Known(tuple(found), source), isolation)


class Group(NamedTuple):
    """One framework, and what is tried with it in one process."""

    framework: str
    tries: tuple[tuple[str, ...], ...]


def _group(machine: Machine, facts: Facts, one: Framework) -> Group | None:
    """The import, a sum, what is built on it, the libraries that it opens, its compilers."""
    site, _, module = one.path.rpartition("/")
    if not module.isidentifier() or "/nvidia/" in one.path or module in _NOT_TRIED:
        return None
    installed = {other.name for other in value_or(facts.frameworks.installed, ())}
    if module in _BESIDE and "torch" in installed:
        return None  # tried with the framework that it is built on
    tries: list[tuple[str, ...]] = [("import", module)]
    if module in _COMPUTES and (module != "tensorflow" or at_least(one.version, "2")):
        tries.append(("compute", module))
    for name in _BESIDE:
        base = next((base for base, starts in _BASES.items() if name.startswith(starts)), "torch")
        if base == module and exists(machine, f"{site}/{name.replace('.', '/')}/__init__.py"):
            tries.append(("import", name))
    needs = [need for need in value_or(facts.loads.needs, ()) if need.framework == one.name]
    paths = [need.path.value for need in needs if isinstance(need.path, Known)]
    if paths and one.name not in ("onnxruntime", "numba", "tensorrt"):
        tries.append(("open", module, *dict.fromkeys(paths)))
    for name in _COMPILERS.get(one.name, ()):
        if exists(machine, f"{site}/{name}"):
            tries.append(("run", module, f"{site}/{name}"))
    return Group(one.name, tuple(tries))


class _Look:
    """The tries of one environment."""

    def __init__(self, machine: Machine, facts: Facts, python: Python) -> None:
        self.machine = machine
        self.facts = facts
        self.python = python
        self.held: Mapping[str, Any] | None = None  # what the sandbox held
        self.has_driver = bool(value_or(facts.loads.libcuda, ()))

    def tried(self, group: Group) -> list[Tried]:
        """Each try of a framework; the first that fails again without one thing at a time.

        Nothing else is tried where files that an import needs are known to be wrong.
        """
        found = self._run(group, Order(group.tries))
        first = next((place for place, one in enumerate(found) if one.failed), -1)
        parts = (Part.LIBRARY, Part.FIRST_MODULE, Part.MODULE)
        damage = value_or(self.facts.installs.damage, ())
        if first >= 0 and not any(one.stack and one.part in parts for one in damage):
            kind, module, *targets = group.tries[first]
            again = (("import", module, *targets),) if kind == "import" else group.tries
            without = self._without(Group(group.framework, again))
            if without:
                found[first] = replace(found[first], without=without)
        return found

    def _run(self, group: Group, order: Order) -> list[Tried]:
        said = self.machine.sandbox(self.python.path, encoded(order))
        if not isinstance(said, Known):
            why = said.reason if isinstance(said, Unknown) else "not tried"
            return [_tried(group, 0, Ended.NOT_TRIED, words=why)]
        lines = said.value
        held = next((line["isolation"] for line in lines if "isolation" in line), None)
        self.held = held if self.held is None and isinstance(held, Mapping) else self.held
        rows = {line["try"]: line for line in lines if "try" in line}
        begun = max((line["begins"] for line in lines if "begins" in line), default=-1)
        end: Mapping[str, Any] = next((line["ended"] for line in lines if "ended" in line), {})
        printed = "\n".join(str(line["said"]) for line in lines if "said" in line)
        out = []
        for number in range(len(group.tries)):
            if number in rows:
                out.append(self._told(group, number, rows[number], printed))
            elif number == begun:
                out.append(self._broken_off(group, number, end, printed))
            elif number == 0:
                late, code = end.get("late"), end.get("code")
                why = "its Python did not begin" + (f" within {SECONDS:g} s" if late else "")
                why += f": it ended with code {code}" if code and not late else ""
                why = next((str(line["cannot"]) for line in lines if "cannot" in line), why)
                out.append(_tried(group, number, Ended.NOT_TRIED, words=why))
        return out

    def _told(self, group: Group, number: int, line: Mapping[str, Any], printed: str) -> Tried:
        """A try that ended by itself.

        What the sandbox refuses is no evidence; without a driver, nor is asking for one.
        """
        stated = {name: str(line.get(name, "")) for name in _STATED}
        prefix, own = str(line.get("prefix", "")), self.python.prefix
        real = [value_or(self.machine.real(one), "") for one in (prefix, own) if prefix]
        if self.python.kind != "venv" or not prefix or real[0] == real[1]:
            prefix = ""  # the Python that was meant
        ended = Ended.RAISED
        if line.get("ok") is True:
            ended = Ended.WELL
        elif line.get("errno") in _REFUSED:
            ended = Ended.ISOLATION
        elif not self.has_driver and re.search(_DRIVER, stated["words"]):
            ended = Ended.WANTS_DRIVER
        text = "\n".join(filter(None, (str(line.get("text", "")), printed)))
        return _tried(
            group,
            number,
            ended,
            **stated,
            seconds=round(float(line.get("ms", 0.0)) / 1000, 2),
            text="" if ended is Ended.WELL else text,
            files=tuple(str(one) for one in line.get("files") or ()),
            prefix=prefix,
        )

    def _broken_off(self, group: Group, number: int, end: Mapping[str, Any], printed: str) -> Tried:
        """A try with which the whole process ended."""
        code = end.get("code")
        if end.get("late"):
            return _tried(group, number, Ended.TIMED_OUT, seconds=SECONDS, text=printed)
        if end.get("memory") or not isinstance(code, int):
            ended = Ended.TOO_LARGE if end.get("memory") else Ended.NOT_TRIED
            return _tried(group, number, ended, text=printed)
        opened = group.tries[number][0] == "open" and not self.has_driver
        named = re.findall(r'(?m)^\s*File "([^"]+)", line', printed)
        return _tried(
            group,
            number,
            Ended.WANTS_DRIVER if opened else Ended.CRASHED,
            words="" if code < 0 else f"it ended with code {code}",
            signal=_SIGNALS.get(-code, f"signal {-code}") if code < 0 else "",
            text=printed,
            files=tuple(dict.fromkeys(named))[:24],
        )

    # -------------------------------------------------------- without one thing

    def _works(self, group: Group, order: Order) -> bool:
        found = self._run(group, order)
        return bool(found) and not any(one.failed or one.ended is Ended.NOT_TRIED for one in found)

    def _orders(self, tries: tuple[tuple[str, ...], ...]) -> Iterator[tuple[WithoutKind, Order]]:
        """What is left out in further tries."""
        environ = value_or(self.machine.environ(), {})
        steer = (name for name, value in environ.items() if value and name not in _NEEDED)
        if names := tuple(name for name in steer if re.match(_STEERING, name)):
            yield WithoutKind.VARIABLE, Order(tries, unset=names)
        if any(exists(self.machine, one) for one in user_sites(self.machine, self.python.version)):
            yield WithoutKind.USER_SITE, Order(tries, without=("user site",))
        if value_or(self.facts.installs.start_files, ()):
            sites = tuple(site.path for site in value_or(self.facts.environment.sites, ()))
            yield WithoutKind.START_FILE, Order(tries, without=("start files",), sites=sites)
        yield WithoutKind.COMPILED, Order(tries, without=("compiled files",))
        limits = ((name, value_or(self.machine.limit(name), -1)) for name in _LEAST)
        if any(0 <= value < _LEAST[name] for name, value in limits):
            yield WithoutKind.LIMIT, Order(tries, raise_limits=True)

    def _without(self, group: Group) -> Without | None:
        """The one thing without which a failed try works, by name: a variable, a start-up file."""
        works = (pair for pair in self._orders(group.tries) if self._works(group, pair[1]))
        kind, order = next(works, (WithoutKind.NONE, None))
        if order is None:
            return None
        for name in order.unset[:_MOST_ALONE]:
            if self._works(group, Order(group.tries, unset=(name,))):
                return Without(kind, name, self._part(group, name))
        files = [one.path for one in value_or(self.facts.installs.start_files, ())]
        for file in files[:_MOST_ALONE] if kind is WithoutKind.START_FILE else ():
            if not self._works(group, replace(order, start_file=file)):
                return Without(kind, file)
        return Without(kind)

    def _part(self, group: Group, name: str) -> str:
        """Of a list of folders, the one without which it works."""
        value = value_or(self.machine.environ(), {}).get(name, "")
        parts = [part for part in value.split(":") if part]
        for part in parts[:_MOST_ALONE] if len(parts) > 1 and "/" in value else ():
            rest = ":".join(other for other in parts if other != part)
            if self._works(group, Order(group.tries, change={name: rest})):
                return part
        return ""


def _tried(group: Group, number: int, ended: Ended, **more: Any) -> Tried:
    kind: Any = group.tries[number][0]
    targets = tuple(group.tries[number][2:])
    return Tried(kind, group.tries[number][1], group.framework, ended, targets=targets, **more)


def damage_named(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Damage, ...]]:
    """The damage that was known, and files on the way to a failure that were changed."""
    known = facts.installs.damage
    if not isinstance(known, Known):
        return known
    told = {one.path for one in known.value}
    failed = [one for one in value_or(facts.imports.tried, ()) if one.failed]
    named = dict.fromkeys(path for one in failed for path in (*one.files, one.source) if path)
    syntax = any(one.error in ("SyntaxError", "IndentationError") for one in failed)
    found = [_changed(machine, facts, path, syntax) for path in named if path not in told]
    return Known((*known.value, *filter(None, found)), known.source)


def _changed(machine: Machine, facts: Facts, path: str, syntax: bool) -> Damage | None:
    """A file that a RECORD lists and that is not what was installed."""
    for one in value_or(facts.environment.packages, ()):
        row = one.files.find(path.removeprefix(f"{one.site}/"))
        stat = machine.stat(path) if row and row.sha256 and row.size >= 0 else None
        if row is None or stat is None or not path.startswith(f"{one.site}/"):
            continue
        if not isinstance(stat, Known) or value_or(machine.sha256(path), row.sha256) == row.sha256:
            return None
        kind, part = DamageKind.OTHER_HASH, Part.LIBRARY
        if path.endswith(".py"):
            kind, part = DamageKind.NOT_COMPILING if syntax else DamageKind.EDITED, Part.MODULE
        size = stat.value.size
        return Damage(path, kind, part, one.owner, size=size, recorded_size=row.size)
    return None
