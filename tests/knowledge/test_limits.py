"""Limits that a release does not state, held against what is installed beside it."""

from __future__ import annotations

import pytest

from gpuwhy.knowledge.limits import broken


@pytest.mark.parametrize(
    "version, h5py, kept",
    [("1.15.0", "3.8.0", False), ("1.15.0", "2.10.0", True), ("2.15.0", "3.8.0", True), ("1.15.0", "", True)],
)
def test_a_limit_counts_in_its_releases_and_for_what_is_there(version: str, h5py: str, kept: bool) -> None:
    installed = {"h5py": h5py} if h5py else {}
    assert [one.requirement for one in broken("tensorflow-gpu", version, installed)] == ([] if kept else ["h5py<3"])


@pytest.mark.parametrize("package", ["tensorflow", "tensorflow-cpu", "intel-tensorflow"])
def test_every_flavour_keeps_the_limits_of_its_module(package: str) -> None:
    assert [one.requirement for one in broken(package, "1.15.0", {"h5py": "3.8.0"})] == ["h5py<3"]
