"""What real imports mean for a report."""

from __future__ import annotations

import msgspec
import pytest

from gpuwhy.causes.install import inconsistent
from gpuwhy.logs import read_imports
from gpuwhy.model.fact import Known, Source, Unknown
from gpuwhy.model.facts import Contradiction, Facts, Imported
from gpuwhy.reason.report import report
from gpuwhy.reason.tried import left_to_read
from tests.causes.facts import base


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


@pytest.mark.parametrize("kind", ["left out", "offline"])
def test_what_was_left_out_is_said(kind: str) -> None:
    facts = msgspec.convert(base("healthy"), type=Facts)
    fact = Unknown("left out", kind=kind)  # type: ignore[arg-type]
    facts = msgspec.structs.replace(facts, target=msgspec.structs.replace(facts.target, imports=fact))
    assert ("nothing was imported" in report([], facts, 0.0).headline) == (kind == "left out")


def test_what_facts_show_keeps_its_reasons_and_fixes_where_words_speak_for_the_same_cause() -> None:
    unfit = Contradiction("torch", "2.6.0", "numpy", "<2.1,>=1.22", "2.5.4", "stated", "/METADATA")
    facts = with_imports(failed("ImportError: Numba needs NumPy 2.0 or less. Got NumPy 2.5."))
    target = msgspec.structs.replace(facts.target, contradictions=Known((unfit,), Source("folder", "/site")))
    facts = msgspec.structs.replace(facts, target=target)
    made = report([inconsistent.CAUSE], facts, 0.0)
    first = read_imports(made, left_to_read(made, facts), 0.0, "").causes[0]
    assert (first.id, first.stops, "asks for numpy<2.1" in first.said) == ("install.inconsistent", True, True)
