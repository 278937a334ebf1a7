"""Remedies of what was observed on a machine: the same rows, without a text."""

from gpuwhy.advise.observed import case_of
from gpuwhy.advise.place import Place
from gpuwhy.advise.remedies import remedies
from gpuwhy.advise.say import say
from gpuwhy.diagnose.diagnosis import Because, Ranked
from gpuwhy.facts.devices import Devices
from gpuwhy.facts.driver import Driver
from gpuwhy.facts.fact import NOT_OBSERVED, known
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework, Frameworks
from gpuwhy.facts.system import System

TORCH = Framework(
    "torch",
    "PyTorch",
    "torch",
    "2.4.0",
    "/x/torch",
    NOT_OBSERVED,
    known("12.1", "file", "torch/version.py"),
    NOT_OBSERVED,
    NOT_OBSERVED,
    NOT_OBSERVED,
    NOT_OBSERVED,
)
FACTS = Facts(
    system=System(os=known("linux", "call", "uname"), container=known("docker", "file", "/.dockerenv")),
    driver=Driver(module_version=known("535.54.03", "file", "/sys/module/nvidia/version")),
    devices=Devices(),
    frameworks=Frameworks(installed=known((TORCH,), "folder", "/x")),
)
STUB = {"path": "/usr/local/cuda/lib64/stubs/libcuda.so"}


def test_facts_make_a_case_about_the_subject() -> None:
    case = case_of(FACTS, "PyTorch 2.4.0")
    assert case.framework == "torch"
    assert case.framework_version == "2.4.0"
    assert case.built_for_cuda is not None
    assert case.built_for_cuda.value == "12.1"
    assert case_of(FACTS, "").frameworks == ()


def test_what_a_finding_names_is_in_the_remedy() -> None:
    because = Because("a stub is loaded", 5.0, values=STUB)
    ranked = Ranked("driver.stub", 0.99, (because,), "PyTorch 2.4.0")
    place = Place(os="linux")
    found = [say(one, place) for one in remedies(ranked, None, FACTS, place)]
    assert any("stubs" in one.command for one in found)
