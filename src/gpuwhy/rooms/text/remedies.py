"""Remedies that the rooms of several causes have."""

from __future__ import annotations

from gpuwhy.knowledge.windows import BUILD_TOOLS, REDISTRIBUTABLE
from gpuwhy.model import on
from gpuwhy.rooms.text.meant import Meant, meant

SYNCHRONOUS = "CUDA_LAUNCH_BLOCKING=1 python PROGRAM"
_REPO = "https://nvidia.github.io/libnvidia-container"
TOOLKIT_REPO = (
    f"curl -fsSL {_REPO}/gpgkey | sudo gpg --dearmor -o /usr/share/keyrings/nvidia-container-toolkit-keyring.gpg"
    f" && curl -s -L {_REPO}/stable/deb/nvidia-container-toolkit.list"
    " | sed 's#deb https://#deb [signed-by=/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg] https://#g'"
    " | sudo tee /etc/apt/sources.list.d/nvidia-container-toolkit.list"
    " && sudo apt-get update && sudo apt-get install -y nvidia-container-toolkit"
)
"""A line of a longer command: NVIDIA's repository and the toolkit from it; `knowledge/distributions.py` says it for other families."""
TOOLKIT = on.engine(
    f"{TOOLKIT_REPO}\nsudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker"
)
CONTAINERD = on.engine("sudo nvidia-ctk runtime configure --runtime=containerd && sudo systemctl restart containerd")
CONTAINERD_DEFAULT = on.engine(
    "sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default && sudo systemctl restart containerd"
)
DOCKER_DEFAULT = on.engine(
    "sudo nvidia-ctk runtime configure --runtime=docker --set-as-default && sudo systemctl restart docker"
)
CDI = on.engine(
    "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml && podman run --rm --device nvidia.com/gpu=all ubuntu nvidia-smi"
)
PURGE = on.linux(
    "sudo apt purge $(dpkg-query -W | cut -f1 | grep -E '^(lib)?nvidia-[a-z0-9-]+-[0-9]+|^nvidia-driver|^cuda-drivers|^libcuda1')"
)
"""The driver's packages that are installed, and no others: libnvidia-container is the container toolkit's."""
BAKED = on.dockerfile(
    "RUN cd /usr/lib/x86_64-linux-gnu && rm -f libcuda.so* libnvidia-ml.so* libnvidia-ptxjitcompiler.so* libnvidia-nvvm.so*"
)
CRASH = "Find the call in which it crashes: Python then prints where it was"
FAULTS = "python -X faulthandler PROGRAM"
CUDA_HOME: tuple[Meant, ...] = (
    meant("If a CUDA toolkit is installed, set CUDA_HOME to its folder", on.linux("export CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH"),
          said="build.cuda_home build.nvcc_missing build.cmake_compiler", safe=True),
    meant("Or install the toolkit, which has nvcc: with conda, of the CUDA that PyTorch was built for (torch.version.cuda)",
          "conda install -c nvidia cuda-toolkit", said="build.cuda_home build.nvcc_missing build.cmake_compiler", safe=True),
    meant("Or install the toolkit for the whole system", on.linux("sudo apt install nvidia-cuda-toolkit"), said="build.cuda_home build.nvcc_missing build.cmake_compiler",
          root=True),
    meant(on.in_windows("install the CUDA toolkit with NVIDIA's installer, of the CUDA that PyTorch was built for, open a new window, and set CUDA_HOME for the build"),
          on.cmd(r'set "CUDA_HOME=%CUDA_PATH%"'), said="build.cuda_home build.nvcc_missing build.cmake_compiler", safe=True),
    meant(on.in_windows("and install Visual Studio's C++ build tools, then build in their x64 Native Tools prompt"),
          BUILD_TOOLS, said="build.cuda_home build.nvcc_missing build.cmake_compiler"),
    meant("Or install a ready-made wheel for this PyTorch, CUDA and Python (from the project's release page); or leave flash-attn out: most programs can run without it",
          said="build.cuda_home build.nvcc_missing", line="flash", safe=True),
)  # fmt: skip
MSVC: tuple[Meant, ...] = (
    meant(on.in_windows("check which DLL is not found"), 'gpuwhy inspect "{path}"', said="windows.torch_dll", line=r"[\"'](?P<path>[a-z]:\\[^\"']+\.(?:dll|pyd))[\"']",
          safe=True, look=True, more=True),
    meant(on.in_windows("install the Microsoft Visual C++ runtime (2015 to 2022, x64), then open a new window"),
          REDISTRIBUTABLE, said="windows.msvc windows.dll_load_failed windows.torch_dll windows.error windows.module_missing tf.pywrap"),
)  # fmt: skip
NOT_ALONG_PATH: tuple[Meant, ...] = (
    meant(on.in_windows("add the toolkit's folder before the import: Python 3.8 and newer does not search PATH for DLLs"),
          on.code("os.add_dll_directory(os.path.join(os.environ['CUDA_PATH'], 'bin'))"), said="windows.ctypes_dll",
          line=r"[\\/]", safe=True),
    meant(on.in_windows("or copy the toolkit's DLLs beside the one that needs them (llama-cpp-python: into site-packages\\llama_cpp\\lib)"),
          said="windows.ctypes_dll", line=r"[\\/]", safe=True),
    meant(on.in_windows("check which DLL is not found"), 'gpuwhy inspect "{path}"', said="windows.ctypes_dll", line=r"[\"'](?P<path>[a-z]:\\[^\"']+\.(?:dll|pyd))[\"']",
          safe=True, look=True),
)  # fmt: skip
_WATCHDOG = "timed ?out|tdr|nvlddmkm|stopped responding|display driver|screen"
TDR: tuple[Meant, ...] = (
    meant(on.in_windows("give kernels more time before the display driver's watchdog (TDR) ends them, 60 seconds instead of 2, and restart"),
          on.cmd(r"reg add HKLM\SYSTEM\CurrentControlSet\Control\GraphicsDrivers /v TdrDelay /t REG_DWORD /d 60"),
          said="cuda.launch_timeout kernel. title. cuda.unknown", line=_WATCHDOG, root=True, reboot=True),
    meant("Or make each kernel shorter: smaller batches, or the work in smaller parts; a card without a display has no watchdog",
          said="cuda.launch_timeout kernel. title. cuda.unknown", line=_WATCHDOG, safe=True),
)  # fmt: skip
BITSANDBYTES: tuple[Meant, ...] = (
    meant("Install the newest release of bitsandbytes: it has libraries for more CUDA versions", "pip install --upgrade bitsandbytes", said="bnb.setup bnb.compiled", safe=True),
    meant("Check what bitsandbytes finds, and which CUDA it looks for", "python -m bitsandbytes", said="bnb.", safe=True, look=True),
    meant("Check what bitsandbytes finds, and which CUDA it looks for: it should be PyTorch's own",
          "python -m bitsandbytes", said="loader. title.library", line="bitsandbytes", safe=True, look=True, more=True),
)  # fmt: skip
_OOM = "cuda.out_of_memory title.oom memory.pinned memory.torch_oom_bare memory.oom_words"
WSL_MEMORY: tuple[Meant, ...] = (
    meant("Under WSL pinned host memory is short and gives the same error: load without it (pin_memory=False in the DataLoader)", said=_OOM, by="wsl", safe=True, more=True),
    meant("Or give WSL more of the computer's memory: memory=24GB below [wsl2] in the file .wslconfig of your Windows folder; then stop WSL",
          on.across("wsl --shutdown"), said=_OOM, by="wsl", more=True),
)  # fmt: skip
PAGING: tuple[Meant, ...] = (
    meant(on.in_windows("enlarge the paging file: this opens the dialog; there Advanced, Virtual memory, Change: a size of its own (32768 to 65536 MB) on a drive with room; then restart"),
          on.cmd("powershell Start-Process SystemPropertiesPerformance"), said="windows.page_file windows.dll_load_failed loader.cudnn_windows",
          reboot=True),
    meant("Or start fewer processes at once, each of which loads all of CUDA's DLLs: fewer data-loader workers (num_workers=0 or 2), fewer environments",
          said="windows.page_file windows.dll_load_failed loader.cudnn_windows", safe=True),
)  # fmt: skip
_SHM = "nccl.shm memory.shm signal.bus memory.worker_killed told.shm_df"
SHARED_BY_FILE: tuple[Meant, ...] = (
    meant("Compose: give the service more shared memory", on.code("shm_size: 8gb"), said=_SHM, by="compose"),
    meant("Kubernetes: mount memory at /dev/shm", on.code("volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}]    # volumeMounts: [{name: shm, mountPath: /dev/shm}]"),
          said=_SHM, by="kubernetes"),
)  # fmt: skip
SHARED_MEMORY: tuple[Meant, ...] = (
    meant("Start the container with more shared memory", "docker run --gpus all --shm-size=1g IMAGE", said="nccl.shm", unless="kubernetes compose"),
    meant("Or with the host's", "docker run --gpus all --ipc=host IMAGE", said="nccl.shm", unless="kubernetes compose"),
    *SHARED_BY_FILE,
    meant("Check how much shared memory there is", on.linux("df -h /dev/shm"), said="nccl.shm", safe=True, look=True),
)  # fmt: skip
