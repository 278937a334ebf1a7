"""cudnn.missing: the loader finds no copy of the cuDNN that the framework opens."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from gpuwhy.knowledge.libraries import stem
from gpuwhy.model.cause import Case, Cause, Finding, Fix, saw, strong
from gpuwhy.model.fact import Source, value_or
from gpuwhy.model.facts import Fate, LibraryCopy
from gpuwhy.model.version import numbers
from gpuwhy.rooms.shared import needs, trees
from gpuwhy.rooms.shared.commands import change, together
from gpuwhy.rooms.shared.hindered import taken_part
from gpuwhy.rooms.shared.lost import installing, pointing
from gpuwhy.rooms.shared.windows import on_windows


def nowhere(case: Case) -> Finding | None:
    """No cuDNN anywhere."""
    found = needs.lost(case, needs.is_cudnn, "nowhere")
    return needs.say_nowhere(case, found) if found else None


def displaced(case: Case) -> Finding | None:
    """A cuDNN in the framework's own environment, in a folder that the framework does not search."""
    found = needs.lost(case, needs.is_cudnn, "displaced")
    return needs.say_displaced(case, found) if found else None


def part_missing(case: Case) -> Finding | None:
    """libcudnn is found, and a part that it opens by itself is not: a copy that was not copied whole."""
    tree = trees.of(case)
    if isinstance(tree, Finding) or (shim := trees.shim(tree)) is None:
        return None
    deleted = {one.path.rpartition("/")[2] for one in value_or(case.facts.target.damage, ())}
    lost = [one for one in tree.missing if stem(one.name) in trees.ESSENTIAL and one.fate is Fate.NOT_THERE]
    gone = [one for one in lost if one.name not in deleted and not one.unlisted and not taken_part(case, one)]
    if not gone:
        return None
    more, other = f" and {len(gone) - 1} more parts" if len(gone) > 1 else "", _other_major(case, gone[0].name)
    instead = f", only cuDNN {value_or(other.version, '')} is here" if other else ""
    return strong(
        f"{needs.named(case)} loads {shim.path}, which opens {gone[0].name}{more} at the first use; none is found"
        f"{instead}",
        trees.saw_loaded(shim),
        *((needs.saw_copy(case, other.path),) if other else ()),
        saw(f"opens {gone[0].name}, {len(gone[0].searched)} folders searched", Source("file", gone[0].needed_by)),
    )


def _other_major(case: Case, name: str) -> LibraryCopy | None:
    """A cuDNN of another major, where its own is not there."""
    copies = [one for one in value_or(case.facts.libraries.copies, ()) if not one.fault and _SHIM.search(one.path)]
    major = name.rpartition(".")[2] if ".so." in name else ""
    others = [one for one in copies if major and not one.path.endswith(f".so.{major}")]
    return others[0] if others and len(others) == len(copies) else None


_SHIM = re.compile(r"/libcudnn\.so\.\d+$")


def all_found(case: Case) -> Finding | None:
    """What rules it out."""
    if part_missing(case):
        return None
    return needs.nothing_lost(case, needs.is_cudnn, "nowhere", "displaced")


def fixes(case: Case) -> tuple[Fix, ...]:
    """Point the loader at what is there; install what is not."""
    fix = together(pointing(case, needs.is_cudnn), installing(case, needs.is_cudnn))
    return (*needs.relinked(case, needs.is_cudnn), *(fix or _led_to_parts(case) or _whole(case)))


def _led_to_parts(case: Case) -> tuple[Fix, ...]:
    """The folder of the framework's own environment that holds every part, where there is one."""
    folder = _folder_of_parts(case)
    who, where = ("DLL search", "window") if on_windows(case.facts) else ("loader", "shell")
    text = f"Let the {who} look into the folder of its parts, in this {where}"
    return (structs.replace(needs.export(case, [folder]), text=text),) if folder else ()


def _folder_of_parts(case: Case) -> str:
    tree = trees.of(case)
    lost = (
        set() if isinstance(tree, Finding) else {one.name for one in tree.missing if stem(one.name) in trees.ESSENTIAL}
    )
    copies = [c for c in value_or(case.facts.libraries.copies, ()) if not c.fault and needs.at_home(case, c.path)]
    folders = dict.fromkeys(c.path.rpartition("/")[0] for c in copies if c.name in lost)
    whole = (folder for folder in folders if lost <= {c.name for c in copies if c.path.startswith(f"{folder}/")})
    return next(whole, "")


def _whole(case: Case) -> tuple[Fix, ...]:
    """All files of the cuDNN whose shim is loaded: from NVIDIA's wheel, in a folder that is searched, or as a whole."""
    files = "cudnn*.dll" if on_windows(case.facts) else "libcudnn*.so"
    by_hand = Fix(f"Install this cuDNN whole: every {files} file of one release, in one folder that is searched")
    tree = trees.of(case)
    shim = trees.shim(tree) if not isinstance(tree, Finding) else None
    number = re.search(r"(?:\.so\.|64_)(\d+)", shim.name) if shim else None
    cuda = numbers(value_or(needs.the(case).built_for_cuda, ""))
    if number is None or not cuda:
        return (by_hand,)
    wheel = f"nvidia-cudnn-cu{cuda[0]}=={number[1]}.*"
    site = needs.the(case).path.rpartition("/")[0]
    folder = f"{site}/nvidia/cudnn/{'bin' if on_windows(case.facts) else 'lib'}"
    text = f"Install cuDNN {number[1]} whole, for CUDA {cuda[0]}, as NVIDIA's wheel"
    return (
        structs.replace(change(case.facts, text, wheel, because_of=needs.the(case).distribution), role="part"),
        structs.replace(needs.export(case, [folder]), role="part"),
        *_older(case, number[1]),
        by_hand,
    )


def _older(case: Case, major: str) -> Iterator[Fix]:
    """CTranslate2 moved from cuDNN 8 to 9 with 4.5: the release before it goes with the cuDNN that is there."""
    copies = value_or(case.facts.libraries.copies, ())
    eight = any(re.search(r"libcudnn\.so\.8$|(?i:cudnn64_8\.dll)$", one.path) for one in copies)
    nine = any(re.search(r"libcudnn\.so\.9$|(?i:cudnn64_9\.dll)$", one.path) for one in copies)
    if needs.the(case).name == "ctranslate2" and major == "8" and nine:
        text = "Or go with the cuDNN 9 that is there: releases from 4.5 on are built for it"
        yield change(case.facts, text, "ctranslate2>=4.5", because_of="ctranslate2")
    if needs.the(case).name == "ctranslate2" and major == "9" and eight:
        text = "Or stay with the cuDNN 8 that is there: the release before 4.5 was built for it"
        yield change(case.facts, text, "ctranslate2<4.5", because_of="ctranslate2")


CAUSE = Cause(
    id="cudnn.missing",
    title="cuDNN is not found",
    signs=(nowhere, displaced, part_missing, all_found),
    fixes=fixes,
    scope="framework",
    effect="{subject} will not see the GPU",
)
