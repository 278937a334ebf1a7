"""Kernel log: the lines about the GPU and the out-of-memory killer, with Xid, PCI address and process number."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.knowledge.xid import of_a_program
from gpuwhy.model.fact import Absent, Fact, Known, Unknown
from gpuwhy.model.facts import KernelEvent, KernelLine
from gpuwhy.observe.scene import Scene

_STAMP = re.compile(r"^(?:<\d+>)?\[\s*(\d{1,12}\.\d+)\](?:\[\s*[TC]\d+\])?\s?")
_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)\): (\d{1,5})")
_PCI = re.compile(r"(?<![\w.])(?<!\d:)(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})(?:\.([0-7]))?(?![\w:])")
# pid=1234, name=python, / pid='<unknown>', name=<unknown>, (the name is the process's own choice of text)
_PROCESS = re.compile(r"(?<=[ ,])(?:pid='?(?:<unknown>|\d+)'?|name='?[^,']*'?),\s?")
_PID = re.compile(r"(?<=[ ,])pid='?(\d{1,10})'?,")
_KILLED_PID = re.compile(r"\b(?:Kill(?:ed)?|reaped) process (\d{1,10}) \(", re.IGNORECASE)
_OTHER_PROCESS = re.compile(r"\bPID: \d+ Comm: .{0,16}?(?= Tainted| Not)|(?<=\w)\[\d+\](?=:)")
_KILLED = re.compile(r"(?:Memory cgroup out|Out) of memory: Kill(?:ed)? process \d+ \((.{0,16}?)\)(.*)$", re.IGNORECASE)
_RSS = re.compile(r"anon-rss:(\d{1,15})kB")
_BURST = 0.5
"""Seconds between two lines of one fault; on an H200 they are 2 ms apart."""
_MOST, _ALIKE = 200, 8
"""How many lines are kept, and how many that say the same of different processes."""


def kernel_log(scene: Scene) -> Fact[tuple[KernelLine, ...]]:
    """The lines in their order; of lines that say the same of the same process, the last."""
    said = scene.host.kernel_log()
    if isinstance(said, Absent):
        return Unknown("kernel log: no dmesg command here", "sudo dmesg | gpuwhy explain")
    if not isinstance(said, Known):
        return said
    latest: dict[tuple[str, int], KernelLine] = {}
    for line in attributed(_read(said.value)):
        latest.pop((line.text, line.pid), None)
        latest[line.text, line.pid] = line
        alike = [key for key in latest if key[0] == line.text]
        for key in alike[:-_ALIKE]:
            del latest[key]
    return Known(tuple(latest.values())[-_MOST:], said.source)


def _read(raw: tuple[str, ...]) -> list[KernelLine]:
    lines = []
    before = KernelLine(0.0, "", None, "")
    for one in raw:
        before = read_line(one, before)
        if before.text:
            lines.append(before)
    return lines


def attributed(lines: list[KernelLine]) -> list[KernelLine]:
    """The lines, a program's fault that names no process with the one that the lines right after it name.

    The driver tells one fault in a dozen lines within milliseconds; only the last of them may say whose it was.
    """
    done: list[KernelLine] = []
    after: dict[str, KernelLine] = {}
    for line in reversed(lines):
        follower = after.get(line.pci)
        if line.event == "stopped" and not line.pid and follower and follower.seconds - line.seconds <= _BURST:
            line = msgspec.structs.replace(line, pid=follower.pid)
        if line.xid is not None and line.pid:
            after[line.pci] = line
        done.append(line)
    return done[::-1]


def read_line(raw: str, before: KernelLine) -> KernelLine:
    """One line; one without a time stamp continues the line before it and inherits its time and address."""
    stamp = _STAMP.match(raw)
    text = (raw[stamp.end() :] if stamp else raw).strip()
    seconds = float(stamp[1]) if stamp else before.seconds
    xid = _XID.search(text)
    pci = address(xid[1]) if xid else address(text)
    if not pci and not stamp:
        pci = before.pci
    number = int(xid[2]) if xid else None
    return KernelLine(seconds, _scrubbed(text)[:300], number, pci, _process(text, bool(xid)), _event(text, number))


def _event(text: str, xid: int | None) -> KernelEvent:
    if _KILLED.search(text):
        return "killed"
    if "fallen off the bus" in text:
        return "fallen"
    return "stopped" if of_a_program(xid) else ""


def _process(text: str, xid: bool) -> int:
    """The number of the process that a line speaks of: the one on the GPU, or the one that was killed."""
    found = (_PID if xid else _KILLED_PID).search(text)
    return int(found[1]) if found else 0


def address(text: str) -> str:
    """The first PCI address in a text as 0000:3b:00.0; the driver leaves the function out."""
    found = _PCI.search(text)
    if not found:
        return ""
    domain, bus, slot, function = found.groups()
    if not domain and not function:  # as likely a time of day
        return ""
    return f"{(domain or '0000')[-4:]}:{bus}:{slot}.{function or '0'}".lower()


def _scrubbed(text: str) -> str:
    """The text without process numbers, Xid process names, and the out-of-memory killer's group paths and users."""
    killed = _KILLED.search(text)
    if killed:
        held = _RSS.search(killed[2])
        size = f", which held {int(held[1]) / (1 << 20):.1f} GiB" if held else ""
        return f"Out of memory: killed {killed[1]}{size}"
    if "oom-kill:" in text:
        constraint = re.search(r"constraint=(\w{1,40})", text)
        return f"oom-kill: {constraint[1] if constraint else ''}".strip()
    if "oom_killer" in text or "oom-killer" in text:
        return "the out-of-memory killer was invoked"
    return _OTHER_PROCESS.sub("", _PROCESS.sub("", text))
