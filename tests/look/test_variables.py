"""Variables that steer the GPU stack: their problems, faults and readers."""

import pytest

from gpuwhy.facts.fact import Known, Unknown
from gpuwhy.facts.variables import PathProblem, Variable
from tests.look.world import SITE, World


def variable(world: World, name: str, value: str, **options: str) -> Variable:
    assert world.environ is not None
    world.environ[name] = value
    found = world.look(**options).variables.variables.need() or ()
    return next(one for one in found if one.name == name)


@pytest.fixture
def world(world: World) -> World:
    for path in ("bin/nvcc", "lib64/libcudart.so.12"):
        world.file(f"/usr/local/cuda-12.4/{path}", "x")
    return world


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("LD_LIBRARY_PATH", "/usr/local/cuda-12.4/lib64:", None),
        ("LD_LIBRARY_PATH", "/gone", PathProblem.NOT_THERE),
        ("LD_LIBRARY_PATH", "~/lib", PathProblem.NOT_EXPANDED),
        ("LD_LIBRARY_PATH", "$CUDA_HOME/lib64", PathProblem.NOT_EXPANDED),
        ("LD_LIBRARY_PATH", "$ORIGIN/lib64", None),
        ("LD_LIBRARY_PATH", "lib", PathProblem.RELATIVE),
        ("LD_LIBRARY_PATH", "/usr/local/cuda-12.4/lib64,/x", PathProblem.WRONG_SEPARATOR),
        ("LD_LIBRARY_PATH", "/usr/local/cuda-12.4", PathProblem.TOP_FOLDER),
        ("LD_LIBRARY_PATH", "/usr/local/cuda-12.4/bin/nvcc", PathProblem.NO_FOLDER),
        ("LD_LIBRARY_PATH", "/usr/local/nvidia/lib64", None),
        ("CUDA_HOME", "/usr/local/cuda-12.4", None),
        ("CUDA_HOME", "", PathProblem.EMPTY),
        ("CUDA_HOME", "/usr/local/cuda-12.4/bin", PathProblem.NO_COMPILER),
        ("CUDA_HOME", "/a:/b", PathProblem.NOT_THERE),
    ],
)
def test_folders_that_a_variable_names(world: World, name: str, value: str, kind: PathProblem | None) -> None:
    found = variable(world, name, value)
    assert [one.kind for one in found.problems] == ([kind] if kind else [])


def test_a_value_that_its_reader_refuses(world: World) -> None:
    world.install("torch", "2.6.0", {"torch/version.py": "cuda = None"})
    one = variable(world, "PYTORCH_CUDA_ALLOC_CONF", "max_splits_mb:64")
    assert [fault.kind for fault in one.faults] == ["rejected"]
    logs = '    register_log("dynamo", x)\n"inductor"\n'
    world.file(f"{SITE}/torch/_logging/_registrations.py", logs)
    one = variable(world, "TORCH_LOGS", "+dynano")
    assert [fault.kind for fault in one.faults] == ["rejected"]
    assert variable(world, "TORCH_LOGS", "+dynamo,help").faults == ()


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
