"""The causes that load trees open: what they say, what they offer, and where they keep still."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gpuwhy.model.cause import Case
from gpuwhy.model.fact import NOT_OBSERVED, known
from gpuwhy.model.facts import Damage, Environment, Facts, LoadedLibrary, Target, Variable
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.reason.judge import judge
from gpuwhy.rooms import CAUSES
from gpuwhy.rooms.other.not_gpu import a_damaged_module
from gpuwhy.rooms.shared.trees import let_win

from .facts import base, change, load

HERE = Path(__file__).parent
SITE = "~/venv/lib/python3.12/site-packages"


def verdict(cause_id: str, fixture: str, *changes: tuple[str, object]):
    """The one verdict of a fixture that is not ruled out, after further changes."""
    _, facts = load(HERE.joinpath(*cause_id.split("."), f"{fixture}.json"))
    plain = msgspec.json.decode(msgspec.json.encode(facts))
    for path, value in changes:
        change(plain, path, value)
    cause = next(c for c in CAUSES if c.id == cause_id)
    return next(v for v in judge((cause,), msgspec.convert(plain, type=Facts)) if v.state != "ruled_out")


def text(cause_id: str, fixture: str) -> str:
    return verdict(cause_id, fixture).findings[0].text


def commands(cause_id: str, fixture: str) -> list[str]:
    return [fix.command or fix.text for fix in verdict(cause_id, fixture).fixes]


def evidence(cause_id: str, fixture: str) -> str:
    return "\n".join(f"{e.text} ({e.source})" for f in verdict(cause_id, fixture).findings for e in f.evidence)


def test_the_wrong_cudnn_says_who_won_and_how():
    assert text("cudnn.version_mismatch", "shown") == (
        "PyTorch 2.11.0 was compiled with cuDNN 9.19.0 and needs 9.19 or a newer 9; 9.14.0 is loaded, found by "
        "LD_LIBRARY_PATH"
    )
    assert 'grep -vxF "/opt/cudnn-9.14/lib"' in commands("cudnn.version_mismatch", "shown")[0]
    assert "not taken: libcudnn_graph.so.9 9.19.0" in evidence("cudnn.version_mismatch", "shown")


def test_an_own_copy_that_was_skipped_is_named():
    assert "unreadable: permission denied" in evidence("cudnn.version_mismatch", "shown-4")


def test_an_old_tensorflow_gets_the_minor_version_it_was_compiled_with():
    assert "compiled with cuDNN 7.6.0 and needs 7.6 or a newer 7; 7.4.1" in text("cudnn.version_mismatch", "shown-2")
    assert "cuDNN 7.6 or a newer 7" in commands("cudnn.version_mismatch", "shown-2")[0]


def test_a_mixture_of_parts_stops_and_a_shell_apart_does_not():
    assert verdict("cudnn.mixed_libraries", "shown").findings[0].stops
    assert not verdict("cudnn.mixed_libraries", "shown-2").findings[0].stops
    assert "libcudnn 9.1.0, found by the RPATH of libtorch_cuda.so" in text("cudnn.mixed_libraries", "shown-2")
    assert "--force-reinstall" in commands("cudnn.mixed_libraries", "shown-3")[0]


def test_a_cudnn_of_another_cuda_is_replaced_not_fed():
    assert "libcublas.so.11 and 1 more, which belongs to CUDA 11" in text("cudnn.dependency_missing", "shown-2")
    assert commands("cudnn.dependency_missing", "shown-2")[-1].endswith('"nvidia-cudnn-cu12==8.*"')
    assert commands("cudnn.dependency_missing", "shown") == ["sudo apt install zlib1g"]


def test_who_asks_for_which_symbol_of_which_copy():
    said = text("cuda.mixed_libraries", "shown")
    assert "libcusparse.so.12 12.3.1.170 needs __nvJitLinkComplete_12_4 and 7 more" in said
    assert "import of PyTorch 2.5.1 fails" in said
    assert "/opt/cuda-12.1/lib" in commands("cuda.mixed_libraries", "shown")[0]


def test_another_generation_in_front_is_a_limitation():
    assert not verdict("cuda.mixed_libraries", "shown-2").findings[0].stops
    assert "12.5.10.65 of CUDA 12, found by preloading in torch/__init__.py" in text("cuda.mixed_libraries", "shown-2")


def older_cublas(version: str):
    """TensorFlow for CUDA 12.5 under an LD_LIBRARY_PATH that brings another cuBLAS 12."""
    place = ("loads.trees.0.libraries.8.version", {"known": version})
    cause = next(c for c in CAUSES if c.id == "cuda.mixed_libraries")
    _, facts = load(HERE / "cuda" / "mixed_libraries" / "ruled-out-2.json")
    plain = msgspec.json.decode(msgspec.json.encode(facts))
    change(plain, *place)
    change(plain, "libraries.copies.0.version", {"known": version})
    return [v.state for v in judge((cause,), msgspec.convert(plain, type=Facts))]


@pytest.mark.parametrize(
    "version, state", [("12.9.1.4", "ruled_out"), ("12.5.2.1", "ruled_out"), ("12.1.3.1", "possible")]
)
def test_an_older_copy_of_the_same_major_is_only_possible(version, state):
    assert older_cublas(version) == [state]


def test_the_only_copy_that_is_too_old():
    assert "libtorch_cuda.so needs ncclCommResume from libnccl.so.2" in text("cuda.version_mismatch", "shown-2")
    assert commands("cuda.version_mismatch", "shown-2") == ['~/venv/bin/python -m pip install "torch==2.15.0"']


def test_both_versions_and_what_their_names_date():
    assert text("cuda.version_mismatch", "shown") == (
        "TensorFlow 2.3.4 is built for CUDA 10.1 and opens libcudart.so.10.1 and 2 more; only libcudart.so.11.0, "
        "libcublas.so.11, libcusparse.so.11 is installed"
    )
    assert "libcudart.so.10.1 belongs to CUDA 10.1, libcudart.so.11.0 to CUDA 11" in evidence(
        "cuda.version_mismatch", "shown"
    )


def test_companions_are_pinned_and_what_no_row_knows_is_built_again():
    first, back = commands("framework.extension_abi", "shown")
    assert first == '~/venv/bin/python -m pip install "torch==2.5.1" "torchvision==0.20.1"'
    assert back == '~/venv/bin/python -m pip install "torch==2.2.0"'
    assert "flash-attn" in commands("framework.extension_abi", "shown-2")[0]


def test_an_older_cudnn_for_an_older_gpu():
    assert (
        "which has no code below sm_75; Tesla V100-SXM2-16GB is sm_70"
        in verdict("framework.gpu_unsupported", "shown-cudnn").findings[-1].text
    )
    assert commands("framework.gpu_unsupported", "shown-cudnn")[0].endswith('"nvidia-cudnn-cu12<9.11"')


def test_a_dependency_behind_a_found_library_counts():
    """libcusolver is found and needs libcusparse, which is nowhere."""
    missing = {
        "name": "libcusparse.so.12", "needed_by": f"{SITE}/nvidia/cu13/lib/libcusolver.so.12", "why": "not found",
        "searched": ["/lib (default folder)"],
    }  # fmt: skip
    plain = base("healthy")
    change(plain, "loads.trees.0.missing", [missing])
    cause = next(c for c in CAUSES if c.id == "cuda.missing_library")
    (found,) = judge((cause,), msgspec.convert(plain, type=Facts))
    assert found.state == "shown"
    assert "libcusparse.so.12; it is nowhere" in found.findings[0].text


def test_a_follower_finds_what_torch_has_opened():
    plain = base("healthy")
    torch = plain["target"]["frameworks"]["value"][0]
    change(plain, "target.frameworks", {"known": [torch, torch | {"name": "xformers", "title": "xFormers"}]})
    change(plain, "loads.needs", {"known": [
        {"framework": "xformers", "name": "libcudart.so.13", "optional": False, "needed_by": f"{SITE}/xformers/_C.so",
         "found": {"absent": "search"}, "found_via": "", "searched": [], "other_versions": [],
         "elsewhere": [f"{SITE}/nvidia/cu13/lib/libcudart.so.13"]}]})  # fmt: skip
    wrong = [v.cause.id for v in judge(CAUSES, msgspec.convert(plain, type=Facts)) if v.state in ("shown", "possible")]
    assert wrong == []


def test_a_module_of_a_package_that_is_not_whole_is_no_innocent():
    gone = Damage("/e/lib/python3.12/site-packages/torchvision/__init__.py", "torchvision 0.26.0", "missing", "", "")
    facts = Facts(target=Target(damage=known((gone,), "package", "RECORD")))
    for name, said in (("torchvision", "torchvision 0.26.0"), ("mine", "")):
        case = Case(facts, symptoms=(Symptom("python.module", 1, "", fields={"name": name}),))
        found = a_damaged_module(case)
        assert (found.text if found else "").count(said or "torchvision") == bool(said)


def test_a_library_that_ld_preload_puts_first_is_taken_out_of_it():
    def told(value: str) -> list[str]:
        seen = known((Variable("LD_PRELOAD", value, "the dynamic loader", ()),), "env", "test")
        case = Case(Facts(environment=Environment(seen)))
        winner = LoadedLibrary(
            "libnvJitLink.so.12", "/old/libnvJitLink.so.12", "LD_PRELOAD", "", NOT_OBSERVED, NOT_OBSERVED
        )
        return [fix.command for fix in let_win(case, winner, "/right")]

    assert told("/old/libnvJitLink.so.12") == ["unset LD_PRELOAD"]
    assert told("/lib/libjemalloc.so.2 /old/libnvJitLink.so.12")[0] == "export LD_PRELOAD=/lib/libjemalloc.so.2"
    assert told("/link/libnvJitLink.so.12") == ["unset LD_PRELOAD"]


def speaks_against(cause: str, *said: str, **fields: str) -> bool:
    _, facts = load(HERE.joinpath(*cause.split("."), "ruled-out.json"))
    symptoms = tuple(Symptom(one, 1, "", fields=fields) for one in said)
    verdicts = [v for v in judge(CAUSES, facts, Reading(symptoms=symptoms)) if v.cause.id == cause]
    return any(f.weight == "against" for v in verdicts for f in v.findings)


def test_what_frameworks_find_says_nothing_of_a_library_of_the_program():
    assert speaks_against("env.path", "loader.cannot_open", library="libcublas.so.12")
    assert not speaks_against("env.path", "loader.cannot_open", library="libfastops.so")


def test_a_traceback_through_a_file_of_that_name_is_not_overruled():
    assert speaks_against("env.shadowed")
    assert not speaks_against("env.shadowed", "shadow.frame", path="/v/cupy.py", name="cupy")


def test_a_late_library_of_cupy_in_a_folder_that_it_does_not_search():
    assert text("cuda.missing_library", "shown-6") == (
        "CuPy 13.3.0 opens libcufft.so.11 when first used, and does not look where it is installed"
    )
    path = f"{SITE}/nvidia/cufft/lib"
    assert commands("cuda.missing_library", "shown-6") == [
        f"export LD_LIBRARY_PATH={path}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
    ]
