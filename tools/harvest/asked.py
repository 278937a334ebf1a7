"""Asked: what the packages of usual GPU environments ask of each other, so that lint can tell what an installer takes.

    nice python -m tools.harvest.asked [NAME …]     # writes knowledge/data/asked.json; names: only these anew

Only the index page and the METADATA of one Linux or pure wheel of each release are read. A release without a wheel is
kept with nothing: what it asks for is not known. Projects that the file has already are left as they are, unless named.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.markers import Marker, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tools.harvest.guests import LINUX, version_of
from tools.harvest.index import IndexFile, address, files
from tools.harvest.stated import metadata
from tools.harvest.web import Web, WebError

OUT = Path(__file__).resolve().parents[2] / "src/gpuwhy/knowledge/data/asked.json"
NEWEST = 700
"""Releases of a project that are read, the newest ones."""

NAMES = """
numpy scipy pandas protobuf setuptools typing-extensions pillow huggingface-hub tokenizers safetensors scikit-learn
scikit-image matplotlib opencv-python opencv-python-headless opencv-contrib-python h5py numba llvmlite onnx tensorboard
torch torchvision torchaudio torchtext torchdata torchao xformers triton vllm flash-attn bitsandbytes deepspeed
tensorflow tensorflow-gpu tensorflow-cpu tensorflow-hub tensorflow-text tensorflow-addons tensorflow-probability
tensorflow-datasets tensorflow-io tensorflow-estimator tf-keras keras keras-cv keras-hub keras-nlp tf2onnx
tensorflow-model-optimization tensorflow-recommenders tensorflow-serving-api tensorflow-federated tensorflow-metadata
jax jaxlib flax optax chex dm-haiku equinox numpyro orbax-checkpoint ml-dtypes brax distrax diffrax jaxtyping
onnxruntime onnxruntime-gpu transformers accelerate diffusers peft trl datasets evaluate optimum sentence-transformers
timm open-clip-torch clip-interrogator pytorch-lightning lightning torchmetrics torch-geometric pytorch-forecasting
fastai kornia albumentations einops ultralytics monai nnunetv2 nnunet segmentation-models-pytorch facenet-pytorch
mmcv mmcv-full mmdet mmengine mmpose mmsegmentation openmim supervision rfdetr sahi effdet detectron2 super-gradients
openai-whisper faster-whisper whisperx ctranslate2 pyannote-audio pyannote-core speechbrain tts coqui-tts nemo-toolkit
librosa audiocraft demucs encodec vocos resemble-enhance torchcrepe resampy audiomentations asteroid espnet julius
auto-gptq autoawq gptqmodel exllamav2 llama-cpp-python sglang lmdeploy unsloth axolotl liger-kernel flashinfer-python
basicsr realesrgan gfpgan facexlib insightface rembg deepface retina-face mtcnn nudenet rapidocr-onnxruntime easyocr
paddleocr paddlepaddle paddlepaddle-gpu doclayout-yolo magic-pdf mineru marker-pdf surya-ocr unstructured
unstructured-inference docling chromadb fastembed gradio gradio-client streamlit langchain langchain-community
langchain-core llama-index wandb mlflow ray spacy thinc flair gensim allennlp simpletransformers sentencepiece fairseq
fairscale stable-baselines3 gym gymnasium dm-control mujoco pettingzoo rl-games ray-elegantrl imgaug imageio
networkx numexpr tables xarray dask statsmodels seaborn shap umap-learn hdbscan catboost xgboost lightgbm optuna
cupy-cuda11x cupy-cuda12x cupy-cuda13x cudf-cu12 cuml-cu12 faiss-cpu faiss-gpu faiss-gpu-cu12 dgl torchsde torchdiffeq
pyro-ppl gpytorch botorch skorch captum tensorboardx tensorboard-plugin-profile torch-tb-profiler torchinfo torch-ema
mediapipe open3d trimesh nerfstudio gsplat nerfacc tyro viser kaolin pytorch3d rtmlib onnxsim onnxconverter-common
onnx-graphsurgeon polygraphy tritonclient tensorrt pycuda cuda-python nvidia-dali-cuda120 torch-tensorrt
pydantic fastapi starlette typer click grpcio grpcio-tools google-api-core googleapis-common-protos opentelemetry-proto
outlines xgrammar compressed-tensors lm-eval mistral-common tiktoken openai instructor guidance dspy
controlnet-aux compel k-diffusion invisible-watermark segment-anything groundingdino-py sam2 lpips pytorch-fid
clean-fid pytorch-msssim torch-fidelity piq kokoro kokoro-onnx piper-tts openwakeword silero-vad noisereduce
chatterbox-tts f5-tts melotts bark styletts2 parler-tts audio-separator matchering noisereduce deepfilternet
tensordict torchrl torchrec fbgemm-gpu torchcodec decord av moviepy kubric scanpy anndata scvi-tools cellpose
deepchem dgllife torch-scatter torch-sparse torch-cluster torch-spline-conv rdkit openmm mdtraj esm fair-esm
biopython pyscf deepxde neuraloperator physicsnemo modulus e3nn mace-torch schnetpack matgl ase pymatgen
adapters setfit bertopic keybert haystack-ai farm-haystack colbert-ai ragatouille infinity-emb text-generation
modelscope ms-swift funasr cosyvoice swift lightrag-hku raganything pdf2image layoutparser detoxify textattack
composer mosaicml-streaming llm-foundry flash-linear-attention mamba-ssm causal-conv1d hqq quanto optimum-quanto
transformer-engine megatron-core apex nvidia-modelopt autogluon gluonts darts neuralforecast tsai prophet pytorch-tabnet
tensorflow-decision-forests keras-tuner autokeras tflearn tf-slim tf-models-official lingvo trax sonnet dm-sonnet
stable-audio-tools so-vits-svc-fork rvc-python fish-speech xtts-api-server whisper-timestamped stable-ts
pyyaml requests urllib3 idna certifi six jinja2 packaging charset-normalizer markupsafe attrs regex filelock fsspec
python-multipart werkzeug sympy httpx httpcore sqlalchemy flask importlib-metadata markdown aiohttp anyio wrapt h11
omegaconf hydra-core antlr4-python3-runtime pydantic-core pydantic-settings pyarrow nltk absl-py gitpython websockets
jsonschema google-auth google-auth-oauthlib gast flatbuffers cloudpickle dill multiprocess tenacity xxhash rich
kiwisolver contourpy pyparsing cycler python-dateutil joblib threadpoolctl lazy-loader tifffile pywavelets soundfile
audioread pooch keras-preprocessing keras-applications astunparse opt-einsum uvicorn langchain-openai langsmith
langchain-text-splitters langchain-huggingface llama-index-core hf-xet chardet ipython traitlets jupyter-client
ipykernel
pyzmq tornado notebook cffi cryptography lxml beautifulsoup4 gdown inflect typeguard mpmath preshed cymem murmurhash
blis catalogue srsly wasabi weasel gunicorn boto3 botocore s3transfer markdown-it-py yarl multidict frozenlist aiosignal
cached-path dctorch descript-audiotools trainer gruut laion-clap matscipy mlflow-skinny mlflow-tracing numpy-minmax
numpy-rms nuscenes-devkit paddlex proto-plus sktime texify unsloth-zoo kernels docling-core docling-ibm-models
opencv-contrib-python-headless imbalanced-learn pymatgen-core spglib mosaicml transformer-smaller-training-vocab
"""
PROJECTS = NAMES.split()

OTHERS = frozenset(PROJECTS)


def main(named: list[str]) -> int:
    """Read what is not there yet, and write after each project."""
    found: dict[str, object] = json.loads(OUT.read_text())["packages"] if OUT.exists() else {}
    web, index = Web(), address()
    for project in dict.fromkeys(named or [p for p in PROJECTS if p not in found]):
        try:
            found[project] = rows(web, index, project)
        except WebError as error:
            print(project, error, file=sys.stderr, flush=True)
            continue
        save({name: said for name, said in found.items() if said})
    return 0


def save(found: dict[str, object]) -> None:
    """The table, one project a line."""
    lines = (f"{json.dumps(name)}:{json.dumps(found[name], separators=(',', ':'))}" for name in sorted(found))
    body = ",\n".join(lines)
    OUT.write_text(f'{{"schema":"gpuwhy.knowledge.asked/1","packages":{{\n{body}\n}}}}\n')


def rows(web: Web, index: str, project: str) -> list[list[object]]:
    """[[releases…], Python, what they ask for or null]…: neighbours that ask for the same in one row, oldest first."""
    releases: dict[Version, list[IndexFile]] = {}
    for one in files(web, index, project) or ():
        version = version_of(one.name)
        if version and not one.yanked and not version.is_prerelease and not version.is_devrelease:
            releases.setdefault(version, []).append(one)
    order = sorted(releases)[-NEWEST:]
    with ThreadPoolExecutor(24) as pool:
        asked = list(pool.map(lambda version: asks(web, releases[version], project), order))
    out: list[list[object]] = []
    for version, said in zip(order, asked, strict=True):
        python = max((one.python for one in releases[version]), key=len)
        if out and out[-1][1:] == [python, said]:
            out[-1][0] = [*out[-1][0], str(version)]  # type: ignore[misc]
        else:
            out.append([[str(version)], python, said])
    print(project, len(order), len(out), file=sys.stderr, flush=True)
    return out


def asks(web: Web, listed: list[IndexFile], project: str) -> dict[str, list[str]] | None:
    """What a wheel of a release asks of other projects of the table, on Linux and without extras."""
    wheels = [f for f in listed if f.name.endswith(".whl") and ("any.whl" in f.name or "linux" in f.name)]
    text = metadata(web, wheels[-1]) if wheels else None
    if text is None:
        return None
    out: dict[str, list[str]] = {}
    for line in text.split("\n\n", 1)[0].splitlines():
        if line.startswith("Requires-Dist: "):
            add(out, line.removeprefix("Requires-Dist: "), project)
    return {name: sorted(set(wishes)) for name, wishes in sorted(out.items())}


def add(out: dict[str, list[str]], text: str, project: str) -> None:
    """One demand; `>=1.2;3.9,3.10` where a marker restricts it to some Pythons."""
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return
    other = canonicalize_name(wanted.name)
    where = pythons(wanted.marker) if wanted.marker else PYTHONS
    if other == project or other not in OTHERS or wanted.url or not where:
        return
    only = "" if where == PYTHONS else ";" + ",".join(where)
    out.setdefault(other, []).append(str(wanted.specifier) + only)


PYTHONS = [f"3.{minor}" for minor in range(6, 15)]


def pythons(marker: Marker) -> list[str]:
    """The Pythons on which Linux takes a demand without extras."""
    try:
        return [p for p in PYTHONS if marker.evaluate({**LINUX, "python_version": p, "python_full_version": f"{p}.9"})]
    except UndefinedEnvironmentName:
        return []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
