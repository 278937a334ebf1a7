"""Modules of a cluster: a program that was built for a CUDA which no listing of what is there shows any more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import commands
from gpuwhy.rooms.text.ways import tried

_MODULE = re.compile(r"\bcuda(?:toolkit|-toolkit)?[/-](\d+\.\d+)", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w./-])(?:cuda-?|v)?(\d{1,2}\.\d)(?:\.\d+)?/?(?=\s|$)")
_LOADS = Later(r"\bmodule load +((?!cuda|cudnn|gcc|python|anaconda|miniconda)[\w.+-]+(?:/[\w.+-]+)?)")


def offered(case: Asked) -> tuple[str, ...]:
    """The CUDA releases that a listing of modules or of a cluster's folder shows; () where none does."""
    out: list[str] = []
    for ran in commands(case.text):
        if re.match(r"module (?:avail|spider|av)\b", ran.command):
            out += _MODULE.findall(ran.outcome)
        elif re.match(r"ls\b.*[/ ](?:cuda|CUDA)\S*$", ran.command):
            out += _MODULE.findall(ran.outcome) or _NUMBER.findall(ran.outcome)
    return tuple(dict.fromkeys(out))


def gone(case: Asked) -> bool:
    """Whether the CUDA that a library is of is none of those that a listing shows."""
    there = offered(case)
    first, last = (numbers(one) for one in (case.cuda, case.newest or case.cuda))
    fits = (first <= numbers(one)[: len(first)] and numbers(one)[: len(last)] <= last for one in there)
    return bool(there and first and case.library) and not any(fits)


def of_modules(case: Asked) -> Iterator[Fix]:
    """A program of a cluster, built for a CUDA that is no longer there."""
    if not gone(case) or case.framework:
        return
    there = offered(case)
    name = next(iter(_LOADS.findall(case.text)), "")
    program = f"module {name}" if name else "program"
    yield tried(f"The {program} was built for CUDA {case.cuda}, and {', '.join(there)} are what is there: ask for a build of it with one of these (module avail), or build it again with the newest that it allows, CUDA {max(there, key=numbers)} perhaps", on.linux(f"module avail {name.partition('/')[0]}"))  # fmt: skip
    yield tried(f"Or ask the administrators to bring the libraries of CUDA {case.cuda} back, or bring them yourself and have them searched", on.linux(f"conda create -y -p $HOME/cuda{case.cuda} -c conda-forge cudatoolkit={case.cuda}\nexport LD_LIBRARY_PATH=$HOME/cuda{case.cuda}/lib:$LD_LIBRARY_PATH"))  # fmt: skip
