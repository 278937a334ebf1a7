"""Requirements and wheel names, release by release."""

import pytest

from gpuwhy.knowledge.installs import gpu_requirement, wheel_of


@pytest.mark.parametrize(
    "framework, distribution, version, cuda, wanted",
    [
        ("tensorflow", "tensorflow-cpu", "2.21.0", None, "tensorflow[and-cuda]==2.21.0"),
        ("tensorflow", "tensorflow", "2.13.1", 11, "tensorflow==2.13.1"),
        ("tensorflow", "tensorflow", "1.15.5", 10, "tensorflow-gpu==1.15.5"),
        ("torch", "torch", "2.11.0+cpu", None, "torch==2.11.0"),
        ("jax", "jax", "0.10.2", 13, "jax[cuda13]==0.10.2"),
        ("jax", "jax", "0.4.30", 13, "jax[cuda12]==0.4.30"),
        ("jax", "jax", "0.4.25", 12, ""),
        ("tensorflow", "tensorflow", "2.15.0", 12, "tensorflow[and-cuda]==2.15.1"),
        ("tensorflow", "tensorflow", "2.14.1", 11, "tensorflow[and-cuda]==2.14.1"),
        ("onnxruntime", "onnxruntime", "1.30.0", None, "onnxruntime-gpu[cuda,cudnn]==1.30.0"),
        ("onnxruntime", "onnxruntime", "1.18.0", None, "onnxruntime-gpu==1.18.0"),
        ("cupy", "cupy-cuda12x", "14.0.1", 12, "cupy-cuda12x[ctk]==14.0.1"),
        ("cupy", "cupy-cuda12x", "13.6.0", 12, ""),
        ("mxnet", "mxnet", "1.9.1", None, ""),
    ],
)
def test_requirement(framework, distribution, version, cuda, wanted):
    assert gpu_requirement(framework, distribution, version, cuda) == wanted


def test_tensorrt_of_tensorflow_2_14_has_no_wheel_since_python_3_11():
    asked = [gpu_requirement("tensorflow", "tensorflow", "2.14.0", 11, python) for python in ("3.10.4", "3.11.7")]
    assert asked == ["tensorflow[and-cuda]==2.14.0", "tensorflow[and-cuda]==2.15.1"]


@pytest.mark.parametrize(
    "library, cuda, wheel",
    [
        ("libcufft.so.11", 12, "nvidia-cufft-cu12"),
        ("libcufft.so.12", 13, "nvidia-cufft"),
        ("libcudnn.so.9", 13, "nvidia-cudnn-cu13"),
        ("libnccl.so.2", 13, "nvidia-nccl-cu13"),
        ("libcublasLt.so.12", None, "nvidia-cublas-cu12"),
        ("libcufft.so.11", None, ""),
        ("libcudart.so.10.1", 10, ""),
        ("libpng16.so.16", 12, ""),
    ],
)
def test_wheel(library, cuda, wheel):
    assert wheel_of(library, cuda) == wheel
