"""Health for schedulers: each text by its own reader's rules; the real ones where they are installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess

import pytest
import yaml

from gpuwhy.render import health
from gpuwhy.render.manifests import NAMES, manifest
from tests.hosts import hosts

PROMTOOL = os.environ.get("GPUWHY_PROMTOOL") or shutil.which("promtool")
SERIES = re.compile(r'[a-z_]+(\{[a-z_]+="(?:[^"\\]|\\.)*"(,[a-z_]+="(?:[^"\\]|\\.)*")*\})? -?[0-9.e+-]+')


def texts(name, wanted=0):
    run = hosts.run(name)
    report = run.report()
    judged = health.judged(report, 1, wanted)
    return judged, {form: health.render(report, judged, form, 1, 1.5) for form in health.FORMS}


@pytest.mark.parametrize("host", ["h200-no-module", "h200-other-driver-libraries", "h200-no-permission"])
def test_a_node_that_is_broken(host):
    judged, told = texts(host)
    assert judged.code == health.BAD
    assert judged.causes[0].id.startswith("driver.")
    assert told["slurm"].startswith("print gpuwhy: driver.")
    assert len(told["npd"]) <= 81
    assert told["kubernetes"].startswith("not ready")
    assert "gpuwhy_healthy 0" in told["prometheus"]
    assert f'id="{judged.causes[0].id}"' in told["prometheus"]


@pytest.mark.parametrize("host", ["h200", "h200-wheels", "laptop-cpu-only"])
def test_a_node_that_is_well(host):
    judged, told = texts(host)
    assert judged.code == health.OK
    assert told["slurm"] == told["nhc"] == ""
    assert "gpuwhy_healthy 1" in told["prometheus"]


@pytest.mark.parametrize("host", ["h200-empty-cudnn", "h200-system-cudnn-first", "h200-visible-empty"])
def test_one_users_environment_drains_no_node(host):
    run = hosts.run(host)
    assert run.report().causes
    assert texts(host)[0].code == health.OK


def test_fewer_gpus_than_the_node_has():
    assert texts("h200", 8)[0].code == health.BAD
    report = hosts.run("h200").report()
    assert health.judged(report, None, 8).code == health.UNKNOWN


@pytest.mark.parametrize("host", ["h200", "h200-no-module"])
def test_prometheus_text(host):
    text = texts(host)[1]["prometheus"]
    for line in text.splitlines():
        assert line.startswith("# ") or SERIES.fullmatch(line), line
    assert text.endswith("\n")
    if PROMTOOL:
        done = subprocess.run([PROMTOOL, "check", "metrics"], input=text, text=True, capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", NAMES)
def test_manifests_are_read(name, tmp_path):
    text = manifest(name, "registry.example/gpuwhy:1", 8)
    assert "--expect-gpus" in text or name == "kubernetes-job"
    if name.startswith("kubernetes"):
        value = yaml.safe_load(text)
        container = value["spec"]["template"]["spec"]["containers"][0]
        assert container["image"] == "registry.example/gpuwhy:1"
        assert value["spec"]["template"]["metadata"]["labels"] == {"app": "gpuwhy"}
        validator = os.environ.get("GPUWHY_KUBERNETES_VALIDATE") or shutil.which("kubernetes-validate")
        if validator:
            (tmp_path / "m.yaml").write_text(text)
            subprocess.run([validator, "--strict", str(tmp_path / "m.yaml")], check=True, timeout=60)
    elif name == "node-problem-detector":
        assert json.loads(text)["rules"][0]["args"][:3] == ["check", "--health", "npd"]
    elif text.startswith("#!"):
        subprocess.run(["sh", "-n"], input=text, text=True, check=True, timeout=20)


@pytest.mark.parametrize("code, wanted", [(0, 0), (1, 1), (2, 0), (3, 0)])
def test_the_prolog_drains_only_a_node_that_is_known_to_be_bad(code, wanted, tmp_path):
    stand_in = tmp_path / "gpuwhy"
    stand_in.write_text(f"#!/bin/sh\n[ {code} = 1 ] && echo 'print gpuwhy: driver.missing: x'\nexit {code}\n")
    stand_in.chmod(0o755)
    environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh"], input=manifest("slurm-prolog"), text=True, env=environ, capture_output=True, timeout=30
    )
    assert done.returncode == wanted
    assert ("driver.missing" in done.stdout) == (code == 1)
