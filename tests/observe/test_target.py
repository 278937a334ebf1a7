"""The Python under diagnosis: which one is chosen, what is installed in it, and what happens when it is no Python."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gpuwhy.host.live import LiveHost
from gpuwhy.host.recording import RecordingHost
from gpuwhy.model.fact import NOT_TRIED, Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.model.facts import BARRED, Facts, Interpreter, Target
from gpuwhy.observe.engine import guarded, place
from gpuwhy.observe.scene import Options, Scene
from gpuwhy.observe.target import LOOKS, interpreter
from gpuwhy.rooms.shared.commands import install, uninstall
from tests.observe.envs import SITE, World, shared_object


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.venv()
    return made


def chosen(world: World, **options: str) -> Interpreter:
    found = world.look(**options).interpreter
    assert isinstance(found, Known), found
    return found.value


def test_active_venv(world: World) -> None:
    assert chosen(world) == Interpreter("/venv/bin/python", "3.12.3", "/venv", "venv", "VIRTUAL_ENV", "x86_64")


def test_uv_writes_version_info(world: World) -> None:
    world.venv(version="", version_info="3.12.1.final.0")
    world.file("/venv/pyvenv.cfg", "home = /usr/bin\nversion_info = 3.12.1.final.0\n")
    assert chosen(world).version == "3.12.1"


def test_option_beats_active_environment(world: World) -> None:
    world.venv("/other")
    assert chosen(world, python="/other").prefix == "/other"
    assert chosen(world, python="/other/bin/python").chosen_by == "--python"


def test_conda_is_read_from_its_metadata(world: World) -> None:
    world.environ = {"CONDA_PREFIX": "/opt/conda"}
    world.file("/opt/conda/conda-meta/python-3.11.8-hab00c5b_0_cpython.json", "{}")
    world.file("/opt/conda/conda-meta/python-dateutil-2.9.0-pyhd8ed1ab_0.json", "{}")
    world.file("/opt/conda/bin/python", shared_object(machine=183))
    found = chosen(world)
    assert (found.version, found.kind, found.machine) == ("3.11.8", "conda", "aarch64")
    assert world.look().conda.need() == {"python": "3.11.8", "python-dateutil": "2.9.0"}


def test_no_package_of_a_venv_is_condas(world: World) -> None:
    world.file("/venv/conda-meta/numpy-2.2.6-0.json", "{}")  # what somebody copied there
    assert isinstance(world.look().conda, Absent)


def test_conda_environment_without_python_is_passed_over(world: World) -> None:
    world.environ = {"CONDA_PREFIX": "/opt/conda"}
    world.file("/opt/conda/conda-meta/history", "")
    assert chosen(world, folder="/").prefix == "/venv"


def test_project_folder_above_the_working_folder(world: World) -> None:
    world.environ = {"PATH": ""}
    world.venv("/home/project/.venv")
    (world.root / "home/project/src/deep").mkdir(parents=True)
    found = chosen(world, folder="/home/project/src/deep")
    assert (found.prefix, found.chosen_by) == ("/home/project/.venv", ".venv")


def test_stale_virtual_env_does_not_hide_the_project(world: World) -> None:
    world.environ = {"VIRTUAL_ENV": "/gone", "UV_PROJECT_ENVIRONMENT": "env"}
    world.venv("/code/env")
    assert chosen(world, folder="/code").chosen_by == "UV_PROJECT_ENVIRONMENT"


def test_python_on_path_is_asked(world: World) -> None:
    world.environ = {"PATH": "relative:/usr/bin"}
    world.file("/usr/bin/python3", shared_object())
    (world.root / "usr/lib/python3/dist-packages").mkdir(parents=True)
    world.pythons["/usr/bin/python3"] = {
        "version": "3.11.2",
        "prefix": "/usr",
        "base_prefix": "/usr",
        "executable": "/usr/bin/python3",
        "site_packages": ["/usr/lib/python3/dist-packages", "/usr/lib/python3.11/dist-packages"],
        "machine": "x86_64",
    }
    seen = world.look()
    assert isinstance(seen.interpreter, Known)
    assert seen.interpreter.value.kind == "system"
    assert seen.site_packages.need() == ("/usr/lib/python3/dist-packages",)


@pytest.mark.parametrize("mark", ["uv-receipt.toml", "pipx_metadata.json", None])
def test_own_tool_environment_on_path_is_not_the_target(world: World, mark: str | None) -> None:
    tool = "/tools/gpuwhy" if mark else "/cache/uv/archive-v0/Ab3"
    world.environ = {"PATH": f"{tool}/bin:/project/bin"}
    world.venv(tool)
    world.file(f"{tool}/bin/python3", shared_object())
    if mark:
        world.file(f"{tool}/{mark}", "")
    world.venv("/project")
    world.file("/project/bin/python3", shared_object())
    assert chosen(world).prefix == "/project"


def test_no_python_at_all_is_absent(world: World) -> None:
    world.environ = {"PATH": "/empty"}
    seen = world.look()
    assert isinstance(seen.interpreter, Absent)
    assert seen.frameworks.need() == ()


def test_folder_of_another_machine(world: World) -> None:
    world.environ = None
    os.rename(world.root / "venv", world.root / "elsewhere")
    world.file("/usr/bin/python3.10", shared_object())
    (world.root / "usr/bin/python3").symlink_to("python3.10")
    (world.root / "usr/local/lib/python3.10/dist-packages").mkdir(parents=True)
    found = world.look(folder=".")
    assert isinstance(found.interpreter, Known)
    assert found.interpreter.value.version == "3.10"
    assert found.site_packages.need() == ("/usr/local/lib/python3.10/dist-packages",)


@pytest.mark.parametrize(
    "place",
    [
        "/opt/ocr/venv",
        "/srv/app/env",
        "/workspace/venv",
        "/data/proj/.venv",
        "/home/work/a/b/.venv",
        "/home/work/miniconda3/envs/train",
        "/home/work/.cache/pypoetry/virtualenvs/x-py3.12",
        "/home/work/.local/share/pipx/venvs/x",
        "/root/.virtualenvs/x",
    ],
)
def test_a_disk_is_searched_for_the_environment_with_a_framework(world: World, place: str) -> None:
    world.environ = None
    world.venv(place)
    world.file(f"{place}/lib/python3.12/site-packages/onnxruntime/__init__.py")
    world.file("/usr/bin/python3.12", shared_object())
    (world.root / "usr/bin/python3").symlink_to("python3.12")
    assert chosen(world).prefix == place


@pytest.mark.parametrize("home", ["/root", "/home/work"])
def test_a_disk_has_the_user_packages_of_everybody(world: World, home: str) -> None:
    world.environ = None
    world.file(f"{home}/.local/lib/python3.10/site-packages/jax/__init__.py")
    world.file("/usr/bin/python3.10", shared_object())
    (world.root / "usr/bin/python3").symlink_to("python3.10")
    found = world.look()
    assert isinstance(found.interpreter, Known)
    assert found.interpreter.value.version == "3.10"
    assert found.site_packages.need() == (f"{home}/.local/lib/python3.10/site-packages",)


def test_venv_whose_python_is_gone_is_still_read(world: World) -> None:
    (world.root / "venv/bin/python").unlink()
    (world.root / "venv/bin/python").symlink_to("/nowhere/python3.12")
    seen = world.look()
    assert isinstance(seen.interpreter, Known)
    assert "leads nowhere" in seen.interpreter.source.detail
    assert seen.site_packages.need() == (SITE,)


@pytest.mark.parametrize(("mode", "barred"), [(0o644, True), (0o755, False), (0o700, False)])
def test_a_python_that_nobody_may_run(tmp_path: Path, mode: int, barred: bool) -> None:
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.write_text("")
    python.chmod(mode)
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.3\n")
    found = interpreter(Scene(LiveHost(), Options(python=str(python)))).need()
    assert found is not None
    assert (found.gone == BARRED) is barred


def test_system_and_user_folders_only_where_the_venv_wants_them(world: World) -> None:
    for folder in ("usr/lib/python3/dist-packages", "extra", "~/.local/lib/python3.12/site-packages"):
        (world.root / folder).mkdir(parents=True)
    assert world.environ is not None
    world.environ["PYTHONPATH"] = "/extra:/not-there"
    assert world.look().site_packages.need() == (SITE, "/extra")
    world.venv(include_system_site_packages="true")
    user, system = "~/.local/lib/python3.12/site-packages", "/usr/lib/python3/dist-packages"
    assert world.look().site_packages.need() == (SITE, user, system, "/extra")
    world.environ["PYTHONNOUSERSITE"] = "1"
    assert world.look().site_packages.need() == (SITE, system, "/extra")


def test_distributions(world: World) -> None:
    world.install("nvidia-cudnn-cu12", "9.27.0.42")
    world.install("Ruamel.Yaml", "0.18")
    world.file(f"{SITE}/numpy-1.24.2.egg-info", "Name: numpy\n")
    world.file(f"{SITE}/mylib.egg-info/PKG-INFO", "Name: my_lib\nVersion: 0.1\n")
    world.file(f"{SITE}/broken-.dist-info/METADATA", b"\xff\xfe\0garbage")
    world.file(f"{SITE}/~orch-2.1.0.dist-info/METADATA", "Name: torch\nVersion: 2.1.0\n")
    found = {d.name: d for d in world.look().distributions.need() or ()}
    assert sorted(found) == ["my-lib", "numpy", "nvidia-cudnn-cu12", "ruamel-yaml"]
    assert found["nvidia-cudnn-cu12"].installer.need() == "pip"
    assert isinstance(found["ruamel-yaml"].installer, Unknown)


def test_kernels(world: World) -> None:
    kernel = '{"argv": ["/venv/bin/python", "-m", "ipykernel_launcher"], "display_name": "x"}'
    world.file("/venv/share/jupyter/kernels/python3/kernel.json", kernel)
    world.file("/venv/share/jupyter/kernels/bad/kernel.json", b"\xff{")
    assert world.look().kernels.need() == ("python3: /venv/bin/python",)


# ---------------------------------------------------------------- the machine we run on


def static(python: str, **environ: str) -> Fact[Interpreter]:
    """What is said of a Python that is not started."""
    return interpreter(Scene(LiveHost({**os.environ, **environ}), Options(python=python, folder=".")))


def test_an_executable_that_is_not_started_is_judged_by_its_name_and_its_folder(tmp_path: Path) -> None:
    prefix = tmp_path / "cpython-3.12.4-linux"
    (prefix / "lib/python3.12").mkdir(parents=True)
    (prefix / "bin").mkdir()
    (prefix / "bin/python3.12").write_text("#!/bin/false\n")
    (prefix / "bin/python").symlink_to("python3.12")
    (prefix / "bin/mypy").symlink_to("python")
    for name in ("python", "mypy"):
        found = static(f"{prefix}/bin/{name}").need()
        assert found is not None
        assert (found.version, found.prefix, found.kind) == ("3.12.4", str(prefix), "system")


def test_an_executable_without_a_release_in_its_name_has_that_of_the_library_beside_it(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").write_text("#!/bin/false\n")
    seen = [static(f"{tmp_path}/bin/python")]
    for release in ("3.12", "3.9"):
        (tmp_path / f"lib/python{release}").mkdir(parents=True)
        (tmp_path / f"lib/python{release}/os.py").write_text("")
        seen.append(static(f"{tmp_path}/bin/python"))
    assert [one.value.version if isinstance(one, Known) else one for one in seen] == [NOT_TRIED, "3.12", NOT_TRIED]


def test_what_has_no_name_of_a_python_is_not_started_either() -> None:
    found = static("/bin/ls")
    assert isinstance(found, Unknown)
    assert found.reason == "/bin/ls is not a Python by its name; gpuwhy check --import asks it"


@pytest.mark.parametrize(
    ("variable", "local", "of_all", "release"),
    [
        ("", "", "3.11.7\n", "3.11.7"),
        ("", "3.9\n", "3.11.7\n", "3.9.18"),
        ("3.12:3.9", "3.9\n", "3.11.7\n", "3.9.18"),
        ("3.9.2", "", "3.11.7\n", "3.9.2"),
        ("", "", "system\n", "3.10"),
        ("", "", "", "3.10"),
        ("", "none-such\n", "3.11.7\n", ""),
    ],
)
def test_a_shim_of_pyenv_is_followed_by_pyenvs_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, local: str, of_all: str, release: str
) -> None:
    root, work = tmp_path / ".pyenv", tmp_path / "work"
    for one in ("3.9.2", "3.9.18", "3.11.7"):
        (root / "versions" / one / "bin").mkdir(parents=True)
        (root / "versions" / one / "bin" / f"python{one.rpartition('.')[0]}").write_text("")
        (root / "versions" / one / "bin" / "python3").symlink_to(f"python{one.rpartition('.')[0]}")
    for folder in (root / "shims", work, tmp_path / "usr/bin"):
        folder.mkdir(parents=True)
    (root / "shims" / "python3").write_text("#!/bin/false\n")
    (tmp_path / "usr/bin/python3.10").write_text("")
    (tmp_path / "usr/bin/python3").symlink_to("python3.10")
    for path, text in ((root / "version", of_all), (work / ".python-version", local)):
        path.write_text(text) if text else None
    monkeypatch.chdir(work)
    path = f"{root}/shims:{tmp_path}/usr/bin"
    found = value_or(static("", PATH=path, PYENV_VERSION=variable, VIRTUAL_ENV="", CONDA_PREFIX=""), None)
    assert (found.version if found else "") == release


def live(python: str, **environ: str) -> Scene:
    return Scene(RecordingHost(LiveHost({**os.environ, **environ}, runs=True)), Options(python=python, folder="."))


def test_not_a_python() -> None:
    found = interpreter(live("/bin/ls"))
    assert isinstance(found, Unknown)
    assert found.reason.startswith("/bin/ls is not a Python: it printed")


@pytest.mark.parametrize("content", ["#!/bin/sh\necho 'no such version' >&2; exit 127\n", "just text\n"])
def test_broken_python_says_why(tmp_path: Path, content: str) -> None:
    shim = tmp_path / "python3"
    shim.write_text(content)
    shim.chmod(0o755)
    found = interpreter(live(str(shim)))
    assert isinstance(found, Unknown)
    assert "is not a Python that runs" in found.reason
    assert "no such version" in found.reason or "xec format" in found.reason


def test_the_rest_goes_on_without_an_interpreter() -> None:
    scene = live("/bin/ls")
    for one in LOOKS:
        place(scene, one, guarded(scene, one))
    assert isinstance(scene.facts.target.frameworks, Unknown)
    assert "/bin/ls is not a Python" in scene.facts.target.frameworks.reason
    assert isinstance(scene.facts.target.kernels, Known)


def test_the_python_we_run_in() -> None:
    found = interpreter(live(sys.executable))
    assert isinstance(found, Known)
    assert found.value.version == ".".join(map(str, sys.version_info[:3]))


def test_an_executable_outside_any_environment_tells_its_folders() -> None:
    base = os.path.realpath(sys.executable)
    scene = live(base)
    for one in LOOKS[: 1 + [one.field for one in LOOKS].index("site_packages")]:
        place(scene, one, guarded(scene, one))
    target = scene.facts.target
    assert isinstance(target.interpreter, Known)
    assert target.interpreter.value.kind != "venv"
    assert isinstance(target.site_packages, Known)


def test_pip_is_told_to_change_a_python_that_the_system_owns() -> None:
    python = Interpreter("/usr/bin/python3", "3.12.3", "/usr", "system", "PATH", "x86_64", managed=True)
    facts = Facts(target=Target(interpreter=Known(python, Source("file", "test"))))
    assert "--break-system-packages" in install(facts, "onnxruntime-gpu")
    assert "--break-system-packages" in uninstall(facts, "onnxruntime")
