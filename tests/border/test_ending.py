"""Our own ending: whatever the world does to us, a sentence and code 2; and nobody loads anything into us."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits, /dev/full, closed descriptors")

ERROR = "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
DIGITS = "9" * 5000


def gpuwhy(*argv: str, how: str = '"$@"', **more: object) -> subprocess.CompletedProcess[bytes]:
    shell = ["/bin/sh", "-c", how, "sh", sys.executable, "-m", "gpuwhy", *argv]
    return subprocess.run(shell, capture_output=True, timeout=100, **more)


def a_sentence(done: subprocess.CompletedProcess[bytes]) -> None:
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert b"Traceback" not in done.stderr
    assert done.stderr.startswith(b"gpuwhy: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("how", ['"$@" >&-', '"$@" >/dev/full', 'ulimit -n 4; "$@"'])
def test_streams_and_descriptors(how):
    done = gpuwhy("code", "700", how=how)
    if done.returncode == 0 and "ulimit" in how and b"ILLEGAL_ADDRESS" in done.stdout:
        return  # a Python that needs no more than that
    if b"can't" not in done.stderr and b"Fatal Python error" not in done.stderr and b"cannot open" not in done.stderr:
        a_sentence(done)


def test_a_closed_input():
    done = gpuwhy("explain", "--log-only", how='"$@" <&-')
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_a_working_folder_that_is_gone(tmp_path):
    for argv in (
        ("inspect", "x"),
        ("explain", "--log-only", "x"),
        ("lint", "."),
        ("plan", "-r", "x", "--driver", "550"),
    ):
        done = gpuwhy(*argv, how='mkdir gone; cd gone; rmdir ../gone; "$@"', cwd=tmp_path)
        assert done.returncode == 2 or argv[0] == "lint", (argv, done.stderr)
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "name, text, argv",
    [
        ("requirements.txt", f"torch=={DIGITS}\n", ["lint", "requirements.txt"]),
        ("requirements.txt", f"torch=={DIGITS}\n", ["plan", "--driver", "550", "-r", "requirements.txt"]),
        ("pyproject.toml", f"[project]\nx = {DIGITS}\n", ["lint", "pyproject.toml"]),
        ("pyproject.toml", "[" + "a." * 50_000 + "a]\n", ["lint", "pyproject.toml"]),
        ("devcontainer.json", f'{{"image": "x", "n": {DIGITS}}}', ["lint", "devcontainer.json"]),
        ("Pipfile.lock", f'{{"default": {{"torch": {{"version": {DIGITS}}}}}}}', ["lint", "Pipfile.lock"]),
        ("r.json", f'{{"schema": {DIGITS}}}', ["check", "--from", "r.json"]),
        ("r.json", "\udcff{}", ["check", "--from", "r.json"]),
        ("a.log", f"CUDA error {DIGITS}: cudnn status {DIGITS}\n", ["explain", "--log-only", "a.log"]),
        ("x", "", ["code", DIGITS]),
        ("x", "", ["code", "cudnn", DIGITS]),
        ("x", "", ["releases", DIGITS]),
        ("x", "", ["plan", "--driver", DIGITS, "torch"]),
        ("x", "", ["plan", "--driver", "550", f"torch=={DIGITS}"]),
        ("x", "", ["fix", "--take", DIGITS, "--python"]),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_numbers_of_thousands_of_digits_and_other_damage(tmp_path, bare, name, text, argv):
    (tmp_path / name).write_bytes(os.fsencode(text))
    done = gpuwhy(*argv, *([bare] if argv[-1] == "--python" else []), cwd=tmp_path)
    assert done.returncode in (0, 1, 2, 4), done.stderr[-500:]
    assert b"Traceback" not in done.stderr, done.stderr[-500:]


def test_files_that_include_each_other_twice(tmp_path):
    for number in range(30):
        (tmp_path / f"r{number}.txt").write_text(f"-r r{number + 1}.txt\n" * 2)
    (tmp_path / "r30.txt").write_text("torch\n")
    done = gpuwhy("plan", "--driver", "550", "-r", "r0.txt", cwd=tmp_path)
    a_sentence(done)


def test_a_damaged_gzip_is_read_as_far_as_it_goes(tmp_path):
    whole = gzip.compress((ERROR * 3000).encode())
    for number, data in enumerate(
        (whole[: len(whole) // 2], whole[:12], b"\x1f\x8b" + b"\xff" * 50, whole[:30] + b"x" * 40)
    ):
        log = tmp_path / f"{number}.gz"
        log.write_bytes(data)
        done = gpuwhy("explain", "--log-only", str(log))
        assert done.returncode in (0, 1, 2), done.stderr
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("how", ['ulimit -n 8; "$@"', 'ulimit -n 10; "$@"', '"$@" 2>&-', '"$@" >&- 2>&-'])
def test_run_keeps_the_program_s_code_whatever_becomes_of_us(how):
    assert gpuwhy("run", "--", "/bin/sh", "-c", "exit 4", how=how).returncode == 4


def test_run_of_an_empty_name():
    assert gpuwhy("run", "--", "").returncode == 127


def test_nothing_is_loaded_into_us(tmp_path):
    """PYTHONPATH leads to modules of our names: none of them is taken."""
    for name in ("msgspec", "argparse", "packaging", "pynvml", "yaml", "json"):
        (tmp_path / f"{name}.py").write_text("import os; os.write(2, b'HIJACKED')\nraise SystemExit(77)\n")
    script = Path(sys.executable).with_name("gpuwhy")
    log = tmp_path / "a.log"
    log.write_text(ERROR)
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    commands = [[sys.executable, "-m", "gpuwhy"]] + ([[str(script)]] if script.exists() else [])
    for command in commands:
        argv = [*command, "explain", "--log-only", str(log)]
        done = subprocess.run(argv, capture_output=True, env=environ, cwd=tmp_path, timeout=100)
        assert b"gpu_unsupported" in done.stdout, done.stderr
        assert b"HIJACKED" not in done.stderr or command[0] == sys.executable


def test_a_full_folder_for_temporary_files_ends_in_seconds(tmp_path):
    mounted = f'mount -t tmpfs -o size=64k none "{tmp_path}" && head -c 65536 /dev/zero >"{tmp_path}/fill"'
    inside = ["unshare", "-rm", "sh", "-c", f'{mounted}; cd / && exec "$@"', "sh"]
    if shutil.which("unshare") is None or subprocess.run([*inside, "true"], capture_output=True).returncode:
        pytest.skip("no file system of our own here")
    argv = [*inside, sys.executable, "-m", "gpuwhy", "check", "--probe"]
    done = subprocess.run(argv, capture_output=True, timeout=100, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode in (0, 1), done.stderr
    assert b"Traceback" not in done.stderr
