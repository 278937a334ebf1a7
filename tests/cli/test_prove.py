"""`gpuwhy prove` from the shell: the contract, safety, and what it leaves behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")
SCHEMA = json.loads((Path(__file__).parent.parent.parent / "docs" / "proof.schema.json").read_text())
BARE = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}


def prove(tmp_path: Path, code: str, *options: str, environ: dict[str, str] | None = None, **how):
    script = tmp_path / "train.py"
    script.write_text(code)
    argv = [sys.executable, "-m", "gpuwhy", "prove", *options, "--", sys.executable, str(script)]
    how.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(
        argv, capture_output=True, text=True, env={**BARE, **(environ or {})}, cwd="/", timeout=120, **how
    )


def test_proven_and_the_contract_holds(tmp_path):
    code = "import os\nif 'BAD_FLAG' in os.environ: raise RuntimeError('no, token=' + os.environ['MY_TOKEN'])\nprint('done')"
    environ = {**{f"APP_{n}": "1" for n in range(20)}, "BAD_FLAG": "x", "MY_TOKEN": "secret-9f8e7d6c5b4a"}
    done = prove(tmp_path, code, "--json", environ=environ)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    jsonschema.validate(told, SCHEMA)
    assert told["status"] == "proven"
    assert told["change"]["unset"] == ["BAD_FLAG"]
    assert told["causes"][0]["id"] == "env.setting"
    assert told["causes"][0]["fixes"][0]["command"] == "unset BAD_FLAG"
    assert told["counts"]["failed"][0] >= 2 <= told["counts"]["passed"][0]
    assert "this runs" in done.stderr.splitlines()[0]
    assert "secret-9f8e7d6c5b4a" not in done.stdout


def test_a_module_beside_the_script_is_found_and_stays(tmp_path):
    (tmp_path / "random.py").write_text("raise ImportError('not the one you meant')")
    done = prove(tmp_path, "import random\nprint(random.random())", "--json")
    told = json.loads(done.stdout)
    assert told["status"] == "proven", done.stdout
    assert told["change"]["hide"] == [str(tmp_path / "random.py")]
    assert told["causes"][0]["id"] == "env.shadowed"
    assert (tmp_path / "random.py").exists()
    assert told["runs"] <= 7


def test_where_nothing_can_be_changed_the_answer_is_explains(tmp_path):
    import resource

    code = "x = [open('/dev/null') for _ in range(100)]"
    lowered = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))  # noqa: E731
    done = prove(tmp_path, code, "--json", preexec_fn=lowered)
    told = json.loads(done.stdout)
    jsonschema.validate(told, SCHEMA)
    if told["status"] == "proven":
        pytest.skip("this user may raise a hard limit")
    assert told["headline"].startswith("Too many open files")
    assert told["causes"][0]["id"] == "env.limit"
    assert told["ruled_out"] == []
    assert any("hard one" in text for text in told["left"])


def test_no_input_is_said_and_input_is_given_to_every_run(tmp_path):
    code = "import os\nx = input()\nif 'BAD_FLAG' in os.environ: raise ValueError(x)"
    asked = prove(tmp_path, code)
    assert "it asks for input" in asked.stdout
    (tmp_path / "in").write_text("hello\n")
    with (tmp_path / "in").open() as file:
        done = prove(tmp_path, code, "--json", environ={"BAD_FLAG": "1"}, stdin=file)
    assert json.loads(done.stdout)["change"]["unset"] == ["BAD_FLAG"]


def test_ctrl_c_gives_the_answer_so_far_and_leaves_no_process(tmp_path):
    script = tmp_path / "slow.py"
    script.write_text(
        "import os, pathlib, time\n"
        f"n = len(list(pathlib.Path({str(tmp_path)!r}).glob('pid*')))\n"
        f"pathlib.Path({str(tmp_path)!r}, f'pid{{n}}').write_text(str(os.getpid()))\n"
        "if n >= 2:\n    os.fork()\n    time.sleep(600)\n"
        "raise RuntimeError('bad day')\n"
    )
    argv = [sys.executable, "-m", "gpuwhy", "prove", "--json", "--", sys.executable, str(script)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=BARE) as ours:
        until = time.monotonic() + 60
        while not (tmp_path / "pid2").exists():
            assert time.monotonic() < until
            assert ours.poll() is None
            time.sleep(0.05)
        time.sleep(0.2)
        ours.send_signal(signal.SIGINT)
        out, _ = ours.communicate(timeout=60)
    assert ours.returncode == 130
    told = json.loads(out)
    assert told["interrupted"]
    assert told["runs"] == 2
    pid = int((tmp_path / "pid2").read_text())
    until = time.monotonic() + 20  # the dead is there until its new parent has looked
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()


def test_a_failure_that_was_recorded_is_taken(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import os\nif 'BAD_FLAG' in os.environ: raise RuntimeError('no')\n")
    environ = {**BARE, "BAD_FLAG": "1"}
    words = [sys.executable, str(script)]
    record = [sys.executable, "-m", "gpuwhy", "run", "--record", str(tmp_path / "run.json"), "--", *words]
    subprocess.run(record, capture_output=True, env=environ, timeout=60)
    argv = [sys.executable, "-m", "gpuwhy", "prove", "--json", "--from", str(tmp_path / "run.json"), "--", *words]
    done = subprocess.run(argv, capture_output=True, text=True, env=environ, timeout=60, stdin=subprocess.DEVNULL)
    told = json.loads(done.stdout)
    assert told["status"] == "proven", done.stderr
    assert told["experiments"][0]["note"] == "as it was recorded"


def test_usage(tmp_path):
    def said(*words: str) -> str:
        argv = [sys.executable, "-m", "gpuwhy", "prove", *words]
        done = subprocess.run(argv, capture_output=True, text=True, env=BARE, timeout=60, stdin=subprocess.DEVNULL)
        assert done.returncode in (0, 2)
        return done.stdout + done.stderr

    assert "prove what?" in said()
    assert "there is no such program" in said("--", "no-such-program-here")
    assert "expected a time" in said("--budget", "soon", "--", "true")
    assert "choose one" in said("--seconds", "1", "--timeout", "1", "--", "true")
    assert "--ok (" in said("--ok", "(", "--", "true")
    assert "many at once" in said("--dry-run", "--", "true")
    assert "it does not fail: 3 of 3" in said("--", "true")
