"""Changes to what conda installed, in conda's own words: pip would write over files that conda keeps a record of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Facts
from gpuwhy.model.repair import name_of

NAMES = {
    "torch": "pytorch", "opencv-python": "opencv", "opencv-python-headless": "opencv", "onnxruntime-gpu": "onnxruntime",
    "tables": "pytables", "msgpack": "msgpack-python",
}  # fmt: skip
"""What conda-forge calls a distribution, where it is not its own name."""
_PLAIN = re.compile(r"[A-Za-z0-9][\w.-]*(?P<which>[=<>!~].*)?")


def by_conda(facts: Facts, wanted: Sequence[str], again: bool, prefix: str) -> str:
    """The command by which conda, or pixi, changes these in a prefix; "" unless it installed them all."""
    asked = [_asked(facts, text, again) for text in wanted]
    if not prefix or not asked or not all(asked):
        return ""
    words = " ".join(f'"{one}"' for several in asked for one in several)
    if "/.pixi/envs/" in prefix:
        bare = " ".join(re.split("[=<>!~]", one)[0] for several in asked for one in several)
        return f"pixi reinstall {bare}" if again else f"pixi add {words}"
    into = f"conda install --yes --prefix {prefix}"
    # what it installs are links into its store, so that a file which was written over is spoilt there, too
    return f"conda clean --yes --packages\n{into} --force-reinstall {words}" if again else f"{into} {words}"


def _asked(facts: Facts, text: str, again: bool) -> list[str]:
    """A requirement as conda takes it, and the package that holds its files; nothing where pip installed it."""
    plain, name = _PLAIN.fullmatch(text), name_of(text)
    if plain is None:
        return []
    own = list(_owned(facts, name))
    which = plain["which"] or ""
    return [f"{one}{which}" for one in own] if again else [f"{one}{which}" for one in own[:1]]


def _owned(facts: Facts, name: str) -> Iterator[str]:
    """conda's packages of a distribution, in the release that is installed."""
    kept: dict[str, str] = value_or(facts.target.conda, {})
    version = facts.target.releases.get(name, "")
    for one in (NAMES.get(name, name), f"{NAMES.get(name, name)}-base"):
        if version and kept.get(one) == version:
            yield one
