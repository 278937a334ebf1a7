"""Person: what somebody in front of an answer may do, by what a text tells: rights, and the tool that installs packages."""

from __future__ import annotations

import re
from typing import Literal

Rights = Literal["none", "self", ""]
"""No root at all; root itself, without sudo, as in a container; "" where nothing tells."""
Installer = Literal["uv", "poetry", "pipenv", "pixi", "mamba", "micromamba", ""]

_DENIED = re.compile(
    r"\b(?:no|without|lack(?:ing)?|(?:don'?t|do not|doesn'?t|can'?t|cannot) (?:have|get|use))(?: any)? ?(?:the )?(?:sudo|root|admin\w*)\b(?! partition)"
    r"|not in the sudoers|not allowed to (?:run|execute) sudo|(?:is|am|are|I'm) not (?:an? )?(?:root|admin|sudoer)|unprivileged (?:user|account)",
    re.IGNORECASE,
)
_SHARED = re.compile(
    r"#SBATCH|\bsbatch\b|\bsrun\b|\bsalloc\b|slurmstepd|\bStepId=|SLURM_\w+|#PBS\b|\bqsub\b|PBS_JOBID|#BSUB|\bbsub\b|LSB_JOBID"
    r"|Currently Loaded Modules|\bmodule (?:load|list|avail|purge)\b|/lustre/|/gpfs/|/cvmfs/|\b(?:university|department|lab|shared|HPC)(?:'s)? (?:cluster|server|machine|node)"
    r"|\b(?:PBS|LSF|SGE|HPC|Slurm) (?:cluster|job|node)|@(?:login|head|gpu|node|compute|cn|dgx)[\w-]*\d+[ :\]]",
    re.IGNORECASE,
)
_HAS = re.compile(
    r"^[^\n]{0,60}[$%>#] *sudo |^sudo |\broot@[\w.-]+[:# ]|^[\w@.:~/-]{0,40}# ", re.IGNORECASE | re.MULTILINE
)
_ROOT_INSIDE = re.compile(
    r"\broot@[\w.-]+:|^\s*RUN |\bdocker build|python:\d[\d.]*-slim|/root/|^# ", re.IGNORECASE | re.MULTILINE
)
_USER_INSIDE = re.compile(
    r"\b(?!root@)[a-z_][\w-]*@[0-9a-f]{12}:|/home/jovyan|\bmambauser\b|\bnonroot\b|USER (?!root)\w+"
)

_INSTALLERS: tuple[tuple[Installer, re.Pattern[str]], ...] = (
    ("poetry", re.compile(r"\bpoetry (?:add|run|install|lock|shell|env)\b|pypoetry|poetry\.lock|\buse poetry\b", re.IGNORECASE)),
    ("pipenv", re.compile(r"\bpipenv (?:install|run|shell)\b|Pipfile", re.IGNORECASE)),
    ("pixi", re.compile(r"\bpixi (?:add|run|install|shell)\b|pixi\.(?:toml|lock)|/\.pixi/", re.IGNORECASE)),
    ("uv", re.compile(r"\buv (?:pip|add|run|sync|venv|lock|tool)\b|\buv\.lock|managed by uv|\busing uv\b", re.IGNORECASE)),
    ("micromamba", re.compile(r"\bmicromamba\b", re.IGNORECASE)),
    ("mamba", re.compile(r"\bmamba (?:install|create|env|activate|list)\b", re.IGNORECASE)),
)  # fmt: skip


def rights_of(text: str, inside: bool) -> Rights:
    """What the person may do as root: nothing where the text says so, or tells of a batch system's machine."""
    if _DENIED.search(text):
        return "none"
    if inside:
        return "" if _USER_INSIDE.search(text) else "self"
    return "none" if _SHARED.search(text) and not _HAS.search(text) else ""


def installer_of(text: str) -> Installer:
    """The tool that the text shows to install packages, where it is neither pip nor conda; the first that is named."""
    return next((name for name, words in _INSTALLERS if words.search(text)), "")


_STEP = r"(?P<before>^|&& |; |(?:[A-Z_]+=(?:\"[^\"]*\"|'[^']*'|\S+) )+)"
_PIP = re.compile(_STEP + r"pip (?P<verb>install|uninstall|list|show|cache)\b(?P<rest>[^\n&;#]*)", re.MULTILINE)
_CONDA = re.compile(_STEP + r"conda (?P<verb>install|create|remove|list)\b", re.MULTILINE)
_PIP_BY = {"poetry": "poetry run pip", "pipenv": "pipenv run pip", "pixi": "pixi run python -m pip", "uv": "uv pip"}
_OF_UV = ((" --no-cache-dir", " --no-cache"), (" -y", ""), (" --force-reinstall", " --reinstall"))
_INDEX = re.compile(r" (?:--index-url|-i) (\S+)")
_BARE = re.compile(
    r"(?: (?:-U|--upgrade|--force-reinstall|--no-cache-dir))*((?: (?:\"[^\"]+\"|'[^']+'|[A-Za-z][^\s\"'-]*[^\s\"']*))+) *$"
)


_MODULE = re.compile(r"(^|&& |; )python3? -m pip (?!install uv\b)", re.MULTILINE)


def by_installer(command: str, installer: Installer) -> str:
    """A command of pip or conda in the words of the tool that has this environment; others stay."""
    if installer in ("mamba", "micromamba"):
        return _CONDA.sub(lambda found: f"{found['before']}{installer} {found['verb']}", command)
    if installer not in _PIP_BY:
        return command
    command = _MODULE.sub(r"\1pip ", _with_own_uv(command) if installer == "uv" else command)
    return _PIP.sub(lambda found: f"{found['before']}{_said(found['verb'], found['rest'], installer)}", command)


_GETS_UV = re.compile(r"^(?:\S*python[\d.]*(?:\.exe)? -m )?pip install uv\n", re.MULTILINE)
_OF_MODULE = re.compile(r"(^|&& |; )python[\d.]* -m uv ", re.MULTILINE)


def _with_own_uv(command: str) -> str:
    """Without what brings uv: it is there, and its environments have no pip that could."""
    return _OF_MODULE.sub(r"\1uv ", _GETS_UV.sub("", command))


def _said(verb: str, rest: str, installer: Installer) -> str:
    """One call of pip, by the tool whose lock file would else undo it."""
    index, plain = _INDEX.search(rest), _BARE.fullmatch(_INDEX.sub("", rest).rstrip())
    if verb == "install" and plain:
        wanted = plain[1].strip()
        if installer == "pixi" and not index:
            return f"pixi add --pypi {wanted}"
        if installer == "poetry" and index:
            name = index[1].rstrip("/").rpartition("/")[2]
            return f"poetry source add --priority=explicit {name} {index[1]} && poetry add --source {name} {wanted}"
    if installer == "uv":
        for old, new in _OF_UV:
            rest = re.sub(rf"{re.escape(old)}(?= |$)", new, rest)
    return f"{_PIP_BY[installer]} {verb}{rest}"


_INSTALLS = re.compile(r"\bsudo apt(?:-get)? install(?: -y)? ")


def without_sudo(command: str) -> str:
    """A command for somebody who is root in an image: no sudo is there, and no list of packages."""
    return _INSTALLS.sub("apt-get update && apt-get install -y ", command).replace("sudo ", "")


_INSTALLS_NOTHING = re.compile(r"\b(?:install|add)\b[^\n&;#]* (?:\"\"|'')(?=\s|$)")


def installs_nothing(command: str) -> bool:
    """Whether a package has no name: whoever wrote the command knew none."""
    return bool(_INSTALLS_NOTHING.search(command))


def asked_for(text: str) -> str:
    """A remedy that needs root, for somebody who has none."""
    first = text[:1] if text[1:2].isupper() else text[:1].lower()
    return f"Ask the administrator: {first}{text[1:]}"
