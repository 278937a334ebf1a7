"""What each framework was built for and opens: frameworks.toml, each row walked here."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpuwhy.facts.fact import Absent, Known, value_or
from tests.look.world import SITE, World, shared_object

ROWS = msgspec.toml.decode((Path(__file__).parent / "frameworks.toml").read_bytes())["row"]
FIELDS = {
    "gpu": "gpu_build", "cuda": "built_for_cuda", "cudnn": "built_for_cudnn",
    "sass": "sass", "ptx": "ptx",
}


def said(fact: Any) -> Any:
    """A value, or the name of its state."""
    if isinstance(fact, Known):
        return list(fact.value) if isinstance(fact.value, tuple) else fact.value
    return "absent" if isinstance(fact, Absent) else "unknown"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["what"])
def test_row(row: dict[str, Any], world: World) -> None:
    files: dict[str, bytes | str] = dict(row.get("files", {}))
    files |= {path: shared_object(*names) for path, names in row.get("libraries", {}).items()}
    for package in row["packages"]:
        world.install(*package.split(), files, row.get("requires", ()))
        files, row = {}, {**row, "requires": ()}
    for path in row.get("gone", ()):
        (world.root / f"{SITE}/{path}".lstrip("/")).unlink()
    found = world.look().frameworks.installed.need() or ()
    (one,) = found
    for name, field in FIELDS.items():
        assert said(getattr(one, field)) == row.get(name, said(getattr(one, field))), name
    opens = value_or(one.opens, ())
    at_once = [o.name for o in opens if not o.optional]
    wanted = row.get("needs", at_once)
    assert (at_once if isinstance(one.opens, Known) else "unknown") == wanted or at_once == wanted
    later = [o.name for o in opens if o.optional]
    assert later == row.get("later", later)
    assert set(row.get("among", ())) <= set(at_once)
    assert not set(row.get("without", ())) & set(at_once)
    assert all(o.by.endswith(row.get("by", "")) for o in opens)
    assert opens or "by" not in row
    assert one.path.endswith(row.get("path", ""))
    assert (one.name, one.package) == (row.get("name", one.name), row.get("package", one.package))
    source = one.gpu_build.source if isinstance(one.gpu_build, Known) else None
    assert "detail" not in row or (source and source.detail == row["detail"])
