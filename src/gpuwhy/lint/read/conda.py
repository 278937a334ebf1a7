"""Conda's environment files and match specs; Replicate's cog.yaml."""

import re

from gpuwhy.lint.mistakes import Place
from gpuwhy.lint.read import requirements, script
from gpuwhy.lint.read.yamls import Node, top
from gpuwhy.lint.sheet import Environment, Include, Index, Pin, Sheet
from gpuwhy.lint.versions import normal

_SPEC = re.compile(r"(?:([\w./:-]+)::)?([A-Za-z0-9_][\w.-]*)\s*(\[.*\])?\s*(.*)")
_VERSION = re.compile(r"(==?|(?=\d))\s*([^=\s]*)\s*[=\s]?\s*(.*)")


def read(path: str, text: str) -> Sheet:
    """An environment.yml."""
    sheet = Sheet(path, "conda")
    whole = top(sheet, text, "conda environment: a mapping with `dependencies`")
    if not whole.is_map:
        return sheet
    channels = [one.text for one in whole.at("channels").items if one.text]
    environment = Environment(path, channels=channels)
    for entry in whole.at("dependencies").items:
        if entry.text:
            add(environment, entry.text, entry.line)
        requirements.fill(environment, sheet, _listed(entry.at("pip")))
    sheet.environments.append(environment)
    return sheet


def _listed(node: Node) -> list[requirements.Logical]:
    """The texts of a list, with their lines."""
    texts = ((one.text.strip(), one.line) for one in node.items)
    return [requirements.Logical(text, line) for text, line in texts if text]


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
    inner = dict(re.findall(r"(version|build)=['\"]?([^'\",\]]+)", bracket or ""))
    rest, build = (rest or inner.get("version", "")).strip(), ""
    version = "" if "|" in rest else re.sub(r"\s", "", rest)
    parted = _VERSION.fullmatch(rest)
    if parted:  # as pip would write it
        operator, number, build = parted.groups()
        any_patch = operator == "=" and not build and "*" not in number
        named = operator != "=" or re.match(r"\d", number)
        version = f"=={number}{'.*' * any_patch}" if named else ""
    build = inner.get("build", build)
    return Pin(normal(name), place, version, origin="conda", build=build, channel=channel or "")


def read_cog(path: str, text: str) -> Sheet:
    """A cog.yaml."""
    sheet = Sheet(path, "cog")
    whole = top(sheet, text, "cog file: a mapping with `build`")
    if not whole.is_map:
        return sheet
    build, stage = whole.at("build"), Environment(path)
    if build.at("gpu").text == "true":
        stage.gpu = f"cog.yaml asks for a GPU (line {build.at('gpu').key})"
    version = re.match(r"3\.\d+", build.at("python_version").text)
    if version:
        stage.pythons = (version[0],)
        stage.python_from = f"cog.yaml asks for Python {version[0]}"
    lines, indexes = _listed(build.at("python_packages")), []
    requirements.fill(stage, sheet, lines)
    for line in lines:  # an index option behind a requirement: Cog uses it for all of them
        found = requirements.MISPLACED.search(line.text)
        words = found[0].replace("=", " ").split() if found else []
        role = requirements.ROLES[words[0]] if len(words) > 1 else None
        indexes += [Index(words[1], role, Place(path, line.line))] if role else []
    stage.pins = [requirements.with_indexes(pin, tuple(indexes)) for pin in stage.pins]
    file = build.at("python_requirements")
    if file.text:
        stage.includes.append(Include(file.text, Place(path, file.line), must=False))
    sheet.environments.append(stage)
    for entry in build.at("run").items:
        node = entry.at("command") if entry.is_map else entry
        if node.text:  # a block starts on the line after its key, as libyaml counts
            script.fill(sheet, node.text, node.line + ("\n" in node.text))
    return sheet
