"""What a vague message admits: causes that end in it and that it does not speak for; the machine's facts decide.

A cause that neither a clue nor a row here connects with the text is the machine's own matter, and counts for less.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpuwhy.model.symptom import Symptom

_NO_GPU = (
    "container.no_gpu", "cuda.missing_library", "cuda.version_mismatch", "cudnn.missing", "cudnn.version_mismatch",
    "device.busy", "device.hardware", "device.selection", "driver.compat_misuse", "driver.library_mismatch",
    "driver.missing", "driver.not_ready", "driver.permission", "driver.stub", "driver.too_old", "env.path", "env.setting",
    "framework.cpu_only", "framework.platform_dropped", "install.conflict", "install.corrupted", "wsl.setup",
)  # fmt: skip
_NO_START = (
    "cuda.mixed_libraries", "cuda.version_mismatch", "device.hardware", "driver.compat_misuse", "driver.library_mismatch",
    "driver.too_old", "framework.gpu_unsupported", "install.conflict", "install.corrupted", "memory.host",
    "env.limit", "memory.other_process",
)  # fmt: skip
_NO_CUDNN = (*_NO_START, "cudnn.dependency_missing", "cudnn.missing", "cudnn.mixed_libraries", "cudnn.version_mismatch")
_NO_DRIVER = (
    "container.no_gpu", "device.busy", "device.hardware", "device.selection", "driver.compat_misuse",
    "driver.library_mismatch", "driver.missing", "driver.not_ready", "driver.permission", "driver.stub",
    "driver.too_old", "install.corrupted", "env.limit", "memory.host", "wsl.setup",
)  # fmt: skip

_MIXED = (
    "cuda.mixed_libraries", "cuda.version_mismatch", "cudnn.mixed_libraries", "framework.extension_abi", "install.conflict",
    "install.corrupted",
)  # fmt: skip

_ROWS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("title.bare_false", "title.empty_list", "title.gpu_unseen", "title.cpu_device", "torch.no_gpus", "jax.cpu_build", "jax.falls_back",
      "cuda.no_device", "torch.device_count", "torch.unavailable"), _NO_GPU),
    (("cudnn.internal_error", "cudnn.not_initialized", "cudnn.execution_failed", "cudnn.mapping_error", "cudnn.alloc_failed",
      "tf.cudnn_handle", "tf.conv_algorithm", "tf.rnn", "tf.no_dnn", "tf.dnn_init", "tf.no_algorithm", "torch.no_engine"),
     _NO_CUDNN),
    (("cublas.not_initialized", "cublas.internal_error", "cublas.execution_failed", "cublas.alloc_failed", "tf.blas",
      "cublas.mapping_error", "cusolver.not_initialized", "cusolver.internal_error", "cufft.internal_error",
      "cusparse.not_initialized"), _NO_START),
    (("cuda.unknown", "cuda.not_initialized", "cuda.operating_system", "nvml.unknown"), _NO_DRIVER),
    (("torch.no_driver", "tf.no_kernel_driver", "tf.no_cuda_drivers", "numba.no_driver", "triton.no_driver",
      "torch.driver_too_old", "cuda.insufficient_driver", "nvidia.no_communication"), _NO_DRIVER),
    (("loader.undefined_symbol", "loader.not_defined", "loader.version_missing"), (*_MIXED, "env.shadowed", "install.inconsistent")),
    (("cuda.launch_failed", "cuda.illegal_address", "cuda.launch_timeout"), ("device.hardware", "driver.too_old")),
    (("torch.cpu_build",), ("framework.platform_dropped", "install.conflict")),
    (("cuda.out_of_memory",), ("memory.other_process", "memory.host", "env.limit", "device.busy")),
    (("python.module", "python.attribute", "python.import_name", "python.exception", "python.runtime", "python.numpy_abi",
      "python.protobuf", "python.keras", "packages.partial", "tf.old_api", "tf.partial", "ort.partial", "torch.namespace",
      "signal.segv", "build.ext_module", "torch.extension_versions", "torch.xformers_unbuilt", "torch.different_cuda",
      "torch.image_extension", "torch.no_operator", "loader.symbol_lookup", "loader.cannot_open", "jax.plugin_abi"),
     ("env.shadowed", "install.inconsistent")),
)  # fmt: skip

ADMITS: dict[str, tuple[str, ...]] = {name: causes for names, causes in _ROWS for name in names}


def admitted(symptoms: Iterable[Symptom]) -> frozenset[str]:
    """The causes that the messages do not exclude."""
    return frozenset(cause for one in symptoms if one.follows < 0 for cause in ADMITS.get(one.signature, ()))
