"""Packages in copies of an environment of tiny wheels: which release, and the environment itself untouched."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from . import wheels

pytestmark = pytest.mark.skipif(not wheels.UV, reason="no uv")
APP = b"import base_of_mine\nif base_of_mine.N >= 3: raise ImportError('base_of_mine %d is too new' % base_of_mine.N)\n"


def prove(folder: Path, environ: dict[str, str], env: Path, code: str) -> dict:
    (folder / "train.py").write_text(code)
    argv = [sys.executable, "-m", "gpuwhy", "prove", "--json", "--quiet", "--no-loud", "--"]
    argv += [f"{env}/bin/python", str(folder / "train.py")]
    done = subprocess.run(argv, capture_output=True, text=True, env=environ, timeout=200, stdin=subprocess.DEVNULL)
    return json.loads(done.stdout)


def test_the_release_that_breaks_another_is_found_in_a_copy(tmp_path):
    links = tmp_path / "links"
    links.mkdir()
    for n in range(1, 6):
        wheels.wheel(links, "base-of-mine", f"1.{n}", {"base_of_mine.py": f"N = {n}\n".encode()})
    wheels.wheel(links, "app-of-mine", "1.0", {"app_of_mine.py": APP}, "base-of-mine<1.3")
    wheels.wheel(links, "other", "1.0", {"other.py": b""})
    environ = wheels.variables(tmp_path, links)
    env = wheels.environment(tmp_path / "env", environ, "app-of-mine", "base-of-mine==1.5", "other")
    before = wheels.tree(env)
    told = prove(tmp_path, environ, env, "import app_of_mine, other\nprint('ok')\n")
    assert told["status"] == "proven", told
    assert told["change"]["packages"] == {"base-of-mine": "1.2"}
    assert told["causes"][0]["id"] in ("install.inconsistent", "framework.extension_abi")
    after = {path: data for path, data in wheels.tree(env).items() if "__pycache__" not in path}
    assert after == {path: data for path, data in before.items() if "__pycache__" not in path}
    assert not list(tmp_path.glob(".gpuwhy-prove-*"))
