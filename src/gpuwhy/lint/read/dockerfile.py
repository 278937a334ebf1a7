"""Dockerfile: stages with their image, variables, commands and packages; ARGs by their defaults."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gpuwhy.lint.mistakes import Place, Problem
from gpuwhy.lint.read import image_python, installs, shell
from gpuwhy.lint.rules import names, pattern
from gpuwhy.lint.sheet import Command, Environment, Image, Sheet, Variable

_KEYWORDS = names("dockerfile.keywords")
_HEREDOC = re.compile(r"<<(-?)([\"']?)(\w+)\2")
_TEMPLATE = re.compile(r"^\s*\{%|\{\{[-\s.]*[\w.\"]", re.M)
_MOST_LENGTH, _MOST = 200_000, 5_000


class Instruction(NamedTuple):
    """One instruction; newlines in its text are those of the file, so that lines can be counted."""

    keyword: str
    text: str
    line: int


class BadDockerfileError(ValueError):
    """What is no Dockerfile; `line` from 1."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


def read(
    path: str, text: str, arguments: Mapping[str, str] | None = None, target: str = ""
) -> Sheet:
    """A Dockerfile; `arguments` and `target` are those of the build, where a file states them."""
    sheet = Sheet(path, "dockerfile")
    try:
        _Stages(sheet, arguments or {}, target).fill(instructions(text))
    except BadDockerfileError as error:
        template = _TEMPLATE.search(text)
        if template:
            sheet.environments.clear()
            line = text.count("\n", 0, template.start()) + 1
            sheet.notes.append(Problem(Place(path, line), "a template, not checked: render it"))
        elif _is_commented_out(text):
            sheet.notes.append(Problem(Place(path, 1), "commented out: there is nothing to check"))
        else:
            sheet.problems.append(Problem(Place(path, error.line), str(error)))
    return sheet


def _is_commented_out(text: str) -> bool:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return all(line.startswith("#") for line in lines) and "FROM" in text


def instructions(text: str) -> Iterator[Instruction]:
    """The instructions: lines joined, comments and heredocs read; raises BadDockerfileError."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").split("\n")
    escape = _escape(lines)
    foreign = bool(lines and re.match(r"#\s*syntax\s*=\s*(?!(docker\.io/)?docker/)", lines[0]))
    number, count = 0, 0
    while number < len(lines):
        stripped = lines[number].strip()
        start = number + 1
        if not stripped or stripped.startswith("#"):
            number += 1
            continue
        body, number = _joined(lines, number, escape)
        body, number = _with_heredocs(body, lines, number)
        found = re.match(r"\s*(\S+)[ \t]*(.*)", body, re.DOTALL)
        keyword, rest = (found[1].upper(), found[2]) if found else ("", "")
        count += 1
        if keyword not in _KEYWORDS and foreign:
            continue  # an instruction of another frontend
        if keyword not in _KEYWORDS:
            raise BadDockerfileError(start, f"no Dockerfile: {keyword[:40]!r} is no instruction")
        if len(body) > _MOST_LENGTH or count > _MOST:
            raise BadDockerfileError(start, "too many instructions, or one that is too long")
        yield Instruction(keyword, rest, start)


def _escape(lines: list[str]) -> str:
    for line in lines:
        found = re.match(r"#\s*escape\s*=\s*(\S)", line, re.IGNORECASE)
        if found:
            return found[1]
        if not line.startswith("#"):
            break
    return "\\"


def _joined(lines: list[str], number: int, escape: str) -> tuple[str, int]:
    """A line and its continuations; comments and empty lines between them count as lines."""
    parts: list[str] = []
    while number < len(lines):
        line = lines[number].rstrip()
        number += 1
        if parts and (not line.strip() or line.lstrip().startswith("#")):
            parts.append("")
            continue
        if not line.endswith(escape):
            parts.append(line)
            break
        parts.append(line[:-1])
    return "\n".join(parts), number


def _with_heredocs(body: str, lines: list[str], number: int) -> tuple[str, int]:
    first = body.lstrip()[:5].upper()
    if "<<" not in body or not first.startswith(("RUN", "COPY", "ADD")):
        return body, number
    for found in _HEREDOC.finditer(body):
        start = number
        while number < len(lines) and _plain(lines[number], found[1]) != found[3]:
            number += 1
        if number >= len(lines):
            raise BadDockerfileError(start, f"no Dockerfile: the heredoc {found[3]} has no end")
        if first.startswith("RUN"):
            held = "".join("\n" + _code(line) for line in lines[start:number])
            body = body.replace(found[0], " ", 1) + " ;" + held
        number += 1
    return body, number


def _plain(line: str, dash: str) -> str:
    return line.strip() if dash else line.rstrip()


def _code(line: str) -> str:
    if line.endswith("\\"):
        return line[:-1]
    return " ;" if line.lstrip().startswith("#") else line + " ;"


class _Stages:
    """The stages of a Dockerfile as environments."""

    def __init__(self, sheet: Sheet, given: Mapping[str, str], target: str) -> None:
        self.sheet = sheet
        self.given = given
        self.target = target.lower()
        self.arguments: dict[str, str] = {}  # before the first FROM
        self.names: dict[str, Environment] = {}
        self.parents: dict[int, Environment] = {}
        self.known: dict[str, str] = {}  # variables of the stage
        self.kept: dict[int, dict[str, str]] = {}

    def fill(self, found: Iterator[Instruction]) -> None:
        """Every instruction, then which stages run."""
        for one in found:
            if one.keyword not in ("FROM", "ARG") and not self.sheet.environments:
                raise BadDockerfileError(one.line, f"no Dockerfile: {one.keyword} before FROM")
            handler = getattr(self, f"_{one.keyword.lower()}", None)
            if handler:
                handler(one)
        if not self.sheet.environments:
            raise BadDockerfileError(1, "no Dockerfile: it has no FROM")
        stage: Environment | None = self.names.get(self.target, self.stage)
        while stage is not None:
            stage.runs = True
            stage = self.parents.get(id(stage))
        for stage in self.sheet.environments:
            image_python.of_stage(stage)

    @property
    def stage(self) -> Environment:
        """The one that is being read."""
        return self.sheet.environments[-1]

    def _from(self, one: Instruction) -> None:
        words = [word for word in one.text.split() if not word.startswith("--")]
        if not words:
            raise BadDockerfileError(one.line, "no Dockerfile: FROM names no image")
        text = shell.expand(words[0], self.arguments).strip("\"'")
        parent = self.names.get(text.lower())
        image = Image(text, Place(self.sheet.path, one.line))
        made = Environment(self.sheet.path, image=image, runs=False, system="linux")
        self.known = {}
        if parent:
            made = _child(parent)
            self.parents[id(made)] = parent
            self.known = dict(self.kept.get(id(parent), {}))
        if re.search(r"--platform=\S*arm64", one.text):
            made.machine = "aarch64"
        self.sheet.environments.append(made)
        self.kept[id(made)] = self.known
        self.names[str(len(self.sheet.environments) - 1)] = made
        if len(words) >= 3 and words[1].lower() == "as":
            self.names[words[2].lower()] = made

    def _arg(self, one: Instruction) -> None:
        for name, equals, value in _words(one):
            target = self.known if self.sheet.environments else self.arguments
            if name in self.given:
                target[name] = self.given[name]
            elif equals:
                target[name] = shell.expand(value, {**self.arguments, **target})
            elif name in self.arguments:
                target[name] = self.arguments[name]

    def _env(self, one: Instruction) -> None:
        for name, value, line in _pairs(one):
            resolved = shell.expand(value, self.known)
            self.known[name] = resolved
            place = Place(self.sheet.path, line)
            self.stage.variables[name] = Variable(name, resolved, place)

    def _run(self, one: Instruction) -> None:
        text = re.sub(r"^(\s*--(mount|network|security)=\S+)+", "", one.text)
        if text.lstrip().startswith("["):
            text = " ".join(_json_words(text))
        for command in shell.commands(text, one.line, self.known):
            self.stage.commands.append(command)
            installs.take(self.stage, command)

    def _copy(self, one: Instruction) -> None:
        words = shell.expand(one.text, self.known).split()
        paths = [word.strip("[]\",'") for word in words if not word.startswith("--")]
        found = re.search(r"--from=(\S+)", one.text)
        origin = self.names.get(found[1].lower()) if found else None
        if not found:
            self._keep_names(paths)
        elif origin is None:
            self.stage.commands.append(Command(("COPY", found[1]), (one.line, one.line)))
        elif origin is not self.stage and _MAY_HOLD_PACKAGES.search(one.text):
            self.stage.carried += [*origin.pins, *origin.carried]

    _add = _copy

    def _keep_names(self, paths: list[str]) -> None:
        """Where a copied list of packages lies in the image, by its name there."""
        for source in paths[:-1]:
            if source.endswith((".txt", ".in")) and "*" not in source:
                renamed = paths[-1].endswith((".txt", ".in")) and len(paths) == 2
                name = posixpath.basename(paths[-1] if renamed else source)
                self.stage.copied[name] = source.removeprefix("./")


_MAY_HOLD_PACKAGES = pattern("dockerfile.may_hold_packages")


def _child(parent: Environment) -> Environment:
    made = Environment(parent.path, runs=False, image=parent.image)
    for name in ("pins", "carried", "includes", "commands", "channels", "conda_files", "outdone"):
        setattr(made, name, list(getattr(parent, name)))
    for name in ("variables", "apt", "apt_pinned", "copied"):
        setattr(made, name, dict(getattr(parent, name)))
    made.system, made.machine = parent.system, parent.machine
    made.other_index = parent.other_index
    return made


def _words(one: Instruction) -> list[tuple[str, str, str]]:
    made = shell.commands("x " + one.text, one.line, {}) if one.text.strip() else []
    return [word.partition("=") for word in made[0].words[1:]] if made else []


def _pairs(one: Instruction) -> list[tuple[str, str, int]]:
    """`ENV A=b C=d`, or the old `ENV A b`."""
    old = re.match(r"\s*([A-Za-z_]\w*)[ \t]+([^=\s].*)", one.text, re.DOTALL)
    if old:
        return [(old[1], old[2].strip().strip('"'), one.line)]
    out = []
    for command in shell.commands("x " + one.text, one.line, {}):
        for word, line in zip(command.words[1:], command.lines[1:], strict=True):
            name, equals, value = word.partition("=")
            out += [(name, value, line)] if equals else []
    return out


def _json_words(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    words = [word for word in found if isinstance(word, str)] if isinstance(found, list) else []
    shells = ("sh", "bash", "/bin/sh", "/bin/bash")
    started = len(words) > 2 and words[0] in shells and words[1].endswith("c")
    return words[2:] if started else words
