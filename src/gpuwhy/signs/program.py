"""other.not_gpu, what a watched program did, and what the live stages of `--probe` answered."""

from collections.abc import Iterator

from msgspec.structs import replace

from gpuwhy.facts.fact import Known, Source, Undetermined, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding, saw
from gpuwhy.facts.loads import MissingLibrary
from gpuwhy.facts.run import GpuUse
from gpuwhy.knowledge.platforms import is_visual_c
from gpuwhy.signs import say
from gpuwhy.signs.case import Case, rows
from gpuwhy.signs.devices import GIB
from gpuwhy.signs.driver_library import selected
from gpuwhy.signs.expect import installed, offline
from gpuwhy.signs.imports import cause_of, failed
from gpuwhy.signs.paths import first_by, said_old

_SEEN = 5.0
_GRABS = ("tensorflow", "jax")
_AT_ONCE = 3.0

# ---------------------------------------------------------------- other.not_gpu


def nothing_of_the_stack(case: Case) -> Finding | None:
    """A watched program that failed without a framework in it or a GPU open."""
    run, facts = case.facts.run, case.facts
    touched = run.touched_gpu
    if not run.failed or value_or(run.frameworks, ("unseen",)) or value_or(touched, True):
        return None
    early = run.crashed and bool(installed(facts)) and value_or(run.seconds, 0.0) < _SEEN
    if value_or(facts.installs.shadows, ()) or early or isinstance(run.wanted_gpu, Known):
        return None  # what shadows a framework keeps it from being loaded; the rest is not seen
    if value_or(facts.installs.start, ()):
        return None
    text = "none of its processes had a GPU framework loaded or a GPU open"
    seen = (saw("no framework mapped", run.frameworks), saw("no GPU opened", touched))
    return say.weak(text, *seen)


def without_runtime(case: Case) -> Finding | None:
    """Windows: a DLL of the Visual C++ runtime, without which a framework cannot be imported."""
    facts, trees = case.facts, case.facts.loads.trees
    if not case.windows:
        return None
    found: dict[str, tuple[str, MissingLibrary]] = {}
    for tree in trees.need() or ():
        for one in tree.missing:
            if is_visual_c(one.name):
                found.setdefault(one.name.lower(), (tree.framework, one))
    if not found:
        well = "every DLL of the Visual C++ runtime that a framework needs is found"
        return say.against(well)
    (name, first), *_ = found.values()
    titles = {one.name: say.release(one) for one in installed(facts)}
    libraries = say.listed([one.name for _, one in found.values()])
    return say.proof(
        f"{titles.get(name, name)} needs {libraries} of the Visual C++ runtime, which the DLL "
        "search does not find: it cannot be imported, GPU or not",
        *(saw(f"needs {one.name}", Source("file", one.needed_by)) for _, one in found.values()),
        *(saw(f"not there: {place}", trees) for place in first.searched[:3]),
        framework=titles.get(name, name),
    )


def without_python_dll(case: Case) -> Finding | None:
    """Windows: python.exe without the DLL of its own release, which holds all of Python."""
    python = value_or(case.facts.environment.python, None)
    if python is None or not case.windows:
        return None
    own = f"python{''.join(python.version.split('.')[:2])}.dll"
    for tree in value_or(case.facts.loads.trees, ()):
        for one in tree.missing:
            if one.name.lower() == own:
                text = f"{one.name}, which holds all of Python, is not beside its python.exe"
                seen = saw(f"needs {one.name}", Source("file", one.needed_by))
                return say.proof(f"{text}: no program starts", seen)
    return None


def without_python(case: Case) -> Finding | None:
    """An environment whose Python is gone: nothing in it runs, whatever its packages are."""
    facts = case.facts
    python = facts.environment.python.need()
    if case.windows or offline(facts):
        return None
    if python is None or not python.gone:
        unexplained = any(cause_of(facts, one) == "other.not_gpu" for one in failed(facts))
        known = unexplained or facts.run.failed
        return None if known else say.against("the environment has its Python")
    why = "the Python that the environment was made from is gone, so nothing in it runs"
    why = "nothing in the environment runs" if python.gone == "not executable" else why
    gone = "a dangling link" if python.gone == "dangling link" else python.gone
    seen = saw(python.gone, Source("file", python.path))
    return say.proof(f"{python.path} is {gone}: {why}", seen)


def older_runtime(case: Case) -> Finding | None:
    """The C or C++ library that the loader finds by itself is older than a framework needs."""
    trees = value_or(case.facts.loads.trees, ())
    old = (one for tree in trees for one in tree.old if not first_by(one.found))
    one = next(old, None)
    if one is None or value_or(case.facts.installs.start, ()):
        return None
    asker = one.needed_by.rpartition("-packages/")[2]
    lacks = f"it lacks {one.version}, so the import fails, GPU or not"
    return said_old(one, f"{one.path} is older than {asker} needs: {lacks}")


# ---------------------------------------------------------------- GPU memory


def _fullest(facts: Facts) -> GpuUse | None:
    """The GPU on which the program and the others held most, among those it used."""
    used = [use for use in value_or(facts.run.gpus, ()) if use.own] if facts.run.failed else []
    return max(used, key=lambda use: (use.own + use.others_then) / use.total, default=None)


def _of(count: int, use: GpuUse) -> str:
    return f"{count / GIB:.1f} of {use.total / GIB:.1f} GiB of GPU {use.index}"


def filled(case: Case) -> Finding | None:
    """A watched program that failed and had filled the GPU itself: so do pieces and caches."""
    use = _fullest(case.facts)
    if use is None or use.others_then > use.own:
        return None
    if use.own + use.others_then < 0.9 * use.total:
        return None
    others = f"{use.others_then / GIB:.1f} GiB"
    text = f"the program itself held {_of(use.own, use)} at its peak, all others {others}"
    return say.weak(text, saw(f"peak of {use.own} bytes", case.facts.run.gpus))


def grabbed(case: Case) -> Finding | None:
    """A watched TensorFlow or JAX program that took most of the GPU at once."""
    use, frameworks = _fullest(case.facts), value_or(case.facts.run.frameworks, ())
    if use is None or not set(_GRABS) & set(frameworks):
        return None
    first = next((moment for moment in use.curve if moment.own), None)
    full = next((moment for moment in use.curve if moment.own > 0.7 * use.total), None)
    if first is None or full is None or full.seconds - first.seconds > _AT_ONCE:
        return None
    text = f"the program took {_of(full.own, use)} within seconds of its first use"
    return say.weak(text, saw(f"{full.own} bytes after {full.seconds} s", case.facts.run.gpus))


# ---------------------------------------------------------------- --probe

_DRIVER_STAGES = ("libcuda", "init", "devices", "context", "memory", "cudart")
_CODES: tuple[tuple[int, str, str], ...] = (
    (34, "driver.stub", "libcuda says of itself that it is a stub"),
    (46, "device.busy", "the GPU lets no further program in"),
    (101, "device.selection", "there is no GPU of that number"),
    (214, "device.hardware", "an ECC error that could not be corrected"),
    (220, "device.hardware", "an NVLink error that could not be corrected"),
    (802, "driver.not_ready", "the GPUs' fabric is not ready yet"),
    (803, "driver.library_mismatch", "libcuda does not fit the loaded kernel module"),
    (803, "driver.compat_misuse", "the cuda-compat library does not fit the loaded kernel module"),
    (804, "driver.compat_misuse", "forward compatibility does not work on this GPU"),
)


def answered(case: Case) -> Iterator[Finding]:
    """Each code that decides a cause."""
    stages = case.facts.probe.stages
    choice = value_or(case.facts.devices.visibility, None)
    order = choice.visible if choice else ()  # CUDA's numbers → those of NVML
    for stage in value_or(stages, ()):
        call, device = stage.failing, stage.device
        if stage.name not in _DRIVER_STAGES or call is None:
            continue
        subject = "" if device is None else f"GPU {dict(enumerate(order)).get(device, device)}"
        where = f" in {stage.library}" if stage.library else ""
        seen = saw(f"{call.name}{where} returned {call.code}", stages)
        for code, cause, means in _CODES:
            if code == call.code and _rightful(case.facts, code, cause):
                told = f"{call.name} answered the probe with {code} {call.status}: {means}"
                yield replace(say.proof(told, seen), cause=cause, subject=subject)


def _rightful(facts: Facts, code: int, cause: str) -> bool:
    """803 comes from a driver library or from a compat one: the file that is loaded decides."""
    if code != 803:
        return True
    try:
        one = selected(facts.loads.libcuda)
    except Undetermined:
        return cause == "driver.library_mismatch"
    return (one is not None and one.kind == "compat") == (cause == "driver.compat_misuse")


SIGNS = (
    *rows("memory.oom", "machine", filled),
    *rows("memory.preallocation", "machine", grabbed),
    *rows("other.not_gpu", "machine", nothing_of_the_stack, without_runtime, without_python_dll),
    *rows("other.not_gpu", "machine", without_python, older_runtime),
    *rows("driver.stub", "machine", answered),
)
