"""gpuwhy.pyz: unpacks once, for its owner alone, from the same bytes each time; and the real one on every Python."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.release.pyz import packed
from tools.release.start import tag

ROOT = Path(__file__).parents[3]
HELLO = b"import sys\ndef main():\n    import part\n    print('gpuwhy', part.NAME, sys.argv[1:], sys.flags.isolated)\n"
MEMBERS = {
    "common/gpuwhy/__init__.py": b"",
    "common/gpuwhy/__main__.py": HELLO,
    f"native/{tag()}/part.py": b"NAME = 'native'\n",
    "native/cp399-x/part.py": b"NAME = 'another'\n",
}


def start(file: Path, *argv: str, python: str = sys.executable, **environ: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environ = {**clean, **environ}
    return subprocess.run([python, str(file), *argv], capture_output=True, text=True, env=environ, timeout=120)


@pytest.mark.skipif(sys.platform == "win32", reason="owners and modes")
def test_it_unpacks_once_for_its_owner_alone(tmp_path):
    file = tmp_path / "gpuwhy.pyz"
    file.write_bytes(packed(MEMBERS))
    assert hashlib.sha256(file.read_bytes()).digest() == hashlib.sha256(packed(MEMBERS)).digest()
    cache = tmp_path / "cache"
    first = start(file, "a", XDG_CACHE_HOME=str(cache))
    assert first.stdout == "gpuwhy native ['a'] 0\n", first.stderr
    (made,) = (cache / "gpuwhy").iterdir()
    assert (made.name.endswith(tag()), (cache / "gpuwhy").stat().st_mode & 0o77) == (True, 0)
    (made / "part.py").write_text("NAME = 'kept'\n")
    steered = start(file, XDG_CACHE_HOME=str(cache), PYTHONPATH=str(tmp_path))
    assert steered.stdout == "gpuwhy kept [] 1\n"
    (cache / "gpuwhy").chmod(0o777)
    other = start(file, XDG_CACHE_HOME=str(cache), TMPDIR=str(tmp_path))
    assert other.stdout == "gpuwhy native [] 0\n"
    assert (tmp_path / f"gpuwhy-{os.getuid()}").is_dir()


def test_a_python_without_its_compiled_part_is_told(tmp_path):
    file = tmp_path / "gpuwhy.pyz"
    file.write_bytes(packed({k: v for k, v in MEMBERS.items() if tag() not in k}))
    done = start(file, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert (done.returncode, f"no compiled part for {tag()}" in done.stderr) == (1, True)
    assert list((tmp_path / "cache" / "gpuwhy").iterdir()) == []


@pytest.mark.doors
def test_the_real_file_answers_on_every_python(tmp_path):
    """GPUWHY_PYTHONS names interpreters, with colons between; the default is this one."""
    pythons = os.environ.get("GPUWHY_PYTHONS", sys.executable).split(":")
    build = [sys.executable, "-m", "build", "-q", "--wheel", "-o", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    file = tmp_path / "gpuwhy.pyz"
    make = [sys.executable, "-m", "tools.release.pyz", str(wheel), str(file), "--wheels", str(tmp_path / "wheels")]
    subprocess.run([*make, "--platform", tag().split("-", 1)[1]], check=True, cwd=ROOT, timeout=600)
    (tmp_path / "requirements.txt").write_text("torch==2.5.1\ntorchvision==0.19.0\n")
    (tmp_path / "log").write_text("CUDA out of memory. Tried to allocate 2.00 GiB\n")
    for python in pythons:
        for argv, codes, says in (
            (["--version"], (0,), "gpuwhy "),
            (["check"], (0, 1, 4), ""),
            (["explain", "--log-only", str(tmp_path / "log")], (1,), "memory.oom"),
            (["releases", "torch", "2.6.0"], (0,), "2.6.0"),
            (["plan", "torch", "--driver", "550", "--gpu", "sm_90", "--python", "3.12"], (0,), "torch"),
            (["lint", str(tmp_path / "requirements.txt")], (1,), "pair-mismatch"),
        ):
            done = start(file, *argv, python=python, XDG_CACHE_HOME=str(tmp_path / "cache"))
            assert done.returncode in codes, (python, argv, done.stdout, done.stderr)
            assert says in done.stdout
