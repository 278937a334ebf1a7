"""Extension wheels: where the makers of compiled packages lay their wheels, by PyTorch's release and CUDA."""

from __future__ import annotations

from typing import NamedTuple


class Wheels(NamedTuple):
    """How pip finds a package's wheel for one PyTorch and one CUDA.

    {torch} is 2.4.0, {short} 2.4, {flat} 24, {cu} cu121, {name} the package, {release} its told release or nothing.
    """

    title: str
    command: str


_MIM = (
    "pip uninstall -y mmcv mmcv-full\n"
    "pip install mmcv{release} -f https://download.openmmlab.com/mmcv/dist/{cu}/torch{short}/index.html"
)
_AGAIN = "pip install --force-reinstall --no-deps {name} "
_PYG = _AGAIN + "-f https://data.pyg.org/whl/torch-{torch}+{cu}.html"
_DGL = _AGAIN + "-f https://data.dgl.ai/wheels/torch-{short}/{cu}/repo.html"
_KAOLIN = _AGAIN + "-f https://nvidia-kaolin.s3.us-east-2.amazonaws.com/torch-{torch}_{cu}.html"
_GSPLAT = _AGAIN + "--index-url https://docs.gsplat.studio/whl/pt{flat}{cu}"
_TORCH = (
    "pip install --force-reinstall torch=={torch} torchvision torchaudio "
    "--index-url https://download.pytorch.org/whl/{cu}"
)

BY_INDEX: dict[str, Wheels] = {
    "mmcv": Wheels("mmcv", _MIM),
    "torch_scatter": Wheels("torch-scatter", _PYG),
    "torch_sparse": Wheels("torch-sparse", _PYG),
    "torch_cluster": Wheels("torch-cluster", _PYG),
    "torch_spline_conv": Wheels("torch-spline-conv", _PYG),
    "pyg_lib": Wheels("pyg-lib", _PYG),
    "dgl": Wheels("dgl", _DGL),
    "kaolin": Wheels("kaolin", _KAOLIN),
    "gsplat": Wheels("gsplat", _GSPLAT),
    "torchvision": Wheels("torchvision", _TORCH),
    "torchaudio": Wheels("torchaudio", _TORCH),
}
"""Packages that pip finds for the very PyTorch, by their own lists."""

BY_FILE: dict[str, str] = {
    "flash_attn": "mjun0812/flash-attention-prebuild-wheels or kingbri1/flash-attention",
    "exllamav2": "turboderp-org/exllamav2",
    "exllama": "jllllll/exllama",
    "sageattention": "woct0rdho/SageAttention",
    "spas_sage_attn": "woct0rdho/SpargeAttn",
    "nunchaku": "nunchaku-tech/nunchaku",
    "autogptq": "AutoGPTQ/AutoGPTQ",
    "awq": "casper-hansen/AutoAWQ_kernels",
    "causal_conv1d": "Dao-AILab/causal-conv1d",
}
"""Packages whose wheels for Windows are files of a release page on GitHub: whose."""

BY_PACKAGE: dict[str, str] = {
    "torch_directml": "pip install --force-reinstall torch-directml",
    "intel_extension_for_pytorch": "pip install --force-reinstall intel-extension-for-pytorch",
}
"""Packages that ask for the one PyTorch that they were built with, and bring it."""
