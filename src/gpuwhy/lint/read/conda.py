"""Conda: environment files and match specs."""

from __future__ import annotations

import re

from gpuwhy.lint.mistakes import Place
from gpuwhy.lint.read import requirements
from gpuwhy.lint.read.yamls import Map, Text, top
from gpuwhy.lint.sheet import Environment, Pin, Sheet
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
            texts = [one for one in entry.seq("pip") if isinstance(one, Text) and one.strip()]
            lines = (requirements.Logical(one.strip(), one.line) for one in texts)
            requirements.fill(environment, sheet, lines)
    sheet.environments.append(environment)
    return sheet


def add(environment: Environment, spec: str, line: int) -> None:
    """A match spec into an environment; `python=3.10` sets its Python."""
    pin = match_spec(spec, Place(environment.path, line))
    if pin is None:
        return
    if pin.name != "python":
        environment.pins.append(pin)
        return
    found = re.match(r"[=~]*(3\.\d+)", pin.specifier)
    if found and not re.search(r"[<>!,|]", pin.specifier):
        environment.pythons = (found[1],)
        environment.python_from = f"the environment asks for Python {found[1]}"


def match_spec(text: str, place: Place) -> Pin | None:
    """`channel::name=1.2=build`, `name>=1.2,<2`, `name 1.2.* build`; None for what is none."""
    found = _SPEC.fullmatch(re.sub(r"\s+#.*$", "", text).strip().strip("\"'"))
    if not found:
        return None
    channel, name, bracket, rest = found.groups()
    if bracket and (inner := re.search(r"version=['\"]?([^'\",\]]+)", bracket)):
        rest = rest or inner[1]
    build = re.search(r"build=['\"]?([^'\",\]]+)", bracket or "")
    version, builds = _version(rest.strip())
    return Pin(
        normal(name),
        place,
        version,
        origin="conda",
        build=build[1] if build else builds,
        channel=channel or "",
    )


def _version(rest: str) -> tuple[str, str]:
    """A conda version as pip would write it, and the build string."""
    if rest.startswith("=="):
        version, _, build = rest[2:].strip().partition("=")
        return f"=={version.strip()}", build.strip()
    if rest.startswith("="):
        version, _, build = rest[1:].partition("=")
        version = version.strip()
        if not re.match(r"\d", version):
            return "", build.strip()
        return (f"=={version}" if build or "*" in version else f"=={version}.*"), build.strip()
    if re.match(r"\d", rest):
        version, _, build = rest.partition(" ")
        return f"=={version}", build.strip()
    return ("" if "|" in rest else re.sub(r"\s", "", rest)), ""
