from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gpuwhy.host.live import STEERING, LiveHost
from gpuwhy.host.recorded import RecordedHost
from gpuwhy.host.recording import SCHEMA, RecordingFile
from gpuwhy.knowledge.variables import ROWS, variable_row
from gpuwhy.model.fact import NOT_OBSERVED, Known, Unknown
from gpuwhy.model.facts import Facts, Variable
from gpuwhy.observe.environment import CHECKS, SEEN_HERE, variables
from gpuwhy.observe.scene import Options, Scene
from tests.observe.envs import Machine
from tests.observe.envs import World as EnvWorld
from tests.observe.worlds import SITE, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    for release in ("11.2", "12.4"):
        world.file(f"/usr/local/cuda-{release}/version.json", f'{{"cuda": {{"version": "{release}.1"}}}}')
        world.file(f"/usr/local/cuda-{release}/bin/nvcc", "", 0o755)
        world.folder(f"/usr/local/cuda-{release}/lib64/stubs")
        world.folder(f"/usr/local/cuda-{release}/compat")
        world.folder(f"/usr/local/cuda-{release}/nvvm/libdevice")
    world.link("/usr/local/cuda", "cuda-12.4")
    return world


def see(world: World, **environ: str) -> dict[str, Variable]:
    found = variables(world.scene(**environ))
    assert isinstance(found, Known)
    return {variable.name: variable for variable in found.value}


def problems(world: World, name: str, value: str, **others: str) -> tuple[str, ...]:
    return see(world, **{name: value}, **others)[name].problems


@pytest.mark.parametrize(
    "value, said",
    [
        ("/usr/local/cuda/lib64", ()),
        ("/usr/local/cuda-12.4/lib64:/usr/local/cuda-11.2/lib64", ()),
        ("/usr/local/nvidia/lib:/usr/local/nvidia/lib64", ()),
        ("/nope", ("/nope does not exist",)),
        ("/usr/local/cuda/bin/nvcc", ("/usr/local/cuda/bin/nvcc is a file, not a folder",)),
        ("/usr/local/cuda/lib64:", ("an empty element makes the loader search the current folder",)),
        ("/usr/local/cuda/lib64:/usr/local/cuda/lib64/", ("/usr/local/cuda/lib64 is listed 2 times",)),
        ("\\~/lib", ("~/lib starts with a literal ~, which only a shell would replace by the home folder",)),
        ("$CUDA_HOME/lib64", ("$CUDA_HOME/lib64 contains $CUDA_HOME literally: no shell has replaced it",)),
        ("$ORIGIN/../lib", ()),
        ("lib", ("lib is relative: it means another folder wherever a program is started",)),
        ("/usr/local,/usr", ("/usr/local,/usr is read as one folder: a comma separates nothing",)),
        ("/usr/local/cuda/bin", ("/usr/local/cuda/bin holds programs, not libraries",)),
        ("/usr/local/cuda", ("/usr/local/cuda is a toolkit's top folder; its libraries are in /usr/local/cuda/lib64",)),
        (
            "/usr/local/cuda-11.2/lib64;/usr/local/cuda/lib64",
            ("CUDA 11.2 (/usr/local/cuda-11.2/lib64) is searched before CUDA 12.4 (/usr/local/cuda/lib64)",),
        ),
    ],
)
def test_library_path(world: World, value: str, said: tuple[str, ...]) -> None:
    assert problems(world, "LD_LIBRARY_PATH", value) == said


def test_stub_and_compat_folders(world: World) -> None:
    stubs, compat = "/usr/local/cuda/lib64/stubs", "/usr/local/cuda-12.4/compat"
    first, second = problems(world, "LD_LIBRARY_PATH", f"{stubs}:{compat}")
    assert first.startswith(f"{stubs} holds stubs")
    assert second.startswith(f"{compat} puts a forward-compatibility libcuda")


def test_a_folder_behind_a_dangling_link_names_the_link(world: World) -> None:
    world.link("/opt/cuda", "/opt/cuda-13.9")
    assert problems(world, "CUDA_HOME", "/opt/cuda") == ("/opt/cuda leads to /opt/cuda-13.9, which does not exist",)


def test_path_is_cut_down_to_what_matters(world: World) -> None:
    assert "PATH" not in see(world, PATH="/private/bin:/usr/bin")
    path = see(world, PATH="/private/bin:/usr/local/cuda-11.2/bin:/nope/cuda/bin:/usr/local/cuda-12.4/bin")["PATH"]
    assert path.value == "/usr/local/cuda-11.2/bin:/nope/cuda/bin:/usr/local/cuda-12.4/bin"
    assert path.problems == (
        "/nope/cuda/bin does not exist",
        "CUDA 11.2 (/usr/local/cuda-11.2/bin) is searched before CUDA 12.4 (/usr/local/cuda-12.4/bin)",
    )


def test_path_separators_and_library_folders(world: World) -> None:
    wrong = "/usr/local/cuda/bin;/usr/bin"
    assert problems(world, "PATH", wrong) == (f"{wrong} is read as one folder: a semicolon separates nothing in PATH",)
    (said,) = problems(world, "PATH", "/usr/local/cuda/lib64")
    assert "belongs in LD_LIBRARY_PATH" in said
    assert see(world, PATH="/private/bin:")["PATH"].value == ""


@pytest.mark.parametrize(
    "value, said",
    [
        ("/usr/local/cuda", ()),
        ("/usr/local/cuda/", ()),
        ("/nope", ("/nope does not exist",)),
        ("", ("it is set, but empty",)),
        ("/usr/local/cuda-12.4/bin", ("/usr/local/cuda-12.4/bin has no bin/nvcc; /usr/local/cuda-12.4 is meant",)),
        ("/usr/local/cuda:/opt", ("/usr/local/cuda:/opt names several folders; it takes one",)),
        (
            "/usr/local/cuda-11.2",
            ("it names CUDA 11.2, while nvcc on PATH (/usr/local/cuda/bin/nvcc) is CUDA 12.4",),
        ),
    ],
)
def test_cuda_home(world: World, value: str, said: tuple[str, ...]) -> None:
    assert problems(world, "CUDA_HOME", value, PATH="/usr/local/cuda/bin") == said


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("LD_PRELOAD", "/nope/a.so libgomp.so.1", "/nope/a.so does not exist"),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "True", "TensorFlow does not take 'True' (it takes true, false)"),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "true", ""),
        ("CUDA_MODULE_LOADING", "late", "the CUDA driver does not take 'late'"),
        ("CUDA_MODULE_LOADING", "LAZY", ""),
        ("XLA_FLAGS", "--a=b --xla_gpu_cuda_data_dir=/nope --c", "--xla_gpu_cuda_data_dir: /nope does not exist"),
        (
            "XLA_FLAGS",
            "--xla_gpu_cuda_data_dir=/usr/local",
            "--xla_gpu_cuda_data_dir: /usr/local has no nvvm/libdevice",
        ),
        ("XLA_FLAGS", "--xla_gpu_cuda_data_dir=/usr/local/cuda", ""),
        ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size:128", "PyTorch stops at 'max_split_size'"),
        (
            "PYTORCH_CUDA_ALLOC_CONF",
            "expandable_segments",
            "PyTorch stops at 'expandable_segments': options are written key:value",
        ),
        ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:64, roundup_power2_divisions:[256:1,512:2,>:4]", ""),
        ("CUDNN_PATH", "/nope", "/nope does not exist"),
        ("CUDA_CACHE_PATH", "/nope", ""),
        ("CUDA_VISIBLE_DEVICES", "7,8", ""),
        ("NCCL_DEBUG", "INFO", ""),
    ],
)
def test_values(world: World, name: str, value: str, said: str) -> None:
    world.framework("tensorflow", "2.18.0")
    world.framework("torch", "2.8.0")
    found = problems(world, name, value)
    assert len(found) == bool(said)
    assert not said or found[0].startswith(said)


def test_whom_a_variable_steers_depends_on_what_is_installed(world: World) -> None:
    environ = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_PATH": "/usr/local/cuda", "NCCL_DEBUG": "INFO"}
    world.framework("tensorflow")
    found = see(world, **environ)
    assert found["TF_CPP_MIN_LOG_LEVEL"].notes == ("3 hides the warnings that name missing libraries",)
    assert (found["CUDA_PATH"].steers, found["CUDA_PATH"].notes) == ("", ("TensorFlow on Linux does not read it",))
    assert found["NCCL_DEBUG"].steers == "NCCL"
    world.frameworks.clear()
    world.framework("torch")
    found = see(world, **environ)
    assert found["TF_CPP_MIN_LOG_LEVEL"].steers == ""
    assert "PyTorch extensions" in found["CUDA_PATH"].steers


def test_without_knowing_what_is_installed_the_readers_are_named(world: World) -> None:
    scene = world.scene(TF_CPP_MIN_LOG_LEVEL="1")
    scene.facts = msgspec.structs.replace(
        scene.facts, target=msgspec.structs.replace(scene.facts.target, frameworks=NOT_OBSERVED)
    )
    (variable,) = variables(scene).need() or ()
    assert (variable.steers, variable.notes) == ("TensorFlow, JAX", ())


def test_notes_only_while_they_are_true(world: World) -> None:
    assert see(world, CUDA_LAUNCH_BLOCKING="0")["CUDA_LAUNCH_BLOCKING"].notes == ()
    assert len(see(world, CUDA_LAUNCH_BLOCKING="1")["CUDA_LAUNCH_BLOCKING"].notes) == 1


def test_nothing_private_and_nothing_endless(world: World) -> None:
    found = see(world, TF_CONFIG='{"cluster": ["host:1"]}', TF_VAR_db="x", NCCL_DEBUG_FILE="y" * 9000)
    assert "TF_VAR_db" not in found
    assert found["TF_CONFIG"].value == "set"
    assert len(found["NCCL_DEBUG_FILE"].value) < 4200


def test_a_literal_tilde_of_the_real_machine_is_told_from_the_home_folder(tmp_path: Path) -> None:
    scene = Scene(LiveHost({"LD_LIBRARY_PATH": f"~/lib:{tmp_path}"}), Options())
    (variable,) = variables(scene).need() or ()
    assert [problem.partition(" starts")[0] for problem in variable.problems] == ["~/lib"]


def test_an_environment_that_was_not_seen_is_unknown() -> None:
    assert isinstance(variables(Scene(RecordedHost(RecordingFile(SCHEMA, "0", {}, {})), Options())), Unknown)


def test_rows_are_unique_reachable_and_may_be_read() -> None:
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names))
    assert all(variable_row(row.name.replace("*", "X")) == row for row in ROWS)
    assert all(STEERING.match(row.name.replace("*", "X")) for row in ROWS)
    assert all(STEERING.match(name) for name in SEEN_HERE)
    assert all(variable_row(name) is not None for name in CHECKS)
    assert all(row.source for row in ROWS)


@pytest.mark.parametrize(
    "file, line, environ, said",
    [
        ("sitecustomize.py", "os.environ.setdefault('JAX_PLATFORMS', 'cpu')", {}, "cpu"),
        ("sitecustomize.py", "os.environ.setdefault('JAX_PLATFORMS', 'cpu')", {"JAX_PLATFORMS": "cuda"}, ""),
        ("sitecustomize.py", 'os.environ["JAX_PLATFORMS"] = "cpu"  # CI', {"JAX_PLATFORMS": "cuda"}, "cpu"),
        ("ci.pth", 'import os; os.environ["JAX_PLATFORMS"] = "cpu"', {}, "cpu"),
        ("sitecustomize.py", '    os.environ["JAX_PLATFORMS"] = "cpu"', {}, ""),
        ("sitecustomize.py", '# os.environ["JAX_PLATFORMS"] = "cpu"', {}, ""),
        ("helper.py", 'os.environ["JAX_PLATFORMS"] = "cpu"', {}, ""),
    ],
)
def test_what_python_sets_when_it_starts(
    world: World, file: str, line: str, environ: dict[str, str], said: str
) -> None:
    world.framework("jax", "0.6.2")
    world.file(f"{SITE}/{file}", f"import os\n{line}\n")
    found = see(world, **environ).get("JAX_PLATFORMS")
    assert (found.value if found and found.set_in else "") == said
    assert found is None or found.set_in in ("", f"{SITE}/{file}")


def test_what_every_login_of_a_disk_sets_is_judged_where_nobody_can_be_asked(tmp_path: Path) -> None:
    there = EnvWorld(tmp_path)
    there.environ = None
    there.venv()
    there.file("/etc/environment", 'PATH="/usr/bin"\nJAX_PLATFORMS=cpu\nCUDA_VISIBLE_DEVICES="-1"\nTF_API_TOKEN=x\n')
    for name in ("jax", "jaxlib", "jax-cuda12-plugin"):
        there.install(name, "0.4.35", {f"{name.replace('-', '_')}/__init__.py": ""})
    scene = Scene(Machine(there.root, None, {}), Options())
    scene.facts = Facts(target=there.look())
    found = variables(scene)
    assert isinstance(found, Known)
    assert {(one.name, one.value, one.set_in) for one in found.value} == {
        ("JAX_PLATFORMS", "cpu", "/etc/environment"),
        ("CUDA_VISIBLE_DEVICES", "-1", "/etc/environment"),
    }
    there.file("/etc/environment", 'PATH="/usr/bin"\nCUDA_VISIBLE_DEVICES=0\n')
    assert isinstance(variables(scene), Unknown)
