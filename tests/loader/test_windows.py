"""The DLL search of Windows on trees; tests/windows/test_wine.py has the same laws judged by Wine."""

import msgspec
import pytest

from gpuwhy.loader import loads, windows_system
from gpuwhy.facts.loads import Found, Outcome, Rule
from gpuwhy.loader.outcome import other
from gpuwhy.loader.symbols import unmet_symbols
from gpuwhy.loader.windows import ALTERED, LISTED, LISTED_OWN, PLAIN, WindowsProcess, WindowsWorld, folders
from gpuwhy.loader.windows import look_at, search, split_path, tidy
from gpuwhy.facts.fact import NOT_OBSERVED, Unknown, known
from gpuwhy.facts.environment import Environment, Python, Site
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework, Frameworks, Opened
from gpuwhy.facts.loads import Loads
from gpuwhy.facts.system import System
from tests.formats.made_pe import ARM64, I386, pe
from tests.windows import trees

WINDOWS = Facts(system=System(os=known("windows", "call", "uname")))
APP, SITE = "C:/Python38", "C:/Python38/Lib/site-packages"
TF_NAMES = ("cudart64_101.dll", "cublas64_10.dll", "cufft64_10.dll", "curand64_10.dll", "cusolver64_10.dll")
TF_NAMES += ("cusparse64_10.dll", "cudnn64_7.dll")


def fact(value):
    return known(value, "file", "test")


@pytest.fixture
def disk(tmp_path):
    return trees.windows(tmp_path / "disk")


def world(disk, **more) -> WindowsWorld:
    return WindowsWorld(disk.machine(PATH="x"), "x86_64", APP, **more)


WINDOWS_FOLDERS = ["C:/Windows/System32", "C:/Windows/System", "C:/Windows"]


@pytest.mark.parametrize(
    "call, own, more, expected",
    [
        (PLAIN, "", {}, [APP, *WINDOWS_FOLDERS, "C:/cwd", "C:/one"]),
        (PLAIN, "", {"packaged": True}, [APP, "C:/Windows/System32"]),
        (ALTERED, "C:/lib", {}, ["C:/lib", *WINDOWS_FOLDERS, "C:/cwd", "C:/one"]),
        (ALTERED, "", {}, [APP, *WINDOWS_FOLDERS, "C:/cwd", "C:/one"]),
        (LISTED, "C:/lib", {}, [APP, "C:/added", "C:/Windows/System32"]),
        (LISTED_OWN, "C:/lib", {}, ["C:/lib", APP, "C:/added", "C:/Windows/System32"]),
    ],
)
def test_the_folders_of_a_call(call, own, more, expected):
    added = (("C:/added", other("added")),)
    one = WindowsWorld(None, "x86_64", APP, ("C:/one",), folder="C:/cwd", added=added, **more)
    assert [folder for folder, _ in folders(one, call, own)] == expected


def test_path_is_split_as_windows_does():
    text = 'C:\\A\\;;c:\\a;%CUDA_PATH%\\bin;"C:\\q"; D:\\b\\..\\c '
    assert split_path(text) == ("C:/A",)
    assert tidy("C:\\") == "C:/"
    assert split_path("C:\\A; C:\\b;C:\\c ;sub\\d;.;\\\\server\\s\\x;D:\\b\\..\\c") == ("C:/A", "//server/s/x", "D:/c")


@pytest.mark.parametrize(
    "data, outcome",
    [
        (pe(), "found"),
        (pe(machine=I386), "skipped: it is for i386, 32 bit"),
        (pe(machine=ARM64), "stops the search: it is for aarch64, 64 bit (error 193)"),
        (b"text", "stops the search: not PE at offset 0 (error 193)"),
        (b"", "stops the search: empty file at offset 0 (error 193)"),
        (pe(sections={".big": bytes(4096)})[:-512], "stops the search: needs 5632 bytes, has 5120 (error 193)"),
    ],
)
def test_what_becomes_of_a_file(disk, data, outcome):
    disk.put("C:/one/cudart64_101.dll", data)
    assert str(look_at(world(disk), "C:/one/cudart64_101.dll")) == outcome


def test_a_32_bit_copy_does_not_hide_the_next_one(disk):
    disk.put("C:/one/cudart64_101.dll", pe(machine=I386))
    disk.put("C:/two/CUDART64_101.dll", pe())
    found = search(world(disk), "cudart64_101.dll", (("C:/one", Found(Rule.PATH)), ("C:/two", Found(Rule.PATH))))
    assert found.path.need() == "C:/two/CUDART64_101.dll", "the spelling on disk"
    assert [one.met.outcome for one in found.tried] == [Outcome.SKIPPED, Outcome.FOUND]


def test_what_a_library_needs_is_searched_as_the_library_was(disk):
    disk.put("C:/lib/torch_cuda.dll", pe({"cudnn64_9.dll": ["x"], "api-ms-win-crt-heap-l1-1-0.dll": ["malloc"]}))
    disk.put("C:/one/cudnn64_9.dll", pe({"zlibwapi.dll": ["y"]}))
    disk.put("C:/one/zlibwapi.dll", pe())
    process = WindowsProcess(world(disk, path=("C:/one",)))
    assert process.load("C:/lib/torch_cuda.dll", LISTED_OWN) is None
    assert [one.name for one in process.missing] == ["cudnn64_9.dll"]
    assert process.get("torch_cuda.dll") is None, "a failed load leaves nothing"
    assert process.load("C:/lib/torch_cuda.dll", ALTERED) is not None
    assert process.get("ZLIBWAPI.dll") is not None


def test_a_loaded_name_wins_over_every_folder(disk):
    disk.put(f"{APP}/cudart64_12.dll", pe())
    disk.put("C:/one/cudart64_12.dll", pe())
    process = WindowsProcess(world(disk))
    process.load("C:/one/cudart64_12.dll")
    assert process.load("CUDART64_12.dll").path == "C:/one/cudart64_12.dll"


# ---------------------------------------------------------------- frameworks


def framework(name: str, path: str, names: tuple[str, ...], by: str, cuda: str = "10.1") -> Framework:
    opens = tuple(Opened(one, by, False) for one in names)
    unseen = [NOT_OBSERVED] * 3
    return Framework(name, name, name, "1", path, fact(True), fact(cuda), *unseen, fact(opens))


def facts_of(one: Framework, python: str = "3.8.10", program: str = f"{APP}/python.exe") -> Facts:
    python_ = Python(program, python, program.rpartition("/")[0], "system", "--python", "x86_64")
    return Facts(
        system=System(os=fact("windows")),
        environment=Environment(python=fact(python_), sites=fact((Site(SITE, "own"),))),
        frameworks=Frameworks(installed=fact((one,))),
    )


def resolved(host, facts: Facts) -> Facts:
    trees_ = loads.trees(host, facts)
    facts = msgspec.structs.replace(facts, loads=Loads(trees=trees_))
    return msgspec.structs.replace(facts, loads=Loads(trees=trees_, needs=loads.needs(host, facts)))


@pytest.fixture
def tensorflow(disk):
    """TensorFlow 2.3.4 with all that it opens in the toolkit's folder."""
    trees.python(disk)
    trees.tensorflow(disk, SITE)
    folder = trees.toolkit(disk, "10.1", trees.CUDA_10_1)
    disk.put("C:/cudnn/bin/cudnn64_7.dll", trees.cudnn7())
    return disk, folder


def tf_facts(python: str = "3.8.10") -> Facts:
    package = f"{SITE}/tensorflow"
    by = f"{package}/python/_pywrap_tensorflow_internal.pyd"
    return facts_of(framework("tensorflow", package, TF_NAMES, by), python)


def test_without_the_environment_nothing_is_called_missing(tensorflow):
    disk, _ = tensorflow
    facts = resolved(disk.machine(), tf_facts())
    assert all(isinstance(one.path, Unknown) for one in facts.loads.needs.need() or ())
    (tree,) = facts.loads.trees.need() or ()
    assert tree.missing == ()
    disk.at(f"{trees.SYSTEM}/msvcp140_1.dll").unlink()
    (tree,) = resolved(disk.machine(), tf_facts()).loads.trees.need() or ()
    assert [one.name for one in tree.missing] == ["msvcp140_1.dll"], "ctypes of Python 3.8 does not depend on PATH"


def test_a_virtual_environment_runs_the_program_of_its_base_and_the_stores_python_does_not_search_path(disk):
    disk.put("C:/env/pyvenv.cfg", f"home = {APP}\r\nversion = 3.8.10\r\n".replace("/", "\\"))
    disk.put("C:/env/Scripts/python.exe", pe(dll=False))
    store = "C:/Program Files/WindowsApps/PythonSoftwareFoundation.Python.3.8_3.8.2800.0_x64__qbz5n2kfra8p0"
    of_env, of_store = (
        windows_system.world_of(disk.machine(PATH="x"), facts_of(framework("x", "C:/x", (), ""), program=one)).need()
        for one in ("C:/env/Scripts/python.exe", f"{store}/python3.8.exe")
    )
    assert (of_env.application, of_env.packaged, of_store.packaged) == (APP, False, True)


def torch_of(disk) -> str:
    """torch's real CPU libraries with made CUDA ones."""
    lib = f"{SITE}/torch/lib"
    for name in ("c10.dll", "torch_cpu.dll", "torch_python.dll", "torch_global_deps.dll"):
        disk.real(f"{lib}/{name}")
    for name in ("uv.dll", "libiomp5md.dll", "libiompstubs5md.dll", "asmjit.dll", "fbgemm.dll", "shm.dll"):
        disk.put(f"{lib}/{name}", pe())
    disk.put(f"{lib}/torch.dll", pe({"torch_cpu.dll": ["x"], "torch_cuda.dll": ["y"]}))
    disk.put(f"{lib}/c10_cuda.dll", pe({"c10.dll": ["x"], "cudart64_12.dll": ["y"]}))
    disk.put(f"{lib}/torch_cuda.dll", pe({"c10_cuda.dll": ["x"], "cudnn64_9.dll": ["y"], "cublas64_12.dll": ["z"]}))
    disk.real(f"{SITE}/torch/_C.cp312-win_amd64.pyd")
    disk.put(f"{APP}/python312.dll", pe())
    return lib


def torch_facts() -> Facts:
    names = ("cudart64_12.dll", "cublas64_12.dll", "cudnn64_9.dll")
    return facts_of(framework("torch", f"{SITE}/torch", names, f"{SITE}/torch/lib/torch_cuda.dll", "12.4"), "3.12.1")


def test_torch_without_its_cudnn_asks_again_through_path(disk):
    trees.python(disk, "3.12.1", APP)
    lib = torch_of(disk)
    disk.real(f"{lib}/cudart64_12.dll")
    disk.put(f"{lib}/cublas64_12.dll", trees.made())
    disk.real("C:/cudnn/cudnn64_9.dll")
    seen = resolved(disk.machine(PATH="C:\\cudnn"), torch_facts())
    lost = resolved(disk.machine(PATH="C:\\elsewhere"), torch_facts())
    found = next(one for one in seen.loads.needs.need() or () if one.name == "cudnn64_9.dll")
    assert (found.path.need(), str(found.found)) == ("C:/cudnn/cudnn64_9.dll", "PATH")
    others = {one.name: one.path.need() for one in seen.loads.needs.need() or () if one is not found}
    assert others == {name: f"{lib}/{name}" for name in ("cudart64_12.dll", "cublas64_12.dll")}
    (tree,) = lost.loads.trees.need() or ()
    missing = next(one for one in tree.missing if one.name == "cudnn64_9.dll")
    assert missing.needed_by == f"{lib}/torch_cuda.dll"
    assert f"{lib} (PATH)" in missing.searched, "torch put its folder there"
    (tree,) = seen.loads.trees.need() or ()
    paths = [one.path for one in tree.libraries]
    assert len(paths) == len(set(paths)), "what failed at first is shown once"


def test_the_provider_of_onnxruntime_searches_path(disk):
    trees.python(disk, "3.11.9", APP)
    capi = f"{SITE}/onnxruntime/capi"
    for name in ("pybind11_state.pyd", "providers_shared.dll", "providers_cuda.dll"):
        disk.real(f"{capi}/onnxruntime_{name}")
    disk.put(f"{SITE}/onnxruntime/capi/_pybind_state.py", "from . import _ld_preload\n")
    host = disk.machine(PATH="C:\\cuda")
    provider = host.pe(f"{capi}/onnxruntime_providers_cuda.dll").need()
    wanted = tuple(name for name in provider.imports if name.startswith(("cu", "nv")))
    assert "cudnn64_9.dll" in wanted
    for name in wanted:
        disk.put(f"C:/cuda/{name}", pe())
    one = framework("onnxruntime", f"{SITE}/onnxruntime", wanted, f"{capi}/onnxruntime_providers_cuda.dll", "12.4")
    facts = resolved(disk.machine(PATH="C:\\cuda"), facts_of(one, "3.11.9"))
    assert {str(need.found) for need in facts.loads.needs.need() or ()} == {"PATH"}


def test_symbols_that_the_loaded_copy_lacks(disk):
    disk.put("C:/lib/cufft64_11.dll", pe({"cudart64_12.dll": ["cudaMalloc", "cudaNew"]}))
    disk.put("C:/lib/cudart64_12.dll", pe(exports={"cudaMalloc": b"\xc3"}))
    process = WindowsProcess(world(disk))
    assert process.load("C:/lib/cufft64_11.dll", LISTED_OWN)
    (unmet,) = unmet_symbols(process, windows_system)
    assert (unmet.symbols, unmet.provider) == (("cudaNew",), "C:/lib/cudart64_12.dll")


@pytest.mark.parametrize(
    "version, driver", [((31, 0, 15, 3742), "537.42"), ((26, 21, 14, 3160), "431.60"), ((27, 21, 14, 5671), "456.71")]
)
def test_the_driver_by_its_file_version(disk, tmp_path, version, driver):
    disk.put(f"{trees.SYSTEM}/nvcuda.dll", pe(version=version))
    (found,) = loads.driver_library("LIBCUDA", disk.machine(PATH="x"), WINDOWS).need() or ()
    assert (found.version.need(), str(found.found), found.kind) == (driver, "System32", "driver")
    without = trees.windows(tmp_path / "without", driver="").machine(PATH="x")
    assert loads.driver_library("LIBCUDA", without, WINDOWS).need() == ()


def test_no_program_is_handed_more_than_the_longest_path():
    pad = ";".join(f"C:/{'x' * 250}{n}" for n in range(150))
    assert "C:/last" not in split_path(f"{pad};C:/last")
    assert "C:/last" in split_path(f"C:/last;{pad}")
