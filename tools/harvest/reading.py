"""Reading: the values found in one file, each with how and where it was read."""

from __future__ import annotations

import re
from typing import Any

# how: (what was done, confidence)
HOW: dict[str, tuple[str, str]] = {
    "archive": ("names of the files inside", "metadata"),
    "build_info": ("build information module", "metadata"),
    "bundled": ("version in the name of a bundled library", "metadata"),
    "code": ("number that the version check compares with, from the machine code", "binary"),
    "config": ("CUDA configuration header of the build", "metadata"),
    "cpp_lib": ("build description written by the extension's setup", "metadata"),
    "cpu": ("built without CUDA, so it has none", "metadata"),
    "fatbin": ("GPU code entries of the library; what most of them carry", "binary"),
    "header": ("version macros of the header", "metadata"),
    "joined": ("names that its loader joins from the versions in the configuration header", "metadata"),
    "lower": ("lower bound of the requirement", "metadata"),
    "metadata": ("requirements of the wheel", "metadata"),
    "named": ("CUDA version in the name of the package", "metadata"),
    "needed": ("libraries named in the binary's dynamic section or import table", "binary"),
    "nolibrary": ("no CUDA library among the files inside, nor among its requirements", "metadata"),
    "opener": ("names in the Python module that opens the libraries", "metadata"),
    "pin": ("exact requirement", "metadata"),
    "ptx": ("version of the PTX language that its compiler wrote", "binary"),
    "soname": ("version in the names of the CUDA libraries it asks for", "binary"),
    "stub": ("no framework inside, only a requirement of another package", "metadata"),
    "tool": ("version text inside the bundled compiler", "binary"),
    "version": ("version module", "metadata"),
    "versions": ("build versions compiled into the plugin", "binary"),
}
FIELDS = ("cuda", "cudnn", "sass", "ptx", "requires", "opens", "ships", "pairs", "also")


class Reading:
    """Values by field, and their evidence (`how` or `how@member`); a value of None means "none", absence "unknown"."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.evidence: dict[str, str] = {}

    def set(self, field: str, value: Any, how: str, member: str = "") -> None:
        """Note a value, replacing what was noted before."""
        if how not in HOW or field not in FIELDS:
            raise ValueError(f"{field} by {how}")
        self.values[field] = value
        self.evidence[field] = f"{how}@{member}" if member else how

    def cpu(self, how: str, member: str = "") -> None:
        """A build without CUDA: it opens nothing and was built for nothing."""
        self.set("cuda", None, how, member)
        self.set("cudnn", None, "cpu")
        for field in ("sass", "ptx", "opens"):
            self.set(field, [], "cpu")

    def as_json(self) -> dict[str, Any]:
        """For the journal."""
        return {"values": self.values, "evidence": self.evidence}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Reading:
        """From the journal."""
        reading = cls()
        reading.values, reading.evidence = dict(raw["values"]), dict(raw["evidence"])
        return reading


_REQUIRES = re.compile(r"Requires-Dist: *([\w.-]+)(?:\[([^\]]*)\])? *\(?([^;)]*)\)? *(?:;(.*))?")


def requirements(metadata: str) -> list[tuple[str, str, str, str]]:
    """(normalised name, extras, specifier without spaces, marker) of each Requires-Dist line, in both syntaxes."""
    out = []
    for line in metadata.splitlines():
        if not line.strip():
            break
        found = _REQUIRES.match(line)
        if found:
            name = re.sub(r"[-_.]+", "-", found[1]).lower()
            out.append((name, found[2] or "", re.sub(r"\s", "", found[3]), (found[4] or "").strip()))
    return out


def major_minor(version: str) -> str:
    """'12.5.1' → '12.5'."""
    return ".".join(version.split(".")[:2])


def places(version: str, count: int = 3) -> str:
    """'9.1.0.70' → '9.1.0'."""
    return ".".join(version.split(".")[:count])


def assigned(text: str) -> dict[str, str]:
    """The plain `name = value` and `'name': value` pairs of a generated Python module; None and False stay words."""
    pairs = re.findall(
        r"""['"]?(\w+)['"]?\s*(?::\s*[\w.\[\], ]+\s*=|[,:=])\s*(None|True|False|'[^'\n]*'|"[^"\n]*"|\[[^\]]*\])""", text
    )
    return {name: value if value.startswith("[") else value.strip("'\"") for name, value in pairs}


def arch_order(name: str) -> tuple[int, str]:
    """sm_86 before sm_100 before sm_100a."""
    return int(re.sub(r"\D", "", name) or 0), name
