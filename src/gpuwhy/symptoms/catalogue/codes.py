"""Status codes of CUDA, cuDNN, cuBLAS and their kin: by name, by number, by what the runtime says. From the tables."""

from __future__ import annotations

import re

from gpuwhy.knowledge.codes import cuda_messages, table
from gpuwhy.model.signature import Signature, error

SHORT = 4
"""A sentence of fewer words is said by others too: it counts only behind a CUDA word."""


_SAID = sorted(cuda_messages(), key=len, reverse=True)
_PLAIN = (
    "misaligned address",
    "hardware stack error",
    "invalid program counter",
    "invalid device function",
    "invalid resource handle",
    "invalid configuration argument",
)
"""Short ones that nobody else says."""
_LONG = [text for text in _SAID if len(text.split()) >= SHORT or "-" in text or "cuda" in text or text in _PLAIN]
_SHORT = [text for text in _SAID if text not in _LONG]


def _either(texts: list[str]) -> str:
    return "|".join(re.escape(text) for text in texts)


_CONTEXT = (
    r"(?:cuda(?: runtime| driver| api)? (?:error|failure|exception)|cudart? error|cuda kernel|\bstatus|cuinit(?:\(0\))? failed"
    r"|cuda\w+ failed|cu[A-Z]\w+ failed|cuda(?:runtime|driver)?error|cudasupporterror|cudadrivererror|logicerror|gpuassert"
    r"|cuda failed with error|error \d+|cuda[^\n]{0,40} error|thrust::system_error|cuda_error\w*|cudaerror\w*|cuda error code=\d+"
    r"|triton error \[cuda\]|\(\d+ vs\. 0\))"
)
_CALLS = (
    r"cu(?:init|ctx|device|mem|module|link|launch|stream|event|func|graph|driver|get|array|tex|surf|ipc|library|kernel|occupancy|import)\w*"
    r"|cuda(?:get|set|malloc|free|mem|device|stream|event|launch|host|peek|func|graph|ipc|driver|runtime|init|occupancy|create|destroy|choose|bind)\w*"
)
"""Calls of the driver and of the runtime, by how their names begin."""

_LIBRARIES = ("cudnn", "cublas", "cusolver", "cusparse", "cufft", "curand", "nvrtc", "nvjitlink", "nvml")

_STATUS = dict.fromkeys(("cufft", "nvrtc", "nvjitlink", "nvml"), "(?!status_success|success)(?:status_|error_)?")
"""What stands between a library's name and that of a status, where it is not _STATUS_."""

_NCCL = [row.name.lower() for row in table().libraries["nccl"].values()]
_FAILED = "error|failure|failed|returned|returns|result|status(?:_t)?|exception"

_SENTENCES = (  # as jaxlib's gpu_kernel_helpers.cc spells them
    ("not_initialized", "has not been initialized|not initialized"),
    ("alloc_failed", "allocation failed|allocation failure"),
    ("invalid_value", "invalid value error"),
    ("execution_failed", "execution failed"),
    ("internal_error", "internal error"),
)

SIGNATURES: tuple[Signature, ...] = (
    error("cuda.name", r"(?<!==)(?<!== )(?<!==  )(?<!==   )(?<!==    )\b(?P<name>cudaerror[a-z]\w+|cuda_error_[a-z_0-9]+)", "cudaerror", "cuda_error_", table="cuda",
          covers=("cuda.says", "cuda.says_short", "cuda.number", "memory.oom_words")),
    error("cuda.says", rf"(?P<says>{_either(_LONG)})", *_LONG, table="cuda", covers=("cuda.number", "cuda.says_short", "memory.oom_words")),
    error("cuda.says_short", rf"{_CONTEXT}[^\n]{{0,60}}?[\s:'\"(>-](?P<says>{_either(_SHORT)})\b(?! ?\(-?\d)", *_SHORT, table="cuda",
          covers=("cuda.number", "memory.oom_words")),
    error("cuda.call_says",
          rf"\b(?P<call>{_CALLS}|cuda(?!error|success)\w{{4,60}})(?:\([^\n]{{0,160}}?\))?[^\w\n]{{1,6}}(?:failed|error|returned)?[^\w\n]{{0,4}}(?P<says>{_either(_SHORT)})\b(?! ?\(-?\d)",
          *_SHORT, table="cuda",
          covers=("cuda.number", "cuda.says_short", "memory.oom_words")),
    error(
        "cuda.number",
        r"(?:cuda(?: runtime| driver| api)? (?:error|failure|status)(?: code)?[ :=(#\[]*(?:error code )?|unknown error \(|curesult\(|"
        r"unknown cuda error |cudagetdevicecount\(?\)? ?(?:returned|failed|->)[^\d\n]{0,20}|cuinit\(?0?\)?[^\d\n-]{0,40}"
        r"|cuda (?:error|failure) no\.? ?|error code=|cuinit err: ?"
        r"|(?:nvcuda|cudart|cuda driver library) init(?:ialization)? failure: ?|cudasuccess \("
        r"|cuda_success == [^\n]*vs\. |"
        r"cuda initialization failure with error:? |cuda(?:api|support|driver)error\W{1,3}|linkererror\W{1,3}"
        r"|cuda error\(|code (?=\d+, error_)|cuerror\(|cudaerror_t\W+|cudaerror\W+)(?P<number>-?[1-9]\d{0,2})\b",
        "cuda error", "cuda failure", "cuda runtime error", "cuda driver error", "unknown error (", "curesult(",
        "cudagetdevicecount", "cuinit", "error code=", "cuda api", "cuda status", "cuerror(", "init failure",
        "cudasuccess (", "cuda_success == ", "initialization failure", "cudaapierror", "cudasupporterror",
        "cudadrivererror", "linkererror", ", error_", "cudaerror_t", "cudaerror",
        table="cuda",
    ),
    error(
        "cuda.call_number",
        rf"\b(?:{_CALLS}|cudart)"
        r"(?:\([^)\n]{0,60}\))?[^\w\n]{0,4}(?:init |call |api )?(?:err(?:or)?|fail(?:ed|ure)?|returned|returns"
        r"|status|res(?:ult)?|code"
        r"|->)(?:[^\w\n-]{0,4}(?:error|err|code|with|res(?:ult)?|status|value|number|curesult|is|was))*"
        r"[^\w\n-]{0,4}(?P<number>[1-9]\d{0,2})\b(?![.\d])",
        "cuinit", "cuctx", "cudevice", "cumem", "cumodule", "culink", "culaunch", "custream", "cuevent", "cufunc",
        "cugraph", "cudriver", "cuget", "cudaget", "cudaset", "cudamalloc", "cudafree", "cudamem", "cudadevice",
        "cudastream",
        "cudaevent", "cudalaunch", "cudahost", "cudapeek", "cudafunc", "cudagraph", "cudaipc", "cudadriver", "cudaruntime", "cudainit", "cudart",
        "cuarray", "cutex", "cusurf", "cuipc", "culibrary", "cukernel", "cuoccupancy", "cuimport", "cudaoccupancy", "cudacreate", "cudadestroy", "cudachoose", "cudabind",
        table="cuda", covers=("cuda.number",),
    ),
    *(
        error(f"{library}.name", rf"\b(?P<name>{library}_{_STATUS.get(library, 'status_(?!success)')}[a-z_]+[a-z])(?:[^\n]*?calling `(?P<call>\w+))?",
              *((f"{library}_status_",) if library not in ("cufft", "nvrtc", "nvjitlink", "nvml")
                else (f"{library}_error_", f"{library}_")), table=library, covers=(f"{library}.number",))
        for library in _LIBRARIES
    ),
    *(
        error(
            f"{library}.number",
            rf"\b{library}(?!getversion)\w*(?:\([^\n]{{0,240}}?\))?(?: call)?(?:\W{{0,5}}(?:{_FAILED}|gave|says?|came back with)\W{{0,4}}(?:(?:code|number|with|status|error)\W{{0,4}}){{0,2}}| ?(?:->|=>|=) ?)"
            rf"(?P<number>\d{{1,4}})\b(?!\.\d)"
            rf"|\b{library}\w*(?:\([^\n]{{0,240}}?\))?[^\n]{{0,40}}\b(?:error|failed)\b[^\n()]{{1,60}}\((?P<number3>\d{{1,4}})\)"
            rf"|\b{library}_(?:status_)?success\W{{1,3}}(?P<number2>\d{{1,4}}) vs",
            library, table=library)
        for library in (*_LIBRARIES, "nccl")
    ),
    *(
        error(f"{library}.{slug}", rf"\b{library} (?:{words})", *(f"{library} {word}" for word in words.split("|")))
        for library in ("cublas", "cusolver", "cusparse", "cufft")
        for slug, words in _SENTENCES
    ),
    error("cudnn.number_said", r"\bcudnn(?: [a-z]{2,16}){1,3} (?:failed|error|status)\W{1,4}(?:(?:code|status|error)\W{1,3})?(?P<number>\d{1,4})\W*$",
          "cudnn", table="cudnn"),
    error("cublas.unknown", r"unknown cublas (?:status|error)|cublas error\((?!(?:[01378]|1[13456])\))\d+\)", "unknown cublas", "cublas error("),
    error("nvml.class", r"nvmlerror_(?P<name>\w+)|nvml[^\n]{0,20}?\berror_(?P<name2>\w+)", "nvmlerror_", "nvml", table="nvmlclass"),
    error("nccl.name", rf"\b(?P<name>{_either(_NCCL)})\b", *_NCCL, table="nccl"),
)  # fmt: skip
