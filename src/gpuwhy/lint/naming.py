"""Naming: which Python a file names for the ones beside it, whatever kind of file that is."""

from __future__ import annotations

import re

from gpuwhy.knowledge import containers
from gpuwhy.lint.versions import PYTHONS, allows

_ALL = ("2.7", "3.4", "3.5", *PYTHONS)
_PLAIN = re.compile(r"^\s*(?:python[- ])?(\d\.\d+)(?:\.\d+)?\s*$", re.MULTILINE | re.IGNORECASE)
_BOUND = re.compile(
    r"(?:requires-python|python_requires|^python|python_version|python_full_version)[ \t]*[=:][ \t]*[\"']?"
    r"([<>=!~^ \d.,*]{1,60})",
    re.MULTILINE,
)
_OF_CONDA = re.compile(r"\bpython {0,3}(==?|<=?|>=|~=) {0,3}(\d(?:\.\d+)?)")
_OF_CI = re.compile(
    r"python(?:[-_ ]?versions?)?[\"']?:[ \t]*([^\n]{0,200})|^[ \t]*-[ \t]*[\"']?(3\.\d+|2\.7)[\"']?[ \t]*$", re.M
)
_SPOKEN = re.compile(
    r"\bpython(?: version)?[ =:\"'`*v(\[-]{0,6}(2\.7|3\.\d+)(?:\.\d+|\.x)?"
    r" ?(\+|or (?:newer|later|above|higher|greater)|and (?:above|up|later))?",
    re.IGNORECASE,
)
_OF_ACTIONS = re.compile(r"uses:\s*[\"']?actions/setup-python@")
_FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)?(\S+)", re.MULTILINE | re.IGNORECASE)


def named_pythons(name: str, text: str, wanted: str) -> tuple[str, ...]:
    """The Pythons that a file of that name leaves for the file that is wanted; () where it names none."""
    if "dockerfile" in name:
        return _of_image(text) if wanted.lower() in text.lower() else ()
    if wanted in text and _OF_ACTIONS.search(text):
        return _tested(text)
    reader = next((reader for pattern, reader in _READERS if re.fullmatch(pattern, name)), None)
    return reader(text) if reader else ()


def _plain(text: str) -> tuple[str, ...]:
    return tuple(_PLAIN.findall(text))[:3]


def _bound(text: str) -> tuple[str, ...]:
    return _within(_BOUND.search(text))


def _by_conda(text: str) -> tuple[str, ...]:
    return tuple(p for sign, version in _OF_CONDA.findall(text) for p in _by(sign, version))


def _tested(text: str) -> tuple[str, ...]:
    return tuple(p for found in _OF_CI.finditer(text) for p in _numbers(found[1] or found[2] or ""))


def _spoken(text: str) -> tuple[str, ...]:
    out = list(_by_conda(text))
    for version, more in _SPOKEN.findall(text):
        out += _by(">=" if more else "==", version)
    return tuple(dict.fromkeys(out))


def _numbers(text: str) -> list[str]:
    return [one for one in re.findall(r"(?<![\d.])(?:2\.7|3\.\d+)", text) if one in _ALL]


def _within(found: re.Match[str] | None) -> tuple[str, ...]:
    """The Pythons of a bound: >=3.8,<3.11; ^3.8 of Poetry's."""
    text = found[1].strip().strip(",").replace(" ", "") if found else ""
    if not text:
        return ()
    plain = re.sub(r"\^(\d)\.(\d+)[\d.]*", r">=\1.\2", text)
    plain = re.sub(r"(?<![<>=!~])~(\d\.\d+)[\d.]*", r"==\1.*", plain)
    plain = re.sub(r"^(\d\.\d+)[\d.]*$", r"==\1.*", plain)
    return tuple(p for p in _ALL if allows(plain, f"{p}.9"))


def _by(sign: str, version: str) -> list[str]:
    exact = f"=={version}.*" if sign in ("=", "==", "~=") else f"{sign}{version}"
    return [p for p in _ALL if allows(exact, p if sign != ">" else f"{p}.9")]


def _of_image(text: str) -> tuple[str, ...]:
    named = tuple(p for sign, version in _OF_CONDA.findall(text) for p in _by(sign, version) if sign in ("=", "=="))
    named += tuple(re.findall(r"\bpython(3\.\d+)\b", text))
    bases = (containers.read(image) for image in _FROM.findall(text))
    held = tuple(base.python or base.distro_python for base in bases)
    return tuple(dict.fromkeys(named or filter(None, held)))


_READERS = (
    (r"\.python-version|runtime\.txt|\.tool-versions", _plain),
    (r"pyproject\.toml|setup\.(py|cfg)|pipfile|cog\.yaml", _bound),
    (r"\S*(environment|conda|env)\S*\.ya?ml", _by_conda),
    (r"\.travis\.yml|tox\.ini", _tested),
    (r"(readme|install)\S*|\S+\.sh|makefile", _spoken),
)
