"""cuda.version_mismatch: the CUDA libraries that are installed are of another version than the framework's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from gpuwhy.knowledge.installs import brings_libraries, gpu_requirement
from gpuwhy.knowledge.sonames import cuda_of
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, proof, saw
from gpuwhy.model.fact import Known, Source, value_or
from gpuwhy.model.facts import Framework, LibraryCopy, NeededLibrary, Unfit, UnmetSymbol
from gpuwhy.model.version import major_minor, numbers
from gpuwhy.rooms.shared import needs, trees
from gpuwhy.rooms.shared.clash import clashes, say_unmet
from gpuwhy.rooms.shared.commands import change, python_of
from gpuwhy.rooms.shared.lost import installing
from gpuwhy.rooms.shared.windows import is_torch, shown, torch_again


def another_version(case: Case) -> Finding | None:
    """Only files of the same libraries with another SONAME."""
    found = needs.unfound(case, needs.is_cuda)
    return needs.say_other(case, found) if found and needs.outdated(case, needs.is_cuda) else None


def too_old_for_its_users(case: Case) -> Finding | None:
    """The only copy of a library lacks functions that another loaded library asks it for."""
    found = clashes(case, other_copy=False)
    if not found:
        return None
    said = say_unmet(case, found[0])
    return structs.replace(said, evidence=(*said.evidence, *(_saw_unfit(one) for one in _unfit(case, found))))


def _unfit(case: Case, found: Sequence[UnmetSymbol]) -> list[Unfit]:
    """The wheels of the libraries that do not fit each other, where the framework asks for another version of them."""
    files = {path for one in found for path in (one.provider, one.library)}
    copies = [c for c in value_or(case.facts.libraries.copies, ()) if files & c.paths]
    owners = {value_or(c.owner, "").split(" ")[0] for c in copies}
    asked = value_or(case.facts.target.unfit, ())
    return [one for one in asked if one.name in owners and one.by == needs.the(case).distribution]


def _saw_unfit(one: Unfit) -> Evidence:
    return saw(f"{one.by} {one.by_version} asks for {one.name}{one.wants}; installed: {one.installed}",
               Source("file", one.file))  # fmt: skip


_NUMBERED = re.compile(r"(?i)(?:cudart|cublas|cublasLt|nvrtc)64_(\d+)(?:_\d+)?\.dll$")
"""DLLs whose own release has the major number of their CUDA."""


def renamed(case: Case) -> Finding | None:
    """Windows: a DLL under the name that is asked for, whose resources say that it is of another CUDA."""
    for need, copy in _renamed(case):
        version = value_or(copy.version, "")
        return proof(
            f"{needs.named(case)} opens {need.name}, and the file of that name is {version}: it was renamed, and lacks "
            "functions or has others",
            saw(f"{need.name} {version}", Source("file", copy.path)),
        )
    return None


def _renamed(case: Case) -> Iterator[tuple[NeededLibrary, LibraryCopy]]:
    for need in needs.required(case, needs.is_cuda):
        asked = _NUMBERED.match(need.name)
        copy = needs.copy_at(case, need.found.value) if asked and isinstance(need.found, Known) else None
        has = numbers(value_or(copy.version, ""))[:1] if copy else ()
        if asked and copy and has and has[0] != _major(int(asked[1])):
            yield need, copy


def _major(number: int) -> int:
    """10 of cudart64_101 and cublas64_10, 11 of cudart64_110, 12 of cudart64_12."""
    return number // 10 if number >= 70 else number


def all_fit(case: Case) -> Finding | None:
    """What rules it out."""
    tree = trees.of(case)
    if isinstance(tree, Finding):
        return tree
    if needs.outdated(case, needs.is_cuda) or clashes(case, other_copy=False) or any(_renamed(case)):
        return None
    return needs.nothing_lost(case, needs.is_cuda, "other version") if not _only_few(case) else None


def _only_few(case: Case) -> bool:
    return any(needs.story(case, need) == "other version" for need in needs.required(case, needs.is_cuda))


def fixes(case: Case) -> tuple[Fix, ...]:
    """The libraries that this release was built for, or the release for the libraries that are there."""
    framework, out = needs.the(case), list(installing(case, needs.is_cuda))
    for need, copy in _renamed(case):
        built = major_minor(value_or(framework.built_for_cuda, ""))
        text = f"Delete it, and install CUDA {built} with NVIDIA's installer, which has the real {need.name}"
        out.append(Fix(f"{text}; then open a new window", on.cmd(f'del "{shown(copy.path)}"')))
    clashing = clashes(case, other_copy=False)
    exact = [f"{one.name}{one.wants}" for one in _unfit(case, clashing)]
    if exact:
        text = f"Install the version that {framework.distribution} {framework.version} asks for"
        out.append(change(case.facts, text, *exact, because_of=framework.distribution))
    if clashing and not exact and framework.name not in PIN_EXACTLY:
        out += _newer_provider(case, clashing)
    if clashing and brings_libraries(framework.name, framework.version):
        out.append(_pinned(case, framework))
    cuda = _cuda_there(case)
    if cuda:
        out.append(_other_build(case, framework, cuda))
    return tuple(out) or (Fix("Install the CUDA libraries that this release was built for"),)


PIN_EXACTLY = ("torch", "tensorflow")
"""Frameworks that name one release of each wheel: an installer that is asked for them brings it back."""


def _newer_provider(case: Case, found: Sequence[UnmetSymbol]) -> Iterator[Fix]:
    """What the metadata lets in and the library's users do not: a newer release of the wheel that lacks functions.

    Within one CUDA major NVIDIA's libraries only gain functions, so that the newest has what all others ask for.
    """
    lacking = {one.provider: one for one in found}
    copies = [c for c in value_or(case.facts.libraries.copies, ()) if c.paths & lacking.keys()]
    owned = [value_or(c.owner, "").split(" ")[:2] for c in copies]
    wheels = dict.fromkeys((name, version) for name, version in filter(lambda o: len(o) == 2, owned))
    wanted = [f"{name}>{version}" for name, version in wheels if name.startswith("nvidia-")]
    if wanted:
        names = " and ".join(name for name, _ in wheels)
        text = f"Install a newer {names}, which has what {needs.base_name(found[0].library)} asks for"
        yield change(case.facts, text, *wanted, because_of=needs.the(case).distribution)


def _other_build(case: Case, framework: Framework, cuda: str) -> Fix:
    """The build for the CUDA that is there; CuPy has one package for each."""
    text = f"Or install a release of {framework.title} that is built for CUDA {cuda}"
    named = re.fullmatch(r"cupy-cuda\d+x", framework.distribution)
    if not named or not numbers(cuda) or numbers(cuda)[0] < 11:
        return Fix(text, safe=True)
    return change(case.facts, text, f"cupy-cuda{numbers(cuda)[0]}x", removing=(framework.distribution,))


def _pinned(case: Case, framework: Framework) -> Fix:
    """The release again, with the libraries that it pins."""
    if is_torch(case.facts, framework):
        return torch_again(framework)
    major = next(iter(numbers(value_or(framework.built_for_cuda, ""))), None)
    name, package = framework.name, framework.distribution
    wanted = gpu_requirement(name, package, framework.version, major, python_of(case.facts))
    return change(case.facts, "Install the libraries that this release pins", wanted, because_of=package)


def _cuda_there(case: Case) -> str:
    """The CUDA of the copies that are there under other names."""
    found = [path for need in needs.unfound(case, needs.is_cuda) for path in need.other_versions]
    return next(filter(None, (cuda_of(needs.base_name(path)) for path in found)), "")


CAUSE = Cause(
    id="cuda.version_mismatch",
    title="the installed CUDA version is not the one that the framework was built for",
    signs=(another_version, renamed, too_old_for_its_users, all_fit),
    fixes=fixes,
    scope="framework",
    effect="{subject} will not see the GPU",
)
