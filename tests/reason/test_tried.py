"""What real imports mean for a report."""

from __future__ import annotations

import msgspec
import pytest

from gpuwhy.logs import read_imports, read_printed
from gpuwhy.model.cause import Finding, Fix
from gpuwhy.model.fact import NOT_TRIED, NOT_YET, Fact, Known, Source, Unknown
from gpuwhy.model.facts import Contradiction, Facts, Imported
from gpuwhy.model.report import Noticed, Shown
from gpuwhy.reason.report import report
from gpuwhy.reason.tried import left_to_read, printed
from gpuwhy.render.terminal import Paper, render
from gpuwhy.rooms.install import inconsistent
from tests.rooms.facts import base


def with_imports(*found: Imported) -> Facts:
    facts = msgspec.convert(base("healthy"), type=Facts)
    target = msgspec.structs.replace(facts.target, imports=Known(found, Source("call", "import")))
    return msgspec.structs.replace(facts, target=target)


def failed(why: str) -> Imported:
    return Imported("torch", "torch", "raised", kind="ImportError", why=why, text=why)


def test_a_failed_import_is_never_healthy_whatever_its_words_are() -> None:
    facts = with_imports(failed("ImportError: the moon is in the wrong quarter"))
    made = report([], facts, 0.0)
    told = read_imports(made, left_to_read(made, facts), 0.0, "")
    assert told.status == "broken"
    assert "the moon is in the wrong quarter" in told.headline


def test_the_words_of_a_failed_import_are_read_as_a_log() -> None:
    facts = with_imports(
        failed("ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory")
    )
    made = report([], facts, 0.0)
    told = read_imports(made, left_to_read(made, facts), 0.0, "")
    assert told.causes[0].id == "cudnn.missing"


def test_an_import_that_does_not_end_leaves_the_answer_open() -> None:
    late = Imported("torch", "torch", "late", why="no end within 100 s")
    made = report([], with_imports(late), 0.0)
    assert (made.status, "import torch" in made.headline) == ("unknown", True)


@pytest.mark.parametrize(
    ("fact", "told"),
    [
        (NOT_TRIED, "not tried: importing the packages (gpuwhy check --import)"),
        (NOT_YET, "not tried: importing the packages; what was found has to be fixed first"),
        (Unknown("these are another machine's files", kind="offline"), ""),
        (Known((), Source("call", "import")), ""),
    ],
)
def test_what_was_left_out_is_the_last_line(fact: Fact[tuple[Imported, ...]], told: str) -> None:
    facts = msgspec.convert(base("healthy"), type=Facts)
    facts = msgspec.structs.replace(facts, target=msgspec.structs.replace(facts.target, imports=fact))
    made = report([], facts, 0.0)
    assert made.not_tried == told
    last = [line.strip() for line in render(made, Paper(100)).splitlines()][-1]
    assert (last == told) == bool(told)


def test_what_facts_show_keeps_its_reasons_and_fixes_where_words_speak_for_the_same_cause() -> None:
    unfit = Contradiction("torch", "2.6.0", "numpy", "<2.1,>=1.22", "2.5.4", "stated", "/METADATA")
    facts = with_imports(failed("ImportError: Numba needs NumPy 2.0 or less. Got NumPy 2.5."))
    target = msgspec.structs.replace(facts.target, contradictions=Known((unfit,), Source("folder", "/site")))
    facts = msgspec.structs.replace(facts, target=target)
    made = report([inconsistent.CAUSE], facts, 0.0)
    first = read_imports(made, left_to_read(made, facts), 0.0, "").causes[0]
    assert (first.id, first.stops, "asks for numpy<2.1" in first.said) == ("install.inconsistent", True, True)


def printing(text: str, package: str = "onit 1.0") -> Imported:
    return Imported("onit", "torch", "well", text=text, package=package)


XFORMERS = """WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for:
    PyTorch 2.4.1+cu121 with CUDA 1201 (you have 2.6.0+cu124)
  Please reinstall xformers (see https://github.com/facebookresearch/xformers#installing-xformers)
"""
NUMPY = "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.2.6 as it may crash.\n"
NO_GPU = "I xla/tsl/cuda/cudart_stub.cc:32] Could not find cuda drivers on your machine, GPU will not be used.\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (XFORMERS, "framework.extension_abi"),
        (NUMPY, "install.inconsistent"),
        (NO_GPU, ""),
        ("UserWarning: pkg_resources is deprecated as an API.\n", ""),
        ("loading the model registry\n", ""),
    ],
)
def test_what_an_import_prints_of_a_part_that_is_lost_is_a_finding(text: str, cause: str) -> None:
    facts = with_imports(Imported("torch", "torch", "well"), printing(text))
    made = report([], facts, 0.0)
    told = read_printed(made, printed(made, facts), 0.0, "")
    assert [one.id for one in told.causes] == ([cause] if cause else [])
    assert (told.status, told.headline.startswith("onit 1.0")) == (
        ("degraded", True) if cause else (made.status, False)
    )


def test_what_facts_make_possible_keeps_its_fixes_where_an_import_prints_the_same() -> None:
    facts = with_imports(Imported("torch", "torch", "well"), printing(XFORMERS))
    fix = Fix("Install the right one", "pip install onit==2", install=("onit==2",))
    perhaps = Shown("framework.extension_abi", "built for another", 0.4, "", (), (), (fix,), stops=True)
    made = msgspec.structs.replace(report([], facts, 0.0), causes=(perhaps,))
    (told,) = read_printed(made, printed(made, facts), 0.0, "").causes
    assert (told.found, told.fixes[0].install) == (True, ("onit==2",))


def test_what_stops_gpu_work_leaves_no_time_for_warnings() -> None:
    facts = with_imports(failed("ImportError: libcudnn.so.9: cannot open shared object file"), printing(XFORMERS))
    made = report([], facts, 0.0)
    told = read_imports(made, left_to_read(made, facts), 0.0, "")
    assert printed(told, facts) == []


def test_what_stands_on_a_framework_is_told_by_its_own_name() -> None:
    facts = with_imports(
        Imported("torch", "torch", "well"),
        Imported(
            "onit",
            "torch",
            "raised",
            kind="ValueError",
            why="ValueError: no",
            text="ValueError: no",
            package="onit 1.0",
        ),
    )
    made = report([], facts, 0.0)
    told = read_imports(made, left_to_read(made, facts), 0.0, "")
    assert (told.status, told.headline) == ("broken", "onit 1.0 cannot be used: import onit fails (ValueError: no)")


def test_what_was_not_tried_is_said_and_what_lacks_an_extra_is_not_failed() -> None:
    facts = with_imports(
        Imported("torch", "torch", "well"),
        Imported("vllm", "torch", "untried", package="vllm 0.8.0"),
        Imported("onit", "torch", "without extra", package="onit 1.0"),
    )
    made = report([], facts, 0.0)
    assert left_to_read(made, facts) == []
    assert "not imported: vllm 0.8.0" in made.headline


def test_a_use_that_misses_an_extra_is_told_beside_health() -> None:
    use = "use:onit:training with onit"
    facts = with_imports(
        Imported("torch", "torch", "well"),
        Imported(use, "torch", "without extra", lost="helper", package="onit 1.0"),
    )
    made = report([], facts, 0.0)
    assert made.headline.endswith("but not training with onit: helper is not installed")


GENERATED = "AttributeError: 'MessageFactory' object has no attribute 'GetPrototype'\n"


@pytest.mark.parametrize("wanted, linked", [("protobuf<5", True), ("typing-extensions>=4.6", False)])
def test_what_was_only_noticed_is_carried_out_where_the_printed_words_are_about_it(wanted: str, linked: bool) -> None:
    """A contradiction in metadata is no cause while all goes well; a warning about that very package makes it one."""
    loaded = Imported("tensorflow", "torch", "well", text=GENERATED)
    facts = with_imports(loaded)
    fix = Fix("Change it", f'pip install "{wanted}"', install=(wanted,))
    because = (Finding("strong", f"somebody asks for {wanted}", noted=True),)
    only = Shown("install.inconsistent", "do not fit", 0.8, "", because, (), (fix,), stops=True)
    made = msgspec.structs.replace(report([], facts, 0.0), noticed=(Noticed(only.id, only.said, only),))
    told = read_printed(made, printed(made, facts), 0.0, "")
    assert told.causes[0].id == "install.inconsistent"
    assert (told.causes[0].fixes[0].install == (wanted,)) == linked
    assert bool(told.noticed) != linked
