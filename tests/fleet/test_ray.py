"""A real Ray cluster of many nodes in one machine, each answering as another recorded host.

`GPUWHY_RAY_NODES=32 pytest -m real tests/fleet/test_ray.py`, in an environment that has Ray.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.signs import test_hosts as hosts

pytestmark = pytest.mark.real
COUNT = int(os.environ.get("GPUWHY_RAY_NODES", "6"))
SECONDS = str(60 + 12 * COUNT)
HEALTHY, ODD = "h200-wheels", "h200-other-driver-libraries"


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    for name in (HEALTHY, ODD):
        options, answers = hosts.answers(name)
        value = {"schema": "gpuwhy.record/1", "gpuwhy": "0", "options": options, "answers": answers}
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder


@pytest.fixture(scope="module")
def cluster(recordings):
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args=_node(recordings, HEALTHY))
    hosts = [ODD, *[HEALTHY] * (COUNT - 2)]
    added = [cluster.add_node(wait=False, **_node(recordings, host)) for host in hosts]
    nodes = [cluster.head_node, *added]
    cluster.wait_for_nodes(timeout=60 + 10 * COUNT)
    yield cluster, nodes
    for node in nodes[1:]:
        for pid in _raylet(node):
            _signal(pid, signal.SIGCONT)
    cluster.shutdown()


def _node(recordings, host):
    return {
        "num_cpus": 1,
        "object_store_memory": 80 << 20,
        "env_vars": {
            "GPUWHY_FROM": str(recordings / f"{host}.json"),
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        "include_dashboard": False,
    }


def _raylet(node):
    return [one.process.pid for one in node.all_processes.get("raylet", [])]


def _signal(pid, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def started(address, *more, **options):
    argv = [sys.executable, "-m", "gpuwhy", "fleet", f"--ray={address}", "--json", *more]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def fleet(cluster, seconds=SECONDS, during=None):
    child = started(cluster.address, "--seconds", seconds)
    if during:
        during()
    out, err = child.communicate(timeout=float(seconds) + 90)
    assert child.returncode in (0, 1, 4), err
    return child.returncode, json.loads(out)


def answered(value):
    return sum(len(group["nodes"]) for group in value["groups"])


def test_every_node_answers_and_the_odd_one_is_named(cluster):
    started = time.monotonic()
    code, value = fleet(cluster[0])
    print(f"{COUNT} nodes in {time.monotonic() - started:.1f} s")
    assert (answered(value), value["silent"]) == (COUNT, [])
    assert code == 1
    assert [one["differs"][0]["explains"] for one in value["odd"]] == ["driver.library_mismatch"]
