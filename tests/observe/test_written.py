"""Folders that variables name for caches: told where they cannot be made, and only there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuwhy.host.base import Standing
from gpuwhy.host.live import LiveHost
from gpuwhy.knowledge.written import WRITTEN
from gpuwhy.model.fact import Fact, known
from gpuwhy.model.facts import Distribution, Facts, Target
from gpuwhy.observe.scene import Options, Scene
from gpuwhy.observe.written import cannot_be_made


def said(name: str, value: str, *packages: str, host: LiveHost | None = None, folder: str = "") -> list[str]:
    scene = Scene(host or LiveHost({}), Options(folder=folder))
    have = tuple(Distribution(one, "1", f"/site/{one}", known("pip", "file", "x")) for one in packages)
    scene.facts = Facts(target=Target(distributions=known(have, "folder", "x")))
    return [fault.text.partition("; ")[0] for fault in cannot_be_made(scene, name, value)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("")
    (tmp_path / "there").mkdir()
    (tmp_path / "leads nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "leads to it").symlink_to(tmp_path / "there")
    return tmp_path


@pytest.mark.parametrize("inside", ["file", "file/a", "file/a/b/", "leads nowhere/a"])
def test_what_cannot_be_made_is_told(place: Path, inside: str) -> None:
    (text,) = said("TRITON_CACHE_DIR", f"{place}/{inside}", "triton")
    first = f"{place}/{inside.partition('/')[0]}"
    why = "is a link that leads nowhere" if "link" in text else "is no folder"
    assert text == f"this folder cannot be made ({first} {why})"
    with pytest.raises((NotADirectoryError, FileNotFoundError, FileExistsError)):
        os.makedirs(f"{place}/{inside}/kernel", exist_ok=True)


@pytest.mark.parametrize("inside", ["there", "there/", "there/new/a", "new", "a/b/c", "leads to it", "leads to it/x"])
def test_what_its_reader_makes_is_not(place: Path, inside: str) -> None:
    assert said("TRITON_CACHE_DIR", f"{place}/{inside}", "triton") == []
    os.makedirs(f"{place}/{inside}/kernel", exist_ok=True)


def test_only_where_its_reader_is_installed(place: Path) -> None:
    assert said("TRITON_CACHE_DIR", f"{place}/file", "numpy") == []
    assert said("TMPDIR", f"{place}/file", "numpy")
    assert said("HF_HOME", "", "huggingface-hub") == []
    assert said("HF_HOME", "$SCRATCH/hf", "huggingface-hub") == []


def test_a_relative_one_means_the_working_folder(place: Path) -> None:
    assert said("JAX_COMPILATION_CACHE_DIR", "file/x", "jax", folder=str(place))
    assert said("JAX_COMPILATION_CACHE_DIR", "there/x", "jax", folder=str(place)) == []


def test_nothing_is_made_in_the_kernels_own_folders() -> None:
    assert said("JAX_COMPILATION_CACHE_DIR", "/proc/cache/x", "jax") == [
        "this folder cannot be made (/proc is the kernel's own)"
    ]


@pytest.mark.parametrize(
    ("read_only", "writable", "why"),
    [(True, True, "/data is mounted read-only"), (False, False, "this user may not write to /data"), (False, True, "")],
)
def test_by_the_folder_above_it(read_only: bool, writable: bool, why: str) -> None:
    class Host(LiveHost):
        def standing(self, path: str) -> Fact[Standing]:
            return known(Standing(False, "/data", writable, read_only, True, 1, 1, 1), "call", "statvfs")

    found = said("TORCH_HOME", "/data/cache/a", "torch", host=Host({}))
    assert found == ([f"this folder cannot be made ({why})"] if why else [])


def test_every_reader_has_a_sentence() -> None:
    assert all(row.then and row.source and not row.then.endswith(".") for row in WRITTEN.values())
