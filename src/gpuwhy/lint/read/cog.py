"""Replicate's cog.yaml: packages, Python, and commands of the build."""

from __future__ import annotations

import re

from gpuwhy.lint.mistakes import Place
from gpuwhy.lint.read import requirements, script
from gpuwhy.lint.read.yamls import Map, Text, top
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
    version = re.match(r"3\.\d+", build.text("python_version"))
    if version:
        stage.pythons = (version[0],)
        stage.python_from = f"cog.yaml asks for Python {version[0]}"
    lines = requirements.listed(build.seq("python_packages"))
    requirements.fill(stage, sheet, lines)
    indexes = [one for line in lines for one in _index(path, line)]
    stage.pins = [requirements.with_indexes(pin, tuple(indexes)) for pin in stage.pins]
    file = build.at("python_requirements")
    if isinstance(file, Text) and file:
        stage.includes.append(Include(str(file), Place(path, file.line), must=False))
    sheet.environments.append(stage)
    for entry in build.seq("run"):
        node = entry.at("command") if isinstance(entry, Map) else entry
        if isinstance(node, Text):  # a block starts on the line after its key, as libyaml counts
            script.fill(sheet, str(node), node.line + ("\n" in node), {})
    return sheet


def _index(path: str, line: requirements.Logical) -> list[Index]:
    """An index option behind a requirement: Cog uses it for all of them."""
    found = requirements.MISPLACED.search(line.text)
    words = found[0].replace("=", " ").split() if found else []
    place = Place(path, line.line)
    return [Index(words[1], requirements.ROLES[words[0]], place)] if len(words) > 1 else []
