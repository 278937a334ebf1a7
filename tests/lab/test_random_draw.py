"""The random lab draws the same from the same seed, from every operator, and settles the truth by the bare log."""

from __future__ import annotations

import random

import lab.random.driver
import lab.random.loads
import lab.random.others
import lab.random.settings
import lab.random.wrong  # noqa: F401
from lab.random.draw import OPERATORS, Draw, Machine, draw
from lab.random.files import layer
from lab.random.programs import CPP, PROGRAMS
from lab.random_faults import cut, report_of

SITE = "/env/lib/python3.12/site-packages"
LIBRARIES = (
    "nvidia/cudnn/lib/libcudnn.so.9",
    "nvidia/cu13/lib/libcublas.so.13",
    "torch/lib/libc10.so",
    "numpy/_core/m.so",
    "libz.so.1",
)
MACHINE = Machine(
    "/env/bin/python",
    SITE,
    "/usr/local/cuda-13.0",
    "/usr/lib/driver",
    {name: tuple(f"{SITE}/{file}" for file in LIBRARIES) for name in (*PROGRAMS, *CPP)},
    dict.fromkeys((*PROGRAMS, *CPP), "RESULT cuda"),
)


def drawn(seed: int, names: list[str], count: int) -> list[Draw | None]:
    rng = random.Random(seed)
    return [draw(rng, MACHINE, names) for _ in range(count)]


def test_the_same_seed_draws_the_same() -> None:
    names = sorted(OPERATORS)
    assert drawn(7, names, 60) == drawn(7, names, 60)
    assert drawn(7, names, 60) != drawn(8, names, 60)


def test_every_operator_draws_under_its_own_name() -> None:
    for name in OPERATORS:
        one = next(d for d in drawn(1, [name], 20) if d)
        assert one.operator == name
        assert "." in one.cause
        assert one.cause not in one.also


def test_both_parts_have_operators() -> None:
    parts = [part for part, _ in OPERATORS.values()]
    assert min(parts.count("tune"), parts.count("judge")) > 10


def test_the_bare_log_settles_the_truth() -> None:
    one = Draw("o", "t", "p", "cudnn.missing", ("install.corrupted",), refine=((r"cannot open", "install.corrupted"),))
    assert one.judged_by("x: cannot open").cause == "install.corrupted"
    assert one.judged_by("x: cannot open").also == ("cudnn.missing",)
    assert one.judged_by("something else") == one


def test_files_belong_to_layers() -> None:
    assert [layer(f"{SITE}/{file}") for file in LIBRARIES] == ["cudnn", "cuda", "framework", "other", "other"]


def test_the_report_is_found_after_the_programs_own_output() -> None:
    text = 'noise\n{\n "status": "broken",\n "causes": [{"id": "a.b", "confidence": 0.9}]\n}\nkept in /x\n'
    assert report_of(text)["causes"][0]["id"] == "a.b"
    assert report_of("nothing") == {}


def test_long_outputs_keep_both_ends() -> None:
    text = cut("a" * 50_000 + "z" * 50_000)
    assert text[0] == "a"
    assert text[-1] == "z"
    assert len(text) < 20_000


def test_every_program_of_part_eighth_is_python() -> None:
    names = [name for name, (part, _) in OPERATORS.items() if part == "eighth"]
    for one in (d for d in drawn(3, names, 400) if d and not d.program.startswith("cpp")):
        for text in (one.code, one.files.get("job.py", "")):
            compile(text, one.target, "exec")
            assert "@D@" not in text


def test_a_draw_that_ends_otherwise_than_built_is_void() -> None:
    one = Draw("o", "t", "p", "program.shape", void="NameError", expect="mat1")
    assert one.slipped("AttributeError: no such call")
    assert not one.slipped("mat1 and mat2")
    assert Draw("o", "t", "p", "program.shape", void="NameError").slipped("NameError: x")
    assert not Draw("o", "t", "p", "program.shape").slipped("NameError: x")
