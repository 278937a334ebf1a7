"""The native stages with Windows' names of the libraries."""

from gpuwhy.facts.fact import NOT_OBSERVED, Known, Source
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.libraries import Libraries, LibraryCopy
from gpuwhy.facts.loads import Found, LoadedLibrary, Loads, LoadTree, Rule
from gpuwhy.probe.stages import stack

HERE = Source("file", "x")
NAMES = {
    "cudart": "cudart64_101.dll",
    "cublas": "cublas64_10.dll",
    "cublasLt": "cublasLt64_10.dll",
    "cudnn": "cudnn64_7.dll",
    "nvrtc": "nvrtc64_101_0.dll",
}
PATHS = {family: f"C:/cuda/{name}" for family, name in NAMES.items()}


def test_a_frameworks_dlls_are_the_stack():
    unseen = ("", NOT_OBSERVED, NOT_OBSERVED)
    loaded = [LoadedLibrary(NAMES[one], path, Found(Rule.PATH), *unseen) for one, path in PATHS.items()]
    facts = Facts(loads=Loads(trees=Known((LoadTree("tensorflow", tuple(loaded), (), ()),), HERE)))
    chosen = stack(facts)
    assert chosen.libraries == PATHS
    assert list(chosen.preload) == [path for path in PATHS.values() if "cudnn" not in path]


def test_without_a_framework_what_lies_on_path_is_tested():
    values = dict.fromkeys(LibraryCopy.__struct_fields__, NOT_OBSERVED)
    values |= {"name": NAMES["cudart"], "path": PATHS["cudart"], "where": "PATH"}
    one = LibraryCopy(**values | {"version": Known("10.1.243", HERE)})
    facts = Facts(libraries=Libraries(copies=Known((one,), HERE)))
    assert stack(facts).libraries == {"cudart": PATHS["cudart"]}
