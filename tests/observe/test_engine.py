"""The engine: a look that crashes or hangs becomes Unknown with the reason, and the rest goes on."""

from __future__ import annotations

import threading
import time

import pytest

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Known, Unknown, known
from gpuwhy.observe.engine import guarded, observe
from gpuwhy.observe.scene import Look, Options, Scene


def scene() -> Scene:
    return Scene(Host(), Options())


def fine(_: Scene) -> Known[str]:
    return known("6.8.0", "file", "/proc/version")


def crash(_: Scene):
    raise KeyError("nothing like that")


def needs_what_was_not_seen(scene: Scene):
    return known(scene.facts.surroundings.distribution.need(), "file", "x")


@pytest.fixture
def stuck():
    """A look that hangs until the test is over."""
    over = threading.Event()
    yield lambda _: over.wait(60) and known("late", "file", "x")
    over.set()


def test_a_crash_is_unknown_and_the_rest_goes_on():
    seen = scene()
    hung = observe(seen, [Look("surroundings", "vm", crash), Look("surroundings", "kernel", fine)])
    answer = seen.facts.surroundings.vm
    assert isinstance(answer, Unknown)
    assert "KeyError: 'nothing like that', test_engine.py:" in answer.reason
    assert answer.reason.endswith("please report it")
    assert seen.facts.surroundings.kernel == fine(seen)
    assert not hung


def test_a_hang_is_unknown_within_its_limit_and_the_rest_goes_on(stuck):
    seen = scene()
    looks = [
        Look("surroundings", "system", fine),
        Look("surroundings", "vm", stuck, seconds=0.2),
        Look("surroundings", "wsl", stuck, seconds=0.1),
        Look("surroundings", "kernel", fine),
    ]
    hung = observe(seen, looks)
    assert hung
    assert seen.facts.surroundings.vm == Unknown("no answer within 0.2 s")
    assert seen.facts.surroundings.wsl == Unknown("no answer within 0.1 s")
    assert isinstance(seen.facts.surroundings.system, Known)
    assert isinstance(seen.facts.surroundings.kernel, Known)


def test_an_answer_that_comes_too_late_changes_nothing():
    seen = scene()
    go, done = threading.Event(), threading.Event()

    def late(_: Scene):
        go.wait(10)
        done.set()
        return known("late", "file", "x")

    observe(seen, [Look("surroundings", "vm", late, seconds=0.1), Look("surroundings", "kernel", fine)])
    go.set()
    assert done.wait(5)
    time.sleep(0.05)
    assert seen.facts.surroundings.vm == Unknown("no answer within 0.1 s")


def test_an_unseen_fact_makes_what_needs_it_unknown_with_the_same_reason():
    seen = scene()
    assert guarded(seen, Look("surroundings", "vm", needs_what_was_not_seen)) == Unknown("not observed")


def test_looks_see_what_was_observed_before_them():
    seen = scene()
    after = Look("surroundings", "vm", lambda s: s.facts.surroundings.kernel)
    observe(seen, [Look("surroundings", "kernel", fine), after])
    assert seen.facts.surroundings.vm == fine(seen)


def test_nothing_to_do():
    seen = scene()
    assert observe(seen, []) is False
    assert seen.facts.surroundings.vm == Unknown("not observed")
