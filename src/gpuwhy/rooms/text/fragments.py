"""Fragments: pieces of expressions, and lists of lesser messages, that the messages of several causes share."""

from __future__ import annotations

LAUNCH_COVERS = ("triton.shared", "memory.shm", "python.", "build.nvcc_error", "build.failed", "cuda.says_short")
PATH = r"(?:[^\n'\"]{0,60}?['\"](?P<path>[^'\"\n]{1,300})['\"])?"
WHERE = r"(?:['\"]?(?P<path2>/[^\s'\":]{1,300})['\"]?: ?)?"
LIMIT_COVERS = ("python.", "tf.", "memory.tf_oom_bare", "memory.xla_oom", "torch.internal_assert")
ORDER_COVERS = ("python.", "tf.config_late", "torch.internal_assert")
PAIR_COVERS = ("python.", "jax.plugin_abi", "packages.partial", "packages.conflict")
PEER_COVERS = ("python.", "nccl.rendezvous", "nccl.gloo", "nccl.other", "tf.", "jax.", "order.after_start")
VARIABLE_HEADS = (
    r"CUDA|CUDNN|CUBLAS|CUBLASLT|NVIDIA|NCCL|XLA|TF|TF2|PYTORCH|TORCH|TORCHINDUCTOR|TORCHDYNAMO|TORCHELASTIC|JAX|CUPY|ORT|TRITON"
    r"|NUMBA|KERAS|OMP|MKL|KMP|GOMP|ATEN|GLOO|UCC|UCX|PADDLE|MXNET|DNNL|ONEDNN|KINETO|MLIR|LLVM|PTXAS"
    r"|VLLM|SGLANG|OLLAMA|GGML|LLAMA|DS|DEEPSPEED|ACCELERATE|XFORMERS|FLASH|FLASHINFER|NVTE|NVSHMEM|TRT|TENSORRT|TRTLLM|RMM|CUDF|LIBCUDF"
    r"|KVIKIO|HOROVOD|RAY|DASK|GMX|KOKKOS|OPENMM|OPENCV|TVM|BNB|XGBOOST|JULIA|NVCC|NVRTC|HIP|ROCM|HSA|FAISS|DGL|SPCONV|COMFYUI|WHISPER"
)
VARIABLE_OTHERS = r"(?:VISIBLE_DEVICES|HOME|PATH|ROOT|DIR|LIBRARY)\b|\w*(?:STATUS|ERROR|RESULT|SUCCESS|FAILURE|FAILED)"
VARIABLE = rf"(?P<variable>(?-i:(?:{VARIABLE_HEADS})_(?!{VARIABLE_OTHERS})[A-Z0-9_]*[A-Z0-9]))"
RELEASE = r"v?\d+\.(?:\d+|x)(?:\.(?:\d+|x)){0,2}(?:\.?(?:post|rc|dev)\d*)?(?:\+\w+)?(?!\w)(?! ?(?:s|ms|sec\w*|min\w*|hours?|%|[gmkt]i?b)\b)"
"""A release's number, and no time or size."""
NOT_OURS = r"(?!(?:cuda|cudnn|drivers?|nvidia|python|numpy|gcc|ubuntu|kernel|rocm|glibc|windows|toolkit|nvcc)\b)"
"""What follows is no release of a framework or a package."""
PACKAGE = rf"(?:{NOT_OURS}[a-z][\w-]{{1,30}}[ =]{{1,2}})?"
