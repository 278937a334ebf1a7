"""Rows, containers: docker, Kubernetes, Podman and CDI, Singularity, Jetson, WSL and rented machines, each with its own way."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.rooms.text.situations import UNSEEN, Situation, situation

_PLUGIN = "kubectl apply -f https://raw.githubusercontent.com/NVIDIA/k8s-device-plugin/v0.17.1/deployments/static/nvidia-device-plugin.yml"
_LIMITS = on.code("resources: {limits: {nvidia.com/gpu: 1}}")
_REFRESH = on.engine(
    "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml && sudo chmod 644 /etc/cdi/nvidia.yaml && nvidia-ctk cdi list"
)
_RUNTIME_NVIDIA = on.code("runtime: nvidia\nenvironment: [NVIDIA_VISIBLE_DEVICES=all, NVIDIA_DRIVER_CAPABILITIES=all]")
_RENTED = r"\brunpod\b|\bvast\.?ai\b|\bhf[ _-]?jobs?\b|hugging ?face jobs|\bmodal\.com\b|\bmodal run\b|\bpaperspace\b|\bgradient notebook|\bsalad(?:cloud)?\b|\btensordock\b|\bjarvislabs\b"
_OF_DRIVER = "driver.not_ready driver.library_mismatch device.hardware driver.too_old driver.missing driver.permission"
_GIVEN_NV = r"(?:^|\s)--nv(?:ccli)?\b"

_RENTED_ROWS: tuple[Situation, ...] = (
    situation(_OF_DRIVER, _RENTED,
              ("The driver and its services are the provider's, out of reach from this container: stop it and take another machine, one whose driver is new enough (filter by CUDA version), and report this one",
               ""),
              ("Until then take an image for an older CUDA, where the driver is too old; a wait of some minutes may do where the machine has just started (error 802)",
               ""), alone=True),
    situation("driver.not_ready", r"container|docker|root@[0-9a-f]{12}|/workspace|\bpod\b",
              ("The fabric manager runs on the host, not in the container: on the host, it must run and have the driver's very release",
               on.host("sudo apt install nvidia-fabricmanager-$(cut -d. -f1 /sys/module/nvidia/version)=$(cat /sys/module/nvidia/version)* && sudo systemctl restart nvidia-fabricmanager")),
              ("On a machine that is rented or a cluster's: take another node, and report this one", ""), unless=
              r"journalctl -u nvidia-fabricmanager|systemctl (?:status|start) nvidia-fabric|No MIG devices found"
              r"|nvidia-driver-daemonset|nvidia-driver-ctr"),
    situation("driver.not_ready", r"fabric ?manager[^\n]*(?:interface version|version)[^\n]*(?:don'?t|not|mis)[^\n]{0,6}match|fabric ?manager[^\n]{0,80}version [\d.]+ don",
              ("The fabric manager is of another release than the driver: install the driver's very release, and start it",
               on.host("sudo apt install --allow-downgrades nvidia-fabricmanager-$(cut -d. -f1 /sys/module/nvidia/version)=$(cat /sys/module/nvidia/version)* && sudo systemctl restart nvidia-fabricmanager")),
              ("And hold both, so that no update parts them again", on.host("sudo apt-mark hold nvidia-fabricmanager-$(cut -d. -f1 /sys/module/nvidia/version)"))),
)  # fmt: skip

_JETSON_ROWS: tuple[Situation, ...] = (
    situation("container.no_gpu driver.permission", (r"--runtime[= ]nvidia", r"non-root|not root|useradd|\bsu - \w|--user\b|-u 1\d{3}\b|^USER \w"),
              ("Jetson: the device files belong to the group video: add the user in the container to it (in the image: RUN usermod -aG video NAME)",
               on.dockerfile("RUN usermod -aG video user")),
              ("Or give the container that group when it starts", on.linux("docker run --runtime nvidia --group-add video IMAGE")), place="jetson"),
    situation(UNSEEN + " driver.too_old install.corrupted cuda.missing_library cudnn.missing env.path framework.gpu_unsupported",
              r"\bdocker\b|\bcompose\b|\bcontainer\b|^\w[\w.-]* +\| ",
              ("Jetson: the driver's libraries come into a container by NVIDIA's runtime only; without it the image has empty placeholders. Start it with that runtime, from an image for the installed L4T (dustynv/…:r36.4.0, r35.4.1, r32.7.1; /etc/nv_tegra_release tells which)",
               "docker run --runtime nvidia -e NVIDIA_VISIBLE_DEVICES=all -e NVIDIA_DRIVER_CAPABILITIES=all IMAGE"),
              ("Compose: the same in the service's part, in place of deploy's devices", _RUNTIME_NVIDIA), place="jetson"),
    situation("framework.cpu_only framework.gpu_unsupported framework.platform_dropped", (r"\bR36\b|JetPack ?6|r36\.", r"torch|vision"),
              ("Jetson with JetPack 6 (L4T R36): PyTorch's own index has no build for its GPU: take the wheels that NVIDIA's community builds for it",
               on.linux("pip install --force-reinstall torch torchvision --index-url https://pypi.jetson-ai-lab.io/jp6/cu126")),
              ("Or an image that has it", "docker run --runtime nvidia -it --rm dustynv/pytorch:2.7-r36.4.0"), place="jetson"),
    situation("framework.cpu_only framework.gpu_unsupported framework.platform_dropped", (r"\bR35\b|JetPack ?5|r35\.", r"torch|vision"),
              ("Jetson with JetPack 5 (L4T R35): take NVIDIA's own wheel of PyTorch for it (Python 3.8); the package index has a build for the CPU only",
               on.linux("pip install --force-reinstall https://developer.download.nvidia.com/compute/redist/jp/v512/pytorch/torch-2.1.0a0+41361538.nv23.06-cp38-cp38-linux_aarch64.whl")),
              ("Or an image that has it", "docker run --runtime nvidia -it --rm dustynv/l4t-pytorch:r35.4.1"), place="jetson"),
    situation("framework.cpu_only framework.gpu_unsupported framework.platform_dropped", (r"\bR32\b|JetPack ?4|r32\.|jetson nano\b(?! orin)|\bTX[12]\b", r"torch|vision"),
              ("Jetson with JetPack 4 (L4T R32): take NVIDIA's own wheel of PyTorch 1.10 for it (Python 3.6, from the thread “PyTorch for Jetson” of its forum); the package index has none with CUDA",
               on.linux("sudo apt install libopenblas-base libopenmpi-dev && pip3 install 'Cython<3' numpy torch-1.10.0-cp36-cp36m-linux_aarch64.whl")),
              ("Or an image that has it", "docker run --runtime nvidia -it --rm nvcr.io/nvidia/l4t-pytorch:r32.7.1-pth1.10-py3"), place="jetson"),
    situation("framework.cpu_only framework.gpu_unsupported framework.platform_dropped", r"onnxruntime",
              ("Jetson: the package index has no onnxruntime-gpu for its GPU: take the wheel for your JetPack from NVIDIA's community",
               on.linux("pip uninstall -y onnxruntime && pip install onnxruntime-gpu --index-url https://pypi.jetson-ai-lab.io/jp6/cu126    # JetPack 6")),
              place="jetson"),
    situation("framework.cpu_only framework.gpu_unsupported framework.platform_dropped", r"tensorflow",
              ("Jetson: take NVIDIA's own TensorFlow for the installed JetPack (v512 is JetPack 5.1.2, v60 is 6.0): the package index has a build for the CPU only",
               on.linux("pip install --extra-index-url https://developer.download.nvidia.com/compute/redist/jp/v512 tensorflow")),
              place="jetson"),
    situation("cuda.missing_library cudnn.missing env.path cuda.compiler_missing cudnn.version_mismatch cuda.version_mismatch", r"lib(?:cu|nv)\w+\.so|nvcc|cudnn|tensorrt|nvinfer",
              ("Jetson: CUDA, cuDNN and TensorRT come with JetPack, of its very release: install them, and have the toolkit's folder found",
               on.linux("sudo apt update && sudo apt install nvidia-jetpack\nexport PATH=/usr/local/cuda/bin:$PATH LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH")),
              ("What asks for another CUDA or cuDNN than JetPack has was built for another JetPack: take its build for yours (/etc/nv_tegra_release: R32 is JetPack 4, R35 is 5, R36 is 6)",
               ""), place="jetson", unless=r"\bdocker\b|\bcontainer\b"),
    situation("memory.", r".",
              ("Jetson: the GPU shares the board's memory with everything else: stop the desktop and other programs, and take a smaller model, batch or precision (FP16, INT8)",
               on.host("sudo systemctl isolate multi-user.target")),
              ("And add swap on the disk, in place of the compressed one", on.host("sudo systemctl disable --now nvzramconfig && sudo fallocate -l 8G /swapfile && sudo chmod 600 /swapfile && sudo mkswap /swapfile && sudo swapon /swapfile")),
              place="jetson", unless=r"/dev/shm|shared memory"),
)  # fmt: skip

_POD_ROWS: tuple[Situation, ...] = (
    situation("driver.missing driver.too_old container.no_gpu program.build other.not_gpu env. framework.bug install.",
              r"nvidia-driver-(?:daemonset|ctr)|driver[- ]container|Installing Linux kernel headers"
              r"|Could not resolve Linux kernel version|kernel-headers[^\n]*gpu-operator",
              ("The operator's driver container finds no headers for the node's kernel: bring the node to a kernel whose headers its distribution still offers, and restart it",
               on.host("sudo apt update && sudo apt full-upgrade && sudo reboot")),
              ("Or install the driver on the nodes themselves, and let the operator do without its own", on.linux("helm upgrade gpu-operator nvidia/gpu-operator -n gpu-operator --reuse-values --set driver.enabled=false")),
              unless=r"nouveau"),
    situation("driver. container.no_gpu other.not_gpu", (r"nvidia-driver-(?:daemonset|ctr)|gpu-operator|driver[- ]container", r"nouveau"),
              ("The node has nouveau loaded, which keeps the operator's driver out: switch it off there, and restart the node",
               on.host("printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' | sudo tee /etc/modprobe.d/blacklist-nouveau.conf && sudo update-initramfs -u && sudo reboot"))),
    situation("driver.library_mismatch driver.too_old container.no_gpu", (r"device[- ]plug-?in|\bpods?\b|kubelet|kubectl", r"version mismatch"),
              ("The node's driver was updated while its old module is loaded: drain the node and restart it; then start the plug-in anew",
               on.host("kubectl drain NODE --ignore-daemonsets --delete-emptydir-data && sudo reboot")),
              ("Where it is back: let pods run there again", "kubectl uncordon NODE && kubectl -n kube-system rollout restart daemonset nvidia-device-plugin-daemonset")),
    situation("container.no_gpu driver.missing", r"\bmicrok8s\b",
              ("MicroK8s: switch on its own part for GPUs, which brings driver, runtime and plug-in", on.linux("sudo microk8s enable gpu")),
              ("And ask for one in the pod's manifest", _LIMITS)),
    situation("container.no_gpu driver.missing", r"\bminikube\b",
              ("minikube: start it with the GPU (docker driver, NVIDIA container toolkit on the host); it then has the device plug-in",
               on.linux("minikube delete && minikube start --driver docker --container-runtime docker --gpus all")), ("And ask for one in the pod's manifest",
                  _LIMITS)),
    situation("container.no_gpu driver.missing", r"\bk3s\b|\brke2\b|\bk3d\b|rancher",
              ("k3s, RKE2: on the node install the container toolkit and start the service again: it finds the runtime by itself (nvidia-ctk writes to a file that it does not read)",
               on.host("sudo apt install nvidia-container-toolkit && sudo systemctl restart k3s    # an agent: k3s-agent, rke2-server, rke2-agent")),
              ("Then the class must exist once, and every pod that wants the GPU, the device plug-in too, must name it",
               on.linux("printf 'apiVersion: node.k8s.io/v1\\nkind: RuntimeClass\\nmetadata: {name: nvidia}\\nhandler: nvidia\\n' | kubectl apply -f -    # in the pod: runtimeClassName: nvidia"))),
    situation("container.no_gpu driver.missing", r"\bkind (?:create|get|cluster|load)|kind-control-plane|kindest/node",
              ("kind passes no GPU by itself: make docker's default runtime NVIDIA's with device lists as volume mounts, then name the devices in kind's configuration; or use minikube or k3s",
               on.linux("sudo nvidia-ctk runtime configure --runtime=docker --set-as-default && sudo nvidia-ctk config --set accept-nvidia-visible-devices-as-volume-mounts=true --in-place && sudo systemctl restart docker")),
              ("In kind's configuration, below the worker", on.code("extraMounts: [{hostPath: /dev/null, containerPath: /var/run/nvidia-container-devices/all}]"))),
    situation("container.no_gpu driver.missing",
              r"device[- ]plug-?in|Incompatible (?:platform|strategy) detected|invalid device discovery strategy"
              r"|non-NVML platform|loading NVML|Failed to (?:start|initialize) nvml",
              ("On the node: make NVIDIA's runtime the default of its engine, which starts the device plug-in (containerd; docker in clusters before 1.24: --runtime=docker), then start the plug-in's pods anew",
               on.host("sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default && sudo systemctl restart containerd")),
              ("Or leave the default, and let the plug-in's DaemonSet name the runtime (Kubernetes 1.20 and newer, with a RuntimeClass nvidia)",
               "kubectl -n kube-system patch daemonset nvidia-device-plugin-daemonset -p '{\"spec\":{\"template\":{\"spec\":{\"runtimeClassName\":\"nvidia\"}}}}'"),
              unless=r"non-gpu node|cpu[- ]node|has no gpu|\bWSL|microsoft-standard|\bGKE\b|\bEKS\b|\bAKS\b|cos-containerd"),
    situation("container.no_gpu device.busy", (r"Insufficient nvidia\.com/gpu", r"(?:grep"
                                               r"|describe)[^\n]*nvidia\.com/gpu[^\n]*\n\s*(?:\(?(?:nothing|none"
                                               r"|empty)|$|\$)|nvidia\.com/gpu:? +0\b|<none>|no (?:output|gpu)"),
              ("No node offers a GPU: install NVIDIA's device plug-in in the cluster; the nodes need the driver and NVIDIA's runtime", _PLUGIN),
              ("On the GPU nodes, before that: the container toolkit, and its runtime as containerd's default", on.host("sudo apt install nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default && sudo systemctl restart containerd")),
              unless=r"\bGKE\b|\bEKS\b|\bAKS\b"),
    situation("container.no_gpu driver.missing", (r"resources:|requests:|limits:", r"\bpods?\b|kubectl|apiVersion|manifest"),
              ("The manifest asks for no GPU: a pod gets one only by a limit", _LIMITS),
              ("And where NVIDIA's runtime is not the node's default: name it", on.code("runtimeClassName: nvidia")), unless=r"nvidia\.com/gpu"),
)  # fmt: skip

_ENGINE_ROWS: tuple[Situation, ...] = (
    situation("container. driver.missing framework. other.not_gpu cuda.",
              r"no matching manifest for windows|image operating system \"linux\" cannot be used"
              r"|windows/amd64 [\d.]+ in the manifest",
              ("Docker Desktop runs Windows containers: switch it to Linux containers (its icon's menu), which alone have GPUs, with the WSL 2 engine",
               on.cmd('"C:\\Program Files\\Docker\\Docker\\DockerCli.exe" -SwitchLinuxEngine',
                      '& "C:\\Program Files\\Docker\\Docker\\DockerCli.exe" -SwitchLinuxEngine')),
              ("Then try the same again", "docker run --rm --gpus all ubuntu nvidia-smi"), alone=True),
    situation("container. driver.missing other.not_gpu wsl.setup",
              r"docker(?:DesktopLinux)?_?engine[^\n]{0,60}cannot find the file|error during connect[^\n]{0,80}docker"
              r"|Docker Desktop is (?:not running|unable to start)",
              ("Docker Desktop does not run: start it, and wait until its icon is steady; where it does not start, update WSL and start it again",
               on.across("wsl --update && wsl --shutdown")),
              ("Then try the same again", "docker run --rm --gpus all ubuntu nvidia-smi"), alone=True),
    situation("container. driver. other.not_gpu", r"failed to stat CDI host device"
              r"|(?:CDI|nvidia\.com/gpu)[^\0]{0,300}?(?:stat|lstat|open|mount)\w*[^\n]{0,40}/(?:dev|usr"
              r"|lib)/[^\n]*(?:no such file|not exist)|crun: (?!executable)[^\n]*nvidia[^\n]*No such file",
              ("The host's CDI description is stale: it names files that a restart or an update of the driver has changed. Write it anew, readable for all", _REFRESH),
              ("From toolkit 1.18 on a service does this after each change: switch it on", on.engine("sudo systemctl enable --now nvidia-cdi-refresh.path nvidia-cdi-refresh.service"))),
    situation("container.no_gpu driver.permission", (r"unresolvable CDI devices|CDI", r"sudo (?:podman|docker)|rootless|(?:works|fine) (?:as|with) (?:root|sudo)"),
              ("Root finds the CDI description and you do not: it must lie in /etc/cdi or /var/run/cdi, readable for all", _REFRESH),
              ("Without root: write one of your own, and name its folder", on.linux("mkdir -p ~/.config/cdi && nvidia-ctk cdi generate --output=$HOME/.config/cdi/nvidia.yaml && podman --cdi-spec-dir=$HOME/.config/cdi run --rm --device nvidia.com/gpu=all ubuntu nvidia-smi"))),
    situation("container. driver. env.path cuda.missing_library", (_GIVEN_NV, r"singularity|apptainer|\.sif\b", r"lib(?:cuda|nvidia-ml)\.so|NVML|no (?:NVIDIA )?driver|nvidia-smi"),
              ("--nv put the driver's libraries into /.singularity.d/libs, and something in the container (a set-up script, a module, --cleanenv) took that folder out of the search: add it back, there",
               on.linux("export LD_LIBRARY_PATH=/.singularity.d/libs:$LD_LIBRARY_PATH")),
              ("Where that folder is empty: on the host this must name libcuda.so.1 and libnvidia-ml.so.1 (else sudo ldconfig, or --nvccli)",
               on.linux("ldconfig -p | grep -e libcuda.so.1 -e libnvidia-ml.so.1"))),
    situation("other.not_gpu cuda.mixed_libraries framework. install. program.build container. driver.", r"GLIBC\w*_[\d.]+' not found \(required by /\.singularity\.d/libs/",
              ("--nv brings the host's libraries into the container, and they want a newer C library than the image has: use an image of a newer system (Ubuntu 22.04 or newer)",
               on.linux("singularity exec --nv NEWER_IMAGE.sif nvidia-smi")),
              ("Or have NVIDIA's container toolkit choose the libraries instead, which leaves those for graphics out",
               on.linux("singularity exec --nvccli IMAGE.sif nvidia-smi")), alone=True),
    situation("device.busy container.no_gpu", (r"slurm|sbatch|srun", r"\bbusy\b|all CUDA-capable devices are busy|exclusive"),
              ("Several jobs meet on one GPU that takes one program: ask Slurm for a GPU of each job's own, and do not set the device by hand",
               on.linux("sbatch --gres=gpu:1 --ntasks=1 JOB.sh")),
              ("Or run the files one after another in one job", on.linux("for f in *.h5; do PROGRAM --input $f; done"))),
    situation("env.limit", (r"Permission denied: '/(?:app|opt|workspace|usr|srv|home/\w+)?[^'\n]*'"
                            r"|Permission denied: '/\.", r"\bdocker\b|container|/app/|'/\.|/workspace|^ERROR: "),
              ("The user of this container may not write there, nor perhaps in its home: let the caches go to /tmp",
               "docker run --gpus all -e HOME=/tmp -e XDG_CACHE_HOME=/tmp/cache -e TRITON_CACHE_DIR=/tmp/triton -e HF_HOME=/tmp/hf IMAGE"),
              ("Or in a service's file, the same", on.code("environment: [HOME=/tmp, XDG_CACHE_HOME=/tmp/cache, TRITON_CACHE_DIR=/tmp/triton, HF_HOME=/tmp/hf]")),
              unless=r"/home/\w+/\.cache|/dev/nvidia"),
    situation("wsl.setup driver.missing env.path container.no_gpu cuda.missing_library", r"/usr/lib/wsl/lib/libcuda\.so",
              ("Windows' own libcuda is there, in /usr/lib/wsl/lib, and the search does not find it: renew the loader's list; where that does not do, name the folder",
               on.wsl("sudo ldconfig\nexport LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH")), place="wsl"),
    situation("driver.missing container.no_gpu wsl.setup", r"nvml error: driver not loaded|no adapters were found",
              ("CUDA in WSL 2 needs Windows 11, or Windows 10 from 21H2 (build 19044) on, a kernel of WSL from 5.10.43 on, and NVIDIA's driver on Windows: update Windows (winver shows the build), install the driver there (nvidia.com/drivers), then update WSL",
               on.across("wsl --update && wsl --shutdown")),
              ("And see that the distribution runs as version 2", on.across("wsl --list --verbose")), place="wsl"),
)  # fmt: skip

CONTAINERS: tuple[Situation, ...] = (*_RENTED_ROWS, *_JETSON_ROWS, *_POD_ROWS, *_ENGINE_ROWS)
"""The first that holds stands first."""
