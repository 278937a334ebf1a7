"""Variables: what their readers say of a value that they do not take."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, error, harmless
from gpuwhy.rooms.text.fragments import VARIABLE

"""What follows names that are no options: devices, places, statuses."""

_EVERYBODY = tuple(
    f"{name}."
    for name in ("build", "cublas", "cuda", "cudnn", "jax", "loader", "memory", "nccl", "nvrtc", "program", "python", "report",
                 "signal", "tf", "title", "torch", "triton", "kernel", "container", "packages", "nvidia", "windows")
)  # fmt: skip

SIGNATURES: tuple[Signature, ...] = (
    error("setting.jax_platform", r"unable to initialize backend '(?P<value>[^']*)': backend '[^']*' is not in the list of known backends",
          "list of known backends", covers=("jax.other_backend", "jax.backend", "jax.tpu", "python.runtime")),
    error("setting.jax_other",
          r"unable to initialize backend '(?P<value>tpu|rocm|metal)'[^\n]*\(set jax_platforms='' to"
          r"|error: unable to initialize backend '(?P<value2>tpu|rocm|tpu_driver|interpreter|metal|plugin|iree)'",
          "set jax_platforms='' to", "error: unable to initialize backend",
          covers=("jax.other_backend", "jax.tpu", "loader.cannot_open", "loader.libtpu", "python.runtime")),
    error("setting.jax_chosen", r"unable to initialize backend '(?P<value>cuda|gpu)': *\(set jax_platforms='' to"
          r"|backend '(?P<value2>cuda|gpu)' failed to initialize: *\. available",
          "set jax_platforms='' to", "' failed to initialize", covers=("jax.backend", "python.runtime")),
    error("setting.jax_none", r"assert _default_backend is not none", "_default_backend is not none"),
    context("setting.usage", r"^\s*--\w+=[^\n]*?\s(?:bool|int32|int64|uint64|string|float|double)\s", "--xla_", "--tf_xla_", covers=_EVERYBODY),
    harmless("setting.ignored", rf"ignoring invalid value for (?:boolean flag )?{VARIABLE}|libgomp: invalid value for environment variable (?P<variable2>\w+)"
             r"|`(?P<variable3>TORCH_CPP_LOG_LEVEL)` environment variable cannot be parsed"
             r"|(?P<variable5>TF_\w+) is not set to either|^(?!.*check failed)[^\n]*failed to parse the env-var \$\{(?P<variable6>\w+)"
             r"|environment variable '(?P<variable4>\w+)' is defined but its associated value",
             "is defined but its associated value", "ignoring invalid value", "libgomp: invalid value",
             "environment variable cannot be parsed",
             "is not set to either", "failed to parse the env-var", covers=("setting.refused", "python.warning")),
)  # fmt: skip
