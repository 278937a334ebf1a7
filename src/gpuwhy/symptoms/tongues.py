"""Tongues: the forms in which other languages than Python, and tools, tell that their own program ended, and why.

A form is what the runtime prints around the program's words whatever those are; the words decide whether the GPU stack
has a part (`own.py`). A form that only tells that something else ended (a launcher's) is none of these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gpuwhy.model.ending import Ending

REACH = 6
"""Lines around a line in which its form goes on."""
WIDE = 2000


class Tongue(msgspec.Struct, frozen=True):
    """One form: the line that tells, and what has to stand above or below it where the line alone is anybody's."""

    name: str
    line: re.Pattern[str]
    below: re.Pattern[str] | None = None
    above: re.Pattern[str] | None = None
    next_line: bool = False  # the words stand in the line below


def _tongue(name: str, line: str, below: str = "", above: str = "", next_line: bool = False) -> Tongue:
    made = [re.compile(one) if one else None for one in (below, above)]
    return Tongue(name, re.compile(line), made[0], made[1], next_line)


TONGUES = (
    _tongue("perl", r"(?P<says>\S.{0,400}?) at \S+ line \d+(?:, <\w*> (?:line|chunk) \d+)?\.$"),
    _tongue("ruby", r"\S{1,200}\.rb:\d+:in [`'][^'\n]{1,120}'?: (?P<says>.{1,400}) \((?:[A-Z]\w*(?:::\w+)*)\)$"),
    _tongue("ruby", r"(?:\S{1,200}\.rb:\d+: )(?P<says>syntax error.{0,300})"),
    _tongue("php", r"PHP (?:Fatal|Parse) error: +(?P<says>.{1,400})"),
    _tongue("php", r"(?:Fatal|Parse) error: (?P<says>.{1,400} in \S+(?: on line |:)\d+)"),
    _tongue("lua", r"(?:lua\S{0,10}|luajit): (?P<says>.{1,400})", below=r"stack traceback:"),
    _tongue("julia", r"ERROR: (?:LoadError: )?(?P<says>.{1,400})", below=r"Stacktrace:|in expression starting at "),
    _tongue("r", r"Error(?: in .{1,200})? ?: ?(?P<says>.{0,400})", below=r"Execution halted"),
    _tongue("haskell", r"[\w.-]{1,60}: (?P<says>.{1,400})", below=r"CallStack \(from HasCallStack\)"),
    _tongue("elixir", r"(?:\*\* )?\((?:[A-Z]\w*(?:\.\w+)*Error|exit|throw)\) (?P<says>.{1,400})"),
    _tongue("erlang", r"\{\"init terminating in do_boot\",(?P<says>.{1,400})|escript: (?P<says2>exception .{1,400})"),
    _tongue("swift", r"(?:\S{1,200}\.swift:\d+: )?Fatal error: (?P<says>.{1,400}?)(?:: file \S+, line \d+)?$"),
    _tongue("ocaml", r"Fatal error: exception (?P<says>.{1,400})"),
    _tongue("zig", r"thread \d+ panic: (?P<says>.{1,400})"),
    _tongue("nim", r"Error: unhandled exception: (?P<says>.{1,400}) \[\w+\]$"),
    _tongue("fortran", r"Fortran runtime error: (?P<says>.{1,400})|forrtl: (?:severe|error) \(\d+\): (?P<says2>.{1,400})"),
    _tongue("matlab", r"Error using \S+", below=r"Error in \S+ \(line \d+\)", next_line=True),
    _tongue("octave", r"error: (?P<says>.{1,400})", below=r"error: called from"),
    _tongue("dotnet", r"Unhandled [Ee]xception(?:\.|:) (?P<says>.{1,400})"),
    _tongue("jvm", r"(?:Caused by: )?(?:[a-z]\w*\.){1,8}[A-Z]\w*(?:Exception|Error)(?:: (?P<says>.{0,400}))?$", below=r"\s+at [\w.$/<>]+\("),
    _tongue("dart", r"(?P<says>\w+(?:Exception|Error)\b.{0,400})", above=r"Unhandled exception:"),
    _tongue("deno", r"error: Uncaught (?:\(in promise\) )?(?P<says>.{1,400})"),
    _tongue("rust-compiler", r"error\[E\d{4}\]: (?P<says>.{1,400})"),
    _tongue("shell", r"\S{1,120}: (?:line )?\d+: (?P<says>(?:syntax error|unexpected|conditional binary operator|division by 0).{0,300})"),
    _tongue("zsh", r"zsh:(?:\d+:)? (?P<says>(?:no matches found|parse error|bad pattern|unknown|no such file).{0,300})"),
    _tongue("fish", r"fish: (?P<says>.{1,300})"),
    _tongue("awk", r"[gm]?awk: (?P<says>.{1,300})"),
    _tongue("jq", r"jq: error(?: \(at [^)]{1,80}\))?: (?P<says>.{1,300})"),
)  # fmt: skip
"""How other runtimes and small tools tell their own end."""
ENDS = frozenset(one.name for one in TONGUES) - {"shell", "zsh", "fish", "awk", "jq"}
"""Those in which a whole program ends: a step of a script is one of many."""


def told_end(lines: Sequence[str], at: int) -> Ending | None:
    """The ending that a line tells in the form of another language."""
    line = lines[at].strip()
    for one in TONGUES:
        found = one.line.match(line)
        if (
            found
            and _stands(one.below, lines[at + 1 : at + 1 + REACH])
            and _stands(one.above, lines[max(0, at - 2) : at])
        ):
            return _ending(one, found, lines, at)
    return None


def _stands(wanted: re.Pattern[str] | None, lines: Sequence[str]) -> bool:
    return wanted is None or any(wanted.match(line) for line in lines)


def _ending(one: Tongue, found: re.Match[str], lines: Sequence[str], at: int) -> Ending:
    groups = found.groupdict()
    says = groups.get("says") or groups.get("says2") or ""
    after = at + 1
    if (one.next_line or not says.strip()) and after < len(lines):
        says, after = lines[after].strip(), after + 1
        if one.below is not None and one.below.match(says):
            says = ""  # only where it ended: what was printed above tells why
    return Ending("fatal", one.name, says[:WIDE].strip(), line=at + 1, first=at + 1, last=after)
