"""Guests: packages that people run on a GPU through a framework: which releases exist, for which Pythons and platforms.

    python -m tools.harvest.guests          # writes knowledge/data/guests.json and requires_python.json

The index itself says what a release demands of Python; what it demands of frameworks is in the METADATA of one wheel.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

from tools.harvest.index import IndexFile, address, files
from tools.harvest.stated import metadata
from tools.harvest.web import Web

DATA = Path(__file__).resolve().parents[2] / "src/gpuwhy/knowledge/data"
NAMES = """
accelerate apex auto-gptq autoawq bitsandbytes catboost causal-conv1d cudf-cu11 cudf-cu12 cudf-cu13 cugraph-cu12
cuml-cu11 cuml-cu12 cuml-cu13 cuquantum-python-cu12 cucim-cu12 deepspeed dgl diffusers easyocr exllamav2 fairseq
faster-whisper fbgemm-gpu flashinfer-python flax gptqmodel gsplat horovod insightface jax-metal
intel-extension-for-pytorch intel-extension-for-tensorflow keras kornia lightgbm lightning llama-cpp-python lmdeploy
mamba-ssm mmcv mmcv-full mmdet mxnet nemo-toolkit nerfacc numba numba-cuda nvidia-dali-cuda110 nvidia-dali-cuda120
nvidia-dali-cuda130 open-clip-torch openai-whisper optimum peft pycuda pyannote-audio pytorch-lightning pytorch3d
sentence-transformers sglang spconv-cu102 spconv-cu111 spconv-cu113 spconv-cu114 spconv-cu116 spconv-cu117 spconv-cu118
spconv-cu120 spconv-cu121 spconv-cu124 spconv-cu126 stable-baselines3 tensorflow-addons tensorflow-decision-forests
tensorflow-directml tensorflow-directml-plugin tensorflow-macos tensorflow-metal tensorflow-probability tensorflow-rocm
tensorflow-text tensorrt-llm tf-keras timm torch-cluster torch-directml torch-geometric torch-scatter torch-sparse
torch-spline-conv torch-tensorrt torchao torchdata torchmetrics torchrec torchtext transformer-engine
transformer-engine-cu12 transformer-engine-cu13 transformers triton-windows trl ultralytics unsloth whisperx xgboost
aphrodite-engine axolotl basicsr chex coqui-tts ctransformers cuda-python deepface demucs dm-haiku equinox exllamav3
faiss-gpu faiss-gpu-cu11 faiss-gpu-cu12 fairscale flash-linear-attention hqq keras-cv keras-hub kaolin liger-kernel
llamafactory megatron-core monai natten nerfstudio nnunetv2 numpyro nvidia-modelopt onnx open3d optax optimum-quanto
paddleocr pyg-lib realesrgan rmm-cu12 sageattention spacy speechbrain taichi tensordict tensorflow-hub tensorflow-io
tensorflow-recommenders torchrl torchsde torchtune tts warp-lang xfuser
onnxruntime-directml onnxruntime-rocm onnxruntime-openvino onnxruntime-training rapidocr-onnxruntime
tf-agents tfx ml-metadata tensorflow-model-optimization tensorflow-federated tensorflow-ranking
tensorflow-transform tensorflow-data-validation tensorflow-model-analysis tf-models-official tensorflow-compression
tensorflow-gnn dm-reverb brax jaxopt distrax
"""
GUESTS = NAMES.split()
ASKED = re.compile(
    r"torch|torchvision|torchaudio|tensorflow|tensorflow-cpu|tf-keras|jax|jaxlib|onnxruntime|onnxruntime-gpu|cupy-cuda\d+x?"
    r"|triton|xformers|flash-attn|bitsandbytes|vllm|ctranslate2|numpy|protobuf|setuptools|transformers|keras|cuda-toolkit"
    r"|nvidia-cu(blas|dnn|da-runtime)(-cu\d+)?|numba|transformer-engine-cu\d+|flashinfer-python|tensorrt(-cu\d+)?"
)
LINUX = {
    "sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64", "os_name": "posix", "extra": "",
    "python_version": "3.11", "python_full_version": "3.11.9",
}  # fmt: skip


def main() -> int:
    """Read every guest, and what the index says of Python for the projects that are known anyway."""
    web, index = Web(), address()
    rows = {name: found for name in GUESTS if (found := guest(web, index, name))}
    body = ",\n".join(f"{json.dumps(name)}:{json.dumps(found, separators=(',', ':'))}" for name, found in rows.items())
    (DATA / "guests.json").write_text(f'{{"schema":"gpuwhy.knowledge.guests/2","packages":{{\n{body}\n}}}}\n')
    known = [n for n in json.loads((DATA / "releases/index.json").read_text()) if not n.startswith("nvidia-c")]
    pythons = {name: said for name in known if (said := demanded(files(web, index, name) or ()))}
    body = ",\n".join(f"{json.dumps(name)}:{json.dumps(said, separators=(',', ':'))}" for name, said in pythons.items())
    (DATA / "requires_python.json").write_text(
        f'{{"schema":"gpuwhy.knowledge.requires_python/1","packages":{{\n{body}\n}}}}\n'
    )
    return 0


def demanded(listed: Iterable[IndexFile]) -> dict[str, list[str]]:
    """The Python specifier of each release: specifier → releases."""
    out: dict[str, list[str]] = {}
    said = {version: one.python for one in listed if one.python and (version := version_of(one.name))}
    for version in sorted(said):
        out.setdefault(said[version], []).append(str(version))
    return out


def guest(web: Web, index: str, name: str) -> list[list[object]]:
    """[["version uploaded …", Python, platforms, asks, tags]…], oldest first; withdrawn ones and previews left out."""
    releases: dict[Version, list[IndexFile]] = {}
    for one in files(web, index, name) or ():
        version = version_of(one.name)
        if version and not one.yanked and not version.is_prerelease and not version.is_devrelease:
            releases.setdefault(version, []).append(one)
    order = sorted(releases)
    with ThreadPoolExecutor(6) as pool:
        asked = list(pool.map(lambda version: asks(web, releases[version], name), order))
    print(name, len(order), file=sys.stderr, flush=True)
    rows: list[list[object]] = []
    for version, said in zip(order, asked, strict=True):
        listed = releases[version]
        row = [listed[0].python, platforms(listed), said, pythons(listed)]
        one = f"{version} {min(file.uploaded for file in listed)[:10]}"
        if rows and rows[-1][1:] == row:
            rows[-1][0] = f"{rows[-1][0]} {one}"
        else:
            rows.append([one, *row])
    return rows


def version_of(file: str) -> Version | None:
    """The version in a file's name."""
    try:
        return parse_wheel_filename(file)[1] if file.endswith(".whl") else parse_sdist_filename(file)[1]
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None


def platforms(listed: list[IndexFile]) -> list[str]:
    """Where it has wheels: linux-x86_64, windows-x86_64 …, any; source where it has none at all."""
    out: set[str] = set()
    for one in listed:
        if not one.name.endswith(".whl"):
            continue
        for tag in parse_wheel_filename(one.name)[3]:
            where = tag.platform
            if where == "any":
                out.add("any")
            elif "linux" in where and where.endswith(("x86_64", "aarch64")):
                out.add("linux-x86_64" if where.endswith("x86_64") else "linux-aarch64")
            elif where == "win_amd64":
                out.add("windows-x86_64")
            elif where.startswith("macosx"):
                out.add("macos")
    return sorted(out) or ["source"]


def pythons(listed: list[IndexFile]) -> list[str]:
    """The Pythons of compiled wheels by their tags: 3.9, 3.8+ (stable ABI); [] where one wheel serves all."""
    out: set[str] = set()
    for one in listed:
        for tag in parse_wheel_filename(one.name)[3] if one.name.endswith(".whl") else ():
            found = re.fullmatch(r"cp3(\d+)", tag.interpreter)
            if tag.interpreter == "py3" and not tag.platform.startswith("macosx"):
                return []
            if found and not tag.platform.startswith("macosx"):
                out.add(f"3.{found[1]}{'+' if tag.abi == 'abi3' else ''}")
    return sorted(out, key=lambda text: int(text[2:].rstrip("+")))


def asks(web: Web, listed: list[IndexFile], name: str) -> dict[str, str] | None:
    """What the Linux or pure wheel of a release asks of frameworks; None where there is no such wheel."""
    wheels = [f for f in listed if f.name.endswith(".whl") and ("any.whl" in f.name or "linux" in f.name)]
    text = metadata(web, wheels[-1]) if wheels else None
    if text is None:
        return None
    out: dict[str, list[str]] = {}
    for line in text.split("\n\n", 1)[0].splitlines():
        if line.startswith("Requires-Dist: "):
            asked(out, line.removeprefix("Requires-Dist: "), name)
    return {other: ",".join(dict.fromkeys(filter(None, specs))) for other, specs in sorted(out.items())}


def asked(out: dict[str, list[str]], text: str, name: str) -> None:
    """Add one demand that holds on Linux and Python 3.11 without any extra."""
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return
    other = canonicalize_name(wanted.name)
    if other == name or not ASKED.fullmatch(other) or wanted.url:
        return
    if wanted.marker is None or wanted.marker.evaluate(LINUX):
        out.setdefault(other, []).append(str(wanted.specifier))


if __name__ == "__main__":
    sys.exit(main())
