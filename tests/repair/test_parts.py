"""The parts of a repair: who may be changed, pins, activation lines, what the installer is told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuwhy.host.base import Host
from gpuwhy.host.process import End
from gpuwhy.model.fact import NOT_OBSERVED, known
from gpuwhy.model.facts import Distribution, Facts, Interpreter, Target
from gpuwhy.model.repair import Action, Step, name_of
from gpuwhy.repair import child, hook, imports
from gpuwhy.repair.apply import free_name
from gpuwhy.repair.begin import Call, begun, led_along
from gpuwhy.repair.child import FailedError, interruptible, run
from gpuwhy.repair.installer import Installer, _limits
from gpuwhy.repair.outrun import outrun
from gpuwhy.repair.patient import Patient, RefusedError, patient
from gpuwhy.repair.pins import backend, pins, size


def facts(prefix: Path, kind: str, *names: str) -> Facts:
    """An environment with these distributions, and one of the system's that it borrows."""
    inside = [Distribution(name, "1.0", f"{prefix}/lib/{name}-1.0.dist-info", NOT_OBSERVED) for name in names]
    borrowed = Distribution("numpy", "1.26.0", "/usr/lib/python3/dist-packages/numpy-1.26.0.dist-info", NOT_OBSERVED)
    interpreter = Interpreter("/bin/sh", "3.11.7", str(prefix), kind, "--python", "x86_64")
    target = Target(
        interpreter=known(interpreter, "file", "x"), distributions=known((*inside, borrowed), "folder", "x")
    )
    return Facts(target=target)


def test_only_what_is_inside_belongs_to_it(tmp_path):
    one = patient(Host(), facts(tmp_path, "venv", "torch"), in_place=False)
    assert [d.name for d in one.distributions] == ["torch"]


def test_an_environment_of_which_nothing_is_seen_is_not_made_again(tmp_path):
    step = Step(1, ("install.corrupted",), "", True, "make it again", "", "", "gpuwhy", action=Action(anew=True))
    with pytest.raises(RefusedError, match="would be empty"):
        begun(Host(), facts(tmp_path, "venv"), [step], Call({}), lambda _: False)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("kind", ["system", "pyenv", "store"])
def test_a_python_that_others_use_is_never_changed(tmp_path, kind, in_place):
    with pytest.raises(RefusedError, match="others use too"):
        patient(Host(), facts(tmp_path, kind), in_place)


def test_conda_in_place_only(tmp_path):
    assert patient(Host(), facts(tmp_path, "conda"), in_place=True).kind == "conda"
    with pytest.raises(RefusedError, match="conda create --prefix"):
        patient(Host(), facts(tmp_path, "conda"), in_place=False)


def test_without_an_environment_nothing_is_done():
    with pytest.raises(RefusedError, match="--python"):
        patient(Host(), Facts(), in_place=False)


def test_a_python_that_cannot_run_is_said(tmp_path):
    given = facts(tmp_path, "venv")
    dead = replace(given.target.interpreter.value, path=str(tmp_path / "gone"))
    given = replace(given, target=replace(given.target, interpreter=known(dead, "file", "x")))
    with pytest.raises(RefusedError, match="cannot be run"):
        patient(Host(), given, in_place=False)


def test_borrowing_from_the_system_is_kept(tmp_path):
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = true\n")
    assert patient(Host(), facts(tmp_path, "venv"), in_place=False).system_site


def made(tmp_path: Path, **direct: dict) -> Patient:
    """A patient whose distributions say where they came from."""
    found = []
    for name, said in direct.items():
        location = tmp_path / f"{name}-1.0.dist-info"
        location.mkdir()
        if said:
            (location / "direct_url.json").write_text(json.dumps(said))
        found.append(Distribution(name, "1.0", str(location), NOT_OBSERVED))
    return Patient("/bin/sh", "3.11.7", str(tmp_path), "venv", tuple(found))


def test_pins_say_where_a_distribution_came_from(tmp_path):
    here = tmp_path / "a project"
    here.mkdir()
    url = f"file://{str(here).replace(' ', '%20')}"
    one = made(
        tmp_path,
        plain={},
        editable={"url": url, "dir_info": {"editable": True}},
        folder={"url": url, "dir_info": {}},
        gone={"url": f"file://{tmp_path}/nothing.whl", "archive_info": {}},
        vcs={"url": "https://example.org/r.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
        wheel={"url": "https://example.org/w.whl", "archive_info": {}},
        odd={"url": 7, "dir_info": [], "vcs_info": "x"},
    )
    assert pins(one) == {
        "plain": "plain==1.0",
        "editable": f"-e {here}",
        "folder": f"folder @ {url}",
        "gone": "gone==1.0",
        "vcs": "vcs @ git+https://example.org/r.git@abc",
        "wheel": "wheel @ https://example.org/w.whl",
        "odd": "odd @ 7",
    }
    assert list(pins(one, without={"vcs", "wheel", "odd", "gone", "folder"})) == ["plain", "editable"]


@pytest.mark.parametrize("garbage", [b"", b"\xff\xfe", b"[1]", b"{", b"null"])
def test_a_direct_url_that_is_none_counts_as_none(tmp_path, garbage):
    one = made(tmp_path, plain={})
    (tmp_path / "plain-1.0.dist-info" / "direct_url.json").write_bytes(garbage)
    assert pins(one) == {"plain": "plain==1.0"}


def labelled(*versions: tuple[str, str]) -> Patient:
    found = tuple(Distribution(name, version, "/nowhere", NOT_OBSERVED) for name, version in versions)
    return Patient("/bin/sh", "3.11.7", "/nowhere", "venv", found)


def test_builds_of_pytorchs_own_index_keep_their_label_until_torch_changes():
    one = labelled(("torch", "2.5.1+cu121"), ("torchvision", "0.20.1+cu121"), ("mine", "1+local"))
    assert backend(pins(one).values()) == "cu121"
    assert pins(one, {"torch"}, public=True) == {"torchvision": "torchvision==0.20.1", "mine": "mine==1+local"}
    assert backend(pins(one, {"torch"}, public=True).values()) == ""


def test_the_size_is_the_records(tmp_path):
    one = made(tmp_path, plain={})
    (tmp_path / "plain-1.0.dist-info" / "RECORD").write_text(
        'a,sha256=x,10\n"b,c",sha256=y,20\nRECORD,,\nbad,,x\nhuge,,99999999999999999999\n'
    )
    assert size(one.distributions) == 30


def test_a_requirement_names_a_distribution():
    names = [name_of(text) for text in ("Torch==2.5", "tensorflow[and-cuda]>=2", "a_b.c", "nvidia-cudnn-cu12<9.11", "")]
    assert names == ["torch", "tensorflow", "a-b-c", "nvidia-cudnn-cu12", ""]


# ---------------------------------------------------------------- activation


def activated(script: Path, **environ: str) -> str:
    done = subprocess.run(
        ["bash", "-c", f'source "{script}"; printf %s "$LD_LIBRARY_PATH"'],
        env={"PATH": "/usr/bin:/bin", **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture
def script(tmp_path) -> Path:
    (tmp_path / "bin").mkdir()
    path = tmp_path / "bin" / "activate"
    path.write_text("# the usual\nVIRTUAL_ENV=x\n")
    path.chmod(0o640)
    return path


def test_activation_puts_the_folders_first_once(script, tmp_path):
    folders = ["/a b/lib", "/it's/lib"]
    assert hook.write(str(tmp_path), "venv", folders) == str(script)
    assert activated(script) == "/a b/lib:/it's/lib"
    assert activated(script, LD_LIBRARY_PATH="/c") == "/a b/lib:/it's/lib:/c"
    assert activated(script, LD_LIBRARY_PATH="/a b/lib:/it's/lib") == "/a b/lib:/it's/lib"
    assert script.stat().st_mode & 0o777 == 0o640


def test_a_second_fix_keeps_the_first_ones_lines(script, tmp_path):
    hook.write(str(tmp_path), "venv", ["/one"])
    hook.write(str(tmp_path), "venv", ["/two"])
    hook.write(str(tmp_path), "venv", ["/one"])
    assert script.read_text().count(hook.BEGIN) == 1
    assert sorted(activated(script).split(":")) == ["/one", "/two"]


def test_the_lines_go_again(script, tmp_path):
    before = script.read_text()
    hook.write(str(tmp_path), "venv", ["/one"])
    subprocess.run(["bash", "-c", hook.undo(str(script))], check=True)
    assert script.read_text().rstrip() == before.rstrip()
    assert activated(script) == ""


def test_a_hard_link_elsewhere_stays_as_it_is(script, tmp_path):
    other = tmp_path / "shared"
    other.hardlink_to(script)
    hook.write(str(tmp_path), "venv", ["/one"])
    assert hook.BEGIN not in other.read_text()


def test_conda_reads_its_own_folder(tmp_path):
    path = Path(hook.write(str(tmp_path), "conda", ["/one"]))
    assert path == tmp_path / "etc/conda/activate.d/gpuwhy.sh"
    assert activated(path) == "/one"


# ---------------------------------------------------------------- installer


@pytest.fixture
def recorder(tmp_path) -> tuple[str, Path]:
    """A stand-in for uv and python that writes down what it was told, and its environment."""
    path, log = tmp_path / "uv", tmp_path / "log"
    path.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\nenv >> "{tmp_path}/env"\n')
    path.chmod(0o755)
    return str(path), log


def installer(uv: str, environ: dict[str, str] | None = None) -> Installer:
    return Installer({"PATH": "/usr/bin:/bin", **(environ or {})}, 10.0, lambda _: None, uv)


def test_what_uv_is_told(recorder):
    uv, log = recorder
    one = installer(uv)
    one.carry_out("/e/bin/python", Action(("torch==2.5.1",), ("torch", "gone"), backend="cu121"), {"torch"})
    one.carry_out("/e/bin/python", Action(("x==1",), again=True), ())
    one.rehearse("/e/bin/python", Action(("b[cuda]==2",), ("a", "b")))
    assert log.read_text().splitlines() == [
        "pip uninstall --python /e/bin/python torch",
        "pip install --python /e/bin/python --torch-backend=cu121 torch==2.5.1",
        "pip install --python /e/bin/python --reinstall --no-deps --no-cache x==1",
        "pip install --python /e/bin/python --dry-run --reinstall-package=a --reinstall-package=b b[cuda]==2",
    ]


def test_what_pip_is_told(recorder):
    python, log = recorder
    one = installer("")
    one.carry_out(python, Action(("torch==2.5.1",), ("torch",), upgrade=True), {"torch"})
    one.carry_out(python, Action(("x==1",), again=True), ())
    assert log.read_text().splitlines() == [
        "-m pip uninstall -y torch",
        "-m pip install --upgrade torch==2.5.1",
        "-m pip install --force-reinstall --no-deps --no-cache-dir x==1",
    ]
    with pytest.raises(FailedError, match="install uv"):
        one.carry_out(python, Action(("torch==2.5.1",), backend="cu126"), ())


def test_stray_variables_stay_behind(recorder, tmp_path):
    uv, _ = recorder
    installer(uv, {"PIP_TARGET": "/away", "UV_VENV_CLEAR": "1", "PYTHONPATH": "/x", "PIP_INDEX_URL": "mine"}).venv(
        "/e/bin/python", "/new", True
    )
    seen = (tmp_path / "env").read_text()
    assert "PIP_INDEX_URL=mine" in seen, "the user's own index is kept"
    assert not [name for name in ("PIP_TARGET", "UV_VENV_CLEAR", "PYTHONPATH") if name in seen]


def test_a_tool_that_is_not_there_is_said():
    with pytest.raises(FailedError, match="cannot be started: No such file"):
        run(["/nowhere/uv", "pip"], {}, 5.0)


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path):
    with pytest.raises(RefusedError, match="--into names another"):
        free_name(str(tmp_path / "missing" / "env"))


def test_a_signal_while_a_child_starts_ends_the_child(monkeypatch):
    """It arrives before anybody holds the child: it must neither be lost nor leave the child behind."""
    started = []

    class Interrupted(subprocess.Popen):
        def __init__(self, *args, **more):
            super().__init__(*args, **more)
            started.append(self)
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(child.subprocess, "Popen", Interrupted)
    with interruptible(), pytest.raises(KeyboardInterrupt):
        run(["/bin/sleep", "61"], {}, 30.0)
    assert started[0].returncode in (-signal.SIGTERM, -signal.SIGKILL)  # the second where it was slow to hear


def test_the_loader_s_folders_lead_into_the_copy():
    told = led_along({"LD_LIBRARY_PATH": "/e/lib/a:/opt/cuda:/ex/lib:/e"}, "/e", "/e-gpuwhy")
    assert told == {"LD_LIBRARY_PATH": "/e-gpuwhy/lib/a:/opt/cuda:/ex/lib:/e-gpuwhy"}
    assert led_along({"HOME": "/e"}, "/e", "/f") == {"HOME": "/e"}


@pytest.mark.parametrize(
    ("exact", "asks", "gone"),
    [
        (["nvidia-cudnn-cu13"], "", ["nvidia-cudnn-cu12"]),
        (["nvidia-cudnn-cu13"], "nvidia-cudnn-cu12==1.0", []),
        (["nvidia-cudnn-cu13"], 'nvidia-cudnn-cu12==1.0; extra == "cudnn"', ["nvidia-cudnn-cu12"]),
        (["nvidia-nccl-cu13"], "", []),
        (["nvidia-cudnn-cu12"], "", []),
        ([], "", []),
    ],
)
def test_wheels_of_the_cuda_that_is_left_behind_go(tmp_path, exact, asks, gone):
    one = patient(Host(), facts(tmp_path, "venv", "onnxruntime-gpu", "nvidia-cudnn-cu12"), in_place=False)
    folder = Path(one.distributions[0].location)
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Name: onnxruntime-gpu\n{f'Requires-Dist: {asks}' if asks else ''}\n\n")
    kept = {name: f"{name}==1.0" for name in ("onnxruntime-gpu", "nvidia-cudnn-cu12")}
    assert outrun(one, {**kept, **{name: f"{name}==2.0" for name in exact}}, kept) == gone


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Traceback\n  File x\nImportError: libcuda.so.1: cannot open\n", "ImportError: libcuda.so.1: cannot open"),
        ("ImportError: \n=====\nFailed to import CuPy.\n=====\n", "Failed to import CuPy."),
        ("ImportError: \n=====\nIt failed.\nOriginal error:\n  OSError: libcuda.so.1\n====\n", "OSError: libcuda.so.1"),
        ("a remark\nAttributeError: `np.float_` was removed\n====\n", "AttributeError: `np.float_` was removed"),
        ("=====\nsomething\n=====\n", "something"),
    ],
)
def test_the_words_of_an_import_are_no_rule_of_signs(said, told):
    assert imports._told(End(1, "", said)) == told


def test_what_comes_keeps_to_limits_that_nobody_states() -> None:
    """JAX 0.4.35 does not import beside an nvcc that its metadata lets in; what is there already is left alone."""
    there = {"jax": "jax==0.4.35"}
    assert _limits(there.values(), there) == ["nvidia-cuda-nvcc-cu12<12.9"]
    assert _limits(there.values(), {**there, "nvidia-cuda-nvcc-cu12": "nvidia-cuda-nvcc-cu12==12.9.86"}) == []
