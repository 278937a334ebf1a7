"""The distribution's pip, which is too old for the wheels that are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import ended
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import at_least

RULE = Rule("old-pip", "error", "a pip of the distribution that is too old for the wheels that are asked for")

_KNOW = source(
    "TensorFlow installation guide (pip 19.0 or newer); opencv-python FAQ (pip 19.3 or newer)",
    "manylinux2010 since pip 19.0, manylinux2014 since 19.3; Ubuntu 18.04 has pip 9.0.1, Ubuntu 16.04 pip 8.1.1",
)
_LAST = {
    "tensorflow": "1.15", "tensorflow-gpu": "1.15", "opencv-python": "4.2.0.34", "opencv-contrib-python": "4.2.0.34",
    "opencv-python-headless": "4.2.0.34", "onnxruntime": "1.1", "onnxruntime-gpu": "1.1",
}  # fmt: skip
"""The last release with a wheel that such a pip takes."""
_RENEWED = re.compile(
    r"install( \S+)* (-U|--upgrade)( \S+)* (\"|')?pip|install( \S+)* pip (-U|--upgrade)|get-pip|pip==|conda|venv"
)


def check(scope: Scope) -> Iterator[Mistake]:
    """The first package for which Ubuntu's pip finds no wheel, before pip is renewed."""
    stage = scope.environment
    if not _has_old_pip(scope):
        return
    renewed = next((n for n, c in enumerate(stage.commands, 1) if _RENEWED.search(c.text)), len(stage.commands) + 1)
    for pin in scope.pins:
        if 0 < pin.step < renewed and _is_late(pin):
            said = f"{pin.name} {pin.version}".strip()
            text = f"Ubuntu's own pip (9.0 or older here) knows no wheel of {said}: it builds it, or finds none"
            here = pin.place.path == stage.path
            place = pin.place if here else Place(stage.path, stage.commands[pin.step - 1].lines[0])
            yield RULE.mistake(place, text, _KNOW, 'write pip3 install --upgrade "pip<22" first')
            return


def _has_old_pip(scope: Scope) -> bool:
    """Whether a Dockerfile takes its pip from Ubuntu 16.04 or 18.04."""
    stage = scope.environment
    system = ended.system(stage.image.text) if stage.image else None
    old = system is not None and system.family == "ubuntu" and system.release in ("16.04", "18.04")
    return old and "python3-pip" in stage.apt and scope.kind == "dockerfile" and not scope.base.framework


def _is_late(pin: Pin) -> bool:
    last = _LAST.get(pin.name)
    if last is None or not pin.installed:
        return False
    return not pin.specifier or (bool(pin.version) and at_least(pin.version, last) and pin.version != last)
