"""Sets of messages that mean one thing, by their signatures: each set stands here once."""

from __future__ import annotations

NO_GPU = (
    "title.bare_false", "title.empty_list", "title.gpu_unseen", "title.cpu_device", "torch.no_gpus",
    "jax.cpu_build", "jax.falls_back", "jax.unknown_backend", "cuda.no_device", "torch.device_count",
    "torch.unavailable",
)  # fmt: skip
"""No GPU is seen, and nothing says why."""
LEFT_ASIDE = (
    "jax.cpu_build", "jax.falls_back", "jax.unknown_backend",
)  # fmt: skip
"""JAX goes without its CUDA plugin, as where that is of another release."""
NO_CUDNN = (
    "cudnn.internal_error", "cudnn.not_initialized", "cudnn.execution_failed", "cudnn.mapping_error",
    "cudnn.alloc_failed", "tf.cudnn_handle", "tf.conv_algorithm", "tf.rnn", "tf.no_dnn", "tf.dnn_init",
    "tf.no_algorithm", "torch.no_engine",
)  # fmt: skip
"""cuDNN does not start, or ends with an error of its own."""
NO_START = (
    "cublas.not_initialized", "cublas.internal_error", "cublas.execution_failed", "cublas.alloc_failed",
    "tf.blas", "cublas.mapping_error", "cusolver.not_initialized", "cusolver.internal_error",
    "cufft.internal_error", "cusparse.not_initialized",
)  # fmt: skip
"""cuBLAS and its kin do not start, or end with an error of their own."""
NO_ANSWER = (
    "cuda.unknown", "cuda.not_initialized", "cuda.operating_system", "nvml.unknown",
)  # fmt: skip
"""The driver answers with an error that has many reasons."""
NO_DRIVER = (
    "torch.no_driver", "tf.no_kernel_driver", "tf.no_cuda_drivers", "numba.no_driver", "triton.no_driver",
    "torch.driver_too_old", "cuda.insufficient_driver", "nvidia.no_communication",
)  # fmt: skip
"""No driver is found, or none that is new enough."""
UNRESOLVED = (
    "loader.undefined_symbol", "loader.not_defined", "loader.version_missing",
)  # fmt: skip
"""A symbol or a version of one is not there."""
BROKEN_OFF = (
    "cuda.launch_failed", "cuda.illegal_address", "cuda.launch_timeout",
)  # fmt: skip
"""A kernel was broken off."""
CPU_BUILD = (
    "torch.cpu_build",
)  # fmt: skip
"""The framework is built without CUDA."""
NO_MEMORY = (
    "cuda.out_of_memory",
)  # fmt: skip
"""Memory of the GPU, or what CUDA calls so, ran out."""
NO_IMPORT = (
    "python.module", "python.attribute", "python.import_name", "python.exception", "python.runtime",
    "python.numpy_abi", "python.protobuf", "python.keras", "packages.partial", "packages.in_part",
    "tf.old_api", "tf.partial",
    "ort.partial", "torch.namespace", "signal.segv", "build.ext_module", "torch.extension_versions",
    "torch.xformers_unbuilt", "torch.different_cuda", "torch.image_extension", "torch.no_operator",
    "loader.symbol_lookup", "loader.cannot_open", "jax.plugin_abi",
)  # fmt: skip
"""Something could not be imported, or crashed while it was."""
GPU_MEMORY = (
    "memory.torch_oom", "memory.tf_oom", "memory.bfc", "memory.xla_", "memory.tf_grab", "memory.dst_tensor",
    "memory.rmm", "memory.tensorrt", "memory.oom_words", "memory.kv_cache", "memory.at_start", "ort.arena",
    "cuda.out_of_memory",
)  # fmt: skip
"""Memory of the GPU ran out; by how they begin."""
STARVED = (
    "cudnn.not_initialized", "cudnn.alloc_failed", "cudnn.internal_error", "cublas.not_initialized",
    "cublas.alloc_failed", "cusolver.not_initialized", "cusolver.alloc_failed", "cusparse.alloc_failed",
    "tf.cudnn_handle", "tf.blas", "tf.conv_algorithm", "tf.dnn_init",
)  # fmt: skip
"""A library did not start or failed inside, as where memory is short."""
UNSEEN = ("title.gpu_unseen", "title.empty", "title.cpu_device", "title.bare", "tf.no_gpu_found")
"""Somebody says that no GPU is seen; by how they begin."""
