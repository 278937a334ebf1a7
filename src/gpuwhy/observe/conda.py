"""conda: which packages of an environment conda itself installed, by the records that it keeps of them."""

from __future__ import annotations

from gpuwhy.model.fact import Fact, Known, Unknown, absent, known
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.toolkits import conda_package

_RECORD = r".+-[^-]+-[^-]+\.json$"


def packages(scene: Scene) -> Fact[dict[str, str]]:
    """conda's own packages and their versions; Absent where the environment is none of conda's."""
    python = scene.facts.target.interpreter
    if not isinstance(python, Known):
        return python
    folder = f"{python.value.prefix}/conda-meta"
    listed = scene.host.list(folder, _RECORD) if python.value.kind == "conda" else None
    if isinstance(listed, Unknown):
        return listed
    if not isinstance(listed, Known):
        return absent("folder", folder)
    return known(dict(conda_package(entry.name) for entry in listed.value), "folder", folder)
