"""Same release: what is installed anew because it is broken, or in two, stays the release that the text tells of; a wheel stays of the CUDA that is told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later

_AS_IT_WAS = ("install.conflict", "install.corrupted")
_JAX = re.compile(r"(['\"]?)jax\[(cuda1[123]\w*)\]\1(?=\s|$)")
_PLAIN = re.compile(r"(?<=pip install )(?P<options>(?:-\S+ )*)(?P<mark>['\"]?)(?P<name>onnxruntime-gpu|torch|tensorflow|bitsandbytes|xformers)(?:\[[\w,-]+\])?(?:[<>=~!][^'\"\s]*)?(?P=mark)(?=\n|$| &&)")  # fmt: skip
_LISTED = r"^\s*{name}\s*(?:==|\s|@ )\s*v?(\d+(?:\.\d+)+(?:\.post\d+)?)"
_WHEEL = Later(r"\bnvidia[-_]\w+?[-_]cu(1[1-3])\b")
_OF_CUDA = re.compile(r"(nvidia-cudnn)-cu1[1-3]\b")


def same_release(cause: str, fixes: Sequence[Fix], case: Asked) -> Iterator[Fix]:
    """The fixes, with the releases that the text lists where they are to stay."""
    for fix in fixes:
        command = _together(str(fix.command), case)
        if cause in _AS_IT_WAS:
            command = _PLAIN.sub(lambda found: _pinned(found, case), command)
        if cause.startswith("cudnn.") or cause in _AS_IT_WAS:
            command = _of_its_cuda(command, case)
        yield structs.replace(fix, command=on.like(command, fix.command)) if command != fix.command else fix


def listed(name: str, case: Asked) -> str:
    """The release of a package that a listing in the text gives; "" where none does, or two."""
    found = {one[1] for one in re.finditer(_LISTED.format(name=re.escape(name)), case.text, re.MULTILINE)}
    return found.pop() if len(found) == 1 else ""


def _together(command: str, case: Asked) -> str:
    """JAX's plug-ins are those of the jax that is there."""
    mine, plugin = listed("jax", case), listed("jax-cuda12-plugin", case)
    if not mine or not plugin or mine == plugin:
        return command
    return _JAX.sub(lambda found: f'"jax[{found[2]}]=={mine}"', command)


def _pinned(found: re.Match[str], case: Asked) -> str:
    release = listed(found["name"], case)
    return f'{found["options"]}"{found["name"]}=={release}"' if release else found[0]


def _of_its_cuda(command: str, case: Asked) -> str:
    told = {one[1] for one in _WHEEL.finditer(case.text)}
    return _OF_CUDA.sub(rf"\1-cu{told.pop()}", command) if len(told) == 1 else command
