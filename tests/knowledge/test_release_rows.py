"""Laws that tie harvested rows to one another and to the files they name; those of a single row: test_releases.py."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest
from msgspec import UNSET

from gpuwhy.knowledge import releases
from gpuwhy.knowledge.releases import Release
from gpuwhy.facts.version import numbers

VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9.]+)?")
PLATFORMS = ("linux-x86_64", "linux-aarch64", "windows-x86_64")

NOT_SHIPPED = {
    r"lib\w+\.so\.(8|9|10)(\.\d)?": "CUDA 8 to 10 (and cuSOLVER of 11.0) never came as wheels; they begin with 11",
    r"\w+64_(80|90|100|101|10)\.dll": "the same on Windows",
    r"libcudnn\.so\.[567]": "cuDNN 5 to 7 never came as wheels; they begin with 8",
    r"cudnn64_[567]\.dll": "the same on Windows",
    r"lib\w+-[0-9a-f]{8}\.so\.[\d.]+": "torch 1.x brings its own copy, under a name with a hash",
}
"""Names that frameworks open and no library wheel ships, with the reason."""

NOT_READ = {
    "cuda-bindings": "Python bindings, no library",
    "nvidia-cutlass-dsl": "a compiler front end, no library",
    "nvidia-libnvcomp-cu12": "the inner package of nvidia-nvcomp-cu12",
    "nvidia-libnvcomp-cu13": "the inner package of nvidia-nvcomp-cu13",
}
"""Projects that releases pin and that are not harvested, with the reason."""

NO_PAIR = {
    ("jax-cuda12-plugin", "0.4.22"): "jax-cuda12-pjrt 0.4.22 is not on the index; it begins with 0.4.23",
}


@pytest.fixture(scope="module")
def everything() -> list[Release]:
    return [row for name in releases.projects() for row in releases.family(name).rows]


@pytest.fixture(scope="module")
def published(everything) -> dict[tuple[str, tuple[int, ...]], list[Release]]:
    out = defaultdict(list)
    for row in everything:
        out[row.name, _trimmed(row.version)].append(row)
    return out


def _trimmed(version: str) -> tuple[int, ...]:
    """0.19 and 0.19.0 are one release."""
    parts = list(numbers(version))
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def _pins(wanted: object) -> list[tuple[str, str]]:
    """(project, version) of the exact requirements."""
    found = wanted.items() if isinstance(wanted, dict) else ()
    return [(re.sub(r"\[.*", "", name), spec[2:]) for name, spec in found if re.fullmatch(r"==\d[\d.]*", spec)]


def test_versions_parse(everything):
    for row in everything:
        assert VERSION.fullmatch(row.version), row


def test_a_row_and_its_file_agree(everything):
    """The name and the version of the file are the row's; dashes, dots and underscores are one."""
    for row in everything:
        start = re.sub(r"[-_.]+", "-", f"{row.name}-{row.version}").lower()
        assert re.sub(r"[-_.]+", "-", row.file).lower().startswith(start), row
        assert row.file.endswith(".whl") == (row.platform != "source"), row
        machine = {"linux-x86_64": "x86_64", "linux-aarch64": "aarch64", "windows-x86_64": "win_amd64"}
        assert machine.get(row.platform, "") in row.file, row


def test_all_evidence_is_spelled_out(everything):
    for name in releases.projects():
        known = releases.family(name)
        for row in known.rows:
            for field, text in row.evidence.items():
                how, _, member = text.partition("@")
                assert how in known.header.how, (row.name, row.version, field, text)
                assert not member.startswith("/"), row


def test_headers_know_the_newest_file():
    newest: dict[str, str] = defaultdict(str)
    for name, family in releases.projects().items():
        newest[family] = max(newest[family], *(row.uploaded for row in releases.family(name).rows))
    for name, family in releases.projects().items():
        assert releases.family(name).header.newest == newest[family], family


def test_what_is_pinned_was_published_before(everything, published):
    """No release is older than what it requires, and what it requires exists on its platform."""
    for row in everything:
        for name, version in _pins(row.requires):
            if name in NOT_READ:
                continue
            there = published[name, _trimmed(version)]
            assert [one for one in there if row.platform in (one.platform, "any") or one.platform == "any"], (row, name)
            assert min(one.uploaded for one in there) <= row.uploaded, (row, name, version)


def test_what_goes_together_was_published_before(everything, published):
    known = set(releases.projects())
    for row in everything:
        for name, version in _pins(row.pairs):
            there = published[name, _trimmed(version)]
            if name in known and (row.name, row.version) not in NO_PAIR:
                assert there, (row, name, version)
                assert min(one.uploaded for one in there) <= row.uploaded, (row, name, version)


def test_requirements_are_of_the_same_cuda(everything):
    """nvidia-cudnn-cu12 belongs to a build for CUDA 12."""
    for row in everything:
        if isinstance(row.cuda, str) and isinstance(row.requires, dict):
            majors = {int(m[1]) for name in row.requires for m in [re.search(r"-cu(1\d)$", name)] if m}
            assert majors <= {numbers(row.cuda)[0]}, row


@pytest.mark.parametrize("platform", PLATFORMS)
def test_names_that_are_opened_are_shipped_on_that_platform(everything, platform):
    missing = _missing(everything, platform)
    unexplained = {name for name in missing if not any(re.fullmatch(rule, name) for rule in NOT_SHIPPED)}
    assert unexplained == set(), {name: missing[name] for name in unexplained}


def test_every_exception_is_needed(everything, published):
    missing = {name for platform in PLATFORMS for name in _missing(everything, platform)}
    for rule in NOT_SHIPPED:
        assert any(re.fullmatch(rule, name) for name in missing), rule
    pinned = {name for row in everything for name, _ in _pins(row.requires)}
    assert set(NOT_READ) <= pinned - set(releases.projects())


def _missing(rows: list[Release], platform: str) -> dict[str, set[str]]:
    """Name → the releases that open it, where no library release of the platform ships it."""
    here = [row for row in rows if row.platform == platform]
    shipped = {name.lower() for row in here if row.ships is not UNSET for name in row.ships}
    out: dict[str, set[str]] = defaultdict(set)
    for row in here:
        for name in row.opens if isinstance(row.opens, tuple) else ():
            if name.lower() not in shipped:
                out[name].add(f"{row.name} {row.version}")
    return out
