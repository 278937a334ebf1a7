"""Where no CUDA build exists; and that the usual platform is never among them."""

from __future__ import annotations

import pytest

from gpuwhy.knowledge.platforms import DROPPED, dropped


@pytest.mark.parametrize(
    "framework, version, system, machine, libc, gone",
    [
        ("tensorflow", "2.11.0", "windows", "x86_64", "", True),
        ("tensorflow", "2.10.1", "windows", "x86_64", "", False),
        ("tensorflow", "2.21.0", "darwin", "arm64", "", True),
        ("tensorflow", "2.21.0", "linux", "aarch64", "glibc 2.39", True),
        ("torch", "2.15.0", "linux", "aarch64", "glibc 2.39", False),
        ("torch", "2.15.0", "windows", "x86_64", "", False),
        ("torch", "2.15.0", "linux", "x86_64", "musl 1.2.5", True),
        ("jax", "0.10.2", "windows", "x86_64", "", True),
        ("onnxruntime", "1.31.0", "darwin", "arm64", "", True),
    ],
)
def test_row(framework, version, system, machine, libc, gone):
    assert bool(dropped(framework, version, system, machine, libc)) is gone


def test_rows_have_a_source_and_a_way_out():
    assert all(row.source.kind == "know" and row.instead and row.system for row in DROPPED)


@pytest.mark.parametrize("framework", sorted({row.framework for row in DROPPED}))
def test_linux_on_x86_64_with_glibc_is_served(framework):
    assert dropped(framework, "99.0", "linux", "x86_64", "glibc 2.39") is None
