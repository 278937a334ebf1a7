"""Present: what a text shows to be there already is no remedy: a package that is listed, a driver that is new enough, a GPU that was handed over.

`spent` knows the commands that were typed; here it is the outcome that is told: who has it gains nothing by installing it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later


def present(said: str, case: Asked) -> bool:
    """Whether what a remedy would bring, by its sentence and its command, is there."""
    return any(one(said, case) for one in _THERE)


_DRIVER = re.compile(r"\A(?:Or |On the host: )?(?:Windows: )?(?:install|update)\b[^\n]{0,40}\bdriver\b(?![^\n]*, or\b)[^\n]*?\b(?P<least>\d{3})(?:\.\d+)* or newer", re.IGNORECASE)  # fmt: skip


def _new_enough(said: str, case: Asked) -> bool:
    """A driver that is as new as the remedy asks for."""
    found = _DRIVER.match(said)
    return found is not None and numbers(case.driver)[:1] >= (int(found["least"]),)


_ONLY_GPUS = re.compile(r"^docker run (?:(?:--rm|-it|-d) )*--gpus all (?:(?:--rm|-it|-d) )*(?!-)\S+(?: nvidia-smi)?\s*\Z", re.MULTILINE)  # fmt: skip

_GIVEN = Later(r"\bdocker(?:\.exe)? (?:container )?run\b[^\n]*--gpus")


def _handed_over(said: str, case: Asked) -> bool:
    """The GPU was given to the container, and the remedy gives nothing else."""
    return "given" in case.tools and bool(_GIVEN.search(case.text)) and bool(_ONLY_GPUS.search(said))


_PIP = re.compile(r"^(?:\S*python\S* -m )?(?:uv )?pip3? install(?P<words>[^\n&|;#]*)$", re.MULTILINE)
_ANEW = re.compile(r"-U\b|--upgrade|reinstall|--no-cache|--pre\b|index-url|--target|venv|uninstall|\[|://|\.whl|--no-binary|torch-backend|-r ")  # fmt: skip
_REQUIREMENT = re.compile(r"[\"']?(?P<name>[A-Za-z][\w.-]*)(?:==(?P<pin>[\d.]+\d))?[\"']?$")


def _listed(said: str, case: Asked) -> bool:
    """Packages that the same pip lists, in the release that is asked for: it would answer that they are satisfied."""
    lines = [found["words"] for found in _PIP.finditer(said)]
    if not lines or _ANEW.search(said.partition("\n")[2]):
        return False
    wanted = [_REQUIREMENT.match(word) for line in lines for word in line.split()]
    return all(one is not None and _has(one["name"], one["pin"] or "", case.text) for one in wanted)


def _has(name: str, pin: str, text: str) -> bool:
    spelled = re.sub(r"_|\\-", "[-_]", re.escape(name))
    number = re.escape(pin) if pin else r"\d[\w.]*"
    words = rf"^{spelled} +{number}(?:\s|$)|^{spelled}=={number}\s*$|Requirement already satisfied: {spelled}(?:=={number})? in "
    return bool(re.search(words, text, re.MULTILINE | re.IGNORECASE))


_CUDA = re.compile(
    r"\A(?:Or )?install (?:the )?CUDA (?:toolkit )?(?P<release>\d+\.\d+)\b(?![^\n]*cuDNN)", re.IGNORECASE
)


def _toolkit(said: str, case: Asked) -> bool:
    """A toolkit whose own DLLs are loaded, or whose compiler answers."""
    found = _CUDA.match(said)
    if not found:
        return False
    release = re.escape(found["release"])
    loaded = rf"(?:loaded|opened)[^\n]*CUDA[\\/]v{release}[\\/]bin|Cuda compilation tools, release {release}\b"
    return bool(re.search(loaded, case.text, re.IGNORECASE))


_TO_TWO = re.compile(
    r"\A(?:Or |Then )?(?:Move it to WSL 2|Make sure that this distribution runs under WSL 2)\b", re.IGNORECASE
)
_IS_TWO = Later(r"microsoft-standard|^\s*\*?\s*[\w.-]+\s+(?:Running|Stopped)\s+2\s*$|\bWSL ?2 kernel", re.IGNORECASE | re.MULTILINE)  # fmt: skip
_IS_ONE = Later(r"^\s*\*?\s*(?!docker)[\w.-]+\s+(?:Running|Stopped)\s+1\s*$", re.MULTILINE)


def _second_wsl(said: str, case: Asked) -> bool:
    """A distribution that runs under WSL 2 as it should."""
    return bool(_TO_TWO.search(said)) and bool(_IS_TWO.search(case.text)) and not _IS_ONE.search(case.text)


_FRESH_DRIVER = re.compile(r"\A(?:Or |On the host: )?(?:Linux, not WSL: )?install (?:the|NVIDIA's) (?:NVIDIA )?driver\b(?![^\n]*newe)", re.IGNORECASE)  # fmt: skip


def _driver_answers(said: str, case: Asked) -> bool:
    """A driver that nvidia-smi shows at work."""
    return bool(_FRESH_DRIVER.match(said)) and bool(case.driver) and case.reading.has("told.smi_table")


_THERE: tuple[Callable[[str, Asked], bool], ...] = (
    _new_enough,
    _handed_over,
    _listed,
    _toolkit,
    _second_wsl,
    _driver_answers,
)
