"""By pip: where pip runs CMake, nobody types cmake: its options go into pip's environment, and the same install is typed again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import commands

_INSTALL = re.compile(r"(?:^|; *|&& *)(?P<pip>(?:\S*python[\d.]*(?:\.exe)? -m )?(?:uv )?pip3? install\b[^\n;&|]*)")
_FAILED = Later(
    r"CMake Error|CMake configuration failed|scikit-build|Failed building wheel|nvcc fatal|subprocess-exited-with-error"
)
_CMAKE = re.compile(r"^cmake -B \S+(?P<options>[^\n#]*?)(?P<note>\s+#[^\n]*)?$", re.MULTILINE)
_ANEW = Later(r"then configure again in a fresh build folder")
_AFRESH = re.compile(r"^CMake: |(, then )configure again in a fresh build folder|,? in a fresh build folder")
_GENERATOR = re.compile(r"-G \"?(?P<name>[\w ]+?)\"?(?= -|$)")
_GIVEN = re.compile(r"\$env:CMAKE_ARGS ?= ?[\"'](?P<power>[^\"'\n]*)|\bset \"?CMAKE_ARGS=(?P<cmd>[^\"\n&]*)|\bCMAKE_ARGS=[\"']?(?P<sh>[^\"'\n]*?)[\"']? (?:FORCE_CMAKE|pip|python)")  # fmt: skip
"""The options that were given to it before, which are given again."""


def under_pip(fixes: Sequence[Fix], case: Asked) -> list[Fix]:
    """The fixes, what they say to type for CMake as pip takes it, where pip was typed and CMake was not."""
    typed = _typed(case)
    if not typed:
        return list(fixes)
    return [_said(fix, typed, case) for fix in fixes]


def _typed(case: Asked) -> str:
    """The install that failed; "" where CMake was called by hand, or nothing was built."""
    ran = [one.command for one in commands(case.text)]
    if any(one.startswith("cmake ") for one in ran) or not _FAILED.search(case.text):
        return ""
    found = [one["pip"].strip() for command in ran if (one := _INSTALL.search(command))]
    return found[-1] if found else ""


def _said(fix: Fix, typed: str, case: Asked) -> Fix:
    found = _CMAKE.search(fix.command)
    text = _AFRESH.sub(lambda one: f"{one[1]}install again" if one[1] else "", str(fix.text))
    if not found:
        again = fix.command and _ANEW.search(fix.text)
        command = on.like(f"{fix.command}\n{typed}", fix.command) if again else fix.command
        return structs.replace(fix, text=on.as_said(text, fix.text), command=command) if again else fix
    shell = fix.command.shell if isinstance(fix.command, on.Command) else ""
    lines = "\n".join((*_variables(found["options"], shell, case), typed))
    command = on.like(_CMAKE.sub(lambda _: lines, fix.command, count=1), fix.command)
    return structs.replace(fix, text=on.as_said(text[:1].upper() + text[1:], fix.text), command=command)


def _variables(options: str, shell: str, case: Asked) -> Iterator[str]:
    """The options as variables of the shell."""
    generator = _GENERATOR.search(options)
    before = _GIVEN.search(case.text)
    given = next(filter(None, before.groups()), "").strip() if before else ""
    rest = " ".join(filter(None, (given, _GENERATOR.sub("", options).strip())))
    pairs = [("CMAKE_GENERATOR", generator["name"])] if generator else []
    for name, value in (*pairs, *([("CMAKE_ARGS", rest)] if rest else ())):
        quoted = value.replace('"', "'")
        yield f'set "{name}={value}"' if shell == "cmd" else f'$env:{name} = "{quoted}"' if shell == "powershell" else f'export {name}="{quoted}"'  # fmt: skip
