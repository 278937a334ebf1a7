"""Conda's environment files and match specs; Replicate's cog.yaml."""

from __future__ import annotations

import re

from gpuwhy.lint.mistakes import Place
from gpuwhy.lint.read import requirements, script
from gpuwhy.lint.read.yamls import Map, Text, top
from gpuwhy.lint.sheet import Environment, Include, Index, Pin, Sheet
from gpuwhy.lint.versions import normal

_SPEC = re.compile(r"(?:([\w./:-]+)::)?([A-Za-z0-9_][\w.-]*)\s*(\[.*\])?\s*(.*)")


def read(path: str, text: str) -> Sheet:
    """An environment.yml."""
    sheet = Sheet(path, "conda")
    whole = top(sheet, text, "conda environment: a mapping with `dependencies`")
    if whole is None:
        return sheet
    channels = [str(entry) for entry in whole.seq("channels") if isinstance(entry, Text)]
    environment = Environment(path, channels=channels)
    for entry in whole.seq("dependencies"):
        if isinstance(entry, Text):
            add(environment, entry, entry.line)
        elif isinstance(entry, Map):
            requirements.fill(environment, sheet, requirements.listed(entry.seq("pip")))
    sheet.environments.append(environment)
    return sheet


def add(environment: Environment, spec: str, line: int) -> None:
    """A match spec into an environment; `python=3.10` sets its Python."""
    pin = match_spec(spec, Place(environment.path, line))
    if pin and pin.name != "python":
        environment.pins.append(pin)
    found = re.match(r"[=~]*(3\.\d+)", pin.specifier) if pin and pin.name == "python" else None
    if pin and found and not re.search(r"[<>!,|]", pin.specifier):
        environment.pythons = (found[1],)
        environment.python_from = f"the environment asks for Python {found[1]}"


def match_spec(text: str, place: Place) -> Pin | None:
    """`channel::name=1.2=build`, `name>=1.2,<2`, `name 1.2.* build`; None for what is none."""
    found = _SPEC.fullmatch(re.sub(r"\s+#.*$", "", text).strip().strip("\"'"))
    if not found:
        return None
    channel, name, bracket, rest = found.groups()
    inner = re.search(r"version=['\"]?([^'\",\]]+)", bracket or "")
    version, build = _version((rest or (inner[1] if inner else "")).strip())
    named = re.search(r"build=['\"]?([^'\",\]]+)", bracket or "")
    build = named[1] if named else build
    return Pin(normal(name), place, version, origin="conda", build=build, channel=channel or "")


def _version(rest: str) -> tuple[str, str]:
    """A conda version as pip would write it, and the build string."""
    found = re.fullmatch(r"(==?|(?=\d))\s*([^=\s]*)\s*[=\s]?\s*(.*)", rest)
    if not found:
        return ("" if "|" in rest else re.sub(r"\s", "", rest)), ""
    operator, version, build = found.groups()
    if operator == "=" and not re.match(r"\d", version):
        return "", build
    any_patch = operator == "=" and not build and "*" not in version
    return f"=={version}{'.*' * any_patch}", build


def read_cog(path: str, text: str) -> Sheet:
    """A cog.yaml."""
    sheet = Sheet(path, "cog")
    whole = top(sheet, text, "cog file: a mapping with `build`")
    if whole is None:
        return sheet
    build = whole.map("build")
    stage = Environment(path)
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
