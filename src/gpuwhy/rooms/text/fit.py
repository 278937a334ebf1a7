"""Fit: of all remedies of an answer, whosever they are, those first whose premises the text meets.

`premises` leaves out what a text contradicts outright; here the rest is put in order, after the gate has written it in the words of the place:
a remedy takes for granted a tool that installs, a tool that starts containers, a batch system, a program. Where the text shows another one of the
same kind, it goes last. Of two that install the same, the one that stays with the release that is there goes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec
from msgspec import structs

from gpuwhy.model.cause import Fix
from gpuwhy.model.report import Shown
from gpuwhy.model.steps import in_steps
from gpuwhy.model.symptom import Reading
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.asked import Asked, asked
from gpuwhy.rooms.text.boxes import box_of
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.set_inside import launched_by
from gpuwhy.rooms.text.shown import CONDA, PLAIN_PYTHON, typed_inside
from gpuwhy.rooms.text.where import told_release

Steps = list[Fix]


class Need(msgspec.Struct, frozen=True):
    """What a remedy takes for granted: by which words of it, whether the text shows it, and of which kind it is."""

    kind: str
    taken: Later
    seen: Callable[[Asked], bool]


def best_first(causes: Iterable[Shown], reading: Reading) -> tuple[Shown, ...]:
    """The causes, the remedies of each in the order of how well they fit what the text tells."""
    case = asked((), reading)
    return tuple(structs.replace(one, fixes=ranked(one.fixes, case)) for one in causes)


def ranked(fixes: Sequence[Fix], case: Asked) -> tuple[Fix, ...]:
    """The remedies that fit first, each with its steps; and of those that install the same the exact one."""
    ways = list(in_steps(fixes))
    own = sorted((way for way in ways if not way[0].of), key=lambda way: way[0].role != "look" and unmet(way[0], case))
    own = _exact_first(own, case)
    for at, way in enumerate(ways):
        if way[0].of:  # another cause's stays where it was: it is no better for what ours lack
            own.insert(at, way)
    return tuple(fix for way in own for fix in way)


def unmet(fix: Fix, case: Asked) -> int:
    """How far a remedy is from what the text shows: 0 where it takes nothing for granted that is not there."""
    taken = [need for need in _NEEDS if need.taken.search(f"{fix.text}\n{fix.command}")]
    return max((_distance(need, case) for need in taken), default=0)


def _distance(need: Need, case: Asked) -> int:
    """1: nothing tells of it; 2: the text shows another of its kind in its place."""
    if need.seen(case):
        return 0
    others = (one for one in _NEEDS if one.kind == need.kind and one is not need)
    if any(one.seen(case) for one in others) or (need.kind == "installer" and PLAIN_PYTHON.search(case.text)):
        return 2
    return int(need.kind in _LABELLED or (need.kind == "installer" and _by_installers(case)))


_LABELLED = frozenset({"container", "batch"})
"""Kinds that a remedy names as its own case: where nothing tells of it, it is nobody's here. Of the others each may be there untold."""


def _by_installers(case: Asked) -> bool:
    """TensorFlow on Windows takes what NVIDIA's installers bring, and needs no conda."""
    return case.windows and case.framework == "tensorflow"


def _exact_first(ways: list[Steps], case: Asked) -> list[Steps]:
    """Of ways that install the same packages, the one that stays with the release that is there takes the place of the first."""
    made = [_installed(way) for way in ways]
    for at, mine in enumerate(made):
        after = (n for n in range(at + 1, len(ways)) if made[n].keys() == mine.keys())
        other = next((n for n in after if _stays(made[n], case) and not _stays(mine, case)), 0)
        if mine and other and ways[at][0].role != "look":
            ways[at], ways[other] = ways[other], ways[at]
            made[at], made[other] = made[other], made[at]
    return ways


_INSTALLS = re.compile(r"(?:pip3?|conda|mamba|micromamba) install\b(?P<words>[^\n&|;#]*)")
_PACKAGE = re.compile(r"(?<![\w./:=-])[\"']?(?P<name>[A-Za-z][\w.+-]*(?:\[[\w,-]+\])?)(?P<pin>(?:[=<>!~][^\s\"']*)?)[\"']?(?=\s|$)")  # fmt: skip
_ASIDE = frozenset({"conda-forge", "nvidia", "defaults", "anaconda", "uv", "pip", "torchvision", "torchaudio"})
_WHOLE = re.compile(r"={1,2}(\d[\d.]*)(?:\+\w+)?$")


def _installed(way: Steps) -> dict[str, str]:
    """The packages that a way installs, with their pins; companions and channels are left out."""
    found = (one for fix in way for one in _INSTALLS.finditer(fix.command))
    pairs = {one["name"].lower(): one["pin"] for words in found for one in _PACKAGE.finditer(words["words"])}
    return {name: pin for name, pin in pairs.items() if name not in _ASIDE}


def _stays(packages: dict[str, str], case: Asked) -> bool:
    """Whether each package is named by a whole release, of the same series as the one that the text tells."""
    for name, pin in packages.items():
        whole, told = _WHOLE.match(pin), told_release(case.reading, name.partition("[")[0])
        if not whole or not told or numbers(whole[1])[:2] != numbers(told)[:2]:
            return False
    return True


_DOCKER = Later(r"\bdocker(?:\.exe)? (?:container )?(?:run|create|exec|start|restart|logs|ps)\b|^docker: |\bnvidia-docker\b", re.MULTILINE)  # fmt: skip
_COMPOSE = Later(r"docker[ -]compose|compose\.ya?ml|^\s*(?:reservations|services):\s*$", re.IGNORECASE | re.MULTILINE)
_CLUSTER = Later(r"slurm|\bsbatch\b|\bsrun\b|\bsalloc\b|#SBATCH|\bqsub\b|\bbsub\b|\bHPC\b|\bmodule (?:load|avail)\b|@(?:login|head|submit)[\w-]*[ :\]]", re.IGNORECASE)  # fmt: skip
_RUNNER = Later(r"actions/|\bGITHUB_|##\[(?:error|group)\]|runs-on:|/home/runner/|/__w/|/github/", re.IGNORECASE)
_NV = Later(r"\bnv files\b|(?<!\w)--nv\b")
_PODS = frozenset({"kubernetes", "plugin", "containerd"})
_INSIDE = frozenset({"container", "image", "docker", "compose", "podman", "singularity", *_PODS})


def _composed(case: Asked) -> bool:
    return "compose" in case.tools or bool(_COMPOSE.search(case.text)) or launched_by(case) == "compose"


_RUN = Later(r"\bdocker(?:\.exe)? (?:container )?(?:run|create)\b|^docker: |\bnvidia-docker\b", re.MULTILINE)
_OTHER_BOXES = frozenset({"podman", "singularity", *_PODS})


def _run_by_docker(case: Asked) -> bool:
    """Whether somebody typed `docker run`; or a container is all that is told."""
    other = _composed(case) or bool(case.tools & _OTHER_BOXES) or box_of(case) == "lxc"
    return bool(_RUN.search(case.text)) or (_in_a_box(case) and not other)


def _in_a_box(case: Asked) -> bool:
    return bool(case.tools & _INSIDE) or typed_inside(case.text) or bool(box_of(case) or launched_by(case) or _DOCKER.search(case.text))  # fmt: skip


_NEEDS = (
    Need("installer", Later(r"^(?:CONDA_\w+=\S+ )?(?:conda|mamba|micromamba) (?:install|create|remove|update|run"
                            r"|clean)\b", re.MULTILINE), lambda case: bool(CONDA.search(case.text))),
    Need("launcher", Later(r"\bdocker compose\b|compose\.ya?ml|^Compose\b|^deploy: \{|^services:|^environment: [\[{]|^shm_size:", re.MULTILINE), _composed),
    Need("launcher", Later(r"^(?:sudo )?docker run (?![^\n]*(?:\bubuntu nvidia-smi|nvcr\.io/|nvidia/cuda:|dustynv/|--runtime nvidia))", re.MULTILINE), _run_by_docker),
    Need("launcher", Later(r"\bkubectl\b|\bDaemonSet\b|\bin the manifest\b|runtimeClassName|^env: \[|^Kubernetes\b"
                           r"|\bhelm (?:install|upgrade)\b|device plug-in", re.MULTILINE), lambda case: bool(case.tools & _PODS)),
    Need("launcher", Later(r"^(?:sudo )?podman ", re.MULTILINE), lambda case: "podman" in case.tools),
    Need("launcher", Later(r"^(?:singularity|apptainer) ", re.MULTILINE), lambda case: "singularity" in case.tools or bool(_NV.search(case.text))),
    Need("launcher", Later(r"^(?:lxc|incus|pct) |^(?:In )?LXD\b", re.MULTILINE), lambda case: box_of(case) == "lxc"),
    Need("launcher", Later(r"^runs-on:|^GitHub Actions\b", re.MULTILINE), lambda case: bool(_RUNNER.search(case.text))),
    Need("container", Later(r"^(?:Or )?[Ii]n a (?:container|Dockerfile)\b|^(?:FROM|RUN|ENV) |^A container: ", re.MULTILINE), _in_a_box),
    Need("batch", Later(r"^(?:srun|sbatch|salloc) |#SBATCH|^Slurm: ", re.MULTILINE), lambda case: "slurm" in case.tools or bool(_CLUSTER.search(case.text))),
)  # fmt: skip
"""What remedies take for granted, and by what a text shows it."""
