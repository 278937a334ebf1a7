"""A whole environment settled: what is installed stays unless it must move, and pairs that cannot share are named."""

from __future__ import annotations

import pytest

from gpuwhy.model.plan import Machine
from gpuwhy.plan_v0.whole import Clash, Settled, settle
from gpuwhy.plan_v0.wishes import from_words

CU124 = {
    "nvidia-cublas-cu12": "12.4.5.8", "nvidia-cuda-cupti-cu12": "12.4.127", "nvidia-cuda-nvrtc-cu12": "12.4.127",
    "nvidia-cuda-runtime-cu12": "12.4.127", "nvidia-cudnn-cu12": "9.1.0.70", "nvidia-cufft-cu12": "11.2.1.3",
    "nvidia-curand-cu12": "10.3.5.147", "nvidia-cusolver-cu12": "11.6.1.9", "nvidia-cusparse-cu12": "12.3.1.170",
    "nvidia-cusparselt-cu12": "0.6.2", "nvidia-nccl-cu12": "2.21.5", "nvidia-nvjitlink-cu12": "12.4.127",
    "nvidia-nvtx-cu12": "12.4.127",
}  # fmt: skip
CU122 = {
    "nvidia-cublas-cu12": "12.2.5.6", "nvidia-cuda-cupti-cu12": "12.2.142", "nvidia-cuda-nvcc-cu12": "12.2.140",
    "nvidia-cuda-nvrtc-cu12": "12.2.140", "nvidia-cuda-runtime-cu12": "12.2.140", "nvidia-cudnn-cu12": "8.9.4.25",
    "nvidia-cufft-cu12": "11.0.8.103", "nvidia-curand-cu12": "10.3.3.141", "nvidia-cusolver-cu12": "11.5.2.141",
    "nvidia-cusparse-cu12": "12.1.2.141", "nvidia-nccl-cu12": "2.16.5", "nvidia-nvjitlink-cu12": "12.2.140",
}  # fmt: skip
TORCH = {"torch": "2.6.0", "torchvision": "0.21.0", "torchaudio": "2.6.0", **CU124}
JAX = {"jax": "0.4.38", "jaxlib": "0.4.38", "jax-cuda12-plugin": "0.4.38", "jax-cuda12-pjrt": "0.4.38", **CU124,
       "nvidia-cuda-nvcc-cu12": "12.9.86"}  # fmt: skip


def settled(installed: dict[str, str], *words: str, working=(), python: str = "3.11"):
    machine = Machine(python=python, fixed_python=True, installed=installed)
    return settle(machine, from_words(list(words)), working)


def moves(*args, **more) -> tuple[str, ...]:
    found = settled(*args, **more)
    assert isinstance(found, Settled), found
    return found.moves


@pytest.mark.parametrize("change, words, wanted", [
    ({"nvidia-cudnn-cu12": "8.9.7.29"}, ["torch==2.6.0"], ["nvidia-cudnn-cu12==9.1.0.70"]),
    ({"torchvision": "0.19.0", "torchaudio": "2.5.1"}, ["torch==2.6.0"], ["torchvision==0.21.0", "torchaudio==2.6.0"]),
    ({"torchaudio": "2.11.0"}, ["torch==2.6.0"], ["torchaudio==2.6.0"]),
    ({"xformers": "0.0.35"}, ["torch==2.6.0"], ["xformers==0.0.29.post3"]),
    ({"xformers": "0.0.28.post3"}, ["xformers"], ["xformers==0.0.29.post3"]),
    ({"nvidia-nccl-cu12": "2.18.1", "torchvision": "0.20.1"}, ["nvidia-nccl-cu12==2.21.5"],
     ["torchvision==0.21.0", "nvidia-nccl-cu12==2.21.5"]),
    ({}, ["torch==2.6.0"], []),
    ({}, ["torch==2.5.1"], ["torch==2.5.1", "torchvision==0.20.1", "torchaudio==2.5.1"]),
])  # fmt: skip
def test_only_what_must_move_moves_and_every_release_is_exact(change, words, wanted):
    assert sorted(moves({**TORCH, **change}, *words)) == sorted(wanted)


def test_a_library_that_is_gone_comes_with_what_asks_for_it():
    without = {name: version for name, version in TORCH.items() if not name.startswith("nvidia-")}
    assert moves(without, "torch==2.6.0") == ("torch==2.6.0",)
    one = {name: version for name, version in TORCH.items() if name != "nvidia-cufft-cu12"}
    assert moves(one, "nvidia-cufft-cu12") == ("nvidia-cufft-cu12==11.2.1.3",)


def test_jax_is_four_packages_of_one_release():
    broken = {**JAX, "jax-cuda12-plugin": "0.4.30", "jax-cuda12-pjrt": "0.4.30"}
    assert sorted(moves(broken, "jax[cuda12]==0.4.38")) == ["jax-cuda12-pjrt==0.4.38", "jax-cuda12-plugin==0.4.38"]


def test_two_that_cannot_share_are_named_with_ways_out():
    found = settled({**TORCH, "tensorflow": "2.15.1", **CU122}, "torch==2.6.0", working={"tensorflow"})
    assert isinstance(found, Clash)
    assert found.text == (
        "torch 2.6.0 and tensorflow 2.15.1 cannot share one environment: torch 2.6.0 needs "
        "nvidia-cudnn-cu12==9.1.0.70, tensorflow 2.15.1 needs nvidia-cudnn-cu12==8.9.4.25"
    )
    assert found.alone == ("torch==2.6.0", "torchvision==0.21.0", "torchaudio==2.6.0")
    assert any("tensorflow[and-cuda]==" in text for share in found.shares for text in share)


def test_a_framework_that_never_had_its_libraries_stands_in_nobodys_way():
    """TensorFlow without the extra beside PyTorch: its demands are not met now, and nobody asks for them."""
    broken = {**TORCH, "tensorflow": "2.15.1", "torchvision": "0.20.1"}
    assert moves(broken, "torch==2.6.0", working={"torch"}) == ("torchvision==0.21.0",)


def test_what_the_plan_does_not_know_is_left_to_the_cause():
    assert settled({**TORCH, "torch": "2.6.0a0+nv25.1"}, "torch==2.6.0") is None


def test_a_framework_that_works_with_another_patch_keeps_its_cudnn():
    """TensorFlow 2.15.1 pins cuDNN 8.9.4.25 and works with 8.9.7.29 as well; never with the 9 that PyTorch asks for."""
    here = {**TORCH, "tensorflow": "2.15.1", **CU122, "nvidia-cudnn-cu12": "8.9.7.29"}
    found = settled(here, "torch==2.6.0", working={"tensorflow"})
    assert isinstance(found, Clash)
    assert "tensorflow 2.15.1 needs nvidia-cudnn-cu12==8.*" in found.text
