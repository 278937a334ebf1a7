"""Launchers, as stand-ins that print what the real ones print around a node's line."""

import argparse
import json
import sys
import time

import pytest

from gpuwhy.cli import UsageError
from gpuwhy.cli.fleet import ray
from gpuwhy.fleet.read import decoded
from gpuwhy.machine.process import Launched
from tests.fleet.nodes import changed
from tests.fleet.test_cli import gpuwhy

STAND_IN = """#!{python}
import sys, time
for prefix, line, err in {lines!r}:
    (sys.stderr if err else sys.stdout).write(prefix + line + "\\n")
    sys.stdout.flush()
{rest}
"""


@pytest.fixture
def launcher(tmp_path):
    def make(name, lines, rest=""):
        path = tmp_path / name
        path.write_text(STAND_IN.format(python=sys.executable, lines=lines, rest=rest))
        path.chmod(0o755)
        return str(path)

    return make


@pytest.mark.parametrize("shape", ["{}: ", "[pod/{}/check] ", "{} | CHANGED | rc=0 | (stdout) "])
def test_launchers_that_name_the_node(launcher, shape, tmp_path):
    lines = [
        (shape.format(f"gpu{n}"), changed("x", {"lib.nccl": "2.1"} if n == 1 else None), False)
        for n in range(4)
    ]
    lines.append(("", "srun: error: gpu5: task 4: Exited with exit code 127", True))
    kept = tmp_path / "kept.jsonl"
    asked = ["-o", str(kept), "--", launcher("srun", lines)]
    code, out, err = gpuwhy("fleet", "collect", "--json", *asked)
    assert code == 1, err
    value = json.loads(out)
    assert [one["node"] for one in value["odd"]] == ["gpu1"]
    assert value["silent"] == ["gpu5"]
    again = [decoded(line) for line in kept.read_bytes().splitlines()]
    assert [one.label for one in again] == ["gpu0", "gpu1", "gpu2", "gpu3"]


def test_a_launcher_that_hangs_is_ended_and_what_came_counts(launcher):
    lines = [(f"gpu{n}: ", changed("x"), False) for n in range(3)]
    asked = ["--seconds", "4", "--nodes", "gpu[0-3]", "--"]
    hangs = launcher("pdsh", lines, "time.sleep(1000)")
    code, out, err = gpuwhy("fleet", "collect", *asked, hangs)
    assert code == 1
    assert "was ended after 4 s" in err
    assert "gpu3 gave no answer" in out


def test_a_node_that_never_ends_its_line_costs_no_memory():
    endless = [sys.executable, "-c", "import sys\nwhile True: sys.stdout.write('x' * 65536)"]
    launched = Launched(endless, 1.0, 1 << 20)
    assert list(launched.lines()) == []
    assert launched.out_of_time


def test_a_ray_cluster_that_cannot_be_reached_ends_in_time_with_one_line(tmp_path, monkeypatch):
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\necho '2026-01-01 INFO connecting' >&2\nexec sleep 1000\n")
    slow.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(slow))
    began = time.monotonic()
    options = argparse.Namespace(ray="10.0.0.9:1", ray_child=None, seconds=1.5)
    with pytest.raises(UsageError) as refusal:
        ray(options)
    assert str(refusal.value) == "--ray 10.0.0.9:1: no Ray cluster answered within 1.5 s"
    assert time.monotonic() - began < 60
