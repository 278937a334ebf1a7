"""env.setting: variables whose readers do not take them as they were meant."""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from gpuwhy.facts.fact import Absent, Source, value_or
from gpuwhy.facts.finding import Evidence, Finding, know, saw
from gpuwhy.facts.installs import StartProblem
from gpuwhy.facts.variables import Fault, Variable
from gpuwhy.knowledge.settings import WRITTEN
from gpuwhy.signs import paths, say
from gpuwhy.signs.case import Case, Row, rows
from gpuwhy.signs.devices import VISIBLE
from gpuwhy.signs.expect import gpu_present, installed

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
    facts, name = case.facts, case.framework.name
    watched = value_or(facts.run.frameworks, ())
    if watched and name not in watched:
        return  # a program was watched, and was seen with others only
    able = [one.name for one in installed(facts) if value_or(one.gpu_build, True) is not False]
    no_gpu = isinstance(gpu_present(facts), Absent)
    for variable in facts.variables.variables.need() or ():
        of_gpu = variable.name.startswith(_OF_THE_GPU)
        if variable.name == VISIBLE or (of_gpu and _without_cuda(case)):
            continue  # device.selection judges the one, nobody reads the other
        for fault in variable.faults:
            idle = of_gpu and no_gpu and fault.kind in _MILD
            if fault.kind in kinds and not idle and name in (fault.frameworks or able[:1]):
                yield variable, fault


def _without_cuda(case: Case) -> bool:
    return value_or(case.framework.gpu_build, True) is False


def turned_off(case: Case) -> Finding | None:
    """The framework is told not to use a GPU that is there."""
    found = next(_faults(case, "off"), None)
    if found is None or case.framework.gpu_build.need() is False:
        return None
    present = gpu_present(case.facts)
    gpu = present.need()
    return _said(say.proof, *found, saw(f"a GPU: {gpu}", present)) if gpu else None


def rejected(case: Case) -> Finding | None:
    """The reader stops the program at this value."""
    found = next(_faults(case, "rejected"), None)
    if found is None:
        return None
    at_some = found[0].name in _AT_SOME_WORK
    return say.slows(_said(say.strong, *found)) if at_some else _said(say.proof, *found)


def without_effect(case: Case) -> Finding | None:
    """A value or a name that nobody reads: what was wanted does not happen."""
    found = next(_faults(case, *_MILD), None)
    if found is None:
        return None
    finding = _said(say.strong, *found)
    return say.slows(finding)


def _said(weigh: Callable[..., Finding], one: Variable, fault: Fault, *more: Evidence) -> Finding:
    allowed = f"; it takes {', '.join(fault.allowed)}" if 0 < len(fault.allowed) <= _MOST else ""
    known = (know(fault.text, Source("know", fault.source)),) if fault.source else ()
    text = f"{one.name}={_short(one)}: {fault.text}{allowed}"
    return weigh(text, _saw(one), *known, *more, name=one.name)


def _short(variable: Variable) -> str:
    return variable.value if len(variable.value) <= 60 else variable.value[:57] + "…"


def _saw(variable: Variable) -> Evidence:
    file = Source("file", variable.set_in) if variable.set_in else Source("env", variable.name)
    return saw(f"{variable.name}={_short(variable)}", file)


# ---------------------------------------------------------------- before the program starts


def keeps_from_starting(case: Case) -> Finding | None:
    """Python does not start with this variable, or does not find what is installed."""
    one = paths.start_problem(case.facts, StartProblem.VARIABLE)
    first = next(iter(installed(case.facts)), case.framework)
    if one is None or first.name != case.framework.name:
        return None
    then = (
        f"Python does not find the installed {say.listed(one.lost)}"
        if one.lost
        else "Python does not start"
    )
    set_to = f"{one.variable}={one.value}"
    seen = saw(set_to, Source("env", one.variable))
    return say.prevents_start(say.proof(f"{set_to}: {then}", seen, name=one.variable))


def _put_first(case: Case, *variables: str) -> Finding | None:
    """What one of these variables puts first, where the program failed and needs it.

    A proof where the object that cannot be loaded needs a library of that name.
    """
    run = case.facts.run
    found = [one for one in value_or(run.put_first, ()) if run.failed and one.variable in variables]
    one = next((one for one in found if one.needed_by), None)
    if one is None and run.crashed:
        odd = (one for one in found if not any(word in one.path.lower() for word in _USUAL))
        one = next((one for one in odd if one.variable != "LD_LIBRARY_PATH"), None)
    if one is None:
        return None
    first, library = f"{one.variable} puts {one.path} first", say.base_name(one.path)
    seen = [saw(first, Source("env", one.variable))]
    text = f"{one.variable} puts {one.path} into the program, which ended while it loaded libraries"
    if one.needed_by:
        seen.append(saw(f"needs {library}", Source("file", one.needed_by)))
        asker = say.base_name(one.needed_by)
        text = f"{first}, and {asker}, which needs {library}, cannot be loaded with it"
    finding = say.sure(bool(one.needed_by))(text, *seen, name=one.variable)
    return replace(finding, matches_crash=True)


def preloaded(case: Case) -> Finding | None:
    """A library that is loaded into every program, and breaks this one or is too old for it."""
    by = paths.put_first(case, "LD_PRELOAD", paths.PRELOAD_FILE)
    return _put_first(case, *_PRELOADING) or by


def searched_first(case: Case) -> Finding | None:
    """LD_LIBRARY_PATH puts a library first with which another one cannot be loaded."""
    return _put_first(case, "LD_LIBRARY_PATH")


def nothing_wrong(case: Case) -> Finding | None:
    """What rules it out."""
    variables = case.facts.variables.variables.need() or ()
    wrong = [fault for one in variables for fault in one.faults if fault.kind == "rejected"]
    if _without_cuda(case) and any(case.framework.name in fault.frameworks for fault in wrong):
        return None  # a wrong value that this build should not read
    none = f"no variable has a value that {case.named} rejects or that keeps it from the GPU"
    return say.against(none)


SIGNS = (
    *rows("env.setting", "framework", keeps_from_starting, preloaded, rejected, turned_off),
    *rows("env.setting", "framework", without_effect),
    Row("env.setting", "framework", nothing_wrong, last=True),
    *rows("env.path", "framework", searched_first),
)
