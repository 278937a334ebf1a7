"""Where: the user's own place in a program that failed, and what a text tells of its surroundings besides."""

from __future__ import annotations

import re

from gpuwhy.model.ending import USER, Ending, Frame
from gpuwhy.model.symptom import Reading
from gpuwhy.rooms.text.later import Later

_NO_FILE = Later(r"<(?!ipython)|^$|runpy|[\\/]bin[\\/]|\bbin[\\/]\w+$|[\\/]lib(?:64)?[\\/](?:python\d|ctypes|site-packages|importlib|multiprocessing)", re.IGNORECASE)  # fmt: skip
_CELL = Later(r"<ipython-input-(\d+)|ipykernel_\d+[\\/](\d+)")
_PYTHON = Later(r"[\\/]python[ -]?(3\.\d{1,2}|2\.7)\b|[\\/]Python3(\d{1,2})[\\/]|\bcpython-3(\d{1,2})|\bcp3(\d{1,2})\b|\bPython[ :=v]{1,10}(3\.\d{1,2}|2\.7)", re.IGNORECASE)  # fmt: skip
_CONDA = Later(r"(?:mini|ana)conda|miniforge|mambaforge|[\\/]envs[\\/]|\bconda (?:install|create|activate)|/opt/conda", re.IGNORECASE)  # fmt: skip


def own_frame(reading: Reading) -> Frame | None:
    """The last place of the user's own code in the stack of the ending."""
    return next(filter(None, map(_last, (reading.ending, *reversed(reading.ending.chain)))), None)


def _last(ending: Ending) -> Frame | None:
    return next((one for one in reversed(ending.stack) if one.owner == USER and not _NO_FILE.search(one.file)), None)


def spot(frame: Frame | None) -> str:
    """The place in words: train.py, line 131 (loss.backward()); "" where there is none."""
    if frame is None:
        return ""
    place = f"{frame.base}, line {frame.line}" if frame.line else frame.base
    if _CELL.search(frame.file):
        place = "the notebook's cell"
    code = frame.code.strip()
    return f"{place} ({code})" if 0 < len(code) <= 60 else place


def at_spot(frame: Frame | None) -> str:
    """The same behind a sentence: " in train.py, line 131"; "" where there is none."""
    place = spot(frame)
    return f" in {place}" if place else ""


def python_of(reading: Reading) -> str:
    """The Python that a text tells of, by its words or by its paths: 3.6."""
    told = re.match(r"\d\.\d+", reading.told.version("python"))
    found = _PYTHON.search(reading.excerpt)
    if told or found is None:
        return told[0] if told else ""
    whole, minor = found[1] or found[5], found[2] or found[3] or found[4]
    return whole or f"3.{minor}"


def by_conda(reading: Reading) -> bool:
    """Whether the text tells of conda."""
    return bool(_CONDA.search(reading.excerpt))


def told_release(reading: Reading, name: str) -> str:
    """The release of a package that a text tells, also as `pip show` prints it."""
    shown = re.search(
        rf"^Name: {re.escape(name)}\s+Version: (\d[\w.+]*)", reading.excerpt, re.MULTILINE | re.IGNORECASE
    )
    shown = shown or re.search(
        rf"pip[\d.]* show [^\n]*\b{re.escape(name)}\b[^\n]*\n\s*Version: (\d[\w.+]*)", reading.excerpt, re.IGNORECASE
    )
    asked = re.search(rf"\b{re.escape(name)}\.__version__[^\n]*\n\s*['\"(]?(\d+\.\d+[\w.+]*)", reading.excerpt)
    if found := reading.told.version(name) or (shown[1] if shown else asked[1] if asked else ""):
        return found
    plain = re.search(
        rf"(?<![\w./-]){re.escape(name)}(?:==|[ -]v?)(\d{{1,2}}\.\d+(?:\.\d+)?(?:\+\w+)?)(?![\w.-]*\.(?:whl|so))",
        reading.excerpt,
    )
    return plain[1] if plain else ""
