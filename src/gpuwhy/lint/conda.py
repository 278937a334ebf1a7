"""Conda: environment files, match specs, and the platforms of a conda-lock file."""

from __future__ import annotations

import re

from gpuwhy.lint import requirements
from gpuwhy.lint.sheet import Environment, Pin, Sheet
from gpuwhy.lint.yamls import BadYamlError, Map, Text, documents
from gpuwhy.model.lint import Place, Problem
from gpuwhy.model.words import normal

_SPEC = re.compile(r"(?:([\w./:-]+)::)?([A-Za-z0-9_][\w.-]*)\s*(\[.*\])?\s*(.*)")
_SYSTEMS = {"linux-64": ("linux", "x86_64"), "linux-aarch64": ("linux", "aarch64"), "win-64": ("windows", "x86_64")}


def read(path: str, text: str) -> Sheet:
    """An environment.yml."""
    sheet = Sheet(path, "conda")
    try:
        found = documents(text)
    except BadYamlError as error:
        sheet.problems.append(Problem(Place(path, error.line), str(error)))
        return sheet
    top = found[0] if found else None
    if not isinstance(top, Map):
        sheet.problems.append(
            Problem(Place(path, 1), "no conda environment: a mapping with `dependencies` is expected")
        )
        return sheet
    environment = Environment(path, channels=[str(entry) for entry in top.seq("channels") if isinstance(entry, Text)])
    for entry in top.seq("dependencies"):
        if isinstance(entry, Text):
            add(environment, entry, entry.line)
        elif isinstance(entry, Map):
            lines = (
                requirements.Logical(t.strip(), t.line) for t in entry.seq("pip") if isinstance(t, Text) and t.strip()
            )
            requirements.fill(environment, sheet, lines)
    sheet.environments.append(environment)
    return sheet


def read_list(path: str, text: str) -> Sheet:
    """The list that `conda list --export` writes; packages of pip have the build pypi_0."""
    sheet = Sheet(path, "conda")
    environment = Environment(path, locked=True, system="linux")
    for number, line in enumerate(text.split("\n"), 1):
        name, _, rest = line.strip().partition("=")
        version, _, build = rest.partition("=")
        if not name or name.startswith("#") or not version:
            continue
        if build.startswith("pypi"):
            environment.pins.append(Pin(normal(name), Place(path, number), f"=={version}", build=build))
        else:
            add(environment, line.strip(), number)
    sheet.environments.append(environment)
    return sheet


def add(environment: Environment, spec: str, line: int) -> None:
    """A match spec into an environment; `python=3.10` sets its Python."""
    pin = match_spec(spec, Place(environment.path, line))
    if pin is None:
        return
    if pin.name == "python":
        found = re.match(r"[=~]*(3\.\d+)", pin.specifier)
        if found and not re.search(r"[<>!,|]", pin.specifier):
            environment.pythons = (found[1],)
            environment.python_from = f"the environment asks for Python {found[1]}"
        return
    environment.pins.append(pin)


def match_spec(text: str, place: Place) -> Pin | None:
    """`channel::name=1.2=build`, `name>=1.2,<2`, `name 1.2.* build`; None for what is none."""
    found = _SPEC.fullmatch(re.sub(r"\s+#.*$", "", text).strip().strip("\"'"))
    if not found or not found[2]:
        return None
    channel, name, bracket, rest = found.groups()
    if bracket and (inner := re.search(r"version=['\"]?([^'\",\]]+)", bracket)):
        rest = rest or inner[1]
    build = re.search(r"build=['\"]?([^'\",\]]+)", bracket or "")
    version, builds = _version(rest.strip())
    how = build[1] if build else builds
    return Pin(normal(name), place, version, origin="conda", build=how, channel=channel or "")


def _version(rest: str) -> tuple[str, str]:
    """A conda version as pip would write it, and the build string."""
    if not rest:
        return "", ""
    if rest[0] == "=" and not rest.startswith("=="):
        version, _, build = rest[1:].partition("=")
        version = version.strip()
        exact = bool(build) or "*" in version
        return (f"=={version}" if exact else f"=={version}.*") if re.match(r"\d", version) else "", build.strip()
    if rest.startswith("=="):
        version, _, build = rest[2:].strip().partition("=")
        return f"=={version.strip()}", build.strip()
    if re.match(r"\d", rest):
        version, _, build = rest.partition(" ")
        return f"=={version}", build.strip()
    return ("" if "|" in rest else re.sub(r"\s", "", rest)), ""


def read_lock(path: str, text: str) -> Sheet:
    """A conda-lock file: one environment for each platform."""
    sheet = Sheet(path, "conda-lock")
    if "package:" not in text:
        sheet.problems.append(Problem(Place(path, 1), "no conda-lock file: it has no `package` list"))
        return sheet
    environments: dict[str, Environment] = {}
    for number, fields in _entries(text):
        platform = fields.get("platform", "")
        environment = environments.setdefault(platform, _for(path, platform))
        manager, version = fields.get("manager", "conda"), fields.get("version", "")
        build = re.search(r"-([^-/]+)\.(?:conda|tar\.bz2)", fields.get("url", ""))
        name = normal(fields["name"])
        if name == "python" and (short := re.match(r"3\.\d+", version)):
            environment.pythons, environment.python_from = (short[0],), f"the lock holds Python {version}"
        environment.pins.append(
            Pin(
                name,
                Place(path, number),
                f"=={version}" if version else "",
                origin="pip" if manager == "pip" else "conda",
                build=build[1] if build and manager != "pip" else "",
                optional=fields.get("optional", "false") == "true",
            )
        )
    sheet.environments += environments.values()
    return sheet


def _for(path: str, platform: str) -> Environment:
    system, machine = _SYSTEMS.get(platform, ("darwin" if platform.startswith("osx") else "", ""))
    return Environment(path, system=system, machine=machine, locked=True)


def _entries(text: str) -> list[tuple[int, dict[str, str]]]:
    """The entries of the package list, by its regular shape: parsing 100,000 lines of YAML takes seconds."""
    out: list[tuple[int, dict[str, str]]] = []
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if not line.startswith((" ", "-")):
            inside = line.startswith("package:")
        elif inside and (found := re.match(r"(- | {2})(\w+): *(.*)", line)):
            if found[1] == "- ":
                out.append((number, {}))
            if out:
                out[-1][1][found[2]] = found[3].strip().strip("\"'")
    return [(number, fields) for number, fields in out if fields.get("name")]
