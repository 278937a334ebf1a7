"""A repair that does not help tries other releases in its copy; with nothing to carry out, the steps are repeated."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests import started
from tests.repair import wheels

pytestmark = pytest.mark.skipif(not wheels.UV, reason="no uv")


def fix(environ: dict[str, str], *argv: str) -> subprocess.CompletedProcess[str]:
    done: subprocess.CompletedProcess[str] = started.gpuwhy(["fix", *argv], env=environ, timeout=120)
    return done


@pytest.mark.parametrize(("old", "code"), [(b"gone = 1\n", 0), (b"", 1)])
def test_the_partner_is_taken_back_where_the_first_step_does_not_help(tmp_path: Path, old: bytes, code: int) -> None:
    links = wheels.index(tmp_path / "links")
    wheels.wheel(links, "partner", "1.1", {"partner/__init__.py": old})
    wheels.wheel(links, "partner", "1.4", {"partner/__init__.py": b""})
    wheels.wheel(links, "useful", "2.0", {"useful/__init__.py": b"import partner\npartner.gone\n"}, "partner")
    environ = wheels.variables(tmp_path, links)
    env = wheels.environment(tmp_path / "env", environ, "onnxruntime", "partner==1.4", "useful")
    done = fix(environ, "--python", str(env), "--apply", "--yes", "--json")
    applied = json.loads(done.stdout)["applied"]
    assert (done.returncode, applied["failed"]) == (code, ""), done.stderr
    assert applied["instead"].startswith("partner<1.") is (code == 0)
    assert ("partner 1.4 → 1.1" in applied["changed"]) is (code == 0)
    assert {"partner-1.4", "useful-2.0"} <= wheels.releases(env), "the old one stays"
    made = wheels.releases(Path(applied["environment"]))
    assert f"partner-{'1.1' if code == 0 else '1.4'}" in made, "what did not help either was undone"


def test_with_nothing_to_carry_out_the_steps_are_printed_and_it_is_no_bad_usage(tmp_path: Path) -> None:
    links = wheels.index(tmp_path / "links")
    wheels.wheel(links, "numba", "0.61.0", {"numba/__init__.py": b"import os\nint(os.environ.get('FRAME', '1'))\n"})
    environ = {**wheels.variables(tmp_path, links), "FRAME": "odd"}
    env = wheels.environment(tmp_path / "env", environ, "numba")
    done = fix(environ, "--python", str(env), "--apply", "--yes")
    assert done.returncode == 1, done.stderr
    assert "unset FRAME" in done.stdout
    assert "nothing was changed" in done.stderr
    assert not (tmp_path / "env-gpuwhy").exists()
