"""Runtimes: how other languages than Python, and small tools, tell that their own program ended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from gpuwhy.log.expressions import Expression

REACH = 6
"""Lines around a line in which its form goes on."""
SAYS = r"(?P<says>.{1,400})"


class Runtime(NamedTuple):
    """One form: the line that tells, and what stands above or below where the line is anybody's."""

    name: str
    line: str
    below: str = ""
    above: str = ""
    next_line: bool = False  # the words stand in the line below


RUNTIMES = (
    Runtime("perl", r"(?P<says>\S.{0,400}?) at \S+ line \d+(?:, <\w*> (?:line|chunk) \d+)?\.$"),
    Runtime(
        "ruby",
        r"\S{1,200}\.rb:\d+:in [`'][^'\n]{1,120}'?: (?P<says>.{1,400})"
        r" \((?:[A-Z]\w*(?:::\w+)*)\)$",
    ),
    Runtime("ruby", r"(?:\S{1,200}\.rb:\d+: )(?P<says>syntax error.{0,300})"),
    Runtime("php", rf"PHP (?:Fatal|Parse) error: +{SAYS}"),
    Runtime("php", r"(?:Fatal|Parse) error: (?P<says>.{1,400} in \S+(?: on line |:)\d+)"),
    Runtime("lua", rf"(?:lua\S{{0,10}}|luajit): {SAYS}", below=r"stack traceback:"),
    Runtime(
        "julia",
        rf"ERROR: (?:LoadError: )?{SAYS}",
        below=r"Stacktrace:|in expression starting at ",
    ),
    Runtime("r", r"Error(?: in .{1,200})? ?: ?(?P<says>.{0,400})", below=r"Execution halted"),
    Runtime("haskell", rf"[\w.-]{{1,60}}: {SAYS}", below=r"CallStack \(from HasCallStack\)"),
    Runtime("elixir", rf"(?:\*\* )?\((?:[A-Z]\w*(?:\.\w+)*Error|exit|throw)\) {SAYS}"),
    Runtime("erlang", rf"\{{\"init terminating in do_boot\",{SAYS}"),
    Runtime("erlang", r"escript: (?P<says>exception .{1,400})"),
    Runtime(
        "swift",
        r"(?:\S{1,200}\.swift:\d+: )?Fatal error: (?P<says>.{1,400}?)(?:: file \S+, line \d+)?$",
    ),
    Runtime("ocaml", rf"Fatal error: exception {SAYS}"),
    Runtime("zig", rf"thread \d+ panic: {SAYS}"),
    Runtime("nim", r"Error: unhandled exception: (?P<says>.{1,400}) \[\w+\]$"),
    Runtime("fortran", rf"(?:Fortran runtime error|forrtl: (?:severe|error) \(\d+\)): {SAYS}"),
    Runtime("matlab", r"Error using \S+", below=r"Error in \S+ \(line \d+\)", next_line=True),
    Runtime("octave", rf"error: {SAYS}", below=r"error: called from"),
    Runtime("dotnet", rf"Unhandled [Ee]xception(?:\.|:) {SAYS}"),
    Runtime(
        "jvm",
        r"(?:Caused by: )?(?:[a-z]\w*\.){1,8}[A-Z]\w*(?:Exception|Error)(?:: (?P<says>.{0,400}))?$",
        below=r"\s+at [\w.$/<>]+\(",
    ),
    Runtime("dart", r"(?P<says>\w+(?:Exception|Error)\b.{0,400})", above=r"Unhandled exception:"),
    Runtime("deno", rf"error: Uncaught (?:\(in promise\) )?{SAYS}"),
    Runtime("rust-compiler", rf"error\[E\d{{4}}\]: {SAYS}"),
    Runtime(
        "shell",
        r"\S{1,120}: (?:line )?\d+: (?P<says>(?:syntax error|unexpected"
        r"|conditional binary operator|division by 0).{0,300})",
    ),
    Runtime(
        "zsh",
        r"zsh:(?:\d+:)? (?P<says>(?:no matches found|parse error|bad pattern|unknown"
        r"|no such file).{0,300})",
    ),
    Runtime("fish", r"fish: (?P<says>.{1,300})"),
    Runtime("awk", r"[gm]?awk: (?P<says>.{1,300})"),
    Runtime("jq", r"jq: error(?: \(at [^)]{1,80}\))?: (?P<says>.{1,300})"),
)
"""The words that a runtime prints around the program's own, whatever those are."""
WHOLE = frozenset(one.name for one in RUNTIMES) - {"shell", "zsh", "fish", "awk", "jq"}
"""Those that end a whole program: a step of a script is one of many."""
_HINT = Expression("runtimes.hint")


class RuntimeEnd(NamedTuple):
    """A line by which a runtime ended: its name, its words, the place after it."""

    name: str
    says: str
    after: int


def runtime_end(lines: Sequence[str], at: int) -> RuntimeEnd | None:
    """The end that a line tells in the form of another language."""
    line = lines[at].strip()
    if not _HINT.search(line[:400]):
        return None
    for one in RUNTIMES:
        found = _compiled(one.line).match(line)
        if not found:
            continue
        below, above = lines[at + 1 : at + 1 + REACH], lines[max(0, at - 2) : at]
        if _stands(one.below, below) and _stands(one.above, above):
            return _end(one, found, lines, at)
    return None


def _stands(wanted: str, lines: Sequence[str]) -> bool:
    return not wanted or any(_compiled(wanted).match(line) for line in lines)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _end(one: Runtime, found: re.Match[str], lines: Sequence[str], at: int) -> RuntimeEnd:
    says = found.groupdict().get("says") or ""
    after = at + 1
    if (one.next_line or not says.strip()) and after < len(lines):
        says, after = lines[after].strip(), after + 1
        if one.below and _compiled(one.below).match(says):
            says = ""  # only where it ended: what was printed above tells why
    return RuntimeEnd(one.name, says.strip(), after)
