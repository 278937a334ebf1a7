"""Signals that somebody sent: what they are taken for, and that a neighbour's Xid is not the program's own then."""

from __future__ import annotations

import pytest

from gpuwhy.model.fact import absent, known
from gpuwhy.model.facts import Facts, KernelLine, Limit, Run, Surroundings
from gpuwhy.reason.watched import kernel_lines, last_symptom


def ended(signal: str, *limits: Limit) -> Run:
    return Run(
        signal=known(signal, "call", "waitid"),
        limits=known(limits, "call", "getrlimit"),
        started=known(5.0, "call", "clock"),
    )


@pytest.mark.parametrize(
    ("run", "wanted"),
    [
        (ended("SIGTERM"), "signal.told"),
        (ended("SIGVTALRM"), "signal.told"),
        (ended("SIGXCPU", Limit("CPU", -1, -1)), "signal.told"),
        (ended("SIGXCPU", Limit("CPU", 10, 10)), "limit.cpu_time"),
        (ended("SIGSEGV"), "signal.segv"),
        (
            Run(
                program=known("timeout", "command", "x"),
                exit=known(124, "call", "waitid"),
                signal=absent("call", "waitid"),
            ),
            "limit.wall_time",
        ),
    ],
)
def test_what_a_signal_is_taken_for(run: Run, wanted: str) -> None:
    found = last_symptom(run)
    assert found is not None
    assert found.signature == wanted


@pytest.mark.parametrize(("signal", "count"), [("SIGTERM", 0), ("SIGSEGV", 1)])
def test_an_xid_without_a_process_is_its_own_only_where_it_crashed(signal: str, count: int) -> None:
    line = KernelLine(seconds=9.0, text="NVRM: Xid (PCI:0000:04:00): 13", xid=13, pci="0000:04:00")
    facts = Facts(run=ended(signal), surroundings=Surroundings(kernel_log=known((line,), "command", "dmesg")))
    assert len(kernel_lines(facts)) == count
