"""What Python finds before the module that was meant."""

import pytest

from gpuwhy.facts.fact import Known
from tests.look.world import HOME, SITE, World


@pytest.fixture
def world(world: World) -> World:
    world.install("torch", "2.6.0", {"torch/__init__.py": ""})
    world.install("numpy", "2.1.3", {"numpy/__init__.py": ""})
    return world


def found(world: World, **options: str) -> list[tuple[str, str, str]]:
    return [(s.module, s.path, s.file or s.via) for s in world.look(**options).installs.shadows.need() or ()]


def test_a_file_beside_the_script(world: World) -> None:
    for name in ("my_torch.py", "torch.txt", "torch/notes.md", "utils.py", "torchx.py", "jax.py"):
        world.file(f"/job/{name}", "")
    assert found(world, script="/job") == [], "no module of the environment"
    world.file("/job/torch.py", "")
    world.file("/job/random.py", "")
    names = ("random", "torch")  # Python's own count too
    assert sorted(found(world, script="/job")) == [(n, f"/job/{n}.py", "script folder") for n in names]
    assert found(world, script="-") == []


def test_pythonpath_of_another_project_is_named_and_the_target_stays(world: World) -> None:
    other = "/old/lib/python3.10/site-packages"
    world.install("numpy", "1.22.4", {"numpy/__init__.py": ""}, site=other)
    assert world.environ is not None
    world.environ["PYTHONPATH"] = other
    seen = world.look()
    one = (seen.installs.shadows.need() or ())[0]
    assert (one.module, one.version, one.meant) == ("numpy", "1.22.4", "2.1.3")
    assert (one.other_python, one.via) == ("3.10", "PYTHONPATH")
    python, sites = seen.environment.python, seen.environment.sites
    assert isinstance(python, Known)
    assert python.value.prefix == "/venv"
    assert next(site.path for site in sites.need() or ()) == SITE
    assert seen.environment.by_name["numpy"].version == "2.1.3"


def test_a_pth_file_that_inserts_a_folder(world: World) -> None:
    world.file("/opt/lib/numpy/__init__.py", "")
    world.file(f"{SITE}/zz.pth", "import sys; sys.path.insert(0, '/opt/lib')\n")
    assert found(world) == [("numpy", "/opt/lib/numpy", f"{SITE}/zz.pth")]
    world.file(f"{SITE}/zz.pth", "/opt/lib\n")
    assert found(world) == []


def test_user_site_below_conda(world: World) -> None:
    world.environ = {"CONDA_PREFIX": "/opt/conda"}
    world.file("/opt/conda/conda-meta/python-3.12.3-hab00c5b_0_cpython.json", "{}")
    world.file("/opt/conda/bin/python", b"")
    for site, version in (
        ("/opt/conda/lib/python3.12/site-packages", "2.1.3"),
        (f"{HOME}/.local/lib/python3.12/site-packages", "1.26.4"),
    ):
        world.install("numpy", version, {"numpy/__init__.py": ""}, site=site)
    assert found(world) == [("numpy", f"{HOME}/.local/lib/python3.12/site-packages/numpy", "user site")]
