"""Signals that somebody sent: what they are taken for, and that a neighbour's Xid is not the program's own then."""

import pytest
from msgspec import structs

from gpuwhy.facts.fact import Unknown, absent, known
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.run import Limit, Run
from gpuwhy.facts.system import KernelLine, System
from gpuwhy.look.kernel_log import attributed, read_line
from gpuwhy.run.judge import kernel_lines, last_message


def ended(signal: str, *limits: Limit) -> Run:
    told, held = known(signal, "call", "waitid"), known(limits, "call", "getrlimit")
    return Run(signal=told, limits=held, started=known(5.0, "call", "clock"))


TIMEOUT = Run(
    program=known("timeout", "command", "x"), exit=known(124, "call", "waitid"), signal=absent("call", "waitid")
)


@pytest.mark.parametrize(
    ("run", "wanted"),
    [
        (ended("SIGTERM"), "signal.told"),
        (ended("SIGVTALRM"), "signal.told"),
        (ended("SIGXCPU", Limit("CPU", -1, -1)), "signal.told"),
        (ended("SIGXCPU", Limit("CPU", 10, 10)), "limit.cpu_time"),
        (ended("SIGSEGV"), "signal.segv"),
        (TIMEOUT, "limit.wall_time"),
    ],
)
def test_what_a_signal_is_taken_for(run: Run, wanted: str) -> None:
    assert last_message(run).id == wanted


OUT_OF_RANGE = "[  129.90] NVRM: Xid (PCI:0000:00:06): 13, Graphics SM Warp Exception on (GPC 1, TPC 2, SM 0)"
STOPPED = "[  129.93] NVRM: Xid (PCI:0000:00:06): 43, pid=9901, name=python3, channel 0x0000000a"
UNCORRECTED = "[  129.90] NVRM: Xid (PCI:0000:00:06): 48, An uncorrectable double bit error (DBE) has been detected"


@pytest.mark.parametrize(
    ("raw", "pids"),
    [
        ((OUT_OF_RANGE, STOPPED), [9901, 9901]),
        ((OUT_OF_RANGE, STOPPED.replace("129", "131")), [0, 9901]),
        ((OUT_OF_RANGE.replace("00:06", "00:07"), STOPPED), [0, 9901]),
        ((STOPPED.replace("129.93", "129.80"), OUT_OF_RANGE), [9901, 0]),
        ((UNCORRECTED, STOPPED), [0, 9901]),
    ],
)
def test_a_fault_told_in_several_lines_is_the_process_s_that_the_last_one_names(raw: tuple[str, ...], pids) -> None:
    lines = [read_line(one, KernelLine(0.0, "", None, "")) for one in raw]
    assert [line.pid for line in attributed(lines)] == pids


@pytest.mark.parametrize(
    ("xid", "output", "count"),
    [
        (13, "SIGTERM", 0),
        (13, "SIGSEGV", 1),
        (13, "CUDADriverError: CUDA_ERROR_FILE_NOT_FOUND: file not found", 0),
        (13, "ValueError: input tensor must be the same size as output size times world size (nccl)", 0),
        (13, "RuntimeError: CUDA error: an illegal memory access was encountered", 1),
        (31, "CUDNN_STATUS_EXECUTION_FAILED", 1),
        (79, "CUDA_ERROR_FILE_NOT_FOUND", 1),
        (79, "KeyError: 'loss'", 0),
    ],
)
def test_an_xid_without_a_process_belongs_to_whom_the_same_happened(xid: int, output: str, count: int) -> None:
    line = read_line(f"[    9.00] NVRM: Xid (PCI:0000:04:00): {xid}, for all", KernelLine(0.0, "", None, ""))
    signal = output if output.startswith("SIG") else ""
    facts = Facts(run=ended(signal), system=System(kernel_log=known((line,), "command", "dmesg")))
    assert len(kernel_lines(facts, output)) == count


@pytest.mark.parametrize(
    ("pids", "output", "count"),
    [
        (Unknown("processes have other numbers here"), "RuntimeError: the devices must match", 0),
        (Unknown("processes have other numbers here"), "CUDA error: an illegal memory access was encountered", 1),
        (known((9901,), "call", "sampler"), "RuntimeError: the devices must match", 1),
        (known((77,), "call", "sampler"), "CUDA error: an illegal memory access was encountered", 0),
    ],
)
def test_a_process_that_cannot_be_compared_is_a_neighbour_unless_the_same_happened_here(pids, output, count) -> None:
    line = read_line(STOPPED, KernelLine(0.0, "", None, ""))
    run = structs.replace(ended(""), pids=pids)
    facts = Facts(run=run, system=System(kernel_log=known((line,), "command", "dmesg")))
    assert len(kernel_lines(facts, output)) == count
