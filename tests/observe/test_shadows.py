"""Shadows: what Python finds before the module that was meant; and which environment stays the target."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.model.fact import Known
from tests.observe.envs import SITE, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.venv()
    made.install("torch", "2.6.0", {"torch/__init__.py": ""})
    made.install("numpy", "2.1.3", {"numpy/__init__.py": ""})
    return made


def found(world: World, **options: str) -> list[tuple[str, str, str]]:
    return [(s.module, s.path, s.via) for s in world.look(**options).shadows.need() or ()]


def test_a_file_beside_the_script(world: World) -> None:
    world.file("/work/torch.py", "")
    world.file("/work/train.py", "import torch")
    assert found(world, script="/work") == [("torch", "/work/torch.py", "the script's folder")]
    assert found(world, script="-") == []


def test_python_s_own_modules_count_too(world: World) -> None:
    world.file("/work/random.py", "")
    assert found(world, script="/work") == [("random", "/work/random.py", "the script's folder")]


@pytest.mark.parametrize("name", ["my_torch.py", "torch.txt", "torch/notes.md", "utils.py", "torchx.py", "jax.py"])
def test_what_is_no_module_of_the_environment_is_none(world: World, name: str) -> None:
    world.file(f"/work/{name}", "")
    assert found(world, script="/work") == []


def test_a_package_folder(world: World) -> None:
    world.file("/work/torch/__init__.py", "")
    assert found(world, script="/work") == [("torch", "/work/torch", "the script's folder")]


def test_pythonpath_of_another_project_is_named_and_the_target_stays(world: World) -> None:
    other = "/old/lib/python3.10/site-packages"
    world.install("numpy", "1.22.4", {"numpy/__init__.py": ""}, site=other)
    assert world.environ is not None
    world.environ["PYTHONPATH"] = other
    seen = world.look()
    one = (seen.shadows.need() or ())[0]
    assert (one.module, one.version, one.meant, one.other_python, one.via) == (
        "numpy",
        "1.22.4",
        "2.1.3",
        "3.10",
        "PYTHONPATH",
    )
    assert isinstance(seen.interpreter, Known)
    assert seen.interpreter.value.prefix == "/venv"
    assert (seen.site_packages.need() or ())[0] == SITE
    assert [d.version for d in seen.distributions.need() or () if d.name == "numpy"] == ["2.1.3"]


def test_the_same_release_of_another_package_is_told_apart(world: World) -> None:
    world.install("onnxruntime-gpu", "1.22.0", {"onnxruntime/__init__.py": ""})
    world.install("onnxruntime", "1.22.0", {"onnxruntime/__init__.py": ""}, site="/more")
    assert world.environ is not None
    world.environ["PYTHONPATH"] = "/more"
    (one,) = world.look().shadows.need() or ()
    assert (one.version, one.meant) == ("1.22.0 (onnxruntime)", "1.22.0 (onnxruntime-gpu)")


def test_what_only_pythonpath_holds_is_seen(world: World) -> None:
    world.install("jax", "0.4.38", {"jax/__init__.py": ""}, site="/more")
    assert world.environ is not None
    world.environ["PYTHONPATH"] = "/more"
    assert "jax" in {d.name for d in world.look().distributions.need() or ()}
    assert found(world) == []


def test_the_environment_s_own_folder_in_pythonpath_is_no_shadow(world: World) -> None:
    assert world.environ is not None
    world.environ["PYTHONPATH"] = SITE
    assert found(world) == []


def test_a_pth_file_that_inserts_a_folder(world: World) -> None:
    world.file("/opt/lib/numpy/__init__.py", "")
    world.file(f"{SITE}/zz.pth", "import sys; sys.path.insert(0, '/opt/lib')\n")
    assert found(world) == [("numpy", "/opt/lib/numpy", f"{SITE}/zz.pth")]
    world.file(f"{SITE}/zz.pth", "/opt/lib\n")
    assert found(world) == []


@pytest.mark.parametrize(
    ("file", "text", "pth", "hides"),
    [
        ("/src/cuda/__init__.py", "", "/src\n", True),
        ("/src/cuda.py", "", "/src\n", True),
        (f"{SITE}/cuda.py", "", "", True),
        ("/src/cuda/__init__.py", "__path__ = extend_path(__path__, __name__)", "/src\n", False),
        ("/src/cuda/kernel.cu", "", "/src\n", False),
        ("/src/cuda/pathfinder/__init__.py", "", "/src\n", False),
        ("/src/nvidia/__init__.py", "", "/src\n", False),
    ],
)
def test_a_package_hides_the_parts_of_a_shared_name(world: World, file: str, text: str, pth: str, hides: bool) -> None:
    world.install("cuda-pathfinder", "1.3.3", {"cuda/pathfinder/__init__.py": "", "cuda/pathfinder/_find.py": ""})
    world.install("nvidia-cublas-cu12", "12.6.4.1", {"nvidia/cublas/__init__.py": ""})
    world.install("cupy-cuda12x", "14.0.1", {"cupy/__init__.py": ""}, requires=["cuda-pathfinder>=1.3.3"])
    world.file(file, text)
    world.file(f"{SITE}/project.pth", pth)
    seen = [(one.parts, one.wanted_by) for one in world.look().shadows.need() or ()]
    assert seen == ([(("cuda.pathfinder",), "cupy-cuda12x 14.0.1")] if hides else [])


@pytest.mark.parametrize(("first", "hides"), [("a.pth", False), ("z.pth", True)])
def test_a_shared_name_that_is_imported_before_the_folder_comes_is_not_hidden(
    world: World, first: str, hides: bool
) -> None:
    world.install("cuda-pathfinder", "1.3.3", {"cuda/pathfinder/__init__.py": "", "cuda/pathfinder/_find.py": ""})
    world.install("cupy-cuda12x", "14.0.1", {"cupy/__init__.py": ""}, requires=["cuda-pathfinder>=1.3.3"])
    world.file("/src/cuda/__init__.py")
    world.file(f"{SITE}/project.pth", "/src\n")
    world.file(f"{SITE}/{first}", "import _redirects\n")
    world.file(f"{SITE}/_redirects.py", "import cuda\n")
    assert bool(world.look().shadows.need()) == hides


def test_what_the_stack_asks_for_is_looked_after_too(world: World) -> None:
    world.install("onnxruntime-gpu", "1.22.0", {"onnxruntime/__init__.py": ""}, requires=["flatbuffers"])
    for name in ("flatbuffers", "mine"):
        world.install(name, "1.0", {f"{name}/__init__.py": ""})
        world.file(f"/work/{name}.py", "")
    assert found(world, script="/work") == [("flatbuffers", "/work/flatbuffers.py", "the script's folder")]


def test_user_site_below_conda(world: World) -> None:
    world.environ = {"CONDA_PREFIX": "/opt/conda"}
    world.file("/opt/conda/conda-meta/python-3.12.3-hab00c5b_0_cpython.json", "{}")
    world.file("/opt/conda/bin/python", b"")
    for site, version in (
        ("/opt/conda/lib/python3.12/site-packages", "2.1.3"),
        ("~/.local/lib/python3.12/site-packages", "1.26.4"),
    ):
        world.install("numpy", version, {"numpy/__init__.py": ""}, site=site)
    assert found(world) == [("numpy", "~/.local/lib/python3.12/site-packages/numpy", "the user's site-packages")]


@pytest.mark.parametrize("how", ["activated", "first on PATH"])
def test_the_environment_of_gpuwhy_itself_is_not_the_target(world: World, how: str) -> None:
    world.venv("/tools/gpuwhy")
    world.install("gpuwhy", "0.1.0", site="/tools/gpuwhy/lib/python3.12/site-packages")
    first = {"VIRTUAL_ENV": "/tools/gpuwhy"} if how == "activated" else {}
    world.environ = {**first, "PATH": "/tools/gpuwhy/bin:/venv/bin"}
    assert (world.look().interpreter.need() or pytest.fail("none")).prefix == "/venv"


def test_an_environment_with_gpuwhy_and_a_framework_is_the_target(world: World) -> None:
    world.install("gpuwhy", "0.1.0")
    world.venv("/other")
    world.environ = {"VIRTUAL_ENV": "/venv", "PATH": "/other/bin"}
    assert (world.look().interpreter.need() or pytest.fail("none")).prefix == "/venv"


def test_gpuwhy_s_own_is_better_than_none(world: World) -> None:
    world.venv("/tools/gpuwhy")
    world.install("gpuwhy", "0.1.0", site="/tools/gpuwhy/lib/python3.12/site-packages")
    world.environ = {"VIRTUAL_ENV": "/tools/gpuwhy", "PATH": ""}
    assert (world.look().interpreter.need() or pytest.fail("none")).prefix == "/tools/gpuwhy"


def test_a_part_of_a_shared_name_that_the_stack_refuses(world: World) -> None:
    world.install("tensorflow", "2.15.1", {"tensorflow/__init__.py": ""}, requires=["protobuf>=3.20.3,<5"])
    files: dict[str, bytes | str] = {"google/protobuf/__init__.py": "", "google/protobuf/message.py": ""}
    world.install("protobuf", "4.25.3", files)
    world.install("protobuf", "3.19.6", files, site="/vendor")
    assert world.environ is not None
    world.environ["PYTHONPATH"] = "/vendor"
    (one,) = world.look().shadows.need() or ()
    assert (one.module, one.path, one.version, one.meant) == (
        "google.protobuf",
        "/vendor/google/protobuf",
        "3.19.6",
        "4.25.3",
    )
    assert one.wanted_by.startswith("tensorflow 2.15.1 asks for protobuf")
    world.file(f"{SITE}/google/__init__.py", "")  # a package wins over a folder that only shares its name
    assert not world.look().shadows.need()


@pytest.mark.parametrize(
    "file, tag, said",
    [
        ("jaxlib/xla.cpython-310-x86_64-linux-gnu.so", "py3-none-any", [("jaxlib", "3.10")]),
        ("jaxlib/xla.so", "cp310-cp310-manylinux2014_x86_64", [("jaxlib", "3.10")]),
        ("jaxlib/xla.so", "cp38-abi3-manylinux2014_x86_64", []),
        ("jaxlib/xla.cpython-312-x86_64-linux-gnu.so", "cp312-cp312-manylinux2014_x86_64", []),
        ("jaxlib/version.py", "py3-none-any", []),
    ],
)
def test_a_pth_file_that_brings_packages_of_another_python(
    world: World, file: str, tag: str, said: list[tuple[str, str]]
) -> None:
    folder = world.install("jaxlib", "0.4.38", {"jaxlib/__init__.py": "", file: ""}, site="/old")
    world.file(f"{folder}/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
    world.install("torch", "2.5.0", {"torch/_C.cpython-310-x86_64-linux-gnu.so": ""}, site="/old")  # the venv has it
    world.file(f"{SITE}/shared.pth", "/old\n")
    seen = world.look().shadows.need() or ()
    assert [(one.module, one.other_python) for one in seen] == said
    assert all((one.via, one.version, one.instead) == (f"{SITE}/shared.pth", "0.4.38", "") for one in seen)


TAGGED = "cpython-310-x86_64-linux-gnu.so"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            {"foo.cpython-310-x86_64-linux-gnu.so": "", "run.py": "import torch\nimport foo\n"},
            ["foo", "/work/run.py"],
        ),
        ({"pkg/__init__.py": "from . import _ext", f"pkg/_ext.{TAGGED}": ""}, ["pkg._ext", "/work/pkg/__init__.py"]),
        (
            {"pkg/__init__.py": "", f"pkg/_ext.{TAGGED}": "", "a.py": "from pkg._ext import x"},
            ["pkg._ext", "/work/a.py"],
        ),
        ({f"foo.{TAGGED}": "", "foo.pyx": ""}, ["foo", ""]),
        ({"foo.cpython-312-darwin.so": "", "run.py": "import foo"}, ["foo", "/work/run.py"]),
        ({f"foo.{TAGGED}": "", "foo.py": "", "main.py": "import foo"}, []),
        ({f"foo.{TAGGED}": "", "foo.abi3.so": "", "main.py": "import foo"}, []),
        ({f"foo.{TAGGED}": "", "foo.cpython-312-x86_64-linux-gnu.so": "", "main.py": "import foo"}, []),
        ({f"foo.{TAGGED}": "", "foo/__init__.py": "", "main.py": "import foo"}, []),
        ({f"foo.{TAGGED}": "", "main.py": "try:\n    import foo\nexcept ImportError:\n    foo = None\n"}, []),
        ({f"foo.{TAGGED}": "", "main.py": "import foolish, food\n# import foo\n"}, []),
        ({"foo.cpython-312-x86_64-linux-gnu.so": "", "main.py": "import foo"}, []),
    ],
)
def test_a_compiled_module_of_the_program_s_own(world: World, files: dict[str, str], told: list[str]) -> None:
    """Built in place for another Python: told where the program's own code imports it, and nothing else serves."""
    for name, text in files.items():
        world.file(f"/work/{name}", text)
    seen = world.look(script="/work").shadows.need() or ()
    assert [word for one in seen for word in (one.module, one.wanted_by)] == told
    assert all(one.other_python == ("macOS" if "darwin" in one.path else "3.10") for one in seen)
