"""Origins speak only where nothing else does, never with certainty, and say what they rest on."""

from __future__ import annotations

import msgspec
import pytest

from gpuwhy import logs
from gpuwhy.model.origin import Label, Origin, Place
from gpuwhy.reason.explain import explain, likely
from gpuwhy.reason.origins import by_origin, releases, traced, vague
from gpuwhy.reason.tally import tally
from gpuwhy.render import explained, json
from gpuwhy.render.terminal import Paper

PLACE = Place("thing", "thing/core.py", "start", "OddError", ("2.0",), ("1.0", "2.0"))
LABEL = Label(("00000001",), "thing · thing/core.py · start", ("env.path",), "configure", "the folder is not there")
KNOWN = Origin("00000001", (PLACE,), 9.0, LABEL, {"env.path": 1.0})
BARE = Origin("00000002", (PLACE,), 9.0)
TEXT = """Traceback (most recent call last):
  File "run.py", line 3, in <module>
    thing.start()
  File "/usr/lib/python3/site-packages/thing/core.py", line 8, in start
    raise OddError(text)
thing.OddError: cannot wiggle the frobnicator of this contraption
"""


def _only(line: str, around: frozenset[str]) -> Origin | None:
    return KNOWN if "frobnicator" in line else None


RULES = msgspec.structs.replace(logs.rules(), origin=_only)


def test_a_label_answers_where_only_an_exception_speaks() -> None:
    report = explain(RULES, logs.read_text(TEXT), None, {}, 0.0, "text")
    assert [(c.id, c.confidence) for c in report.causes] == [("env.path", 0.75)]
    assert report.origin == KNOWN
    told = explained.render(report, Paper())
    assert "the folder is not there" in told
    assert "raised by thing, thing/core.py" in told
    assert json.report_dict(report)["origin"]["says"] == "the folder is not there"


def test_a_known_message_is_not_overruled_and_nothing_is_looked_up() -> None:
    asked: list[str] = []
    rules = msgspec.structs.replace(RULES, origin=lambda line, around: asked.append(line))
    text = TEXT + "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
    report = explain(rules, logs.read_text(text), None, {}, 0.0, "text")
    assert report.causes[0].id.startswith("memory.")
    assert asked == []


def test_an_origin_without_label_is_told_and_names_no_cause() -> None:
    rules = msgspec.structs.replace(RULES, origin=lambda line, around: BARE)
    report = explain(rules, logs.read_text(TEXT), None, {}, 0.0, "text")
    assert report.origin == BARE
    assert "env.path" not in [c.id for c in report.causes]
    assert "from   the last complaint is raised by thing" in explained.render(report, Paper(120))


def test_no_origin_makes_a_cause_certain() -> None:
    assert all(score.confidence < 0.9 for score in by_origin(KNOWN))
    assert by_origin(None) == ()


@pytest.mark.parametrize("text", ["", "all went well\n", "x = 3\n" * 200, "Epoch 3/10 loss 0.1\n"])
def test_a_text_that_does_not_complain_is_not_asked_about(text: str) -> None:
    assert traced(lambda line, around: KNOWN, logs.read_text(text)) is None


def test_frames_of_a_stack_are_no_complaints() -> None:
    text = '  File "error.py", line 3, in failed\n    raise error(failed)\n'
    assert traced(lambda line, around: KNOWN, logs.read_text(text)) is None


def test_the_same_holds_in_a_batch() -> None:
    reading = logs.read_text(TEXT)
    scores = tally(logs.rules().clues, reading)
    assert vague(scores)
    assert likely(RULES, reading)[0].cause == "env.path"


def test_a_warning_before_the_end_does_not_decide() -> None:
    mild = msgspec.structs.replace(KNOWN, places=(msgspec.structs.replace(PLACE, kind="OddWarning"),))

    def origin(line: str, around: frozenset[str]) -> Origin | None:
        return mild if "OddWarning" in line else None

    warned = "thing.py:3: OddWarning: this may fail\n"
    assert traced(origin, logs.read_text(warned + TEXT)) is None
    assert traced(origin, logs.read_text(TEXT + warned)) == mild


def test_python_is_not_blamed_for_what_its_stack_does_not_lead_through() -> None:
    frame = '  File "/usr/lib/python3/site-packages/thing/core.py", line 8, in start\n    raise OddError(text)\n'
    own = logs.read_text(TEXT.replace(frame, ""))
    assert traced(_only, own) is None
    compiled = msgspec.structs.replace(KNOWN, places=(msgspec.structs.replace(PLACE, module="src/core.cpp"),))
    assert traced(lambda line, around: compiled, own) == compiled


def test_releases_are_told_where_the_text_does_not():
    bounds = {"jax": ("0.4.30", "0.5.0"), "torch": ("2.4.0",)}
    said = list(releases(bounds, logs.read_text("torch==2.4.0\nRuntimeError: x\n")))
    assert said == ["the text does not tell the release of jax; of those read, 0.4.30 to 0.5.0 print its lines"]
