"""Harvested rows: laws that hold for all of them, and a frozen sample of what the files say."""

import re
from collections import defaultdict

import pytest
from msgspec import UNSET

from gpuwhy.facts.version import at_least, numbers
from gpuwhy.knowledge import releases
from gpuwhy.knowledge.releases import FIELDS, Release

PLATFORM = re.compile(r"(linux|musl|windows|macos)-\w+|any|source")
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


def test_headers_count_right_and_know_the_newest_file():
    seen: dict[str, list[Release]] = defaultdict(list)
    for name, family in releases.projects().items():
        seen[family] += releases.family(name).rows
    for name, family in releases.projects().items():
        header = releases.family(name).header
        assert (header.family, header.rows) == (family, len(seen[family]))
        assert header.newest == max(row.uploaded for row in seen[family]), family


MACHINES = {"linux-x86_64": "x86_64", "linux-aarch64": "aarch64", "windows-x86_64": "win_amd64"}


def test_every_row_has_its_shape_its_evidence_and_its_own_file(everything):
    """The name and the version of the file are the row's; dashes, dots and underscores are one."""
    assert len({(r.name, r.version, r.platform) for r in everything}) == len(everything) > 4000
    for r in everything:
        assert VERSION.fullmatch(r.version), r
        assert PLATFORM.fullmatch(r.platform), r
        assert re.fullmatch(r"[0-9a-f]{64}", r.sha256), r
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", r.uploaded), r
        assert r.pythons or r.platform == "source", r
        assert not isinstance(r.cuda, str) or re.fullmatch(r"\d+(\.\d+)?", r.cuda), r
        assert not isinstance(r.cudnn, str) or re.fullmatch(r"\d+(\.\d+){0,2}", r.cudnn), r
        assert r.cuda is not None or (r.cudnn, r.sass, r.ptx, r.opens) == (None, (), (), ()), r
        for prefix, codes in (("sm", r.sass), ("compute", r.ptx)):
            assert codes is UNSET or all(re.fullmatch(rf"{prefix}_\d+[af]?", c) for c in codes), r
        assert {field for field in FIELDS if getattr(r, field) is not UNSET} == set(r.evidence), r
        for field, text in r.evidence.items():
            how, _, member = text.partition("@")
            assert how in releases.family(r.name).header.how, (r, field)
            assert not member.startswith("/"), r
        start = re.sub(r"[-_.]+", "-", f"{r.name}-{r.version}").lower()
        assert re.sub(r"[-_.]+", "-", r.file).lower().startswith(start), r
        assert r.file.endswith(".whl") == (r.platform != "source"), r
        assert MACHINES.get(r.platform, "") in r.file, r


def test_what_is_pinned_was_published_before(everything, published):
    """No release is older than what it requires or goes with, and what it requires exists on its platform."""
    known = set(releases.projects())
    for row in everything:
        for name, version in _pins(row.requires):
            if name in NOT_READ:
                continue
            there = published[name, _trimmed(version)]
            assert [one for one in there if row.platform in (one.platform, "any") or one.platform == "any"], (row, name)
            assert min(one.uploaded for one in there) <= row.uploaded, (row, name, version)
        for name, version in _pins(row.pairs):
            there = published[name, _trimmed(version)]
            if name in known and (row.name, row.version) not in NO_PAIR:
                assert there, (row, name, version)
                assert min(one.uploaded for one in there) <= row.uploaded, (row, name, version)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_names_that_are_opened_are_shipped_on_that_platform(everything, platform):
    missing = _missing(everything, platform)
    unexplained = {name for name in missing if not any(re.fullmatch(rule, name) for rule in NOT_SHIPPED)}
    assert unexplained == set(), {name: missing[name] for name in unexplained}


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


def test_requirements_are_not_newer_than_their_release(everything):
    """A pinned runtime is of the build's CUDA, and the compiled cuDNN is not newer than the pinned one."""
    for r in everything:
        pins = r.requires if isinstance(r.requires, dict) else {}
        majors = {int(m[1]) for name in pins if (m := re.search(r"-cu(1\d)$", name))}
        assert not isinstance(r.cuda, str) or majors <= {numbers(r.cuda)[0]}, "nvidia-cudnn-cu12 is for CUDA 12"
        for name, spec in pins.items():
            runtime = re.fullmatch(r"nvidia-cuda-runtime(-cu\d+)?", name) and re.fullmatch(r"==(\d[\d.]*)", spec)
            if runtime and isinstance(r.cuda, str) and r.name == "torch":
                assert numbers(runtime[1])[:2] == numbers(r.cuda), r
            cudnn = re.fullmatch(r"nvidia-cudnn-cu\d+", name) and re.fullmatch(r"==(\d[\d.]*)", spec)
            if cudnn and isinstance(r.cudnn, str) and r.name.startswith(("tensorflow", "torch")):
                assert at_least(cudnn[1], r.cudnn), r


def test_two_ways_of_reading_jax_agree():
    """The version module of the plugin and the machine code of the pjrt wheel tell the same cuDNN."""
    told = 0
    for major in (11, 12, 13):
        for row in releases.family(f"jax-cuda{major}-pjrt").rows:
            plugin = releases.find(f"jax-cuda{major}-plugin", row.version, row.platform)
            if isinstance(row.cudnn, str) and plugin:
                assert row.cudnn == plugin.cudnn, row
                told += 1
    assert told > 50


SAMPLE = [  # one for each way of reading: name, version, platform, CUDA, cuDNN
    ("tensorflow", "1.15.0", "linux-x86_64", "10.0", "7.6.0"),
    ("tensorflow", "1.15.2", "linux-x86_64", None, None),
    ("tensorflow-gpu", "1.0.1", "linux-x86_64", "8.0", "5.1.10"),
    ("tensorflow", "2.10.1", "windows-x86_64", "11.2", "8.1.0"),
    ("tensorflow", "2.11.0", "windows-x86_64", None, None),
    ("tensorflow", "2.19.1", "linux-x86_64", "12.5", "9.3.0"),
    ("torch", "1.0.0", "linux-x86_64", "9.0", UNSET),
    ("torch", "2.5.1", "linux-x86_64", "12.4", "9.1.0"),
    ("torch", "2.10.0", "linux-aarch64", None, None),
    ("jax-cuda12-plugin", "0.6.0", "linux-x86_64", "12.8", "9.8.0"),
    ("onnxruntime-gpu", "1.22.0", "linux-x86_64", "12.2", "9"),
    ("nvidia-cudnn-cu12", "8.9.2.26", "linux-x86_64", "12", "8.9.2"),
    ("nvidia-cuda-runtime-cu12", "12.4.127", "linux-x86_64", "12.4", UNSET),
]


@pytest.mark.parametrize("name, version, platform, cuda, cudnn", SAMPLE)
def test_frozen_sample(name, version, platform, cuda, cudnn):
    row = releases.find(name, version, platform)
    assert row is not None
    assert (row.cuda, row.cudnn) == (cuda, cudnn)


def test_find_asks_for_everything():
    assert releases.find("tensorflow", "2.10.1", "linux-x86_64", "3.10") is not None
    assert releases.find("tensorflow", "2.10.1", "linux-x86_64", "3.12") is None
    assert releases.find("tensorflow", "2.10.1", "linux-s390x") is None
    assert releases.find("nothing", "1", "linux-x86_64") is None
    assert releases.find("TensorFlow_GPU", "1.15.0", "linux-x86_64") is not None


@pytest.mark.parametrize(
    "tags, python, there",
    [(("3.9",), "3.9", True), (("3.9",), "3.10", False), (("3",), "3.12", True), (("3.8+",), "3.12", True),
     (("3.8+",), "3.7", False), (("3.8+",), "3.13t", False), (("3.13t",), "3.13t", True), (("2", "3"), "3.6", True)],
)  # fmt: skip
def test_pythons(tags, python, there):
    row = Release("x", "1", "any", tags, (), "f", "h", {})
    assert releases.has_python(row, python) is there


def test_the_compiled_cudnn_comes_from_the_code_alone():
    version, source = releases.compiled_cudnn("tensorflow-gpu", "1.15.0", "linux-x86_64")
    assert (version, source.kind) == ("7.6.0", "know")
    assert "tensorflow_gpu-1.15.0-" in source.where
    assert releases.compiled_cudnn("torch", "2.5.1", "linux-x86_64") is None, "a pin is not the code"
    assert releases.compiled_cudnn("tensorflow", "1.15.2", "linux-x86_64") is None
