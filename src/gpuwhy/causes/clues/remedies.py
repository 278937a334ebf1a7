"""Remedies where only a text is known: what to do for each cause on Linux, Windows, in conda and in containers."""

from __future__ import annotations

from gpuwhy.model.cause import Fix

REMEDIES: dict[str, tuple[Fix, ...]] = {
    "driver.missing": (
        Fix("Linux: install the driver that the distribution offers", "sudo ubuntu-drivers install", root=True, reboot=True),
        Fix("After a kernel update: build the module for the running kernel", "sudo dkms autoinstall && sudo modprobe nvidia", root=True),
        Fix("Windows: install the driver of the card's maker, then restart"),
        Fix("In a container: start it with the GPU", "docker run --gpus all IMAGE nvidia-smi"),
    ),
    "driver.too_old": (
        Fix("Install a newer driver", "sudo ubuntu-drivers install", root=True, reboot=True),
        Fix("Or install a build of the framework for an older CUDA (cu118 runs on driver 450 and newer), from PyTorch's own package index"),
    ),
    "driver.library_mismatch": (
        Fix("Restart, so that the kernel loads the module of the installed version", "sudo reboot", root=True, reboot=True),
        Fix("Or reload the modules, with no program on the GPU", "sudo rmmod nvidia_drm nvidia_modeset nvidia_uvm nvidia && sudo modprobe nvidia", root=True),
        Fix("If it stays: finish a broken upgrade", "sudo apt install --fix-broken", root=True),
    ),
    "driver.compat_misuse": (
        Fix("Take the cuda-compat folder out of the search", "unset LD_LIBRARY_PATH", safe=True),
        Fix("Remove the package where the card does not allow it (GeForce)", "sudo apt remove 'cuda-compat-*'", root=True),
    ),
    "driver.stub": (
        Fix("Take the stubs folder out of LD_LIBRARY_PATH: it is for linking only", "export LD_LIBRARY_PATH=$(echo $LD_LIBRARY_PATH | tr ':' '\\n' | grep -v stubs | paste -sd:)", safe=True),
        Fix("In an image: use stubs only while building, in LIBRARY_PATH"),
    ),
    "driver.not_ready": (
        Fix("NVSwitch machines: start the fabric manager of the driver's very version", "sudo systemctl enable --now nvidia-fabricmanager", root=True),
        Fix("After suspend: reload the uvm module", "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm", root=True),
    ),
    "driver.permission": (
        Fix("See who may open the device files", "ls -l /dev/nvidia*", safe=True),
        Fix("Create them and load the uvm module", "sudo nvidia-modprobe -u -c=0", root=True),
        Fix("Join the group that owns them", "sudo usermod -aG video $USER", root=True),
        Fix("A container that lost the device after a systemd reload: start it again, with --device for each /dev/nvidia* file"),
    ),
    "container.no_gpu": (
        Fix("Start the container with the GPU", "docker run --gpus all IMAGE"),
        Fix("Install the NVIDIA container toolkit and tell docker of it", "sudo apt install nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker", root=True),
        Fix("Compose: reserve the device under deploy.resources.reservations.devices with capabilities: [gpu]"),
    ),
    "wsl.setup": (
        Fix("Put WSL's own libcuda on the search path", "export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH", safe=True),
        Fix("Install the NVIDIA driver on Windows only, then update WSL", "wsl --update"),
        Fix("Remove a Linux driver from inside WSL", "sudo apt purge 'nvidia-driver-*' 'libnvidia-*'", root=True),
    ),
    "cuda.missing_library": (
        Fix("TensorFlow 2.14 or newer: install it with its CUDA libraries", 'pip install "tensorflow[and-cuda]"', safe=True),
        Fix("ONNX Runtime: install it with its CUDA libraries", 'pip install "onnxruntime-gpu[cuda,cudnn]"', safe=True),
        Fix("conda: install the toolkit's libraries of the asked version", "conda install -c conda-forge cudatoolkit", safe=True),
        Fix("Windows: install the CUDA toolkit whose number is in the DLL's name (cudart64_101.dll: CUDA 10.1)"),
    ),
    "cuda.version_mismatch": (
        Fix("Install the build of the framework for the CUDA that is there, from PyTorch's own package index"),
        Fix("Or install the toolkit that the framework was built with, beside the other, and point CUDA_HOME to it", "export CUDA_HOME=/usr/local/cuda-12.1", safe=True),
    ),
    "cuda.mixed_libraries": (
        Fix("Leave the framework to the libraries that it brings", "unset LD_LIBRARY_PATH", safe=True),
        Fix("Or remove the system's or conda's copy of the library that the message names"),
    ),
    "cudnn.missing": (
        Fix("pip: install the cuDNN whose major number is in the file's name", 'pip install "nvidia-cudnn-cu12"', safe=True),
        Fix("conda", "conda install -c conda-forge cudnn", safe=True),
        Fix("Windows: unpack cuDNN into the CUDA folder, so that its DLLs are on PATH"),
    ),
    "cudnn.version_mismatch": (
        Fix("Install a cuDNN of the same major version that is not older than the one of the build", 'pip install --upgrade "nvidia-cudnn-cu12"', safe=True),
        Fix("See which copy is loaded, and take the other from the search path", "LD_DEBUG=libs python -c 'import tensorflow' 2>&1 | grep libcudnn", safe=True),
    ),
    "cudnn.mixed_libraries": (
        Fix("Let one copy win", "unset LD_LIBRARY_PATH", safe=True),
        Fix("Remove the other copy (system package, conda, wheel)", "find / -name 'libcudnn*.so*' 2>/dev/null"),
    ),
    "cudnn.dependency_missing": (
        Fix("Windows, cuDNN 8: put zlibwapi.dll on PATH, beside cuDNN's DLLs"),
        Fix("Linux: install NVRTC and make libnvrtc.so findable", 'pip install "nvidia-cuda-nvrtc-cu12"', safe=True),
    ),
    "install.corrupted": (
        Fix("Install the package again, past the cache", "pip install --force-reinstall --no-cache-dir PACKAGE"),
        Fix("Delete the driver's compute cache", "rm -rf ~/.nv/ComputeCache"),
    ),
    "install.conflict": (
        Fix("Remove all packages of the family, then install one", "pip uninstall -y tensorflow tensorflow-gpu tensorflow-cpu onnxruntime onnxruntime-gpu", safe=True),
    ),
    "framework.cpu_only": (
        Fix("PyTorch: install the CUDA build from its own package index; its start page gives the command"),
        Fix("JAX", 'pip install "jax[cuda12]"', safe=True),
        Fix("ONNX Runtime: only the GPU package", "pip uninstall -y onnxruntime && pip install onnxruntime-gpu", safe=True),
    ),
    "framework.gpu_unsupported": (
        Fix("Install a build with code for this GPU (sm_120 needs CUDA 12.8 builds), from PyTorch's own package index"),
        Fix("For an old GPU: install the last release that supports it"),
    ),
    "framework.platform_dropped": (
        Fix("TensorFlow on Windows: use WSL 2, or TensorFlow 2.10 under Python 3.7 to 3.10", 'pip install "tensorflow<2.11"', safe=True),
        Fix("Use a Python that the release has wheels for", "python --version"),
    ),
    "framework.extension_abi": (
        Fix("Install the extension's build for the installed framework, or build it", "pip install --force-reinstall --no-cache-dir --no-build-isolation EXTENSION", safe=True),
        Fix("See both versions", "pip list", safe=True),
    ),
    "memory.other_process": (
        Fix("See who holds the memory", "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv", safe=True),
        Fix("Use another GPU", "export CUDA_VISIBLE_DEVICES=1", safe=True),
    ),
    "memory.host": (
        Fix("Container: give it more shared memory", "docker run --shm-size=8g IMAGE"),
        Fix("Load less at once: fewer data-loader workers, no pinned memory"),
        Fix("WSL: raise memory= in .wslconfig; Windows: enlarge the paging file"),
    ),
    "device.selection": (
        Fix("See what is hidden", "nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES", safe=True),
        Fix("Show all GPUs again and use number 0", "unset CUDA_VISIBLE_DEVICES", safe=True),
    ),
    "device.busy": (
        Fix("See the compute mode and the holder", "nvidia-smi -q -d COMPUTE,PIDS", safe=True),
        Fix("Allow several programs", "sudo nvidia-smi -c DEFAULT", root=True),
    ),
    "device.hardware": (
        Fix("Read the kernel log", "sudo dmesg | grep -i -e xid -e nvrm", root=True),
        Fix("Reset the GPU, or restart", "sudo nvidia-smi --gpu-reset", root=True),
        Fix("Move the card to another slot or machine; check power and cooling"),
    ),
    "env.path": (
        Fix("Put the library's folder on the search path", "export LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH", safe=True),
        Fix("Or tell the loader for good", "echo /usr/local/cuda/lib64 | sudo tee /etc/ld.so.conf.d/cuda.conf && sudo ldconfig", root=True),
        Fix("Compilers: name the toolkit", "export CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH", safe=True),
        Fix("Windows: add the CUDA bin folder to PATH, then open a new window"),
    ),
}  # fmt: skip
"""The causes that only a text can show bring their own fixes; these are for those that facts show too."""
