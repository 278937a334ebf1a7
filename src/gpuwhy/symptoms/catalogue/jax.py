"""JAX and its plug-ins."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, echo, error, harmless

SIGNATURES: tuple[Signature, ...] = (
    error("jax.falls_back", r"no gpu/tpu found, falling back to cpu", "no gpu/tpu found",
          covers=("torch.falls_back", "title.no_cuda", "title.gpu_unseen")),
    error(
        "jax.found_version",
        r"found (?P<what>cudnn|cuda|cublas|cufft|cusolver|cusparse|cupti|nvjitlink|cudart)(?: runtime)? version"
        r" (?P<loaded>[\d.]+), but jax was built against version (?P<built>[\d.]+)",
        "but jax was built against",
    ),
    error(
        "jax.unable_to_load",
        r"unable to load (?P<what>cudnn|cuda|cublas|cufft|cusolver|cusparse|cupti|nvjitlink|nccl)\b(?! driver)"
        r"|the (?P<what2>cudnn|cuda|cublas|cufft|cusolver|cusparse|cupti|nvjitlink) library was not found",
        "library was not found", "unable to load cu", "unable to load nv", "unable to load nccl",
    ),
    error(
        "jax.unable_to_use",
        r"(?:outdated|unsupported|incompatible) (?P<what>cudnn|cuda|cublas|cufft|cusolver|cusparse|cupti)[^\n]*(?:found|version)",
        "outdated cu", "unsupported cu", "incompatible cu",
    ),
    error(
        "jax.plugin_abi",
        r"pjrt_\w+_args size: expected|register_custom_\w+\(\): incompatible function arguments"
        r"|mismatched pjrt plugin|plugin is likely built with a later version|(?:plugin|jaxlib)[^\n]*version[^\n]*"
        r"(?:not compatible|incompatible)[^\n]*(?:jaxlib|jax)\b|jaxlib version [\d.]+ is newer than and incompatible",
        "_args size: expected", "incompatible function arguments", "mismatched pjrt", "built with a later version", "not compatible with the installed jaxlib",
        "newer than and incompatible", "incompatible with jax",
    ),
    harmless(
        "jax.other_backend",
        r"unable to initialize backend '(?P<backend>tpu|rocm|tpu_driver|interpreter|cuda_interpreter|metal|plugin|iree)'",
        "initialize backend '",
        covers=("jax.backend", "jax.cpu_build", "python.attribute", "pairs.jax_part", "loader.libtpu", "loader.cannot_open"),
    ),
    harmless("jax.tpu", r"libtpu\.so|failed to get (?:tpu|local tpu)|tpu backend", "libtpu", "tpu backend",
             covers=("loader.libtpu", "loader.cannot_open", "loader.asked")),
    echo("jax.backend", r"unable to initialize backend '(?P<backend>cuda|gpu)'", "initialize backend '"),
    echo("jax.backend_failed", r"cuda backend failed to initialize|jax plugin configuration error", "cuda backend failed",
         "jax plugin configuration error"),
    error("jax.no_visible", r"no visible gpu devices", "no visible gpu devices"),
    error("jax.unknown_backend", r"unknown backend:? '?(?:gpu|cuda)'?|no platforms that are instances of (?:gpu|cuda)",
          "unknown backend", "instances of gpu", "instances of cuda"),
    context("jax.here", r"\bjaxlib?[./]|jax_plugins|xla_bridge|xlaruntimeerror", "jaxlib", "jax_plugins", "xla_bridge",
            "xlaruntimeerror", "jax/"),
)  # fmt: skip
