"""Plans: what is chosen and why, what was passed over, what the smallest conflict is and what comes nearest."""

from __future__ import annotations

import msgspec
import pytest

from gpuwhy.model.plan import Conflict, Plan, Proposal
from gpuwhy.plan.answer import plan
from gpuwhy.plan.machine import BadMachineError, described
from gpuwhy.plan.resolve import meets
from gpuwhy.plan.ways import backend, requirements
from gpuwhy.plan.wishes import WishError, from_file, from_words


def made(*words: str, gpu: str = "", installed: dict[str, str] | None = None, least: bool = False, **given) -> Plan:
    machine = described(names=(gpu,) if gpu else (), **given)
    machine = msgspec.structs.replace(machine, installed=installed or {})
    return plan(from_words(words), machine, least)


def proposal(*words: str, **given) -> Proposal:
    found = made(*words, **given)
    assert found.proposal, found.conflict
    return found.proposal


def conflict(*words: str, **given) -> Conflict:
    found = made(*words, **given)
    assert found.conflict
    return found.conflict


def versions(found: Proposal) -> dict[str, str]:
    return {c.package: c.version for c in found.choices}


def test_the_newest_that_works_is_not_the_newest():
    found = proposal("tensorflow")
    assert versions(found) == {"tensorflow": "2.20.0"}
    assert {p.versions[0]: p.kind for p in found.passed} == {"2.22.0rc0": "preview", "2.21.0": "broken"}


def test_a_broken_release_that_is_pinned_is_cured():
    found = proposal("tensorflow==2.21.0")
    assert found.environment == (("LD_LIBRARY_PATH", "$VIRTUAL_ENV/lib/python3.12/site-packages/nvidia/cusolver/lib"),)
    assert any("LD_LIBRARY_PATH=" in way.text for way in found.ways if way.kind == "uv")


def test_the_driver_decides():
    assert versions(proposal("torch", driver="580"))["torch"] == "2.15.0"
    assert versions(proposal("torch", driver="535.54.03"))["torch"] == "2.10.0"
    assert versions(proposal("torch", driver="470", gpu="A100"))["torch"] == "2.0.1"


def test_libraries_must_have_code_for_the_gpu_too():
    """cuDNN 9.11 dropped Pascal; TensorFlow's range lets it in."""
    found = proposal("tensorflow", driver="550", gpu="GTX 1080")
    assert "nvidia-cudnn-cu12==9.10.2.21" in requirements(found)
    assert requirements(proposal("tensorflow", driver="550", gpu="RTX 3090")) == ["tensorflow[and-cuda]==2.20.0"]


def test_one_environment_has_one_cuda_major():
    found = proposal("tensorflow", "torch", driver="590", gpu="RTX 4090")
    assert versions(found) == {"tensorflow": "2.20.0", "torch": "2.10.0"}
    assert any(p.package == "torch" and p.kind == "set" and "same files" in p.why for p in found.passed)


def test_an_old_tensorflow_needs_a_system_cuda_and_caps():
    found = proposal("tensorflow", driver="470.82", gpu="GTX 1080", python="3.8", system="windows")
    assert requirements(found) == ["tensorflow==2.10.1", "numpy<2"]
    assert [(p.name, p.version) for p in found.system] == [("CUDA", "11.2"), ("cuDNN", "8.1.0")]
    windows = next(way for way in found.ways if way.kind == "windows")
    assert "cuda_11.2.2_461.33_win10.exe" in windows.text
    assert r"CUDA\v11.2\bin" in windows.text


def test_windows_torch_comes_from_its_own_index():
    found = proposal("torch", driver="551.61", gpu="RTX 3080", system="windows")
    assert backend(found) == "cu126"
    assert any("--torch-backend=cu126" in way.text for way in found.ways)


def test_least_change_keeps_what_is_installed():
    have = {"torch": "2.8.0"}
    assert versions(proposal("torch", "torchvision", driver="580", installed=have, least=True))["torch"] == "2.8.0"
    assert versions(proposal("torch", driver="470", installed=have, least=True))["torch"] != "2.8.0", "it does not work"


def test_the_smallest_conflict():
    found = conflict("tensorflow==1.15", "torch", driver="550", gpu="RTX 4090")
    assert found.text == (
        "tensorflow 1.15.5 carries GPU code for sm_35 … sm_70 and PTX for compute_70, and wants CUDA 10.0 and cuDNN "
        "7.6.0, whose libraries have no code for GeForce RTX 4090 (sm_89): no 1.x release runs there"
    )
    assert found.nearest
    assert versions(found.nearest)["tensorflow"] == "2.20.0"
    assert [text.split(":")[0] for text in found.migration] == [
        "TensorFlow 1.x → 2.x",
        "TensorFlow before 2.16 → 2.16 and newer",
    ]


def test_another_python_is_the_smaller_change():
    found = conflict("tensorflow==1.15", driver="470", gpu="GTX 1080", python="3.12")
    assert found.gives_up == "Python 3.7 instead of 3.12"
    assert found.nearest
    assert versions(found.nearest) == {"tensorflow-gpu": "1.15.5"}
    assert not found.migration


def test_what_is_kept_is_given_up_last():
    found = conflict("tensorflow==1.15", driver="470", gpu="GTX 1080", python="3.12", keep=("python",))
    assert "driver " in found.gives_up
    assert "Python" not in found.gives_up


def test_a_driver_that_does_not_drive_the_gpu():
    found = conflict("torch", driver="535", gpu="Tesla K80")
    assert found.text == "driver 535 does not drive Tesla K80 (sm_37): R470 is the last branch for Kepler"
    assert found.gives_up.startswith("driver 470")


def test_no_build_for_the_platform():
    assert conflict("jax", system="windows").gives_up == "WSL 2 instead of native Windows"
    assert conflict("tensorflow", machine="aarch64").nearest is None


@pytest.mark.parametrize("gpu, told", [("RTX 3090", True), ("RTX 2080", False)])
def test_tensorflow_1_on_a_newer_gpu_is_nvidias_own(gpu, told):
    found = made("tensorflow==1.15.*", gpu=gpu, driver="535")
    lines = found.conflict.lines if found.conflict else ()
    assert any("23.03-tf1-py3" in line.text for line in lines) is told


def test_a_pin_beside_it_counts():
    assert "needs numpy<2" in conflict("tensorflow==2.10.1", "numpy==2.1.0").text
    assert versions(proposal("tensorflow", "keras<3"))["tensorflow"] == "2.15.1"


@pytest.mark.parametrize(
    "mine, theirs, both",
    [
        ("==2.1.0", "<2", False),
        (">=1.20", "<2", True),
        ("<1.24", "<2", True),
        (">=3", ">=2.9,<2.10", False),
        ("", "<2", True),
    ],
)
def test_whether_two_specifiers_meet(mine, theirs, both):
    assert meets(mine, theirs) is both


@pytest.mark.parametrize(
    "words, said",
    [
        (["tensorflow==9.9"], "no release meets tensorflow==9.9.*; nearest is 2."),
        (["torch==2.5.2"], "no release meets torch==2.5.2; nearest are 2.5.1 and 2.6.0"),
        (["torch>=2.4,<2.0"], "no release meets torch<2.0,>=2.4$"),
        (["torch @ https://host/torch-2.5.1-py3-none-any.whl"], "torch comes from a URL"),
        (["numpy"], "no package that uses a GPU"),
    ],
)
def test_wishes_that_can_never_be_met(words, said):
    with pytest.raises(WishError, match=said.replace("*", r"\*")):
        plan(from_words(words), described())


def test_an_impossible_version_in_a_file_has_its_line():
    with pytest.raises(WishError, match=r"^r\.txt:3: no release meets torch==99"):
        plan(from_file("r.txt", lambda _: "numpy\n\ntorch==99\n"), described())


def test_markers_follow_the_python_that_is_chosen():
    wishes = from_words(["tensorflow==1.15", "dataclasses; python_version<'3.7'", "pandas; python_version>='3.7'"])
    found = plan(wishes, described(driver="470", names=("GTX 1080",))).proposal
    assert found
    assert found.python == "3.7"
    assert [w.name for w in found.others] == ["pandas"]


def test_a_package_without_a_wheel_is_built_last():
    found = proposal("torch", "flash-attn", gpu="RTX 4090")
    uv = next(way.text for way in found.ways if way.kind == "uv").splitlines()
    assert uv[-1].startswith("uv pip install --no-build-isolation flash-attn==")
    assert any(p.name == "nvcc" for p in found.system)
    assert "compute capability 8.0" in conflict("torch", "flash-attn", gpu="GTX 1080").text


def test_every_way_is_pinned_and_well_formed():
    found = proposal("tensorflow", "pandas>=2", driver="550", gpu="RTX 3090")
    ways = {way.kind: way for way in found.ways}
    assert set(ways) == {"uv", "pip", "requirements", "constraints", "pyproject", "conda", "docker"}
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads(ways["pyproject"].text)["project"]
    assert project["dependencies"] == ["tensorflow[and-cuda]==2.20.0", "pandas>=2"]
    assert project["requires-python"] == "==3.12.*"
    assert ways["requirements"].text.splitlines()[1:] == project["dependencies"]
    assert "nvidia-cudnn-cu12==" in ways["constraints"].text
    assert ways["docker"].text.startswith("FROM python:3.12-slim\n")
    assert "python=3.12" in ways["conda"].text


def test_a_system_cuda_has_apt_lines_and_an_image():
    ways = {way.kind: way for way in proposal("tensorflow==2.10", driver="470", gpu="GTX 1080").ways}
    assert "cuda-libraries-11-2 libcudnn8=8.1.0.77-1+cuda11.2" in ways["apt"].text
    assert ways["docker"].text.startswith("FROM tensorflow/tensorflow:2.10.1-gpu\n")
    assert "  - cudatoolkit=11.2\n" in ways["conda"].text


@pytest.mark.parametrize(
    "glibc, torch, jax", [("2.17", "2.6.0", "0.5.3"), ("2.28", "2.15.0", "0.12.0.1"), ("", "2.15.0", "0.12.0.1")]
)
def test_an_old_glibc_gets_wheels_that_it_takes(glibc, torch, jax):
    assert versions(proposal("torch", driver="580", glibc=glibc))["torch"] == torch
    assert versions(proposal("jax", driver="580", glibc=glibc))["jax"] == jax


def test_wheels_that_the_installer_passes_over_by_itself_are_not_pinned():
    assert requirements(proposal("tensorflow", driver="580", gpu="A100", glibc="2.17")) == [
        "tensorflow[and-cuda]==2.20.0"
    ]


def test_an_old_glibc_can_be_the_reason_that_nothing_works():
    found = conflict("onnxruntime-gpu", driver="580", gpu="GH200", machine="aarch64", glibc="2.31")
    assert found.text == "onnxruntime-gpu 1.31.1 has wheels for glibc 2.34 and newer; the machine has glibc 2.31"
    assert found.gives_up == "a distribution or container with glibc 2.34 or newer instead of glibc 2.31"
    assert conflict("torch", glibc="musl").gives_up.endswith("instead of musl")


def test_windows_has_no_glibc():
    with pytest.raises(BadMachineError, match="Windows has no glibc"):
        made("torch", driver="580", gpu="RTX 4090", system="windows", glibc="2.17")


def test_onnxruntime_is_told_where_its_libraries_are():
    notes = proposal("onnxruntime-gpu", driver="580", gpu="H100").notes
    assert notes == ("onnxruntime-gpu looks into these wheels only after onnxruntime.preload_dlls() or import torch",)
    assert not proposal("onnxruntime-gpu==1.16.3", driver="550").notes


@pytest.mark.parametrize(
    ("driver", "card", "works"),
    [("470", "RTX 4090", False), ("535", "RTX 5090", False), ("535", "RTX 4090", True), ("470", "RTX 3090", True)],
)
def test_a_driver_older_than_the_card_does_not_drive_it(driver, card, works):
    told = made("torch", gpu=card, driver=driver)
    assert (told.proposal is not None) == works
    if told.conflict:
        assert f"driver {driver} is older than GeForce {card}" in told.conflict.text
