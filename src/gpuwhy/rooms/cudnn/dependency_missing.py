"""cudnn.dependency_missing: cuDNN is found, and a library that cuDNN itself needs is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from gpuwhy.knowledge.installs import wheel_of
from gpuwhy.knowledge.libraries import is_cudnn
from gpuwhy.knowledge.sonames import cuda_of
from gpuwhy.knowledge.windows import ZLIB, ZLIB_DLL
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, know, proof, saw, strong
from gpuwhy.model.fact import Known, Source, value_or
from gpuwhy.model.facts import Fate, LibraryCopy, LoadedLibrary, LoadTree, MissingLibrary
from gpuwhy.model.version import numbers
from gpuwhy.model.words import and_more
from gpuwhy.rooms.cudnn.version_mismatch import refused
from gpuwhy.rooms.shared import needs, trees
from gpuwhy.rooms.shared.commands import change
from gpuwhy.rooms.shared.lost import of_that_name
from gpuwhy.rooms.shared.windows import shown as windows_path


def its_need_is_missing(case: Case) -> Finding | None:
    """What a loaded cuDNN library asks for in vain; the driver's libcuda is other causes' business."""
    tree = trees.of_gpu(case)
    if isinstance(tree, Finding):
        return tree
    shim, gone = trees.shim(tree), _gone(case, tree)
    if shim is None:
        found = [needs.saw_search(need) for need in needs.required(case, needs.is_cudnn)[:1]]
        return against(f"{needs.named(case)} loads no cuDNN", *found)
    if refused(case):
        return against(f"{needs.named(case)} refuses this cuDNN as a whole", trees.saw_loaded(shim))
    if not gone:
        whole = against("everything that cuDNN alone needs is found", trees.saw_loaded(shim))
        return _of_another_wheel(case, shim) or whole
    if gone[0].name == ZLIB_DLL:
        return _no_zlib(case, gone[0], shim)
    first, more = gone[0], and_more(len(gone), 1)
    belongs = f", which belongs to CUDA {cuda_of(first.name)}" if _foreign(case, first) else ""
    return proof(
        f"{needs.named(case)} loads cuDNN, whose {needs.base_name(first.needed_by)} needs {first.name}{more}{belongs}; "
        f"{'the loader finds none' if first.fate is Fate.NOT_THERE else first.why}",
        saw(f"needs {first.name}, {len(first.searched)} folders searched", Source("file", first.needed_by)),
        trees.saw_loaded(shim),
        *(trees.saw_lost(copy) for copy in _copies(case, first)[:2]),
    )


def _no_zlib(case: Case, missing: MissingLibrary, shim: LoadedLibrary) -> Finding:
    """cuDNN 8.3 to 8.9 on Windows opens zlib's DLL at a convolution, and ends the process without it."""
    version = trees.short(value_or(shim.version, ""))
    lacks = f"none of the {len(missing.searched)} folders of the DLL search holds it"
    if missing.refused:
        lacks = f"the one that is found, {missing.refused}, cannot be loaded ({missing.why})"
    return strong(
        f"{needs.named(case)} loads cuDNN {version}, which opens {ZLIB_DLL} by name at a convolution; {lacks}, and "
        "cuDNN then ends the program",
        trees.saw_loaded(shim),
        saw(f"opens {ZLIB_DLL}, {len(missing.searched)} folders searched", Source("file", missing.needed_by)),
        know("cuDNN 8.3 to 8.9 for Windows needs it", ZLIB),
    )


def _of_another_wheel(case: Case, shim: LoadedLibrary) -> Finding | None:
    """The wheel's cuDNN is of another CUDA than the framework, and the cuBLAS that it opens by name is not here."""
    wheel = _other_wheel(case, shim)
    if not wheel:
        return None
    library = f"libcublasLt.so.{wheel}"
    return strong(
        f"{needs.named(case)} is built for CUDA {_own(case)} and loads the cuDNN of nvidia-cudnn-cu{wheel}: it opens "
        f"{library} at its first use; there is none",
        trees.saw_loaded(shim),
        saw(value_or(shim.owner, ""), Source("file", shim.path)),
    )


def _other_wheel(case: Case, shim: LoadedLibrary) -> int | None:
    """The CUDA of the wheel that cuDNN comes from, where it is not the framework's and nothing of that CUDA is here."""
    named, own = re.match(r"nvidia-cudnn-cu(\d+) ", value_or(shim.owner, "")), _own(case)
    wheel = int(named[1]) if named else None
    if wheel is None or own is None or wheel == own or f"nvidia-cudnn-cu{own}" in case.facts.target.releases:
        return None
    copies = case.facts.libraries.copies.need() or ()
    return None if any(copy.name == f"libcublasLt.so.{wheel}" for copy in copies) else wheel


def _own(case: Case) -> int | None:
    """The CUDA major that the framework is built for."""
    return next(iter(numbers(value_or(needs.the(case).built_for_cuda, ""))), None)


def _gone(case: Case, tree: LoadTree) -> list[MissingLibrary]:
    """Each once; what the framework itself misses too is told there."""
    told = {need.name for need in needs.required(case, needs.anything) if not isinstance(need.found, Known)}
    gone = [m for m in tree.missing if is_cudnn(needs.base_name(m.needed_by))]
    unique = {m.name: m for m in reversed(gone) if not m.name.startswith(needs.DRIVERS) and not is_cudnn(m.name)}
    return [m for m in reversed(unique.values()) if m.name not in told]


def _foreign(case: Case, missing: MissingLibrary) -> bool:
    """Whether this cuDNN was made for another CUDA major than the framework."""
    theirs, own = numbers(cuda_of(missing.name))[:1], numbers(value_or(needs.the(case).built_for_cuda, ""))[:1]
    return bool(theirs and own and theirs != own)


def _copies(case: Case, missing: MissingLibrary) -> list[LibraryCopy]:
    return [c for c in value_or(case.facts.libraries.copies, ()) if c.name == missing.name]


def fixes(case: Case) -> tuple[Fix, ...]:
    """Point to the copy that is there, or install the library's package; a foreign cuDNN is replaced."""
    tree = trees.of_gpu(case)
    assert isinstance(tree, LoadTree)
    gone, shim = _gone(case, tree), trees.shim(tree)
    major = _own(case)
    if shim and not gone and major is not None:
        return (_made_for(case, shim, major),)
    if gone[0].name == ZLIB_DLL and shim:
        if gone[0].refused:
            wrong = f"{windows_path(gone[0].refused)}, which cannot be loaded ({gone[0].why})"
            return (Fix(f"Put the 64-bit {ZLIB_DLL} (the cuDNN guide links zlib123dllx64.zip) in place of {wrong}"),)
        beside = windows_path(shim.path.rpartition("/")[0])
        return (Fix(f"Put {ZLIB_DLL} (64 bit; the cuDNN guide links zlib123dllx64.zip) into {beside}"),)
    if shim and major is not None and _foreign(case, gone[0]):
        return (*trees.let_win(case, shim, ""), _made_for(case, shim, major))
    return _found_or_brought(case, gone, major) or (Fix(f"Install {gone[0].name}, and have the loader find it"),)


def _found_or_brought(case: Case, gone: Sequence[MissingLibrary], major: int | None) -> tuple[Fix, ...]:
    there = [copy for one in gone for copy in trees.healthy(_copies(case, one))[:1]]
    names = {copy.name for copy in there}
    lost = [one.name for one in gone if one.name not in names]
    return (*_led_to(case, there), *_brought(case, lost, major))


def _made_for(case: Case, shim: LoadedLibrary, major: int) -> Fix:
    wheel, other = of_that_name(shim.name, major), _other_wheel(case, shim)
    text, gone = f"Install the cuDNN made for CUDA {major}", (f"nvidia-cudnn-cu{other}",) if other else ()
    return change(case.facts, text, wheel, because_of=needs.the(case).distribution, removing=gone)


def _led_to(case: Case, there: list[LibraryCopy]) -> Iterator[Fix]:
    """Copies that lie outside the search."""
    if there:
        folders = list(dict.fromkeys(copy.path.rpartition("/")[0] for copy in there))
        yield structs.replace(needs.export(case, folders), role="part")


def _brought(case: Case, lost: list[str], major: int | None) -> Iterator[Fix]:
    """What holds the libraries that are nowhere."""
    wheels = list(filter(None, (wheel_of(name, major) for name in lost)))
    if wheels:
        of, text = needs.the(case).distribution, "Install the wheels that hold them"
        yield change(case.facts, text, *dict.fromkeys(wheels), because_of=of, role="part")
    if "libz.so.1" in lost:
        yield Fix(
            "Install zlib from the system's packages", on.linux("sudo apt install zlib1g"), root=True, role="part"
        )


CAUSE = Cause(
    id="cudnn.dependency_missing",
    title="a library that cuDNN itself needs is not found",
    signs=(its_need_is_missing,),
    fixes=fixes,
    scope="framework",
    effect="{subject} cannot use cuDNN",
)
