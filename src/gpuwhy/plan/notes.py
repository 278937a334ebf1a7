"""Notes: what is said beside a set: what was exchanged, what is left to the installer, and what there is elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from gpuwhy.knowledge import asked
from gpuwhy.knowledge.caps import BROKEN
from gpuwhy.knowledge.flavours import flavour
from gpuwhy.knowledge.floors import floors
from gpuwhy.knowledge.installs import PRELOADS
from gpuwhy.knowledge.variants import in_old_list
from gpuwhy.model.plan import Machine, Wish
from gpuwhy.model.version import major_minor
from gpuwhy.plan.candidates import parsed
from gpuwhy.plan.catalogue import Catalogue
from gpuwhy.plan.machine import flags
from gpuwhy.plan.names import ALIKE, SWAPPED
from gpuwhy.plan.possible import is_other
from gpuwhy.plan.resolve import Found, Impossible, resolve
from gpuwhy.plan.roots import FRAMEWORKS, Candidate, framework_of
from gpuwhy.plan.ways import quoted


def notes_of(chosen: Sequence[Candidate], machine: Machine, found: Found) -> list[str]:
    """What is said of the releases of a set, and of its Python."""
    out = [*(note for one in chosen for note in _own_notes(one)), *_unread(chosen, machine)]
    if machine.python and found.python != machine.python:
        out.append(f"Python {machine.python} has no wheels of this set: Python {found.python} is needed")
    return out


def _unread(chosen: Sequence[Candidate], machine: Machine) -> list[str]:
    """That a build of PyTorch's own index pins wheels nobody read, where something else of the set brings some too."""
    torch = next((one for one in chosen if one.backend and not in_old_list(one.row.version)), None)
    others = [one for one in chosen if one is not torch and any(name.startswith(_NVIDIA) for name, _ in one.needs)]
    beside = " and ".join(f"{one.row.name} {one.row.version}" for one in others if one.role != "library")
    if torch is None or not beside or machine.system == "windows":
        return []
    return [
        f"which of NVIDIA's wheels torch {torch.row.version}+{torch.backend} pins was not read: "
        f"{beside} may ask for others"
    ]


_NVIDIA = ("nvidia-", "cuda-toolkit")


def _own_notes(one: Candidate) -> list[str]:
    """What is said of one release beside its requirement."""
    who = f"{one.row.name} {one.row.version}"
    out = []
    flaw = BROKEN.find(one.row.name, one.row.version)
    if flaw:
        out.append(f"{who} {flaw.text}: LD_LIBRARY_PATH cures it")
    if framework_of(one.root) in PRELOADS and "[" in one.requirement:
        call = PRELOADS[framework_of(one.root)]
        out.append(f"{one.row.name} looks into these wheels only after {call} or import torch")
    if one.backend:
        out.append(f"torch {one.row.version} for CUDA {one.row.cuda} is on PyTorch's own index alone")
    if one.shares:
        out.append(f"{who} without its extra and-cuda, which pins other wheels: it finds those that torch brings")
    if one.row.platform == "source" and one.role == "companion":
        read = "" if isinstance(one.row.pairs, dict) else "; what it asks of others was not read"
        out.append(f"{who} has no wheel: it is built from its source where it is installed{read}")
    return [*out, *(row.note for row in floors(one.row.name, one.row.version) if row.note)]


def on_own_index(wishes: Sequence[Wish], chosen: Sequence[Candidate], catalogue: Catalogue, found: Found) -> list[str]:
    """A newer torch whose build for this machine is on PyTorch's own index, where the older default one was taken."""
    frameworks = [one for one in chosen if one.root in FRAMEWORKS]
    torch = next((one for one in frameworks if one.root == "torch" and not one.backend), None)
    if torch is None or len(frameworks) > 1 or catalogue.limits.get("torch") or catalogue.near:
        return []
    best = max(_backends(catalogue), key=lambda one: parsed(one.row.version), default=torch)
    if parsed(best.row.version) <= parsed(torch.row.version) or not _goes_with(best, catalogue, found):
        return []
    said = f"torch {best.row.version} for CUDA {best.row.cuda} runs here too, from PyTorch's own index"
    words = [*_again(wishes, f"torch=={best.row.version}"), *flags(catalogue.machine)]
    return [f"{said}: gpuwhy plan {quoted(words)}"]


def _backends(catalogue: Catalogue) -> list[Candidate]:
    """The builds of PyTorch's own index that surely run here."""
    return [one for one, verdict in catalogue.of("torch") if one.backend and not (verdict.kind or verdict.unsure)]


def _goes_with(best: Candidate, catalogue: Catalogue, found: Found) -> bool:
    """Whether the rest of the set goes with another torch, and nothing of it has to be older."""
    if len(found.chosen) == 1:
        return True
    pinned = [*catalogue.wishes, Wish("torch", f"=={best.row.version}", constraint=True)]
    try:
        other = resolve(Catalogue(catalogue.machine, pinned, catalogue.least_change), found.python)
    except Impossible:
        return False
    companions = [one for one in found.chosen.values() if one.role == "companion" and one.root in other.chosen]
    return all(parsed(other.chosen[one.root].row.version) >= parsed(one.row.version) for one in companions)


def _again(wishes: Sequence[Wish], pin: str) -> list[str]:
    """The words that ask for the same again, with one release pinned: files as files, the rest as it was."""
    words = [w.text or f"{w.name}{w.specifier}" for w in wishes if not w.where and w.name != "torch"]
    asks = _files(wish for wish in wishes if not wish.constraint)
    limits = [path for path in _files(wish for wish in wishes if wish.constraint) if path not in asks]
    return [pin, *words, *(f"--requirement={path}" for path in asks), *(f"--constraint={path}" for path in limits)]


def _files(wishes: Iterable[Wish]) -> list[str]:
    """The files that wishes stand in."""
    return list(dict.fromkeys(wish.where.rpartition(":")[0] for wish in wishes if wish.where))


def others_of(wishes: Sequence[Wish], found: Found) -> tuple[Wish, ...]:
    """The wishes left to the installer."""
    others = [wish for wish in wishes if is_other(wish)]
    tensorflow = found.chosen.get("tensorflow")
    if tensorflow:
        others = [_alike(wish, major_minor(tensorflow.row.version)) for wish in others]
    return tuple(others)


def swapped(wishes: Sequence[Wish], found: Found) -> list[str]:
    """What was exchanged for another build of the same."""
    notes = [SWAPPED[wish.name] for wish in wishes if wish.name in SWAPPED]
    tensorflow = found.chosen["tensorflow"].row if "tensorflow" in found.chosen else None
    names = {wish.name for wish in wishes}
    if tensorflow and "tensorflow-gpu" in names and tensorflow.name == "tensorflow":
        notes.append("tensorflow-gpu ended with 2.12; since 2.1 tensorflow is the same build")
    if tensorflow and "tensorflow" in names and "tensorflow-gpu" not in names and tensorflow.name == "tensorflow-gpu":
        notes.append(f"tensorflow {tensorflow.version} is built without CUDA: tensorflow-gpu takes its place")
    return notes + _rivals(wishes)


def _rivals(wishes: Sequence[Wish]) -> list[str]:
    """Packages that own the same files and are asked for together; builds without CUDA that a label names."""
    modules: dict[str, list[str]] = {}
    for wish in wishes:
        own = flavour(wish.name)
        if own and not wish.constraint:
            modules.setdefault(own.module, []).append(wish.name)
    out = [
        f"{' and '.join(dict.fromkeys(names))} own the same files, and break each other: only one of both is installed"
        for names in modules.values()
        if len(set(names)) > 1
    ]
    labels = [f"{w.name}{w.specifier}+cpu" for w in wishes if w.build == "cpu"]
    return out + [f"{label} is a build without CUDA: the one with CUDA takes its place" for label in labels]


def _alike(wish: Wish, series: str) -> Wish:
    """The wish, held to TensorFlow's own series where its releases go by it and it says nothing itself."""
    if wish.name not in ALIKE or wish.specifier or wish.url:
        return wish
    return msgspec.structs.replace(wish, specifier=f"=={series}.*", text=f"{wish.name}=={series}.*")


def twins(chosen: Sequence[Candidate], others: Iterable[Wish]) -> tuple[str, ...]:
    """Packages that something of the set asks for and that own the files of a chosen one: onnxruntime beside -gpu."""
    wanted = {name for one in chosen for name, _ in one.needs}
    wanted |= {name for wish in others if not wish.constraint for name in asked.asks(wish.name, "")}
    mine = {own.module: one.row.name for one in chosen if one.root in FRAMEWORKS and (own := flavour(one.row.name))}
    rivals = [(name, own.module) for name in sorted(wanted) if (own := flavour(name)) and own.module in mine]
    return tuple(name for name, module in rivals if name != mine[module] and name in _WITHOUT)


_WITHOUT = frozenset({"onnxruntime", "tensorflow-cpu", "tensorflow-intel"})
