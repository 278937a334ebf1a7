"""What plan writes passes lint, and holds every library that its releases are known to open."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from packaging.requirements import Requirement

from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.releases import find, projects
from gpuwhy.knowledge.sonames import cuda_of
from gpuwhy.lint.linter import lint
from gpuwhy.model.plan import Machine, Proposal
from gpuwhy.model.release import Release
from gpuwhy.model.version import numbers
from tests.plan.grid import Cell, answered, cells, machine_of, proposed

PARTS = 8
DRIVER = ("libcuda.so.1", "libnvidia-ml.so.1")
_GRAFTED = re.compile(r"-[0-9a-f]{8}\.so")  # a copy inside the wheel, renamed by its makers
_PLATFORM = {"wsl": "linux"}


def sets(part: int) -> Iterator[tuple[Cell, Proposal]]:
    """The grid's proposals, a part of them."""
    for cell in list(cells())[part::PARTS]:
        found = proposed(answered(cell))
        if found is not None:
            yield cell, found


def judged_on(cell: Cell) -> Machine:
    """The machine of a cell; for the nearest set without the driver, and without the Windows, that it gives up."""
    conflict = answered(cell).conflict
    if conflict is None:
        return machine_of(cell)
    return machine_of(cell._replace(driver="", system="linux" if "WSL" in conflict.gives_up else cell.system))


@pytest.mark.parametrize("part", range(PARTS))
def test_lint_finds_nothing_in_what_plan_writes(part):
    """On the machine described; warnings count too."""
    found = []
    for cell, proposal in sets(part):
        files = {way.file: way.text for way in proposal.ways if way.file}
        assert {"requirements.txt", "constraints.txt", "pyproject.toml"} <= set(files)
        result = lint(files, files.get, judged_on(cell))
        found += [f"{cell.name}: {m.place.path}:{m.place.line} {m.rule} {m.text}" for m in result.mistakes]
        found += [f"{cell.name}: {p.place.path}:{p.place.line} {p.text}" for p in result.problems]
    assert found == []


def releases(cell: Cell, proposal: Proposal) -> Iterator[Release]:
    """The rows of everything in a set."""
    system = "linux" if "WSL" in (c.gives_up if (c := answered(cell).conflict) else "") else cell.system
    platform = f"{_PLATFORM.get(system, system)}-{cell.arch}"
    for one in (*proposal.choices, *proposal.libraries):
        if is_guest(one.package) and one.package not in projects():
            continue  # of a guest only the metadata is known
        names = [one.package]
        if one.package == "jax":
            major = numbers(one.cuda)[0]
            names = ["jaxlib", f"jax-cuda{major}-plugin", f"jax-cuda{major}-pjrt"]
        rows = [find(name, one.version, p) for name in names for p in (platform, "any", "source")]
        assert any(rows), f"{cell.name}: no row of {one.package} {one.version}"
        if not one.backend:  # what PyTorch's own index has, nobody read
            yield from (row for row in rows if row is not None)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_library_that_a_release_opens_is_in_the_set(part):
    lost, read = [], 0
    for cell, proposal in sets(part):
        rows = list(releases(cell, proposal))
        there = {name for row in rows if isinstance(row.ships, tuple) for name in row.ships}
        system = {part.name: part.version for part in proposal.system}
        for row in rows:
            opened = row.opens if isinstance(row.opens, tuple) and row.platform.startswith("linux") else ()
            read += bool(opened)
            outside = [n for n in opened if n not in there and n not in DRIVER and not carried(row, n)]
            lost += [f"{cell.name}: {row.name} {row.version} opens {n}" for n in outside if not in_system(n, system)]
    assert lost == []
    assert read > 5


def carried(row: Release, library: str) -> bool:
    """Whether a wheel holds a library itself: torch before 1.13 brings all of CUDA, its companions the runtime."""
    alone = row.name in ("torch", "torchvision", "torchaudio") and not row.requires
    return bool(_GRAFTED.search(library)) or alone


def in_system(library: str, system: dict[str, str]) -> bool:
    """Whether the CUDA or cuDNN that the system is said to need has a library of this name."""
    if library.startswith("libcudnn"):
        return numbers(system.get("cuDNN", ""))[:1] == numbers(library.split(".so.")[1])[:1]
    have, said = numbers(system.get("CUDA", "")), cuda_of(library)
    spans = [tuple(numbers(end) for end in span.split(" to ")) for span in said.split(" or ") if span]
    return bool(have) and any(span[0] <= have and have[: len(span[-1])] <= span[-1] for span in spans)


@pytest.mark.parametrize(
    "library, cuda, there",
    [
        ("libcusolver.so.10", "11.0", True),
        ("libcusolver.so.10", "11.2", False),
        ("libcudart.so.11.0", "11.8", True),
        ("libcudart.so.10.1", "11.0", False),
        ("libcufft.so.10", "12.2", False),
        ("libcublas.so.9.0", "9.0", True),
        ("libcublas.so.12", "", False),
    ],
)
def test_which_cuda_has_a_library(library, cuda, there):
    assert in_system(library, {"CUDA": cuda}) is there


@pytest.mark.parametrize("part", range(PARTS))
def test_every_wheel_that_a_release_demands_is_in_the_set(part):
    lost = []
    for cell, proposal in sets(part):
        rows = {row.name: row for row in releases(cell, proposal)}
        for row in rows.values():
            wanted = row.requires if isinstance(row.requires, dict) else {}
            if row.name == "cuda-toolkit" or not brings(row, proposal):
                continue  # its extras decide
            for text, spec in wanted.items():
                name = Requirement(text).name
                have = rows.get(name)
                if name in projects() and (
                    have is None or not Requirement(f"x{spec}").specifier.contains(have.version)
                ):
                    lost.append(f"{cell.name}: {row.name} {row.version} demands {text}{spec}")
    assert lost == []


def brings(row: Release, proposal: Proposal) -> bool:
    """Whether the set asks for a release's libraries as wheels: TensorFlow and ONNX Runtime do it by an extra."""
    if row.name in ("tensorflow", "tensorflow-gpu", "onnxruntime-gpu") or row.name.startswith("cupy-cuda"):
        return any(c.package == row.name and "[" in c.requirement for c in proposal.choices)
    return row.name != "triton"


def test_a_lost_folder_is_cured_where_its_release_is_asked_for():
    found = proposed(answered(Cell(("tensorflow==2.21.0",), "550", "RTX 3090")))
    assert found is not None
    (_, value), *_ = found.environment
    assert value.endswith("nvidia/cusolver/lib")
    assert any(c.package == "nvidia-cusolver-cu12" for c in found.libraries)
    texts = {way.file: way.text for way in found.ways if way.file}
    assert "works with LD_LIBRARY_PATH=" in texts["requirements.txt"]
    assert "ENV LD_LIBRARY_PATH=" in texts["Dockerfile"]


def test_a_build_of_another_index_is_pinned_so_that_no_other_is_taken():
    found = proposed(answered(Cell(("torch",), "470", "GTX 1080", "3.12")))
    assert found is not None
    texts = {way.file: way.text for way in found.ways if way.file}
    for name in ("requirements.txt", "pyproject.toml", "Dockerfile"):
        assert "torch==2.7.1+cu118" in texts[name]
    assert "--torch-backend=cu118 -c constraints.txt" in texts["Dockerfile"]
    for name in ("requirements.txt", "environment.yml"):
        assert "--extra-index-url https://download.pytorch.org/whl/cu118" in texts[name]
    assert 'torch = { index = "pytorch" }' in texts["pyproject.toml"]
