"""The program from outside: exit codes, one-line errors, recordings that replay, and names that stay out."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuwhy import cli
from gpuwhy.cli import parser


def gpuwhy(*argv: str, **variables: str) -> subprocess.CompletedProcess:
    environ = {**os.environ, "PYTHONIOENCODING": "utf-8", **variables}
    return subprocess.run([sys.executable, "-m", "gpuwhy", *argv], capture_output=True, env=environ, timeout=60)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A home folder named after its user, with an environment in it."""
    home = tmp_path_factory.mktemp("homes") / "zaphod"
    site = home / "venv" / "lib" / "python3.12" / "site-packages"
    (site / "torch-2.9.0.dist-info").mkdir(parents=True)
    (site / "torch-2.9.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.9.0\n")
    (site / "torch-2.9.0.dist-info" / "RECORD").write_text("torch/version.py,,\n../../../../../../etc/passwd,,\n")
    (site / "torch").mkdir()
    (site / "torch" / "version.py").write_text("__version__ = '2.9.0+cu130'\ncuda = '13.0'\n")
    (home / "venv" / "bin").mkdir()
    (home / "venv" / "bin" / "python").symlink_to(sys.executable)
    (home / "venv" / "pyvenv.cfg").write_text(f"home = {home}/pythons/bin\nversion = 3.12.1\n")
    return home


@pytest.fixture(scope="module")
def recording(home) -> Path:
    file = home.parent / "host.json"
    done = gpuwhy("record", "--python", f"{home}/venv", "-o", str(file), HOME=str(home), USER="zaphod")
    assert done.returncode == 0, done.stderr
    return file


def test_a_recording_replays_the_same_report(recording):
    first, again = (gpuwhy("check", "--from", str(recording), "--json") for _ in range(2))
    one, two = json.loads(first.stdout), json.loads(again.stdout)
    assert one.pop("took") >= 0
    assert two.pop("took") >= 0
    assert one == two
    assert one["facts"]["environment"]["packages"]["state"] == "known"
    assert not [text for text in one["unseen"] if "not in the recording" in text], "the replay asks nothing new"
    packed = recording.with_suffix(".json.gz")
    packed.write_bytes(gzip.compress(recording.read_bytes()))
    assert gpuwhy("check", "--from", str(packed)).returncode in (0, 1)


def test_no_user_name_is_recorded_or_reported(recording, home):
    assert b"zaphod" not in recording.read_bytes()
    done = gpuwhy("check", "--python", f"{home}/venv", "--json", HOME=str(home), USER="zaphod")
    assert b"zaphod" not in done.stdout
    assert b"~/venv" in done.stdout


def test_an_environment_whose_python_is_gone_is_not_healthy(tmp_path):
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "bin" / "python").symlink_to(tmp_path / "no-such-python")
    (tmp_path / "venv" / "pyvenv.cfg").write_text("home = /nowhere\nversion = 3.12.1\n")
    done = gpuwhy("check", "--python", str(tmp_path / "venv"), COLUMNS="200")
    assert done.returncode == 1
    assert "a dangling link" in " ".join(done.stdout.decode().split())
    assert "Healthy" not in done.stdout.decode()


@pytest.mark.parametrize(
    "argv, said",
    [
        (["check", "--from", "/nowhere.json"], "cannot read /nowhere.json: No such file or directory"),
        (["check", "--from", __file__], "is not a gpuwhy recording"),
        (["check", "--root", "/nowhere"], "--root /nowhere: no such file or directory"),
        (["check", "--python", "/nowhere"], "--python /nowhere: no such file or folder"),
        (["check", "--python", "/etc/passwd"], "--python /etc/passwd: /etc/passwd is not a Python"),
        (["check", "--python", "/dev"], "--python /dev: /dev holds no Python"),
        (["record", "-o", "/nowhere/x"], "cannot write /nowhere/x"),
        (["cause", "no.such"], "there is no cause 'no.such'"),
        (["cause", "../../etc/passwd"], "there is no cause"),
        (["--no-such-option"], "check has no option --no-such-option"),
        (["chekc"], "did you mean 'check'?"),
    ],
)
def test_bad_usage_is_2_and_one_clear_line(argv, said):
    done = gpuwhy(*argv)
    text = done.stderr.decode()
    assert done.returncode == 2, text
    assert said in text
    assert "Traceback" not in text
    assert done.stdout == b""


@pytest.mark.parametrize("command", parser.COMMANDS)
def test_the_help_of_every_command_fits_eighty_columns(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = gpuwhy(command, "--help").stdout.decode()
    assert max(map(len, said.splitlines())) <= 80
    if "--root" in said:
        assert "a folder, an OCI layout or an archive" in " ".join(said.split())


def test_a_bug_of_ours_is_3_and_says_what_to_send(monkeypatch, capfd):
    def bug(_):
        raise ZeroDivisionError("a bug")

    left = []
    monkeypatch.setattr(cli, "_run", bug)
    monkeypatch.setattr(cli, "_leave", left.append)
    cli.main([])
    assert left == [3]
    said = capfd.readouterr().err
    assert "itself failed: ZeroDivisionError: a bug" in said
    assert "Please report" in said


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
@pytest.mark.parametrize("argv", ["--version", "-V", "help", "code 719", "check --json"])
def test_a_full_disk_is_one_line(argv):
    """Issue 47.1: no traceback, and no success."""
    command = f"{sys.executable} -m gpuwhy {argv} > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.decode() == "gpuwhy: cannot go on: No space left on device\n"


def test_a_closed_pipe_is_no_crash():
    argv = f"{sys.executable} -m gpuwhy cause | head -c 1"
    done = subprocess.run(["bash", "-c", argv], capture_output=True, timeout=60)
    assert done.stderr == b""
