"""Replicate's cog.yaml: packages, Python, and commands of the build."""

from __future__ import annotations

import re

from gpuwhy.lint.mistakes import Place
from gpuwhy.lint.read import requirements, script
from gpuwhy.lint.read.yamls import Map, Node, Text, top
from gpuwhy.lint.sheet import Environment, Include, Index, Sheet


def read(path: str, text: str) -> Sheet:
    """A cog.yaml."""
    sheet = Sheet(path, "cog")
    whole = top(sheet, text, "cog file: a mapping with `build`")
    if whole is None:
        return sheet
    build = whole.map("build")
    stage = Environment(path, system="linux")
    if build.text("gpu") == "true":
        stage.gpu = f"cog.yaml asks for a GPU (line {build.line_of('gpu')})"
    stage.no_gpu = build.line_of("gpu") if build.text("gpu") == "false" else 0
    version = re.match(r"3\.\d+", build.text("python_version"))
    if version:
        stage.pythons = (version[0],)
        stage.python_from = f"cog.yaml asks for Python {version[0]}"
    texts = [one for one in build.seq("python_packages") if isinstance(one, Text) and one.strip()]
    _packages(stage, sheet, texts)
    file = build.at("python_requirements")
    if isinstance(file, Text) and file:
        stage.includes.append(Include(str(file), Place(path, file.line), must=False))
    sheet.environments.append(stage)
    for entry in build.seq("run"):
        _run(sheet, entry.at("command") if isinstance(entry, Map) else entry)
    return sheet


def _packages(stage: Environment, sheet: Sheet, texts: list[Text]) -> None:
    """The listed packages; an index option behind one is used for all of them by Cog."""
    lines = (requirements.Logical(one.strip(), one.line) for one in texts)
    requirements.fill(stage, sheet, lines)
    indexes = []
    for one in texts:
        found = requirements.MISPLACED.search(one)
        words = found[0].replace("=", " ").split() if found else []
        if len(words) > 1:
            place = Place(stage.path, one.line)
            indexes.append(Index(words[1], requirements.ROLES[words[0]], place))
    stage.pins = [requirements.with_indexes(pin, tuple(indexes)) for pin in stage.pins]


def _run(sheet: Sheet, node: Node | None) -> None:
    """Shell lines of a scalar; a block starts on the line after its key, as libyaml counts."""
    if isinstance(node, Text):
        script.fill(sheet, str(node), node.line + ("\n" in node), {})
