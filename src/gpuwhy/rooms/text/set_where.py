"""Set where: a variable has to reach the process that fails: in a notebook, a service, a job, a container or R that is another place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.set_inside import launched_by, set_inside

_SETS = re.compile(r"(?m)^(?:export|unset|set|setx) |^\$env:")
_PLACES = (
    (Later(r"library\((?:tensorflow|torch|keras|reticulate)\)|\bRStudio\b|\breticulate\b"), "for R: in the file ~/.Renviron, as NAME=VALUE, then start R anew"),
    (Later(r"ipykernel|ipython-input|(?<!\()\bjupyter(?!@)|\bnotebook\b|In \[\d+\]", re.IGNORECASE),
     "for a notebook: in the shell before Jupyter is started, or under \"env\" in the kernel's kernel.json"),
    (Later(r"systemd|systemctl|\.service\b|\bollama\b[^\n]{0,30}(?:serve|routes\.go|source=)|source=\w+\.go:\d", re.IGNORECASE),
     'for a service: sudo systemctl edit NAME, below [Service] Environment="NAME=VALUE", then restart it'),
    (Later(r"#SBATCH|\bsbatch\b|\bslurm|\bsrun\b", re.IGNORECASE), "on a cluster: in the job's script, before srun or python"),
    (Later(r"\bpycharm\b", re.IGNORECASE), "in PyCharm: in the run configuration, under environment variables"),
)  # fmt: skip
"""Where the process is started, by the words of a text, and where its variables are set there; the first that fits counts."""


_IN_WINDOWS = (
    (Later(r"\bPyCharm|\bpydevd?\b|_pydev_|runnerw\.exe", re.IGNORECASE),
     "in PyCharm: Run, Edit Configurations, Environment variables; what stands under Windows' environment variables it sees after it is started anew"),
    (Later(r"\bspyder", re.IGNORECASE), "for Spyder: under Windows' environment variables, then start Spyder anew"),
    (Later(r"\.vscode\b|\bdebugpy\b|launch\.json|\bVS ?Code\b", re.IGNORECASE),
     "in VS Code: under \"env\" in launch.json, or close all its windows and start it (code .) from the window that has it set"),
    (Later(r"\\bin\\(?:x64\\)?(?:Debug|Release)\\|\\x64\\(?:Debug|Release)\\|\bdevenv\b|\.csproj\b|\.vcxproj\b"),
     "started by Visual Studio: in the project's properties, under Debugging, Environment; what stands under Windows' environment variables it sees after it is started anew"),
    (Later(r"ipykernel|ipython-input|\bjupyter(?!@)|\.ipynb\b|In \[\d+\]", re.IGNORECASE),
     "for a notebook: close Jupyter, set it in the window that then starts it, and start it from there"),
)  # fmt: skip
"""The same for Windows, where what starts the program has the variables of its own start."""

_UNIT = Later(r"^\w{3} +\d+ [\d:]+ \S+ (?P<name>(?!systemd|kernel|sudo|sshd|bash)[a-z][\w.-]*)\[\d+\]: ", re.MULTILINE)
_SET = re.compile(r"^export ((?:[A-Z_][A-Z0-9_]*=\S+ ?)+)$")
_CLEARED = re.compile(r"^unset ([A-Z_][A-Z0-9_ ]*)$")


def _in_its_unit(fix: Fix, name: str) -> Fix:
    """A variable of a service that the journal names, set or taken out where systemd reads it."""
    given, gone = _SET.match(fix.command), _CLEARED.match(fix.command)
    if not given and not gone:
        return fix
    line = " ".join(f'Environment="{one}"' for one in given[1].split()) if given else f"UnsetEnvironment={gone[1]}" if gone else ""  # fmt: skip
    command = on.host(f"printf '[Service]\\n{line}\\n' | sudo tee /etc/systemd/system/{name}.service.d/gpu.conf && sudo systemctl daemon-reload && sudo systemctl restart {name}")  # fmt: skip
    made = on.like(f"sudo mkdir -p /etc/systemd/system/{name}.service.d && {command}", command)
    return structs.replace(fix, text=f"{fix.text}; for the service {name}", command=made, root=True)


_SETS_IT = re.compile(r"^(?:(?P<file>[~/.\w-]+):)?(?P<line>\d+):\s*(?:export|setenv|set) +(?P<name>[A-Z_][A-Z0-9_]*)[= ]", re.MULTILINE)  # fmt: skip
_SEARCHED = re.compile(r"\bgrep\b[^\n|]*?\s(?P<file>~?[/.\w-]+)\s*$", re.MULTILINE)


def _in_its_file(fix: Fix, case: Asked) -> Fix:
    """A variable that is taken out here is set again by the file that the text shows to set it."""
    gone, text = _CLEARED.match(fix.command), case.reading.excerpt
    found = next((one for one in _SETS_IT.finditer(text) if gone and one["name"] in gone[1].split()), None)
    if found is None:
        return fix
    before = _SEARCHED.findall(text[: found.start()])
    file = found["file"] or (before[-1] if before else "")
    return structs.replace(fix, text=f"{fix.text}; and delete line {found['line']} of {file}, which sets it") if file else fix  # fmt: skip


_CELL = Later(r"ipykernel|<ipython-input|^Cell In ?\[\d+\]|^In \[\d+\]", re.MULTILINE)
_AT_START = re.compile(r"(?:LD_|DYLD_|PYTHON(?!WARNINGS)|PATH$|CONDA_|PIP_|CUDA_(?:HOME|PATH)$|TMPDIR|XDG_)")
"""Variables that are read when a process starts, or by another program than the framework."""


def _in_first_cell(fix: Fix, case: Asked) -> Fix:
    """A variable that the framework reads: in a notebook the first cell sets it, in the process that needs it."""
    given = _SET.match(fix.command)
    pairs = [one.partition("=")[::2] for one in given[1].split()] if given and _CELL.search(case.text) else []
    if not pairs or any(_AT_START.match(name) or "$" in value for name, value in pairs):
        return fix
    lines = "; ".join(f'os.environ["{name}"] = "{value.strip(_QUOTES)}"' for name, value in pairs)
    said = on.as_said(f"{fix.text}; in a notebook: restart the kernel, and run this in the first cell, before any import", fix.text)  # fmt: skip
    return structs.replace(fix, text=said, command=on.code(f"import os; {lines}"))


_QUOTES = "\"'"


_TOLD = re.compile(r"PyCharm|Spyder|VS Code|Visual Studio|Jupyter|\bkernel\b|new window of cmd")
"""A sentence that says already where."""


def reaching(fixes: Sequence[Fix], case: Asked) -> Iterator[Fix]:
    """The fixes; those that set a variable say where, if a plain shell is not the place."""
    places = _IN_WINDOWS if case.windows else _PLACES
    hint = next((told for words, told in places if words.search(case.text)), "")
    unit = None if case.windows else _UNIT.search(case.text)
    inside = bool(launched_by(case))
    for fix in fixes:
        if inside:
            yield set_inside(fix, case)
            continue
        fix = _in_first_cell(_in_its_unit(fix, unit["name"]) if unit else _in_its_file(fix, case), case)
        told = _TOLD.search(fix.text) if case.windows else hint.partition(": ")[2].split(",")[0] in fix.text
        sets = bool(hint) and _SETS.search(fix.command) and not told
        yield structs.replace(fix, text=on.as_said(f"{fix.text}; {hint}", fix.text)) if sets else fix
