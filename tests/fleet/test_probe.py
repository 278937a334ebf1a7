"""Reachability in network namespaces, where we may make them; the search by halving with a stand-in collective."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time

import pytest

from gpuwhy.fleet.reach import take, together
from gpuwhy.host.children import reach
from gpuwhy.render.reach import render_reached
from gpuwhy.render.terminal import Paper
from tests.fleet.test_cli import gpuwhy

SCRIPT = reach.__file__


def test_this_machine(free_port):
    listener = subprocess.Popen([sys.executable, SCRIPT, "listen", "127.0.0.1", free_port, "8"], stdout=subprocess.PIPE)
    code, out, err = gpuwhy(
        "fleet", "probe", "--rendezvous", f"127.0.0.1:{free_port}", "--json", "--seconds", "10", RANK="1"
    )
    told = json.loads(out)
    assert (code, told["ok"], told["stage"], told["interface"]) == (0, True, "large", "lo"), err
    assert told["node"].startswith("node-")
    listener.kill()
    listener.wait(20)


@pytest.fixture
def free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def test_nobody_listens(free_port):
    code, out, _ = gpuwhy("fleet", "probe", "--rendezvous", f"127.0.0.1:{free_port}", "--seconds", "1", RANK="1")
    assert code == 1
    assert out.startswith("✗")
    assert "refused" in out


def test_a_name_that_nobody_knows():
    code, out, _ = gpuwhy(
        "fleet", "probe", "--rendezvous", "no-such-host.invalid:29500", "--seconds", "1", "--json", RANK="1"
    )
    assert (code, json.loads(out)["stage"]) == (1, "resolve")


def test_something_else_listens_there(free_port):
    web = subprocess.Popen([sys.executable, "-c", STRANGER, free_port])
    try:
        told = json.loads(
            subprocess.check_output([sys.executable, SCRIPT, "reach", "127.0.0.1", free_port, "10"], timeout=30)
        )
    finally:
        web.kill()
    assert (told["ok"], told["stage"], told["error"]) == (False, "answer", "stranger")


STRANGER = """
import socket, sys
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen()
while True:
    c, _ = s.accept(); c.sendall(b"HTTP/1.1 400 Bad Request" * 4); c.close()
"""


@pytest.mark.parametrize(
    "value, left",
    [
        ("eth", ["eth0", "eth1"]),
        ("=eth0", ["eth0"]),
        ("^docker,lo", ["eth0", "eth1", "ib0"]),
        ("ib0,eth1", ["eth1", "ib0"]),
        ("ens", []),
    ],
)
def test_which_interfaces_a_variable_leaves(value, left):
    assert reach.would_use(value, ["docker0", "eth0", "eth1", "ib0", "lo"]) == left


WORLD = """
set -e
ip link set lo up
ip link add va type veth peer name vb
ip link add vc type veth peer name vd
unshare -n sleep 30 & far=$!
for n in 1 2 3 4 5 6 7 8 9 10; do
  [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)" ] && break
  sleep 0.2
done
ip link set vb netns $far; ip link set vd netns $far
ip addr add 10.9.0.1/24 dev va; ip link set va up
ip addr add 10.8.0.1/24 dev vc; ip link set vc up
nsenter -t $far -n ip addr add 10.9.0.2/24 dev vb; nsenter -t $far -n ip link set vb up
nsenter -t $far -n ip addr add 10.8.0.2/24 dev vd; nsenter -t $far -n ip link set vd up
{setup}
nsenter -t $far -n {python} {script} listen 0.0.0.0 29500 {listens} > /dev/null & heard=$!
{variables} {python} {script} reach 10.9.0.2 29500 {seconds}
kill $far $heard
"""


def namespaces(setup="", variables="", seconds=8, listens=12):
    tools = all(map(shutil.which, ("unshare", "nsenter", "ip")))
    if not tools or subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        pytest.skip("no network namespaces here")
    text = WORLD.format(
        setup=setup, variables=variables, seconds=seconds, listens=listens, python=sys.executable, script=SCRIPT
    )
    done = subprocess.run(["unshare", "-rn", "sh", "-c", text], capture_output=True, text=True, timeout=60)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_two_namespaces_reach_each_other():
    told = namespaces(variables="env NCCL_SOCKET_IFNAME=va")
    assert (told["ok"], told["interface"], told["address"]) == (True, "va", "10.9.0.1")
    assert told["steered"]["NCCL_SOCKET_IFNAME"] == {"value": "va", "leaves": ["va"], "fits": True}


def test_a_variable_that_names_the_wrong_interface():
    told = namespaces(variables="env NCCL_SOCKET_IFNAME=vc GLOO_SOCKET_IFNAME=eth0")
    assert told["ok"]
    assert told["steered"]["NCCL_SOCKET_IFNAME"]["fits"] is False
    assert told["steered"]["GLOO_SOCKET_IFNAME"]["leaves"] == []


def test_a_way_that_drops_everything():
    began = time.monotonic()
    told = namespaces("nsenter -t $far -n ip route add blackhole 10.9.0.1/32", seconds=2)
    assert (told["ok"], told["stage"], told["error"]) == (False, "connect", "ETIMEDOUT")
    assert time.monotonic() - began < 40


def test_no_route():
    told = namespaces("ip addr del 10.9.0.1/24 dev va", seconds=1)
    assert (told["stage"], told["error"]) == ("connect", "ENETUNREACH")


def test_a_way_that_drops_large_packets():
    """The far side promises to take more than its interface does, and nobody tells us: a black hole."""
    drops = (
        "ip link set va gso_max_segs 1; ip link set va gso_ipv4_max_size 1500 2>/dev/null || true\n"
        "nsenter -t $far -n ip link set vb mtu 600\n"
        "nsenter -t $far -n ip route change 10.9.0.0/24 dev vb advmss 1460"
    )
    told = namespaces(drops, seconds=3)
    assert (told["ok"], told["stage"], told["error"]) == (False, "large", "large")


COLLECTIVE = """
import sys, time
nodes = sys.argv[1].split(",")
if {"n03", "n11"} <= set(nodes) or "n07" in nodes:
    print("stuck", flush=True)
    sys.exit(1)
print("bandwidth GB/s: 90.5")
"""


def test_the_search_runs_a_command():
    code, out, err = gpuwhy(
        "fleet", "probe", "--nodes", "n[00-15]", "--json", "--", sys.executable, "-c", COLLECTIVE, "{list}", "{nodes}"
    )
    value = json.loads(out)
    assert code == 1, err
    assert [set(one["nodes"]) for one in value["culprits"]] == [{"n07"}, {"n03", "n11"}]
    assert len(value["tries"]) < 45


def test_a_command_that_stalls_is_ended():
    code, out, _ = gpuwhy(
        "fleet",
        "probe",
        "--nodes",
        "a,b",
        "--seconds",
        "1",
        "--",
        "sh",
        "-c",
        'case "{nodes}" in *b*) sleep 100;; esac',
    )
    assert code == 1
    assert "b stalls" in out


STARTS = """#!/bin/sh
shift
for rank in 0 1 2; do RANK=$rank {python} -m "$@" & done
RANK=3 NCCL_SOCKET_IFNAME=nothing0 {python} -m "$@" &
wait
"""


def test_all_nodes_together_by_a_launcher(tmp_path, free_port):
    launcher = tmp_path / "srun"
    launcher.write_text(STARTS.format(python=sys.executable))
    launcher.chmod(0o755)
    argv = [
        "fleet",
        "collect",
        "--probe",
        f"127.0.0.1:{free_port}",
        "--seconds",
        "10",
        "--json",
        "--",
        str(launcher),
        "-N4",
    ]
    code, out, err = gpuwhy(*argv)
    value = json.loads(out)
    assert code == 1, err
    assert [one["ok"] for one in value["listened"]] == [True]
    assert (len(value["reached"]), value["failed"]) == (3, [])
    assert [(one["variable"], one["leaves"]) for one in value["steered"]] == [("NCCL_SOCKET_IFNAME", [])]


@pytest.mark.parametrize(
    "line", [b"", None, b'{"schema":"gpuwhy.reach/1"}', b'{"schema":"gpuwhy.reach/1","node":"a","came":7}']
)
def test_a_line_that_is_none(line):
    assert take(line) is None


def test_what_nodes_say_is_made_plain():
    said = b'gpu3: {"schema":"gpuwhy.reach/1","node":"a","stage":"connect","text":"\\u001b[2J\\n::error::x"}'
    value = together([take(said)], "h:1")
    text = render_reached(value, Paper())
    assert "gpu3: no connection" in text
    assert "\x1b" not in text


def test_usage():
    assert gpuwhy("fleet", "probe")[0] == 2
    assert gpuwhy("fleet", "probe", "--rendezvous", "nonsense")[0] == 2
    assert gpuwhy("fleet", "probe", "--nodes", "a,b", "--", "true")[0] == 2


def test_a_python_without_torch_and_a_senseless_size_are_told_in_a_sentence(tmp_path):
    argv = [sys.executable, "-m", "gpuwhy", "fleet", "collective"]
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -I "$@"\n')
    bare.chmod(0o755)
    done = subprocess.run([*argv, "--python", str(bare)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "--python" in done.stderr
    done = subprocess.run([*argv, "--mib", "0"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, "--mib 0" in done.stderr) == (2, True)
