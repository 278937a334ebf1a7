"""Judges of values that have a grammar of their own: allocator options, architectures, platforms, workspaces."""

from __future__ import annotations

import re
from difflib import get_close_matches

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.values import Wrong, shown
from gpuwhy.knowledge.variables import ALLOCATOR_KEYS

# ---------------------------------------------------------------- PYTORCH_CUDA_ALLOC_CONF

_BRACKETS = re.compile(r"\[[^\]]*\]")
_SINCE = {
    "backend": "2.0", "expandable_segments": "2.1", "release_lock_on_cudamalloc": "2.2",
    "pinned_use_cuda_host_register": "2.1",
    "pinned_num_register_threads": "2.1", "pinned_use_background_threads": "2.7", "max_non_split_rounding_mb": "2.5",
    "per_process_memory_fraction": "2.9", "throw_on_cudamalloc_oom": "2.11", "roundup_power2_divisions": "1.12",
    "garbage_collection_threshold": "1.12", "max_split_size_mb": "1.8",
}  # fmt: skip
ALLOCATOR_OPTIONS = tuple(_SINCE)
_TRUTHS = frozenset(
    {
        "expandable_segments",
        "release_lock_on_cudamalloc",
        "pinned_use_cuda_host_register",
        "pinned_use_background_threads",
    }
    | {
        "release_lock_on_hipmalloc",
        "pinned_use_hip_host_register",
        "graph_capture_record_stream_reuse",
    }
    | {"throw_on_cudamalloc_oom"}
)
_SIZES = {"max_split_size_mb": 20, "max_non_split_rounding_mb": 0, "pinned_num_register_threads": 1}
BACKENDS = ("native", "cudaMallocAsync")


def allocator(value: str, release: str) -> Wrong | None:
    """PyTorch's allocator options: key:value pairs with commas between them."""
    for part in filter(None, (p.strip() for p in _BRACKETS.sub("[]", value).split(","))):
        wrong = _option(part, release)
        if wrong is not None:
            return (
                wrong._replace(instead=value.replace(part, wrong.instead))
                if wrong.instead
                else wrong
            )
    return None


def _option(part: str, release: str) -> Wrong | None:
    name, colon, chosen = (p.strip() for p in part.partition(":"))
    if not colon:
        fixed = part.replace("=", ":") if "=" in part else ""
        return Wrong(
            "rejected", f"stops at {shown(part)}: options are written key:value", (), fixed
        )
    if name not in ALLOCATOR_KEYS:
        near = get_close_matches(name, ALLOCATOR_KEYS, 1, 0.8)
        instead = f"{near[0]}:{chosen}" if near else ""
        return Wrong(
            "rejected",
            f"stops at {shown(name)}, which is no option of its allocator",
            tuple(sorted(ALLOCATOR_KEYS)),
            instead,
        )
    since = _SINCE.get(name, "")
    if since and release and not at_least(release, since):
        return Wrong("rejected", f"stops at {shown(name)}, an option that came with {since}")
    return _option_value(name, chosen)


def _option_value(name: str, chosen: str) -> Wrong | None:
    if name in _TRUTHS and chosen not in ("True", "False"):
        instead = _MEANT.get(chosen.lower(), "")
        meant = f"{name}:{instead}" if instead else ""
        return Wrong("rejected", f"stops at {shown(chosen)} for {name}", ("True", "False"), meant)
    return _number_for(name, chosen)


_MEANT = {"true": "True", "1": "True", "yes": "True", "false": "False", "0": "False", "no": "False"}


def _number_for(name: str, chosen: str) -> Wrong | None:
    if name == "backend" and chosen not in BACKENDS:
        return Wrong("rejected", f"stops at the backend {shown(chosen)}", BACKENDS)
    if name == "garbage_collection_threshold" and not _within(chosen, 0, 1):
        return Wrong(
            "rejected", f"stops at {shown(chosen)} for {name}: it wants a number between 0 and 1"
        )
    if name in _SIZES and not (chosen.isdigit() and int(chosen) >= _SIZES[name]):
        return Wrong(
            "rejected",
            f"stops at {shown(chosen)} for {name}: it wants a whole number from {_SIZES[name]} on",
        )
    if name == "roundup_power2_divisions" and chosen.isdigit() and int(chosen) & (int(chosen) - 1):
        return Wrong("rejected", f"stops at {chosen} for {name}: it wants a power of 2")
    return None


def _within(text: str, low: float, high: float) -> bool:
    try:
        return low < float(text) < high
    except ValueError:
        return False


# ---------------------------------------------------------------- TORCH_CUDA_ARCH_LIST

NAMED = ("Kepler+Tesla", "Kepler", "Maxwell+Tegra", "Maxwell", "Pascal", "Volta+Tegra", "Volta", "Turing",
         "Ampere+Tegra", "Ampere", "Ada", "Hopper", "Blackwell+Tegra", "Blackwell", "Common", "All")  # fmt: skip
_ARCH = re.compile(r"\d{1,2}\.\d[af]?(\+PTX)?")
_SM = re.compile(r"(?:sm_?|compute_?)?(\d{1,2})(\d)([af]?)", re.IGNORECASE)


def arch_list(value: str, release: str) -> Wrong | None:
    """Architectures for extensions: 8.0, 9.0a+PTX or a family's name, with blanks or semicolons between them."""
    if value.strip() in ("", "native"):
        return None
    for part in filter(None, re.split(r"[ ;]", value)):
        if not _ARCH.fullmatch(part) and part not in NAMED:
            return Wrong(
                "rejected",
                f"stops at {shown(part)} when it builds an extension",
                ("8.0", "8.6+PTX", "9.0a", *NAMED[-8:-2]),
                value.replace(part, meant) if (meant := _arch_meant(part)) else "",
            )
    return None


def _arch_meant(part: str) -> str:
    if "," in part:
        return part.replace(",", ";")
    found = _SM.fullmatch(part)
    if found:
        return f"{found[1]}.{found[2]}{found[3]}"
    if part.lower().endswith("+ptx"):
        return part[:-4] + "+PTX"
    return next(iter(get_close_matches(part, NAMED, 1, 0.75)), "")


# ---------------------------------------------------------------- JAX_PLATFORMS

PLATFORMS = ("cpu", "cuda", "gpu", "rocm", "tpu")
_ELSEWHERE = frozenset(
    {
        "proxy",
        "METAL",
        "neuron",
        "iree",
        "axon",
        "oneapi",
        "sycl",
        "xpu",
        "mps",
        "interpreter",
        "habana",
    }
)
_GPU = frozenset({"cuda", "gpu"})


def platforms(value: str, release: str) -> Wrong | None:
    """The platforms that JAX may use, the first of them by default; nothing means all."""
    if not value:
        return None
    parts = value.split(",")
    bad = next((part for part in parts if part not in PLATFORMS and part not in _ELSEWHERE), None)
    if bad is not None:
        text = f"knows no platform {shown(bad)} unless a plug-in package brings it"
        return Wrong("rejected", text, PLATFORMS, _right_platforms(parts, bad))
    if not _GPU & set(parts):
        return Wrong("off", f"uses {' and '.join(parts)} only, and not the GPU", (), "cuda,cpu")
    return None


def _right_platforms(parts: list[str], bad: str) -> str:
    """The same list, where it is clear what the bad one means."""
    word = bad.strip().lower()
    near = {"nvidia": "cuda"}.get(word, word.rstrip("0123456789:"))
    fixed = ",".join(near if part == bad else part for part in parts if part != "")
    return fixed if near in PLATFORMS or not word else ""


def platform_name(value: str, release: str) -> Wrong | None:
    """JAX's older way to choose one platform, in any case."""
    written = value.strip().lower()
    if not written or written in _GPU:
        return None
    if written in ("cpu", "tpu", "rocm"):
        return Wrong("off", f"uses {written} by default, and not the GPU", (), "gpu")
    return Wrong("rejected", f"stops at {shown(value)}: no such platform", PLATFORMS)


# ---------------------------------------------------------------- TORCH_LOGS

_LOG = re.compile(r"\s*[+-]?[A-Za-z_][\w.]*\s*")


def log_names(value: str, release: str) -> Wrong | None:
    """PyTorch's logs: names with commas between them, + for more, - for less; the names themselves are not judged."""
    bad = (
        next((part for part in value.split(",") if not _LOG.fullmatch(part)), None)
        if value
        else None
    )
    return (
        Wrong("rejected", f"stops at {shown(bad)}: logs are written +dynamo,graph_breaks")
        if bad is not None
        else None
    )


# ---------------------------------------------------------------- cuBLAS, CuPy


def threads(value: str, release: str) -> Wrong | None:
    """Numba's threads: it goes on after a word, and stops at a number below 1."""
    if re.fullmatch(r"\s*[+-]?\d+\s*", value):
        return (
            Wrong("rejected", f"stops at {value}: it wants 1 thread or more")
            if int(value) < 1
            else None
        )
    return (
        Wrong("ignored", f"does not take {shown(value)}: it wants a whole number")
        if value
        else None
    )


_WORKSPACE = re.compile(r"(:\d+:\d+)+")


def workspace(value: str, release: str) -> Wrong | None:
    """cuBLAS's pools: :SIZE:COUNT with the size in KiB, once or several times."""
    if not value or _WORKSPACE.fullmatch(value):
        return None
    meant = f":{value}" if _WORKSPACE.fullmatch(f":{value}") else ""
    return Wrong(
        "ignored",
        f"cannot read {shown(value)}, and takes its own size: pools are written :SIZE:COUNT",
        (":4096:8", ":16:8"),
        meant,
    )


def memory_limit(value: str, release: str) -> Wrong | None:
    """CuPy's limit: bytes, or a percentage."""
    if re.fullmatch(r"\s*\d+\s*", value) or not value:
        return None
    part = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", value)
    if part and 0 <= float(part[1]) <= 100:
        return None
    return Wrong(
        "rejected",
        f"stops at {shown(value)}: it wants bytes, or a percentage of the GPU's memory",
        (),
        _bytes(value),
    )


ACCELERATORS = ("cub", "cutensor", "cutensornet")


def accelerators(value: str, release: str) -> Wrong | None:
    """CuPy's helpers for reductions and contractions, with commas between them."""
    bad = next((p for p in value.split(",") if p and p not in ACCELERATORS), None)
    return Wrong("rejected", f"stops at {shown(bad)}", ACCELERATORS) if bad else None


def module_class(value: str, release: str) -> Wrong | None:
    """A class that Triton imports."""
    if not value or re.fullmatch(r"[\w.]+:\w+", value):
        return None
    return Wrong("rejected", f"stops at {shown(value)}: a class is written MODULE:CLASS")


def triton_arch(value: str, release: str) -> Wrong | None:
    """An architecture for every kernel of Triton; older releases were not asked how they read it."""
    if not value or re.fullmatch(r"sm\d+[af]?|gfx\w+", value) or not at_least(release, "3.9"):
        return None
    return Wrong(
        "rejected", f"stops at {shown(value)}", ("sm90",), f"sm{value}" if value.isdigit() else ""
    )


def _bytes(value: str) -> str:
    found = re.fullmatch(r"\s*(\d+)\s*([KMGT])i?B?\s*", value, re.IGNORECASE)
    return str(int(found[1]) * 1024 ** ("KMGT".index(found[2].upper()) + 1)) if found else ""
