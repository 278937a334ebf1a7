"""Settings: what the readers of a variable make of its value.

Rules are authored, each judged by running the reader or by its documentation, or hold for a type
that the harvested sources show, for readers that are known to stop at a value of another type.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import msgspec

from gpuwhy.facts.variables import Fault
from gpuwhy.knowledge import values, xla_flags
from gpuwhy.knowledge.readings import FAMILIES, Reader, families, known_names, readers, source
from gpuwhy.knowledge.tables import load, rows
from gpuwhy.knowledge.values import Judge, Rule, Wrong

TITLES = {
    "torch": "PyTorch",
    "jax": "JAX",
    "tensorflow": "TensorFlow",
    "numba": "Numba",
    "cupy": "CuPy",
    "triton": "Triton",
    "onnxruntime": "ONNX Runtime",
    "keras": "Keras",
}
ANYTHING: Mapping[str, str] = dict.fromkeys(TITLES, "")
"""What to judge by where nobody knows what is installed: every framework, of no known release."""
_OWN = re.compile(r"\d+$|_(?:ORIG|OLD|BACKUP|SAVED|PREV|DEFAULT|NEW|TMP|TEST)$")
_LEAST = 8
"""Shorter names are near to too many others to be a slip of one."""
_JUDGES: dict[str, Judge] = {
    "one_of": values.one_of,
    "truth": values.truth,
    "whole": values.whole,
    "real": values.real,
    "off": values.off,
    "pattern": values.pattern,
    "memory": values.memory,
    "allocator": values.allocator,
    "arch_list": values.arch_list,
    "platforms": values.platforms,
    "platform_name": values.platform_name,
    "xla_flags": xla_flags.judge,
}


@cache
def rules() -> dict[str, tuple[Rule, ...]]:
    """The rules of each variable."""
    out: dict[str, tuple[Rule, ...]] = {}
    for rule in rows("settings.jsonl", Rule):
        for name in rule.names:
            out[name] = (*out.get(name, ()), rule)
    return out


def faults(name: str, value: str, installed: Mapping[str, str]) -> tuple[Fault, ...]:
    """What the readers that are installed here (framework → release) make of a value."""
    if name in rules():
        return tuple(_ruled(name, value, installed))
    return tuple(_typed(name, value, installed)) or _slip(name, installed)


def _ruled(name: str, value: str, installed: Mapping[str, str]) -> Iterator[Fault]:
    for rule in rules()[name]:
        of = rule.framework
        if of and (of not in installed or _is_unread(name, of, installed[of])):
            continue
        wrong = _JUDGES[rule.judge](rule, value, installed.get(of, ""))
        if wrong is not None:
            yield _fault(rule.title or TITLES[of], wrong, (of,) if of else (), rule.source)


def _is_unread(name: str, framework: str, release: str) -> bool:
    """Whether a release is known not to read a variable that others of its family read."""
    mine = (one for one in readers(name) if FAMILIES.get(one.family) == framework)
    return {one.at(release) for one in mine} == {"0"}


def _typed(name: str, value: str, installed: Mapping[str, str]) -> Iterator[Fault]:
    for reader in readers(name):
        framework = FAMILIES.get(reader.family, "")
        if framework not in installed or not reader.like(installed[framework]):
            continue
        rule = _by_type(framework, reader)
        wrong = _JUDGES[rule.judge](rule, value, installed[framework]) if rule else None
        if wrong is not None:
            yield _fault(TITLES[framework], wrong, (framework,), source(reader))
            return


def _by_type(framework: str, reader: Reader) -> Rule | None:
    """JAX's enumerations are judged by their values."""
    if framework == "jax" and reader.type == "enum":
        return Rule((), "one_of", "", values=reader.values) if reader.values else None
    wanted = (framework, reader.type)
    typed = (rule for rule in rows("settings.jsonl", Rule) if rule.type)
    return next((rule for rule in typed if (rule.framework, rule.type) == wanted), None)


def _fault(who: str, wrong: Wrong, frameworks: tuple[str, ...], where: str) -> Fault:
    return Fault(wrong.kind, frameworks, f"{who} {wrong.text}", wrong.allowed, wrong.instead, where)


def _slip(name: str, installed: Mapping[str, str]) -> tuple[Fault, ...]:
    """A name that nobody reads and that is nearly one that somebody here reads."""
    if name in known_names() or name.startswith(FOREIGN) or name in _TABLE.names:
        return ()
    meant = misspelt(name, _candidates(frozenset(installed)).get(name.partition("_")[0], ()))
    if not meant:
        return ()
    whom = {FAMILIES.get(one.family, "") for one in readers(meant)} & set(installed)
    text = f"nobody reads {name}; {meant} is meant, perhaps"
    return (Fault("misspelt", tuple(sorted(whom)), text, (), meant, "the harvested names"),)


@cache
def _candidates(installed: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """The names that somebody here reads, by their first word."""
    read = (name for name in known_names() if families(name) & installed)
    out: dict[str, list[str]] = {}
    for name in sorted({*rules(), "CUDA_VISIBLE_DEVICES", *read}):
        out.setdefault(name.partition("_")[0], []).append(name)
    return {first: tuple(names) for first, names in out.items()}


# ---------------------------------------------------------------- slips of the finger


def misspelt(name: str, known: Iterable[str]) -> str:
    """The known name that this one is a slip of; "" where it is of none or of several.

    One letter too many, too few, another, or two swapped; two slips in a name of 16 letters or
    more. Names that only add a number or a word like ORIG are somebody's own, and so is a name that
    differs in a whole short word.
    """
    if len(name) < _LEAST or _OWN.search(name):
        return ""
    most = 2 if len(name) >= 16 else 1
    alike = [one for one in known if abs(len(one) - len(name)) <= most]
    near = {one: slips for one in alike if (slips := distance(name, one, most)) <= most}
    best = [one for one, slips in near.items() if slips == min(near.values())]
    return best[0] if len(best) == 1 and _same_words(name, best[0]) else ""


def _same_words(left: str, right: str) -> bool:
    """Whether no short word differs: TF_GPU_X and TF_CPU_X are two names."""
    ours, theirs = left.split("_"), right.split("_")
    if ours[0] != theirs[0]:
        return False
    if len(ours) != len(theirs):
        return left.replace("_", "") == right.replace("_", "") or abs(len(ours) - len(theirs)) == 1
    differ = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    return all(min(len(a), len(b)) > 3 for a, b in differ)


def distance(left: str, right: str, most: int) -> int:
    """Letters added, left out, changed or swapped between two words; at most `most` + 1."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if older and i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, older[j - 2] + 1)
            row.append(best)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


class Table(msgspec.Struct, frozen=True):
    """steering.json."""

    names: frozenset[str]
    prefixes: tuple[str, ...]  # of many: TF_
    private: frozenset[str]  # their value may name hosts: only that they are set is kept
    foreign: tuple[str, ...]  # Terraform's, which only look like TensorFlow's
    written: frozenset[str]  # name a folder which programs write to
    container_folders: frozenset[str]  # on the search paths of NVIDIA's images, existing or not


_TABLE = load("steering.json", Table)
FOREIGN = _TABLE.foreign
WRITTEN = _TABLE.written
CONTAINER_FOLDERS = _TABLE.container_folders


def steers(name: str) -> bool:
    """Whether somebody of the GPU stack reads a variable of this name."""
    return name in _TABLE.names or name.startswith(_TABLE.prefixes)


def is_private(name: str) -> bool:
    """Whether its value may name hosts."""
    return name in _TABLE.private
