"""Box asks: what a container, a pod, a job's step or an image's build asked for too little, or of a driver too old: the same with it, in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.causes.text.asked import Asked
from gpuwhy.causes.text.boxes import CLASS, CLUSTERS, box_of, named_image, rooted, worded
from gpuwhy.causes.text.jetson_ways import board, image_for
from gpuwhy.causes.text.remedies import PURGE, TOOLKIT_REPO
from gpuwhy.causes.text.shown import commands
from gpuwhy.causes.text.told_names import image_of
from gpuwhy.causes.text.ways import tried
from gpuwhy.knowledge.distributions import NEWEST_DRIVER
from gpuwhy.knowledge.drivers import cuda_of_driver, floor, runs
from gpuwhy.model import on
from gpuwhy.model.cause import Fix

Ways = Iterator[Fix]


VIDEO = worded(r"libnvidia-encode|libnvcuvid|nvenc|nvcuvid")


def for_video(case: Asked) -> Ways:
    """The driver's libraries for video, which nobody gets who does not ask."""
    box = box_of(case)
    if box in CLUSTERS:
        yield tried("A container gets the driver's libraries for video only where it asks for them: in the pod's manifest, beside the limit", on.code('env: [{name: NVIDIA_DRIVER_CAPABILITIES, value: "compute,video,utility"}, {name: NVIDIA_VISIBLE_DEVICES, value: all}]'))  # fmt: skip
    elif box == "compose":
        yield tried("A container gets the driver's libraries for video only where it asks for them: in compose.yaml, in the service's part; then docker compose up -d --force-recreate", on.code('environment: ["NVIDIA_DRIVER_CAPABILITIES=compute,video,utility", NVIDIA_VISIBLE_DEVICES=all]\ndeploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu, video, compute, utility]}]}}}'))  # fmt: skip


def in_its_step(case: Asked) -> Ways:
    """enroot's hook looks at two variables, which an image that went through `docker export` has lost."""
    found = re.search(r"\bsrun (?P<rest>[^\n]*--container-image[^\n]*)", case.text)
    rest = found["rest"].strip() if found else "--container-image=IMAGE nvidia-smi"
    gpus = "" if re.search(r"--g(?:res|pus)\b", rest) else "--gpus=1 "
    if "nvidia-container-cli, see" in case.text:
        yield rooted("On every compute node install nvidia-container-cli (libnvidia-container-tools), which enroot's hook 98-nvidia.sh calls", on.host(f"{TOOLKIT_REPO}\nnvidia-container-cli info"))  # fmt: skip
    elif "nvidia-persistenced/socket" in case.text:
        yield rooted("libnvidia-container before 1.12 cannot mount the socket of nvidia-persistenced into enroot's folder: update it on the nodes", on.host("sudo apt-get update && sudo apt-get install -y libnvidia-container1 libnvidia-container-tools && nvidia-container-cli --version"))  # fmt: skip
        yield rooted("Or, until then: stop that service on the node, whose socket is then not mounted", on.host("sudo systemctl stop nvidia-persistenced"))  # fmt: skip
    else:
        yield tried("Set these two variables before srun, and ask for a GPU: enroot brings the driver in only where the image, or the job, has them (docker export drops them)", on.linux(f"NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility srun {gpus}{rest}"))  # fmt: skip


def while_built(case: Asked) -> Ways:
    """A step of an image's build asks for a GPU."""
    yield tried("While an image is built there is no GPU: name the cards' architectures in the Dockerfile before this step, so that it need not ask for one; what computes on the GPU belongs to the container's start (CMD, ENTRYPOINT)", on.dockerfile('ENV FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST="7.0;7.5;8.0;8.6;8.9;9.0+PTX"'))  # fmt: skip
    yield rooted("Where the step insists on a GPU: build with docker's old builder, which takes the default runtime, and make that NVIDIA's", on.host("sudo nvidia-ctk runtime configure --runtime=docker --set-as-default && sudo systemctl restart docker\nDOCKER_BUILDKIT=0 docker build -t IMAGE ."))  # fmt: skip


# --- a pod, a job's step ----------------------------------------------------------------------------------------------


_CARDS = worded(r"nvidia-(?:tesla-)?(?:t4|l4|a100(?:-80gb)?|v100|p100|p4|k80|h100-80gb)\b")
_COS = "kubectl apply -f https://raw.githubusercontent.com/GoogleCloudPlatform/container-engine-accelerators/master/nvidia-driver-installer/cos/daemonset-preloaded.yaml"


def pod_without(case: Asked) -> Ways:
    """A pod that sees no GPU: its limit, and the runtime that brings the driver in."""
    box = box_of(case)
    if box not in CLUSTERS or re.search(r"runtimeClassName: *[\"']?nvidia|device[- ]plug-?in-", case.text):
        return
    limit = "resources: {limits: {nvidia.com/gpu: 1}}    # in the container's part"
    if box == "gke":
        found = _CARDS.search(case.text)
        where = f"nodeSelector: {{cloud.google.com/gke-accelerator: {found[0] if found else 'nvidia-tesla-t4'}}}    # in spec; the pool's own card"  # fmt: skip
        yield tried("GKE brings the driver only into containers that ask for a GPU: give this one the limit, and the pod a node that has one", on.code(f"{limit}\n{where}"))  # fmt: skip
        yield tried("And the node needs the driver: where its pool was made without (gpu-driver-version=disabled), install it", on.linux(_COS))  # fmt: skip
    elif box in ("eks", "aks", "openshift"):
        yield tried("Give the container the limit without which it gets no GPU, and let the pod go where the GPU nodes' taint keeps others away", on.code(f"{limit}\ntolerations: [{{key: nvidia.com/gpu, operator: Exists}}]    # in spec"))  # fmt: skip
    else:
        yield tried("Let the pod run under NVIDIA's runtime, which is not the node's default, and ask for the GPU, in its manifest", on.code(f"runtimeClassName: nvidia    # in spec\n{limit}"))  # fmt: skip
        yield tried("Then make the class, where kubectl get runtimeclass does not list it", on.linux(CLASS))


_GIVEN = worded(r"--gres[= ]|--gpus|\s-G ?\d")


def step_without(case: Asked) -> Ways:
    """A step of Slurm's that asks for no GPU, though the job has one: the same command with it."""
    ran = [one for one in commands(case.text) if re.match(r"srun ", one.command) and not _GIVEN.search(one.command)]
    if not ran or "--container-image" in case.text:
        return
    own = ran[-1].command.removeprefix("srun ")
    yield tried("A step of a job gets only the GPUs that it asks for: the same with one (in a script: #SBATCH --gpus-per-node=1, and srun with --gpus)", on.linux(f"srun --gpus=1 {own}"))  # fmt: skip
    yield tried("The job itself must have one, too", on.linux("salloc --gres=gpu:1 --time=1:00:00    # sinfo -o '%P %G' names the partitions with GPUs"))  # fmt: skip


# --- the host's driver, below an image --------------------------------------------------------------------------------


_WANTED = worded(r"unsatisfied condition: cuda ?>= ?(\d+\.\d+)")
_DEBIAN = worded(r"\bDebian(?: GNU/Linux)? ?(1[1-3])\b|\b(bullseye|bookworm|trixie)\b")
_NAMED = {"bullseye": "11", "bookworm": "12", "trixie": "13"}
_OWN = {"11": 470, "12": 535, "13": 550}
"""The driver that each Debian has itself."""


def _newer(case: Asked, least: str) -> str:
    """How the host gets a driver at least so new."""
    found = _DEBIAN.search(case.text)
    release = (found[1] or _NAMED[found[2].lower()]) if found else ""
    if not release or _OWN[release] >= int(least.split(".")[0]):
        return NEWEST_DRIVER
    repository = f"https://developer.download.nvidia.com/compute/cuda/repos/debian{release}/x86_64"
    return on.host(f"wget {repository}/cuda-keyring_1.1-1_all.deb && sudo dpkg -i cuda-keyring_1.1-1_all.deb && sudo apt-get update\nsudo apt-get install -y linux-headers-amd64 nvidia-open && sudo reboot    # cards before Turing: cuda-drivers")  # fmt: skip


def _unchecked(case: Asked) -> str:
    """The start that leaves the image's requirement unchecked, for what starts it."""
    box = box_of(case)
    if box == "compose" or "compose" in case.tools:
        return on.code("environment: [NVIDIA_DISABLE_REQUIRE=true]    # in compose.yaml, in the service's part; then docker compose up -d")  # fmt: skip
    if box in CLUSTERS:
        return on.code(
            'env: [{name: NVIDIA_DISABLE_REQUIRE, value: "true"}]    # in the container\'s part of the manifest'
        )
    return f"docker run --rm --gpus all -e NVIDIA_DISABLE_REQUIRE=true {image_of(case.text)[1] or 'IMAGE'}"


def required(case: Asked) -> Ways:
    """An image that asks for a newer CUDA than the host's driver speaks."""
    found = _WANTED.search(case.text)
    least = floor(found[1], "windows" if case.windows else "linux") if found else None
    if not found or least is None:
        return
    native = least.native or least.driver
    speaks = case.speaks or cuda_of_driver(case.driver) or ""
    told = f" (it has {case.driver}, which speaks {speaks})" if case.driver and speaks else ""
    if case.windows or "wsl" in case.tools:
        yield tried(f"Install NVIDIA's driver {native} or newer on Windows, which speaks CUDA {found[1]}{told} (nvidia.com/drivers); then stop WSL, and start Docker Desktop again", on.across("wsl --shutdown"))  # fmt: skip
    else:
        yield tried(f"Update the host's driver to {native} or newer, which speaks CUDA {found[1]}{told}, and restart the host", _newer(case, native), root=True)  # fmt: skip
    if not speaks or runs(speaks, found[1]):
        yield tried("Or, where the driver is 525 or newer: let the image start all the same: CUDA 12 runs on every driver of that major, but for what is compiled at run time" if found[1].startswith("12") else "Or let the image start all the same, where the driver is of the same CUDA major", _unchecked(case))  # fmt: skip


# --- Linux' driver inside WSL -----------------------------------------------------------------------------------------


def purged(case: Asked) -> Ways:
    """Linux' driver packages inside WSL: out with them, then WSL anew."""
    if "wsl" not in case.tools or case.windows:
        return
    tell = " (Numba: export NUMBA_CUDA_DRIVER=/usr/lib/wsl/lib/libcuda.so.1 does until then)" if "numba" in case.tools else ""  # fmt: skip
    yield rooted(on.in_wsl(f"take the Linux driver's packages out, which hide the one that Windows brings; of CUDA only cuda-toolkit-12-x belongs into WSL, never cuda, cuda-drivers or nvidia-utils{tell}"), on.wsl(f"{PURGE}\nsudo apt autoremove -y && sudo ldconfig && hash -r"))  # fmt: skip
    yield tried(on.in_wsl("then stop WSL, in Windows, and open it again: which nvidia-smi must then say /usr/lib/wsl/lib/nvidia-smi"), on.across("wsl --shutdown"))  # fmt: skip


# --- Apptainer's own variables ----------------------------------------------------------------------------------------


_CARRIED = worded(r"\b((?:APPTAINER|SINGULARITY)ENV_(LD_LIBRARY_PATH|LD_PRELOAD|CUDA_HOME|PYTHONPATH))\b")


def carried_in(case: Asked) -> Ways:
    """A variable that the host hands into the container under Apptainer's prefix."""
    found = _CARRIED.search(case.text)
    if not found:
        return
    run = next((one.command for one in commands(case.text) if re.match(r"(?:singularity|apptainer) ", one.command)), "apptainer exec --nv IMAGE.sif COMMAND")  # fmt: skip
    clean = re.sub(r"^(\w+ \w+) ", r"\1 --cleanenv ", run) if "--cleanenv" not in run else run
    yield tried(f"{found[1]} brings {found[2]} of the host into the container, where unset does not reach it: take it out on the host (a module may set it again: module unload cuda), and start the container without the host's variables", on.linux(f"unset {found[1]}\nmodule unload cuda 2>/dev/null\n{clean}"))  # fmt: skip


# --- several pods on one GPU ------------------------------------------------------------------------------------------


def sharing(case: Asked) -> Ways:
    """Time-slicing parts the time and not the memory: each pod must take no more than its share."""
    if case.framework == "tensorflow":
        yield tried("Time-slicing parts a GPU's time and not its memory, and each TensorFlow takes all of it: let every pod take only what it needs, in its manifest", on.code('env: [{name: TF_FORCE_GPU_ALLOW_GROWTH, value: "true"}]    # in the container\'s part'))  # fmt: skip
        yield tried("Or a fixed share in the program: total memory divided by the replicas", on.code("tf.config.set_logical_device_configuration(tf.config.list_physical_devices('GPU')[0], [tf.config.LogicalDeviceConfiguration(memory_limit=5120)])"))  # fmt: skip
    elif case.framework in ("jax", "torch"):
        share = 'env: [{name: XLA_PYTHON_CLIENT_MEM_FRACTION, value: "0.2"}]    # in the container\'s part' if case.framework == "jax" else "torch.cuda.set_per_process_memory_fraction(0.25)"  # fmt: skip
        yield tried("Time-slicing parts a GPU's time and not its memory: the pods on one card must fit into it together. Give each its share, or fewer replicas", on.code(share))  # fmt: skip


# --- a Jetson's image -------------------------------------------------------------------------------------------------


def of_its_board(case: Asked) -> Ways:
    """An image of another L4T than the board's: the one of its own line."""
    pack, image = board(case.text), named_image(case)
    tag = re.search(r":(?:[\w.]+-)?r?(\d\d)\.\d", image)
    if pack is None or tag is None or re.match(pack.l4t, f"{tag[1]}.") or re.match(pack.l4t, tag[0].lstrip(":r")):
        return
    yield tried(f"{image} is made for L4T r{tag[1]}, and this board has JetPack {pack.name} (CUDA {pack.cuda}): its driver's libraries fit images of its own line only", on.engine(f"sudo docker run --runtime nvidia -it --rm {image_for(image, pack)}"))  # fmt: skip
