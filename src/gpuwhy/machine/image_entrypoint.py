"""Which variables the start of an image sets: `env A=1 …`, `sh -c "A=1 exec …"`, a script."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import structs

from gpuwhy.facts.variables import SetAtStart

_SHELLS = ("sh", "bash", "dash", "ash")
_READ = re.compile(
    r"LD_LIBRARY_PATH|LD_PRELOAD|PATH|PYTHONPATH"
    r"|CUDA_\w+|TF_\w+|XLA_\w+|JAX_\w+|PYTORCH_\w+|TORCH_\w+"
)
"""Those that the stack reads; the engine reads NVIDIA_… before the start."""
_SETS = re.compile(
    r"(?:export\s+)?([A-Z][A-Z0-9_]*)=((?:\"[^\"]*\"|'[^']*'|[^\s;&|\"'])*)(?=[\s;&]|$)"
)
_TAKES = re.compile(r"unset\s+([A-Z][A-Z0-9_ ]*)")
_OPENS = re.compile(r"^\s*(?:if|for|while|until|case)\b|^\s*[\w-]+ *\(\) *\{?\s*$|\{\s*$")
_CLOSES = re.compile(r"^\s*(?:fi|done|esac|\})(?:\s|;|$)")
_ONE_LINE = re.compile(r"^\s*(?:if|for|while|case)\b.*\b(?:fi|done|esac)\b")
_ASKS = re.compile(r"(?:!\s|\[|test\s|command\s|which\s|type\s|grep\s|false\b)")
"""A command that is asked whether it goes well: what `&&` joins to it may not be run."""
_NAMED = re.compile(r"\$\{(\w+)(?::[-+][^}]*)?\}|\$(\w+)")
_LONGEST = 200


def started_with(
    words: Sequence[str], environ: Mapping[str, str], read: Callable[[str], str]
) -> dict[str, str]:
    """The variables that the program gets; `read` gives a script's text, or ""."""
    found = dict(environ)
    for one in changes(words, environ, read):
        if one.words.startswith("unset"):
            found.pop(one.name, None)
        else:
            found[one.name] = one.after
    return found


def changes(
    words: Sequence[str], environ: Mapping[str, str], read: Callable[[str], str]
) -> Iterator[SetAtStart]:
    """What the start sets and unsets, in order."""
    found, script = dict(environ), ""
    if not words:
        return
    name = words[0].rpartition("/")[2]
    if name == "env":
        text = " ".join(shlex.quote(one) if "=" not in one else one for one in words[1:])
    elif name in _SHELLS and len(words) > 2 and re.fullmatch(r"-\w*c", words[1]):
        text = words[2]
    else:
        script = words[1] if name in _SHELLS and len(words) > 1 else words[0]
        text = read(script)
    for number, line in _plain(text):
        for one in _line(line.strip(), found):
            yield structs.replace(one, script=script, line=number)


def _plain(script: str) -> Iterator[tuple[int, str]]:
    """Its plain lines in order, with their numbers; what a condition guards is left out."""
    depth = 0
    for number, line in enumerate(script.splitlines()[:_LONGEST], 1):
        if _CLOSES.match(line):
            depth = max(0, depth - 1)
        elif _OPENS.search(line) and not _ONE_LINE.match(line):
            depth += 1
        elif not depth and not _ONE_LINE.match(line):
            yield number, line


def _line(line: str, found: dict[str, str]) -> Iterator[SetAtStart]:
    """Assignments at the start of each command; what `&&` joins to a test is left out."""
    asked = False
    for end, part in re.findall(r"(^|;|&&)((?:(?!;|&&).)*)", line):
        rest = part.strip()
        asked = (asked and end == "&&") or bool(_ASKS.match(rest))
        if asked:
            continue
        if taken := _TAKES.match(rest):
            for name in taken[1].split():
                yield SetAtStart(name, found.pop(name, ""), "", "", 0, taken[0].strip())
        while (one := _SETS.match(rest)) is not None:
            if _READ.fullmatch(one[1]) and "$(" not in one[2] and "`" not in one[2]:
                before, found[one[1]] = found.get(one[1], ""), _value(one[2], found)
                yield SetAtStart(one[1], before, found[one[1]], "", 0, one[0].strip())
            rest = rest[one.end() :].lstrip()


def _value(text: str, found: Mapping[str, str]) -> str:
    bare = text.strip("\"'")
    if text.startswith("'"):
        return bare
    return _NAMED.sub(lambda name: _expanded(name, found), bare)


def _expanded(name: re.Match[str], found: Mapping[str, str]) -> str:
    """$A, ${A}, ${A:-other}, ${A:+:$A}."""
    whole = re.match(r"\$\{(\w+):([-+])([^}]*)\}?", name[0])
    value = found.get(name[1] or name[2], "")
    if whole is None:
        return value
    if whole[2] == "-":
        return value or whole[3]
    return whole[3].replace(f"${whole[1]}", value) if value else ""
