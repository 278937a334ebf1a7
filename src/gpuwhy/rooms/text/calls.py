"""Calls: the clues by a status and the call that returned it, for every room, out of `knowledge/calls.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from gpuwhy.knowledge.calls import MEANINGS, Meaning, call_in, family_of, of_its_own
from gpuwhy.model.ending import USER
from gpuwhy.model.symptom import Clue, Condition, Reading, Symptom

OWN = 4.4
"""What the table says of a call that the program or a thin binding makes; inside a framework the rooms' rows decide."""
_WITHIN = re.compile(
    r"\b(?:torch|pytorch|tensorflow|jax|jaxlib|onnxruntime|paddle|mxnet|tensorrt|vllm|ggml|llama|xgboost|lightgbm|catboost|cudf|cuml"
    r"|gromacs|lammps|namd|openmm|blender|ffmpeg|keras|caffe|darknet)\w*|\b(?:aten|c10|at::)|when calling `|\b(?:candle|cubecl|mistralrs)\w*|\) when loading \w",
    re.IGNORECASE,
)
"""Frameworks and programs that make such calls on their own account."""
_FOLDER = re.compile(
    r"(?<![^\s\"'()])[^\s\"'()]*[\\/](?:(?:site|dist)-packages[\\/]|bin[\\/]|lib(?:64)?[\\/]python\d)|/home/\S*|~/\S*"
)
"""Where an environment or a user's files lie: its folders may be called after a framework that has no part."""
_COMPILES = re.compile(r"\b(?:cupy|numba)", re.IGNORECASE)
"""Bindings that hand code of their own to the compiler."""
_FRAME = re.compile(
    r"cupy_backends\.cuda\.(?:api\.(?P<api>runtime|driver)|libs\.(?P<library>\w+))\.(?P<name>(?!check_status)[a-zA-Z]\w+)$"
)

_PASTED = re.compile(r", in (cupy_backends\.[\w.]+)")


def called(s: Symptom, r: Reading) -> str:
    """The call that returned a status: by its line, by what the program says of its end, or by the frame that raised it."""
    return call_in(s.get("call")) or call_in(s.text) or (_in_frames(r) if s.within(r.ending) else "")


def _in_frames(r: Reading) -> str:
    for frame in reversed(r.ending.stack[-3:]):
        if found := _FRAME.search(frame.function):
            return _spelt(found)
    pasted = _PASTED.findall(r.ending.message)
    found = _FRAME.search(pasted[-1]) if pasted else None
    return _spelt(found) if found else ""


def _spelt(found: re.Match[str]) -> str:
    """The call that a function of CuPy's bindings stands for."""
    prefix = found["library"] or {"runtime": "cuda", "driver": "cu"}[found["api"]]
    return f"{prefix}{found['name'][0].upper()}{found['name'][1:]}"


def _answers(meaning: Meaning) -> Condition:
    def fits(s: Symptom, r: Reading) -> bool:
        if _others_call(s, r) or (meaning.api == "nvrtc" and _COMPILES.search(r.excerpt)):
            return False
        call = called(s, r)
        if not call:
            return not meaning.families
        family = family_of(call)
        if not meaning.families:
            return family not in of_its_own(meaning.api, meaning.status)
        return family in meaning.families

    return fits


def _others_call(s: Symptom, r: Reading) -> bool:
    """Whether a framework may have made the call; what the program's own code raises and names by its call it made."""
    frame = r.ending.frame
    own = frame is not None and s.within(r.ending) and frame.owner == USER and frame.code.startswith("raise ")
    return _within(s.text if own and call_in(s.text) else r.excerpt)


def by_program(s: Symptom, r: Reading) -> bool:
    """Whether the program itself made the call that returned a status."""
    return bool(called(s, r)) and not _others_call(s, r)


_COMPILED = re.compile(r"\.cu(?:h|pp)?[(:]\d+|\bnvcc\b|\bg\+\+ |\ba\.out\b")
_PYTHONS = re.compile(r"\bpython|Traceback|\.py\b", re.IGNORECASE)


def own_program(s: Symptom, r: Reading) -> bool:
    """Whether a program that was compiled there crashed, in a text in which no framework and no Python has a part."""
    return bool(_COMPILED.search(r.excerpt)) and not (_PYTHONS.search(r.excerpt) or _within(r.excerpt))


@lru_cache(maxsize=8)
def _within(excerpt: str) -> bool:
    """Whether a framework or a program that makes such calls on its own account has a part in a text."""
    return bool(_WITHIN.search(_FOLDER.sub("", excerpt)))


def by_call(cause: str) -> Iterator[Clue]:
    """The clues of the table for one cause."""
    for one in MEANINGS:
        if one.cause == cause:
            yield Clue(cause, f"{one.api}.{one.status}", OWN, one.text.replace("{call} ", "the call "), _answers(one))
