"""env.setting: a variable that steers the stack holds a value that its reader rejects, or turns the GPU off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.written import WRITTEN
from gpuwhy.model import on
from gpuwhy.model.cause import (
    Case,
    Cause,
    Evidence,
    Finding,
    Fix,
    against,
    know,
    linked,
    mild,
    noted,
    proof,
    saw,
    strong,
)
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Source, value_or
from gpuwhy.model.facts import Fault, Imported, Start, Variable
from gpuwhy.rooms.shared import ahead, before, imported, sourced
from gpuwhy.rooms.shared.commands import word
from gpuwhy.rooms.shared.preset import OF_A_FILE, SHOWN, out_of

MOST = 12
"""How many allowed values a sentence names."""
OF_THE_GPU = (
    "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "XLA_PYTHON_CLIENT_", "XLA_CLIENT_", "TF_GPU_", "TF_FORCE_GPU_",
    "CUBLAS", "CUDA_", "CUDNN_", "NCCL_", "NVIDIA_",
)  # fmt: skip
"""How the names begin that are read only where a GPU is used."""
MILD = ("ignored", "misspelt")
PRELOADING = ("LD_PRELOAD", "LD_AUDIT")
"""What they name and is not there, the loader complains of and goes on without."""
ONLY_BUILDS = frozenset({"TORCH_CUDA_ARCH_LIST", "CC", "CXX"})
"""Read when something is compiled: a program that only runs does not mind."""
AT_SOME_WORK = ONLY_BUILDS | WRITTEN.keys()
"""Those, and the folders that are made when there is something to write: a program that writes nothing works."""


_UNSEEN = re.compile(r"\b(?:gpus?|cuda|cpu|accelerator)\b", re.IGNORECASE)
"""What a program speaks of that ends because it was not given the GPU."""


def concerns(case: Case, *kinds: str) -> Iterator[tuple[Variable, Fault]]:
    """The variables whose value this framework, or NVIDIA's libraries under it, do not take as it was meant.

    A build without CUDA reads no option of the GPU's; a program seen with other frameworks only, none of this one's.
    """
    name = case.framework.name if case.framework else ""
    if _elsewhere(case, name):
        return
    for variable in case.facts.environment.variables.need() or ():
        if variable.name == SHOWN:  # which GPUs are seen: device.selection
            continue
        wanted = _counting(case, kinds) if variable.name.startswith(OF_THE_GPU) else kinds
        for fault in variable.faults:
            if fault.kind in wanted and _meets(case, name, fault):
                yield variable, fault


def _counting(case: Case, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Of these kinds of faults, those that hurt somebody here where they are in an option of the GPU."""
    if _without_cuda(case):
        return ()
    no_gpu = isinstance(gpu_present(case.facts), Absent)
    return tuple(kind for kind in kinds if not (no_gpu and kind in MILD))


def _meets(case: Case, name: str, fault: Fault) -> bool:
    """Whether a fault is one of this framework's, or of whatever uses CUDA here."""
    return name in fault.frameworks if fault.frameworks else _speaks_for_all(case)


def _speaks_for_all(case: Case) -> bool:
    """Whether this is the first framework that can use a GPU: what concerns them all is told once."""
    able = [f for f in value_or(case.facts.target.frameworks, ()) if value_or(f.gpu_build, True) is not False]
    return case.framework is None or (bool(able) and able[0].name == case.framework.name)


def _without_cuda(case: Case) -> bool:
    return case.framework is not None and value_or(case.framework.gpu_build, True) is False


def _elsewhere(case: Case, name: str) -> bool:
    """Whether a program was watched, and was seen with frameworks of which this is none."""
    seen = value_or(case.facts.run.frameworks, ())
    return bool(seen) and name not in seen


def turned_off(case: Case) -> Finding | None:
    """The framework is told to stay away from a GPU that is there."""
    found = next(concerns(case, "off"), None)
    if found is None or not _for_gpu(case):
        return None
    variable, fault = found
    present = gpu_present(case.facts)
    if present.need() is None:
        return None
    there = saw(f"a GPU: {present.need()}", present)
    finding = proof(f"{_written(variable)}: {fault.text}", _saw(variable), there, *_known(fault))
    return linked(finding) if _UNSEEN.search(case.ending.message) else finding


def rejected(case: Case) -> Finding | None:
    """The reader stops the program at this value."""
    found = next(concerns(case, "rejected"), None)
    if found is None:
        return None
    variable, fault = found
    text = f"{_written(variable)}: {fault.text}{_allowed(fault)}"
    finding = proof(text, _saw(variable), *_known(fault))
    return mild(strong(text, *finding.evidence)) if variable.name in AT_SOME_WORK else finding


def asked_in_vain(case: Case) -> Finding | None:
    """JAX may use a GPU only, its build has no CUDA, and there is no GPU: without the variable it would run."""
    asked = _gpu_only(case)
    if asked is None or case.framework is None or not _without_cuda(case) or gpu_present(case.facts).need() is not None:
        return None
    built = saw(f"JAX {case.framework.version}, built without CUDA", case.framework.gpu_build)
    return strong(f"{_written(asked)} allows the GPU only, and this build of JAX has no CUDA", _saw(asked), built)


def _gpu_only(case: Case) -> Variable | None:
    if case.framework is None or case.framework.name != "jax":
        return None
    found = {v.name: v for v in case.facts.environment.variables.need() or ()}
    one = found.get("JAX_PLATFORMS") or found.get("JAX_PLATFORM_NAME")
    return one if one and one.value and set(one.value.split(",")) <= {"cuda", "gpu", "rocm"} else None


def keeps_from_starting(case: Case) -> Finding | None:
    """Python does not start with this variable, or does not find what is installed; without it, it does."""
    start = before.start_of(case)
    if start is None or not start.variable or not _speaks_for_all(case):
        return None
    value = value_or(case.facts.environment.value(start.variable), "")
    text = f"{start.variable}={value}: {before.happens(start)}; without the variable it starts as it should"
    return before.told_by_start(case, start, text, saw(f"{start.variable}={value}", Source("env", start.variable)))


def ends_the_import(case: Case) -> Finding | None:
    """The import of this framework was tried and fails; without a variable, or the home folder's files, it does not."""
    one = _steered(case)
    if one is None:
        return None
    if one.blame == "home":
        text = f"{one.deed} fails, and goes well with an empty home folder: a file there steers it ({one.why})"
    elif not one.culprit:
        text = f"{one.deed} fails, and goes well without this shell's variables ({one.why})"
    else:
        value = value_or(case.facts.environment.value(one.culprit), "")
        what = f"{one.culprit}={value}" if value else one.culprit
        text = f"{what}: {one.deed} fails with it, and goes well without it ({one.why})"
    source = Source("env", one.culprit or "environment") if one.blame != "home" else Source("folder", one.culprit)
    return proof(text, saw("tried with it and without it", source), imported.seen(case, one))


def preset_ends_it(case: Case) -> Finding | None:
    """The import was tried and fails by a variable that a file of the environment sets before every program."""
    one = imported.preset(case)
    if one is None:
        return None
    value = dict(value_or(case.facts.target.start, Start()).sets).get(one.part, "")
    what = f"{one.part}={value}" if value else one.part
    text = (
        f"{one.culprit} sets {what} when Python starts: {one.deed} fails with it, and goes well without it ({one.why})"
    )
    return proof(text, saw("tried with it and without it", Source("file", one.culprit)), imported.seen(case, one))


def _ends_by_one(case: Case) -> bool:
    """Whether an import was tried and fails by a variable, of the shell or of a file."""
    return _steered(case) is not None or imported.preset(case) is not None


def _steered(case: Case) -> Imported | None:
    one = imported.blamed(case, "variable", "variables", "home")
    return None if one is None or one.culprit in (*imported.SEARCH, "LD_LIBRARY_PATH") else one


def _unsteered(case: Case, one: Imported) -> tuple[Fix, ...]:
    """Take away what the import fails by, or the one folder of it."""
    if one.blame == "home":
        text = "Look for the file below your home folder that this framework reads, and move it aside"
        return (Fix(text, on.linux("ls -a ~ ~/.config ~/.cache"), safe=True),)
    if not one.culprit:
        text = "Start it with few variables, and give it the others one by one"
        return (Fix(text, on.linux('env -i HOME="$HOME" PATH="$PATH" python …'), safe=True),)
    return before.without_part(case, one.culprit, one.part)


def preloaded(case: Case) -> Finding | None:
    """A library that is loaded into every program stands in the way of those that this one loads."""
    found = ahead.put_first(case, "LD_PRELOAD", "LD_AUDIT")
    return ahead.told(case, found) if found is not None else None


def older_first(case: Case) -> Finding | None:
    """A library that is preloaded is too old for the framework."""
    return before.older_first(case, *before.PRELOADS)


def another_first(case: Case) -> Finding | None:
    """A library of the framework's own name is preloaded."""
    return before.another_first(case, *before.PRELOADS)


def without_effect(case: Case) -> Finding | None:
    """A value or a name that nobody reads: nothing stops, and what was wanted does not happen."""
    found = next(concerns(case, "ignored", "misspelt"), None)
    if found is None:
        return None
    variable, fault = found
    finding = strong(f"{_written(variable)}: {fault.text}{_allowed(fault)}", _saw(variable), *_known(fault))
    return noted(finding) if variable.name in PRELOADING else mild(finding)


def nothing_wrong(case: Case) -> Finding | None:
    """What rules it out."""
    name = case.framework.title if case.framework else "this program"
    ahead_of_it = preloaded(case) or older_first(case) or another_first(case)
    if keeps_from_starting(case) or ahead_of_it or _ends_by_one(case):
        return None
    if any(concerns(case, "rejected", "ignored", "misspelt")) or asked_in_vain(case) or _unread_here(case):
        return None
    if _refused_here(case) or sourced.unbound(case):
        return None
    if any(concerns(case, "off")) and _for_gpu(case) and gpu_present(case.facts).need() is not None:
        return None
    seen = case.facts.environment.variables
    return against(
        f"no variable has a value that {name} rejects or that keeps it from the GPU",
        saw("the variables that steer the GPU stack", seen),
    )


def _refused_here(case: Case) -> bool:
    """Whether the program itself refuses a value: it knows its reader better than we do, and may have set it itself."""
    refused = any(one.speaker == "setting" and one.role == "error" for one in case.symptoms)
    if refused and case.facts.run.failed:
        return True
    told = {one.get("variable") for one in case.symptoms if one.speaker == "setting"} - {""}
    return any(v.name in told for v in case.facts.environment.variables.need() or ())


def _unread_here(case: Case) -> bool:
    """Whether a wrong value is set that this build should not read: what it does then is not ours to exclude."""
    name = case.framework.name if case.framework else ""
    variables = case.facts.environment.variables.need() or ()
    return _without_cuda(case) and any(
        name in f.frameworks and f.kind == "rejected" for v in variables for f in v.faults
    )


def _for_gpu(case: Case) -> bool:
    """Whether the build could use a GPU at all; what was not seen is asked for."""
    return case.framework is None or case.framework.gpu_build.need() is not False


def _written(variable: Variable) -> str:
    value = variable.value if len(variable.value) <= 60 else variable.value[:57] + "…"
    return f"{variable.name}={value}"


def _saw(variable: Variable) -> Evidence:
    return saw(_written(variable), Source("file", variable.set_in) if variable.set_in else Source("env", variable.name))


def _known(fault: Fault) -> tuple[Evidence, ...]:
    return (know(fault.text, Source("know", fault.source)),) if fault.source else ()


def _allowed(fault: Fault) -> str:
    return f"; it takes {', '.join(fault.allowed)}" if 0 < len(fault.allowed) <= MOST else ""


def fixes(case: Case) -> tuple[Fix, ...]:
    """Take the variable away in this shell, or give it a value that is read."""
    out: list[Fix] = []
    asked = _gpu_only(case)
    if asked is not None and asked_in_vain(case):
        return (_unset(asked.name),)
    start = before.start_of(case)
    if start is not None and start.variable and _speaks_for_all(case):
        return (_unset(start.variable),)
    steered, by_file = _steered(case), imported.preset(case)
    if steered is not None:
        return _unsteered(case, steered)
    if by_file is not None:
        return (out_of(case, Variable(by_file.part, "", "", (), set_in=by_file.culprit)),)
    first = ahead.put_first(case, "LD_PRELOAD", "LD_AUDIT")
    if first is not None:
        return (_unset(first.variable),)
    without = before.without_first(case, *before.PRELOADS)
    if without:
        return without
    for variable, fault in concerns(case, "rejected", "off", "ignored", "misspelt"):
        out += _ways(case, variable, fault)
        break
    if not out and sourced.unbound(case):
        out.append(sourced.mended(case, sourced.found(case, "unbound")[0]))
    return tuple(out)


def _ways(case: Case, variable: Variable, fault: Fault) -> tuple[Fix, ...]:
    """Without the value; with another one where its reader fails without any, too."""
    if fault.needed and not variable.name.startswith(OF_A_FILE):
        text = f"Take {fault.instead}, which is installed; without any value its reader fails, too"
        if variable.set_in:  # what a file sets has its way over the shell
            return (Fix(f"{text}: write {variable.name}={word(fault.instead)} into {variable.set_in}"),)
        return (Fix(text, f"export {variable.name}={word(fault.instead)}", safe=True),)
    return (out_of(case, variable),) if variable.set_in else (_unset(variable.name), *_instead(variable, fault))


def _unset(name: str) -> Fix:
    return Fix("Unset the variable in this shell", f"unset {name}", safe=True)


def _instead(variable: Variable, fault: Fault) -> Iterator[Fix]:
    """The value, or the name, that was meant."""
    if not fault.instead:
        return
    if fault.kind == "misspelt":
        command = f"export {fault.instead}={word(variable.value)}"
        yield Fix(f"Where {fault.instead} is meant", command, safe=True)
        return
    yield Fix(
        "Or write it as its reader takes it",
        f"export {variable.name}={word(fault.instead)}",
        safe=True,
    )


CAUSE = Cause(
    id="env.setting",
    title="an environment variable has a wrong value, or turns the GPU off",
    signs=(
        keeps_from_starting,
        ends_the_import,
        preset_ends_it,
        preloaded,
        older_first,
        another_first,
        rejected,
        turned_off,
        asked_in_vain,
        without_effect,
        sourced.unbound,
        nothing_wrong,
    ),
    fixes=fixes,
    scope="framework",
    effect="{subject}: {because}",
)
