"""Remedies where only a text is known: what to do for each cause on Linux, Windows, in conda and in containers.

Of the causes that facts can show too; those that only a text shows are in remedies_told.
"""

from __future__ import annotations

from gpuwhy.causes.clues.meant import Meant, meant
from gpuwhy.causes.clues.remedies_limits import LIMITS

CUDA_HOME: tuple[Meant, ...] = (
    meant("Name the toolkit, where one is installed", "export CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH", said="build.cuda_home build.nvcc_missing build.cmake_compiler", safe=True),
    meant("Or install the toolkit, which has nvcc: with conda, of the CUDA that PyTorch was built for (python -c 'import torch; print(torch.version.cuda)')", "conda install -c nvidia cuda-toolkit", said="build.cuda_home build.nvcc_missing build.cmake_compiler", safe=True),
    meant("Or for the whole system", "sudo apt install nvidia-cuda-toolkit", said="build.cuda_home build.nvcc_missing build.cmake_compiler", root=True),
)  # fmt: skip
BITSANDBYTES: tuple[Meant, ...] = (
    meant("Install the newest release of bitsandbytes: it has libraries for more CUDA versions", "pip install --upgrade bitsandbytes", said="bnb.setup bnb.compiled", safe=True),
    meant("See what bitsandbytes finds, and which CUDA it looks for", "python -m bitsandbytes", said="bnb.", safe=True, look=True),
    meant("See what bitsandbytes finds, and which CUDA it looks for: it should be PyTorch's own", "python -m bitsandbytes", said="loader. title.library", line="bitsandbytes", safe=True, look=True, more=True),
)  # fmt: skip
SHARED_MEMORY: tuple[Meant, ...] = (
    meant("Start the container with more shared memory", "docker run --gpus all --shm-size=1g IMAGE", said="nccl.shm"),
    meant("Or with the host's", "docker run --gpus all --ipc=host IMAGE", said="nccl.shm"),
    meant("Kubernetes: mount memory at /dev/shm", "volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}]    # volumeMounts: [{name: shm, mountPath: /dev/shm}]", said="nccl.shm"),
    meant("See how much there is", "df -h /dev/shm", said="nccl.shm", safe=True, look=True),
)  # fmt: skip

REMEDIES: dict[str, tuple[Meant, ...]] = {
    "driver.missing": (
        meant("Secure Boot refuses the module: enrol the key that it was signed with, then restart and choose “Enroll MOK”", "sudo mokutil --import /var/lib/shim-signed/mok/MOK.der    # Debian: /var/lib/dkms/mok.pub; Fedora: /etc/pki/akmods/certs/public_key.der", said="kernel.key", root=True, reboot=True),
        meant("Or switch Secure Boot off: in the firmware's setup, or by this and a restart", "sudo mokutil --disable-validation", said="kernel.key", root=True, reboot=True),
        meant("Build the module for the running kernel", "sudo apt install linux-headers-$(uname -r) && sudo dkms autoinstall && sudo modprobe nvidia", said="kernel.dkms kernel.module_format", root=True),
        meant("Keep nouveau from taking the card, then restart", "printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' | sudo tee /etc/modprobe.d/nouveau.conf && sudo update-initramfs -u", said="kernel.nouveau", root=True, reboot=True),
        meant("On the host, load the driver's module; a container cannot", "sudo modprobe nvidia && nvidia-smi", said="container.nvml_not_loaded container.load_ml", root=True),
        meant("On the host, install the driver that the distribution offers", "sudo ubuntu-drivers install", said="container.nvml_not_loaded container.load_ml", root=True, reboot=True),
        meant("Linux: install the driver that the distribution offers", "sudo ubuntu-drivers install", root=True, reboot=True),
        meant("After a kernel update: build the module for the running kernel", "sudo dkms autoinstall && sudo modprobe nvidia", root=True),
        meant("Windows: install the driver of the card's maker, then restart"),
        meant("In a container: start it with the GPU", "docker run --gpus all IMAGE nvidia-smi"),
    ),
    "install.inconsistent": (
        meant("Install NumPy 1, which the module was compiled against; or a release of the module for NumPy 2", 'pip install "numpy<2"', said="python.numpy_abi python.numba_numpy", safe=True),
        meant("Install an older protobuf, which the generated code was made for; or a newer release of the package", 'pip install "protobuf<4"', said="python.protobuf", safe=True),
        meant("Keras 2 for a program or package that was written for it", "pip install tf-keras && export TF_USE_LEGACY_KERAS=1", said="pairs.keras python.keras", safe=True),
        meant("Or install a SciPy of the time of the package that uses it", 'pip install "scipy<1.13"', said="pairs.scipy", safe=True),
        meant("Install what the message asks for, in one command with the package that asks, so that pip keeps both", said="pairs.required pairs.pip pairs.pip_missing"),
        meant("See every contradiction in the environment", "pip check", safe=True, look=True),
        meant("Let gpuwhy compare what is installed, also what pip check cannot see", "gpuwhy check", safe=True, look=True),
    ),
    "env.shadowed": (
        meant("Rename the file or folder that has the module's name, and remove the __pycache__ beside it", said="shadow."),
        meant("See which file Python takes", "python -c 'import torch; print(torch.__file__)'    # the module of the message", safe=True, look=True),
        meant("See where Python looks first: the script's folder, PYTHONPATH, then the environment", "python -c 'import sys; print(*sys.path, sep=chr(10))'", safe=True, look=True),
    ),
    "driver.too_old": (
        meant("Install a newer driver", "sudo ubuntu-drivers install", root=True, reboot=True),
        meant("Or install a build of the framework for an older CUDA (CUDA 11 runs on driver 450 and newer)"),
    ),
    "driver.library_mismatch": (
        meant("Restart, so that the kernel loads the module of the installed version", "sudo reboot", root=True, reboot=True),
        meant("Or reload the modules, with no program on the GPU", "sudo rmmod nvidia_drm nvidia_modeset nvidia_uvm nvidia && sudo modprobe nvidia", root=True),
        meant("If it stays: finish a broken upgrade", "sudo apt install --fix-broken", root=True),
    ),
    "driver.compat_misuse": (
        meant("Take the cuda-compat folder out of the search", "unset LD_LIBRARY_PATH", safe=True),
        meant("Remove the package where the card does not allow it (GeForce)", "sudo apt remove 'cuda-compat-*'", root=True),
    ),
    "driver.stub": (
        meant("Take the stubs folder out of LD_LIBRARY_PATH: it is for linking only", "export LD_LIBRARY_PATH=$(echo $LD_LIBRARY_PATH | tr ':' '\\n' | grep -v stubs | paste -sd:)", safe=True),
        meant("In an image: use stubs only while building, in LIBRARY_PATH"),
    ),
    "driver.not_ready": (
        meant("NVSwitch machines: start the fabric manager of the driver's very version", "sudo systemctl enable --now nvidia-fabricmanager", root=True),
        meant("After suspend: reload the uvm module", "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm", root=True),
    ),
    "driver.permission": (
        meant("See who may open the device files", "ls -l /dev/nvidia*", safe=True, look=True),
        meant("Create them and load the uvm module", "sudo nvidia-modprobe -u -c=0", root=True),
        meant("Join the group that owns them", "sudo usermod -aG video $USER", root=True),
        meant("A container that lost the device after a systemd reload: start it again, with --device for each /dev/nvidia* file"),
    ),
    "container.no_gpu": (
        meant("Install the NVIDIA container toolkit and tell docker of it", "sudo apt install nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker", said="container.no_driver_select container.no_runtime", root=True),
        meant("Then try the same again", "docker run --rm --gpus all ubuntu nvidia-smi", said="container.no_driver_select container.no_runtime", look=True),
        meant("Ask for no more GPUs than one node has, in the pod's manifest", "resources: {limits: {nvidia.com/gpu: 1}}", said="container.k8s"),
        meant("See what the nodes offer and what is taken; add a node with GPUs, or end the pods that hold them", "kubectl describe nodes | grep -e ^Name -e nvidia.com/gpu", said="container.k8s", safe=True, look=True),
        meant("Where no node offers any: install NVIDIA's device plug-in, or the GPU operator, in the cluster", "kubectl get pods --all-namespaces | grep -i nvidia", said="container.k8s"),
        meant("Start the container with the GPU", "docker run --gpus all IMAGE"),
        meant("Install the NVIDIA container toolkit and tell docker of it", "sudo apt install nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker", root=True),
        meant("Compose: reserve the device under deploy.resources.reservations.devices with capabilities: [gpu]"),
    ),
    "wsl.setup": (
        meant("Put WSL's own libcuda on the search path", "export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH", safe=True),
        meant("Install the NVIDIA driver on Windows only, then update WSL", "wsl --update"),
        meant("Remove a Linux driver from inside WSL", "sudo apt purge 'nvidia-driver-*' 'libnvidia-*'", root=True),
    ),
    "cuda.missing_library": (
        *BITSANDBYTES,
        meant("TensorFlow 2.14 or newer: install it with its CUDA libraries", 'pip install "tensorflow[and-cuda]"', by="tensorflow", safe=True),
        meant("ONNX Runtime: install it with its CUDA libraries", 'pip install "onnxruntime-gpu[cuda,cudnn]"', by="onnxruntime", safe=True),
        meant("conda: install the toolkit's libraries of the asked version", "conda install -c conda-forge cudatoolkit", safe=True),
        meant("Windows: install the CUDA toolkit whose number is in the DLL's name (cudart64_101.dll: CUDA 10.1)"),
    ),
    "cuda.version_mismatch": (
        *BITSANDBYTES,
        meant("PyTorch: install its build for the CUDA that is there, from PyTorch's own package index", by="torch"),
        meant("Install the toolkit that the framework was built with beside the other, and point CUDA_HOME to it", "export CUDA_HOME=/usr/local/cuda-12.1", safe=True),
    ),
    "cuda.mixed_libraries": (
        meant("Leave the framework to the libraries that it brings", "unset LD_LIBRARY_PATH", safe=True),
        meant("Or remove the system's or conda's copy of the library that the message names"),
    ),
    "cudnn.missing": (
        meant("pip: install the cuDNN whose major number is in the file's name", 'pip install "nvidia-cudnn-cu12"', safe=True),
        meant("conda", "conda install -c conda-forge cudnn", safe=True),
        meant("Windows: unpack cuDNN into the CUDA folder, so that its DLLs are on PATH"),
    ),
    "cudnn.version_mismatch": (
        meant("Install a cuDNN of the same major version that is not older than the one of the build", 'pip install --upgrade "nvidia-cudnn-cu12"', safe=True),
        meant("See which copy is loaded, and take the other from the search path", "LD_DEBUG=libs python -c 'import tensorflow' 2>&1 | grep libcudnn", by="tensorflow", safe=True, look=True),
        meant("See which copy is loaded, and take the other from the search path", "LD_DEBUG=libs python -c 'import torch' 2>&1 | grep libcudnn", by="torch", safe=True, look=True),
    ),
    "cudnn.mixed_libraries": (
        meant("Let one copy win", "unset LD_LIBRARY_PATH", safe=True),
        meant("Remove the other copy (system package, conda, wheel)", "find / -name 'libcudnn*.so*' 2>/dev/null"),
    ),
    "cudnn.dependency_missing": (
        meant("Windows, cuDNN 8: put zlibwapi.dll on PATH, beside cuDNN's DLLs"),
        meant("Linux: install NVRTC and make libnvrtc.so findable", 'pip install "nvidia-cuda-nvrtc-cu12"', safe=True),
    ),
    "env.setting": (
        meant("Take the flags away, in this shell; or leave out the one that is named", "unset XLA_FLAGS", said="setting.xla", safe=True),
        meant("See which flags this release has: with a wrong value it ends with the list", "XLA_FLAGS=--xla_backend_optimization_level=x python -c 'import jax; jax.devices()' 2>&1 | head -400", said="setting.xla_unknown", by="jax", safe=True, look=True),
        meant("Let JAX choose, in this shell", "unset JAX_PLATFORMS JAX_PLATFORM_NAME", said="setting.jax_platform setting.jax_other setting.jax_chosen setting.jax_backend setting.jax_none jax.unknown_backend setting.jax_device", safe=True),
        meant("Or name the platforms as JAX does", "export JAX_PLATFORMS=cuda,cpu", said="setting.jax_platform", safe=True),
        meant("Take the variable away, in this shell", "unset {variable}", said="setting.tf_env setting.jax_truth setting.jax_allocator setting.unknown setting.refused", line=r"(?P<variable>(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+))", safe=True),
        meant("Take the variable of that name in capitals away, in this shell", "unset $(echo {flag} | tr a-z A-Z)", said="setting.jax_value", line=r"jax flag (?P<flag>jax_\w+)", safe=True),
        meant("Take the allocator's options away, in this shell; they are written key:value, with commas between them", "unset PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF", said="setting.allocator memory.allocator_option setting.number", safe=True),
        meant("Take the variable away, in this shell", "unset TORCH_LOGS", said="setting.torch_logs", safe=True),
        meant("Name architectures as PyTorch does, with semicolons between them", "export TORCH_CUDA_ARCH_LIST='8.0;8.6;9.0+PTX'", said="setting.arch", safe=True),
        meant("See which variables steer the stack here", "env | grep -E '^(CUDA|NCCL|XLA|JAX|TF|TORCH|PYTORCH|TRITON|NUMBA|CUPY|CUBLAS)'", safe=True, look=True),
        meant("Take the variable away in this shell, with its own name", "unset VARIABLE", safe=True),
    ),
    "install.corrupted": (
        meant("Install the package again, past the cache", "pip install --force-reinstall --no-cache-dir PACKAGE"),
        meant("Delete the driver's compute cache", "rm -rf ~/.nv/ComputeCache"),
    ),
    "install.conflict": (
        meant("Remove all packages of TensorFlow, then install one", "pip uninstall -y tensorflow tensorflow-gpu tensorflow-cpu\npip install \"tensorflow[and-cuda]\"", by="tensorflow", safe=True),
        meant("Remove all packages of ONNX Runtime, then install one", "pip uninstall -y onnxruntime onnxruntime-gpu\npip install onnxruntime-gpu", by="onnxruntime", safe=True),
        meant("Remove all packages of CuPy, then install one", "pip uninstall -y cupy cupy-cuda11x cupy-cuda12x cupy-cuda13x\npip install cupy-cuda12x", by="cupy", safe=True),
        meant("See which packages of one family are installed together; remove them all, then install one", "pip list", safe=True, look=True),
    ),
    "framework.cpu_only": (
        *BITSANDBYTES,
        meant("PyTorch: install the CUDA build from its own package index; its start page gives the command", by="torch"),
        meant("JAX: install it with CUDA", 'pip install "jax[cuda12]"', by="jax", safe=True),
        meant("TensorFlow: install it with its CUDA libraries", 'pip install "tensorflow[and-cuda]"', by="tensorflow", safe=True),
        meant("ONNX Runtime: only the GPU package", "pip uninstall -y onnxruntime && pip install onnxruntime-gpu", by="onnxruntime", safe=True),
    ),
    "framework.gpu_unsupported": (
        meant("PyTorch: install a build with code for this GPU (sm_120 needs CUDA 12.8 builds), from PyTorch's own package index", by="torch"),
        meant("For a new GPU: install a release of the framework that is built for a newer CUDA (sm_120 needs 12.8)"),
        meant("For an old GPU: install the last release that supports it"),
    ),
    "framework.platform_dropped": (
        meant("TensorFlow on Windows: use WSL 2, or TensorFlow 2.10 under Python 3.7 to 3.10", 'pip install "tensorflow<2.11"', by="tensorflow", safe=True),
        meant("Use a Python that the release has wheels for", "python --version"),
    ),
    "framework.extension_abi": (
        meant("Install the extension's build for the installed framework, or build it", "pip install --force-reinstall --no-cache-dir --no-build-isolation EXTENSION", safe=True),
        meant("See both versions", "pip list", safe=True, look=True),
    ),
    "memory.other_process": (
        meant("See who holds the memory", "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv", safe=True, look=True),
        meant("Use another GPU", "export CUDA_VISIBLE_DEVICES=1", safe=True),
    ),
    "memory.host": (
        meant("Slurm: ask for more memory", "sbatch --mem=64G JOB    # or, in the script: #SBATCH --mem=64G", said="memory.killer signal.kill title.", by="slurm"),
        meant("Slurm: see what the job took, and what it had asked for", "sacct -j JOBID --format=JobID,MaxRSS,ReqMem,State", said="memory.killer signal.kill title.", by="slurm", safe=True, look=True),
        meant("Kubernetes: give the container more memory, in the pod's manifest", "resources: {limits: {memory: 32Gi}}", said="memory.killer", line="oomkilled"),
        meant("Docker: start it without a limit, or with a higher one", "docker run --memory=SIZE IMAGE", said="memory.killer", line="oomkilled|memory cgroup"),
        *SHARED_MEMORY,
        meant("Start the container with more shared memory", "docker run --gpus all --shm-size=8g IMAGE", said="memory.shm signal.bus memory.worker_killed told.shm_df"),
        meant("Or use fewer data-loader workers (num_workers=0 needs no shared memory)", said="memory.shm signal.bus memory.worker_killed memory.worker_gone"),
        meant("Compile with fewer jobs at once", "export MAX_JOBS=2", said="memory.compiler_killed", safe=True),
        meant("Windows: enlarge the paging file, then restart", said="windows.page_file windows.dll_load_failed loader.cudnn_windows"),
        meant("Load less at once: fewer data-loader workers, no pinned memory"),
        meant("Container: give it more shared memory", "docker run --shm-size=8g IMAGE"),
        meant("WSL: raise memory= in .wslconfig; Windows: enlarge the paging file"),
    ),
    "device.selection": (
        meant("See what is hidden", "nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES", safe=True, look=True),
        meant("Show all GPUs again and use number 0", "unset CUDA_VISIBLE_DEVICES", safe=True),
    ),
    "device.busy": (
        meant("See which pods hold the GPUs; end them, or wait", "kubectl describe nodes | grep -e ^Name -e nvidia.com/gpu", said="container.k8s", safe=True, look=True),
        meant("See the compute mode and the holder", "nvidia-smi -q -d COMPUTE,PIDS", safe=True, look=True),
        meant("Allow several programs", "sudo nvidia-smi -c DEFAULT", root=True),
    ),
    "device.hardware": (
        meant("Read the kernel log", "sudo dmesg | grep -i -e xid -e nvrm", root=True, look=True),
        meant("Reset the GPU, or restart", "sudo nvidia-smi --gpu-reset", root=True),
        meant("Move the card to another slot or machine; check power and cooling"),
    ),
    "env.limit": LIMITS,
    "env.path": (
        *CUDA_HOME,
        meant("Put the library's folder on the search path", "export LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH", safe=True),
        meant("Or tell the loader for good", "echo /usr/local/cuda/lib64 | sudo tee /etc/ld.so.conf.d/cuda.conf && sudo ldconfig", root=True),
        meant("Compilers: name the toolkit", "export CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH", safe=True),
        meant("Windows: add the CUDA bin folder to PATH, then open a new window"),
    ),
}  # fmt: skip
