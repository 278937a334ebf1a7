"""gpuwhy's prediction against TensorFlow itself: which libraries the genuine Windows build opens, and from where.

    WINEPREFIX=FOLDER GPUWHY_WINDOWS_PYTHON=C:/Python311/python.exe GPUWHY_WINDOWS_TF=C:/Python38/python.exe \
        pytest -m wine tests/windows/test_genuine.py

GPUWHY_WINDOWS_TF is a Windows Python 3.8 with tensorflow-gpu 2.3.4 on the C: drive of the Wine folder.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import msgspec
import pytest

from gpuwhy.app import Run
from gpuwhy.host.recording import RecordingHost
from gpuwhy.host.windows_root import WindowsRootHost, drives_of
from gpuwhy.model.fact import Known
from gpuwhy.model.facts import Facts
from gpuwhy.observe.scene import Options
from tests.formats.made_pe import ARM64, I386, pe
from tests.windows.genuine import CUDA, CUDNN, GCC, LAYOUTS, QUICK, TENSORFLOW, Layout, build, layout, lines_of

PYTHON = os.environ.get("GPUWHY_WINDOWS_PYTHON", "")
SOURCE = "Z:" + str(Path(__file__).parents[2] / "src")
OPENED = (*CUDA, CUDNN)
pytestmark = [
    pytest.mark.wine,
    pytest.mark.skipif(not (shutil.which("wine") and shutil.which(GCC)), reason="needs wine and mingw-w64"),
    pytest.mark.skipif(not TENSORFLOW, reason="needs GPUWHY_WINDOWS_TF"),
]
NATIVE = """
import sys
sys.path.insert(0, {source!r})
import msgspec
from gpuwhy.app import Run, live_host, Options
sys.stdout.buffer.write(msgspec.json.encode(Run(live_host(), Options(python={python!r})).facts))
"""


@pytest.fixture(scope="session")
def genuine_kit(tmp_path_factory):
    kit = build(tmp_path_factory.mktemp("genuine"))
    (kit / "arm64.dll").write_bytes(pe(machine=ARM64))
    (kit / "i386.dll").write_bytes(pe(machine=I386))
    return kit


def facts_of(place: Layout, path: str) -> Facts:
    """What gpuwhy sees in the files below the Wine folder, with the process's PATH."""
    host = WindowsRootHost(drives_of(str(place.prefix)), {"PATH": path, "SystemRoot": "C:\\windows", **place.variables})
    return Run(RecordingHost(host), Options(python=TENSORFLOW)).facts


def predicted(facts: Facts) -> dict[str, str | None]:
    """Each library's file; None where none is found, or something that it needs is not."""
    needs, trees = facts.loads.needs.need() or (), facts.loads.trees.need() or ()
    lacking = {gone.needed_by for tree in trees for gone in tree.missing}
    found = {n.name: n.found.value if isinstance(n.found, Known) else None for n in needs if n.name in OPENED}
    return {name: path.lower() if path and path not in lacking else None for name, path in found.items()}


@pytest.mark.parametrize("name", [name for name in LAYOUTS if name != "no_runtime"])
def test_the_prediction_is_what_tensorflow_does(genuine_kit, name):
    with layout(genuine_kit, LAYOUTS[name]) as place:
        said = place.run(TENSORFLOW, QUICK, *OPENED)
        told = lines_of(said.stderr)
        assert set(told) == {*OPENED, "nvcuda.dll"}, said.stderr
        files = dict(re.findall(r"^FILE (\S+) (.+)$", said.stdout, re.MULTILINE))
        real = {one: files[one].strip().replace("\\", "/").lower() if told[one] else None for one in OPENED}
        path = re.search(r"^PATH (.*)$", said.stdout, re.MULTILINE)[1]
        path = ";".join([*place.path, path[path.lower().index("c:\\windows\\system32") :]])
        assert predicted(facts_of(place, path)) == real
        if PYTHON:
            asked = place.run(PYTHON, NATIVE.format(source=SOURCE, python=TENSORFLOW))
            assert predicted(msgspec.json.decode(asked.stdout, type=Facts)) == real, asked.stderr


def test_a_missing_runtime_stops_the_import(genuine_kit):
    with layout(genuine_kit, LAYOUTS["no_runtime"]) as place:
        said = place.run(TENSORFLOW, QUICK, *OPENED)
        assert "Could not find the DLL(s) 'msvcp140_1.dll'" in said.stderr
        tree = (facts_of(place, ";".join(place.path)).loads.trees.need() or ())[0]
        assert "msvcp140_1.dll" in [one.name for one in tree.missing]
