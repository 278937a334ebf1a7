"""What the loader finds for one framework, told as the stories that six causes divide among themselves.

Nowhere: `cuda.missing_library`, `cudnn.missing`. Displaced (in the framework's own environment, but not in a folder
that it searches): the same two. Other version: `cuda.version_mismatch`, `cudnn.version_mismatch`. Elsewhere on the
machine, or in a folder that the loader is told of in vain (`hindered`): `env.path`. Broken: `install.corrupted`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from gpuwhy.knowledge.flavours import is_follower
from gpuwhy.knowledge.installs import PRELOADS, lost_folder, preload_call
from gpuwhy.knowledge.libraries import is_cudnn as is_cudnn_file
from gpuwhy.knowledge.libraries import parse, stem
from gpuwhy.knowledge.sonames import SONAMES, cuda_of
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Evidence, Finding, Fix, against, know, proof, saw, strong, weak
from gpuwhy.model.expect import LINKED, gpu_claimed, gpu_present
from gpuwhy.model.fact import Absent, Known, Source, Unknown, value_or
from gpuwhy.model.facts import MISFITS, Damage, Fate, Framework, LibraryCopy, MissingLibrary, NeededLibrary, Variable
from gpuwhy.rooms.shared.commands import search_first
from gpuwhy.rooms.shared.hindered import told_in_vain
from gpuwhy.rooms.shared.windows import on_windows, path_first

Story = Literal["found", "broken", "unseen", "displaced", "elsewhere", "other version", "nowhere"]
Pick = Callable[[NeededLibrary], bool]

DRIVERS = ("libcuda.so", "libnvidia-", "nvcuda.dll", "nvml.dll")
STEERS_THE_LOADER = ("LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH")
_ON_WINDOWS = ("PATH", "CUDA_PATH", "CUDA_HOME", "CUDNN_")
_STILL_LOADS = ("other size", "other hash")  # what may be wrong with a file that the loader takes all the same
_TRIES = {"loader.tf_skip": "tensorflow", "jax.unable_to_load": "jax", "ort.create_failed": "onnxruntime"}
_OTHERWISE: dict[Story, str] = {
    "broken": "belongs to an installation that is damaged",
    "displaced": "is installed in the framework's own environment",
    "elsewhere": "is here, outside the search",
    "other version": "is there in another version only",
    "nowhere": "is not here at all",
}


def is_cudnn(need: NeededLibrary) -> bool:
    """Whether it is cuDNN or a part of it."""
    return is_cudnn_file(need.name)


def is_cuda(need: NeededLibrary) -> bool:
    """Whether it is any other CUDA library."""
    return not is_cudnn(need)


def anything(_need: NeededLibrary) -> bool:
    """Every library."""
    return True


def the(case: Case) -> Framework:
    """The framework that the engine put in front of the sign."""
    assert case.framework is not None, "scope is framework"
    return case.framework


def named(case: Case) -> str:
    """TensorFlow 2.21.0."""
    return f"{the(case).title} {the(case).version}"


def required(case: Case, pick: Pick) -> list[NeededLibrary]:
    """The libraries that this framework cannot do without, by itself or for the sake of one of them.

    The driver's own are other causes' business, and so is what only cuDNN asks for.
    """
    lost = damaged_files(case)
    mine = [n for n in case.facts.loads.needs.need() or () if n.framework == the(case).name and n.needed_by not in lost]
    listed_ones = [n for n in mine if not n.optional] + _behind(case, mine)
    return [n for n in listed_ones if pick(n) and not n.name.startswith(DRIVERS)]


def damaged_files(case: Case) -> set[str]:
    """Installed files that no loader takes: what they would have opened is not asked for."""
    return {d.path for d in value_or(case.facts.target.damage, ()) if d.what not in _STILL_LOADS}


def _behind(case: Case, mine: Sequence[NeededLibrary]) -> list[NeededLibrary]:
    """What the load tree misses although the framework does not ask for it: a library's own dependency."""
    trees = value_or(case.facts.loads.trees, ())
    missing = [one for tree in trees if tree.framework == the(case).name for one in tree.missing]
    names = {need.name for need in mine}
    spare = {need.name for need in mine if need.optional}
    found = [one for one in missing if one.name not in names and parse(one.name) and one.fate is Fate.NOT_THERE]
    return [_as_need(case, one) for one in found if not _can_miss(one, spare)]


def _can_miss(one: MissingLibrary, spare: set[str]) -> bool:
    """Whether it is asked for by what need not be there, or by cuDNN, which has causes of its own."""
    asker = base_name(one.needed_by)
    return not spare.isdisjoint((asker, one.name)) or is_cudnn_file(asker)


def _as_need(case: Case, missing: MissingLibrary) -> NeededLibrary:
    kind, copies = stem(missing.name), value_or(case.facts.libraries.copies, ())
    return NeededLibrary(
        framework=the(case).name,
        name=missing.name,
        optional=False,
        needed_by=missing.needed_by,
        found=Absent(Source("call", "loader search", missing.name)),
        found_via="",
        searched=missing.searched,
        elsewhere=tuple(c.path for c in copies if c.name == missing.name),
        other_versions=tuple(c.path for c in copies if stem(c.name) == kind and c.name != missing.name),
    )


def story(case: Case, need: NeededLibrary) -> Story:
    """What happened to one library."""
    if isinstance(need.found, Known):
        return "found"
    if isinstance(need.found, Unknown):
        return "broken" if need.found.kind == "refused" else "unseen"
    damage = value_or(case.facts.target.damage, ())
    if any(d.what not in _STILL_LOADS and d.path.endswith(f"/{need.name}") for d in damage):
        return "broken"
    copies = usable(case, need)
    if copies:
        own = any(at_home(case, path) for path in copies) and not told_in_vain(case, need.unlisted, copies)
        return "displaced" if own else "elsewhere"
    return "other version" if any(not is_whole_name(p, need) for p in need.other_versions) else "nowhere"


def is_whole_name(path: str, need: NeededLibrary) -> bool:
    """Whether a file is the very library under its full name (libcudnn.so.9.1.0), whose link is missing."""
    return base_name(path).startswith(f"{need.name}.")


def usable(case: Case, need: NeededLibrary) -> tuple[str, ...]:
    """Copies outside the search that are not known to be broken, those of the own environment first."""
    there = dict.fromkeys((*need.elsewhere, *([f"{need.unlisted}/{need.name}"] if need.unlisted else ())))
    fit = [path for path in there if (copy := copy_at(case, path)) is None or not copy.fault]
    return tuple(sorted(fit, key=lambda path: not at_home(case, path)))


def at_home(case: Case, path: str) -> bool:
    """Whether a path lies in the site-packages folder of the framework."""
    return path.startswith(the(case).path.rpartition("/")[0] + "/")


def copy_at(case: Case, path: str) -> LibraryCopy | None:
    """What was observed of the library file at a path."""
    copies = value_or(case.facts.libraries.copies, ())
    return next((c for c in copies if path in c.paths), None)


def irrelevant(case: Case) -> Finding | None:
    """Why a missing library would not matter: a build without CUDA, or no GPU and nothing that is linked."""
    build, present = the(case).gpu_build, gpu_present(case.facts)
    if isinstance(build, Absent) or (isinstance(build, Known) and not build.value):
        return against(f"{named(case)} is a build without CUDA", saw("CPU build", build))
    if is_follower(the(case).name) and any(f.name == "torch" for f in value_or(case.facts.target.frameworks, ())):
        return against(f"{the(case).title} is imported after PyTorch, which has opened its CUDA libraries by then",
                       saw(named(case), Source("folder", the(case).path)))  # fmt: skip
    if other := built_for_another(case):
        return against(f"{named(case)} is built for {other.actual}, so that nothing of it is loaded: install.corrupted",
                       saw(f"built for {other.actual}", Source("file", other.path)))  # fmt: skip
    if lost := _damaged_askers(case):
        return against(f"{base_name(lost[0])}, which would open it, is damaged itself: install.corrupted",
                       saw("damaged", Source("file", lost[0])))  # fmt: skip
    if isinstance(present, Absent) and the(case).name not in LINKED and not tried(case):
        return against("this machine has no NVIDIA GPU, so it is never opened", saw("no GPU on the PCI bus", present))
    return None


def built_for_another(case: Case) -> Damage | None:
    """Whether the framework itself is a build for another machine, system or Python."""
    found = (one for one in value_or(case.facts.target.damage, ()) if one.what in MISFITS)
    return next((one for one in found if one.owner.partition(" ")[0] == the(case).distribution), None)


def _damaged_askers(case: Case) -> list[str]:
    """The files that open libraries, where every one of them is damaged."""
    askers = {need.needed_by for need in value_or(case.facts.loads.needs, ()) if need.framework == the(case).name}
    lost = sorted(askers & damaged_files(case))
    return lost if len(lost) == len(askers) else []


def tried(case: Case) -> bool:
    """Whether the program's output shows that the framework went to open its libraries, GPU or not."""
    names = {n.name for n in value_or(case.facts.loads.needs, ()) if n.framework == the(case).name}
    return any(s.get("library") in names or _TRIES.get(s.signature) == the(case).name for s in case.symptoms)


def lost(case: Case, pick: Pick, *stories: Story) -> list[NeededLibrary]:
    """The required libraries with one of these stories, where that matters."""
    hits = [need for need in required(case, pick) if story(case, need) in stories]
    if not hits or irrelevant(case):
        return []
    the(case).gpu_build.need()
    present = gpu_present(case.facts)
    if the(case).name not in LINKED and isinstance(present, Unknown) and isinstance(gpu_claimed(case.facts), Absent):
        present.need()
    return hits


def outdated(case: Case, pick: Pick) -> bool:
    """Whether the libraries not found are there in another version, rather than not at all: the most decide."""
    told = [story(case, need) for need in required(case, pick)]
    return told.count("other version") > 0 and told.count("other version") >= told.count("nowhere")


def unfound(case: Case, pick: Pick) -> list[NeededLibrary]:
    """The libraries without any copy that fits; those with another version first where these are the story."""
    dated = outdated(case, pick)
    found = lost(case, pick, "nowhere", "other version")
    return sorted(found, key=lambda need: (story(case, need) == "nowhere") == dated)


def nothing_lost(case: Case, pick: Pick, *stories: Story) -> Finding | None:
    """The observation that rules these stories out; None when one of them is there."""
    if reason := irrelevant(case):
        return reason
    needs = required(case, pick)
    told = [(need, story(case, need)) for need in needs]
    if any(one in stories for _, one in told):
        return None
    for need in (need for need, one in told if one == "unseen"):
        need.found.need()
    if not needs:
        the(case).opens.need()
        return against(f"{named(case)} opens no such library", saw("libraries it opens", the(case).opens))
    return _ruled_out(case, pick, told)


def _ruled_out(case: Case, pick: Pick, told: Sequence[tuple[NeededLibrary, Story]]) -> Finding:
    """What speaks against it: damage, another story of a library, or that all are found."""
    if own := sorted(path for path in damaged_files(case) if path.startswith(f"{the(case).path}/")):
        text = f"{base_name(own[0])} of {named(case)} is damaged: install.corrupted"
        return against(text, saw("damaged", Source("file", own[0])))
    for need, one in told:
        if one != "found":
            return against(f"{need.name} {_OTHERWISE[one]}", saw_search(need))
    needs = [need for need, _ in told]
    found = f"the loader finds {_all_of(case, pick, needs)} that {named(case)} opens"
    return against(found, saw(needs[0].name, needs[0].found))


def _all_of(case: Case, pick: Pick, needs: Sequence[NeededLibrary]) -> str:
    """all 12 libraries besides cuDNN: where only cuDNN is not found, and was not asked about."""
    rest = [n for n in required(case, anything) if not isinstance(n.found, Known)]
    besides = " besides cuDNN" if rest and all(is_cudnn(n) for n in rest) and not pick(rest[0]) else ""
    return f"all {len(needs)} libraries{besides}" if len(needs) > 1 else f"the one library{besides} ({needs[0].name})"


def listed(needs: Sequence[NeededLibrary]) -> str:
    """libcufft.so.11 and 3 more."""
    more = len(needs) - 1
    return needs[0].name + (f" and {more} more" if more else "")


def base_name(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


def saw_search(need: NeededLibrary) -> Evidence:
    """Who asks, and in how many folders the loader looked."""
    many = f"{len(need.searched)} folders searched" if need.searched else "the loader's folders searched"
    return saw(f"opens {need.name}, {many}", Source("file", need.needed_by))


def saw_copy(case: Case, path: str) -> Evidence:
    """A copy of a library with its version and owner, where they are known."""
    copy = copy_at(case, path)
    version = f" {value_or(copy.version, '')}".rstrip() if copy else ""
    owner = f", from {copy.owner.value}" if copy and isinstance(copy.owner, Known) else ""
    return saw(f"{base_name(path)}{version}{owner}", Source("file", path))


def saw_variables(case: Case, outside: bool = False) -> list[Evidence]:
    """What is wrong with the variables that should have led to a library; on Linux only where a copy is `outside`."""
    variables = value_or(case.facts.environment.variables, ())
    if on_windows(case.facts):
        read = [one for one in variables if one.name.startswith(_ON_WINDOWS)]
    else:
        read = [one for one in variables if outside and one.name in STEERS_THE_LOADER]
    return [evidence for one in read for evidence in saw_problems(one)]


def saw_problems(one: Variable) -> list[Evidence]:
    """What is wrong with a variable."""
    return [saw(f"{one.name}: {problem}", Source("env", one.name)) for problem in one.problems[:2]]


def required_lost(case: Case, pick: Pick) -> bool:
    """Whether a required library of some kind has no copy that fits."""
    return bool(lost(case, pick, "nowhere", "other version"))


def place(case: Case) -> str:
    """Where something is or is not: on this machine, or in the image that is judged."""
    around = case.facts.surroundings
    image = isinstance(around.offline, Known) and isinstance(around.container, Known)
    return "in this image" if image else "on this machine"


def relinked(case: Case, pick: Pick) -> tuple[Fix, ...]:
    """The library is there under its full name, and the link by which it is opened is not: ldconfig makes it."""
    whole = [p for need in lost(case, pick, "nowhere") for p in need.other_versions if is_whole_name(p, need)]
    folders = " ".join(dict.fromkeys(path.rpartition("/")[0] for path in whole))
    if not whole or on_windows(case.facts):
        return ()
    image = isinstance(case.facts.surroundings.offline, Known)
    command = on.dockerfile(f"RUN ldconfig -n {folders}") if image else on.linux(f"sudo ldconfig -n {folders}")
    text = f"{base_name(whole[0])} is there without the link by which it is opened: make it anew"
    return (Fix(text, command, root=not image),)


def say_nowhere(case: Case, needs: Sequence[NeededLibrary]) -> Finding:
    """No copy on the machine."""
    verb = "fails to import without" if the(case).name in LINKED else "opens"
    are = "they are" if len(needs) > 1 else "it is"
    dated = [n for n in needs if n.other_versions]
    note = f", except {base_name(dated[0].other_versions[0])} for {dated[0].name}" if dated else ""
    sure = proof if isinstance(case.facts.environment.variables, Known) else strong
    return sure(
        f"{named(case)} {verb} {listed(needs)}; {are} {_in_a_wheel(case, needs) or f'nowhere {place(case)}'}{note}",
        *(saw_search(n) for n in needs[:3]),
        *(saw_copy(case, n.other_versions[0]) for n in dated[:1]),
    )


def _in_a_wheel(case: Case, needs: Sequence[NeededLibrary]) -> str:
    """NVVM lies in a wheel of NVIDIA's, into which Numba looks only with numba-cuda; "" for all else."""
    names = [one.name for one in value_or(case.facts.target.distributions, ())]
    wheel = next((name for name in names if name.startswith("nvidia-cuda-nvcc")), "")
    only = wheel and {one.name for one in needs} == {"libnvvm.so"}
    return f"in {wheel}, where Numba without numba-cuda does not look" if only else ""


def say_other(case: Case, needs: Sequence[NeededLibrary]) -> Finding:
    """Only another SONAME is installed, and what the two names date."""
    found = ", ".join(dict.fromkeys(base_name(p) for n in needs[:3] for p in n.other_versions))
    built = value_or(the(case).built_for_cuda, "")
    for_cuda = f" is built for CUDA {built} and" if built and is_cuda(needs[0]) else ""
    return proof(
        f"{named(case)}{for_cuda} opens {listed(needs)}; only {found} is installed",
        saw_search(needs[0]),
        *(saw_copy(case, n.other_versions[0]) for n in needs[:3] if n.other_versions),
        *_dates(needs),
    )


def _dates(needs: Sequence[NeededLibrary]) -> list[Evidence]:
    """What the name asked for and the name found say of their CUDA version."""
    for need in needs:
        wanted, other = cuda_of(need.name), next((p for p in need.other_versions if cuda_of(base_name(p))), "")
        if wanted and other:
            text = f"{need.name} belongs to CUDA {wanted}, {base_name(other)} to CUDA {cuda_of(base_name(other))}"
            return [know(text, SONAMES)]
    return []


def say_displaced(case: Case, needs: Sequence[NeededLibrary]) -> Finding:
    """In the framework's own environment, and in no folder that it searches."""
    first, title = needs[0], the(case).title
    are, it, many = *(("are", "them") if len(needs) > 1 else ("is", "it")), len(first.searched)
    folders = f"none of the {many} folders searched holds it" if many else "no folder searched holds it"
    text = (
        f"{listed(needs)} {are} installed, but not where {title} looks for {it}: "
        f"{base_name(first.needed_by)} opens {first.name}, and {folders}"
    )
    row = lost_folder(the(case).name, the(case).version, first.name)
    evidence = [*(saw_copy(case, usable(case, n)[0]) for n in needs[:3]), saw_search(first)]
    call = preload_call(the(case).name, the(case).version)
    torch = any(f.name == "torch" for f in value_or(case.facts.target.frameworks, ()))  # opens them for everybody
    if call or (the(case).name in PRELOADS and torch):
        calls = f"calls {call} or " if call else ""
        return weak(f"{text}, unless the program {calls}imports another framework first", *evidence)
    return proof(text, *evidence, *((know(row.text, row.source),) if row else ()))


def folders_of(case: Case, needs: Sequence[NeededLibrary]) -> list[str]:
    """The folders that would have to be searched."""
    return list(dict.fromkeys(usable(case, need)[0].rpartition("/")[0] for need in needs))


def export(case: Case, folders: Sequence[str]) -> Fix:
    """Put folders in front of the loader's search, in this shell only."""
    what = "its folder" if len(folders) == 1 else "their folders"
    if on_windows(case.facts):
        return path_first(f"Let the DLL search look into {what}, in this window", folders)
    return search_first(f"Let the loader look into {what}, in this shell", folders)
