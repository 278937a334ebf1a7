"""Calls: what a status means by the call that returned it, as NVIDIA's documents of the APIs say.

"invalid argument" from a copy is a size or a pointer, from a launch a grid, from an event one that nobody recorded. The
table is complete over the statuses that mean different things; those that mean one thing stand in the rooms of the causes.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

_FAMILIES = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("launch", r"launch(?!.*graph)|occupancy|funcset|funcget|setsharedmem|kernelset"),
        ("kernelnode", r"graph\w*kernelnode"),
        ("node", r"graph\w*mem(?:cpy|set|alloc)node"),
        ("make", r"(?:stream|event|graph|ctx|userobject)create|streamset"),
        ("graph", r".*graph(?!ics)|stream(?:begin|end|is|get)?\w*captur|streamupdatecapture"),
        ("event", r"event"),
        ("last", r"getlasterror|peekatlasterror"),
        ("wait", r".*synchronize|streamquery"),
        ("stream", r"stream(?!.*mem)"),
        (
            "pinned",
            r"hostalloc|mallochost|memhost|memallochost|hostregister|hostget|hostunregister|freehost|memfreehost",
        ),
        ("free", r"free|memfree|.*destroy"),
        ("symbol", r"memcpy(?:to|from)symbol|getsymbol"),
        ("link", r"link"),
        ("module", r"module|library(?!getversion)|kernel|getfuncbysymbol"),
        ("peer", r".*peer|ipc"),
        ("share", r"mem(?:import|export)|.*shareable|import(?:external)|.*external(?:mem|sem)"),
        ("move", r"memcpy(?!2d|3d|toarray|fromarray|arrayto|peer)"),
        ("copy", r"memcpy|memset|memprefetch|memadvise|copy"),
        ("array", r".*array|.*tex(?:ture|obj|ref)|.*surf|.*mipmap|.*channeldesc"),
        ("alloc", r"malloc|memalloc|mempool|memcreate|memmap|memaddress"),
        ("limit", r"devicesetlimit|ctxsetlimit|devicesetcacheconfig|ctxsetcacheconfig|setdeviceflags|devicereset"),
        ("count", r"getdevicecount|devicegetcount"),
        ("device", r"setdevice|getdevice|deviceget|choosedevice|setvaliddevices|device(?:can|total|compute)"),
        ("context", r"ctx|deviceprimaryctx|init$"),
    )
)
_LIBRARIES = ("cublas", "cusparse", "cusolver", "cufft", "curand", "cudnn", "nvrtc", "nvjitlink", "nccl", "nvml")
_CALL = re.compile(
    r"\b(?P<call>(?:cublas(?:Lt|Xt)?|cusparse|cusolver|cufft|curand|cudnn|nvrtc|nvJitLink|nccl|nvml)(?!Status|Result|Error)[A-Z]\w{2,60}"
    r"|cuda(?!Error|Success|Runtime|Driver|DevAttr|LimitM|FuncAttr|MemcpyHost|MemcpyDevice|MemcpyDefault)[A-Z][a-z]\w{2,60}|cu(?!da)[A-Z][a-z]\w{2,60})\b"
)
_WORKS = re.compile(r"create$|createhandle|handlecreate|init(?:ialize)?$|setup|plan\w*$|makeplan")


class Meaning(NamedTuple):
    """What a status tells of a call of some family: the cause, and a sentence in which {call} is the call."""

    api: str
    status: str
    families: frozenset[str]  # empty: whatever was called, unless another row names its family
    cause: str
    text: str


def call_in(text: str) -> str:
    """The first call of CUDA or of its libraries that a text names; "" where it names none."""
    found = _CALL.search(text)
    return found["call"] if found else ""


@cache
def family_of(call: str) -> str:
    """The family of a call: what it works on; "" where its name does not tell."""
    lower = call.lower()
    library = next((one for one in _LIBRARIES if lower.startswith(one)), "")
    if library == "nvml":
        return "handle" if "gethandleby" in lower else "work"
    if library:
        return "create" if _WORKS.search(lower.removesuffix("_v2")) else "work"
    bare = lower.removeprefix("cuda").removeprefix("cu")
    return next((name for name, pattern in _FAMILIES if pattern.match(bare)), "")


def of_its_own(api: str, status: str) -> frozenset[str]:
    """The families of calls for which a row of their own tells what a status means."""
    return _FAMILIES_TOLD.get((api, status), frozenset())


def _rows(api: str, cause: str, text: str, statuses: str, families: str = "") -> list[Meaning]:
    return [Meaning(api, status, frozenset(families.split()), cause, text) for status in statuses.split()]


_GIVEN = "{call} was given a size, a pointer or a flag that it does not take"
_STATE = "{call} was given something that was never made, is already gone, or is not in the state for it"
_MADE = "{call} came before what it works on was made, or after that was gone"
_REFUSED = "{call} refuses the shape, the type or the layout of what it was given"
_EMPTY = "{call} found no memory left on the GPU for what it has to make"
_LACKS = "{call} has no code for this GPU"
_WILD = "{call} met an error of the GPU: a kernel, this one or one before it, touched what it must not"

MEANINGS: tuple[Meaning, ...] = (
    *_rows("cuda", "program.shape", _GIVEN, "invalid_value", "make alloc copy move array pinned symbol node share"),
    *_rows("cuda", "program.shape", "{call} was given a handle or a file that nobody made for sharing", "invalid_handle unknown", "share"),
    *_rows("cuda", "program.shape", "{call} was given a description with nothing behind it, or one that does not fit", "invalid_handle", "array node"),
    *_rows("cuda", "program.launch", "{call} was given a kernel, a grid or arguments that cannot be launched",
           "invalid_value invalid_handle invalid_device_function", "kernelnode"),
    *_rows("cuda", "program.illegal_access", "{call} was given an address that is not, or no longer, memory of the GPU", "invalid_value", "move"),
    *_rows("cuda", "program.shape", _GIVEN, "invalid_host_pointer invalid_device_pointer", "copy move"),
    *_rows("cuda", "program.launch",
           "{call} was given a grid, a block, shared memory or arguments that the kernel or the card does not take",
           "invalid_value", "launch last limit"),
    *_rows("cuda", "program.order", _STATE, "invalid_value", "event stream graph free peer wait"),
    *_rows("cuda", "program.order", _STATE, "invalid_handle"),
    *_rows("cuda", "program.build", "{call} was given code, a name or an option that is not there", "invalid_value not_found", "module link"),
    *_rows("cuda", "program.build", "{call} was given a text that is no code of the kind it was told", "invalid_image invalid_source no_binary_for_gpu", "link"),
    *_rows("cuda", "program.build", "{call} asks for a function or a variable that the code does not have", "not_found invalid_symbol"),
    *_rows("cuda", "device.selection", "{call} was asked about a device that does not exist", "invalid_value invalid_device", "device"),
    *_rows("cuda", "program.launch", _GIVEN, "unsupported_limit", "limit"),
    *_rows("cuda", "memory.host", "{call} asks for pinned memory of the host, and gets none", "out_of_memory", "pinned"),
    *_rows("cuda", "program.order", "{call} came when the driver was already shutting down: at the program's end, as from a destructor", "deinitialized"),
    *_rows("cuda", "program.order", _MADE, "context_is_destroyed invalid_context", "context alloc copy move module launch wait event stream graph free pinned"),
    *_rows("cuda", "program.order", _STATE,
           "peer_access_already_enabled peer_access_not_enabled host_memory_already_registered host_memory_not_registered graph_exec_update_failure"),
    *_rows("cuda", "program.order", "{call} is not allowed at that moment (inside a callback, during capture, or for this graph)", "not_permitted"),
    *_rows("cuda", "driver.permission", "{call} is not allowed to this process", "not_permitted", "peer share context count device"),
    *_rows("cuda", "framework.gpu_unsupported", "{call} is not supported by this card or driver", "not_supported"),
    *_rows("cuda", "program.launch", "{call} asks for a cluster of blocks that the card does not take", "invalid_cluster_size"),
    *_rows("cuda", "program.illegal_access", _WILD, "hardware_stack_error illegal_instruction invalid_pc invalid_address_space misaligned_address"),
    *_rows("cuda", "device.selection", "{call} was told to join two devices of which one cannot reach the other, or that are one", "peer_access_unsupported"),
    *_rows("cublas", "program.shape", _REFUSED, "invalid_value", "work"),
    *_rows("cublas", "program.shape", _REFUSED, "not_supported", "work"),
    *_rows("cublas", "program.order", _MADE, "not_initialized", "work"),
    *_rows("cusparse", "program.shape", _REFUSED, "invalid_value not_supported matrix_type_not_supported zero_pivot"),
    *_rows("cusparse", "program.order", _MADE, "not_initialized", "work"),
    *_rows("cusparse", "memory.oom", _EMPTY, "alloc_failed insufficient_resources"),
    *_rows("cusolver", "program.shape", _REFUSED,
           "invalid_value not_supported matrix_type_not_supported zero_pivot irs_params_invalid irs_params_invalid_prec irs_params_invalid_refine"
           " irs_params_invalid_maxiter irs_not_supported irs_out_of_range irs_nrhs_not_supported_for_refine_gmres irs_matrix_singular invalid_workspace"),
    *_rows("cusolver", "program.order", _MADE, "irs_params_not_initialized irs_infos_not_initialized irs_infos_not_destroyed"),
    *_rows("cusolver", "program.order", _MADE, "not_initialized", "work"),
    *_rows("cusolver", "memory.oom", _EMPTY, "alloc_failed"),
    *_rows("cufft", "program.order", "{call} was given a plan that was never made or is already destroyed", "invalid_plan"),
    *_rows("cufft", "program.shape", _REFUSED, "invalid_type invalid_value invalid_size unaligned_data incomplete_parameter_list not_implemented not_supported"),
    *_rows("cufft", "memory.oom", _EMPTY, "alloc_failed no_workspace setup_failed"),
    *_rows("cufft", "memory.oom", "{call} could not make the plan: most often its sizes leave no memory for it", "internal_error", "create"),
    *_rows("cufft", "device.selection", "{call} was given a device that does not exist", "invalid_device"),
    *_rows("curand", "program.shape", _REFUSED, "type_error out_of_range length_not_multiple double_precision_required"),
    *_rows("curand", "program.order", _MADE, "not_initialized"),
    *_rows("curand", "cuda.version_mismatch", "{call}: the library is of another release than its header", "version_mismatch"),
    *_rows("curand", "memory.oom", _EMPTY, "allocation_failed initialization_failed"),
    *_rows("curand", "program.illegal_access", _WILD, "preexisting_failure launch_failure"),
    *(row for library in ("cublas", "cusparse", "cusolver", "curand") for row in _rows(library, "framework.gpu_unsupported", _LACKS, "arch_mismatch")),
    *_rows("cudnn", "program.order", _MADE, "bad_param_not_finalized bad_param_stream_mismatch bad_param_cuda_graph_mismatch"),
    *_rows("cudnn", "program.launch", "{call} needs more shared memory than the card has", "not_supported_shared_memory_insufficient not_supported_bad_launch_param"),
    *_rows("cudnn", "memory.oom", _EMPTY, "internal_error_device_allocation_failed"),
    *_rows("cudnn", "memory.host", "{call} found no memory of the host", "internal_error_host_allocation_failed"),
    *_rows("nvml", "program.shape", _GIVEN, "invalid_argument insufficient_size argument_version_mismatch freq_not_supported", "work"),
    *_rows("nvml", "device.selection", "{call} was asked about a device that does not exist", "invalid_argument", "handle"),
    *_rows("nvml", "device.selection", "{call} was asked about a device that does not exist", "not_found gpu_not_found", "handle work"),
    *_rows("nvml", "program.order", _MADE, "uninitialized already_initialized invalid_state", "handle work"),
    *_rows("nvml", "framework.gpu_unsupported", "{call} is not supported by this card or driver", "not_supported vgpu_ecc_not_supported reset_type_not_supported", "work"),
    *_rows("nvrtc", "program.build", "{call} was given source, a name or an option that it does not take",
           "invalid_option invalid_input name_expression_not_valid program_creation_failure"),
    *_rows("nvrtc", "program.order", _MADE, "invalid_program no_lowered_names_before_compilation no_name_expressions_after_compilation"),
    *_rows("nvjitlink", "program.build", "{call} was given code or an option that it does not take",
           "unrecognized_option missing_arch invalid_input ptx_compile nvvm_compile unrecognized_input null_input incompatible_options incorrect_input_type missing_fatbin"),
    *_rows("nvjitlink", "framework.gpu_unsupported", _LACKS, "arch_mismatch"),
)  # fmt: skip
"""Complete for the statuses that a call can be told apart by; a row for a family counts before one for any call."""
_FAMILIES_TOLD: dict[tuple[str, str], frozenset[str]] = {}
for _row in MEANINGS:
    _key = (_row.api, _row.status)
    _FAMILIES_TOLD[_key] = _FAMILIES_TOLD.get(_key, frozenset()) | _row.families
