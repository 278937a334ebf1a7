"""Precedents: every row is well made, and a text is like a row only where it says all of its phrases."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from msgspec import structs

from gpuwhy.knowledge import precedents
from gpuwhy.knowledge.precedents import phrase, rows
from gpuwhy.logs import explain_text
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.precedent import Alike, Precedent
from gpuwhy.model.symptom import Reading
from gpuwhy.model.threshold import FOUND
from gpuwhy.rooms import CAUSES
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.precedented import _fixes, _is_for, precedented
from gpuwhy.shell.place import Place
from tests.shell.test_gate import complaints

ROWS = rows()
NAMES = re.compile(r"<([a-z_]+)>")


def said(row: Precedent) -> str:
    """A text that says all of a row's phrases."""
    return "\n".join(NAMES.sub("word", one).replace("*", " and ") for one in row.says)


def plain(text: str) -> tuple[str, str]:
    """A text as it is searched."""
    one = " ".join(text.split())
    return one, one.lower()


def case(text: str, windows: bool = False) -> Asked:
    return Asked(windows=windows, reading=Reading(excerpt=text))


def cures(cause: str, asked: Asked) -> tuple[Fix, ...]:
    """What the precedents of a text say, one after the other."""
    return tuple(fix for one in precedented(cause, asked) for fix in one)


def given(monkeypatch: pytest.MonkeyPatch, *made: Precedent) -> None:
    """Let these be all precedents there are."""
    precedents.alike.cache_clear()
    monkeypatch.setattr(precedents, "_by_word", lambda: {"": made})


def test_rows_name_causes_that_there_are():
    assert {row.cause for row in ROWS} <= {cause.id for cause in CAUSES}


def test_no_two_rows_say_the_same():
    said = Counter((tuple(sorted(one.lower() for one in row.says)), tuple(sorted(row.unless))) for row in ROWS)
    assert [one for one, times in said.items() if times > 1] == []


def test_every_row_knows_its_own_words_and_enough_of_them():
    wrong = [row.says for row in ROWS if not row.unless and not precedents._alike(row, *plain(said(row)))]
    vague = [row.says for row in ROWS if sum(phrase(one).fixed for one in row.says) < 14]
    assert (wrong, vague) == ([], [])


def test_every_row_is_found_by_a_word_of_its_own():
    found = [(row, word) for word, rows in precedents._by_word().items() for row in rows]
    assert len(found) == len(ROWS)
    assert [row.says for row, word in found if word and word not in re.findall(r"[a-z0-9_]+", said(row).lower())] == []


def test_places_of_a_cure_are_filled_by_its_phrases():
    wrong = []
    for row in ROWS:
        caught = {name for one in row.says for name in NAMES.findall(one)}
        told = {name for one in (row.do, *(c for kind, c in row.run if kind == "any")) for name in NAMES.findall(one)}
        wrong += [(row.says, name) for name in told - caught]
    assert wrong == []


@pytest.mark.parametrize("system", ["windows", "wsl", "linux"])
def test_commands_are_typed_and_of_the_place(system):
    wrong = []
    for row in ROWS:
        one = Alike(row, {name: "word" for part in row.says for name in NAMES.findall(part)}, 0)
        there = case("", system == "windows")
        fixes = tuple(_fixes(one, there)) if _is_for(one, there) else ()
        wrong += [(row.says, said) for said in complaints(fixes, Place(system))]
    assert wrong == []


ROW = Precedent(says=("No kernel for <op> on", "widget * broken"), cause="framework.bug", do="Install <op> anew.",
                run=(("any", "pip install <op>"), ("linux", "ldconfig -p"), ("cmd", "where <op>")))  # fmt: skip


def test_a_text_is_like_a_row_that_it_says_all_of(monkeypatch):
    given(monkeypatch, ROW)
    text = "note: NO kernel\n  for Conv2d on it\nthe widget was\nfound broken"
    (fix,) = cures("framework.bug", case(text))
    assert (fix.text, fix.command) == ("Install Conv2d anew", "pip install Conv2d\nldconfig -p")
    assert isinstance(fix.command, on.Command)
    assert cures("framework.bug", case("no kernel for x on")) == ()
    assert cures("memory.oom", case(text)) == ()


def test_windows_gets_its_own_commands(monkeypatch):
    given(monkeypatch, ROW)
    first, second = cures("framework.bug", case("no kernel for x on, widget broken", windows=True))
    assert (first.command, second.command) == ("pip install x", "where x")


def test_a_cure_and_its_steps_go_before_the_general_ways_of_windows(monkeypatch):
    row = Precedent(says=("'cudafe++' died",), cause="program.build", do="Take release 9 of it.",
                    run=(("any", "pip install x"), ("cmd", "del y.dll")))  # fmt: skip
    given(monkeypatch, row)
    told = explain_text(
        "C:\\> python setup.py\nnvcc error   : 'cudafe++' died with status 0xC0000005 (ACCESS_VIOLATION)\n"
    )
    assert [fix.text for fix in told.causes[0].fixes[:2]] == ["Take release 9 of it", "Then"]


def test_what_a_text_puts_into_a_command_is_one_plain_word(monkeypatch):
    given(monkeypatch, ROW)
    for hostile in ("x;reboot", "$(reboot)", "--index-url=h", "`id`", "a b"):
        fixes = cures("framework.bug", case(f"no kernel for {hostile} on, widget broken"))
        assert all(re.fullmatch(r"pip install \w[\w.+-]*\nldconfig -p", fix.command) for fix in fixes)


def test_a_row_keeps_away_where_a_neighbour_speaks(monkeypatch):
    row = Precedent(says=("widget broken",), cause="framework.bug", do="Install it anew.", unless=("not really",))
    given(monkeypatch, row)
    assert cures("framework.bug", case("widget broken")) != ()
    assert cures("framework.bug", case("widget broken, NOT\nreally")) == ()


def test_the_row_that_knows_more_comes_first(monkeypatch):
    short = Precedent(says=("widget broken",), cause="framework.bug", do="Do the general thing now.")
    long = Precedent(says=("widget broken", "in release 7"), cause="framework.bug", do="Take release 8 instead.")
    given(monkeypatch, short, long)
    told = [fix.text for fix in cures("framework.bug", case("widget broken in release 7"))]
    assert told == ["Take release 8 instead", "Do the general thing now"]


GUESSED = "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"
FOUND_ONE = "RuntimeError: Found no NVIDIA driver on your system."


@pytest.mark.parametrize(
    ("text", "said", "cause", "told"),
    [
        (GUESSED, "cublasCreate(handle)", "program.index", True),
        (GUESSED, "cublasCreate(handle)", "install.conflict", False),
        (FOUND_ONE, "Found no NVIDIA driver", "install.conflict", False),
    ],
)
def test_another_cause_of_the_closest_precedent_is_the_second_thing_to_try(monkeypatch, text, said, cause, told):
    """Where it is likely enough beside the first one; never the first."""
    given(monkeypatch, Precedent(says=(said,), cause=cause, do="Take the wrong cuBLAS off the path."))
    first = explain_text(text).causes[0]
    assert first.id != cause
    assert "wrong cuBLAS" not in first.fixes[0].text
    assert ("wrong cuBLAS" in first.fixes[1].text) == told


def test_a_precedent_alone_is_never_found(monkeypatch):
    row = Precedent(
        says=("the frobnicator of torch.cuda is unwell",), cause="framework.bug", do="Take release 9 of it."
    )
    given(monkeypatch, row)
    told = explain_text("epoch 3\n[worker] the frobnicator of torch.cuda is unwell; the process was aborted\n")
    assert told.causes[0].id == "framework.bug"
    assert told.causes[0].confidence < FOUND
    assert "Take release 9 of it" in [fix.text for fix in told.causes[0].fixes[:2]]


OWN_WORDS = "RuntimeError: the frobnicator is not switched on"


@pytest.mark.parametrize("text", [OWN_WORDS, f"Traceback (most recent call last):\n{OWN_WORDS}\n"])
def test_what_others_had_goes_before_an_end_in_the_programs_own_words(monkeypatch, text):
    assert explain_text(text).causes[0].id == "other.not_gpu"
    row = Precedent(says=("the frobnicator is not switched on",), cause="env.setting", do="Switch it on by FROB=1.")
    given(monkeypatch, row)
    told = explain_text(text).causes[0]
    assert (told.id, told.fixes[0].text) == ("env.setting", "Switch it on by FROB=1")
    assert told.confidence < FOUND


def test_a_few_lines_that_a_precedent_knows_are_answered_though_nothing_complains(monkeypatch):
    row = Precedent(
        says=("Please enable the frobnicator of this card",), cause="env.setting", do="Enable it by FROB=1."
    )
    given(monkeypatch, row)
    said = "Please enable the frobnicator of this card"
    assert explain_text(said).causes[0].fixes[0].text == "Enable it by FROB=1"
    epochs = "\n".join(f"epoch {n}: loss 0.{n:03} accuracy 0.9{n:02}" for n in range(40))
    assert explain_text(f"{said}\n{epochs}\nfinished, all is well\n").causes == ()


DAEMON = "docker: Error response from daemon: OCI runtime create failed: runc: no widget is mounted: unknown.\n"
RUN = "$ docker run --gpus all app\nfailed to open the widget of the GPU: Operation not permitted\n"
RAISED = 'Traceback (most recent call last):\n  File "a.py", line 1\n'


@pytest.mark.parametrize(
    ("text", "said", "cause"),
    [
        ("$ frob up -d\nfrob: 'widget' is not a frob command.\n", "is not a frob command", "other.not_gpu"),
        (DAEMON, "no widget is mounted", "other.not_gpu"),
        (RUN, "failed to open the widget", "driver.permission"),
        (f"{RAISED}widgets.WidgetError: NO_WIDGET_PLATFORM_FOUND\n", "NO_WIDGET_PLATFORM", "cuda.missing_library"),
        ("waiting failed: the widget of the GPU is not ready\n", "widget of the GPU is not ready", "driver.not_ready"),
    ],
)
def test_a_precedent_speaks_where_nothing_else_names_a_cause(monkeypatch, text, said, cause):
    """Also of what is no matter of the GPU; beside a container that did not start, an own error, plain words."""
    given(monkeypatch, Precedent(says=(said,), cause=cause, do="Take the newer release 9 of the widget."))
    told = explain_text(text)
    assert told.causes[0].id == cause
    assert told.causes[0].fixes[0].text == "Take the newer release 9 of the widget"


def test_a_programs_own_error_stays_its_own_where_the_precedent_knows_another_line(monkeypatch):
    given(monkeypatch, Precedent(says=("the widget is old",), cause="driver.missing", do="Take release 9 of it."))
    own = f"the widget is old\n{RAISED}mine.ConfigError: no such option\n"
    assert explain_text(own).causes[0].id == "other.not_gpu"


def test_what_is_harmless_is_no_failure_by_a_precedent_alone(monkeypatch):
    given(monkeypatch, Precedent(says=("widget not registered",), cause="other.not_gpu", do="Ignore the line."))
    assert explain_text("[W] widget not registered: an error of no account\n").status == "healthy"


def test_the_only_way_goes_before_what_the_text_shows(monkeypatch):
    """As where a pod of MicroK8s fails: what its message alone suggests is another distribution's."""
    said = "nvidia-container-cli.real: initialization error: load library failed: libnvidia-ml.so.1"
    text = f"$ microk8s enable nvidia\n{said}\n"
    do = "Let MicroK8s use the host's own driver and enable the add-on anew."
    row = Precedent(says=("microk8s", "load library failed: libnvidia-ml.so.1"), cause="driver.missing", do=do)
    for only in (False, True):
        given(monkeypatch, structs.replace(row, only=only))
        first = explain_text(text).causes[0].fixes[0].text
        assert first.startswith("Let MicroK8s use") == only
