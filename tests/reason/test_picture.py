"""The picture: which Python was looked at, and which framework a damaged file stops."""

from __future__ import annotations

from typing import Any

import msgspec

from gpuwhy.app import CAUSES
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Layer, Shown
from gpuwhy.reason.picture import picture, picture_here
from gpuwhy.reason.report import report
from tests.rooms.facts import base, change

SITE = "~/venv/lib/python3.12/site-packages"
NO_GPU: dict[str, Any] = {"devices.devices": {"known": []}, "devices.pci": {"known": []}}


def rows(changes: dict[str, Any]) -> dict[str, Layer]:
    plain = base("healthy")
    for path, value in changes.items():
        change(plain, path, value)
    facts = msgspec.convert(plain, type=Facts)
    return {row.name: row for row in report([c for c in CAUSES if c.asked(facts)], facts, 0.0).layers}


def damage(path: str, what: str = "missing") -> dict[str, Any]:
    one = {"path": f"{SITE}/{path}", "owner": "a-wheel 1.0", "what": what, "expected": "9 bytes", "actual": "0 bytes"}
    return {"target.damage": {"known": [one]}}


def lost(framework: str, name: str) -> dict[str, Any]:
    need = {
        "framework": framework, "name": name, "optional": False, "needed_by": f"{SITE}/torch/lib/libtorch_cuda.so",
        "found": {"absent": "loader search"}, "found_via": "", "searched": [], "elsewhere": [], "other_versions": [],
    }  # fmt: skip
    return {"loads.needs": {"known": [need]}}


def test_the_python_that_was_looked_at_is_a_row():
    python = rows({})["Python"]
    assert (python.mark, python.text, python.note) == ("ok", "3.12.3 · ~/venv", "by VIRTUAL_ENV")
    gone = rows({"target.interpreter.gone": "a link that leads nowhere"})["Python"]
    assert (gone.mark, gone.note) == ("bad", "a link that leads nowhere")


def test_a_library_that_pytorch_links_stops_it_without_a_gpu_too():
    found = rows({**NO_GPU, **damage("nvidia/cublas/lib/libcublas.so.12", "empty"), **lost("torch", "libcublas.so.12")})
    assert {name: found[name].mark for name in ("CUDA", "PyTorch")} == {"CUDA": "bad", "PyTorch": "bad"}


def test_without_damage_the_missing_library_is_told_of_the_import():
    found = rows({**NO_GPU, **lost("torch", "libcudnn.so.9")})
    assert "with a GPU" not in found["PyTorch"].note
    assert found["PyTorch"].mark == "bad"


def test_a_frameworks_own_file_is_not_cudas():
    found = rows({**NO_GPU, **damage("torch/lib/libtorch_cuda.so")})
    assert (found["PyTorch"].mark, found["PyTorch"].note) == ("bad", "install.corrupted")
    assert found["CUDA"].note == ""


def contradiction(by: str, name: str, how: str) -> dict[str, Any]:
    one = {"by": by, "by_version": "1.0", "name": name, "wants": "", "installed": "", "how": how, "file": ""}
    return {"target.contradictions": {"known": [one]}}


def facts_of(changes: dict[str, Any]) -> Facts:
    plain = base("healthy")
    for path, value in changes.items():
        change(plain, path, value)
    return msgspec.convert(plain, type=Facts)


def test_what_only_a_gpu_brings_to_light_hides_nothing_that_shows_here():
    """A fix that mends what a GPU would meet must not be said to have broken what was behind it."""
    facts = facts_of(NO_GPU | contradiction("torch", "setuptools", "late"))
    later = Shown("cuda.missing_library", "", 0.99, "PyTorch 2.11.0", (), (), (), False, with_gpu=True)
    told = msgspec.structs.replace(report([], facts, 0.0), causes=(later,), layers=picture(facts, [later]))
    assert {row.name: row.note for row in told.layers}["PyTorch"] == "cuda.missing_library"
    assert {row.name: row.note for row in picture_here(facts, told)}["PyTorch"] == (
        "its import fails: setuptools is not installed"
    )


def test_somebody_elses_contradiction_does_not_mark_what_lacks_something_late():
    cause = Shown("install.inconsistent", "", 0.99, "", (), (), (), False)
    marks = {}
    for how in ("late", "stated"):
        facts = facts_of(contradiction("torch", "setuptools", how))
        marks[how] = {row.name: row.cause for row in picture(facts, [cause])}["PyTorch"]
    assert marks == {"late": "", "stated": "install.inconsistent"}


def test_a_file_that_is_no_library_of_nvidias_marks_the_environment_and_not_cuda():
    found = rows(damage("zz_own.py", "module broken"))
    assert {name: found[name].mark for name in ("CUDA", "Python")} == {"CUDA": "none", "Python": "bad"}
