"""One fault at many places: what starts the containers decides the whole way out."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text, read_text
from gpuwhy.rooms.text.asked import Asked, asked
from gpuwhy.rooms.text.box_faults import in_its_box
from gpuwhy.rooms.text.boxes import box_of, node_of, plugin_of, pod_of

SELECT = 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
PLUGIN = "E0506 1 factory.go:112] Incompatible strategy detected auto\nI0506 1 main.go:381] No devices found. Waiting indefinitely.\n"
ML = "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown\n"
CDI = "Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all\n"
SANDBOX = 'Failed to create pod sandbox: rpc error: code = Unknown desc = RuntimeHandler "nvidia" not supported\n'
UNKNOWN = "Failed to initialize NVML: Unknown Error\n"
DENIED = "Failed to initialize NVML: Insufficient Permissions\n"
SMI = "| NVIDIA-SMI 535.154.05   Driver Version: 535.154.05   CUDA Version: 12.2 |\n"


def _case(text: str) -> Asked:
    reading = read_text(text)
    return asked(reading.symptoms, reading)


@pytest.mark.parametrize(
    ("text", "box"),
    [
        (f"$ snap list\ndocker 20.10 canonical\n{SELECT}", "snap"),
        (f"desktop-linux *   Docker Desktop   unix:///home/n/.docker/desktop/docker.sock\n{SELECT}", "desktop_linux"),
        (f"[n@reka:~]$ nixos-version\n{SELECT}", "nixos"),
        (f"$ microk8s kubectl get pods\n{PLUGIN}", "microk8s"),
        (f"v1.30.2+k0s\n{PLUGIN}", "k0s"),
        (f"CONTAINER-RUNTIME docker://19.3.15\n{SANDBOX}", "dockershim"),
        (f"I use CRI-O\n{PLUGIN}", "crio"),
        (f"$ kubectl get nodes\n{PLUGIN}", "containerd"),
        (PLUGIN, "containerd"),
        (f"PS C:\\sd> docker compose up\n{ML}", "desktop"),
        (f"docker-desktop Ready Docker Desktop 5.15-microsoft-standard-WSL2 docker://24.0.7\n{PLUGIN}", "desktop"),
        (f"$ podman run --device nvidia.com/gpu=all x\n{CDI}", "podman"),
        (SELECT, "docker"),
        ("RuntimeError: CUDA error: out of memory\n", ""),
    ],
)  # fmt: skip
def test_what_starts_containers_there(text: str, box: str) -> None:
    assert box_of(_case(text)) == box


@pytest.mark.parametrize(
    ("cause", "text", "has", "not_"),
    [
        ("container.no_gpu", f"/snap/docker/2746\n{SELECT}", "snap remove docker", "containerd"),
        ("container.no_gpu", f"desktop-linux * unix:///x\n{SELECT}", "docker context use default", "wsl"),
        ("container.no_gpu", f"hardware.nvidia-container-toolkit.enable = true;\n{SELECT}", "--device nvidia.com/gpu=all", "apt"),
        ("container.no_gpu", f"+k0s\n{PLUGIN}", "/etc/k0s/containerd.d/nvidia.toml", "--set-as-default"),
        ("container.no_gpu", f"I use CRI-O\n{PLUGIN}", "--runtime=crio", "containerd"),
        ("container.no_gpu", f"docker://19.3.15\n{SANDBOX}", "--runtime=docker --set-as-default", "containerd"),
        ("container.no_gpu", f'runtimes."nvidia" of k3s\n{PLUGIN}', "kind: RuntimeClass", "apt"),
        ("driver.missing", f"microk8s\n{SMI}{ML}", "--gpu-operator-driver host", "ubuntu-drivers"),
        ("wsl.setup", f"PS C:\\> docker run x\nWindows 10 20H2, 19042.928\n{ML}", "wsl --shutdown", "sudo"),
        ("container.no_gpu", f"# R36 (release), REVISION: 4.3\n$ podman run x\n{CDI}", "--mode=csv", "apt"),
        ("driver.permission", f"$ docker run --gpus all ubuntu nvidia-smi\n{UNKNOWN}no-cgroups = true\n", "no-cgroups=false", "kubectl"),
        ("driver.permission", f"$ kubectl exec train-0 -- nvidia-smi\n{UNKNOWN}", "kubectl delete pod train-0", "docker"),
        ("driver.permission", f"Fedora Linux 40\n$ docker run --gpus all x/y nvidia-smi\n{DENIED}", "label=disable", "usermod"),
        ("driver.permission", f"crw-rw---- 1 root video 195, 0 /dev/nvidia0\n$ podman run x/y\n{DENIED}", "keep-groups", "docker"),
        ("driver.not_ready", "No MIG devices associated with /dev/nvidia3: GPU-fe1\n", "mig -i 3 -cgi", "kubectl drain"),
        ("device.selection", "device error: {GPU_ID:-0}: unknown device: unknown\n", '["${GPU_ID:-0}"]', "docker run"),
        ("device.selection", "device error: 4: unknown device: unknown\n", "no GPU 4", "MIG"),
        ("container.no_gpu", "1 node(s) had untolerated taint {team: a}.\n", "key: team, operator: Exists", "NoSchedule"),
        ("container.no_gpu", "crun: cannot stat `/lib64/libEGL_nvidia.so.550.54.14`: No such file or directory\n", "cdi generate", "rm -f CONTAINER"),
        ("driver.too_old", "Debian 12\nunsatisfied condition: cuda>=12.8, please update\n", "repos/debian12", "ubuntu-drivers"),
        ("driver.too_old", "compose.yaml\nunsatisfied condition: cuda>=12.8, please update\n", "NVIDIA_DISABLE_REQUIRE=true", "docker run"),
        ("cuda.mixed_libraries", "APPTAINERENV_LD_LIBRARY_PATH=/sw/cuda\n$ apptainer exec --nv a.sif python x\n", "unset APPTAINERENV_LD_LIBRARY_PATH", "pip"),
        ("cuda.version_mismatch", "# R34 (release), REVISION: 1.1\n$ docker run -it nvcr.io/nvidia/l4t-pytorch:r32.6.1-pth1.8-py3\n", "r34.1.1", "pip"),
        ("container.no_gpu", "D:\\x>docker-compose up\nError response from daemon: unknown or invalid runtime name: nvidia\n", "Settings, Docker Engine", "sudo"),
        ("container.no_gpu", "daemon.json has nvidia-container-runtime\nError response from daemon: unknown or invalid runtime name: nvidia\n", "restart docker", "apt"),
        ("container.no_gpu", "L4T jetson\n$ docker run --runtime nvidia a/b:1\nunknown or invalid runtime name: nvidia\n", "nvidia-container ", "ubuntu-drivers"),
        ("container.no_gpu", f"$ minikube start\n{PLUGIN}", "--gpus all", "containerd"),
        ("container.no_gpu", f"amazon-eks-node-al2023-x86_64-standard-1.29\n{PLUGIN}", "AL2023_x86_64_NVIDIA", "nvidia-ctk"),
        ("container.no_gpu", '$ distrobox create -n b -i a/c:1 --additional-flags "--runtime=nvidia"\nError: default OCI runtime "nvidia" not found\n', "--image a/c:1", "docker"),
        ("container.no_gpu", "Insufficient nvidia.com/gpu.\n  nvidia.com/gpu.shared:  4\n", "nvidia.com/gpu.shared: 1", "kubectl apply"),
        ("container.no_gpu", "request for 'nvidia.com/gpu.shared: 2' too large: maximum request size for shared resources is 1\n", "nvidia.com/gpu.shared: 1", "Xid"),
        ("other.not_gpu", "$ sbatch --gres=gpu:1 t.sh\nRequested node configuration is not available\n$ sinfo\nbatch* (null)\ngpu gpu:a100:4\n", "sbatch --partition=gpu --gres=gpu:1 t.sh", "srun"),
        ("driver.missing", "$ uname -r\n6.9.3-arch1-1\n$ ls /usr/lib/modules\n6.9.5-arch1-1\n$ sudo modprobe nvidia\nmodprobe: FATAL: Module nvidia not found\n", "sudo reboot", "dkms"),
        ("driver.library_mismatch", "lxc\nthe host has 375.39\nDriver/library version mismatch\n", "375.39.run --no-kernel-module", "docker"),
        ("driver.library_mismatch", "$ docker run --gpus all a/b:1\nDriver/library version mismatch\nNVML library version: 565.57\nhost driver 535.183.01\n", "FROM a/b:1", "reboot"),
        ("container.no_gpu", "services.app.devices.0 capabilities is required\n", "capabilities: [gpu]", "apt"),
        ("wsl.setup", "C:\\> docker run --gpus all a/b:1\nError 500: named symbol not found\n", "4.31", "sudo"),
        ("driver.permission", "$ docker run --gpus all a/dcgm:3\nHost engine is running as non-root\n", "docker run --cap-add SYS_ADMIN --gpus all a/dcgm:3", "kubectl"),
        ("driver.permission", "Nov 16 10:00:00 pc ollama[42]: NvRmMemInitNvmap failed: Permission denied\n", "systemctl restart ollama", "$USER"),
        ("container.no_gpu", "nextflow run x -profile singularity\nlibcuda.so.1: cannot open shared object file\n", "singularity.runOptions = '--nv'", "docker"),
        ("container.no_gpu", "$ docker run --device /dev/nvidia0 --device=/dev/nvidiactl -it a/b:1 bash\nCUDA driver version is insufficient\n", "docker run --gpus all -it a/b:1", "/dev/nvidia0"),
        ("container.no_gpu", "$ singularity exec -c --nv a.sif python x\nno CUDA-capable device is detected\n", "--bind /dev", "docker"),
        ("driver.missing", "after each boot\nnvml error: driver not loaded\n", "ExecStartPre=-/usr/bin/nvidia-smi", "dkms"),
        ("driver.too_old", "jetson\n$ docker run nvcr.io/nvidia/tritonserver:24.08-py3\n", "24.08-py3-igpu", "ubuntu-drivers"),
        ("container.no_gpu", f"nvidia-operator-validator\n{SMI}{ML}", "driver.enabled=false", "runtimeClassName"),
        ("container.no_gpu", "$ kubectl logs vllm-x\nRuntimeError: Failed to infer device type\n", "runtimeClassName: nvidia", "pip"),
        ("other.not_gpu", "manifest for nvidia/cuda:11.4.2-cudnn8-devel-ubuntu20.04 not found: manifest unknown (manager.go:250)\n", "image: nvidia/cuda:11.8.0-cudnn8-devel-ubuntu20.04", "docker run"),
        ("program.build", 'Found CUDAToolkit: /usr/include (found version "12.6.68")\n  Compiler: /usr/bin/nvcc\n', "CUDACXX=/usr/local/cuda-12.6/bin/nvcc", "pip"),
        ("container.no_gpu", "$ srun python -c 'import torch'\nFalse\n", "srun --gpus=1 python -c", "sbatch"),
    ],
)  # fmt: skip
def test_the_whole_way_at_that_place(cause: str, text: str, has: str, not_: str) -> None:
    told = "\n".join(f"{fix.text}\n{fix.command}" for fix in in_its_box(cause, _case(text)))
    assert has in told
    assert not_ not in told


def test_linux_driver_inside_wsl_goes_and_wsl_starts_anew() -> None:
    text = "a@pc:/mnt/c/x$ sudo apt install nvidia-utils-510\na@pc:/mnt/c/x$ nvidia-smi\nFailed to initialize NVML: GPU access blocked by the operating system\n"
    purge, anew = explain_text(text).causes[0].fixes[:2]
    assert "apt purge" in purge.command
    assert "libnvidia-*" not in purge.command  # that is the container toolkit's library, too
    assert "wsl --shutdown" in anew.command


def test_names_of_a_cluster_are_the_texts_own() -> None:
    text = "$ kubectl -n nvidia logs nvdp-nvidia-device-plugin-x7k2q\nNode: gpu-01/10.0.0.4\ntrain-9s7jw 0/1 UnexpectedAdmissionError 0 4s\n"
    plugin = plugin_of(text)
    assert (plugin.namespace, plugin.daemonset) == ("nvidia", "nvdp-nvidia-device-plugin")
    assert (pod_of(text), node_of(text)) == ("train-9s7jw", "gpu-01")
    assert plugin_of("nothing").anew.endswith("nvidia-device-plugin-daemonset")


def test_the_driver_of_a_rented_machine_is_not_ones_own() -> None:
    text = "error starting container: Error response from daemon: nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update your driver"
    first, second = explain_text(text).causes[0].fixes[:2]
    assert first.text.startswith("Choose another machine: filter those on offer by CUDA 12.8 or newer")
    assert "older than 12.8" in second.text


def test_an_option_behind_the_image_is_the_programs_own() -> None:
    text = "$ singularity exec --nv tf.sif python -c 'import torch'\nfailed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n"
    assert not [fix for fix in explain_text(text).causes[0].fixes if "--bind /dev" in fix.command]
    text = text.replace("exec --nv tf.sif", "exec --nv --contain tf.sif")
    assert [fix for fix in explain_text(text).causes[0].fixes if "--bind /dev" in fix.command]
