"""Groups of equal nodes, odd ones, and which difference comes first."""

import pytest

from gpuwhy.fleet.compare import compare
from gpuwhy.fleet.names import alias
from gpuwhy.fleet.read import Heard, name, of_lines, silent
from tests.fleet.nodes import answer, changed


def fleet_of(count=8, odd=None, **more):
    odd = odd or {}
    return compare([answer(f"n{n}", odd.get(n), **more) for n in range(count)])


CASES = {
    "driver": ({"driver.version": "550.54.15"}, "driver.version", "driver.too_old"),
    "nccl": ({"lib.nccl": "2.18.1"}, "lib.nccl", "distributed.nccl"),
    "nccl gone": ({"lib.nccl": None}, "lib.nccl", "distributed.nccl"),
    "cudnn": ({"lib.cudnn": "8.9.7"}, "lib.cudnn", "cudnn.version_mismatch"),
    "torch": ({"package.torch": "2.5.1"}, "package.torch", "install.inconsistent"),
    "one GPU less": ({"gpu.count": 0, "gpu.names": "none"}, "gpu.count", "device.hardware"),
    "MIG": ({"gpu.mig": "on, 7 instances"}, "gpu.mig", "device.selection"),
    "Xid": ({"gpu.xids": "79"}, "gpu.xids", "device.hardware"),
    "ECC": ({"gpu.ecc_uncorrected": 4}, "gpu.ecc_uncorrected", "device.hardware"),
    "locked memory": ({"limits.locked_memory": 65536}, "limits.locked_memory", "env.limit"),
    "/dev/shm": ({"host.shm": 64}, "host.shm", "env.limit"),
    "a variable of NCCL": ({"env.NCCL_IFNAME": "lo"}, "env.NCCL_IFNAME", "distributed.nccl"),
    "compute mode": ({"gpu.compute_mode": "exclusive_process"}, "gpu.compute_mode", "device.busy"),
}


@pytest.mark.parametrize("facts, fact, cause", CASES.values(), ids=CASES)
def test_one_odd_node_is_named_with_the_fact_and_what_it_can_be(facts, fact, cause):
    fleet = fleet_of(8, {3: facts})
    assert [one.node for one in fleet.odd] == ["n3"]
    first = fleet.odd[0].differs[0]
    assert (first.fact, first.explains) == (fact, cause)
    assert fleet.bad == ["n3"]
    assert sorted(len(group.nodes) for group in fleet.groups) == [1, 7]


HARMLESS = {
    "more locked memory": {"limits.open_files": 10**6},
    "more shared memory": {"host.shm": 10**6},
    "another kernel": {"host.kernel": "6.1.0"},
    "no Xid where others have one": {"gpu.throttle": "hw_thermal"},
}


@pytest.mark.parametrize("facts", HARMLESS.values(), ids=HARMLESS)
def test_a_difference_that_fails_no_job_excludes_no_node(facts):
    fleet = fleet_of(8, {3: facts})
    assert [one.node for one in fleet.odd] == ["n3"]
    assert not fleet.odd[0].is_grave
    assert fleet.bad == []


def test_noise_a_fact_of_each_nodes_own_and_what_was_not_seen_make_nobody_odd():
    noisy = {n: {"host.memory": 125.9 + n / 10, "gpu.memory": 140.4 + n / 100} for n in range(8)}
    fleet = fleet_of(8, noisy)
    assert (fleet.odd, [len(group.nodes) for group in fleet.groups]) == ((), [8])
    fleet = fleet_of(8, {n: {"env.MY_ADDRESS": f"10.0.0.{n}"} for n in range(8)})
    assert (fleet.odd, [one.fact for one in fleet.scattered]) == ((), ["env.MY_ADDRESS"])
    fleet = fleet_of(8, {3: {"gpu.xids": None, "host.shm": None}})
    assert (fleet.odd, fleet.unseen) == ((), {"gpu.xids": 1, "host.shm": 1})


def test_two_kinds_of_gpu_are_two_kinds_of_node_and_not_odd():
    other = {"gpu.names": "8 × NVIDIA A100-SXM4-80GB", "gpu.memory": 80.0, "host.kernel": "5.15"}
    fleet = fleet_of(16, dict.fromkeys(range(8), other) | {2: {**other, "driver.version": "535.1"}})
    assert [one.node for one in fleet.odd] == ["n2"]
    assert sorted(len(group.nodes) for group in fleet.groups) == [1, 7, 8]
    alone = fleet_of(16, {3: other})
    assert alone.odd[0].differs[0].fact == "gpu.names"


def test_a_cause_that_the_node_shows_itself_comes_first():
    answers = [answer(f"n{n}") for n in range(6)]
    answers.append(answer("bad", {"host.kernel": "5.4"}, "h200-other-driver-libraries"))
    fleet = compare(answers)
    assert [one.node for one in fleet.odd] == ["bad"]
    first, second = fleet.odd[0].differs[:2]
    assert (first.fact, first.explains, first.shown) == ("causes", "driver.library_mismatch", True)
    assert second.fact == "driver.library"
    assert second.shown


def test_the_baseline_decides_instead_of_the_majority():
    old = {"driver.version": "550.54.15"}
    answers = [answer("a", old), answer("b", old), answer("c")]
    assert [one.node for one in compare(answers).odd] == ["c"]
    fleet = compare(answers, (), [answer("good")], "good.jsonl")
    assert [one.node for one in fleet.odd] == ["a", "b"]


def test_a_tie_is_decided_by_health_and_a_cause_of_all_makes_nobody_odd():
    fleet = compare([answer("a"), answer("b", host="h200-other-driver-libraries")])
    assert [one.node for one in fleet.odd] == ["b"]
    fleet = compare([answer(f"n{n}", host="h200-other-driver-libraries") for n in range(4)])
    assert (fleet.odd, fleet.groups[0].status) == ((), "broken")


def test_the_last_answer_of_a_node_counts():
    first = answer("a", {"lib.nccl": "2.1"}, time=5.0)
    fleet = compare([first, answer("a", time=9.0), answer("b", time=1.0)])
    assert fleet.odd == ()
    assert fleet.repeated == {"a": 2}


def test_who_said_nothing_is_named_with_the_launchers_word():
    lines = [
        b"gpu1: " + changed("x").encode(),
        b"ssh: connect to host gpu2 port 22: Connection timed out",
        b"pdsh@head: gpu3: ssh exited with exit code 255",
        b"srun: error: gpu5: task 4: Exited with exit code 127",
        b"gpu6: bash: line 1: gpuwhy: command not found",
        b"warning: gpu9: is not one of ours",
    ]
    heard = of_lines(lines, "x", Heard())
    quiet = {one.node: one.why for one in silent(heard, ["gpu1", "gpu2", "gpu3", "gpu4"])}
    assert set(quiet) == {"gpu2", "gpu3", "gpu4", "gpu5", "gpu6"}
    assert "command not found" in quiet["gpu6"]
    assert "timed out" in quiet["gpu2"]
    assert quiet["gpu4"] == ""


def test_names_are_found_again_by_who_knows_them():
    heard = Heard()
    heard.add(answer(alias("gpu7")))
    assert not silent(heard, ["gpu7"])
    name(heard.answers, ["gpu6", "gpu7"])
    assert [one.name for one in heard.answers] == ["gpu7"]
