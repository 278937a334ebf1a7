"""Box asks: what a container, a pod, a job's step or an image's build asked for too little, or of a driver too old: the same with it, in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.distributions import NEWEST_DRIVER
from gpuwhy.knowledge.drivers import cuda_of_driver, floor, runs
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.boxes import CLASS, CLUSTERS, box_of, named_image, rooted, worded
from gpuwhy.rooms.text.jetson_ways import board, image_for
from gpuwhy.rooms.text.remedies import PURGE, TOOLKIT_REPO
from gpuwhy.rooms.text.shown import commands
from gpuwhy.rooms.text.told_names import image_of
from gpuwhy.rooms.text.ways import tried

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
    yield tried("While an image is built there is no GPU: name the cards' architectures in the Dockerfile before this step, so that it need not ask for one; what computes on the GPU belongs to the container's start (CMD, ENTRYPOINT)", on.dockerfile('ENV FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST="7.5;8.0;8.6+PTX"'))  # fmt: skip
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
_RENTED = worded(
    r"\brunpod\b|\bvast\.?ai\b|\bsalad(?:cloud)?\b|\btensordock\b|error starting container: Error response"
)
"""Machines of which only a container is one's own; the last are RunPod's own words."""
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
    if _RENTED.search(case.text):
        yield from _elsewhere(found[1])
        return
    speaks = case.speaks or cuda_of_driver(case.driver) or ""
    told = f" (it has {case.driver}, which speaks {speaks})" if case.driver and speaks else ""
    if case.windows or "wsl" in case.tools:
        yield tried(f"Install NVIDIA's driver {native} or newer on Windows, which speaks CUDA {found[1]}{told} (nvidia.com/drivers); then stop WSL, and start Docker Desktop again", on.across("wsl --shutdown"))  # fmt: skip
    else:
        yield tried(f"Update the host's driver to {native} or newer, which speaks CUDA {found[1]}{told}, and restart the host", _newer(case, native), root=True)  # fmt: skip
    if not speaks or runs(speaks, found[1]):
        yield tried(_or_older(found[1]), _unchecked(case))


def _elsewhere(cuda: str) -> Ways:
    """Where the host is somebody else's, who rents it out."""
    yield tried(f"Choose another machine: filter those on offer by CUDA {cuda} or newer (RunPod: Additional filters, CUDA versions; Vast.ai: Max CUDA) and start the container there: the driver is the provider's, and no pod can update it", "")  # fmt: skip
    yield tried(f"Or take a template or tag of the image for a CUDA older than {cuda}, which this machine's driver runs", "")  # fmt: skip


def _or_older(cuda: str) -> str:
    """An older image, or this one unchecked."""
    older = f"Or take an image with a CUDA older than {cuda}; or"
    if cuda.startswith("12"):
        return f"{older}, where the driver is 525 or newer, let this one start all the same: CUDA 12 runs on every driver of that major, but for what is compiled at run time"  # fmt: skip
    return f"{older} let this one start all the same, where the driver is of the same CUDA major"


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


# --- Docker Desktop's own release -------------------------------------------------------------------------------------


_RELEASE = worded(r"\bDocker Desktop:? ?v?(4\.\d+)(?:\.\d+)?")
_WORKED = worded(
    r"\b(?:fine|work\w*|ok)\b[^\n]{0,30}\b(4\.\d+\.\d+)|\b(4\.\d+\.\d+)\b[^\n]{0,20}\b(?:works|worked|was fine|is fine)"
)


def desktop_release(case: Asked) -> Ways:
    """Docker Desktop passes the GPU by its own toolkit: its release decides, not the distribution's packages."""
    if box_of(case) != "desktop" and not _RELEASE.search(case.text):
        return
    if re.search(r"named symbol not found|error 500", case.text, re.IGNORECASE):
        told = f" (here {case.driver})" if case.driver else ""
        yield tried(f"Update Docker Desktop to 4.31 or newer, whose toolkit knows drivers from 555 on{told} (its icon's menu, Check for updates; or winget upgrade --id Docker.DockerDesktop); then wsl --shutdown in Windows, and start Docker Desktop again", on.across("winget upgrade --id Docker.DockerDesktop\nwsl --shutdown") if case.windows else "")  # fmt: skip
        yield tried("Or go back to a driver of Windows before 555 (552.44: nvidia.com/drivers, all drivers), and restart", "")  # fmt: skip
        return
    found = _WORKED.search(case.text)
    if found:
        good = found[1] or found[2]
        yield tried(f"Take the Docker Desktop that worked, {good}, or a newer one than this, which does not hand the GPU on; then stop WSL, and start it again", on.across(f"winget install --id Docker.DockerDesktop --version {good} --force\nwsl --update && wsl --shutdown"))  # fmt: skip


# --- monitoring and sharing -------------------------------------------------------------------------------------------


def may_profile(case: Asked) -> Ways:
    """DCGM's profiling counters want a capability, or are left out."""
    ran = next((one.command for one in commands(case.text) if re.match(r"(?:sudo )?docker run ", one.command)), "")
    if box_of(case) in CLUSTERS:
        yield tried("Let the exporter read profiling counters, in its manifest", on.code('securityContext: {capabilities: {add: ["SYS_ADMIN"]}}    # in the container\'s part'))  # fmt: skip
    else:
        with_it = re.sub(r"docker run ", "docker run --cap-add SYS_ADMIN ", ran, count=1) or "docker run --gpus all --cap-add SYS_ADMIN IMAGE"  # fmt: skip
        yield tried("Let the exporter read profiling counters: the same with this capability", on.linux(with_it))
    yield tried("Or leave the profiling metrics out: a list of your own without the lines DCGM_FI_PROF_…, given by -f", on.linux("dcgm-exporter -f /etc/dcgm-exporter/default-counters.csv    # each DCGM_FI_PROF_ line with a # before it"))  # fmt: skip


def mps_down(case: Asked) -> Ways:
    """MPS of the device plug-in holds the card in exclusive mode, and its daemon does not run."""
    found = re.search(r"\b((?:nvdp-)?nvidia-device-plugin[\w-]*mps-control-daemon[\w-]*)", case.text)
    spaces = re.findall(r"-n ([a-z0-9-]+)", case.text)
    space = spaces[-1] if spaces else "nvidia-device-plugin"
    yield tried("The plug-in's MPS daemon does not run, and the card is in exclusive mode, so that nobody gets in: share it by time-slicing instead, and set the mode back on the node", on.linux(f"kubectl -n {space} logs {found[1] if found else 'MPS_POD'} --all-containers --previous | tail\nhelm upgrade nvdp nvdp/nvidia-device-plugin -n {space} --reuse-values --set-json 'config.map.default=\"version: v1\\nsharing:\\n  timeSlicing:\\n    resources:\\n    - name: nvidia.com/gpu\\n      replicas: 4\"'"))  # fmt: skip
    yield rooted("And on the node, the mode that lets several in", on.host("sudo nvidia-smi -c DEFAULT"))


_UNIT = worded(
    r"^\w{3} +\d+ [\d:]+ \S+ (?P<name>(?!systemd|kernel|sudo|sshd|bash|dockerd|podman|containerd|kubelet|k3s|rke2|crio|crun)[a-z][\w.-]*)\[\d+\]: "
)


def as_its_user(case: Asked) -> Ways:
    """A service that the journal names, and whose user is not in the group of the device files."""
    found = _UNIT.search(case.text)
    if found:
        name = found["name"]
        yield rooted(f"Give the user of the service {name} the groups that own the device files, and start it again", on.host(f"sudo usermod -aG video,render $(systemctl show -P User {name})\nsudo systemctl restart {name}"))  # fmt: skip
