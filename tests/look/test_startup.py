"""What runs before a program's first line, read as text; and whether Python starts."""

import pytest

from gpuwhy.facts.installs import Start, StartFile, StartProblem
from tests.look.world import SITE, World, shared_object


def files(world: World) -> dict[str, StartFile]:
    found = world.look().installs.start_files.need() or ()
    return {one.path.removeprefix(f"{SITE}/"): one for one in found}


def starts(world: World) -> list[Start]:
    return list(world.look().installs.start.need() or ())


def test_what_start_up_files_do(world: World) -> None:
    folder = world.install("setuptools", "80", {"known.pth": "import os; var = 1\n"})
    assert folder
    text = "import sys; sys.modules['torch'] = None\n/plain/folder\n"
    world.file(f"{SITE}/block.pth", text)
    world.file(f"{SITE}/front.pth", "import sys; sys.path.insert(0, '/src')\n")
    world.file(f"{SITE}/plain.pth", "/plain/folder\n# import os\n")
    world.file(
        f"{SITE}/sitecustomize.py",
        "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = ''\n"
        "os.environ.setdefault('TF_FORCE_GPU_ALLOW_GROWTH', 'true')\n"
        "if x:\n    os.environ['XLA_FLAGS'] = 'no'\nos.environ['TF_API_KEY'] = 'x'\n",
    )
    found = files(world)
    assert set(found) == {"known.pth", "block.pth", "front.pth", "sitecustomize.py"}
    assert found["block.pth"].blocks == ("torch",)
    assert found["sitecustomize.py"].sets == (
        ("CUDA_VISIBLE_DEVICES", ""),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "true"),
    )
    set_in = {v.name: v.set_in for v in world.look().variables.variables.need() or ()}
    assert set_in["CUDA_VISIBLE_DEVICES"] == f"{SITE}/sitecustomize.py"


@pytest.mark.parametrize(
    ("name", "value", "stops"),
    [
        ("PYTHONHASHSEED", "random", False),
        ("PYTHONHASHSEED", "yes", True),
        ("PYTHONUTF8", "2", True),
        ("PYTHONHOME", "/nowhere", True),
        ("PYTHONHOME", "/base", False),
        ("PYTHONOPTIMIZE", "2", False),
    ],
)
def test_variables_at_which_python_stops(world: World, name: str, value: str, stops: bool) -> None:
    world.file("/base/lib/python3.12/os.py", "")
    assert world.environ is not None
    world.environ[name] = value
    found = [one for one in starts(world) if one.problem is StartProblem.VARIABLE]
    assert [one.variable for one in found] == ([name] if stops else [])


def test_packages_of_another_python_than_starts(world: World) -> None:
    world.install("torch", "2.0", {"torch/version.py": "cuda = None"})
    world.file("/usr/bin/python3.13", shared_object(), 0o755)
    (world.root / "venv/bin/python").unlink()
    world.link("/venv/bin/python", "/usr/bin/python3.13")
    (one,) = starts(world)
    assert (one.problem, one.version) == (StartProblem.OTHER_PYTHON, "3.13")
    assert one.lost == ("torch",)


def test_an_environment_without_its_configuration(world: World) -> None:
    world.install("torch", "2.0", {"torch/version.py": "cuda = None"})
    (world.root / "venv/pyvenv.cfg").unlink()
    world.file("/usr/bin/python3.12", shared_object(), 0o755)
    (world.root / "venv/bin/python").unlink()
    world.link("/venv/bin/python", "/usr/bin/python3.12")
    world.environ = {"PATH": "/venv/bin"}
    (one,) = starts(world)
    assert (one.problem, one.path, one.lost) == (StartProblem.NO_CONFIG, SITE, ("torch",))
