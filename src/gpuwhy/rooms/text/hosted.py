"""Hosted: a machine, a node or a container of a service, and how that service hands out a GPU.

A row speaks only where the program sees no GPU or no driver; then it stands in place of the ways of a machine of one's
own, which nobody can go there: no root, no kernel, no docker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gpuwhy.knowledge.notebooks import notebook_of
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import typed_inside
from gpuwhy.rooms.text.ways import tried

_UNSEEN = frozenset({"driver.missing", "container.no_gpu", "device.selection", "framework.cpu_only", "driver.permission", "wsl.setup"})  # fmt: skip


class Host(msgspec.Struct, frozen=True):
    """How a service shows itself, its ways to a GPU, and whether they are all that can be done there."""

    spoken: Later
    ways: tuple[tuple[str, str], ...]
    alone: bool = True  # nothing else can be done there
    unless: Later | None = None


def _row(spoken: str, *ways: tuple[str, str], alone: bool = True, unless: str = "") -> Host:
    flags = re.IGNORECASE | re.MULTILINE
    return Host(Later(spoken, flags), ways, alone, Later(unless, flags) if unless else None)


_ON_CPU = ("Without a GPU: let the program ask before it takes one, and skip what needs it", on.code("device = 'cuda' if torch.cuda.is_available() else 'cpu'"))  # fmt: skip
_OWN_RUNNER = r"self-hosted|gpu-runner|\bactions-runner\b"
_GIVEN = r"--gres[ =]|--gpus[-= ]|\s-G ?\d"

_HAS_GPUS = r"--gres[ =]|--gpus|\s-G ?\d|gres/gpu|CUDA_VISIBLE_DEVICES\W{0,4}\d{1,2}(?![\d-])|CUDA_VISIBLE_DEVICES=(?:GPU|MIG|-1)"
_NEW_JOB = ("Slurm: the job was given no GPU: ask for one, in its script (#SBATCH --gres=gpu:1, and the partition that has GPUs) or at srun", on.linux("sbatch --gres=gpu:1 --partition=gpu JOB.sh    # sinfo -o '%P %G' names partitions and their GPUs"))  # fmt: skip
_NEW_STEP = ("Slurm gave this shell no GPU (CUDA_VISIBLE_DEVICES is then NoDevFiles or empty; set by hand it would be another job's GPU): leave it, and start one with a GPU", on.linux("srun --gres=gpu:1 --pty bash    # in it: nvidia-smi -L"))  # fmt: skip

_LOGIN = r"@(?:login|head|front|submit)[\w-]*[ :\]]|\b(?:login|head|frontend|submit)[- ]?node"
_ON_LOGIN = Later(r"@(?:login|head|front|submit)[\w-]*[ :\]]", re.IGNORECASE)


def on_a_login_node(case: Asked) -> bool:
    """Whether a prompt shows a cluster's node that has no GPU, whatever is started there."""
    return bool(_ON_LOGIN.search(case.text))


HOSTS: tuple[Host, ...] = (
    _row(r"\b(?:singularity|apptainer) (?:exec|run|shell|instance)\b(?![^\n]*--nv)",
         ("Apptainer (Singularity): hand the GPU and the host's driver in by --nv", on.linux("apptainer exec --nv IMAGE.sif nvidia-smi    # then your command in its place; singularity takes the same option")),
         ("On a cluster: on a node with a GPU, which the batch system gives", on.linux("srun --gres=gpu:1 apptainer exec --nv IMAGE.sif COMMAND")), unless=r"\s--nv\b"),
    _row(_LOGIN,
         ("This is a cluster's login node, which has no GPU: run it on a node that has one, through the batch system",
          on.linux("srun --gres=gpu:1 --time=1:00:00 --pty COMMAND    # PBS: qsub -I -l select=1:ngpus=1; LSF: bsub -Is -gpu num=1 COMMAND")),
         ("Or in a job's script", on.linux("sbatch --gres=gpu:1 --wrap='COMMAND'"))),
    _row(r"NoDevFiles|\bsrun\b[^\n]*--pty|\bsalloc\b|SLURM_JOB_?ID", _NEW_STEP, _NEW_JOB, unless=rf"#SBATCH|\bsbatch\b|{_HAS_GPUS}"),
    _row(r"#SBATCH|\bsbatch\b|\bsrun\b|slurmstepd|SLURM_JOB", _NEW_JOB, _NEW_STEP, unless=_HAS_GPUS),
    _row(r"#PBS\b|\bqsub\b|PBS_JOBID", ("PBS: the job was given no GPU: ask for one", on.linux("qsub -l select=1:ncpus=4:ngpus=1 JOB.sh")), unless=r"ngpus=|gpus=\d"),
    _row(r"#BSUB\b|\bbsub\b|LSB_JOBID", ("LSF: the job was given no GPU: ask for one", on.linux("bsub -gpu num=1 -q gpu < JOB.sh")), unless=r"-gpu\b"),
    _row(r"sagemaker",
         ("SageMaker: this instance has no GPU, or the image is one for the CPU: choose an instance with one (ml.g4dn.xlarge, ml.g5.xlarge) and a GPU image, then start the space or the kernel anew",
          ""),
         ("A training or processing job: name such an instance in it", on.code("estimator = PyTorch(..., instance_type='ml.g5.xlarge', instance_count=1)"))),
    _row(r"/kaggle/(?:working|input|lib)|kaggle (?:notebook|kernel|session|gpu)",
         ("Kaggle: switch the accelerator on: Settings, Accelerator, GPU T4 x2 (the account must be verified by phone); the session starts anew", ""), _ON_CPU),
    _row(r"(?<![\w/.])/content/|google\.colab|^\d+ frames\n|/usr/lib64-nvidia|^\[?/tmp/ipython-input-\d"
         r"|\bcolab (?:notebook|runtime|session|pro|gpu)|\b(?:using|in|on) (?:google )?colab\b",
         ("Colab: choose a GPU under Runtime, Change runtime type, then connect again and run the cells anew", ""),
         _ON_CPU, unless=r"works? (?:fine |well |perfectly )?(?:in|on) (?:google )?colab|\blocally\b"
         r"|local (?:machine|pc|computer|gpu)"),
    _row(r"/__w/_(?:temp|tool)|/__w/[\w.-]+/[\w.-]+",
         ("GitHub Actions: the job's container was started without the GPU: hand it in, in the workflow, on a runner that has one with NVIDIA's container toolkit",
          on.code("runs-on: [self-hosted, gpu]\ncontainer: {image: IMAGE, options: --gpus all}")),
         ("And see on that runner that docker passes it", "docker run --rm --gpus all ubuntu nvidia-smi")),
    _row(r"/opt/hostedtoolcache|runner@fv-az|##\[(?:error|group)\]|^::error|GITHUB_ACTIONS|\bruns-on:"
         r"|(?<!\w)D:\\a\\(?!_work)[\w.-]+\\[\w.-]+\\(?![^\n]*\.(?:c|cc|cpp|cu|h|hpp|cuh)\b)",
         ("GitHub's own runners have no GPU: run this job on a runner of your own that has one, or on one of GitHub's larger GPU runners",
          on.code("runs-on: [self-hosted, linux, gpu]")),
         ("Or keep the GPU's tests out of this job: mark them, and skip them where there is none", on.code("pytest.mark.skipif(not torch.cuda.is_available(), reason='no GPU')")),
         unless=_OWN_RUNNER),
    _row(r"gitlab-runner|\bRunning with gitlab|CI_JOB_ID|/builds/[\w-]+/[\w-]+/",
         ("GitLab: the runner must hand the GPU on, in its config.toml below [runners.docker]; the job then needs that runner's tag", on.code('gpus = "all"')), _ON_CPU),
    _row(r"huggingface\.co/spaces|\bhf[ _-]?space|zero-?gpu|spaces\.GPU|/home/user/app/app\.py",
         ("Hugging Face Spaces: choose a GPU under Settings, Space hardware; on ZeroGPU the function that uses it needs the decorator", on.code("@spaces.GPU")), _ON_CPU),
    _row(r"\bdatabricks\b|/databricks/",
         ("Databricks: use a cluster with GPU nodes and the runtime ML (GPU), then attach the notebook anew", ""), _ON_CPU),
    _row(r"\bgcloud run\b|\bCloud Run\b", ("Cloud Run: deploy the service with a GPU", on.linux("gcloud run deploy SERVICE --image IMAGE --gpu 1 --gpu-type nvidia-l4 --no-cpu-throttling --cpu 4 --memory 16Gi"))),
    _row(r"\bls\b[^\n]*/usr/local/nvidia/lib64/?\s*\n[^\n]*libcuda|/usr/local/nvidia/lib64/libcuda\.so",
         ("The driver's libraries lie in /usr/local/nvidia/lib64, where this image does not look: name that folder in the pod's manifest (nvidia/cuda images have it set)",
          on.code('env: [{name: LD_LIBRARY_PATH, value: "/usr/local/nvidia/lib64"}]')),
         ("Or in the image", on.dockerfile("ENV LD_LIBRARY_PATH=/usr/local/nvidia/lib64 NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility")),
         unless=r"LD_LIBRARY_PATH\W{1,3}[^\n]*nvidia/lib64"),
    _row(r"\bGKE\b|cos-containerd|Container-Optimized OS|/home/kubernetes/bin/nvidia|gke-[\w-]+-pool",
         ("GKE: let it install the driver on the node pool's nodes", on.linux("gcloud container node-pools update POOL --cluster CLUSTER --accelerator type=nvidia-tesla-t4,count=1,gpu-driver-version=latest")),
         ("Or by NVIDIA's installer for its system, as a DaemonSet; the pods of the plug-in start once it is done",
          "kubectl apply -f https://raw.githubusercontent.com/GoogleCloudPlatform/container-engine-accelerators/master/nvidia-driver-installer/cos/daemonset-preloaded.yaml"),
         ("And ask for the GPU in the pod's manifest", on.code("resources: {limits: {nvidia.com/gpu: 1}}"))),
    _row(r"\bEKS\b|eksctl|\.eks\.amazonaws|amazon-eks",
         ("EKS: nodes need an AMI with the driver and the toolkit (AL2023_x86_64_NVIDIA, or Bottlerocket's NVIDIA variant) and a GPU instance (g4dn, g5, p4)",
          on.linux("eksctl create nodegroup --cluster CLUSTER --node-type g4dn.xlarge --nodes 1")),
         ("And NVIDIA's device plug-in in the cluster",
          "kubectl create -f https://raw.githubusercontent.com/NVIDIA/k8s-device-plugin/v0.17.0/deployments/static/nvidia-device-plugin.yml")),
    _row(r"\bAKS\b|\baks-\w+|az aks ",
         ("AKS: use a node pool of GPU machines (Standard_NC…), and NVIDIA's device plug-in in the cluster",
          "kubectl create -f https://raw.githubusercontent.com/NVIDIA/k8s-device-plugin/v0.17.0/deployments/static/nvidia-device-plugin.yml")),
    _row(r"\bpyxis\b|\benroot\b|--container-image[ =]",
         ("Slurm with pyxis: ask Slurm for the GPU; enroot then brings the driver in", on.linux("srun --gres=gpu:1 --container-image=IMAGE nvidia-smi")), unless=_GIVEN),
    _row(r"\bpyxis\b|\benroot\b|--container-image[ =]",
         ("Slurm gave a GPU and enroot did not pass it on: its hook for NVIDIA looks at these variables, and needs libnvidia-container on the node",
          on.linux("NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility srun --gres=gpu:1 --container-image=IMAGE nvidia-smi")),
         alone=False),
    _row(r"\bcog (?:predict|run|build|train)\b|cog\.yaml",
         ("Cog: say that the model needs a GPU, in cog.yaml, build it anew, and start it where docker has one (nvidia-container-toolkit)", on.code("build:\n  gpu: true")),
         ("Then see whether docker itself passes one", "docker run --rm --gpus all ubuntu nvidia-smi")),
    _row(r"snap list docker|/snap/(?:bin/)?docker\b|snap\.docker|docker[^\n]{0,20}\(?snap\b|/var/snap/docker",
         ("Docker comes from snap here, which cannot use the NVIDIA container toolkit of the host: replace it by the engine of the distribution or of docker itself",
          on.linux("sudo snap remove docker && sudo apt install docker.io nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker")),
         ("Then try the same again", "docker run --rm --gpus all ubuntu nvidia-smi")),
    _row(r"(?:nv_tegra_release|\bl4t\b|\bjetson\b)[^\0]{0,400}\b(?:docker|container)\b|\b(?:docker|container)\b[^\0]{0,400}(?:nv_tegra_release|\bl4t\b|\bjetson\b)",
         ("Jetson: start it with NVIDIA's runtime, and take an image of the JetPack that is installed, whose PyTorch has the build for its GPU; the package index has none",
          "docker run --runtime nvidia -it --rm dustynv/l4t-pytorch:r36.2.0    # the tag of your L4T: R36 of /etc/nv_tegra_release is r36, R35 is r35.2.1"),
         ("Or make that runtime docker's default, and start docker again", on.linux("sudo nvidia-ctk runtime configure --runtime=docker --set-as-default && sudo systemctl restart docker"))),
    _row(r"devcontainer|/workspaces/\w|vscode-server[^\n]{0,40}containers",
         ("Dev container: hand the GPU on in devcontainer.json, and rebuild the container", on.code('"runArgs": ["--gpus", "all"], "hostRequirements": {"gpu": true}')),
         alone=False),
    _row(r"\bproxmox\b|\bpct (?:enter|exec|start)|/etc/pve/",
         ("Proxmox: CUDA needs all the device files in the container, nvidia-uvm too: on the host make them, and pass them in /etc/pve/lxc/ID.conf (dev0: /dev/nvidia0, dev1: /dev/nvidiactl, dev2: /dev/nvidia-uvm, dev3: /dev/nvidia-uvm-tools, a line each), then start it anew",
          on.linux("nvidia-modprobe -u -c=0 && pct reboot ID    # on the Proxmox host")),
         ("And have in it the very release of the host's driver, without its module", on.linux("sh NVIDIA-Linux-x86_64-RELEASE.run --no-kernel-module")), alone=False),
    _row(r"\blxc\b|\blxd\b|\bincus\b|\bproxmox\b|\bpct (?:enter|exec|start)",
         ("LXD, Incus: pass the card and let the host's driver be brought in", on.linux("lxc config device add CONTAINER gpu gpu && lxc config set CONTAINER nvidia.runtime=true && lxc restart CONTAINER")),
         ("Proxmox: pass the device files (/dev/nvidia0, nvidiactl, nvidia-uvm) in the container's .conf (dev0: /dev/nvidia0 …), and install in it the very release of the host's driver without its module",
          on.linux("sh NVIDIA-Linux-x86_64-RELEASE.run --no-kernel-module")), alone=False),
    _row(r"virtualbox|innotek|vmware svga|\bhyper-v\b[^\n]{0,60}(?:vm|virtual)|microsoft hyper-v video|red hat, inc\. (?:virtio|qxl)|\bqxl\b",
         ("This is a virtual machine without the card: VirtualBox cannot pass one to CUDA; with KVM or ESXi pass it through (VFIO, DirectPath) or give the machine a vGPU; else run on the host, or in WSL 2",
          ""), alone=False),
)  # fmt: skip
"""The first that speaks counts."""


_OTHER_BUILD = Later(r"\d\+cpu\b|not compiled with CUDA|built without CUDA|cpu[- ]only build", re.IGNORECASE)


_PROXMOX = Later(r"\bproxmox\b|/etc/pve/", re.IGNORECASE)


_NO_CARD = Later(r"No CUDA runtime is found")


def _notebooks_own(cause: str, case: Asked) -> tuple[tuple[Fix, ...], bool]:
    """A hosted notebook: the card is a choice of its menu, also where a build asks for one, or the one that was given is too old."""
    kind = notebook_of(case.text)
    if kind and cause == "program.build" and _NO_CARD.search(case.text):
        return in_a_service("container.no_gpu", case)
    if kind and cause == "framework.gpu_unsupported":
        where = "Kaggle: choose another card: Settings, Accelerator, GPU T4 x2" if kind == "kaggle" else "Colab: choose another card under Runtime, Change runtime type (T4, L4 or A100)"  # fmt: skip
        return (tried(f"{where}; the session starts anew with it, and needs no other build"),), False
    if kind == "colab" and cause in _LIBCUDA and _LINKED.search(case.text) and case.reading.told.gpus:
        where = "Colab's driver lies in /usr/lib64-nvidia, which is not searched here: have it searched, in a cell of its own, then run the others anew"  # fmt: skip
        return (tried(where, on.code("!ldconfig /usr/lib64-nvidia")),), False
    return (), False


_LIBCUDA = frozenset({"driver.missing", "env.path", "cuda.compiler_missing", "wsl.setup", "container.no_gpu"})
_LINKED = Later(r"libcuda\.so\b[^\n]*(?:cannot|not found|No such)|cannot find -lcuda", re.IGNORECASE)


def in_a_service(cause: str, case: Asked) -> tuple[tuple[Fix, ...], bool]:
    """The ways to a GPU of the service that a text is from, and whether they are all."""
    own, alone = _notebooks_own(cause, case)
    if own or cause in ("program.build", "framework.gpu_unsupported"):
        return own, alone
    unseen = _UNSEEN | {"driver.not_ready"} if _PROXMOX.search(case.text) else _UNSEEN
    if cause not in unseen or (cause == "framework.cpu_only" and _OTHER_BUILD.search(case.text)):
        return (), False
    for one in HOSTS:
        if one.spoken.search(case.text) and not (one.unless and one.unless.search(case.text)):
            return tuple(tried(text, command) for text, command in one.ways), one.alone
    return (), False


_POD = Later(r"kubectl|kubelet|kubernetes|(?<!/)\bk[38]s\b(?!/)|\bpods?\b", re.IGNORECASE)
_ASKS = Later(
    r"Insufficient nvidia\.com/gpu[^\0]*?nvidia\.com/gpu\W{1,4}([2-9]|\d\d)|nvidia\.com/gpu\W{1,4}([2-9]|\d\d)[^\0]*?Insufficient nvidia\.com/gpu"
)
_BARE_NODE = Later(r"node\S* [^\n]{0,40}(?:has no|without|no) gpu|cpu[- ]node|non-gpu node", re.IGNORECASE)


_OF_CUDA = Later(r"CUDA unknown error|cuInit|CUDA_ERROR_UNKNOWN|error 999|cudaErrorUnknown", re.IGNORECASE)


def in_a_pod(cause: str, case: Asked) -> Iterator[Fix]:
    """A pod: its device files come from the plug-in and the node, its groups from its manifest."""
    if cause not in (*_UNSEEN, "driver.not_ready") or case.windows or not _POD.search(case.text):
        return
    if "other_card" in case.tools:
        yield tried("This node's card is none of NVIDIA's: its plug-in and CUDA images do not run on it. Use the maker's own plug-in (ROCm's k8s-device-plugin) and an image for it", on.code("resources: {limits: {amd.com/gpu: 1}}"))  # fmt: skip
    elif (count := _ASKS.search(case.text)) and cause == "container.no_gpu" and "llocatable" not in case.text:
        yield tried(f"The pod asks for {count[1] or count[2]} GPUs, and a pod lies on one node: ask for no more than one node has free (kubectl describe nodes lists them), or split the work over several pods", on.code("resources: {limits: {nvidia.com/gpu: 1}}"))  # fmt: skip
    elif _BARE_NODE.search(case.text):
        yield tried("A node without a GPU must not have NVIDIA's runtime as its default: set containerd's default back to runc there, and start it anew", on.linux("sudo sed -i 's/default_runtime_name = \"nvidia\"/default_runtime_name = \"runc\"/' /etc/containerd/config.toml && sudo systemctl restart containerd"), root=True)  # fmt: skip
        yield tried("And let the device plug-in run on GPU nodes only, in its DaemonSet", on.code('nodeSelector: {nvidia.com/gpu.present: "true"}'))  # fmt: skip
    elif cause in ("driver.permission", "driver.not_ready") and _OF_CUDA.search(case.lines):
        yield tried("On the node: create the device file of the module for unified memory, which CUDA needs and nvidia-smi does not", on.host("sudo modprobe nvidia-uvm && sudo nvidia-modprobe -u -c=0"), root=True)  # fmt: skip
        yield tried("Then start the device plug-in and the pod anew", "kubectl -n kube-system rollout restart daemonset nvidia-device-plugin-daemonset && kubectl delete pod POD")  # fmt: skip


_IMAGES = {  # the service or image that speaks: its tag with CUDA
    "immich": "ghcr.io/immich-app/immich-machine-learning:release-cuda", "open-webui": "ghcr.io/open-webui/open-webui:cuda",
    "localai": "localai/localai:latest-gpu-nvidia-cuda-12", "frigate": "ghcr.io/blakeblackshear/frigate:stable-tensorrt",
    "whisper-asr": "onerahmet/openai-whisper-asr-webservice:latest-gpu", "wyoming": "lscr.io/linuxserver/faster-whisper:gpu",
    "tensorflow/tensorflow": "tensorflow/tensorflow:latest-gpu", "rayproject/ray": "rayproject/ray:latest-gpu",
    "speaches": "ghcr.io/speaches-ai/speaches:latest-cuda", "text-embeddings": "ghcr.io/huggingface/text-embeddings-inference:latest",
}  # fmt: skip
_SERVICE = Later(r"^[\w.-]+(?:[_-]\w+)* +\| |docker[ -]compose|docker logs|^services:|image: ?\S+", re.MULTILINE)


def in_an_image(cause: str, case: Asked) -> Iterator[Fix]:
    """A service of somebody's image: what pip changes in it is gone at its next start; it has a tag with CUDA."""
    if (
        cause not in ("framework.cpu_only", "install.conflict")
        or not case.tools & {"container", "compose"}
        or not _SERVICE.search(case.text)
    ):
        return
    tag = next((tag for name, tag in _IMAGES.items() if name in case.text.lower()), "")
    named = f" ({tag})" if tag else " (most have one that ends in -cuda or -gpu)"
    yield tried(f"The image is a build for the CPU: take its tag with CUDA{named}, and reserve the GPU for the service", on.code("deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}"))  # fmt: skip


_UNIT = Later(r"\bsystemd\[1\]|\.service\b|journalctl|supervisord", re.IGNORECASE)
_CLOSED = Later(r"PrivateDevices ?= ?(?:yes|true|1)|DevicePolicy ?= ?(?:closed|strict)", re.IGNORECASE)


_IN_DOCKER = Later(r"\b(?:docker|podman|kubectl) (?:exec|logs|run)\b")


_NVML_LOST = Later(r"Failed to initialize NVML: Unknown Error")
_FILES = Later(r"\bls [^\n]*/dev/nvidia[^\n]*\n[^\n]*/dev/nvidia\d", re.IGNORECASE)
_ITS_NUMBER = Later(r"\b[a-z_][\w-]*@([0-9a-f]{12})\b")


def device_lost(case: Asked) -> bool:
    """Whether a container lists the GPU's device files, and may open them no longer: it was given the GPU."""
    return bool(typed_inside(case.text) and _NVML_LOST.search(case.text) and _FILES.search(case.text))


def again(case: Asked) -> Iterator[Fix]:
    """Such a container is started again by its number, which its prompt shows; and kept from losing the device."""
    if not device_lost(case):
        return
    number = _ITS_NUMBER.search(case.text)
    yield tried("The device files are in the container, and it may open them no longer, as after a reload of systemd on the host: start it again, on the host", on.engine(f"docker restart {number[1] if number else 'CONTAINER'}"))  # fmt: skip
    yield tried("So that it stays: have the links that systemd needs made, and at each start of the machine (a rule of udev), or pass the GPU by CDI", on.host("sudo nvidia-ctk system create-dev-char-symlinks --create-all"), root=True)  # fmt: skip


def as_a_service(cause: str, case: Asked) -> Iterator[Fix]:
    """A unit of systemd sees other devices, groups and variables than its user's own shell."""
    if (
        cause not in _UNSEEN
        or case.windows
        or not _UNIT.search(case.text)
        or _IN_DOCKER.search(case.text)
        or typed_inside(case.text)
    ):
        return
    if _CLOSED.search(case.text):
        yield tried("The unit hides the device files: switch that off for it, and start it again", on.linux("sudo systemctl edit UNIT    # below [Service]: PrivateDevices=no\nsudo systemctl daemon-reload && sudo systemctl restart UNIT"), root=True)  # fmt: skip
    else:
        yield tried("A unit of systemd has neither your groups nor your variables: give it both, below [Service] (SupplementaryGroups=video render, Environment=…, no PrivateDevices), and start it again", on.linux("sudo systemctl edit UNIT\nsudo systemctl daemon-reload && sudo systemctl restart UNIT"), root=True)  # fmt: skip
    yield tried("See what the unit sees, as its own user", on.linux("sudo systemd-run --pipe --wait -p PrivateDevices=no nvidia-smi"), root=True, look=True)  # fmt: skip
