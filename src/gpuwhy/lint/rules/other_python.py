"""Packages for one Python of an image, and another one that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint import programs
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("other-python", "error", "packages for one Python of the image, while another one runs")

_KNOW = source(
    "Ubuntu's python3-pip", "/usr/bin/pip starts with #!/usr/bin/python3, whichever other Python is installed"
)
_PIP = re.compile(r"^(pip3?|pip(?P<own>3\.\d+)|python3?(\.\d+)? -m pip) (-\S+ )*install\b")
_OTHER = re.compile(
    r"conda|mamba|pyenv|venv|\buv\b|pixi|Python-3|poetry|virtualenv|--target|PYTHONPATH|pipx", re.IGNORECASE
)


class _Names:
    """What `python`, `python3` and `pip` mean, as the commands go by."""

    def __init__(self, own: str) -> None:
        self.python, self.python3, self.pip = "", own, ""

    @property
    def of_pip(self) -> str:
        """The Python that pip installs for: the one that it was put there with, else python3."""
        return self.pip or self.python3

    def of(self, word: str) -> str:
        """The Python that a program's name stands for; '' where it is none or not known."""
        name = word.rsplit("/", 1)[-1]
        found = re.fullmatch(r"python(3\.\d+)", name)
        return found[1] if found else {"python3": self.python3, "python": self.python}.get(name, "")

    def after(self, command: Command) -> None:
        """Links, alternatives and pips that a command makes."""
        text = command.text
        target = re.search(r"python(3\.\d+)", text)
        if re.match(r"(ln|update-alternatives|cp)\b", text) and target:
            if re.search(r"/python3(\s|$)", text):
                self.python3 = target[1]
            if re.search(r"/python(\s|$)", text):
                self.python = target[1]
            if re.search(r"/pip3?(\s|$)", text):
                self.pip = "?"
        elif re.match(r"(ln|update-alternatives)\b", text) and re.search(r"/python3?(\s|$)", text):
            self.python = self.python3 if re.search(r"/python3\s", text) else "?"
        made = re.match(r"(\S*python3(?:\.\d+)?)\b.*(get-pip|ensurepip|-m pip (-\S+ )*install .*\bpip\b)", text)
        if made:
            self.pip = self.of(made[1])
        elif "get-pip" in text and (by := re.search(r"python(3(?:\.\d+)?)\b", text)):
            self.pip = self.of(f"python{by[1]}")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first installation of a package of the GPU stack that the program's Python does not see."""
    stage, own = scope.environment, scope.base.distro_python
    if "pip" not in programs.lacking(scope) or not own or not stage.runs or _has_others(scope):
        return
    names = _Names(own)
    filled = _filled(scope, names)
    if "python-is-python3" in stage.apt:
        names.python = names.python3
    runs = next((p for c in reversed(stage.starts) if (p := names.of(c.words[0] if c.words else ""))), "")
    runs = runs if stage.starts else names.python  # what `python` was made to mean is what is meant
    main = next((c for c, for_gpus in filled.values() if for_gpus), None)
    known = not {"", "?"} & {runs, *filled}
    if main and known and runs not in filled:
        yield _mistake(scope, main, list(filled), runs)


def _filled(scope: Scope, names: _Names) -> dict[str, tuple[Command, bool]]:
    """Python → the first command that installs for it, and whether that is of the GPU stack."""
    out: dict[str, tuple[Command, bool]] = {}
    for step, command in enumerate(scope.environment.commands, 1):
        names.after(command)
        if found := _PIP.match(command.text):
            by_pip = names.of_pip if command.words[0].startswith("pip") else names.of(command.words[0])
            for_gpus = any(pin.step == step for pin in scope.pins) or " -r" in command.text
            out.setdefault(found["own"] or by_pip, (command, for_gpus))
    return out


def _mistake(scope: Scope, main: Command, filled: list[str], runs: str) -> Mistake:
    for_ = " and ".join(filled)
    starts = "the container starts" if scope.environment.starts else "`python` is"
    text = f"{main.words[0]} installs for Python {for_}; {starts} Python {runs}, which has none of it"
    fix = f"write python{runs} -m pip install …, or start python{filled[0]}"
    return RULE.mistake(Place(scope.environment.path, main.lines[0]), text, _KNOW, fix)


def _has_others(scope: Scope) -> bool:
    """Whether something makes environments of its own, or the image's variables lead elsewhere."""
    stage = scope.environment
    said = [*(c.text for c in stage.commands), *(f"{v.name}={v.value}" for v in stage.variables.values())]
    return any(map(_OTHER.search, said))
