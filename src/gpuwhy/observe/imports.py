"""Imports: each framework, and what stands on it, imported for real, in a child of the environment's own Python.

The last test before anything is called healthy: whatever ends an import is seen, also what no file tells. Nothing of
the working folder is run, nothing is written, and no GPU is used beyond what an import does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import structs

from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, absent, value_or
from gpuwhy.model.facts import Framework, Imported
from gpuwhy.model.version import at_least
from gpuwhy.observe.dependents import Dependent, base_of
from gpuwhy.observe.differing import hash_all
from gpuwhy.observe.followed import conflicts_seen, damage_seen, shadows_seen
from gpuwhy.observe.roots import on_top
from gpuwhy.observe.scene import Look, Scene
from gpuwhy.observe.starting import starting_files
from gpuwhy.observe.unmet import contradictions_seen, lacking

OLDEST = "3.5"
"""The oldest Python that the child runs in."""
SECONDS = 100
"""For one import; a framework takes two to ten on a quiet machine."""
SIDE_BY_SIDE = 2
BESIDE = ("torchvision", "torchaudio", "keras", "tf_keras")
"""Packages that are imported with the framework that they are built on, where they are installed."""
NOT_TRIED = frozenset(
    {"vllm", "deepspeed", "sglang", "tensorrt_llm", "mpi4py", "horovod", "apex", "tensorflow_io_gcs_filesystem"}
)
"""Their imports start compilers or servers, take long, or are made by their framework, once."""
PARTS = {"tensorflow": ("sum:tensorflow", "tensorflow:keras.layers"), "torch": ("sum:torch",), "jax": ("sum:jax",)}
COMPILERS = {
    "torch": ("triton/backends/nvidia/bin/ptxas",),
    "jax": ("nvidia/cuda_nvcc/bin/ptxas", "nvidia/cu13/bin/ptxas"),
    "tensorflow": ("nvidia/cuda_nvcc/bin/ptxas",),
}
"""Programs in wheels that make code for the GPU."""
NOT_OPENED = ("onnxruntime", "numba", "tensorrt")
"""Their libraries are found by ways of their own, or open each other."""
WHEELS, PACKAGES = "NVIDIA's wheels", "packages"
_FIRST = "sys"
"""Always imported: packages that have no framework in common are each tried in a fork after it."""
_OPENED = re.compile(r"lib(cudart|cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|nvrtc|nvJitLink|nccl)\.so\.\d+$")
"""Libraries that need no driver to be opened."""
_DRIVER = re.compile(
    r"libcuda\.so|libnvidia-|libnvcuda|nvidia driver|cuda driver|no cuda(?![- ](python|bindings|toolkit|headers|core))"
    r"|cuda (is )?(not available|unavailable)"
    r"|cudaErrorInsufficientDriver|no (nvidia |cuda[- ])?(gpu|device)|(?<!py)nvml"
    r"|0 active drivers|cuInit|requires? a gpu",
    re.IGNORECASE,
)
"""What a package says whose import wants the driver, or a GPU."""
_SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV"}
_KILLED = 9
_DELAYED = ("setuptools",)
"""What Triton imports, does not state, and misses only when it compiles."""


def imports(scene: Scene) -> Fact[tuple[Imported, ...]]:
    """Every framework, and what is built on it, side by side."""
    python = scene.facts.target.interpreter.need()
    tree = on_top(scene)
    groups = [*_groups(scene, tree), *_by_themselves(scene, tree)]
    if python is None or python.gone or not groups or not at_least(python.version, OLDEST):
        return absent("env", "PATH", "nothing that could be imported")
    if not isinstance(scene.host.offline(), Absent):
        return Unknown("another machine's files: nothing can be imported", kind="offline")
    with ThreadPoolExecutor(SIDE_BY_SIDE + 1) as pool:
        hashed = pool.submit(hash_all, scene)  # nothing, unless it is asked for
        lacks = tuple(f"!{module}" for module in lacking(scene, tree))
        found = list(pool.map(lambda group: _tried(scene, python.path, group[0], (*group[1], *lacks)), groups))
        hashed.result()
    told = [_of_package(one, tree) for some in found for one in some if one.module != _FIRST]
    inmost = sorted(told, key=lambda one: one.failed and _by_another(one, told, tree))
    return Known((*inmost, *_never_tried(tree)), Source("call", python.path, "imported for real"))


def _by_another(one: Imported, told: Sequence[Imported], tree: Sequence[Dependent]) -> bool:
    """Whether a package that it asks for fails too: that one is told first."""
    own = next((dep for dep in tree if dep.told == one.package), None)
    bad = {dep.dist.name for dep in tree for other in told if other.failed and dep.told == other.package}
    return own is not None and bool(own.asks.always & bad)


def _of_package(one: Imported, tree: Sequence[Dependent]) -> Imported:
    """With the package that it belongs to; what only one of its extras brings is not missing."""
    own = next((dep for dep in tree if one.top in dep.modules or dep.has(one.module)), None)
    if own is None:
        return structs.replace(one, package=one.framework) if one.framework == WHEELS else one
    if one.ended == "late":
        return structs.replace(one, package=own.told, ended="untried")
    extra = one.failed and own.optional(one.lost.partition(".")[0])
    return structs.replace(one, package=own.told, ended="without extra" if extra else one.ended)


def _never_tried(tree: Sequence[Dependent]) -> Iterator[Imported]:
    for one in tree:
        for module in NOT_TRIED.intersection(one.modules) - {"tensorflow_io_gcs_filesystem"}:
            yield Imported(module, one.base, "untried", package=one.told)


def _groups(scene: Scene, tree: Sequence[Dependent]) -> Iterator[tuple[Framework, tuple[str, ...]]]:
    """A framework, its import name first, and the modules that are built on it."""
    found = value_or(scene.facts.target.frameworks, ())
    names = {one.name for one in found}
    beside = list(_beside(scene))
    for one in found:
        module = _import_name(one)
        if not module.isidentifier() or module in NOT_TRIED or base_of(module, names) != module:
            continue
        more = [other for other in beside if other != module and base_of(other, names) == module]
        known = (module, *_parts(one, module), *_plugins(scene, one), *more, *_later(scene, one))
        on_top = (m for dep in tree if dep.base == module for m in dep.modules if m not in NOT_TRIED)
        yield one, (*known, *(f"?{m}" for m in dict.fromkeys(on_top) if m not in known))


def _import_name(one: Framework) -> str:
    """The name that it is imported by, after its folder; a folder of libraries has none."""
    name = one.path.rpartition("/")[2]
    return "" if "/nvidia/" in one.path or name in ("lib", "lib64", "bin") else name


def _by_themselves(scene: Scene, tree: Sequence[Dependent]) -> Iterator[tuple[Framework, tuple[str, ...]]]:
    """What stands on no framework that is there, and CUDA's own libraries where nothing else is there to open them."""
    alone = [one for one in tree if not one.base]
    signs = [(m, "??" if one.plain else "?") for one in sorted(alone, key=_is_plain) for m in one.modules]
    names = {name: sign for name, sign in reversed(signs) if name not in NOT_TRIED}
    if names:
        yield _stub(PACKAGES, "packages"), (_FIRST, *(f"{names[m]}{m}" for m in dict(signs) if m in names))
    if not value_or(scene.facts.target.frameworks, ()):
        found = list(_libraries(scene))
        yield from [(_stub(WHEELS, "NVIDIA's wheels"), ("open:" + "|".join(found),))] if found else []


def _is_plain(one: Dependent) -> bool:
    return one.plain


def _libraries(scene: Scene) -> Iterator[str]:
    """Those of wheels that need no driver."""
    for site in value_or(scene.facts.target.site_packages, ()):
        for part in value_or(scene.host.list(f"{site}/nvidia", r"\w+$"), ()):
            folder = f"{site}/nvidia/{part.name}/lib"
            yield from (f"{folder}/{one.name}" for one in value_or(scene.host.list(folder, _OPENED.pattern), ()))


def _stub(name: str, title: str, version: str = "") -> Framework:
    """What is imported like a framework, and is none."""
    unread = Unknown("not a framework")
    return Framework(name, title, name, version, name, *[unread] * 6)


def _parts(one: Framework, module: str) -> tuple[str, ...]:
    """A small sum, and parts that are loaded when they are first asked for; TensorFlow 1 has neither."""
    return PARTS.get(module, ()) if module != "tensorflow" or at_least(one.version, "2") else ()


def _beside(scene: Scene) -> Iterator[str]:
    """The import names of what is built on a framework: compiled against it, of its kind, or well known."""
    target, seen = scene.facts.target, set[str]()
    sites = [site.rstrip("/") for site in value_or(target.site_packages, ())]
    followers = [one.path.rpartition("/")[2] for one in value_or(target.frameworks, ())]
    built = [_top(one.path, sites) for one in value_or(scene.facts.loads.extensions, ())]
    there = [name for name in BESIDE for site in sites if isinstance(scene.host.stat(f"{site}/{name}"), Known)]
    for name in (*followers, *built, *there):
        if name.isidentifier() and name not in NOT_TRIED and name not in seen and not name.startswith("_"):
            seen.add(name)
            yield name


def _top(path: str, sites: Sequence[str]) -> str:
    """The first folder of a library below site-packages; "" for one that lies in no package."""
    inside = next((path.removeprefix(f"{site}/") for site in sites if path.startswith(f"{site}/")), "")
    first, below, _ = inside.partition("/")
    return first if below else ""


def _plugins(scene: Scene, one: Framework) -> list[str]:
    """JAX's plug-ins, which it imports itself and leaves aside without a word where that fails."""
    if one.name != "jax":
        return []
    folder = f"{one.path.rpartition('/')[0]}/jax_plugins"
    found = value_or(scene.host.list(folder, r"xla_cuda\d+$"), ())
    with_code = [one for one in found if isinstance(scene.host.stat(f"{folder}/{one.name}/__init__.py"), Known)]
    return [f"jax_plugins.{entry.name}" for entry in with_code]  # JAX passes over a folder that was left empty


def _later(scene: Scene, one: Framework) -> Iterator[str]:
    """What a framework opens and starts only where there is a GPU: libraries of the environment, and ptxas."""
    needs = [need for need in value_or(scene.facts.loads.needs, ()) if need.framework == one.name]
    found = [need.found.value for need in needs if isinstance(need.found, Known) and _OPENED.match(need.name)]
    if found and one.name not in NOT_OPENED:
        yield "open:" + "|".join(dict.fromkeys(found))
    site = one.path.rpartition("/")[0]
    for path in COMPILERS.get(one.name, ()):
        if isinstance(scene.host.stat(f"{site}/{path}"), Known):
            yield f"run:{site}/{path}"


def _tried(scene: Scene, python: str, framework: Framework, modules: tuple[str, ...]) -> tuple[Imported, ...]:
    scene.note(f"importing {framework.title} {framework.version}")
    sites = value_or(scene.facts.target.site_packages, ())
    files = starting_files(scene, sites, known=True)
    uses = "uses" if scene.options.imports == "deep" else "no uses"
    said = scene.host.call("imports", python, "\n".join(modules), str(SECONDS), uses, str(len(sites)), *sites, *files)
    if not isinstance(said, Known):
        why = said.reason if isinstance(said, Unknown) else "not tried"
        return (Imported(modules[0], framework.name, "late", why=why),)
    lines = said.value
    blames = {str(line.get("module")): line for line in lines if line.get("tried")}
    no_driver = not value_or(scene.facts.loads.libcuda, ())
    told = [_read(line, framework, blames, no_driver) for line in lines if "ok" in line or "untried" in line]
    return tuple(_with_stand_ins([_placed(scene, one) for one in told], lines))


def _placed(scene: Scene, one: Imported) -> Imported:
    """Without the folder of the Python that imported it, where that is the environment's own, as it should be."""
    python = value_or(scene.facts.target.interpreter, None)
    own = python is None or python.kind != "venv" or not one.prefix
    own = own or value_or(scene.host.real(one.prefix), "") == value_or(scene.host.real(python.prefix), "")  # type: ignore[union-attr]
    return structs.replace(one, prefix="") if own else one


def _read(line: Mapping[str, Any], framework: Framework, blames: Mapping[str, Any], no_driver: bool) -> Imported:
    module = str(line.get("module"))
    if line.get("untried"):
        return Imported(module, framework.name, "untried")
    if line.get("ok") is True:
        seconds = round(float(line.get("ms", 0.0)) / 1000, 2)
        file, version, said = (str(line.get(name, "")) for name in ("file", "version", "said"))
        return Imported(module, framework.name, "well", seconds, file, version, text=said)
    blame = blames.get(module, {})
    why = str(line.get("why") or _signal(line))
    if (line.get("plain") and _is_spared(line, blame)) or (line.get("aside") and line.get("outside")):
        return Imported(module, framework.name, "untried", why=why)
    text = "\n".join(filter(None, (str(line.get("said", "")), str(line.get("text", "")), why)))
    return Imported(
        module=module,
        framework=framework.name,
        ended=_ended(line, why, no_driver, "" if framework.name == WHEELS else module),
        kind=str(line.get("kind", "")),
        why=why,
        lost=str(line.get("lost", "")) if line.get("missing") else "",
        sought="" if line.get("missing") else str(line.get("sought") or ""),
        source=str(line.get("source", "")),
        text=text,
        files=tuple(str(one) for one in line.get("files") or ()),
        blame=str(blame.get("blame", "")),
        culprit=str(blame.get("what", "")),
        part=str(blame.get("part", "")),
        prefix=str(line.get("prefix", "")),
    )


def _is_spared(line: Mapping[str, Any], blame: Mapping[str, Any]) -> bool:
    """Whether a package without a part in GPU work only wants what no environment holds, or fails in its own words."""
    if line.get("how") == "crashed":
        return int(line.get("signal") or 0) not in _SIGNALS or line.get("signal") == _KILLED
    known = line.get("fault") and not line.get("outside")
    return not known and blame.get("blame", "") not in ("variable", "file", "compiled", "limit")


def _signal(line: Mapping[str, Any]) -> str:
    number = line.get("signal") or 0
    if line.get("how") == "late":
        return f"no end within {SECONDS} s"
    return f"killed by signal {number} ({_SIGNALS.get(int(number), 'signal')})" if number else "it ended without a word"


def _ended(line: Mapping[str, Any], why: str, no_driver: bool, module: str) -> Any:
    if line.get("how") == "late":
        return "late"
    if module == "triton" and line.get("lost") in _DELAYED:
        return "without driver"
    if no_driver and _DRIVER.search(f"{why}\n{line.get('message', '')}"):
        return "without driver"
    if no_driver and not module and line.get("how") == "crashed":  # libraries alone: what ails the file is read in it
        return "without driver"
    return "crashed" if line.get("how") == "crashed" else "raised"


def _with_stand_ins(told: list[Imported], lines: Iterable[Mapping[str, Any]]) -> list[Imported]:
    """A file of the working folder that has the name of a module which the import asked for: told with the first."""
    found = list(dict.fromkeys(one for line in lines for one in dict(line.get("stand_ins") or {}).items()))
    if not told or not found:
        return told
    made = [
        Imported(str(name), told[0].framework, "well", file=str(path), blame="working folder", culprit=str(path))
        for name, path in found
    ]
    return [*told, *made]


LOOKS: tuple[Look, ...] = (
    Look("target", "imports", imports, 420.0),
    Look("target", "conflicts", conflicts_seen, 60.0),
    Look("target", "damage", damage_seen, 600.0),
    Look("target", "contradictions", contradictions_seen, 60.0),
    Look("target", "shadows", shadows_seen),
)
"""Tried last, and only where nothing else is wrong."""
