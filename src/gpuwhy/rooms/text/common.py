"""Conditions and phrases that the rooms of several causes use."""

from __future__ import annotations

import re

from gpuwhy.model.symptom import Condition, Reading, Symptom
from gpuwhy.rooms.text.conditions import (
    all_of,
    alone_beside,
    any_of,
    asks,
    field,
    in_container,
    line,
    no,
    whole,
    with_,
)

BARE = no(in_container)

CUDA_LIBRARY = asks("cuda", "nccl")

CUDA_TITLED = all_of(CUDA_LIBRARY, no(with_("loader.", "windows.")))

SKIPPED = alone_beside("tf.no_cuda_drivers", "tf.skipping")

CUDNN_LIBRARY = asks("cudnn")

CUDNN_TITLED = all_of(CUDNN_LIBRARY, no(with_("loader.", "windows.")))

FIGURES = "{wanted} was asked for; {free} of {total} was free and this process held {reserved}"

GRABS = any_of(
    with_("tf.", "jax.", "harmless.", "memory.tf", "memory.bfc", "memory.xla"),
    line(r"xla|tensorflow|jax|stream_executor|cuda_dnn"),
)

OF_SHM = any_of(line(r"/dev/shm|semlock|shared memory|torch_\d|psm_"), with_("memory.shm", "limit.shm_here"))

_PACKAGED = re.compile(
    r"site-packages[\\/](?:cupy|numba|pycuda|warp)[\\/][^\s(]{0,120}\.(?:cuh|hp?p?)\(", re.IGNORECASE
)
"""A header of a package that is compiled at run time: the user wrote no line of it."""


def in_a_package(s: Symptom, r: Reading) -> bool:
    """Whether a run-time compiler stops in a header that an installed package brings."""
    return any(_PACKAGED.search(one.text) for one in r.symptoms if one.signature == "build.cu_error")


_CUT = re.compile(
    r"closing brace|missing closing|expected an? (?:declaration|identifier|expression|\"[;})\]]\")|unterminated|unbalanced"
    r"|end of (?:source|file)|unrecognized token|#endif|stray|null character|unexpected (?:end|eof)",
    re.IGNORECASE,
)
"""What a compiler says of a text that stops in the middle, or is none."""


def cut_short(s: Symptom, r: Reading) -> bool:
    """Whether a header that an installed package brings is no whole text."""
    return in_a_package(s, r) and bool(_CUT.search(s.text))


BY_NCCL = line(r"nccl|socketstartconnect|socketpollconnect|net/socket|misc/socket|ibv_")


def of_network(s: Symptom, r: Reading) -> bool:
    """A plain download or web request, not a process of the job."""
    return r.has("python.http") or "urllib" in s.text or "http" in s.text.lower()


_JOBS = re.compile(
    r"torch|jax|tensorflow|keras|nccl|gloo|cuda|gpu|nvidia|\bmpi|slurm|srun|\bray\b|\brank|xla|cupy|vllm|deepspeed|accelerate"
    r"|lightning|horovod|\bnode\b|application processes|process \d+ terminated|primary job|processexited",
    re.IGNORECASE,
)


def of_a_job(s: Symptom, r: Reading) -> bool:
    """The text names a framework, a launcher or a rank, so that a process that died is one of a job."""
    return bool(_JOBS.search(r.excerpt))


LAUNCHED = whole(r"deepspeed|pdsh|mpirun|mpiexec|orted|prted|horovod|torchrun|charmrun|\brank\b|nccl")
"""A launcher that starts the processes of a job on other machines has a part in the text."""


_MEETING = whole(
    r"torchrun|\bc10d\b|torch[./]distributed|\bTCPStore|rendezvous|master[_ -]?(?:port|addr)|\b29[45]\d\d\b|init_process_group"
    r"|deepspeed|horovod|\bmpi|gloo|nccl|\brank\b|accelerate launch|\bddp\b|grpc server|jax[./]\w*distributed|coordinator"
    r"|ClusterSpec|TF_CONFIG|dask|\bray\b|ps_hosts"
)
"""Processes of one job meet at an address."""
_SERVING = whole(
    r"uvicorn|gunicorn|hypercorn|waitress|fastapi|flask|werkzeug|django|aiohttp|tornado|jupyter|streamlit|gradio|tensorboard"
    r"|visdom|mlflow|http\.server|httpserver|socketserver|api[_-]server|web ?ui|webserver|run_server|ollama|nginx|listen_address"
    r"|create_server|prometheus|dashboard|debugpy|docker-proxy|\bport is already allocated|0\.0\.0\.0:\d|localhost:\d"
)


def of_a_server(s: Symptom, r: Reading) -> bool:
    """A server of the program's own waits for visitors, and no job meets there."""
    return _SERVING(s, r) and not _MEETING(s, r)


OTHER_DRIVERS = whole(
    r"jdbc|odbc|node\.js|mongo|chromedriver|geckodriver|webdriver|selenium|\bsql|database|printer|wi-?fi|ethernet|audio|storage driver|csi driver"
)
"""A driver of something else: a database, a browser, another device."""


def nothing_else(s: Symptom, r: Reading) -> bool:
    """No message in the text says more than that something fails."""
    return all(
        o.speaker in ("title", "python", "signal") or o.role == "echo"
        for o in r.symptoms
        if o.role in ("error", "echo")
    )


SAID_TO_FAIL = "the text says that the GPU fails"


def said_of(pattern: str) -> Condition:
    """A failure in general words whose line speaks of something."""
    return all_of(nothing_else, line(pattern))


NOT_FOUND = r"not (?:found|available|detect|recogni|us)"

OF_MEMORY = with_("memory.", "said.no_memory", "cuda.out_of_memory", "cudnn.", "cublas.", "title.oom")

LACKS_ENTRY = field("what", r".*(?:proced|procéd|prozedur|proceso|процедур|程序|プロシージャ|프로시저)")
"""Windows says, in its own language, that a DLL lacks a function."""


_GPU_PACKAGE = re.compile(
    r"\b(?:torch|tensorflow|jax|nvidia|cupy|onnxruntime|triton|xformers|flash_attn|vllm|paddlepaddle|bitsandbytes|tensorrt|cudnn"
    r"|numba|mxnet|cudf|cuml|deepspeed|nccl|apex|mmcv|cudatoolkit|libcu\w+)[\w.+-]*",
    re.IGNORECASE,
)


def of_gpu_package(s: Symptom, r: Reading) -> bool:
    """A package of the GPU stack is named in the text."""
    return bool(_GPU_PACKAGE.search(r.excerpt))


_AT_RUN_TIME = re.compile(
    r"triton|inductor|\bxla|\bjax|tensorflow|numba|cupy|\btorch|vllm|\bhlo\b|nvrtc", re.IGNORECASE
)
_FOLDERS = re.compile(r"/(?:opt|home|usr|root|srv|data|mnt)/[^\s\"':,;()]*/(?=[^/\s]*)")


def at_run_time(_: Symptom, r: Reading) -> bool:
    """Something that compiles while it runs has a part in the text, other than by the name of a folder."""
    return bool(_AT_RUN_TIME.search(_FOLDERS.sub("", r.excerpt)))


_OF_PROVIDERS = re.compile(r"provider|cuda|gpu|device|tensorrt|\.so\b|\.dll\b", re.IGNORECASE)

_LIST = re.compile(r"\['\w+ExecutionProvider'[^\]\n]*\]")


def providers_matter(_: Symptom, r: Reading) -> bool:
    """A list of ONNX Runtime's providers is what the text is about: no exception of another matter ended the program."""
    said = _LIST.sub("", r.ending.message.partition("\n")[0])
    return r.ending.kind != "exception" or bool(_OF_PROVIDERS.search(said))
