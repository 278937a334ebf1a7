"""The kernel log: lines about the GPU and memory, with Xid, PCI address and process number."""

import re

import msgspec

from gpuwhy.facts.fact import Absent, Fact, Known, Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.system import KernelEvent, KernelLine
from gpuwhy.machine.machine import Machine

_BURST = 0.5
"""Seconds between two lines of one fault; on an H200 they are 2 ms apart."""
_MOST, _ALIKE = 200, 8
"""How many lines are kept, and how many that say the same of different processes."""
_STAMP = r"^(?:<\d+>)?\[\s*(\d{1,12}\.\d+)\](?:\[\s*[TC]\d+\])?\s?"
_XID = r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)\): (\d{1,5})"
_PCI = (
    r"(?<![\w.])(?<!\d:)(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})"
    r"(?:\.([0-7]))?(?![\w:])"
)
_PID = r"(?<=[ ,])pid='?(\d{1,10})'?,"
_KILLED_PID = r"(?i)\b(?:Kill(?:ed)?|reaped) process (\d{1,10}) \("
_KILLED = r"(?i)(?:Memory cgroup out|Out) of memory: Kill(?:ed)? process \d+ \((.{0,16}?)\)(.*)$"
_PROCESS = (  # pid=1234, name=python, / pid='<unknown>', name=<unknown>, (a process names itself)
    r"(?<=[ ,])(?:pid='?(?:<unknown>|\d+)'?|name='?[^,']*'?),\s?"
    r"|\bPID: \d+ Comm: .{0,16}?(?= Tainted| Not)|(?<=\w)\[\d+\](?=:)"
)


def kernel_log(machine: Machine, _facts: Facts) -> Fact[tuple[KernelLine, ...]]:
    """The lines in their order; of lines that say the same of the same process, the last."""
    said = machine.kernel_log()
    if isinstance(said, Absent):
        return Unknown("the kernel log cannot be read here", "sudo dmesg | gpuwhy explain")
    if not isinstance(said, Known):
        return said
    every, before = [], KernelLine(0.0, "", None, "")
    for raw in said.value:
        before = read_line(raw, before)
        every += [before] if before.text else []
    latest: dict[tuple[str, int], KernelLine] = {}
    for line in attributed(every):
        latest.pop((line.text, line.pid), None)
        latest[line.text, line.pid] = line
        alike = [key for key in latest if key[0] == line.text]
        for key in alike[:-_ALIKE]:
            del latest[key]
    return Known(tuple(latest.values())[-_MOST:], said.source)


def attributed(lines: list[KernelLine]) -> list[KernelLine]:
    """The lines; a program's fault that names no process gets the one that the next lines name.

    The driver states one fault in a dozen lines within milliseconds; only the last of them may say
    whose it was.
    """
    done: list[KernelLine] = []
    after: dict[str, KernelLine] = {}
    for line in reversed(lines):
        follower = None if line.pid else after.get(line.pci)
        soon = follower is not None and follower.seconds - line.seconds <= _BURST
        if line.event == "stopped a program" and follower and soon:
            line = msgspec.structs.replace(line, pid=follower.pid)
        if line.xid is not None and line.pid:
            after[line.pci] = line
        done.append(line)
    return done[::-1]


def read_line(raw: str, before: KernelLine) -> KernelLine:
    """One line; one without a time stamp inherits time and address of the line before it.

    What identifies people goes: process numbers and names, the groups of the out-of-memory killer.
    """
    stamp = re.match(_STAMP, raw)
    text = (raw[stamp.end() :] if stamp else raw).strip()
    seconds = float(stamp[1]) if stamp else before.seconds
    xid, killed = re.search(_XID, text), re.search(_KILLED, text)
    number = int(xid[2]) if xid else None
    place, pci = re.search(_PCI, xid[1] if xid else text), "" if stamp else before.pci
    if place and (place[1] or place[4]):  # else as likely a time of day
        pci = f"{(place[1] or '0000')[-4:]}:{place[2]}:{place[3]}.{place[4] or '0'}".lower()
    pid = re.search(_PID if xid else _KILLED_PID, text)
    event: KernelEvent = ""
    if killed:
        event = "killed for memory"
        held = re.search(r"anon-rss:(\d{1,15})kB", killed[2])
        size = f", which held {int(held[1]) / (1 << 20):.1f} GiB" if held else ""
        shown = f"Out of memory: killed {killed[1]}{size}"
    elif "oom-kill:" in text:
        constraint = re.search(r"constraint=(\w{1,40})", text)
        shown = f"oom-kill: {constraint[1] if constraint else ''}".strip()
    elif "oom_killer" in text or "oom-killer" in text:
        shown = "the out-of-memory killer was invoked"
    else:
        shown = re.sub(_PROCESS, "", text)
    if not killed and "fallen off the bus" in text:
        event = "fell off the bus"
    elif not killed and number is not None:
        from gpuwhy.knowledge.codes import is_of_a_program

        event = "stopped a program" if is_of_a_program(number) else ""
    return KernelLine(seconds, shown[:300], number, pci, int(pid[1]) if pid else 0, event)
