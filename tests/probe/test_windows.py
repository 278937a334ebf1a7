"""The native stages with Windows' names of the libraries."""

from __future__ import annotations

import re

import pytest

from gpuwhy.facts.fact import NOT_OBSERVED, Known, Source
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.libraries import Libraries, LibraryCopy
from gpuwhy.facts.loads import Found, LoadedLibrary, Loads, LoadTree, Rule
from gpuwhy.facts.probe import Probe
from gpuwhy.machine.machine import Machine as Computer
from gpuwhy.probe.libraries import Stack, stack
from gpuwhy.probe.lines import read
from gpuwhy.probe.outcome import failures
from gpuwhy.probe.stages import GROUPS
from gpuwhy.probe.walk import walk

from .machines import of_words, silent

HERE = Source("file", "x")
NAMES = (
    "cudart64_101.dll",
    "cublas64_10.dll",
    "cublasLt64_10.dll",
    "cudnn64_7.dll",
    "nvrtc64_101_0.dll",
)


class Answering(Computer):
    """Answers every call with the same lines, and keeps the arguments."""

    def __init__(self, *lines):
        self.lines, self.asked = lines, []

    def ask(self, op, *args):
        self.asked.append(args)
        return Known(self.lines, HERE)


def test_a_frameworks_dlls_are_the_stack():
    loaded = [
        LoadedLibrary(name, f"C:/cuda/{name}", Found(Rule.PATH), "", NOT_OBSERVED, NOT_OBSERVED)
        for name in NAMES
    ]
    facts = Facts(loads=Loads(trees=Known((LoadTree("tensorflow", tuple(loaded), (), ()),), HERE)))
    chosen = stack(facts)
    assert chosen.libraries == {
        "cudart": "C:/cuda/cudart64_101.dll",
        "cublas": "C:/cuda/cublas64_10.dll",
        "cublasLt": "C:/cuda/cublasLt64_10.dll",
        "cudnn": "C:/cuda/cudnn64_7.dll",
        "nvrtc": "C:/cuda/nvrtc64_101_0.dll",
    }
    assert [path.rpartition("/")[2] for path in chosen.preload] == [
        n for n in NAMES if "cudnn" not in n
    ]


@pytest.mark.parametrize(
    "group, name",
    [
        ("device", "nvrtc-builtins64_124.dll"),
        ("blas", "cublasLt64_12.dll"),
        ("convolution", "nvJitLink_120_0.dll"),
    ],
)
def test_what_is_opened_before(group, name):
    assert re.match(GROUPS[group].preload, name)
    assert not re.match(GROUPS["cudnn"].preload, name)


def test_the_parts_of_an_older_cudnn_want_cublas():
    for cudnn, opened in (("cudnn64_8.dll", True), ("cudnn64_9.dll", False)):
        host = Answering()
        walk(host, Stack({"cudnn": f"C:/{cudnn}"}, ["C:/cublas64_11.dll"]), True, silent)
        asked = next(args for args in host.asked if "cudnn" in args)
        assert ("C:/cublas64_11.dll" in asked) is opened


def test_a_child_that_ends_before_any_stage_says_why():
    host = Answering({"ended": "probe ended with code 1: No module named 'x'"})
    done, _ = walk(host, Stack({}, ()), True, silent)
    first = next(stage for stage in done if stage.name == "libcuda")
    assert (first.outcome, first.why) == ("skipped", "probe ended with code 1: No module named 'x'")


@pytest.mark.parametrize(
    "end, signal", [("probe died by signal 11", "SIGSEGV"), ("probe ended with code 1", "")]
)
def test_a_code_is_no_signal(end, signal):
    lines = [{"stage": "cudnn"}, {"calling": "cudnnGetVersion"}, of_words(end)]
    facts = Facts(probe=Probe(stages=Known(read(lines).stages, HERE)))
    assert [one.signal for one in failures(facts)] == [signal]


def test_without_a_framework_what_lies_on_path_is_tested():
    copy = LibraryCopy.__struct_fields__
    assert {"name", "path", "where", "version"} <= set(copy)
    values = dict.fromkeys(copy, NOT_OBSERVED) | {
        "name": NAMES[0],
        "path": f"C:/{NAMES[0]}",
        "where": "PATH",
    }
    one = LibraryCopy(**values | {"version": Known("10.1.243", HERE)})
    assert stack(Facts(libraries=Libraries(copies=Known((one,), HERE)))).libraries == {
        "cudart": f"C:/{NAMES[0]}"
    }
