"""Activated: the variables that a shell has more once it has run an environment's activation, in a shell of its own."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence

from gpuwhy.border import reading
from gpuwhy.border.child import End, Limits, collect

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


_TRIED = r"""
gpuwhy_limits() { for gpuwhy_on in v n u s d f; do printf ' %s=%s' $gpuwhy_on "$(ulimit -S -$gpuwhy_on)"; done; }
printf 'before%s\n' "$(gpuwhy_limits)"
case $GPUWHY_STRICT in 1) set -u;; esac
for gpuwhy_file in "$@"; do . "$gpuwhy_file"; done >/dev/null </dev/null
printf 'after%s\n' "$(gpuwhy_limits)"
printf 'gpuwhy_python %s\n' "$(command -v python)"
"""
_COMPLAINT = re.compile(r"(?P<file>/.*?): line (?P<line>\d+): (?P<text>.+)")
"""How bash begins what it says of a script's line."""
_UNITS = {
    "v": ("AS", 1024),
    "n": ("NOFILE", 1),
    "u": ("NPROC", 1),
    "s": ("STACK", 1024),
    "d": ("DATA", 1024),
    "f": ("FSIZE", 1024),
}


def tried(files: Sequence[str], environ: Mapping[str, str]) -> tuple[str, ...] | None:
    """What goes wrong where a shell runs these, each as words apart by tabs; None: it cannot be run.

    "ends FILE", "said FILE LINE TEXT" (bash's own words), "unbound FILE LINE TEXT" (with `set -u` only), "limit NAME
    NUMBER" (lowered by them), "python PATH" (what `python` is afterwards).
    """
    scripts = [file for file in files if not file.endswith(STATE)]
    plain, strict = (_try(scripts, {**environ, **_conda(files), "GPUWHY_STRICT": one}) for one in "01")
    if plain is None or strict is None:
        return None
    said = _complaints(plain.err)
    out = ["\t".join(("said", *one)) for one in said]
    rows = _rows(plain.out)
    if PYTHON not in rows:
        return (*out, "\t".join(("ends", scripts[-1] if scripts else "")))
    if PYTHON not in _rows(strict.out):
        out += ["\t".join(("unbound", *one)) for one in _complaints(strict.err) if one not in said][:1]
    out += _lowered(rows)
    return (*out, f"python\t{rows[PYTHON]}")


def _rows(text: str) -> dict[str, str]:
    """The lines by their first words."""
    return {line.partition(" ")[0]: line.partition(" ")[2] for line in text.splitlines()}


def _try(scripts: Sequence[str], environ: Mapping[str, str]) -> End | None:
    shell = shutil.which("bash")
    given = {name: value for name, value in environ.items() if name != "BASH_ENV"}
    limits = Limits(SECONDS, keeps_errors=True, errors=MOST)
    try:
        return (
            collect([shell, "--noprofile", "--norc", "-c", _TRIED, "bash", *scripts], limits, given) if shell else None
        )
    except OSError:
        return None


def _complaints(text: str) -> list[tuple[str, str, str]]:
    """Bash's own, not what programs print that a script starts."""
    found = map(_COMPLAINT.fullmatch, text.splitlines())
    return [(one["file"], one["line"], one["text"]) for one in found if one and not one["file"].endswith("/bash")]


def _lowered(rows: Mapping[str, str]) -> list[str]:
    """The limits that are lower afterwards."""
    before, after = (dict(pair.split("=") for pair in rows.get(name, "").split()) for name in ("before", "after"))
    low = [which for which in after if after[which].isdigit() and before.get(which) != after[which]]
    low = [which for which in low if not (before.get(which) or "").isdigit() or int(after[which]) < int(before[which])]
    return [f"limit\t{_UNITS[which][0]}\t{int(after[which]) * _UNITS[which][1]}" for which in low]


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
