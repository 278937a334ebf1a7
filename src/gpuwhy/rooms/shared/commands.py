"""Commands for fixes: the target's own Python, its own installer, and words that a shell takes literally."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Literal

from msgspec import structs

from gpuwhy.model.cause import Fix
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Facts
from gpuwhy.model.repair import name_of
from gpuwhy.rooms.shared.conda import by_conda
from gpuwhy.rooms.shared.windows import UV, active, on_windows

_PLAIN = re.compile(r"[\w.+\-\[\],=<>!~*]+")


def word(path: str) -> str:
    """A path as one shell word; a leading ~ stays open for the shell to expand."""
    if path.startswith("~/"):
        return "~/" + shlex.quote(path[2:]) if len(path) > 2 else "~/"
    return shlex.quote(path)


def requirement(text: str) -> str:
    """A pip requirement as one shell word, in double quotes, which Windows' shells take too."""
    return f'"{text}"' if _PLAIN.fullmatch(text) else shlex.quote(text)


def change(
    facts: Facts,
    text: str,
    *wanted: str,
    because_of: str = "",
    removing: tuple[str, ...] = (),
    again: bool = False,
    upgrade: bool = False,
    check: str = "gpuwhy check",
    role: Literal["remedy", "part"] = "remedy",
    until: str = "",
) -> Fix:
    """A fix that removes and installs in the target: as a command, and as what `gpuwhy fix` carries out."""
    python = value_or(facts.target.interpreter, None)
    owned = by_conda(facts, wanted, again, word(python.prefix)) if python and not removing else ""
    if owned:
        return Fix(f"{text}, by conda, which installed it", owned, check=check, role=role)
    command = install(facts, *wanted, because_of=because_of, again=again, upgrade=upgrade, until=until)
    if removing:
        command = f"{uninstall(facts, *removing)}\n{command}"
    if folder := beside(facts, wanted):
        return Fix(f"{text}, in {folder}, where it lies", command, check=check, role=role)
    return Fix(
        text,
        command,
        safe=True,
        check=check,
        role=role,
        install=wanted,
        uninstall=removing,
        again=again,
        upgrade=upgrade,
        until=until,
    )


def torch_with_cuda(version: str = "") -> str:
    """PyTorch's build with CUDA from its own index: uv asks the driver which one fits."""
    return f"{UV}\npython -m uv pip install --reinstall torch{f'=={version}' if version else ''} --torch-backend=auto"


def of_own_index(command: str, backend: str) -> str:
    """An installation by uv, which finds PyTorch's own index by the name of the build."""
    *before, last = command.split("\n")
    words = last.partition(" install ")[2]
    python = last.split(" -m pip")[0] if " -m pip" in last else ""
    target = f" --python {python}" if python else ""
    return "\n".join([*before, f"uv pip install{target} --torch-backend={backend} {words}"])


def search_first(text: str, folders: Sequence[str]) -> Fix:
    """A fix that puts folders in front of the loader's search, in this shell."""
    path = ":".join(word(folder) for folder in folders)
    command = f"export LD_LIBRARY_PATH={path}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
    return Fix(text, command, safe=True, folders=tuple(folders))


def together(some: tuple[Fix, ...], others: tuple[Fix, ...]) -> tuple[Fix, ...]:
    """The remedies of two lacks: where there are both, the first of each is needed."""
    if not some or not others:
        return (*some, *others)
    first, second = (structs.replace(fixes[0], role="part") for fixes in (some, others))
    return (first, *some[1:], second, *others[1:])


def install(
    facts: Facts, *wanted: str, because_of: str = "", again: bool = False, upgrade: bool = False, until: str = ""
) -> str:
    """Install into the target; `again` rewrites the files of just these packages even if they seem to be there."""
    words = " ".join(requirement(one) for one in wanted)
    folder = beside(facts, wanted)
    by_uv = _with_uv(facts, because_of)
    more = (" --upgrade" if upgrade or (folder and not by_uv) else "") + _against_the_mark(facts)
    more += f" --target {word(folder)}" if folder else ""
    if by_uv:
        flags = " --reinstall --no-deps --no-cache" if again else ""
        flags += "".join(f" --exclude-newer-package {name_of(one)}={until}" for one in wanted if until)
        return f"uv pip install{more} --python {_python(facts)}{flags} {words}"
    flags = " --force-reinstall --no-deps --no-cache-dir" if again else ""
    return f"{_python(facts)} -m pip install{more}{flags} {words}"


def beside(facts: Facts, wanted: Sequence[str]) -> str:
    """The folder beside the environment that holds what is to change (PDM's __pypackages__, pip's --target), or ""."""
    python, installed = facts.target.interpreter, value_or(facts.target.distributions, ())
    if not isinstance(python, Known) or not python.value.prefix:
        return ""
    names = {name_of(text) for text in wanted}
    folders = {d.name: d.location.rpartition("/")[0] for d in reversed(installed) if d.name in names}
    sites = (f"{python.value.prefix.rstrip('/')}/", "-packages")
    apart = {one for one in folders.values() if not one.startswith(sites[0]) and not one.endswith(sites[1])}
    return apart.pop() if len(apart) == 1 and len(set(folders.values())) == 1 else ""


def uninstall(facts: Facts, *names: str) -> str:
    """Remove distributions from the target."""
    listed = " ".join(shlex.quote(name) for name in names)
    if _with_uv(facts, names[0]):
        return f"uv pip uninstall{_against_the_mark(facts)} --python {_python(facts)} {listed}"
    return f"{_python(facts)} -m pip uninstall -y{_against_the_mark(facts)} {listed}"


def _against_the_mark(facts: Facts) -> str:
    """What makes pip and uv change a Python that the system's package manager owns."""
    interpreter = facts.target.interpreter
    return " --break-system-packages" if isinstance(interpreter, Known) and interpreter.value.managed else ""


def _python(facts: Facts) -> str:
    interpreter = facts.target.interpreter
    if on_windows(facts) and active(facts):
        return "python"
    return word(interpreter.value.path) if isinstance(interpreter, Known) else "python"


def python_of(facts: Facts) -> str:
    """The version of the target's Python; "" where it is not known."""
    interpreter = facts.target.interpreter
    return interpreter.value.version if isinstance(interpreter, Known) else ""


def _with_uv(facts: Facts, distribution: str) -> bool:
    """An environment that uv made often has no pip; who installed the package can install it again."""
    installed = facts.target.distributions
    if not isinstance(installed, Known):
        return False
    by = [d.installer.value for d in installed.value if d.name == distribution and isinstance(d.installer, Known)]
    if by:
        return by[0] == "uv"
    others = {value_or(d.installer, "") for d in installed.value}
    return "uv" in others and all(d.name != "pip" for d in installed.value)
