"""Activated: the variables that a shell has more once it has run an environment's activation, in a shell of its own."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence

from gpuwhy.border import reading
from gpuwhy.border.child import Limits, collect

SECONDS = 10.0
STATE = "/conda-meta/state"
"""The file in which conda keeps what `conda env config vars set` was told."""
MOST = 1 << 20
"""Bytes of that file; it has a few hundred."""
_SOURCES = r"""
for gpuwhy_file in "$@"; do . "$gpuwhy_file"; done >/dev/null 2>&1 </dev/null
printf '\0gpuwhy_python=%s\0' "$(command -v python)"
while read -r gpuwhy_name; do printf '%s=%s\0' "$gpuwhy_name" "${!gpuwhy_name}"; done < <(compgen -e)
"""
"""The shell's own words throughout: no program is started that a bad LD_LIBRARY_PATH would end."""
PYTHON = "gpuwhy_python"
"""Under which name it is told what `python` is in that shell."""
_OF_THE_SHELL = re.compile(r"PATH|PS1|PWD|OLDPWD|SHLVL|_|VIRTUAL_ENV.*|_OLD_.*|CONDA_.*|BASH.*|gpuwhy_(file|name)")


def exported(files: Sequence[str], environ: Mapping[str, str]) -> dict[str, str] | None:
    """The variables that activation adds or changes, but for every activation's own; None: it cannot be run."""
    kept = {name: value for file in files if file.endswith(STATE) for name, value in _kept(file).items()}
    begin = {**environ, **_conda(files), **kept}
    begin.pop("BASH_ENV", None)
    after = _after([file for file in files if not file.endswith(STATE)], begin)
    if after is None:
        return None
    return {n: v for n, v in {**kept, **after}.items() if environ.get(n) != v and not _OF_THE_SHELL.fullmatch(n)}


def _after(scripts: Sequence[str], environ: Mapping[str, str]) -> dict[str, str] | None:
    """What a shell exports once it has run these."""
    shell = shutil.which("bash")
    if shell is None:
        return None
    try:
        end = collect([shell, "--noprofile", "--norc", "-c", _SOURCES, "bash", *scripts], Limits(SECONDS), environ)
    except OSError:
        return None
    pairs = (one.partition("=") for one in end.out.split("\0") if "=" in one)
    after = {name: value for name, _, value in pairs}
    return after if end.code == 0 and PYTHON in after else None  # a script that leaves the shell tells nothing


def _conda(files: Sequence[str]) -> dict[str, str]:
    """What conda sets before it runs an environment's scripts."""
    folder = next((file.partition("/etc/conda/")[0] for file in files if "/etc/conda/" in file), "")
    return {"CONDA_PREFIX": folder} if folder else {}


def _kept(file: str) -> dict[str, str]:
    try:
        said = json.loads(reading.read(file, MOST).decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return {}
    found = said.get("env_vars") if isinstance(said, dict) else None
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}
