"""Stories that stay possible: true, and not yet a reason to call the machine broken."""

from __future__ import annotations

import msgspec
import pytest

from gpuwhy.model.facts import Facts
from gpuwhy.reason.judge import judge
from gpuwhy.rooms.cuda import missing_library
from gpuwhy.rooms.framework import cpu_only, gpu_unsupported
from gpuwhy.rooms.install import conflict, corrupted

from .facts import base, change

SITE = "~/venv/lib/python3.12/site-packages"


def framework(name: str, distribution: str, version: str, gpu: bool) -> dict:
    said = {"known": "12.8"} if gpu else {"absent": "CPU build"}
    code = {"known": ["sm_90"]} if gpu else {"absent": "CPU build"}
    return {
        "name": name, "title": name, "distribution": distribution, "version": version, "path": f"{SITE}/{name}",
        "gpu_build": {"known": gpu}, "built_for_cuda": said, "built_for_cudnn": said, "sass": code,
        "ptx": {"known": []} if gpu else code, "opens": {"known": []},
    }  # fmt: skip


def verdicts(cause, *changes: tuple[str, object]):
    plain = base("healthy")
    for path, value in changes:
        change(plain, path, value)
    return [v for v in judge((cause,), msgspec.convert(plain, type=Facts)) if v.state != "ruled_out"]


def torch() -> dict:
    return base("healthy")["target"]["frameworks"]["value"][0]


def test_onnxruntime_may_preload_what_its_environment_holds():
    need = {
        "framework": "onnxruntime", "name": "libcublasLt.so.12", "optional": False, "found_via": "",
        "needed_by": f"{SITE}/onnxruntime/capi/libonnxruntime_providers_cuda.so", "found": {"absent": "search"},
        "searched": [], "elsewhere": [f"{SITE}/nvidia/cublas/lib/libcublasLt.so.12"], "other_versions": [],
    }  # fmt: skip
    one = framework("onnxruntime", "onnxruntime-gpu", "1.22.0", True)
    (found,) = verdicts(
        missing_library.CAUSE, ("target.frameworks", {"known": [one]}), ("loads.needs", {"known": [need]})
    )
    assert found.state == "possible"
    assert "preload_dlls" in found.fixes[0].text


def test_a_conflict_that_the_right_one_won():
    rivals = {
        "owners": ["onnxruntime 1.30.0", "onnxruntime-gpu 1.30.0"], "files": 4, "module": "onnxruntime",
        "example": f"{SITE}/onnxruntime/capi/x.so", "winner": {"known": "onnxruntime-gpu 1.30.0"},
    }  # fmt: skip
    one = framework("onnxruntime", "onnxruntime-gpu", "1.30.0", True)
    (found,) = verdicts(
        conflict.CAUSE, ("target.frameworks", {"known": [one]}), ("target.conflicts", {"known": [rivals]})
    )
    assert found.state == "possible"


def test_nccl_of_two_cuda_majors_may_go_well():
    rivals = {
        "owners": ["nvidia-nccl-cu12 2.32.3", "nvidia-nccl-cu13 2.30.7"], "files": 1, "module": "nvidia.nccl",
        "example": f"{SITE}/nvidia/nccl/lib/libnccl.so.2", "winner": {"known": "nvidia-nccl-cu12 2.32.3"},
    }  # fmt: skip
    (found,) = verdicts(conflict.CAUSE, ("target.conflicts", {"known": [rivals]}))
    assert found.state == "possible"


@pytest.mark.parametrize(
    "one, state",
    [
        (framework("jax", "jax", "0.10.2", False), "possible"),
        (framework("tensorflow", "tensorflow-cpu", "2.21.0", False), None),
        (framework("ctranslate2", "ctranslate2", "4.6.0", False), None),
    ],
)
def test_a_cpu_build_beside_a_gpu_framework(one, state):
    found = verdicts(cpu_only.CAUSE, ("target.frameworks", {"known": [torch(), one]}))
    assert [v.state for v in found] == ([state] if state else [])


def test_one_of_two_gpus_is_too_old():
    plain = base("healthy")["devices"]["devices"]["value"][0]
    old = plain | {"index": 1, "name": "NVIDIA GeForce GT 1030", "capability": {"known": "6.1"}}
    (found,) = verdicts(gpu_unsupported.CAUSE, ("devices.devices", {"known": [plain, old]}))
    assert found.state == "possible"
    assert "1 of 2 GPUs" in found.findings[0].text
    assert "CUDA 12.9 or older" in found.fixes[0].text


@pytest.mark.parametrize(("what", "state"), [("unlisted metadata", "possible"), ("second metadata", "shown")])
def test_a_second_metadata_folder_that_lists_no_file_harms_none(what: str, state: str):
    path = f"{SITE}/nvidia_cudnn_cu12-8.9.7.29.dist-info"
    owner = "nvidia-cudnn-cu12 9.1.0.70"
    one = {"path": path, "owner": owner, "what": what, "expected": "9.1.0.70", "actual": "8.9.7.29"}
    (found,) = verdicts(corrupted.CAUSE, ("target.damage", {"known": [one]}))
    assert found.state == state
    assert "nvidia-cudnn-cu12==9.1.0.70" in str(found.fixes[0])
