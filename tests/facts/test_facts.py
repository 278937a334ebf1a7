"""The nouns of what is observed: their JSON form, a package's files, no truth value."""

import dataclasses
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuwhy.facts import environment, imports, installs, libraries, loads
from gpuwhy.facts.environment import Environment, FileRow, Files, Package, Python
from gpuwhy.facts.fact import NOT_OBSERVED, Absent, Source, Undetermined, Unknown, known
from gpuwhy.facts.facts import Facts, dump, load
from gpuwhy.facts.fact import Owner
from gpuwhy.facts.variables import Variable, Variables

SUBJECTS = (
    *("system", "driver", "devices", "variables", "environment", "frameworks", "installs"),
    *("libraries", "loads", "imports", "probe", "run"),
)

RECORD = """torch/__init__.py,sha256=aa,12
torch/lib/libtorch.so.2,sha256=bb,99
"torch/a,b.py",sha256=cc,3
torch/x.pyc,,
no line
../../../bin/torchrun,sha256=dd,1
torch/huge.py,sha256=ee,99999999999999999999
"""


def package(name="torch", version="2.1", **more):
    location = f"/env/lib/python3.12/site-packages/{name}-{version}.dist-info"
    return Package(name, version, location, location.rpartition("/")[0], **more)


def a_python(prefix="/env"):
    return Python(f"{prefix}/bin/python", "3.12", prefix, "venv", "VIRTUAL_ENV", "x86_64")


def test_the_json_form_is_subjects_of_fields_of_facts():
    made = json.loads(json.dumps(dump(Facts())))
    assert tuple(made) == SUBJECTS
    for fields in made.values():
        assert fields
        assert all(fact == {"state": "unknown", "reason": "not observed"} for fact in fields.values())


def test_what_is_dumped_is_read_back():
    damage = installs.Damage(
        "/x/libcudnn.so.9",
        installs.DamageKind.TRUNCATED,
        installs.Part.LIBRARY,
        Owner("nvidia-cudnn-cu12", "9.1", "pip"),
        size=5,
        recorded_size=9,
    )
    tried = imports.Tried("import", "torch", "torch", imports.Ended.RAISED, error="ImportError")
    library = loads.DriverLibrary(
        "libcuda.so.1",
        "/usr/lib/libcuda.so.1",
        "/usr/lib/libcuda.so.580",
        loads.Found(loads.Rule.CACHE),
        "driver",
        Unknown("no version", kind="denied"),
        known(libraries.Flaw.NONE, "file", "/usr/lib/libcuda.so.580"),
    )
    facts = Facts(
        installs=installs.Installs(damage=known((damage,), "package", "RECORD")),
        imports=imports.Imports(tried=known((tried,), "call", "python")),
        loads=loads.Loads(libcuda=known((library,), "call", "ld.so")),
        variables=Variables(variables=Absent(Source("env", "environment"))),
    )
    assert load(json.loads(json.dumps(dump(facts)))) == facts


def test_of_a_record_only_the_number_of_files_is_dumped():
    facts = Facts(
        environment=Environment(packages=known((package(files=Files(RECORD, "all")),), "folder", "/"))
    )
    shown = dump(facts)["environment"]["packages"]["value"][0]["files"]
    assert shown == {"known": "all", "files": 7}


def test_unknown_fields_are_refused():
    with pytest.raises(msgspec.ValidationError):
        load({"system": {"surprise": 1}})


def test_a_fact_has_no_truth_value_and_unknown_raises():
    with pytest.raises(TypeError):
        bool(NOT_OBSERVED)
    with pytest.raises(Undetermined):
        Facts().system.os.need()


def test_the_lines_of_a_record():
    files = Files(RECORD, "all")
    assert FileRow("torch/a,b.py", "cc", 3) in files.rows
    assert FileRow("torch/x.pyc", "", -1) in files.rows
    assert files.find("torch/huge.py").size == -1
    assert files.find("torch/none.py") is None
    assert [row.path for row in files.ending(".so")] == ["torch/lib/libtorch.so.2"]
    assert len(files.rows) == 6


@given(st.text(alphabet='a/.,"so\n0123=shp256\r', max_size=200))
def test_searching_and_splitting_a_record_find_the_same(text):
    files = Files(text, "all")
    assert [row for row in files.rows if ".so" in row.path] == list(files.ending(".so"))
    for row in files.rows:
        if '"' not in text:
            found = files.find(row.path)
            assert found is not None
            assert found.path == row.path


def test_the_first_package_of_a_name_is_the_one_that_is_imported():
    first, behind = package("numpy", "2.0"), package("numpy", "1.26")
    second = package("numpy", "1.20", second=True)
    packages = known((second, first, behind), "folder", "/env")
    assert Environment(packages=packages).by_name["numpy"] is first
    assert Environment(packages=NOT_OBSERVED).by_name == {}


def test_releases_are_those_of_the_environment_itself():
    borrowed = Package("six", "1.0", "/usr/lib/six-1.0.dist-info", "/usr/lib")
    found = Environment(
        python=known(a_python(), "file", "/env/pyvenv.cfg"),
        packages=known((package(), borrowed), "folder", "/env"),
    )
    assert found.releases == {"torch": "2.1"}


def test_a_variable_is_known_absent_or_not_seen():
    seen = Variables(variables=known((Variable("CUDA_HOME", "/usr/local/cuda"),), "env", "x"))
    assert seen.value("CUDA_HOME") == known("/usr/local/cuda", "env", "CUDA_HOME")
    assert isinstance(seen.value("XLA_FLAGS"), Absent)
    assert isinstance(Variables().value("XLA_FLAGS"), Unknown)


@pytest.mark.parametrize("module", [environment, imports, installs, libraries, loads])
def test_records_are_frozen(module):
    kinds = [
        one for one in vars(module).values() if isinstance(one, type) and issubclass(one, msgspec.Struct)
    ]
    assert kinds
    assert all(kind.__struct_config__.frozen for kind in kinds)
    assert not any(dataclasses.is_dataclass(kind) for kind in kinds)
