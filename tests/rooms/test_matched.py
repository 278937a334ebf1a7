"""Remedies made of two things that do not go together, as a text shows them."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text, read_text
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked, asked
from gpuwhy.rooms.text.fitted import barred
from gpuwhy.rooms.text.matched import (
    beyond_the_memory,
    driver_inside_wsl,
    extension_of_another_cuda,
    linked_by_number,
    longest_context,
    secure_boot_of_a_cloud,
    tensorflow_1_on_new_cards,
    toolkit_of_torch,
    without_nv,
    without_the_flag,
    without_the_runtime,
    without_uvm,
)


def case(text: str) -> Asked:
    reading = read_text(text)
    return asked(reading.symptoms, reading)


MISMATCH = (
    "RuntimeError:\nThe detected CUDA version ({}) mismatches the version that was used to compile\n"
    "PyTorch (12.1). Please make sure to use the same CUDA versions.\nERROR: Failed building wheel for gsplat\n"
)


def test_the_toolkit_that_pytorch_was_built_for() -> None:
    first, second = toolkit_of_torch(case(MISMATCH.format("11.5")))
    assert "cuda-toolkit-12-1" in first.command
    assert "CUDA_HOME=/usr/local/cuda-12.1" in first.command
    assert "gsplat" in first.command
    assert "conda install" in second.command
    by_conda = next(iter(toolkit_of_torch(case("(base) $ pip install gsplat\n" + MISMATCH.format("11.5")))))
    assert by_conda.command.startswith("conda install -c nvidia/label/cuda-12.1.0")


EXTENSION = (
    ">>> import torch; torch.__version__\n'2.4.0+cu{}'\n>>> import pytorch3d.ops\nTraceback (most recent call last):\n"
    '  File "<stdin>", line 1, in <module>\n'
    '  File "/home/u/e/lib/python3.10/site-packages/pytorch3d/ops/x.py", line 9, in <module>\n'
    "    from pytorch3d import _C\n"
    "ImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory\n"
)


def test_an_extension_of_another_cuda_is_built_anew() -> None:
    first = next(iter(extension_of_another_cuda(case(EXTENSION.format("121")))))
    assert "facebookresearch/pytorch3d" in first.command
    assert not list(extension_of_another_cuda(case(EXTENSION.format("118"))))
    fixes = explain_text(EXTENSION.format("121")).causes[0].fixes
    assert "nvidia-cuda-runtime" not in fixes[0].command


@pytest.mark.parametrize(
    ("value", "command"),
    [
        ("--xla_a=1 --xla_gone", 'export XLA_FLAGS="--xla_a=1"'),
        ("--xla_gone=true --xla_a=1", 'export XLA_FLAGS="--xla_a=1"'),
        ("--xla_gone", "unset XLA_FLAGS"),
    ],
)
def test_the_other_flags_stay(value: str, command: str) -> None:
    said = "F0318 10:14:55 77 parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: --xla_gone\n"
    text = f"+ export 'XLA_FLAGS={value}'\n{said}"
    assert [fix.command for fix in without_the_flag(case(text))] == [command]


LISTED = (
    "$ ls -l /dev/nvidia*\ncrw-rw-rw- 1 root root 195, 0 Mar 3 08:11 /dev/nvidia0\n"
    "crw-rw-rw- 1 root root 195, 255 Mar 3 08:11 /dev/nvidiactl\n"
)


def test_the_device_file_that_is_missing() -> None:
    assert "nvidia-modprobe -u" in next(iter(without_uvm(case(LISTED)))).command
    assert not list(without_uvm(case(LISTED + "crw-rw-rw- 1 root root 510, 0 Mar 3 08:11 /dev/nvidia-uvm\n")))
    assert not list(without_uvm(case("CUDA unknown error\n")))


def test_who_may_open_the_files_needs_no_group() -> None:
    group = Fix("Join the group", on.linux("sudo usermod -aG video $USER"))
    assert barred(group, case(LISTED))
    assert not barred(group, case(LISTED.replace("crw-rw-rw- 1 root root 195, 0", "crw-rw---- 1 root video 195, 0")))


def test_the_context_that_vllm_computes() -> None:
    said = "ValueError: ... Based on the available memory, the estimated maximum model length is 41127. Try increasing"
    assert [fix.command for fix in longest_context(case(said))] == ["vllm serve MODEL --max-model-len 41120"]


def test_a_model_beyond_the_memory() -> None:
    full = (
        "python chat.py --model Qwen2.5-{}B-Instruct\ntorch.OutOfMemoryError: CUDA out of memory. "
        "Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 11.00 GiB of which 1.00 GiB is free.\n"
    )
    assert "14 GB in half precision, and there are 11 GB" in next(iter(beyond_the_memory(case(full.format("7"))))).text
    assert not list(beyond_the_memory(case(full.format("3"))))
    assert not list(beyond_the_memory(case(full.format("7") + "load_in_4bit=True\n")))


def test_secure_boot_of_a_cloud_is_a_setting_of_the_machine() -> None:
    text = "azureuser@vm:~$ sudo modprobe nvidia\nmodprobe: ERROR: 'nvidia': Key was rejected by service\n"
    assert "--enable-secure-boot false" in next(iter(secure_boot_of_a_cloud(case(text)))).command
    assert not list(secure_boot_of_a_cloud(case(text.replace("azureuser@vm", "me@box"))))


def test_the_runtime_that_a_backend_lacks() -> None:
    listed = "C:\\llama>dir /b *.dll\nggml-cuda.dll\n"
    assert "cudart-llama-bin-win" in next(iter(without_the_runtime(case(listed)))).command
    assert not list(without_the_runtime(case(listed + "cudart64_12.dll\n")))


@pytest.mark.parametrize(
    ("command", "text", "there"),
    [
        ("export LD_LIBRARY_PATH=$(x | grep -v stubs)", "$ echo $LD_LIBRARY_PATH\n/usr/local/cuda/lib64\n", True),
        ("export LD_LIBRARY_PATH=$(x | grep -v stubs)", "$ echo $LD_LIBRARY_PATH\n/usr/local/cuda/stubs\n", False),
        ("sudo nvidia-ctk runtime configure --runtime=containerd", "$ sudo k3s kubectl get pods\n", True),
        ("sudo nvidia-ctk runtime configure --runtime=containerd", "$ kubectl get pods\n", False),
    ],
)  # fmt: skip
def test_what_does_nothing_there_is_barred(command: str, text: str, there: bool) -> None:
    assert barred(Fix("Do it", on.linux(command)), case(text)) is there


def test_a_driver_of_linux_inside_wsl_goes() -> None:
    listed = (
        "$ uname -r\n5.15.167.4-microsoft-standard-WSL2\n$ ldconfig -p | grep libcuda.so.1\n"
        "\tlibcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1\n"
        "\tlibcuda.so.1 (libc6,x86-64) => /usr/lib/wsl/lib/libcuda.so.1\n"
    )
    assert "apt purge" in next(iter(driver_inside_wsl(case(listed)))).command
    assert not list(driver_inside_wsl(case(listed.replace("/lib/x86_64-linux-gnu", "/usr/lib/wsl/drivers"))))
    assert not list(driver_inside_wsl(case(listed.replace("microsoft-standard-WSL2", "generic").replace("wsl", "x"))))


def test_a_servers_kernel_is_not_the_users_own() -> None:
    said = (
        "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 81920, Hardware limit: 65536."
    )
    fixes = explain_text(f"(EngineCore_DP0 pid=1) vllm/v1/attention/ops.py\n{said}\n").causes[0].fixes
    assert "attention-backend" in " ".join(fix.command for fix in fixes[:2]) or "ATTENTION_BACKEND" in fixes[0].command
    own = explain_text(f'  File "/home/me/k.py", line 3, in <module>\n{said}\n').causes[0].fixes
    assert "num_stages" in own[0].text


def test_the_same_line_with_the_gpu() -> None:
    line = "+ srun singularity exec /c/tf.sif python train.py\nfailed call to cuInit: UNKNOWN ERROR (34)\n"
    assert [fix.command for fix in without_nv(case(line))] == ["singularity exec --nv /c/tf.sif python train.py"]
    assert not list(without_nv(case(line.replace("exec /c", "exec --nv /c"))))


def test_a_link_by_the_plain_name() -> None:
    text = (
        "root@5ac01b7d01f2:/app# python x.py\nCould not load library libcudnn_cnn_infer.so.8. "
        "Error: libnvrtc.so: cannot open shared object file: No such file or directory\n"
        "root@5ac01b7d01f2:/app# ls /usr/local/cuda/lib64 | grep nvrtc\nlibnvrtc.so.11.2\n"
    )
    made = "ln -s /usr/local/cuda/lib64/libnvrtc.so.11.2 /usr/local/cuda/lib64/libnvrtc.so && ldconfig"
    assert [fix.command for fix in linked_by_number(case(text))] == [made]
    assert not list(linked_by_number(case(text.replace("libnvrtc.so.11.2", "libcudart.so.11"))))


def test_a_program_for_tensorflow_1_gets_tensorflow_1() -> None:
    text = (
        "2021-04-02 13:51:20.3301: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1304] Created TensorFlow device "
        "-> physical GPU (device: 0, name: {}, pci bus id: 0000:26:00.0, compute capability: {})\n"
        'Traceback (most recent call last):\n  File "run.py", line 9, in <module>\n    tf.app.run()\n'
        "tensorflow.python.framework.errors_impl.InternalError: Blas GEMM launch failed : a.shape=(4096, 768)\n"
    )
    first = next(iter(tensorflow_1_on_new_cards(case(text.format("NVIDIA A100-PCIE-40GB", "8.0")))))
    assert "tf1-py3 python run.py" in first.command
    assert not list(tensorflow_1_on_new_cards(case(text.format("Tesla V100-PCIE-16GB", "7.0"))))
    later = text.format("NVIDIA A100-PCIE-40GB", "8.0").replace("tf.app.run()", "main()")
    assert not list(tensorflow_1_on_new_cards(case(later)))
