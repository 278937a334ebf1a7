"""Extensions: compiled modules of PyTorch's surroundings by the package that brings them, and how that is built again.

A module's name is often no package's (amp_C is Apex's): a command made of it would install something else.
"""

from __future__ import annotations

import re

_AGAIN = "pip install --force-reinstall --no-cache-dir --no-build-isolation --no-deps "
_GIT = "pip install --no-build-isolation --force-reinstall --no-deps git+https://github.com/"
_APEX = 'pip install -v --no-build-isolation --no-cache-dir --no-deps --config-settings "--build-option=--cpp_ext" --config-settings "--build-option=--cuda_ext" git+https://github.com/NVIDIA/apex.git'

BUILT_BY: dict[str, str] = {
    "flash_attn": "FLASH_ATTENTION_FORCE_BUILD=TRUE MAX_JOBS=4 " + _AGAIN + "flash-attn",
    "mmcv": "pip install -U openmim && mim install mmcv",
    "detectron2": _GIT + "facebookresearch/detectron2.git",
    "pytorch3d": _GIT + "facebookresearch/pytorch3d.git",
    "apex": _APEX,
    "vllm": "pip install --force-reinstall vllm",
    "sgl_kernel": "pip install --force-reinstall sgl-kernel",
    "bitsandbytes": "pip install --upgrade --force-reinstall bitsandbytes",
    "xformers": "pip install --upgrade --force-reinstall xformers",
    "causal_conv1d": _AGAIN + "causal-conv1d",
    "mamba_ssm": _AGAIN + "mamba-ssm",
    "exllamav2": _AGAIN + "exllamav2",
    "autogptq": _AGAIN + "auto-gptq",
    "awq": _AGAIN + "autoawq-kernels",
    "deepspeed": _AGAIN + "deepspeed",
    "transformer_engine": _AGAIN + '"transformer-engine[pytorch]"',
    "MinkowskiEngine": _GIT + "NVIDIA/MinkowskiEngine.git",
    "torchsparse": _GIT + "mit-han-lab/torchsparse.git",
    "diff_gaussian_rasterization": _GIT + "graphdeco-inria/diff-gaussian-rasterization.git",
    "nvdiffrast": _GIT + "NVlabs/nvdiffrast.git",
    "tinycudann": "pip install --no-build-isolation --force-reinstall git+https://github.com/NVlabs/tiny-cuda-nn#subdirectory=bindings/torch",
    "gsplat": _AGAIN + "gsplat",
    "natten": _AGAIN + "natten",
    "horovod": "HOROVOD_GPU_OPERATIONS=NCCL pip install --no-cache-dir --force-reinstall --no-binary horovod horovod",
}
"""How a package is built or fetched again for the framework that is installed."""

_MODULES: tuple[tuple[str, str], ...] = (
    (r"amp_C|apex_C|fused_layer_norm_cuda|fused_weight_gradient_mlp_cuda|syncbn|mlp_cuda|scaled_\w*softmax_cuda|fused_rotary\w*|distributed_adam_cuda", "apex"),
    (r"flash_attn(?:_\d)?(?:_cuda)?|flashattn_hopper_cuda|dropout_layer_norm|fused_dense_lib|rotary_emb|xentropy_cuda_lib", "flash_attn"),
    (r"selective_scan_cuda", "mamba_ssm"), (r"causal_conv1d(?:_cuda)?", "causal_conv1d"), (r"exllamav2_ext\w*", "exllamav2"),
    (r"exllama_kernels|exllamav2_kernels|autogptq\w*|marlin_cuda", "autogptq"), (r"awq_\w*(?:ext|engine)", "awq"),
    (r"transformer_engine\w*", "transformer_engine"), (r"MinkowskiEngineBackend", "MinkowskiEngine"), (r"_?mmcv(?:\._)?ext|mmcv", "mmcv"),
    (r"nvdiffrast\w*", "nvdiffrast"), (r"tinycudann\w*", "tinycudann"), (r"sgl_kernel|common_ops", "sgl_kernel"),
)  # fmt: skip
_SUFFIX = re.compile(r"(?:_\d)?(?:_cuda|_C|_ext(?:ension)?s?|_cpp|_ops|_kernels)$")


def package_of(module: str) -> str:
    """The package that brings a compiled module: apex of amp_C; "" for a bare module that nobody here knows."""
    known = next((name for words, name in _MODULES if re.fullmatch(words, module)), "")
    if known or module in BUILT_BY:
        return known or module
    return "" if _SUFFIX.search(module) else module
