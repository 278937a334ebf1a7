"""env.setting: variables whose readers do not take them as they were meant."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.facts.fact import Absent, Source, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, know, saw
from gpuwhy.facts.installs import StartProblem
from gpuwhy.facts.run import PutFirst
from gpuwhy.facts.variables import Fault, Variable
from gpuwhy.knowledge.variables import WRITTEN
from gpuwhy.signs.case import (
    Case,
    against,
    base_name,
    matches_crash,
    noted,
    prevents_start,
    proof,
    rows,
    slows,
    strong,
)
from gpuwhy.signs.devices import VISIBLE
from gpuwhy.signs.expect import gpu_present
from gpuwhy.signs.paths import PRELOAD_FILE, older_runtime_first, own_library_second, start_problem

_MOST = 12
_OF_THE_GPU = (
    *("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "XLA_PYTHON_CLIENT_", "XLA_CLIENT_"),
    *("TF_GPU_", "TF_FORCE_GPU_", "CUBLAS", "CUDA_", "CUDNN_", "NCCL_", "NVIDIA_"),
)
_MILD = ("ignored", "misspelt")
_PRELOADING = ("LD_PRELOAD", "LD_AUDIT")
_AT_SOME_WORK = {"TORCH_CUDA_ARCH_LIST", "CC", "CXX"} | WRITTEN
"""Only builds, or only what writes files, read these."""
_USUAL = (
    *("jemalloc", "tcmalloc", "mimalloc", "hoard", "libgomp", "libiomp", "libomp", "asan", "tsan"),
    *("lsan", "ubsan", "fakeroot", "eatmydata", "darshan", "segfault", "faker", "proxychains"),
    *("faketime", "scorep", "extrae", "nsys", "injection", "snoopy", "stdbuf", "memkind"),
    *("valgrind", "nvidia", "libcuda"),
)
"""Libraries that people preload on purpose, and that spoil nothing."""


def _faults(case: Case, *kinds: str) -> Iterator[tuple[Variable, Fault]]:
    """The variables that this framework, or NVIDIA's libraries under it, do not take as meant."""
    facts, one = case.facts, case.framework
    seen = value_or(facts.run.frameworks, ())
    if seen and one.name not in seen:
        return  # a program was watched, and was seen with others only
    for variable in facts.variables.variables.need() or ():
        if variable.name == VISIBLE:  # device.selection judges it
            continue
        of_gpu = variable.name.startswith(_OF_THE_GPU)
        wanted = _counting(case, kinds) if of_gpu else kinds
        for fault in variable.faults:
            if fault.kind in wanted and _meets(case, fault):
                yield variable, fault


def _counting(case: Case, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Of these kinds, those that matter here in an option of the GPU."""
    if _without_cuda(case):
        return ()
    no_gpu = isinstance(gpu_present(case.facts), Absent)
    return tuple(kind for kind in kinds if not (no_gpu and kind in _MILD))


def _meets(case: Case, fault: Fault) -> bool:
    if fault.frameworks:
        return case.framework.name in fault.frameworks
    return _is_first(case)


def _is_first(case: Case) -> bool:
    """Whether this is the first framework that can use a GPU: what concerns all is said once."""
    installed = value_or(case.facts.frameworks.installed, ())
    able = [one for one in installed if value_or(one.gpu_build, True) is not False]
    return bool(able) and able[0].name == case.framework.name


def _without_cuda(case: Case) -> bool:
    return value_or(case.framework.gpu_build, True) is False


def turned_off(case: Case) -> Finding | None:
    """The framework is told not to use a GPU that is there."""
    found = next(_faults(case, "off"), None)
    if found is None or case.framework.gpu_build.need() is False:
        return None
    present = gpu_present(case.facts)
    if present.need() is None:
        return None
    finding = _said(proof, *found)
    there = saw(f"a GPU: {present.need()}", present)
    return Finding("", finding.weight, finding.template, finding.values, (*finding.evidence, there))


def rejected(case: Case) -> Finding | None:
    """The reader stops the program at this value."""
    found = next(_faults(case, "rejected"), None)
    if found is None:
        return None
    at_some = found[0].name in _AT_SOME_WORK
    return slows(_said(strong, *found)) if at_some else _said(proof, *found)


def gpu_asked_of_cpu_build(case: Case) -> Finding | None:
    """JAX may use a GPU only, its build has no CUDA, and there is no GPU."""
    one = _gpu_only(case)
    if one is None or not _without_cuda(case) or gpu_present(case.facts).need() is not None:
        return None
    built = saw(f"{case.named}, built without CUDA", case.framework.gpu_build)
    text = "{name}={value} allows the GPU only, and this build of JAX has no CUDA"
    return strong(text, _saw(one), built, name=one.name, value=one.value)


def _gpu_only(case: Case) -> Variable | None:
    if case.framework.name != "jax":
        return None
    found = {one.name: one for one in case.facts.variables.variables.need() or ()}
    one = found.get("JAX_PLATFORMS") or found.get("JAX_PLATFORM_NAME")
    gpu = {"cuda", "gpu", "rocm"}
    return one if one and one.value and set(one.value.split(",")) <= gpu else None


def without_effect(case: Case) -> Finding | None:
    """A value or a name that nobody reads: what was wanted does not happen."""
    found = next(_faults(case, "ignored", "misspelt"), None)
    if found is None:
        return None
    finding = _said(strong, *found)
    return noted(finding) if found[0].name in _PRELOADING else slows(finding)


def _said(say: object, variable: Variable, fault: Fault) -> Finding:
    allowed = "; it takes {allowed}" if 0 < len(fault.allowed) <= _MOST else ""
    known = (know(fault.text, Source("know", fault.source)),) if fault.source else ()
    made: Finding = say(  # type: ignore[operator]
        f"{{name}}={{value}}: {{effect}}{allowed}",
        _saw(variable),
        *known,
        name=variable.name,
        value=_short(variable),
        effect=fault.text,
        allowed=", ".join(fault.allowed),
    )
    return made


def _short(variable: Variable) -> str:
    return variable.value if len(variable.value) <= 60 else variable.value[:57] + "…"


def _saw(variable: Variable) -> Evidence:
    where = Source("env", variable.name)
    if variable.set_in:
        where = Source("file", variable.set_in)
    return saw(f"{variable.name}={_short(variable)}", where)


# ---------------------------------------------------------------- before the program starts


def keeps_from_starting(case: Case) -> Finding | None:
    """Python does not start with this variable, or does not find what is installed."""
    one = start_problem(case.facts, StartProblem.VARIABLE)
    installed = value_or(case.facts.frameworks.installed, ())
    if one is None or (installed and installed[0].name != case.framework.name):
        return None
    lost = "Python does not find the installed {lost}" if one.lost else "Python does not start"
    text = f"{{name}}={{value}}: {lost}"
    seen = saw(f"{one.variable}={one.value}", Source("env", one.variable))
    values = {"name": one.variable, "value": one.value, "lost": one.lost}
    return prevents_start(proof(text, seen, **values))


def put_first(facts: Facts, *variables: str) -> PutFirst | None:
    """What one of these variables puts first, where the program failed and needs it."""
    if not facts.run.failed:
        return None
    found = [one for one in value_or(facts.run.put_first, ()) if one.variable in variables]
    needed = next((one for one in found if one.needed_by), None)
    if needed is not None or not facts.run.crashed:
        return needed
    odd = (one for one in found if not any(word in one.path.lower() for word in _USUAL))
    return next((one for one in odd if one.variable != "LD_LIBRARY_PATH"), None)


def said_first(one: PutFirst) -> Finding:
    """A proof where the object that cannot be loaded needs a library of that name."""
    seen = saw(f"{one.variable} puts {one.path} first", Source("env", one.variable))
    values = {"name": one.variable, "path": one.path, "library": base_name(one.path)}
    if one.needed_by:
        text = (
            "{name} puts {path} first, and {asker}, which needs {library}, cannot be loaded with it"
        )
        by = saw(f"needs {base_name(one.path)}", Source("file", one.needed_by))
        return matches_crash(proof(text, seen, by, asker=base_name(one.needed_by), **values))
    text = "{name} puts {path} into the program, which ended while it loaded its libraries"
    return matches_crash(strong(text, seen, **values))


def preloaded(case: Case) -> Finding | None:
    """A library that is loaded into every program and breaks those that this one loads."""
    found = put_first(case.facts, *_PRELOADING)
    return said_first(found) if found else None


def searched_first(case: Case) -> Finding | None:
    """LD_LIBRARY_PATH puts a library first with which another one cannot be loaded."""
    found = put_first(case.facts, "LD_LIBRARY_PATH")
    return said_first(found) if found else None


def older_preloaded(case: Case) -> Finding | None:
    """A library that is preloaded is too old for the framework."""
    return older_runtime_first(case, "LD_PRELOAD", PRELOAD_FILE)


def other_preloaded(case: Case) -> Finding | None:
    """A library of the framework's own name is preloaded."""
    return own_library_second(case, "LD_PRELOAD")


def nothing_wrong(case: Case) -> Finding | None:
    """What rules it out."""
    facts = case.facts
    preload = preloaded(case) or older_preloaded(case) or other_preloaded(case)
    if preload or keeps_from_starting(case) or gpu_asked_of_cpu_build(case):
        return None
    if any(_faults(case, "rejected", "ignored", "misspelt")) or turned_off(case):
        return None
    variables = facts.variables.variables.need() or ()
    own = [fault for one in variables for fault in one.faults if fault.kind == "rejected"]
    if _without_cuda(case) and any(case.framework.name in fault.frameworks for fault in own):
        return None  # a wrong value that this build should not read
    text = "no variable has a value that {framework} rejects or that keeps it from the GPU"
    return against(text, framework=case.framework.title)


SIGNS = (
    *rows(
        "env.setting",
        "framework",
        *(keeps_from_starting, preloaded, older_preloaded, other_preloaded, rejected),
        *(turned_off, gpu_asked_of_cpu_build, without_effect, nothing_wrong),
    ),
    *rows("env.path", "framework", searched_first),
)
