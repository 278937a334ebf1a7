"""Xid: the numbers by which the NVIDIA kernel module reports faults, in our own words.

`hardware` says that the GPU, its memory, its links or its firmware failed: no change of the program cures it.
`recovered` says that the GPU went on by itself, so the number alone does not explain a failure now.
"""

from __future__ import annotations

import msgspec

from gpuwhy.knowledge.tables import source
from gpuwhy.facts.fact import Source

HEADER = source("NVIDIA/open-gpu-kernel-modules nverror.h, driver 595.45.04", "robust channel codes")
CATALOG = source("NVIDIA Xid catalog, docs.nvidia.com/deploy/xid-errors")


class XidRow(msgspec.Struct, frozen=True):
    """One Xid number."""

    number: int
    text: str
    hardware: bool
    source: Source
    recovered: bool = False


# The program, a library or the driver handed the GPU something wrong, or an engine stopped on it.
_SOFTWARE: dict[int, str] = {
    8: "the GPU did not finish a command in time and the channel was stopped",
    13: "a kernel raised an exception on the GPU: most often the program read or wrote out of bounds",
    14: "a test error that the driver raises on purpose",
    16: "the display did not answer in time",
    19: "the display engine missed a notification",
    20: "the video decoder was given a wrong command",
    21: "the motion-estimation engine was given a wrong command",
    22: "the video processor was given a wrong command",
    23: "error logging was switched on",
    27: "the video processor failed",
    28: "the second video processor failed",
    29: "the bitstream engine failed",
    30: "an unused number",
    31: "a program touched GPU memory that is not mapped: an illegal address in a kernel, or a driver bug",
    32: "the command stream to the GPU was damaged: a driver bug, or a bad PCIe link",
    33: "the security engine failed",
    34: "the video bitstream engine failed",
    35: "the video decoder failed",
    36: "the video post-processor failed",
    42: "the video compositor failed",
    43: "a program's GPU work was stopped after its own error; the GPU is fine",
    44: "the GPU faulted while it switched between programs",
    45: "the driver cleaned up GPU work after an earlier error, or because the program was killed",
    60: "the second security engine failed",
    69: "the compute engine was given a command it does not know",
    78: "a virtual GPU could not be started",
    81: "the VGA part of the GPU failed",
    87: "a telemetry note of the driver",
    91: "a reserved number",
    109: "the GPU could not switch away from a program in time and stopped it",
    138: "the deep-learning accelerator failed",
    141: "a fast-path channel error",
    151: "rotating the encryption keys failed",
    152: "a reserved number",
    153: "a reserved number",
    154: "the driver changed its advice on how to recover the GPU; the line itself names the action",
    174: "a program's GPU channel was removed silently",
}

_HARDWARE: dict[int, str] = {
    48: "a double-bit memory error that ECC cannot correct",
    58: "the memory interface failed",
    59: "the power-management unit failed",
    61: "the power-management unit stopped at an internal breakpoint",
    62: "the power-management unit halted",
    64: "a bad memory row or page could not be recorded for replacement",
    74: "an NVLink failed",
    79: "the GPU has fallen off the PCIe bus: power, cooling, seating or the card itself",
    80: "the command stream arrived with a wrong checksum: the PCIe link corrupts data",
    90: "the GPU's cache reported an error",
    93: "the card's information memory has been erased too often",
    95: "an uncorrectable memory error that reached several programs; the GPU needs a reset",
    108: "an address translation across NVLink failed",
    110: "a security fault; the card needs a power cycle",
    119: "the GPU's system processor (GSP) did not answer the driver in time",
    120: "the GPU's system processor (GSP) reported an error",
    121: "the chip-to-chip link to the CPU failed",
    122: "the card's flash memory could not be read",
    123: "the card's flash memory could not be written",
    124: "the card's flash memory could not be erased",
    125: "the file system of the card's information memory is damaged",
    136: "an NVLink could not be trained",
    137: "an NVLink refused an access",
    140: "an uncorrectable memory error was found outside the ECC path",
    143: "the GPU could not be initialised",
    **dict.fromkeys(range(144, 151), "a part of NVLink failed"),
    155: "an NVLink error that the software defines",
    157: "a bad resource could not be retired",
    158: "the GPU did not answer in time and is given up",
    159: "the coherent host interface failed",
    161: "a bad memory channel could not be retired",
    163: "the current sink is switched off",
    165: "the current sink has no lifetime left",
    166: "encrypted NVLink failed",
    167: "PCIe did not answer in time",
    169: "the second security engine halted",
    170: "secure NVLink failed",
    171: "an uncorrectable error in the GPU's memory (DRAM)",
    172: "an uncorrectable error inside the GPU (SRAM)",
    173: "the chip-to-chip link is lost",
    175: "the memory subsystem failed",
}

_RECOVERED: dict[int, str] = {
    63: "a bad memory row or page was recorded; it is replaced at the next reset",
    92: "many single-bit memory errors, all corrected",
    94: "an uncorrectable memory error was contained: one program died, the GPU went on",
    156: "a bad resource was retired",
    160: "a bad memory channel was retired",
    162: "the current sink is switched on again",
    164: "the current sink has little lifetime left",
    168: "the GPU runs with less memory than it was built with",
    176: "many PCIe errors, all corrected",
}

_ENGINES: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("copy engine", (39, 40, 41, 70, 71, 72, 75, 76, 77, 85, *range(126, 136))),
    ("video encoder", (47, 65, 73, 142)),
    ("video decoder", (68, 83, 84, 88, 89, 96, 97, 98)),
    ("JPEG engine", (82, *range(99, 106))),
    ("flow engine", (86, 139)),
)


def _rows() -> dict[int, XidRow]:
    out = {n: XidRow(n, f"an error in a {name}", False, HEADER) for name, numbers in _ENGINES for n in numbers}
    out.update({n: XidRow(n, text, False, CATALOG if n in (8, 109) else HEADER) for n, text in _SOFTWARE.items()})
    out.update({n: XidRow(n, text, True, HEADER) for n, text in _HARDWARE.items()})
    out.update({n: XidRow(n, text, True, HEADER, recovered=True) for n, text in _RECOVERED.items()})
    return dict(sorted(out.items()))


ROWS: dict[int, XidRow] = _rows()


def meaning(number: int) -> XidRow | None:
    """What an Xid number means; None for a number that is not in the table."""
    return ROWS.get(number)


def of_a_program(number: int | None) -> bool:
    """Whether an Xid speaks of one program's work on the GPU, not of the GPU itself."""
    row = ROWS.get(number) if number is not None else None
    return row is not None and not row.hardware
