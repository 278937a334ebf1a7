"""A wheel that is named by its file, made for another torch, CUDA or C++ ABI than the one beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import together
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least, major_minor, numbers

RULE = Rule("named-wheel", "error", "a wheel named by its file, for another torch, CUDA or C++ ABI")

_KNOW = source("the wheel's own name; PyTorch 2.7 release notes", "cxx11abi: Linux wheels have the new one from 2.7 on")


class Made(NamedTuple):
    """What the label of a wheel says: 12, 12.4; 2.8; TRUE."""

    cuda: str
    torch: str
    abi: str


def check(scope: Scope) -> Iterator[Mistake]:
    """flash_attn-2.8.3+cu12torch2.8cxx11abiFALSE-cp311… beside torch==2.8.0."""
    torch = _torch(scope)
    for pin in scope.pins if torch and not scope.environment.forked else ():
        made = read(pin.local) if pin.reference and pin.name != "torch" and "torch" in pin.local.lower() else None
        wrong = _wrong(made, torch[0], torch[1]) if made and torch and _meets(pin, torch[2]) else ""
        if wrong and torch:
            text = f"the wheel of {pin.name} is for {wrong}; {torch[3]}"
            yield RULE.mistake(pin.place, text, _KNOW, "take the file of the same release for that torch")


def _meets(pin: Pin, torch: Pin | None) -> bool:
    return torch is None or together(pin, torch)


def _torch(scope: Scope) -> tuple[str, str, Pin | None, str] | None:
    """The release of torch, its CUDA build ('' = not said), the pin and the words for it."""
    pins = [pin for pin in scope.pins if pin.name == "torch" and pin.version and pin.origin == "pip"]
    if len({pin.version for pin in pins}) == 1:
        pin = pins[0]
        return pin.version.partition("+")[0], pin.variant, pin, f"torch=={pin.version} (line {pin.place.line})"
    base = scope.base
    named = any(pin.name in ("torch", "pytorch") for pin in scope.pins)
    if not named and base.family == "pytorch" and base.version:
        return base.version, "cu" + base.cuda.replace(".", ""), None, f"torch {base.version} of the image"
    return None


def read(label: str) -> Made | None:
    """cu12torch2.8cxx11abiFALSE, pt24cu121, torch2.4.0cu121 …; None for what says nothing of torch."""
    cuda = re.search(r"cu(\d{2,3})", label)
    torch = re.search(r"(?:torch|pt)(\d+\.\d+|\d{2,3})", label)
    abi = re.search(r"cxx11abi(TRUE|FALSE)", label, re.IGNORECASE)
    if not torch:
        return None
    number = torch[1] if "." in torch[1] else f"{torch[1][0]}.{torch[1][1:]}"
    return Made(_cuda(cuda[1]) if cuda else "", number, abi[1].upper() if abi else "")


def _cuda(digits: str) -> str:
    return digits if len(digits) == 2 else f"{digits[:2]}.{digits[2:]}"


def _wrong(made: Made, torch: str, build: str) -> str:
    if major_minor(torch) != major_minor(made.torch):
        return f"torch {made.torch}"
    built = re.fullmatch(r"cu(\d+)(\d)", build)
    if built and made.cuda and str(numbers(made.cuda)[0]) != built[1]:
        return f"CUDA {made.cuda}"
    if made.abi and not build.startswith("cu") and made.abi != ("TRUE" if at_least(torch, "2.7") else "FALSE"):
        return f"the {'new' if made.abi == 'TRUE' else 'old'} C++ ABI (cxx11abi{made.abi})"
    return "the old C++ ABI (cxx11abiFALSE)" if made.abi == "FALSE" and at_least(torch, "2.7") else ""
