"""Wording: which words of a message are of the GPU stack, and which are names that somebody gave to his own things."""

from __future__ import annotations

import re

FRAMEWORKS = frozenset(
    """torch tensorflow tensorflow_core keras jax jaxlib flax cupy cupyx cupy_backends numba triton onnxruntime tensorrt
    torchvision torchaudio torchtext xformers flash_attn bitsandbytes vllm deepspeed apex accelerate transformers
    lightning pytorch_lightning mxnet paddle xgboost cudf cuml rmm ray horovod diffusers""".split()  # noqa: SIM905
)
"""Packages whose own code raises on behalf of the GPU stack."""
KIN = re.compile(
    r"torch|tensor|cuda|gpu|jax|xla|triton|nv|nccl|cu[pdm]|numba|onnx|paddle|keras|tf_|_tf|mx|mm(?:cv|det|engine|seg)|fair|detectron|spconv"
    r"|faiss|cv2|llama|llm|exllama|ctranslate|whisper|bitsandbytes|flash|attn|apex|megatron|nemo|deepspeed|colossal|bmtrain|awq|gptq"
    r"|unsloth|sglang|lmdeploy|xformers|dgl|kaolin|nerf|gsplat|pytorch3d|ultralytics|yolo|timm|diffusers|transformers|accelerate|peft|trl"
    r"|lightning|ray|horovod|dali|rapids|dask_c|warp|taichi|pycuda|comfy|gymnasium|isaac|monai|flax|optax|orbax|open3d|lightgbm|xgboost"
    r"|catboost|catalyst|ignite|fastai|allennlp|flair|stable_baselines|tvm|openvino|habana|intel|distributed|mpi4py|multiprocess|setuptools|packaging|distutils|wheel|^pip$|conda"
)
"""Names of packages that stand on the stack: what they say may come from below."""
_NAMED = (
    r"\bcu(?:da|dnn|blas|fft|rand|solver|sparse|pti|tensor|pynccl)|lib(?:cu|nv|nccl|torch|tensorflow|c10)|nvidia|nvcc|"
    r"nvrtc|nvvm|nvml|nvjitlink|ptxas|\bptx\b|nccl|\bgpus?\b|\bgpu[_:\d]|\bsm_\d|tensorrt|\bxla|pjrt|triton|"
    r"hip(?:error)?\b|rocm|\bcuinit"
)
HARD = re.compile(_NAMED, re.IGNORECASE)
STATUS = re.compile(
    r"an illegal (?:memory access|instruction) was encountered|no kernel image is available for execution"
    r"|device-side assert triggered|unspecified launch failure|misaligned address|invalid device (?:ordinal|function)"
    r"|too many resources requested for launch|invalid resource handle",
    re.IGNORECASE,
)
"""What the CUDA runtime calls its statuses, in words that nobody else uses."""
STACK = re.compile(
    rf"{_NAMED}|(?<!left on )(?<!writing to )\bdevices?\b|capability|kernel image|driver version|dnn\b|\bblas\b|"
    r"convolution algorithm|shared object|\.so\b|\.dll\b|dll load|undefined symbol|out of memory|allocat(?!e resources)|compiler|"
    r"(?:memory access|instruction|address) was encountered|misaligned address|launch failure|device-side assert"
    r"|on (?:the )?cpu\b|nhwc|stream|graph capture|accelerator|executionprovider|\bplatform\b",
    re.IGNORECASE,
)
_SPEAKERS = re.compile(
    rf"\b(?:{'|'.join(sorted(FRAMEWORKS))})\b|\bpytorch\b|\blib(?:cu|nv|nccl|torch|tensorflow|c10)\w*\.so|\b\w{{1,40}}64_\d+\.dll"
    r"|\bnvidia-smi\b|\bnvcc\b|\bptxas\b|\bnvrm\b|\bnvml\b|\bnccl\b|\bcudnn\b|\bcublas\b|\btensorrt\b|\bxla\b|\bnvenc\b"
    r"|\bcuda (?:error|driver|runtime|toolkit|out|kernel|device|version)|\bcuda:\d|\bsm_\d\d|executionprovider"
    r"|\bgpu (?:memory|device|driver)|\bgpu[ :]\d\b|\b(?:geforce|rtx|gtx|tesla|quadro)\b|_(?:status|error)_[a-z]"
    r"|\bnvidia-container|nvidia\.com/gpu|\bc10d?\b|\bgloo\b|\bprocess group\b|\btcpstore\b|\btorchrun\b|\btf\.\w",
    re.IGNORECASE,
)
_INSTALLED = re.compile(
    rf"(?:site|dist)-packages[\\/]+(?:nvidia|{'|'.join(sorted(FRAMEWORKS))})\b|\b(?:tensorflow|external|aten|c10|torch|gloo|third_party)/\S+:\d",
    re.IGNORECASE,
)
"""Places in the code of a framework."""
"""Parts of the stack and frameworks as they speak or are spoken of in a log; a bare "gpu" may stand in anybody's."""
API = re.compile(r"\bcu(?:da|dnn|blas|fft|rand|solver|sparse)?[A-Z][a-z]\w+")
_IDENTIFIER = re.compile(
    r"(?<![\w./-])(?!lib|nvidia-|(?:cuda|gpu)-(?:capable|enabled|compatible|aware|accelerated))[a-z0-9]+(?:[_-][a-z0-9]+)+(?![\w/-])"
)
"""A name that somebody gave to a thing of his own: gpu_table, cuda-report."""
QUOTED = re.compile(r"'[^'\n]{1,300}'|\"[^\"\n]{1,300}\"")
_PLACED = re.compile(r"\S{1,200}\.(?:rs|go|java|kt|scala|js|ts|c|cc|cpp|cs|rb|jl|py|swift):\d+(?::\d+)?")
_STACKS_FILE = re.compile(
    r"\.(?:so|dll|dylib|ptx|cubin|fatbin|bc|cuh?|h)\b|/dev/|/proc/driver/nvidia\b|/sys/|[\\/]cuda(?:-[\d.]+)?(?:[\\/]|$)|toolkit|"
    r"^.(?:nvcc|nvidia-smi|ptxas|nvidia-\w+|cuda-\w+|ncu|nsys|gcc|g\+\+|cc|c\+\+|cl)(?:\.exe)?.$|^.\S*[\\/](?:nvcc|ptxas|nvidia-smi)(?:\.exe)?.$",
    re.IGNORECASE,
)
"""Files that belong to the stack, and its tools."""
_FILE_NAME = re.compile(r"[\\/]|\.\w{1,8}.$")


_PATH = re.compile(
    r"(?:\b\w{2,10}:/|[~.]{0,2}/|[A-Za-z]:\\|(?<![\w.-])\w[\w.-]{0,100}/(?=\S*[/*@]|\S+\.\w))[^\s'\"`,;()]*"
)
"""A path or an address: of a file, an image, a repository, a place in a bucket."""


def spoken(message: str) -> str:
    """What a message says of things, without the names that somebody gave them: of files, hosts, tables, fields."""
    said = _PATH.sub(lambda found: found[0] if _STACKS_FILE.search(found[0]) else "", words_of(message))
    return _MEMBER.sub("", _IDENTIFIER.sub("", said))


_MEMBER = re.compile(r"\b(?!torch|tf|jax|cupy|numba|keras|tensorflow|paddle|mx)[a-z]\w*\.(?:gpus?|cuda)\b")
"""A field or a table of somebody's own: farm.gpus."""


def words_of(message: str) -> str:
    """What a message says, without names of files that are none of the stack's, and places in sources."""
    return _PLACED.sub("", QUOTED.sub(lambda found: "" if _is_data(found[0]) else found[0], message))


def _is_data(quoted: str) -> bool:
    return bool(_FILE_NAME.search(quoted)) and not _STACKS_FILE.search(quoted)


def stack_speaks(text: str) -> bool:
    """Whether a text has any word of the GPU stack, of a framework or of a library, other than in a file's name."""
    said = _IDENTIFIER.sub("", words_of(text))
    return bool(API.search(said) or _SPEAKERS.search(said) or _INSTALLED.search(text))


def stack_named(text: str) -> bool:
    """Whether a text has any word that may be meant of the GPU stack, whatever else it may mean."""
    return bool(STACK.search(words_of(text)) or _INSTALLED.search(text) or "tensor" in text.lower())


def library_named(text: str) -> bool:
    """Whether a text names a library or a compiler of the stack: words that mean nothing else."""
    return bool(LIBRARY.search(text))


LIBRARY = re.compile(
    r"cudnn|cublas|cufft|cusolver|cusparse|\blib(?:cu|nv|nccl)|nvrtc|ptxas|\bnccl|tensorrt|\bxla\b|\bhlo\b|triton|\bsm_\d"
    r"|\bnvcc\b|cuda_?home|cuda toolkit|cuda_\d|\.cuh?\b",
    re.IGNORECASE,
)

MISSED = re.compile(
    r"(?:gpus?|cuda|devices?|accelerators?|nvidia|driver|backend|platform|memory|kernel|capability|compiler|allocat\w*|stream|nccl|hip)\b.{0,60}"
    r"\b(?:no|not|without|missing|unavailable|fail\w*|invalid|requir\w*|need\w*|expect\w*|unable|cannot|can't|could|found|available"
    r"|support\w*|initiali\w*|detect\w*|lost|unknown|wrong|out|have|got|only|different|same)\b"
    r"|\b(?:no|not|without|missing|need\w*|requir\w*|invalid|cannot|can't|unable|could|out of|unknown|expected|fail\w*|find|found|available"
    r"|support\w*|too|on|to)\b.{0,60}\b(?:gpus?|cuda|devices?|accelerators?|nvidia|driver|backend|platform|memory|kernel|capability|compiler)\b",
    re.IGNORECASE,
)
"""Words of the stack that something is said of: that it is missing, refused, or needed."""

PANICKED = re.compile(
    r"^thread '[^'\n]*'(?: \(\d+\))? panicked at \s*:?\n?|^Exception in thread \"[^\"\n]*\" |^panic: "
)

GIVEN = re.compile(
    r"'[^'\s]{1,80}'|\"[^\"\s]{1,80}\"|`[^`\s]{1,80}`|‘[^’\s]{1,80}’|'[{\[][^'\n]{0,80}'|\{[\w,.\[\]{}]{1,200}\}"
)
"""A name that a runtime quotes: of a key, a variable, a function."""

EXACT = re.compile(
    r"std::(?:invalid_argument|out_of_range|length_error|domain_error|bad_\w+_cast|bad_function_call|bad_optional)"
)
"""Exceptions of C++ for a wrong value: what they are called says it, however short their words are."""

BARELY = re.compile(r"(?:unknown|unexpected|nil|null|none|oops)\W*$|(?:[\w'-]+ ){0,4}(?:failed|error|failure)\b.{0,12}$|.*\b(?:output|logs?|details) (?:is |are )?(?:in|at|to)\b"
                     r"|.*\bsee \S*\.(?:log|txt|out|err)\b|.*\bleft with \d|.*\d?> ?\S+\.(?:log|txt|out|err)\b", re.IGNORECASE)  # fmt: skip
"""Words that tell only that something failed, or where to read about it."""

BROKE = re.compile(
    r"cuda error|out of memory|cudnn|driver|\.so\b|\bfailed\b|not (?:found|available|supported)", re.IGNORECASE
)
NO_ROOM = re.compile(
    r"\bbatch\b[^\n]{0,40}\b(?:fits?\b|too (?:large|big))|\bfits? (?:in|on|into)\b|\bno room\b", re.IGNORECASE
)
_PLACE = re.compile(
    r"\b(?:on |at |device |device=|dev )?(?:cuda|gpu):?\d+\b|\bon (?:the )?(?:cuda|gpu)\b(?! ?\w*:)", re.IGNORECASE
)
"""A device that is named as the place where something was done."""
_WRONG = re.compile(
    r"error|mismatch|\bold\b|incompatible|unsupported|illegal|corrupt|timed? ?out|\bhung\b|crash|denied|refus",
    re.IGNORECASE,
)


def of_the_stack(said: str) -> bool:
    """Whether words that somebody wrote himself tell of a failure of the stack, not only where something was done."""
    if STATUS.search(said) or API.search(said) or NO_ROOM.search(said):
        return True
    words = spoken(_PLACE.sub("", said))
    return bool(HARD.search(words)) and any(one.search(words) for one in (BROKE, MISSED, _WRONG))
