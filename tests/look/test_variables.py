"""Variables that steer the GPU stack: their problems, faults and readers."""

from __future__ import annotations

import pytest

from gpuwhy.facts.fact import Known, Unknown
from gpuwhy.facts.variables import PathProblem, Variable
from tests.look.world import HOME, SITE, World, shared_object


def variable(world: World, name: str, value: str, **options: str) -> Variable:
    assert world.environ is not None
    world.environ[name] = value
    found = world.look(**options).variables.variables.need() or ()
    return next(one for one in found if one.name == name)


@pytest.fixture
def world(world: World) -> World:
    for path in ("bin/nvcc", "lib64/libcudart.so.12", "nvvm/libdevice/a.bc"):
        world.file(f"/usr/local/cuda-12.4/{path}", "x")
    world.file("/usr/local/cuda-11.8/lib64/libcudart.so.11.0", "x")
    for release, version in (("11.8", "11.8.0"), ("12.4", "12.4.1")):
        text = '{"cuda": {"name": "CUDA SDK", "version": "%s"}}' % version  # noqa: UP031
        world.file(f"/usr/local/cuda-{release}/version.json", text)
    return world


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        ("/usr/local/cuda-12.4/lib64", []),
        ("/usr/local/cuda-12.4/lib64:", [PathProblem.EMPTY_ENTRY]),
        ("/gone", [PathProblem.NOT_THERE]),
        ("~/lib", [PathProblem.NOT_EXPANDED]),
        ("$CUDA_HOME/lib64", [PathProblem.NOT_EXPANDED]),
        ("lib", [PathProblem.RELATIVE]),
        ("/usr/local/cuda-12.4/lib64,/x", [PathProblem.WRONG_SEPARATOR]),
        ("/usr/local/cuda-12.4", [PathProblem.TOP_FOLDER]),
        ("/usr/local/cuda-12.4/bin", [PathProblem.PROGRAMS]),
        ("/usr/local/cuda-12.4/bin/nvcc", [PathProblem.NO_FOLDER]),
        ("/usr/local/cuda-12.4/lib64:/usr/local/cuda-12.4/lib64", [PathProblem.REPEATED]),
        ("/usr/local/cuda-11.8/lib64:/usr/local/cuda-12.4/lib64", [PathProblem.OLDER_FIRST]),
        ("/usr/local/nvidia/lib64", []),
    ],
)
def test_library_path(world: World, value: str, kinds: list[PathProblem]) -> None:
    found = variable(world, "LD_LIBRARY_PATH", value)
    assert [one.kind for one in found.problems] == kinds


@pytest.mark.parametrize(
    ("value", "kinds", "meant"),
    [
        ("/usr/local/cuda-12.4", [], ""),
        ("", [PathProblem.EMPTY], ""),
        ("/usr/local/cuda-12.4/bin", [PathProblem.NO_COMPILER], "/usr/local/cuda-12.4"),
        ("/usr/local/cuda-11.8", [PathProblem.NO_COMPILER], ""),
        ("/a:/b", [PathProblem.SEVERAL], ""),
    ],
)
def test_a_toolkit_s_folder(world: World, value: str, kinds: list[PathProblem], meant: str) -> None:
    found = variable(world, "CUDA_HOME", value)
    assert [one.kind for one in found.problems] == kinds
    assert [one.meant for one in found.problems if one.meant] == ([meant] if meant else [])


def test_of_path_the_cuda_entries_alone(world: World) -> None:
    assert world.environ is not None
    world.environ["PATH"] = f"{HOME}/private:/usr/local/cuda-12.4/lib64:/usr/bin"
    one = variable(world, "CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    found = world.look().variables.variables.need() or ()
    assert one.reader
    path = next(other for other in found if other.name == "PATH")
    assert path.value == "/usr/local/cuda-12.4/lib64"
    assert [problem.kind for problem in path.problems] == [PathProblem.LIBRARIES]


def test_a_value_that_its_reader_refuses(world: World) -> None:
    world.install("torch", "2.6.0", {"torch/version.py": "cuda = None"})
    one = variable(world, "PYTORCH_CUDA_ALLOC_CONF", "max_splits_mb:64")
    assert [fault.kind for fault in one.faults] == ["rejected"]
    logs = '    register_log("dynamo", x)\n"inductor"\n'
    world.file(f"{SITE}/torch/_logging/_registrations.py", logs)
    one = variable(world, "TORCH_LOGS", "+dynano")
    assert [(f.kind, f.instead) for f in one.faults] == [("rejected", "+dynamo")]
    assert variable(world, "TORCH_LOGS", "+dynamo,help").faults == ()


def test_keras_backends(world: World) -> None:
    backends = {
        f"keras/src/backend/{name}/__init__.py": "x" for name in ("tensorflow", "jax", "torch")
    }
    world.install("keras", "3.6.0", {"keras/__init__.py": "x", **backends})
    world.install("torch", "2.6.0", {"torch/version.py": "cuda = None"})
    (fault,) = variable(world, "KERAS_BACKEND", "jax").faults
    assert (fault.kind, fault.instead, fault.needed) == ("rejected", "torch", True)
    (fault,) = variable(world, "KERAS_BACKEND", "theano").faults
    assert fault.allowed == ("jax", "tensorflow", "torch")
    assert variable(world, "KERAS_BACKEND", "torch").faults == ()
    assert world.environ is not None
    del world.environ["KERAS_BACKEND"]
    world.file(f"{HOME}/.keras/keras.json", '{"backend": "jax", "floatx": "float8"}')
    found = world.look().variables.variables.need() or ()
    assert {one.name for one in found if one.faults} == {"keras.json:backend", "keras.json:floatx"}


def test_files_that_variables_name(world: World) -> None:
    world.file("/lib/good.so", shared_object())
    one = variable(world, "LD_PRELOAD", "/lib/good.so /lib/gone.so plain.so")
    assert [fault.instead for fault in one.faults] == ["/lib/good.so:plain.so"]
    assert variable(world, "LD_PRELOAD", "/lib/good.so").faults == ()


def test_private_values_and_foreign_names(world: World) -> None:
    assert world.environ is not None
    world.environ |= {"TF_VAR_region": "x", "NCCL_SOCKET_IFNAME": "eth0", "MY_TOKEN": "x"}
    found = {one.name: one.value for one in world.look().variables.variables.need() or ()}
    assert not {"TF_VAR_region", "MY_TOKEN"} & found.keys()


def test_where_no_shell_was_seen(world: World) -> None:
    world.environ = None
    facts = world.look(python="/venv").variables
    assert isinstance(facts.variables, Unknown)
    world.file("/etc/environment", 'CUDA_VISIBLE_DEVICES=""\nSECRET=x\n')
    facts = world.look(python="/venv").variables
    assert isinstance(facts.variables, Known)
    assert [one.name for one in facts.variables.value] == ["CUDA_VISIBLE_DEVICES"]
