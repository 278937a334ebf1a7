"""The live host: children that die, hang or babble; and what of the environment it may see."""

from __future__ import annotations

import json
import os
import sys
import time

import pytest

from gpuwhy.host import live, process
from gpuwhy.host.live import LiveHost
from gpuwhy.model.fact import Absent, Known, Unknown


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Runs a script as if it were one of host/children."""
    (tmp_path / "children").mkdir()
    monkeypatch.setattr(live, "__file__", str(tmp_path / "live.py"))
    monkeypatch.setattr(process, "CALL_SECONDS", 2.0)

    def run(code: str, *args: str):
        (tmp_path / "children" / "child.py").write_text(code)
        return LiveHost({"HOME": "/home/alice", "USER": "alice"}).call("child", *args)

    return run


def test_a_good_child(call):
    answer = call("import sys\nprint('{\"a\": 1}')\nprint('noise')\nprint('{\"arg\": \"%s\"}' % sys.argv[1])", "x")
    assert answer.need() == ({"a": 1}, {"arg": "x"})


def test_a_child_that_hangs_keeps_what_it_said(call):
    answer = call("import time\nprint('{\"a\": 1}', flush=True)\ntime.sleep(60)")
    assert answer.need() == (
        {"a": 1},
        {"ended": "child ran out of time", "how": {"code": None, "late": True, "why": "", "last": ""}},
    )


def test_a_child_that_hangs_without_a_word_is_unknown(call):
    answer = call("import time\ntime.sleep(60)")
    assert isinstance(answer, Unknown)
    assert answer.reason == "child: ran out of time"


def test_a_hanging_child_takes_its_own_children_along(call, tmp_path):
    mark = tmp_path / "pid"
    call(
        "import subprocess, sys, time\n"
        "grand = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(mark)!r}, 'w').write(str(grand.pid))\n"
        "time.sleep(60)"
    )
    pid = int(mark.read_text())
    for _ in range(50):
        if not _alive(pid):
            return
        time.sleep(0.05)
    raise AssertionError("the grandchild outlived the time limit")


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_child_that_crashes(call):
    answer = call("import os\nprint('{\"a\": 1}', flush=True)\nos.abort()")
    assert answer.need() == (
        {"a": 1},
        {"ended": "child died by signal 6", "how": {"code": -6, "late": False, "why": "", "last": ""}},
    )
    answer = call("raise SystemError('no /home/alice/x')")
    assert isinstance(answer, Unknown)
    assert answer.reason == "child: ended with code 1: SystemError: no ~/x"


@pytest.mark.parametrize("said", ["{", "{'a': 1}", "{} trailing", '{"a": ' + "[" * 5000])
def test_a_child_that_prints_garbage(call, said):
    (only,) = call(f"print({said!r})").need()
    assert list(only) == ["garbled"]
    assert len(only["garbled"]) <= 200


def test_a_child_that_prints_bytes(call):
    assert call("import sys\nsys.stdout.buffer.write(bytes(range(256)) * 100)").need() == ()


def test_names_are_hidden_in_what_a_child_says(call):
    said = {"path": "/home/alice/é", "flags": "A=~/x", "/home/alice": ["/home/alice/b"], "odd": "\udcff"}
    (only,) = call(f"print({json.dumps(said)!r})").need()
    assert only == {"path": "~/é", "flags": "A=\\~/x", "~": ["~/b"], "odd": "\\udcff"}


def test_the_user_name_is_hidden_when_it_is_not_ascii(tmp_path, monkeypatch):
    (tmp_path / "children").mkdir()
    (tmp_path / "children" / "child.py").write_text("import json\nprint(json.dumps({'path': '/home/j\\xfcrgen/x'}))")
    monkeypatch.setattr(live, "__file__", str(tmp_path / "live.py"))
    assert LiveHost({"HOME": "/home/jürgen", "USER": "jürgen"}).call("child").need() == ({"path": "~/x"},)


def test_run():
    host = LiveHost(runs=True)
    assert host.run("sh", "-c", "echo out; echo err >&2; exit 3").need() == live.Output(3, "out\n", "err\n")
    assert isinstance(host.run("no-such-command"), Absent)
    assert isinstance(host.run("/etc/passwd"), Unknown)


def test_run_has_a_time_limit(monkeypatch):
    monkeypatch.setattr(live, "RUN_SECONDS", 0.2)
    answer = LiveHost(runs=True).run("sleep", "60")
    assert isinstance(answer, Unknown)
    assert answer.reason == "sleep 60: no answer within 0.2 s"


def test_only_steering_variables_are_seen():
    environ = {
        "CUDA_VISIBLE_DEVICES": "0",
        "LD_LIBRARY_PATH": "/home/alice/lib",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PATH": "/usr/bin",
        "WSL_DISTRO_NAME": "Alices-Ubuntu",
        "HOME": "/home/alice",
        "USER": "alice",
        "AWS_SECRET_ACCESS_KEY": "s3cret",
        "HF_TOKEN": "s3cret",
        "NVIDIA_API_KEY": "s3cret",
        "JAX_AUTH": "s3cret",
        "TF_CREDENTIALS_FILE": "s3cret",
        "CUDAX": "s3cret",
        "HOSTNAME": "alices-box",
        "HISTFILE": "s3cret",
        "DATABASE_URL": "s3cret",
        "https_proxy": "s3cret",
    }
    seen = LiveHost(environ).environ().need()
    assert seen["CUDA_VISIBLE_DEVICES"] == "0"
    assert seen["WSL_DISTRO_NAME"] == "set"
    assert set(seen) == {"CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "TF_CPP_MIN_LOG_LEVEL", "PATH", "WSL_DISTRO_NAME"}
    assert not {v for v in seen.values() if "s3cret" in v or "alice" in v.lower()}


def test_an_unreadable_path_does_not_show_the_home_folder(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    answer = LiveHost({"HOME": str(tmp_path)}).real("~/loop")
    assert isinstance(answer, Unknown)
    assert str(tmp_path) not in answer.reason


def test_real_and_uname(tmp_path):
    host = LiveHost()
    assert isinstance(host.real(f"{tmp_path}/nowhere"), Absent)
    assert host.real("/usr/..").need() == "/"
    assert os.uname().nodename not in str(host.uname().need()) or os.uname().nodename in os.uname().release
    assert isinstance(host.limit("NOFILE"), Known)


def test_a_child_that_takes_too_much_memory_is_ended() -> None:
    limits = process.Limits(30.0, memory=64 << 20)
    take = "x = bytearray(200 << 20)\nx[::4096] = b'1' * len(x[::4096])"
    code = f"import time\nprint('{{}}', flush=True)\n{take}\ntime.sleep(60)"
    end = process.collect([sys.executable, "-c", code], limits, dict(os.environ))
    assert (end.code, end.out) == (None, "{}\n")
    assert "memory" in end.words


def test_a_long_text_keeps_its_head_and_its_tail() -> None:
    text = "".join(f"line {n}\n" for n in range(1000))
    kept = process.middle_cut(text, 200)
    assert kept.startswith("line 0\n")
    assert kept.endswith("line 999\n")
    assert len(kept) < 220
    assert process.middle_cut("short\n", 200) == "short\n"
