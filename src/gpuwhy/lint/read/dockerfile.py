"""Dockerfile: stages with their image, Python, variables, commands and packages."""

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from copy import copy
from typing import NamedTuple

from gpuwhy.knowledge import images
from gpuwhy.lint.mistakes import BadFileError, Place, Problem
from gpuwhy.lint.read import installs, shell
from gpuwhy.lint.rules import pattern, table
from gpuwhy.lint.sheet import Command, Environment, Sheet, Word

_KEYWORDS = table("dockerfile.keywords")
_MAY_HOLD_PACKAGES = pattern("dockerfile.may_hold_packages")
_HEREDOC = re.compile(r"<<(-?)([\"']?)(\w+)\2")
_TEMPLATE = re.compile(r"^\s*\{%|\{\{[-\s.]*[\w.\"]", re.M)
_MOST_LENGTH, _MOST = 200_000, 5_000


class Instruction(NamedTuple):
    """One instruction; newlines in its text are those of the file, so that lines can be counted."""

    keyword: str
    text: str
    line: int


def read(
    path: str, text: str, arguments: Mapping[str, str] | None = None, target: str = ""
) -> Sheet:
    """A Dockerfile; `arguments` and `target` are those of the build, where a file states them."""
    sheet = Sheet(path, "dockerfile")
    try:
        _Stages(sheet, arguments or {}).fill(instructions(text), target.lower())
    except BadFileError as error:
        template = _TEMPLATE.search(text)
        commented = all(line.startswith("#") for line in map(str.strip, text.split("\n")) if line)
        if template:
            sheet.environments.clear()
            line = text.count("\n", 0, template.start()) + 1
            sheet.notes.append(Problem(Place(path, line), "a template, not checked: render it"))
        elif commented and "FROM" in text:
            sheet.notes.append(Problem(Place(path, 1), "commented out: there is nothing to check"))
        else:
            said = f"no Dockerfile: {error}"
            sheet.problems.append(Problem(Place(path, error.line), said))
    return sheet


def instructions(text: str) -> Iterator[Instruction]:
    """The instructions: lines joined, comments and heredocs read; raises BadFileError."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").split("\n")
    directive = re.match(r"(?:#[^\n]*\n)*?#\s*escape\s*=\s*(\S)", text, re.IGNORECASE)
    escape = directive[1] if directive else "\\"
    foreign = bool(re.match(r"#\s*syntax\s*=\s*(?!(docker\.io/)?docker/)", lines[0]))
    number, count = 0, 0
    while number < len(lines):
        start = number + 1
        if not lines[number].strip() or lines[number].lstrip().startswith("#"):
            number += 1
            continue
        parts: list[str] = []  # the line and its continuations; comments between count as lines
        goes_on = True
        while goes_on and number < len(lines):
            line = lines[number].rstrip()
            number += 1
            empty = bool(parts) and (not line.strip() or line.lstrip().startswith("#"))
            parts.append("" if empty else line.removesuffix(escape))
            goes_on = empty or line.endswith(escape)
        body, number = _with_heredocs("\n".join(parts), lines, number)
        keyword, _, rest = re.sub(r"[ \t]+", " ", body.strip(), count=1).partition(" ")
        count += 1
        if len(body) > _MOST_LENGTH or count > _MOST:
            raise BadFileError(start, "too many instructions, or one that is too long")
        if keyword.upper() in _KEYWORDS:
            yield Instruction(keyword.upper(), rest, start)
        elif not foreign:  # else an instruction of another frontend
            raise BadFileError(start, f"{keyword[:40]!r} is no instruction")


def _with_heredocs(body: str, lines: list[str], number: int) -> tuple[str, int]:
    first = body.lstrip()[:5].upper()
    if "<<" not in body or not first.startswith(("RUN", "COPY", "ADD")):
        return body, number
    for found in _HEREDOC.finditer(body):
        start, held = number, ""
        while number < len(lines) and lines[number].strip() != found[3]:
            line = lines[number]
            code = "" if line.lstrip().startswith("#") else line
            held += "\n" + (code[:-1] if code.endswith("\\") else code + " ;")
            number += 1
        if number >= len(lines):
            raise BadFileError(start, f"the heredoc {found[3]} has no end")
        if first.startswith("RUN"):
            body = body.replace(found[0], " ", 1) + " ;" + held
        number += 1
    return body, number


class _Stages:
    """The stages of a Dockerfile as environments."""

    def __init__(self, sheet: Sheet, given: Mapping[str, str]) -> None:
        self.sheet, self.given = sheet, given
        self.stage = Environment(sheet.path)  # the one that is being read
        self.arguments: dict[str, str] = {}  # before the first FROM
        self.names: dict[str, Environment] = {}
        self.parents: dict[int, Environment] = {}
        self.known: dict[str, str] = {}  # variables of the stage
        self.kept: dict[int, dict[str, str]] = {}

    def fill(self, found: Iterator[Instruction], target: str) -> None:
        """Every instruction, then which stages run."""
        for one in found:
            if one.keyword not in ("FROM", "ARG") and not self.sheet.environments:
                raise BadFileError(one.line, f"{one.keyword} before FROM")
            handler = getattr(self, f"_{one.keyword.lower()}", None)
            if handler:
                handler(one)
        if not self.sheet.environments:
            raise BadFileError(1, "it has no FROM")
        stage: Environment | None = self.names.get(target, self.stage)
        while stage is not None:
            stage.runs = True
            stage = self.parents.get(id(stage))
        for each in self.sheet.environments:
            _find_python(each)

    def _from(self, entry: Instruction) -> None:
        words = [word for word in entry.text.split() if not word.startswith("--")]
        if not words:
            raise BadFileError(entry.line, "FROM names no image")
        text = shell.expand(words[0], self.arguments).strip("\"'")
        made, self.known = Environment(self.sheet.path), {}
        made.image = Word(text, Place(self.sheet.path, entry.line))
        parent = self.names.get(text.lower())
        if parent:  # it goes on where another ended, with lists of its own
            made = copy(parent)
            for name in made.__struct_fields__:
                value = getattr(made, name)
                setattr(made, name, copy(value) if isinstance(value, (list, dict)) else value)
            self.parents[id(made)] = parent
            self.known = dict(self.kept[id(parent)])
        made.runs = False
        if re.search(r"--platform=\S*arm64", entry.text):
            made.machine = "aarch64"
        self.names[str(len(self.sheet.environments))] = self.stage = made
        self.sheet.environments.append(made)
        self.kept[id(made)] = self.known
        if len(words) >= 3 and words[1].lower() == "as":
            self.names[words[2].lower()] = made

    def _arg(self, entry: Instruction) -> None:
        target = self.known if self.sheet.environments else self.arguments
        for name, value, _ in _pairs(entry):
            if name in self.given:
                target[name] = self.given[name]
            elif value is not None:
                target[name] = shell.expand(value, {**self.arguments, **target})
            elif name in self.arguments:
                target[name] = self.arguments[name]

    def _env(self, entry: Instruction) -> None:
        old = re.match(r"\s*([A-Za-z_]\w*)[ \t]+([^=\s].*)", entry.text, re.DOTALL)  # ENV A b
        pairs = [(old[1], old[2].strip().strip('"'), entry.line)] if old else _pairs(entry)
        for name, value, line in pairs:
            if value is not None:
                self.known[name] = shell.expand(value, self.known)
                place = Place(self.sheet.path, line)
                self.stage.variables[name] = Word(self.known[name], place)

    def _run(self, entry: Instruction) -> None:
        text = re.sub(r"^(\s*--(mount|network|security)=\S+)+", "", entry.text)
        if text.lstrip().startswith("["):
            try:
                found = json.loads(text)
            except (ValueError, RecursionError):
                found = []
            words = [word for word in found if isinstance(word, str)]
            started = re.match(r"(/bin/)?(ba)?sh -\w*c ", " ".join(words))
            text = " ".join(words[2:] if started else words)
        for command in shell.commands(text, entry.line, self.known):
            installs.take(self.stage, command)

    def _copy(self, entry: Instruction) -> None:
        words = shell.expand(entry.text, self.known).split()
        paths = [word.strip("[]\",'") for word in words if not word.startswith("--")]
        found = re.search(r"--from=(\S+)", entry.text)
        origin = self.names.get(found[1].lower()) if found else None
        if found and origin is None:
            self.stage.commands.append(Command(("COPY", found[1]), (entry.line, entry.line)))
        elif found and _MAY_HOLD_PACKAGES.search(entry.text):
            self.stage.includes_unknown = True
        for source in paths[:-1] if not found else ():
            if source.endswith((".txt", ".in")) and "*" not in source:
                renamed = paths[-1].endswith((".txt", ".in")) and len(paths) == 2
                name = posixpath.basename(paths[-1] if renamed else source)
                self.stage.copied[name] = source.removeprefix("./")

    _add = _copy


def _pairs(entry: Instruction) -> list[tuple[str, str | None, int]]:
    """`A=b C=d`, each with its line; None for a name alone."""
    out: list[tuple[str, str | None, int]] = []
    for each in shell.commands("x " + entry.text, entry.line, {}):
        for word, line in zip(each.words, each.lines, strict=True):
            name, equals, value = word.partition("=")
            out += [(name, value if equals else None, line)] if word != "x" else []
    return out


_ANOTHER_CONDA = pattern("image_python.another_conda")
_MADE = pattern("image_python.made")
_ITS_OWN_PIP = pattern("image_python.its_own_pip")
_BY_UV = pattern("image_python.by_uv")
_OTHER = pattern("image_python.other", re.IGNORECASE)
_OF_DISTRIBUTION = pattern("image_python.of_distribution")
_SECOND = pattern("image_python.second")


def _find_python(stage: Environment) -> None:
    """The Pythons that a stage may run its pip with; () where nobody can tell."""
    base = images.read(stage.image.text) if stage.image else images.Base("")
    texts = " ; ".join(command.text for command in stage.commands)
    packages = set(re.findall(r"\bpython(3\.\d+)(?=-|\s|$)", " ".join(stage.apt)))
    if {"python3-pip", "pip"} & set(stage.apt) and not _ITS_OWN_PIP.search(texts):
        packages = set()  # the pip of the distribution fills its own Python
    named = sorted(packages.union(_BY_UV.findall(texts)))
    conda = re.search(r"((?:Mini|Ana)conda3|Miniforge3|Mambaforge)-([\w.]+)", texts)
    by_conda = images.installer_python(conda[1], conda[2]) if conda else ""
    found, said = [*named, base.python], "the Dockerfile installs Python " + ", ".join(named)
    if not named and by_conda and not _MADE.search(texts):
        found, said = [by_conda], f"the installer of conda brings Python {by_conda}"
    elif not named and base.python not in ("", "2.7") and not _ANOTHER_CONDA.search(texts):
        found, said = [base.python], f"image {base.name} holds Python {base.python}"
    elif not named and any(map(_OF_DISTRIBUTION.match, stage.apt)) and not _OTHER.search(texts):
        found = [base.distro_python]
        said = f"image {base.name} has Python {base.distro_python} as its python3"
    elif not named:
        return
    stage.pythons, stage.python_from = tuple(filter(None, found)), said


def is_second(environment: Environment) -> bool:
    """Whether a script or a Dockerfile makes an environment of Python 2."""
    assigned = (f"{name}={value}" for one in environment.commands for name, value in one.assigned)
    texts = (command.text for command in environment.commands)
    tags = [pin.tag for pin in environment.pins]
    tagged = any(tag.startswith(("cp2", "py2")) and "py3" not in tag for tag in tags)
    return tagged or any(map(_SECOND.search, (*texts, *assigned)))
