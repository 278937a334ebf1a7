"""Dockerfile: stages with their image, variables, commands and packages; arguments replaced by their defaults."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from gpuwhy.lint import installs, shell, stage_pythons
from gpuwhy.lint.kinds import is_template
from gpuwhy.lint.sheet import Command, Environment, Handed, Image, Sheet, Taken, Variable
from gpuwhy.model.lint import Place, Problem

_KEYWORDS = frozenset(
    [
        "FROM", "RUN", "CMD", "LABEL", "MAINTAINER", "EXPOSE", "ENV", "ADD", "COPY", "ENTRYPOINT", "VOLUME", "USER",
        "WORKDIR", "ARG", "ONBUILD", "STOPSIGNAL", "HEALTHCHECK", "SHELL", "CROSS_BUILD",
    ]
)  # fmt: skip
_HEREDOC = re.compile(r"<<(-?)([\"']?)(\w+)\2")
_LENGTH, _INSTRUCTIONS = 200_000, 5_000


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


def read(path: str, text: str, arguments: Mapping[str, str] | None = None, target: str = "") -> Sheet:
    """A Dockerfile or Containerfile; `arguments` and `target` are those of the build, where a file tells them."""
    sheet = Sheet(path, "dockerfile")
    try:
        _Stages(sheet, arguments or {}, target).fill(instructions(text))
    except BadDockerfileError as error:
        template = is_template(text)
        if _is_commented_out(text):
            sheet.notes.append(Problem(Place(path, 1), "commented out as a whole: there is nothing to check"))
        elif template or re.search(r"^\s*\{%", text, re.M):
            sheet.environments.clear()
            sheet.notes.append(Problem(Place(path, template or error.line), "a template, not checked: render it first"))
        else:
            sheet.problems.append(Problem(Place(path, error.line), str(error)))
    return sheet


def _is_commented_out(text: str) -> bool:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return all(line.startswith("#") for line in lines) and any(re.match(r"#\s*FROM\s+\S", line) for line in lines)


def _has_other_frontend(lines: Sequence[str]) -> bool:
    """Whether the file names a frontend of BuildKit's other than Docker's own, which may have more instructions."""
    found = re.match(r"#\s*syntax\s*=\s*(\S+)", lines[0]) if lines else None
    return found is not None and not re.match(r"(docker\.io/)?docker/dockerfile(-upstream)?(:|$)", found[1])


def instructions(text: str) -> Iterator[Instruction]:
    """The instructions of a Dockerfile: lines joined, comments and heredocs minded; raises BadDockerfileError."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").split("\n")
    escape = _escape(lines)
    number, count = 0, 0
    while number < len(lines):
        stripped = lines[number].strip()
        start = number + 1
        if not stripped or stripped.startswith("#"):
            number += 1
            continue
        body, number = _joined(lines, number, escape)
        body, number = _with_heredocs(body, lines, number)
        keyword, _, rest = body.lstrip().partition(" ") if " " in body.lstrip().split("\n")[0] else _tabbed(body)
        count += 1
        if keyword.upper() not in _KEYWORDS and _has_other_frontend(lines):
            continue  # one of that frontend's own
        if keyword.upper() not in _KEYWORDS:
            raise BadDockerfileError(start, f"no Dockerfile: {keyword[:40]!r} is no instruction")
        if len(body) > _LENGTH or count > _INSTRUCTIONS:
            raise BadDockerfileError(start, f"more than {_LENGTH} characters in one instruction, or too many of them")
        yield Instruction(keyword.upper(), rest, start)


def _tabbed(body: str) -> tuple[str, str, str]:
    found = re.match(r"\s*(\S+)[ \t]*(.*)", body, re.DOTALL)
    return (found[1], " ", found[2]) if found else (body, "", "")


def _escape(lines: list[str]) -> str:
    for line in lines:
        found = re.match(r"#\s*escape\s*=\s*(\S)", line, re.IGNORECASE)
        if found:
            return found[1]
        if not line.startswith("#"):
            break
    return "\\"


def _joined(lines: list[str], number: int, escape: str) -> tuple[str, int]:
    """A line and its continuations; comments and empty lines between them count as lines and say nothing."""
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
        while number < len(lines) and (lines[number].strip() if found[1] else lines[number].rstrip()) != found[3]:
            number += 1
        if number >= len(lines):
            raise BadDockerfileError(start, f"no Dockerfile: the heredoc {found[3]} has no end")
        if first.startswith("RUN"):
            held = lines[start:number]
            joined = "".join("\n" + (line[:-1] if line.endswith("\\") else _code(line) + " ;") for line in held)
            body = body.replace(found[0], " ", 1) + " ;" + joined
        number += 1
    return body, number


def _code(line: str) -> str:
    return "" if line.lstrip().startswith("#") else line


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
        self.entered: set[int] = set()  # stages with an ENTRYPOINT of their own
        self.used: set[int] = set()  # stages that have a name or that something is copied from

    def fill(self, found: Iterator[Instruction]) -> None:
        for one in found:
            if one.keyword == "ONBUILD":
                continue
            if one.keyword not in ("FROM", "ARG") and not self.sheet.environments:
                raise BadDockerfileError(one.line, f"no Dockerfile: {one.keyword} comes before FROM")
            handler = getattr(self, f"_{one.keyword.lower()}", None)
            if handler:
                handler(one)
        if not self.sheet.environments:
            raise BadDockerfileError(1, "no Dockerfile: it has no FROM")
        self._finish()

    @property
    def stage(self) -> Environment:
        return self.sheet.environments[-1]

    def _from(self, one: Instruction) -> None:
        words = [w for w in one.text.split() if not w.startswith("--")]
        if not words:
            raise BadDockerfileError(one.line, "no Dockerfile: FROM names no image")
        platform = re.search(r"--platform=(\S+)", one.text)
        text = shell.expand(words[0], self.arguments).strip("\"'")
        parent = self.names.get(text.lower())
        made = Environment(
            self.sheet.path, image=Image(text, Place(self.sheet.path, one.line)), runs=False, system="linux"
        )
        self.known = {}
        if parent:
            made = _child(parent)
            self.parents[id(made)] = parent
            self.known = dict(self.kept.get(id(parent), {}))
        if platform and "arm64" in platform[1]:
            made.machine = "aarch64"
        self.sheet.environments.append(made)
        self.kept[id(made)] = self.known
        self.names[str(len(self.sheet.environments) - 1)] = made
        if len(words) >= 3 and words[1].lower() == "as":
            self.names[words[2].lower()] = made
            self.used.add(id(made))

    def _arg(self, one: Instruction) -> None:
        for word in shell.commands("x " + one.text, one.line, {})[0].words[1:] if one.text.strip() else ():
            name, equals, value = word.partition("=")
            target = self.known if self.sheet.environments else self.arguments
            if equals and self.sheet.environments:
                self.stage.arguments[name] = Variable(name, value, Place(self.sheet.path, one.line))
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
            self.stage.variables[name] = Variable(name, resolved, Place(self.sheet.path, line))

    def _run(self, one: Instruction) -> None:
        text = re.sub(r"^(\s*--(mount|network|security)=\S+)+", "", one.text)
        if text.lstrip().startswith("["):
            text = " ".join(_json_words(text))
        command = None
        for command in shell.commands(text, one.line, self.known):
            self.stage.commands.append(command)
            installs.take(self.stage, self.sheet, command)
        if command and not command.words and re.search(r"(^|\s)export\s", text):
            place = Place(self.sheet.path, one.line + text.rstrip().count("\n"))
            self.stage.lost += [Variable(name, value, place) for name, value in command.assigned]

    def _cmd(self, one: Instruction) -> None:
        words = _json_list(one.text) if one.text.lstrip().startswith("[") else ["sh"]  # without brackets: sh -c
        self.stage.handed = Handed(" ".join(words), Place(self.sheet.path, one.line)) if words else None
        self.stage.handed = None if id(self.stage) in self.entered else self.stage.handed
        self._starts(one)

    def _starts(self, one: Instruction) -> None:
        text = " ".join(_json_words(one.text)) if one.text.lstrip().startswith("[") else one.text
        self.stage.starts += [c for c in shell.commands(text, one.line, self.known) if c.words]

    def _healthcheck(self, one: Instruction) -> None:
        text = re.sub(r"^(\s*--\S+)*\s*(NONE\b.*|CMD\s*)", "", one.text, flags=re.IGNORECASE)
        self.stage.health = shell.commands(" ".join(_json_words(text)) or text.strip(), one.line, self.known)

    def _entrypoint(self, one: Instruction) -> None:
        self.stage.handed = None
        self._starts(one)
        self.entered.add(id(self.stage))

    def _user(self, one: Instruction) -> None:
        named = self.stage.users if one.keyword.upper() == "USER" else self.stage.folders
        named.append((len(self.stage.commands), shell.expand(one.text.strip(), self.known)))

    _workdir = _user

    def _shell(self, one: Instruction) -> None:
        self.stage.shell = one.text

    def _copy(self, one: Instruction) -> None:
        found = re.search(r"--from=(\S+)", one.text)
        origin = self.names.get(found[1].lower()) if found else None
        self.stage.copies = self.stage.copies or bool(found)
        self.stage.copies_programs = self.stage.copies_programs or bool(found and not _NO_PROGRAMS.search(one.text))
        if origin is not None:
            self.used.add(id(origin))
            self.stage.taken.append(Taken(origin, self._paths(one), one.line))
        if found and origin is None:
            self.stage.commands.append(Command(("COPY", found[1]), (one.line, one.line)))
        if not found:
            self._copied(one)
        if origin is not None and origin is not self.stage and _may_hold_packages(one.text):
            self.stage.carried += [*origin.pins, *origin.carried]
            self.stage.carried_includes += [*origin.includes, *origin.carried_includes]

    _add = _copy

    def _copied(self, one: Instruction) -> None:
        """Where a copied file of packages lies in the image, by its name there."""
        words = self._paths(one)
        self.stage.sources += [
            (source, one.line) for source in words[:-1] if source in one.text and "<<" not in one.text
        ]
        for source in words[:-1]:
            if source.endswith((".txt", ".in")) and "*" not in source:
                target = words[-1]
                renamed = target.endswith((".txt", ".in")) and len(words) == 2
                self.stage.copied[posixpath.basename(target if renamed else source)] = source.removeprefix("./")

    def _paths(self, one: Instruction) -> tuple[str, ...]:
        """What COPY names, the target last."""
        words = shell.expand(one.text, self.known).split()
        return tuple(word.strip("[]\",'") for word in words if not word.startswith("--"))

    def _finish(self) -> None:
        """The last stage and those it starts from are what runs; every stage knows its Python."""
        stage: Environment | None = self.names.get(self.target, self.stage)
        while stage is not None:
            stage.runs = True
            stage = self.parents.get(id(stage))
        for one in self.sheet.environments:
            stage_pythons.tell(one)
        images = [one.image for one in self.sheet.environments[:-1] if id(one) not in self.used and not one.runs]
        self.stage.discarded = [image for image in images if image]


_NO_PROGRAMS = re.compile(
    r"site-packages|dist-packages|venv|/root/\.local|/home/\S*\.local|/install\b|/wheels?\b|/dist\b|/app\b|/src\b"
    r"|/usr/local/lib/python|astral-sh/uv|\.(whl|jar|json|txt|toml|lock)\b|/models?\b|node_modules|/static\b|/frontend"
)
"""What is copied from another stage or image and brings no program of the system."""


def _child(parent: Environment) -> Environment:
    return Environment(
        parent.path,
        list(parent.pins),
        list(parent.carried),
        list(parent.includes),
        system=parent.system,
        machine=parent.machine,
        image=parent.image,
        variables=dict(parent.variables),
        arguments=dict(parent.arguments),
        commands=list(parent.commands),
        apt=dict(parent.apt),
        apt_pinned=dict(parent.apt_pinned),
        runs=False,
        other_index=parent.other_index,
        copied=dict(parent.copied),
        starts=list(parent.starts),
        shell=parent.shell,
        copies=parent.copies,
        copies_programs=parent.copies_programs,
        health=list(parent.health),
        users=list(parent.users),
        folders=list(parent.folders),
    )


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


def _json_list(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [w for w in found if isinstance(w, str)] if isinstance(found, list) else []


def _json_words(text: str) -> list[str]:
    words = _json_list(text)
    shells = ("sh", "bash", "/bin/sh", "/bin/bash")
    return words[2:] if len(words) > 2 and words[0] in shells and words[1].endswith("c") else words


def _may_hold_packages(text: str) -> bool:
    return bool(
        re.search(
            r"site-packages|venv|/opt|/usr/local(/lib|\s|/?$)|\.local|conda|/install|/deps|/app|/wheels|\s/\s", text
        )
    )
