"""Hook: lines of an environment's activation that put folders in front of the loader's search."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence

BEGIN, END = "# >>> gpuwhy fix >>>", "# <<< gpuwhy fix <<<"
_BLOCK = re.compile(rf"\n?{BEGIN}\n.*?{END}\n", re.DOTALL)


def write(prefix: str, kind: str, folders: Sequence[str]) -> str:
    """Add the lines to what sh, bash and zsh read when the environment is activated; the file that was written."""
    if kind == "conda":
        return _conda(f"{prefix}/etc/conda/activate.d", folders)
    return _append(f"{prefix}/bin/activate", _lines(folders))


def _append(path: str, lines: list[str]) -> str:
    """The block once, at the end, with whatever an earlier fix put there."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read()
    old = [line for block in _BLOCK.findall(text) for line in block.splitlines() if line not in (BEGIN, END, "")]
    block = "\n".join([BEGIN, *dict.fromkeys([*old, *lines]), END])
    text = _BLOCK.sub("", text).rstrip("\n")
    _replace(path, f"{text}\n\n{block}\n")
    return path


def export_all(prefix: str, values: Mapping[str, str]) -> None:
    """What another environment's activation exported, in this one's too, before the lines of a fix."""
    path = f"{prefix}/bin/activate"
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read()
    lines = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in values.items())
    own, mark, rest = text.partition(BEGIN)
    _replace(path, f"{own.rstrip()}\n\n# as in the environment that this is a copy of\n{lines}\n\n{mark}{rest}")


def _conda(folder: str, folders: Sequence[str]) -> str:
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/gpuwhy.sh"
    if not os.path.exists(path):
        _replace(path, "")
    return _append(path, _lines(folders))


def _replace(path: str, text: str) -> None:
    """Never half-written, and never through a hard link that another environment shares."""
    aside = f"{path}.gpuwhy"
    with open(aside, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    if os.path.exists(path):
        os.chmod(aside, os.stat(path).st_mode & 0o7777)
    os.replace(aside, path)


def _lines(folders: Sequence[str]) -> list[str]:
    return [
        f'case ":${{LD_LIBRARY_PATH-}}:" in *:{word}:*) ;; *) '
        f"export LD_LIBRARY_PATH={word}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}} ;; esac"
        for word in map(shlex.quote, reversed(folders))
    ]


def undo(file: str) -> str:
    """The command that takes the lines out again."""
    return f"sed -i '/{BEGIN}/,/{END}/d' {shlex.quote(file)}"


def export(folders: Sequence[str]) -> str:
    """The same for programs that start the interpreter without activating."""
    path = ":".join(map(shlex.quote, folders))
    return f"export LD_LIBRARY_PATH={path}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
