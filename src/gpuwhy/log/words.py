"""Words: which words of a message are of the GPU stack, and which name somebody's own things."""

from __future__ import annotations

import re

FRAMEWORKS = frozenset(
    (
        "torch tensorflow tensorflow_core keras jax jaxlib flax cupy cupyx cupy_backends numba "
        "triton onnxruntime tensorrt torchvision torchaudio torchtext xformers flash_attn "
        "bitsandbytes vllm deepspeed apex accelerate transformers lightning pytorch_lightning "
        "mxnet paddle xgboost cudf cuml rmm ray horovod diffusers"
    ).split()
)
"""Packages whose own code raises on behalf of the GPU stack."""
OUTSIDERS = frozenset(
    (
        "omegaconf hydra yaml click typer requests urllib3 httpx sqlalchemy sqlite3 psycopg2 "
        "pymysql redis pandas pyarrow h5py botocore boto3 git jinja2 pydantic pydantic_core "
        "marshmallow jsonschema json csv configparser argparse zipfile tarfile gzip zlib pickle "
        "xml bs4 smtplib ssl socket http email toml tomllib tomli dotenv fire absl gin wandb "
        "mlflow optuna openpyxl nltk spacy pyodbc pymongo kafka pika confluent_kafka "
        "elasticsearch asyncpg django flask fastapi starlette aiohttp websockets paramiko PIL pil "
        "imageio selenium"
    ).split()
)
"""Packages for settings, data and services: what they raise is about those."""
TOOLS = frozenset(
    (
        "git ssh scp rsync curl wget tar gzip unzip zip cp mv rm mkdir ls cat sed awk grep find "
        "aws gsutil gcloud az kubectl ffmpeg convert npm node yarn java mvn latex pdflatex pandoc "
        "sqlite3 psql mysql ping hostname id whoami chmod chown ln chrt taskset ionice renice "
        "numactl flock false sleep pg_restore pg_dump pg_ctl mysqldump redis-cli helm terraform "
        "ansible docker-compose gunzip bzip2 xz dd df du"
    ).split()
)
"""Programs of the system: they have nothing to do with the GPU stack."""
KIN = re.compile(
    r"torch|tensor|cuda|gpu|jax|xla|triton|nv|nccl|cu[pdm]|numba|onnx|paddle|keras|tf_|_tf|mx"
    r"|mm(?:cv|det|engine|seg)|fair|detectron|spconv|faiss|cv2|llama|llm|exllama|ctranslate"
    r"|whisper|bitsandbytes|flash|attn|apex|megatron|nemo|deepspeed|colossal|bmtrain|awq|gptq"
    r"|unsloth|sglang|lmdeploy|xformers|dgl|kaolin|nerf|gsplat|pytorch3d|ultralytics|yolo|timm"
    r"|diffusers|transformers|accelerate|peft|trl|lightning|ray|horovod|dali|rapids|dask_c|warp"
    r"|taichi|pycuda|comfy|gymnasium|isaac|monai|flax|optax|orbax|open3d|lightgbm|xgboost"
    r"|catboost|catalyst|ignite|fastai|allennlp|flair|stable_baselines|tvm|openvino|habana|intel"
    r"|distributed|mpi4py|multiprocess|setuptools|packaging|distutils|wheel|^pip$|conda"
)
"""Names of packages that stand on the stack: what they say may come from below."""
_NAMED = (
    r"\bcu(?:da|dnn|blas|fft|rand|solver|sparse|pti|tensor|pynccl)"
    r"|lib(?:cu|nv|nccl|torch|tensorflow|c10)|nvidia|nvcc|nvrtc|nvvm|nvml|nvjitlink|ptxas|\bptx\b"
    r"|nccl|\bgpus?\b|\bgpu[_:\d]|\bsm_\d|tensorrt|\bxla|pjrt|triton|hip(?:error)?\b|rocm|\bcuinit"
)
HARD = re.compile(_NAMED, re.IGNORECASE)
STATUS = re.compile(
    r"an illegal (?:memory access|instruction) was encountered"
    r"|no kernel image is available for execution"
    r"|device-side assert triggered|unspecified launch failure|misaligned address"
    r"|invalid device (?:ordinal|function)"
    r"|too many resources requested for launch|invalid resource handle",
    re.IGNORECASE,
)
"""What the CUDA runtime calls its statuses, in words that nobody else uses."""
STACK = re.compile(
    rf"{_NAMED}|(?<!left on )(?<!writing to )\bdevices?\b|capability|kernel image|driver version"
    r"|dnn\b|\bblas\b|convolution algorithm|shared object|\.so\b|\.dll\b|dll load"
    r"|undefined symbol|out of memory|allocat(?!e resources)|compiler"
    r"|(?:memory access|instruction|address) was encountered|misaligned address|launch failure"
    r"|device-side assert|on (?:the )?cpu\b|nhwc|stream|graph capture|accelerator"
    r"|executionprovider|\bplatform\b",
    re.IGNORECASE,
)
_SPEAKERS = re.compile(
    rf"\b(?:{'|'.join(sorted(FRAMEWORKS))})\b|\bpytorch\b"
    r"|\blib(?:cu|nv|nccl|torch|tensorflow|c10)\w*\.so|\b\w{1,40}64_\d+\.dll"
    r"|\bnvidia-smi\b|\bnvcc\b|\bptxas\b|\bnvrm\b|\bnvml\b|\bnccl\b|\bcudnn\b|\bcublas\b"
    r"|\btensorrt\b|\bxla\b|\bnvenc\b"
    r"|\bcuda (?:error|driver|runtime|toolkit|out|kernel|device|version)|\bcuda:\d|\bsm_\d\d"
    r"|executionprovider|\bgpu (?:memory|device|driver)|\bgpu[ :]\d\b"
    r"|\b(?:geforce|rtx|gtx|tesla|quadro)\b|_(?:status|error)_[a-z]"
    r"|\bnvidia-container|nvidia\.com/gpu|\bc10d?\b|\bgloo\b|\bprocess group\b|\btcpstore\b"
    r"|\btorchrun\b|\btf\.\w",
    re.IGNORECASE,
)
_INSTALLED = re.compile(
    rf"(?:site|dist)-packages[\\/]+(?:nvidia|{'|'.join(sorted(FRAMEWORKS))})\b"
    r"|\b(?:tensorflow|external|aten|c10|torch|gloo|third_party)/\S+:\d",
    re.IGNORECASE,
)
API = re.compile(r"\bcu(?:da|dnn|blas|fft|rand|solver|sparse)?[A-Z][a-z]\w+")
LIBRARY = re.compile(
    r"cudnn|cublas|cufft|cusolver|cusparse|\blib(?:cu|nv|nccl)|nvrtc|ptxas|\bnccl|tensorrt|\bxla\b"
    r"|\bhlo\b|triton|\bsm_\d|\bnvcc\b|cuda_?home|cuda toolkit|cuda_\d|\.cuh?\b",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"(?<![\w./-])(?!lib|nvidia-|(?:cuda|gpu)-(?:capable|enabled|compatible|aware|accelerated))"
    r"[a-z0-9]+(?:[_-][a-z0-9]+)+(?![\w/-])"
)
"""A name that somebody gave to a thing of his own: gpu_table, cuda-report."""
QUOTED = re.compile(r"'[^'\n]{1,300}'|\"[^\"\n]{1,300}\"")
_PLACED = re.compile(
    r"\S{1,200}\.(?:rs|go|java|kt|scala|js|ts|c|cc|cpp|cs|rb|jl|py|swift):\d+(?::\d+)?"
)
_STACKS_FILE = re.compile(
    r"\.(?:so|dll|dylib|ptx|cubin|fatbin|bc|cuh?|h)\b|/dev/|/proc/driver/nvidia\b|/sys/"
    r"|[\\/]cuda(?:-[\d.]+)?(?:[\\/]|$)|toolkit"
    r"|^.(?:nvcc|nvidia-smi|ptxas|nvidia-\w+|cuda-\w+|ncu|nsys|gcc|g\+\+|cc|c\+\+|cl)(?:\.exe)?.$"
    r"|^.\S*[\\/](?:nvcc|ptxas|nvidia-smi)(?:\.exe)?.$",
    re.IGNORECASE,
)
"""Files that belong to the stack, and its tools."""
_FILE_NAME = re.compile(r"[\\/]|\.\w{1,8}.$")
_PATH = re.compile(
    r"(?:\b\w{2,10}:/|[~.]{0,2}/|[A-Za-z]:\\|(?<![\w.-])\w[\w.-]{0,100}/(?=\S*[/*@]|\S+\.\w))"
    r"[^\s'\"`,;()]*"
)
_MEMBER = re.compile(
    r"\b(?!torch|tf|jax|cupy|numba|keras|tensorflow|paddle|mx)[a-z]\w*\.(?:gpus?|cuda)\b"
)
_MISSED = re.compile(
    r"(?:gpus?|cuda|devices?|accelerators?|nvidia|driver|backend|platform|memory|kernel"
    r"|capability|compiler|allocat\w*|stream|nccl|hip)\b.{0,60}"
    r"\b(?:no|not|without|missing|unavailable|fail\w*|invalid|requir\w*|need\w*|expect\w*|unable"
    r"|cannot|can't|could|found|available|support\w*|initiali\w*|detect\w*|lost|unknown|wrong|out"
    r"|have|got|only|different|same)\b"
    r"|\b(?:no|not|without|missing|need\w*|requir\w*|invalid|cannot|can't|unable|could|out of"
    r"|unknown|expected|fail\w*|find|found|available|support\w*|too|on|to)\b.{0,60}"
    r"\b(?:gpus?|cuda|devices?|accelerators?|nvidia|driver|backend|platform|memory|kernel"
    r"|capability|compiler)\b",
    re.IGNORECASE,
)
"""Words of the stack that something is said of: that it is missing, refused, or needed."""
GIVEN = re.compile(
    r"'[^'\s]{1,80}'|\"[^\"\s]{1,80}\"|`[^`\s]{1,80}`|‘[^’\s]{1,80}’|'[{\[][^'\n]{0,80}'"
    r"|\{[\w,.\[\]{}]{1,200}\}"
)
"""A name that a runtime quotes: of a key, a variable, a function."""
BARELY = re.compile(
    r"(?:unknown|unexpected|nil|null|none|oops)\W*$"
    r"|(?:[\w'-]+ ){0,4}(?:failed|error|failure)\b.{0,12}$"
    r"|.*\b(?:output|logs?|details) (?:is |are )?(?:in|at|to)\b"
    r"|.*\bsee \S*\.(?:log|txt|out|err)\b|.*\bleft with \d|.*\d?> ?\S+\.(?:log|txt|out|err)\b",
    re.IGNORECASE,
)
"""Words that tell only that something failed, or where to read about it."""
BROKE = re.compile(
    r"cuda error|out of memory|cudnn|driver|\.so\b|\bfailed\b|not (?:found|available|supported)",
    re.IGNORECASE,
)
NO_ROOM = re.compile(
    r"\bbatch\b[^\n]{0,40}\b(?:fits?\b|too (?:large|big))|\bfits? (?:in|on|into)\b|\bno room\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:on |at |device |device=|dev )?(?:cuda|gpu):?\d+\b"
    r"|\bon (?:the )?(?:cuda|gpu)\b(?! ?\w*:)",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"error|mismatch|\bold\b|incompatible|unsupported|illegal|corrupt|timed? ?out|\bhung\b|crash"
    r"|denied|refus",
    re.IGNORECASE,
)


def spoken(message: str) -> str:
    """What a message says, without the names that somebody gave: of files, hosts, fields."""
    said = _PATH.sub(
        lambda found: found[0] if _STACKS_FILE.search(found[0]) else "", words_of(message)
    )
    return _MEMBER.sub("", _IDENTIFIER.sub("", said))


def words_of(message: str) -> str:
    """What a message says, without names of other files, and places in sources."""
    said = QUOTED.sub(lambda found: "" if _is_data(found[0]) else found[0], message)
    return _PLACED.sub("", said)


def _is_data(quoted: str) -> bool:
    return bool(_FILE_NAME.search(quoted)) and not _STACKS_FILE.search(quoted)


def stack_prints(text: str) -> bool:
    """Whether words of the GPU stack, a framework or a library stand there, not as file names."""
    said = _IDENTIFIER.sub("", words_of(text))
    return bool(API.search(said) or _SPEAKERS.search(said) or _INSTALLED.search(text))


def stack_named(text: str) -> bool:
    """Whether any word stands there that may be meant of the GPU stack."""
    named = STACK.search(words_of(text)) or _INSTALLED.search(text)
    return bool(named) or "tensor" in text.lower()


def names_library(text: str) -> bool:
    """Whether a library or a compiler of the stack is named: words that mean nothing else."""
    return bool(LIBRARY.search(text))


def says_stack_fails(said: str) -> bool:
    """Whether words of the stack are said to miss, refuse or need something."""
    return bool(STACK.search(said) and _MISSED.search(said))


def of_the_stack(said: str) -> bool:
    """Whether words that somebody wrote himself tell of a failure of the stack."""
    if STATUS.search(said) or API.search(said) or NO_ROOM.search(said):
        return True
    words = spoken(_PLACE.sub("", said))
    wrong = any(one.search(words) for one in (BROKE, _MISSED, _WRONG))
    return bool(HARD.search(words)) and wrong
