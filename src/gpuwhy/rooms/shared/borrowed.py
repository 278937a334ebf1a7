"""Borrowed: packages that come from a folder which stands before the environment, and are none of it."""

from __future__ import annotations

from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import SCRIPT_FOLDER, WORKING_FOLDER, Facts, Shadow


def that_matter(found: tuple[Shadow, ...]) -> list[Shadow]:
    """The shadows that change something: not a second copy of the very release."""
    return [one for one in found if not (one.version and one.version == one.meant)]


def borrowed(facts: Facts, path: str) -> bool:
    """Whether a file lies in a folder that PYTHONPATH, a .pth file or the user's site puts before the environment."""
    shadows = that_matter(value_or(facts.target.shadows, ()))
    before = [one for one in shadows if one.via not in (SCRIPT_FOLDER, WORKING_FOLDER) and not one.parts]
    folders = [one.path.rpartition("/")[0] for one in before]
    return any(path.startswith(f"{folder}/") for folder in folders)


def borrowed_packages(facts: Facts) -> frozenset[str]:
    """The distributions that lie in such a folder, and not in the environment."""
    return frozenset(d.name for d in value_or(facts.target.distributions, ()) if borrowed(facts, d.location))
