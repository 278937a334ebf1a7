"""A real Ray cluster of many nodes in one machine, each answering as another recorded host.

`GPUWHY_RAY_NODES=32 pytest -m real tests/fleet/test_ray.py`, in an environment that has Ray.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.signs import test_hosts as hosts

pytestmark = pytest.mark.real
COUNT = int(os.environ.get("GPUWHY_RAY_NODES", "6"))
HEALTHY, ODD = "h200-wheels", "h200-other-driver-libraries"


@pytest.fixture
def nodes(tmp_path):
    """For each node of a cluster how Ray starts it: one of them answers as a broken host."""
    for name in (HEALTHY, ODD):
        options, answers = hosts.answers(name)
        value = {"schema": "gpuwhy.record/1", "gpuwhy": "0", "options": options, "answers": answers}
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    plain = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
    which = [HEALTHY, ODD, *[HEALTHY] * (COUNT - 2)]
    return [{**plain, "env_vars": {**paths, "GPUWHY_FROM": str(tmp_path / f"{name}.json")}} for name in which]


def test_every_node_answers_and_the_odd_one_is_named(nodes):
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args=nodes[0])
    try:
        for one in nodes[1:]:
            cluster.add_node(wait=False, **one)
        cluster.wait_for_nodes(timeout=60 + 10 * COUNT)
        seconds = 60 + 12 * COUNT
        asked = ["fleet", f"--ray={cluster.address}", "--json", "--seconds", str(seconds)]
        argv = [sys.executable, "-m", "gpuwhy", *asked]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=seconds + 90)
    finally:
        cluster.shutdown()
    assert done.returncode == 1, done.stderr
    value = json.loads(done.stdout)
    assert (sum(len(group["nodes"]) for group in value["groups"]), value["silent"]) == (COUNT, [])
    assert [one["differs"][0]["explains"] for one in value["odd"]] == ["driver.library_mismatch"]
