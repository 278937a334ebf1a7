"""The variables of an environment as tweaks: each left out, and of those that are lists each entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gpuwhy.knowledge.readings import known_names
from gpuwhy.knowledge.settings import ANYTHING, faults
from gpuwhy.knowledge.variables import FOREIGN, steers
from gpuwhy.prove.proof import Tweak

KEPT = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "PWD", "OLDPWD", "SHELL", "SHLVL", "_", "TERM", "MAIL", "HOSTNAME"}
)
"""Variables that a clean login has too; PATH is looked at by its entries."""
LISTS = {
    "LD_LIBRARY_PATH": ":", "LD_PRELOAD": ": ", "LD_AUDIT": ":", "PATH": ":", "PYTHONPATH": ":",
    "XLA_FLAGS": " ", "PYTORCH_CUDA_ALLOC_CONF": ",", "PYTORCH_ALLOC_CONF": ",", "NVCC_APPEND_FLAGS": " ",
    "NVCC_PREPEND_FLAGS": " ", "PYTHONWARNINGS": ",", "LIBTPU_INIT_ARGS": " ", "TF_XLA_FLAGS": " ", "CPATH": ":",
    "LIBRARY_PATH": ":", "LD_LIBRARY_PATH_64": ":",
}  # fmt: skip
"""Variables that hold several values, and what stands between them; "" where only all of them together make sense."""
SYSTEM = frozenset({"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"})
INERT = re.compile(
    r"(?:SSH_|XDG_|LC_|GNOME_|GTK_|QT_|KDE_|DBUS_|LESS|SUDO_|WINDOW|DESKTOP|GIT_|VSCODE_|TERM|I_MPI|STY|TMUX|PS\d|GPG_|"
    r"PIP_|UV_|SYSTEMD_|INVOCATION_|JOURNAL_|NVM_|FZF_|ZSH|BASH_|HIST)"
    r"|(?:LANG|LANGUAGE|LS_COLORS|COLORTERM|EDITOR|VISUAL|PAGER|DISPLAY|WAYLAND_DISPLAY|MANPATH|INFOPATH|TZ|EMAIL|"
    r"COLUMNS|LINES|IFS|PROMPT|DEBIAN_FRONTEND|MOTD_SHOWN|P9K_SSH|DEFAULTS_PATH|MANDATORY_PATH|WSLENV|NAME|"
    r"PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONIOENCODING|VIRTUAL_ENV\w*|CONDA_\w+|_CE_\w+)$"
)
"""Variables of the terminal, the desktop and the shell, which hardly any program's success depends on."""

_CAUSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"LD_LIBRARY_PATH|LD_PRELOAD|LD_AUDIT", (
        "cuda.mixed_libraries", "cudnn.mixed_libraries", "cudnn.version_mismatch", "driver.stub",
        "driver.compat_misuse", "driver.library_mismatch", "env.path", "cuda.version_mismatch", "install.corrupted",
        "framework.extension_abi",
    )),
    (r"PYTHONPATH|PYTHONUSERBASE|PYTHONSTARTUP", ("env.shadowed",)),
    (r"PATH|CUDA_HOME|CUDA_PATH|CUDA_ROOT|CUDNN_\w+|CPATH|LIBRARY_PATH|PYTHONHOME|CUDA_TOOLKIT_ROOT_DIR|TRITON_PTXAS_\w*PATH",
     ("env.path", "cuda.compiler_missing", "program.build", "cuda.version_mismatch")),
    (r"CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|NVIDIA_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES",
     ("device.selection", "env.setting")),
    (r"TMPDIR|TEMP|TMP|\w*CACHE\w*|\w*_CACHE_DIR|MPLCONFIGDIR|XDG_RUNTIME_DIR|\w*_TMPDIR|TORCH_HOME|HF_HOME|TRITON_HOME",
     ("env.limit", "env.path", "env.setting")),
    (r"XLA_PYTHON_CLIENT_\w+|XLA_CLIENT_MEM_FRACTION|TF_FORCE_GPU_ALLOW_GROWTH|TF_GPU_ALLOCATOR",
     ("env.setting", "memory.preallocation", "memory.oom", "memory.fragmentation")),
    (r"PYTORCH_\w*ALLOC_CONF|PYTORCH_NO_CUDA_MEMORY_CACHING", ("env.setting", "memory.fragmentation", "memory.oom")),
    (r"NCCL_\w+|GLOO_\w+|UCX_\w+", ("env.setting", "distributed.nccl")),
    (r"MASTER_ADDR|MASTER_PORT|RANK|WORLD_SIZE|LOCAL_RANK|JAX_COORDINATOR_ADDRESS|TF_CONFIG",
     ("distributed.peer", "env.setting", "distributed.nccl")),
    (r"CUDA_LAUNCH_BLOCKING|CUDA_MODULE_LOADING|CUDA_\w+", ("env.setting",)),
)  # fmt: skip
_CAUSES_BY_NAME = tuple((re.compile(rf"(?:{pattern})\Z"), causes) for pattern, causes in _CAUSES)
RARE, LOADER, STEERING, QUIET, UNKNOWN, DULL = 4.0, 1.5, 1.0, 0.15, 0.12, 0.03
REJECTED = 12.0
"""How much likelier a variable is whose value one of its readers is known to reject."""
_RARE = re.compile(r"(?:LD_PRELOAD|LD_AUDIT|PYTHON(?!PATH\Z|HASHSEED\Z|WARNINGS\Z|NOUSERSITE\Z|FAULTHANDLER\Z)\w+)\Z")
"""Variables that hardly anybody has set, and that change everything."""
_LOADER = re.compile(r"(?:LD_\w+|PYTHON\w+|CUDA_VISIBLE_DEVICES|XLA_FLAGS|JAX_PLATFORMS?|TMPDIR)\Z")
_QUIET = re.compile(
    r"\w*(?:_LOG|LOG_LEVEL|VERBOS|_DEBUG\Z|NUM_THREADS|DEVICE_ORDER|PARALLELISM|_OFFLINE|WANDB_)\w*\Z|SLURM_|PBS_|LSB_|CUDA_HOME|CUDA_PATH"
)
"""Variables of every cluster and every recipe, which say how much is printed or how many threads there are."""
_COMPUTING = re.compile(
    r"(?:OMP_|MKL_|OPENBLAS_|KMP_|GOTO_|BLIS_|VECLIB_|NUMEXPR_|NUMBA_|MALLOC_|GLIBC_|KERAS_|HF_|TRANSFORMERS_|OPENCV_|"
    r"PROTOCOL_BUFFERS|RAY_|ONNX|MASTER_|TORCHINDUCTOR_|TORCHDYNAMO_|TORCH|TF\d?_|DNNL_|ONEDNN_|ASAN_|TMP|TEMP)"
)


def causes_of(name: str) -> tuple[str, ...]:
    """The causes that a variable stands for when the program runs without it."""
    return next((causes for pattern, causes in _CAUSES_BY_NAME if pattern.match(name)), ("env.setting",))


def usual(name: str) -> float:
    """How often a variable of this name is what matters, against others."""
    if INERT.match(name) or name.startswith(FOREIGN):
        return DULL
    if _RARE.match(name):
        return RARE
    if _QUIET.match(name):
        return QUIET
    if _LOADER.match(name):
        return LOADER
    if steers(name) or _COMPUTING.match(name) or name in known_names():
        return STEERING
    return UNKNOWN


def split(name: str, value: str) -> list[str]:
    """The entries of a variable that is a list; one entry for the others."""
    between = LISTS.get(name, "")
    if not between:
        return [value]
    return [one for one in re.split(f"[{re.escape(between)}]", value) if one]


def without(name: str, value: str, gone: frozenset[str]) -> str | None:
    """The value without some entries; None where nothing is left."""
    between = LISTS.get(name, "")
    kept = [one for one in split(name, value) if one not in gone]
    return (between or ":")[0].join(kept) if kept else None


def variables(environ: Mapping[str, str], needed: frozenset[str] = frozenset()) -> Iterator[Tweak]:
    """A tweak for every variable and every entry; `needed` are folders of PATH that the program itself comes from."""
    for name, value in environ.items():
        if name == "PATH":
            yield from _entries(name, [one for one in split(name, value) if one not in SYSTEM | needed])
        elif name not in KEPT:
            parts = list(dict.fromkeys(split(name, value)))
            yield from (
                _entries(name, parts)
                if len(parts) > 1
                else [unset(name, usual(name) * (REJECTED if faults(name, value, ANYTHING) else 1.0))]
            )


def unset(name: str, weight: float) -> Tweak:
    """A variable left out as a whole."""
    return Tweak(
        f"unset {name}", "unset", f"without {name}", name, causes=causes_of(name), weight=weight,
        command=f"unset {name}",
    )  # fmt: skip


def _entries(name: str, entries: list[str]) -> Iterator[Tweak]:
    share = usual(name) / max(1, len(entries)) ** 0.5
    for one in entries:
        yield Tweak(
            f"drop {name} {one}", "drop", f"without {one} in {name}", name, one, causes=causes_of(name),
            weight=share * (0.1 if name == "PATH" else 1.0), command=f"take {one} out of {name}",
        )  # fmt: skip
