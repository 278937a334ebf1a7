"""The catalogue: linear-time expressions, honest anchors, and every name that tables and generations know."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from gpuwhy.knowledge.codes import table
from gpuwhy.rooms.text.libraries import kind_of
from gpuwhy.rooms.text.rooms import clues, rooms
from gpuwhy.symptoms.catalogue import signatures
from gpuwhy.symptoms.link import ENDINGS
from gpuwhy.symptoms.raised import IDS as RAISED
from gpuwhy.symptoms.reader import read_text
from gpuwhy.symptoms.refusal import IDS as REFUSED
from gpuwhy.symptoms.remarks import IDS as REMARKS

if sys.version_info >= (3, 11):
    import re._parser as sre
else:
    import sre_parse as sre

EXAMPLES = json.loads((Path(__file__).parent / "examples.json").read_text(encoding="utf-8"))
IDS = [s.id for s in signatures()]


def found(text: str) -> list[str]:
    return [s.signature for s in read_text(text).symptoms]


def test_anchors_are_lower_case_and_there():
    assert [s.id for s in signatures() if not s.anchors] == []
    assert [s.id for s in signatures() for a in s.anchors if a != a.lower() or len(a) < 2] == []


def _unbounded(node, inside=False):
    """Whether a repeat without end stands inside another: what makes a search explode."""
    for op, value in node:
        name = str(op)
        endless = name in ("MAX_REPEAT", "MIN_REPEAT") and value[1] is sre.MAXREPEAT
        if endless and inside:
            return True
        parts = {"MAX_REPEAT": [2], "MIN_REPEAT": [2], "SUBPATTERN": [3]}.get(name, [])
        inner = [value[n] for n in parts] if parts else value[1] if name == "BRANCH" else []
        if any(_unbounded(part, inside or endless) for part in inner):
            return True
    return False


def _linear(pattern: str) -> bool:
    simple = pattern.replace(r"(?:\.\d+)*", "")  # a dot cannot be a digit: this one is linear
    simple = re.sub(r"\(\?:\\\.\\d\+\)\*?", "", simple)
    return not _unbounded(sre.parse(simple))


def test_no_repeat_inside_a_repeat():
    assert not _linear("(?:a+b?)+"), "the check sees one"
    assert [one.id for one in signatures() if not _linear(one.pattern)] == []


def test_clues_speak_of_signatures_that_exist():
    words = {f"cuda.{r.slug}" for r in table().cuda}
    words |= {f"{library}.{slug}" for library, rows in table().libraries.items() for slug in rows}
    known = {*IDS, *words, *ENDINGS, *RAISED, *REFUSED, *REMARKS}
    unknown = [
        c.signature
        for c in clues()
        if c.signature not in known and not (c.signature[-1] in "._" and any(k.startswith(c.signature) for k in known))
    ]
    assert unknown == []


def test_clue_sentences_use_fields_that_the_signature_has():
    groups: dict[str, set[str]] = {}
    for one in signatures():
        names = {re.sub(r"\d+$", "", n) for n in re.compile(one.pattern).groupindex}
        groups.setdefault(one.id, set()).update(names)
    wrong = []
    for clue in clues():
        asked = set(re.findall(r"\{(\w+)\}", clue.text))
        have = groups.get(clue.signature)
        if have is not None and not asked <= have | {"code"}:
            wrong.append((clue.signature, clue.text, asked - have))
    assert wrong == []


def test_examples():
    rows = [(name, line) for name, lines in EXAMPLES["is"].items() for line in lines]
    assert [(name, line) for name, line in rows if name not in found(line)] == []


def test_near_misses():
    rows = [(speaker, line) for speaker, lines in EXAMPLES["is not"].items() for line in lines]
    assert [(who, line) for who, line in rows if any(one.startswith(who) for one in found(line))] == []


def test_every_speaker_has_an_example_and_a_near_miss():
    """One that a single room knows has them there: tests/rooms/test_rooms.py."""
    in_rooms = {one.id for room in rooms().values() for one in room.signatures}
    speakers = {s.speaker for s in signatures() if s.id not in in_rooms}
    assert speakers <= {name.split(".")[0] for name in EXAMPLES["is"]}
    assert speakers <= {name.rstrip(".") for name in EXAMPLES["is not"]}


def test_success_is_no_error():
    assert [
        f for f in found("CUDNN_STATUS_SUCCESS\ncudaSuccess\nNVML_SUCCESS\nCUBLAS_STATUS_SUCCESS\n") if "." in f
    ] == []


# What TensorFlow of each generation opens by name (dso_loader and the libraries it was linked with).
OPENED = {
    "cuda": [
        *(f"libcudart.so.{v}" for v in ("7.5", "8.0", "9.0", "10.0", "10.1", "11.0", "12")),
        *(f"libcublas.so.{v}" for v in ("8.0", "9.0", "10.0", "10", "11", "12")),
        *(f"libcublasLt.so.{v}" for v in ("10", "11", "12")),
        *(f"libcufft.so.{v}" for v in ("8.0", "9.0", "10.0", "10", "11")),
        *(f"libcurand.so.{v}" for v in ("8.0", "9.0", "10.0", "10")),
        *(f"libcusolver.so.{v}" for v in ("8.0", "9.0", "10.0", "10", "11")),
        *(f"libcusparse.so.{v}" for v in ("10.0", "10", "11", "12")),
        *(f"cudart64_{v}.dll" for v in ("80", "90", "100", "101", "110", "12")),
        *(f"{n}64_10.dll" for n in ("cublas", "cublasLt", "cufft", "curand", "cusolver", "cusparse")),
    ],
    "cudnn": [*(f"libcudnn.so.{v}" for v in range(5, 10)), *(f"cudnn64_{v}.dll" for v in range(6, 9))],
    "driver": ["libcuda.so.1", "nvcuda.dll", "libnvidia-ml.so.1"],
    "tensorrt": ["libnvinfer.so.5", "libnvinfer.so.7", "libnvinfer_plugin.so.8", "nvinfer.dll"],
}  # fmt: skip


@pytest.mark.parametrize("kind", OPENED)
def test_every_name_that_is_opened(kind):
    for name in OPENED[kind]:
        assert kind_of(name) == kind
        told = "not found" if name.endswith(".dll") else "cannot open shared object file: No such file or directory"
        reading = read_text(f"W dso_loader.cc:59] Could not load dynamic library '{name}'; dlerror: {name}: {told}")
        assert name in [s.get("library") for s in reading.symptoms], name
