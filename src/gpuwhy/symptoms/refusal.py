"""Refusal: what a framework says when it does not take what it was handed, or not at that moment, read by its parts.

A framework has thousands of such sentences and each release has new ones; nobody can know them all. Their parts are few: a
property of arrays (shape, type, layout, place), a word that refuses it, and a framework that speaks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gpuwhy.model.ending import USER, Ending
from gpuwhy.model.symptom import Symptom
from gpuwhy.symptoms.own import PLAIN, asserted_by_user, by_hand
from gpuwhy.symptoms.piped import from_data

IDS = ("refused.operands", "refused.moment", "refused.place", "refused.setting", "refused.group", "refused.device")
"""Symptoms that no signature finds."""
WORDS = "program.shape_words"
"""The same in general words, of one line."""
FIRST = 700
"""What is refused is said at the beginning of a message; advice follows."""
OPERATING = frozenset(
    """torch torchvision torchaudio tensorflow tensorflow_core keras tf_keras jax jaxlib flax haiku equinox optax chex cupy cupyx
    cupy_backends numba triton onnxruntime tensorrt xformers flash_attn mxnet paddle einops kornia torch_geometric
    torch_scatter torch_sparse dgl warp taichi cudf cuml cugraph rmm bitsandbytes apex transformer_engine pycuda
    vllm sglang""".split()  # noqa: SIM905
)
"""Packages that work on arrays of a GPU, and refuse them by their own words."""
_NOUN = (
    r"\b(?:shapes?|sizes?|dims?|dimension(?:s|al|ality)?|ndim|rank|ax[ei]s|dtypes?|(?:data|scalar|element|input|weight|index|tensor) ?types?|types? of|strides?"
    r"|strided|contiguous|layouts?|memory format|(?:data|tensor) format|channels?|batch(?:es)?|batch size|paddings?|broadcast\w*|numel"
    r"|elements?|square|matri(?:x|ces)|operands?|(?:in|out)?_?features?|head_?dims?|num_heads|lengths?|sequence length|[0-9n]-?d\b|carry|vectors?"
    r"|scalars?|indices|same type|type as|quantile|bfloat16|float\d+|half|int\d+|complex\d+|object arrays?|positional arguments|keyword arguments"
    r"|power of 2|block ?size|kernel size|bits?type|groups?)\b"
)
_NO = (
    r"\b(?:must|should|shall|has to|have to|needs? to|expect(?:s|ed|ing)?|requires?|required|cannot|can't|could not|couldn't|unable"
    r"|(?:do|does|did|is|are|was|were|has|have)(?: not|n't)|not (?:allowed|supported|equal|compatible|divisible|implemented|match\w*|a multiple|defined|valid)"
    r"|incompatib\w+|inconsisten\w+|mismatch\w*|unsupported|invalid|unexpected|wrong|illegal|differ(?:s|ent)?|but (?:got|found|received|is|are|was|were|has|they|given)"
    r"|got|found|received|at least|at most|exceeds?|greater than|less than|larger than|smaller than|too (?:large|small|few|many|short|long|big)|overflow(?:s|ed)?|only supports?"
    r"|only accepts?|only implemented|no implementation)\b"
)
_OPERANDS = re.compile(rf"{_NOUN}[^\n]{{0,200}}?{_NO}|{_NO}[^\n]{{0,200}}?{_NOUN}", re.IGNORECASE)
_WANTED = re.compile(
    r"\bexpect(?:s|ed)\b[^\n]{0,160}\b(?:\w*tensors?|arrays?|types?|inputs?|arguments?|values?|operands?|but|got"
    r"|found|to be)\b"
    r"|\b(?:tensors?|arrays?|types?|inputs?|arguments?|operands?)\b[^\n]{0,120}\b(?:must|should|expected"
    r"|not supported|unsupported|cannot|only)\b"
    r"|\bunsupported (?:\w+ ){0,2}types?\b|not implemented for '|could not run '[\w:]+' with arguments"
    r"|cannot compute \w+ as|no method matching|values to unpack|is ambiguous|\bonly supports?\b"
    r"|attempting to broadcast|can_mul_mat"
    r"|\b(?:cannot|can't|could not|unable to) \w+ (?:an? |the )?(?:tensors?|arrays?)\b"
    r"|\btensors?\b[^\n]{0,40}\bhave different\b|same_shape|are_same"
    r"|\b(?:shape|size|dim|ndim|ne|axis|rank|stride|numel|width|height|channels?|n_\w+)\w*(?:\(\w*\)"
    r"|\[\w*\])? ?(?:==|!=|<=?|>=?|%) ?\w",
    re.IGNORECASE,
)
"""What is wanted, or a condition on the arrays that did not hold, in the words of something that works on nothing else."""
_VARIABLE = re.compile(
    r"(?<!with )(?<!set )(?<!setting )(?<!using )(?<!export )(?<!try )\b(?!CUDA_ERROR|CUDA_R_|CUDA_C_|CUDA_SUCCESS"
    r"|CUDA_HOME|CUDA_PATH|CUDA_ROOT|CUDA_VISIBLE|CUDA_EXCEPTION|\w+_STATUS_|NVRTC_ERROR|NCCL_(?:WARN|INFO)"
    r"|ORT_(?:FAIL|INV)|TF_(?:GPU|CPU)_|TORCH_CHECK|TORCH_INTERNAL)"
    r"(?P<name>(?:CUDA|PYTORCH|TORCH|TORCHINDUCTOR|TORCHDYNAMO|XLA|JAX|TF|NCCL|CUPY|NUMBA|TRITON|CUBLAS|CUBLASLT"
    r"|CUDNN|ORT|GGML|KOKKOS|OMP|ACC|NV_ACC|NVCOMPILER|MXNET|FLAGS|VLLM|RMM|UCX|HOROVOD|NVSHMEM)_[A-Z0-9_]{3,60})\b"
)
_SETTINGS = re.compile(r"(?:config|flags|settings|options|environ|env_?vars?)\w{0,10}\.pyx?$")
"""Files in which a framework reads its own settings."""
_SERVERS = frozenset(("vllm", "sglang"))
"""Servers: what such a file of theirs refuses is what they were asked to serve, and how."""
_DATA = re.compile(
    r"data_adapter|utils[\\/]data[\\/]|[\\/]data[\\/]|decode_\w+|parse_example|file format|\bfiles?\b|dataset|tokeniz",
    re.IGNORECASE,
)
"""What brings the data in: what it refuses are files and samples."""
_BESIDE = re.compile(
    r"[\\/](?:profiler|autograd[\\/]profiler\w*|tensorboard|optim[\\/]lr_scheduler|logging|monitor|package|hub|testing)(?:[\\/.]|$)"
)
"""Parts of a framework that handle no arrays: what they refuse are a schedule, a name, an address."""
_BAD = re.compile(
    r"invalid|illegal|unknown|unrecogni[sz]ed|unsupported|expected|must|should|cannot|could not"
    r"|not (?:a|an|one|valid|allowed|recogni[sz]ed|supported)|failed to parse|parse|malformed|out of range|got\b",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"\btwice\b|second time|more than once|(?:only|at most|exactly) once|\bnot (?:yet )?(?:been )?(?:initiali[sz]ed|started|entered|created|recorded"
    r"|captured|finali[sz]ed|set up|joined|instantiated|attached|running|active)\b|uninitiali[sz]ed|\b(?:has|have|had) (?:already )?been (?:deleted|destroyed|closed|released|freed"
    r"|shut ?down|finali[sz]ed|donated|invalidated|consumed|moved|unloaded|terminated)"
    r"|\b(?:is|was) (?:already )?(?:closed|destroyed|released|finali[sz]ed|frozen|deleted|freed)\b"
    r"|no longer (?:valid|available|exists?|alive)"
    r"|\b(?:must|can only|cannot|can't|should|may only|may not|not allowed|not permitted|illegal"
    r"|invalid)\b[^\n]{0,80}\b(?:before|after|during|while|outside|inside|within|until|once"
    r"|when (?:(?:a|the|its|it is) )?(?:\w+ing|stream|graph|context|process|event))\b"
    r"|\b(?:before|after|during|while|outside of|inside)\b[^\n]{0,60}\b(?:is not allowed|not permitted|is forbidden|is not supported|cannot|is illegal|is invalid)\b"
    r"|already (?:been )?(?:initiali[sz]ed|started|running|registered|active|entered|in progress|captur\w+|enabled"
    r"|destroyed|set)|\bcall \S{1,60} (?:first|before)\b|first call\b"
    r"|\bbefore (?:calling|using|running|starting|the first)\b|\bwas created (?:inside|outside|within)\b"
    r"|without a preceding|unsafe_free|freed (?:gpu |device )?(?:buffer|array|memory)|forgot to call"
    r"|(?:was|were) (?:not|never) (?:called|initiali[sz]ed|created|recorded|set)"
    r"|\b(?:must|should) (?:be|have been) \w+ before",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"(?:implicit |explicit )?conver(?:t|sion)[^\n]{0,40}\b(?:numpy|host|cpu)\b[^\n]{0,60}(?:not allowed|is not"
    r"|cannot)|(?:cannot|can't|not) (?:be )?(?:convert|access|mix)\w*[^\n]{0,60}\b(?:numpy|host|cpu|gpu|device)\b"
    r"|\b(?:on|of) (?:the )?(?:cpu|host|gpu|cuda(?::\d)?|device)\b[^\n]{0,60}\b(?:but|expected|must|should|cannot"
    r"|while)\b"
    r"|\b(?:cpu|host|numpy|gpu|cuda|device) (?:arrays?|tensors?|pointers?|buffers?|memory)\b[^\n]{0,60}\b(?:but"
    r"|expected|must|should|cannot|not allowed|not supported|is not)\b"
    r"|\b(?:expected|must|should|requires?|cannot|only)\b[^\n]{0,60}\b(?:cpu|host|numpy|gpu|cuda|device) (?:arrays?|tensors?|pointers?|buffers?)\b",
    re.IGNORECASE,
)
_DEVICE = re.compile(
    r"\bdevice (?:id|index|ordinal|number)\b|torch\.device\b|\blocal devices?\b"
    r"|\b\d+ (?:logical |visible |xla |cuda )?(?:devices?|gpus?)\b[^\n]{0,60}\b(?:only|available|but|visible)\b"
    r"|\bonly \d+ [^\n]{0,20}(?:devices?|gpus?)\b",
    re.IGNORECASE,
)
_DIALECT = re.compile(
    r"\btensors?\b|\btorch[.:]|\b(?:linalg|fft|special|nn|F|lax|jnp|tl|tf|cp)\.\w|^\W?\w{3,40}\(\): "
    r"|\b(?:float|int|uint|bfloat|bool|complex|f|s|u|bf|c)\d{1,3}\[[\d,]*\]|\[Op:|function_node|\bmat[12]\b"
    r"|\b[lr]hs[ ._]"
    r"|\w_(?:cuda|impl)\b|^\"?\w{2,30}_\w{2,40}\"?: |flash ?attention|cotangent|\bvjp\b|\bjvp\b|\w' op\b|kokkos"
    r"|\bggml|onnxruntime|\[trt\]|autograd|aten::|\byour module\b|device_put|kernel launch|\bcuda: |nd4j|jcublas"
    r"|jcuda|process ?group|collectives|elapsed_time|(?:cuda|gpu) (?:graph|stream|event|context|allocator)"
    r"|execution space|class 'numpy|_ndarray_base"
    r"|`\.get\(\)`|device arrays?|device_array|\bndarray|\bbody function|\bjit\b|\bvmap|\bp(?:map|jit)\b|shard_map"
    r"|\bsharding|\bN[CH]HW|NHWC|hlo\b|\bCu(?:Array|Device\w+)|\bXLA|gpu kernel|kernel function|device function"
    r"|cu(?:blas|dnn|fft|sparse|solver)",
    re.IGNORECASE,
)
"""How only frameworks speak, whoever shows it."""
_ARRAYS = re.compile(
    r"\b[0-9n]-?d\b|\d-dimensional|tensors?\b|\bmatri(?:x|ces)\b|\bdtypes?\b|\bdimensions?\b|\bcolumns\b|\bbatch"
    r"|\bchannels?\b|\bstorage\b|\bgrad\b|\bembedding\b|\bweights?\b|\blengths?\b|\bscalar\b"
    r"|\binputs?\b[^\n]{0,40}\b(?:must|only|should|expected)\b|\bonly supports?\b[^\n]{0,60}\binputs?\b",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"\b(?:torch|F|nn|jnp|jax|lax|cp|cupy|cupyx|tf|keras|tl|triton|wp|ti|trt|ort)\.\w"
    r"|\b(?:model|net|module|session|sess|layer|encoder|decoder)\w*(?:\.run)?\(|\.cuda\(|\.to\(|\.backward\("
    r"|\[\w+, ?\w+\]\("
)
"""Source that calls a framework; its compiled code raises in the caller's frame."""
_BELOW = re.compile(r"\n\s*File \"(?:[^\"\n]*(?:site|dist)-packages[\\/])?(?P<owner>\w+)[\\/.]")
_VAGUE = ("python", "title", "signal", "else")
"""Speakers that say less than what is refused."""


def with_refusals(symptoms: Sequence[Symptom], ending: Ending, text: str) -> tuple[Symptom, ...]:
    """The symptoms, and what a framework refused at the end, where nothing else tells what that was."""
    if ending.kind in ("none", "status", "signal", "exit") and not any(map(_tells, symptoms)):
        ending = _printed(text) or ending
    found, fields = _refused(ending)
    if not found or any(map(_tells, (s for s in symptoms if s.within(ending) or s.line > ending.line))):
        return tuple(symptoms)
    said = ending.message.strip().split("\n", 1)[0]
    quote = f"{ending.type}: {said}" if ending.kind == "exception" else said
    one = Symptom(found, ending.line, quote[:400], fields=fields)
    kept = [
        s for s in symptoms if s.line != ending.line or (s.speaker not in ("python", "title") and s.signature != WORDS)
    ]
    merged = sorted([*kept, one], key=lambda s: (s.line, s.order))
    return tuple(msgspec.structs.replace(s, order=at) for at, s in enumerate(merged))


def _tells(one: Symptom) -> bool:
    """Whether a message says what failed, more than in Python's plain words."""
    vague = one.speaker in _VAGUE or one.signature == WORDS
    return one.role in ("error", "harmless") and not vague


_TRACED = re.compile(
    r"tracer|traced array|concrete value|key data|static_arg|singular|positive[- ]definite|not converge"
    r"|failed to converge|non-finite|contains? (?:nan|inf)|probability tensor"
    r"|(?:cannot find|could not find|missing|no such|unknown) tensor\b|tensor [^\n]{1,120} (?:was )?not found"
    r"|(?:missing|unexpected) key|must feed a value|fetch argument|exist in the graph|\bnan\b",
    re.IGNORECASE,
)
"""What is no matter of the GPU: a value asked of an array that has none yet (JAX), numbers that have no solution, a file of weights that lacks one."""


def _printed(text: str) -> Ending | None:
    """The last line in which something that works on arrays tells of an error without raising it."""
    if text.count("\n") > PRINTED:
        return None
    for number, line in reversed(list(enumerate(text.splitlines(), 1))):
        if _COMPLAINT.search(line) and _DIALECT.search(line):
            return Ending("fatal", "", line.strip(), line=number, first=number, last=number)
    return None


PRINTED = 60
"""A text of at most so many lines is read for what was only printed."""
_COMPLAINT = re.compile(r"\berror\b|\bfail|assert|\[E[\]:]|exception|non-zero status|\bfatal\b", re.IGNORECASE)


Found = tuple[str, dict[str, str]]
NOTHING: Found = ("", {})


def _refused(ending: Ending) -> Found:
    """What the ending refuses: a setting, what it was handed, the place that lies in, or the moment; "" where nothing."""
    said = ending.message[:FIRST]
    if ending.kind not in ("exception", "fatal") or not ending.line or not said or _TRACED.search(said):
        return NOTHING
    variable = _VARIABLE.search(said)
    if variable and _BAD.search(said) and ending.name not in ("KeyError", "NameError"):
        return "refused.setting", {"name": variable["name"]}
    return _by_framework(ending, said) if _framework(ending, said) else NOTHING


def _by_framework(ending: Ending, said: str) -> Found:
    """The same by the file of the framework that raised it, else by the words."""
    file = ending.frame.file if ending.frame is not None else ""
    if _DATA.search(said.split("\n", 1)[0]) or _DATA.search(file) or _BESIDE.search(file) or from_data(ending):
        return NOTHING
    if ending.owner in OPERATING - _SERVERS and _SETTINGS.search(file):
        return "refused.setting", {"name": f"a setting of {ending.owner}"}
    if ending.owner in OPERATING and "distributed" in file and not _of_tensors(said):
        return "refused.group", {}
    return _kind(ending, said), {}


def _kind(ending: Ending, said: str) -> str:
    if ending.name == "FailedPreconditionError" or (_MOMENT.search(said) and not _strictly(said)):
        return "refused.moment"
    if _DEVICE.search(said):
        return "refused.device"
    if _PLACE.search(said) and not _strictly(said):
        return "refused.place"
    if _OPERANDS.search(said) or _WANTED.search(said):
        return "refused.operands"
    return _STATUSES.get(ending.name, "") or _STATUSES.get(said.partition(":")[0].strip(), "")


_STATUSES = {
    "UnimplementedError": "refused.operands",
    "INVALID_ARGUMENT": "refused.operands",
    "UNIMPLEMENTED": "refused.operands",
    "FAILED_PRECONDITION": "refused.moment",
    "AlreadyExistsError": "refused.moment",
    "ALREADY_EXISTS": "refused.moment",
}
"""What a class of TensorFlow's and XLA's statuses stands for, where the words tell nothing."""


def _of_tensors(said: str) -> bool:
    """Whether what is refused are tensors, by their figures or by name."""
    return _strictly(said) or bool(re.search(r"\btensors?\b|\bd(?:ata )?types?\b", said))


def _strictly(said: str) -> bool:
    """Whether figures or types of arrays are told, which decide before words of time do."""
    return bool(re.search(r"[\[(]\d+(?:, ?\d+)*,?[\])]|\b(?:float|int|bfloat|uint)\d+\b|\bsize \d", said))


def _framework(ending: Ending, said: str) -> bool:
    """Whether a framework speaks: by the file that raised it, by the exception's own module, or in words of its own."""
    if ending.name in _OTHERS or by_hand(ending) or asserted_by_user(ending):
        return False
    below = _BELOW.search(ending.message)  # frames that were pasted below the message
    speakers = {ending.owner, _NATIVE.get(ending.type, ending.type.partition(".")[0]), below["owner"] if below else ""}
    if "values to unpack" in said:
        return bool(_UNPACKED.search(f"{ending.frame.code if ending.frame else ''} {ending.message}"))
    return bool(speakers & OPERATING) or (ending.owner in ("", USER) and _in_its_words(ending, said))


_NATIVE = {"c10::Error": "torch", "c10::IndexError": "torch", "c10::ValueError": "torch", "c10::TypeError": "torch"}
"""Exceptions of a framework's C++ that nobody caught."""
_UNPACKED = re.compile(r"= ?[\w.]+\.(?:shape|size\(\))")
_OTHERS = PLAIN - {"_LinAlgError", "LinAlgError", "FloatingPointError", "ArgumentError"}
"""Exceptions that Python or others raise of their own matters."""


def _in_its_words(ending: Ending, said: str) -> bool:
    """Whether only a framework would say it so, or say it of the code that called it."""
    if _DIALECT.search(said):
        return ending.frame is None or not ending.frame.code.startswith(("raise", "assert"))
    if ending.frame is not None:
        return bool(_CALLED.search(ending.frame.code)) and not ending.frame.code.startswith(("raise", "assert"))
    return ending.type == "RuntimeError" and bool(_ARRAYS.search(said))  # pasted alone: few others raise it of arrays
