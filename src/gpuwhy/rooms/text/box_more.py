"""Box more: names and numbers that a text lists beside what was asked for: another resource, partition, kernel or driver than the one at hand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.boxes import named_image, plugin_of, rooted, worded
from gpuwhy.rooms.text.shown import commands
from gpuwhy.rooms.text.ways import tried

Ways = Iterator[Fix]


# --- resources by another name ----------------------------------------------------------------------------------------


_OFFERED = worded(r"\bnvidia\.com/((?:gpu\.shared|mig-[\w.]+)): +([1-9]\d*)\b")
_TOO_LARGE = worded(r"request for '?(nvidia\.com/[\w.-]+): ?(\d+)'? too large: maximum request size for shared resources is (\d+)")  # fmt: skip


def other_name(case: Asked) -> Ways:
    """The node offers its GPUs under another name, or fewer at once, than the pod asks for."""
    large, offered = _TOO_LARGE.search(case.text), _OFFERED.search(case.text)
    if large:
        yield tried(f"A pod may ask for {large[3]} of {large[1]}, whose replicas share one card, and not for {large[2]}: a second replica would bring no more of it", on.code(f"resources: {{limits: {{{large[1]}: {large[3]}}}}}"))  # fmt: skip
        yield tried("For more of a card: whole cards under nvidia.com/gpu, without time-slicing on that node", "")
    elif offered:
        yield tried(f"The node offers {offered[2]} of nvidia.com/{offered[1]}, and none of nvidia.com/gpu: ask for it by that name, in the pod's manifest", on.code(f"resources: {{limits: {{nvidia.com/{offered[1]}: 1}}}}"))  # fmt: skip
        why = "renameByDefault: false in the plug-in's time-slicing configuration" if "shared" in offered[1] else "the MIG strategy single"  # fmt: skip
        yield tried(f"Or let the node offer them as nvidia.com/gpu: {why}, then start the plug-in anew", "")


_ROW = worded(r"^\s*([\w.-]+)\*? +(gpu(?::[\w.-]+)?:\d+)")


def other_partition(case: Asked) -> Ways:
    """Slurm's own list names the partition that has GPUs."""
    found = _ROW.search(case.text)
    ran = next((one.command for one in commands(case.text) if re.match(r"s(?:batch|run|alloc) ", one.command)), "")
    if not found or not ran or re.search(r"--partition|\s-p ", ran):
        return
    tool, _, rest = ran.partition(" ")
    kind = found[2].split(":")[1] if found[2].count(":") == 2 else ""
    yield tried(f"The partition {found[1]} has the GPUs ({found[2]} a node), and the default has none: name it", on.linux(f"{tool} --partition={found[1]} {rest}"))  # fmt: skip
    yield tried("Or by the kind of card, in the job's script", on.code(f"#SBATCH --partition={found[1]}\n#SBATCH --gres=gpu:{kind + ':' if kind else ''}1"))  # fmt: skip


# --- a kernel, a driver that is another --------------------------------------------------------------------------------


def other_kernel(case: Asked) -> Ways:
    """The running kernel's modules are gone from the disk: an update took them, and the machine was not restarted."""
    running = next((one.outcome.split()[0] for one in commands(case.text) if one.command.startswith("uname -r") and one.outcome.split()), "")  # fmt: skip
    listed = next((one.outcome for one in commands(case.text) if re.match(r"ls (?:-\S+ )*/(?:usr/)?lib/modules/?\s*$", one.command)), "")  # fmt: skip
    if running and listed.strip() and running not in listed.split():
        yield rooted(f"Restart the machine: {running} is running, and the disk has the modules of {', '.join(listed.split()[:2])} only, because the kernel was updated since", on.host("sudo reboot"))  # fmt: skip


_OF_HOST = worded(r"host[^\n]{0,60}?\b(\d{3}\.\d+(?:\.\d+)?)")
_OF_LIBRARY = worded(r"NVML library version: (\d{3}\.\d+)")
_LXC = worded(r"\blxc\b|\blxd\b|\bincus\b|\bproxmox\b|/etc/pve")


def other_driver(case: Asked) -> Ways:
    """A container with driver libraries of its own beside the host's module."""
    host, own = _OF_HOST.search(case.text), _OF_LIBRARY.search(case.text)
    if _LXC.search(case.text) and host:
        release = host[1]
        yield rooted(f"Inside the container put the very driver of the host, {release}, without its module, in place of the other one", on.linux(f"sudo apt purge -y 'libnvidia-compute-*' 'nvidia-utils-*' 'nvidia-driver-*'\nwget https://us.download.nvidia.com/XFree86/Linux-x86_64/{release}/NVIDIA-Linux-x86_64-{release}.run && sudo sh NVIDIA-Linux-x86_64-{release}.run --no-kernel-module"))  # fmt: skip
        yield tried("Or, with LXD and Incus: have the host's own libraries brought in", on.linux("lxc config set CONTAINER nvidia.runtime=true && lxc restart CONTAINER"))  # fmt: skip
    elif own and host and not host[1].startswith(own[1]) and case.tools & {"docker", "container", "podman"}:
        image = named_image(case)
        lines = f"FROM {image}\\nUSER root\\nRUN rm -f /usr/lib*/libcuda.so* /usr/lib*/libnvidia-ml.so* /usr/lib*/x86_64-linux-gnu/libcuda.so* /usr/lib*/x86_64-linux-gnu/libnvidia-ml.so*\\n"  # fmt: skip
        yield tried(f"The image {image} carries libraries of driver {own[1]}, which win over those of the host's {host[1]} that --gpus brings: build one without them, and start that", on.linux(f"printf '{lines}' | docker build -t without-driver -\ndocker run --rm --gpus all without-driver nvidia-smi"))  # fmt: skip


# --- other starters of containers --------------------------------------------------------------------------------------


def in_a_distrobox(case: Asked) -> Ways:
    """distrobox and toolbox, over podman."""
    made = re.search(r"distrobox[^\n]*(?:-i|--image) (\S+)", case.text)
    image = made[1] if made else named_image(case)
    name = re.search(r"distrobox (?:create|enter)[^\n]*?(?:--name|-n|enter) ([\w.-]+)", case.text)
    box = name[1] if name else "BOX"
    given = "--nvidia" in case.text
    if given:
        yield tried("Renew the loader's list in the box, where the host's libraries were put", on.linux(f"distrobox enter {box} -- sudo ldconfig && distrobox enter {box} -- nvidia-smi"))  # fmt: skip
    yield rooted("Pass the GPU by CDI: describe it on the host, and make the box with that device (what is in the box's home stays)", on.host(f"sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml\ndistrobox create --name {box}-gpu --image {image} --additional-flags '--device nvidia.com/gpu=all'\ndistrobox enter {box}-gpu -- nvidia-smi"))  # fmt: skip
    if not given:
        yield tried("Or let distrobox bind the host's driver in", on.linux(f"distrobox create --nvidia --name {box}-gpu --image {image}"))  # fmt: skip


def on_unraid(case: Asked) -> Ways:
    """Unraid and TrueNAS: the container's template."""
    if re.search(r"\bunraid\b", case.text, re.IGNORECASE):
        yield tried("Unraid: edit the container, Advanced View, and put this into Extra Parameters, with the Nvidia Driver plug-in installed; then Apply", on.code("--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all -e NVIDIA_DRIVER_CAPABILITIES=all"))  # fmt: skip
    else:
        yield tried("TrueNAS: install the driver under Apps, Configuration, Settings (Install NVIDIA Drivers), then edit the app, and choose the GPU under Resources", "")  # fmt: skip


def in_a_swarm(case: Asked) -> Ways:
    """Docker's swarm gives out GPUs that a node lists as generic resources."""
    yield rooted("List the node's GPUs as generic resources (with the identifiers of nvidia-smi -L), let NVIDIA's runtime read which one a task was given, and start docker again", on.engine("nvidia-smi -L\nsudo nvidia-ctk runtime configure --runtime=docker --set-as-default\nsudo sed -i 's/^#\\?swarm-resource.*/swarm-resource = \"DOCKER_RESOURCE_NVIDIA-GPU\"/' /etc/nvidia-container-runtime/config.toml\nsudoedit /etc/docker/daemon.json    # \"node-generic-resources\": [\"NVIDIA-GPU=GPU-identifier\"]\nsudo systemctl restart docker"))  # fmt: skip


def without_capabilities(case: Asked) -> Ways:
    """Compose's reservation of a device names no capability."""
    yield tried("Add the capability, which the reservation of a device must name", on.code("devices: [{driver: nvidia, count: all, capabilities: [gpu]}]"))  # fmt: skip


def plain_docker(case: Asked) -> Ways:
    """Docker of a Linux machine, whose settings are shown to name the runtime: it has not read them."""
    if re.search(r"daemon\.json[^\0]{0,200}nvidia-container-runtime", case.text):
        yield rooted("The runtime stands in /etc/docker/daemon.json, and the running docker has not read that file: start it again; docker info must then list nvidia (else docker context ls names another engine than this machine's)", on.engine("sudo systemctl restart docker || sudo service docker restart\ndocker info | grep -i runtimes\ndocker context use default"))  # fmt: skip


def podman_runtime(case: Asked) -> Ways:
    """Podman has no runtime to choose, and passes devices by CDI."""
    yield rooted("Podman knows no runtime nvidia, and needs none: describe the GPUs for CDI, and pass the device in place of --runtime=nvidia", on.engine(f"sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml\npodman run --rm --device nvidia.com/gpu=all {named_image(case)} nvidia-smi"))  # fmt: skip


def on_minikube(case: Asked) -> Ways:
    """minikube takes the GPU when its cluster is made."""
    yield tried("Make minikube's cluster anew with the GPU (docker driver; NVIDIA's container toolkit on this machine), which brings the device plug-in along (what runs in the old one goes)", on.linux("minikube delete && minikube start --driver docker --container-runtime docker --gpus all\nkubectl describe node minikube | grep nvidia.com/gpu"))  # fmt: skip


def on_eks(case: Asked) -> Ways:
    """EKS: the image of the nodes decides."""
    own = "this node's image, -standard-, has no driver" if re.search(r"-standard-|AL2023_x86_64_STANDARD", case.text) else "its nodes need the image that has driver and toolkit"  # fmt: skip
    yield tried(f"EKS: {own}: make a node group of the NVIDIA variant (ami type AL2023_x86_64_NVIDIA), and take the other away", on.linux("eksctl create nodegroup --cluster CLUSTER --name gpu --node-type g4dn.xlarge --node-ami-family AmazonLinux2023 --nodes 1\naws eks create-nodegroup --cluster-name CLUSTER --nodegroup-name gpu --ami-type AL2023_x86_64_NVIDIA --instance-types g4dn.xlarge --subnets SUBNET --node-role ROLE    # the same without eksctl"))  # fmt: skip
    yield tried("Then start the device plug-in's pods anew", plugin_of(case.text).anew)


def on_aks(case: Asked) -> Ways:
    """AKS: the node pool decides."""
    yield tried("AKS: make a node pool of GPU machines, onto which it installs the driver, then start the device plug-in's pods anew", on.linux(f"az aks nodepool add --resource-group GROUP --cluster-name CLUSTER --name gpu --node-vm-size Standard_NC4as_T4_v3 --node-count 1\n{plugin_of(case.text).anew}"))  # fmt: skip
