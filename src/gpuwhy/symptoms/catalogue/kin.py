"""Statuses of NVIDIA's smaller libraries, which have no table: by the kind that the end of their names tells."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, error

_LIBRARY = (
    r"(?P<library>cutensor(?:net|mg)?|cudss|cusparselt|nvjpeg(?:2k)?|npp|nvcomp|custatevec|cutensormap|nvtiff|nvimgcodec|nvshmem|cufile|nvpl|curaft|"
    r"optix|nvenc|nvdec|nv_enc|cuvid|vpi|cvcuda|nvfatbin|nvvm|cupti|cudla)"
)
_BETWEEN = r"_?(?:status|error|err|result)?_?"
_KINDS = {
    "refused": r"(?:invalid_?(?:value|argument|parameter|params?|size|format|type|input|version|shape|option)"
    r"|bad_?(?:parameter|param|argument|jpeg|bitstream|data)|not_?supported|unsupported\w{0,30}|size_?error"
    r"|step_?error|bad_?argument_?error|jpeg_?not_?supported|incomplete_?bitstream|corrupted_?\w{0,20}"
    r"|null_?pointer\w{0,8}|data_?type_?error|range_?error|noimplementation\w{0,20}|not_?implemented)",
    "unready": r"(?:not_?(?:yet_?)?initiali[sz]ed|invalid_?(?:handle|plan|context|state|operation)|not_?ready|uninitiali[sz]ed|already_?\w{1,30})",
    "empty": r"(?:alloc(?:ation|ator)?_?(?:failed|failure)|out_?of_?memory|insufficient_?(?:workspace|memory|resources?|buffer)|memory_?allocation\w{0,10}|cuda_?malloc\w{0,10})",
    "older": r"(?:unsupported_?(?:abi|driver|api)_?version|(?:incompatible|invalid|insufficient)_?driver\w{0,10}|driver_?too_?old)",
    "lacks": r"(?:arch_?mismatch|insufficient_?driver|no_?kernel_?image\w{0,20}|unsupported_?(?:device|gpu|arch\w{0,12})|no_?encode_?device)",
}
_ANCHORS = (
    "cutensor", "cudss", "cusparselt", "nvjpeg", "npp", "nvcomp", "custatevec", "nvtiff", "nvimgcodec", "nvshmem", "cufile", "nvpl",
    "curaft", "optix", "nvenc", "nvdec", "nv_enc", "cuvid", "vpi", "cvcuda", "nvfatbin", "nvvm", "cupti", "cudla",
)  # fmt: skip

SIGNATURES: tuple[Signature, ...] = (
    *(
        error(f"kin.{kind}", rf"\b{_LIBRARY}{_BETWEEN}(?P<name>{names})\b", *_ANCHORS, covers=("title.", "python.exception", "else."))
        for kind, names in reversed(_KINDS.items())
    ),
    error(
        "kin.entry",
        r"on entry to (?P<call>cu(?:blas|sparse|solver|fft|dss|tensor)\w{2,60})(?:\(\))? +parameter number (?P<number>\d+)(?: \((?P<name>\w{1,40})\))? had an illegal value",
        "on entry to cu",
        covers=("title.", "python.exception", "else."),
    ),
    error(
        "nccl.call_says",
        r"\b(?P<call>nccl(?!result|success)\w{3,40})(?:\([^\n]{0,200}?\))?[^\w\n]{1,6}(?:failed|error|returned)?[^\w\n]{0,4}"
        r"(?P<says>invalid (?:argument|usage)|internal error|remote process exited|unhandled (?:cuda|system) error)\b",
        "nccl",
    ),
)  # fmt: skip
