"""Which Python is chosen and what it is, by files alone; its folders of packages."""

import pytest

from gpuwhy.facts.environment import Python
from gpuwhy.facts.fact import Absent, Known, Unknown
from tests.look.world import HOME, SITE, World, shared_object


def chosen(world: World, **options: str) -> Python:
    found = world.look("environment", **options).environment.python
    assert isinstance(found, Known), found
    return found.value


def sites(world: World, **options: str) -> list[tuple[str, str]]:
    found = world.look("environment", **options).environment.sites
    return [(site.path, site.kind) for site in found.need() or ()]


def without_venv(world: World) -> None:
    for path in ("venv/pyvenv.cfg", "venv/bin/python"):
        (world.root / path).unlink()


def python_at(world: World, prefix: str, version: str = "3.11") -> None:
    world.file(f"{prefix}/bin/python{version}", shared_object(), 0o755)
    world.link(f"{prefix}/bin/python3", f"python{version}")
    world.file(f"{prefix}/lib/python{version}/os.py", "")
    world.file(f"{prefix}/lib/python{version}/site-packages/README.txt", "")


def test_the_order(world: World) -> None:
    python_at(world, "/usr")
    for prefix in ("/other", "/job/project/.venv", "/opt/conda"):
        world.venv(prefix)
    world.file("/opt/conda/conda-meta/python-3.11.8-hab00c5b_0_cpython.json", "{}")
    (world.root / "opt/conda/pyvenv.cfg").unlink()
    world.file("/job/project/src/train.py", "")
    world.environ = {"VIRTUAL_ENV": "/venv", "CONDA_PREFIX": "/opt/conda", "PATH": "/usr/bin"}
    folder = "/job/project/src"
    assert chosen(world, python="/other", folder=folder).chosen_by == "--python"
    active = Python("/venv/bin/python", "3.12.3", "/venv", "venv", "VIRTUAL_ENV", "x86_64")
    assert chosen(world, folder=folder) == active, "even without a framework"
    del world.environ["VIRTUAL_ENV"]
    one = chosen(world, folder=folder)
    assert (one.chosen_by, one.kind, one.version) == ("CONDA_PREFIX", "conda", "3.11.8")
    del world.environ["CONDA_PREFIX"]
    one = chosen(world, folder=folder)
    assert (one.chosen_by, one.prefix) == (".venv", "/job/project/.venv")
    one = chosen(world)
    assert (one.chosen_by, one.kind, one.version) == ("PATH", "system", "3.11")


def test_gpuwhy_s_own_environment_counts_with_a_framework_alone(world: World) -> None:
    python_at(world, "/usr")
    world.install("gpuwhy", "1.0")
    assert chosen(world).chosen_by == "PATH"
    world.environ = {"VIRTUAL_ENV": "/venv", "PATH": "/nowhere"}
    assert chosen(world).own
    world.environ = {"VIRTUAL_ENV": "/venv", "PATH": "/usr/bin"}
    world.install("torch", "2.0", {"torch/__init__.py": "x"})
    assert (chosen(world).chosen_by, chosen(world).own) == ("VIRTUAL_ENV", False)


@pytest.mark.parametrize(
    ("files", "environ", "version"),
    [
        ({"/pyenv/version": "3.11.7\n"}, {}, "3.11.7"),
        ({"/pyenv/version": "3.11.7\n", "/job/.python-version": "3.12\n"}, {}, "3.12.1"),
        ({"/pyenv/version": "3.11.7\n"}, {"PYENV_VERSION": "3.12.1"}, "3.12.1"),
        ({}, {}, "3.10"),
    ],
)
def test_what_a_shim_of_pyenv_starts(
    world: World, files: dict[str, str], environ: dict[str, str], version: str
) -> None:
    without_venv(world)
    python_at(world, "/usr", "3.10")
    for one in ("3.11.7", "3.12.1"):
        python_at(world, f"/pyenv/versions/{one}", one[:4])
    world.file("/pyenv/shims/python3", "#!/bin/sh\n", 0o755)
    world.file("/job/a.py", "")
    for path, text in files.items():
        world.file(path, text)
    world.environ = {"PATH": "/pyenv/shims:/usr/bin", **environ}
    assert chosen(world, folder="/job").version == version


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("/opt/python/cpython-3.12.7-linux-x86_64-gnu/bin/python3.12", "3.12.7"),
        ("/opt/py/bin/python3.12", "3.12"),
        ("/opt/py/bin/python3", "3.12"),
    ],
)
def test_an_executable_is_read_and_not_started(world: World, path: str, version: str) -> None:
    world.file("/opt/py/lib/python3.12/os.py", "")
    world.file(path, shared_object(machine=183), 0o755)
    one = chosen(world, python=path)
    assert (one.version, one.machine) == (version, "aarch64")


@pytest.mark.parametrize(
    ("spoil", "gone"), [("dangling", "dangling link"), ("missing", "missing"), ("mode", "not executable")]
)
def test_a_venv_whose_python_is_gone_is_read_all_the_same(world: World, spoil: str, gone: str) -> None:
    place = world.root / "venv/bin/python"
    if spoil == "mode":
        place.chmod(0o644)
    else:
        place.unlink()
    if spoil == "dangling":
        place.symlink_to("/usr/bin/python3.12")
    world.install("torch", "2.0")
    assert chosen(world).gone == gone
    assert [path for path, _ in sites(world)] == [SITE]


def test_what_is_no_python(world: World) -> None:
    world.file("/bin/ls", shared_object(), 0o755)
    found = world.look("environment", python="/bin/ls").environment
    assert isinstance(found.python, Unknown)
    assert isinstance(found.packages, Unknown)
    assert isinstance(world.look("environment", python="/no").environment.python, Unknown)
    world.environ = {"PATH": ""}
    assert isinstance(world.look("environment").environment.python, Absent)
    world.environ = None
    without_venv(world)
    assert isinstance(world.look("environment").environment.python, Unknown)


def test_the_folders_of_a_venv(world: World) -> None:
    user = f"{HOME}/.local/lib/python3.12/site-packages"
    for path in (user, "/usr/lib/python3/dist-packages", "/extra"):
        world.file(f"{path}/README", "")
    assert world.environ is not None
    world.environ["PYTHONPATH"] = "/extra:/nowhere"
    assert sites(world) == [(SITE, "own"), ("/extra", "PYTHONPATH")]
    world.venv(include_system_site_packages="true")
    system = ("/usr/lib/python3/dist-packages", "system")
    assert sites(world) == [(SITE, "own"), (user, "user"), system, ("/extra", "PYTHONPATH")]
    world.environ["PYTHONNOUSERSITE"] = "1"
    assert (user, "user") not in sites(world)


def test_a_pth_file_that_brings_wheels(world: World) -> None:
    world.install("torch", "2.0", site="/shared")
    world.file("/source/pyproject.toml", "")
    world.file(f"{SITE}/shared.pth", "# old\n/shared\n/source\nimport sys\n")
    assert sites(world) == [(SITE, "own"), ("/shared", "pth")]


def test_a_disk_is_searched(world: World) -> None:
    world.offline = True
    world.environ = None
    without_venv(world)
    world.venv("/home/ann/project/.venv")
    world.venv("/srv/app/venv")
    world.install("torch", "2.0", {"torch/a.py": "x"}, site="/srv/app/venv/lib/python3.12/site-packages")
    one = chosen(world)
    assert (one.prefix, one.chosen_by) == ("/srv/app/venv", "usual place")
