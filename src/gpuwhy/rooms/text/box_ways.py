"""Box ways: one fault at one place that starts containers: the whole way out of it there, every step in one command.

Per fault a table of boxes (`boxes.py`), or a function of its own; `box_faults.py` says what speaks for each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.box_more import on_aks, on_eks, on_minikube, plain_docker, podman_runtime
from gpuwhy.rooms.text.boxes import CLASS, CLUSTERS, box_of, named_image, node_of, plugin_of, pod_of, rooted, worded
from gpuwhy.rooms.text.remedies import TOOLKIT_REPO
from gpuwhy.rooms.text.ways import tried

Ways = Iterator[Fix]
Way = Callable[[Asked], Ways]

_DOCKER = "sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker"
_TRY = "docker run --rm --gpus all ubuntu nvidia-smi"


def _with_class(case: Asked) -> str:
    """The plug-in's pods under NVIDIA's runtime, and the class that names it."""
    plugin = plugin_of(case.text)
    patch = '{"spec":{"template":{"spec":{"runtimeClassName":"nvidia"}}}}'
    return f"{CLASS}\nkubectl -n {plugin.namespace} patch daemonset {plugin.daemonset} -p '{patch}'"


# --- the engine has no NVIDIA runtime -------------------------------------------------------------------------------


def _snap(case: Asked) -> Ways:
    yield rooted("Replace snap's docker, which reaches neither the host's driver nor NVIDIA's toolkit: take it out (its images and volumes go with it: save what you need first), install the distribution's engine with the toolkit, and register that", on.host(f"sudo snap remove docker && sudo apt-get update && sudo apt-get install -y docker.io\n{TOOLKIT_REPO}\n{_DOCKER}\nhash -r; sudo {_TRY}"))  # fmt: skip


def _desktop_linux(case: Asked) -> Ways:
    yield rooted("Leave Docker Desktop, which on Linux runs containers in a virtual machine without the GPU, whatever daemon.json says: use this machine's own engine, with NVIDIA's runtime in it", on.host(f"sudo apt-get install -y docker.io    # where systemctl status docker finds none\ndocker context use default\n{_DOCKER}\n{_TRY}"))  # fmt: skip


def _nix(case: Asked) -> Ways:
    tool = "podman --cdi-spec-dir=/run/cdi" if "podman" in case.tools else "docker"
    given = re.search(r"nvidia-container-toolkit(?:\.enable|\.json)|/run/cdi", case.text)
    first = "" if given else "hardware.nvidia-container-toolkit.enable = true; in configuration.nix, then sudo nixos-rebuild switch; "  # fmt: skip
    also = "" if "podman" in case.tools else " (docker before 28.3 needs virtualisation.docker.daemon.settings.features.cdi = true; too)"  # fmt: skip
    yield tried(f"Pass the GPU by CDI, as NixOS does, and not by --gpus or a runtime: {first}name the device{also}", on.linux(f"{tool} run --rm --device nvidia.com/gpu=all {named_image(case)} nvidia-smi"))  # fmt: skip
    yield tried("Compose: the same, in the service's part", on.code("deploy: {resources: {reservations: {devices: [{driver: cdi, device_ids: [nvidia.com/gpu=all], capabilities: [gpu]}]}}}"))  # fmt: skip


def _of_docker(case: Asked) -> Ways:
    plugin = plugin_of(case.text)
    yield rooted("This node's runtime is docker, which knows no handler but its own: take runtimeClassName out of the pods, and make NVIDIA's the default of docker on the node; then start the plug-in anew", on.engine(f"sudo nvidia-ctk runtime configure --runtime=docker --set-as-default && sudo systemctl restart docker\n{plugin.anew}"))  # fmt: skip
    yield tried("Where runtimeClassName comes from a deployment: take it out there", on.linux("kubectl patch deployment NAME --type=json -p '[{\"op\":\"remove\",\"path\":\"/spec/template/spec/runtimeClassName\"}]'"))  # fmt: skip


def _daemon(case: Asked) -> Ways:
    """Docker below Kubernetes, whose settings are shown without a default."""
    if re.search(r"runtimes[\"']?:", case.text) and "default-runtime" not in case.text and "daemon.json" in case.text:
        yield rooted("The device plug-in starts under docker's default runtime, which is not NVIDIA's in daemon.json: make it so on the node, start docker again, then the plug-in (or install it)", on.engine(f"sudo nvidia-ctk runtime configure --runtime=docker --set-as-default && sudo systemctl restart docker\n{plugin_of(case.text).anew} || {_PLUGIN}"))  # fmt: skip


_PLUGIN = "kubectl apply -f https://raw.githubusercontent.com/NVIDIA/k8s-device-plugin/v0.17.1/deployments/static/nvidia-device-plugin.yml"
_TYPED_CRIO = worded(r"nvidia-ctk runtime configure --runtime=crio")


def _crio(case: Asked) -> Ways:
    plugin = plugin_of(case.text)
    if _TYPED_CRIO.search(case.text):
        yield rooted("CRI-O reads what nvidia-ctk wrote only when it is started again, and another file of /etc/crio/crio.conf.d that names a default_runtime may come after it: see that NVIDIA's is the last one, start CRI-O, then the plug-in", on.engine(f"grep -rn default_runtime /etc/crio/\nsudo systemctl restart crio && sudo systemctl restart kubelet\n{plugin.anew}"))  # fmt: skip
    yield rooted("CRI-O: register NVIDIA's runtime on the node as its default, start it again, then the plug-in's pods", on.engine(f"sudo nvidia-ctk runtime configure --runtime=crio --set-as-default --config=/etc/crio/crio.conf.d/99-nvidia.conf && sudo systemctl restart crio\n{plugin.anew}"))  # fmt: skip


def _openshift(case: Asked) -> Ways:
    yield tried("CRI-O with the GPU operator passes GPUs by its hook or by CDI, and has no handler nvidia: take runtimeClassName out of the pod's manifest, and keep the limit", on.code("resources: {limits: {nvidia.com/gpu: 1}}    # and no runtimeClassName"))  # fmt: skip
    yield rooted("On a plain CRI-O: register the handler on the node instead", on.engine("sudo nvidia-ctk runtime configure --runtime=crio --config=/etc/crio/crio.conf.d/99-nvidia.conf && sudo systemctl restart crio"))  # fmt: skip


def _k0s(case: Asked) -> Ways:
    yield rooted("The containerd of k0s is its own, and reads /etc/k0s/containerd.d: on the node put NVIDIA's runtime there, start k0s again; then give the plug-in the class nvidia, and every pod that wants the GPU too (runtimeClassName: nvidia)", on.engine(f"sudo mkdir -p /etc/k0s/containerd.d && sudo nvidia-ctk runtime configure --runtime=containerd --config=/etc/k0s/containerd.d/nvidia.toml && sudo systemctl restart k0sworker    # a single node: k0scontroller\n{_with_class(case)}"))  # fmt: skip


def _k3s(case: Asked) -> Ways:
    found = re.search(r"runtimes\.\"?'?nvidia", case.text)
    service = "rke2-agent" if box_of(case) == "rke2" else "k3s"
    if not found:
        yield rooted(f"On the node install NVIDIA's toolkit, and start {service.partition('-')[0]} again, which finds the runtime by itself then (what nvidia-ctk writes elsewhere it does not read)", on.engine(f"{TOOLKIT_REPO}\nsudo systemctl restart {service}    # an agent: k3s-agent; a server of RKE2: rke2-server"))  # fmt: skip
    yield tried("Then make the class that names this runtime, and give it to the plug-in; every pod that wants the GPU names it too (runtimeClassName: nvidia)" if not found else "The runtime nvidia is there, but not the default: make the class that names it, and give it to the plug-in; every pod that wants the GPU names it too (runtimeClassName: nvidia)", on.linux(_with_class(case)))  # fmt: skip


def _kubeadm(case: Asked) -> Ways:
    plugin = plugin_of(case.text)
    yield rooted("On the GPU node: install the toolkit where nvidia-ctk is not there, make NVIDIA's runtime the default of containerd, start that again; then the plug-in's pods", on.engine(f"sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default && sudo systemctl restart containerd\n{plugin.anew}"))  # fmt: skip
    yield tried("Or leave the default, make the class nvidia, and give it to the plug-in and to every pod that wants the GPU (runtimeClassName: nvidia)", on.linux(_with_class(case)))  # fmt: skip


_UNKNOWN_RUNTIME = worded(r"(?:unknown|invalid)[^\n]{0,30}runtime|runtime \"?nvidia\"? not found")


def _desktop(case: Asked) -> Ways:
    if "kubernetes" not in case.tools:
        if _UNKNOWN_RUNTIME.search(case.text):
            yield tried("Take the line runtime: nvidia out of the compose file, and reserve the GPU instead: Docker Desktop needs no runtime for it, only its WSL 2 engine (Settings, General) and NVIDIA's driver on Windows", on.code("deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}"))  # fmt: skip
            yield tried("Or make the runtime known: Settings, Docker Engine, add this to what stands there, then Apply and restart", on.code('"runtimes": {"nvidia": {"path": "nvidia-container-runtime", "runtimeArgs": []}}'))  # fmt: skip
        return
    yield tried("Docker Desktop's own Kubernetes has no NVIDIA runtime for pods, and takes none: in Ubuntu of WSL 2 install docker's engine and NVIDIA's toolkit, and start minikube with the GPU there", on.across("wsl -d Ubuntu"))  # fmt: skip
    yield tried("Then, in that Ubuntu", on.linux(f"curl -fsSL https://get.docker.com | sh\n{TOOLKIT_REPO}\nsudo nvidia-ctk runtime configure --runtime=docker && sudo service docker restart\nminikube start --driver=docker --container-runtime=docker --gpus all"))  # fmt: skip


RUNTIME: Mapping[str, Way] = {
    "snap": _snap, "desktop_linux": _desktop_linux, "nixos": _nix, "dockershim": _of_docker, "crio": _crio,
    "openshift": _openshift, "docker": plain_docker, "compose": plain_docker, "podman": podman_runtime, "minikube": on_minikube,
    "eks": on_eks, "aks": on_aks, "k0s": _k0s, "k3s": _k3s, "rke2": _k3s, "containerd": _kubeadm, "desktop": _desktop,
}  # fmt: skip
"""The engine has no NVIDIA runtime: by box."""


# --- the driver's libraries do not reach the engine -----------------------------------------------------------------


_HOST_HAS = worded(r"driver version: *\d{3}\.|\bgpu 0: nvidia|\| nvidia-smi \d{3}\.")


def _microk8s_libraries(case: Asked) -> Ways:
    if _HOST_HAS.search(case.text):
        yield tried("The driver is the host's, and MicroK8s' toolkit looks for it below /run/nvidia/driver, where only the operator's own driver lies: set the add-on up anew for the host's", on.engine("sudo microk8s disable nvidia; sudo microk8s disable gpu; sudo microk8s enable nvidia --gpu-operator-driver host --gpu-operator-toolkit-version auto    # before 1.29: enable gpu --driver host"))  # fmt: skip
        yield rooted("Or correct the file that it wrote, and start MicroK8s again", on.engine("sudo sed -i 's#root = \"/run/nvidia/driver\"#root = \"/\"#' /usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml && sudo microk8s stop && sudo microk8s start"))  # fmt: skip


def _docker_libraries(case: Asked) -> Ways:
    if _HOST_HAS.search(case.text) and "wsl" not in case.tools:
        yield rooted("The host's driver works, so docker runs apart from it (Docker Desktop's machine, a snap), or the loader's list lacks it: use the machine's own engine, renew that list, and start docker again", on.host(f"docker context use default\nsudo ldconfig && ldconfig -p | grep libnvidia-ml.so.1\n{_DOCKER}\n{_TRY}"))  # fmt: skip


def _desktop_libraries(case: Asked) -> Ways:
    build = re.search(r"\b19\d{3}(?:\.\d+)?\b", case.text)
    old = f"Windows 10 {build[0]} has no GPU for WSL 2, which needs 21H2 (build 19044) or Windows 11: update Windows first; then" if build and build[0] < "19044" else "It needs Windows 11, or 10 from 21H2 on (winver shows it):"  # fmt: skip
    yield tried(f"{old} install NVIDIA's newest driver on Windows (nvidia.com/drivers), update WSL, stop it, and start Docker Desktop again, with its WSL 2 engine (Settings, General)", on.across("wsl --update && wsl --shutdown"))  # fmt: skip


LIBRARIES: Mapping[str, Way] = {
    "snap": _snap, "microk8s": _microk8s_libraries, "docker": _docker_libraries, "compose": _docker_libraries,
    "desktop": _desktop_libraries, "desktop_linux": _desktop_linux,
}  # fmt: skip
"""The driver's libraries do not reach the engine: by box."""


# --- CDI: the device is not described, or by the names of another driver --------------------------------------------


def _cdi(case: Asked) -> Ways:
    tool = "podman" if "podman" in case.tools or "Emulate Docker CLI" in case.text else "docker"
    mode = "--mode=csv " if "jetson" in case.tools else ""
    made = f"sudo nvidia-ctk cdi generate {mode}--output=/etc/cdi/nvidia.yaml && sudo chmod 644 /etc/cdi/nvidia.yaml && nvidia-ctk cdi list"
    known = mode or re.search(
        r"/etc/cdi/|nvidia-ctk (?:cdi|--version|config)|nvidia-container-toolkit[ -]\d", case.text
    )
    first = "" if known else f"{TOOLKIT_REPO}\n"
    how = ", from the lists that a Jetson has in place of a card's" if mode else ""
    begin = "Describe" if known else "Install NVIDIA's toolkit, then describe"
    text = f"{begin} the GPUs of this host for CDI{how}, and start the container anew; repeat it after every update of the driver"
    run = f"{tool} run --rm --device nvidia.com/gpu=all {named_image(case)} nvidia-smi"
    yield rooted(text, on.engine(f"{first}{made}\n{run}"))


def stale(case: Asked) -> Ways:
    """The description for CDI is of a driver before the update."""
    tool = "podman" if "podman" in case.tools else "docker"
    yield rooted("The description for CDI still names files of the driver before the update: write it anew (a second one in /var/run/cdi would win: delete it), and make the container again, because one that exists keeps its old mounts", on.engine(f"sudo rm -f /var/run/cdi/nvidia.yaml && sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml\n{tool} rm CONTAINER    # what it wrote outside of volumes goes with it: {tool} commit keeps it\n{tool} run --rm --device nvidia.com/gpu=all {named_image(case)} nvidia-smi"))  # fmt: skip
    yield rooted("For good: the toolkit's service writes it at each change, from 1.18 on", on.engine("sudo systemctl enable --now nvidia-cdi-refresh.path nvidia-cdi-refresh.service"))  # fmt: skip


def _cdi_of_desktop(case: Asked) -> Ways:
    yield tried("Pass the GPU by --gpus all: Docker Desktop's engine runs in a machine of its own, and reads no description for CDI of this distribution", on.linux(f"docker run --rm --gpus all {named_image(case)} nvidia-smi"))  # fmt: skip
    yield tried("Or, for CDI: an engine of the distribution's own, such as podman, with the description that is there", on.linux(f"podman run --rm --device nvidia.com/gpu=all {named_image(case)} nvidia-smi"))  # fmt: skip


CDI: Mapping[str, Way] = {
    "nixos": _nix,
    "desktop": _cdi_of_desktop,
    "podman": _cdi,
    "docker": _cdi,
    "rootless": _cdi,
    "": _cdi,
}
"""The device is not described for CDI: by box."""


# --- a container that has lost the device ---------------------------------------------------------------------------


_NO_CGROUPS = worded(r"\bno-cgroups ?= ?true")


def lost(case: Asked) -> Ways:
    """A container that has lost the device, or was never allowed it."""
    if _NO_CGROUPS.search(case.text) and box_of(case) not in ("rootless", "podman"):
        yield rooted("Set no-cgroups back to false, and start docker again: true is for engines without root, and with docker's own nobody then allows the device to the container", on.engine(f"sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups=false --in-place && sudo systemctl restart docker\n{_TRY}"))  # fmt: skip
    elif box_of(case) in CLUSTERS:
        yield tried("A reload of systemd on the node took the device from the running containers: make the pod anew", f"kubectl delete pod {pod_of(case.text)}")  # fmt: skip
        yield rooted("For good, on the node: make the links below /dev/char now and at every start, by which the runtime keeps the device allowed", on.host("sudo nvidia-ctk system create-dev-char-symlinks --create-all\necho 'ACTION==\"add\", DEVPATH==\"/bus/pci/drivers/nvidia\", RUN+=\"/usr/bin/nvidia-ctk system create-dev-char-symlinks --create-all\"' | sudo tee /etc/udev/rules.d/71-nvidia-dev-char.rules"))  # fmt: skip


# --- names of devices that do not exist -----------------------------------------------------------------------------


UNKNOWN = worded(r"device error: (?P<id>[^\n]*?): unknown device")
_MIG = worded(r"MIG \S+ +Device +\d+: \(UUID: (MIG-[0-9a-f-]{36})\)")


def unknown_device(case: Asked) -> Ways:
    """A device by a name or number that is not there."""
    found = UNKNOWN.search(case.text)
    if not found:
        return
    asked = found["id"].strip()
    listed = _MIG.findall(case.text)
    if "{" in asked:
        yield tried(f"{asked} reached docker as it is written: in compose.yaml a variable begins with $, also in device_ids", on.code(f'device_ids: ["${asked}"]' if asked.startswith("{") else f"device_ids: [\"{asked}\"]"))  # fmt: skip
    elif asked.startswith("MIG-") and listed and asked not in listed:
        others = f" (there are {len(listed)}: {', '.join(one[:12] + '…' for one in listed)})" if len(listed) > 1 else ""
        yield tried(f"The MIG device {asked} is not there any more: each new division of the card gives new identifiers, and drivers from 470 on the short form. Name one that nvidia-smi -L lists now{others}, where the old one stands (NVIDIA_VISIBLE_DEVICES, --gpus, device_ids, mig.uuid)", on.linux(f"docker run --rm --gpus '\"device={listed[0]}\"' {named_image(case)} nvidia-smi -L"))  # fmt: skip
    elif asked.isdigit():
        yield tried(f"There is no GPU {asked} on this host: numbers begin at 0; name one that nvidia-smi -L lists, or all", on.linux(f"nvidia-smi -L\ndocker run --rm --gpus all {named_image(case)} nvidia-smi -L    # compose: count: all in place of device_ids"))  # fmt: skip
    else:
        yield tried(f"No GPU of this host is called {asked}: put an identifier in its place that this lists (a card that was changed, or divided anew, has another)", on.linux(f"nvidia-smi -L\ndocker run --rm --gpus all {named_image(case)} nvidia-smi -L"))  # fmt: skip


# --- MIG --------------------------------------------------------------------------------------------------------------


def no_slices(case: Asked) -> Ways:
    """MIG is on, and nothing was divided."""
    plugin, found = plugin_of(case.text), re.search(r"/dev/nvidia(\d+)", case.text)
    card = found[1] if found else "0"
    again = f"\n{plugin.anew}" if "kubernetes" in case.tools or "plugin" in case.tools else ""
    yield rooted(f"MIG is on for GPU {card}, and no slice was made, so that nobody can use it: make some (nvidia-smi mig -lgip lists the sizes; 19 is the smallest of A100 and H100), which a restart of the machine undoes", on.host(f"sudo nvidia-smi mig -i {card} -cgi 19,19,19,19,19,19,19 -C && nvidia-smi -L{again}"))  # fmt: skip
    yield rooted("Or switch MIG off, where whole cards are wanted", on.host(f"sudo nvidia-smi -i {card} -mig 0 && sudo nvidia-smi --gpu-reset -i {card}{again}"))  # fmt: skip


def may_not_see_slices(case: Asked) -> Ways:
    """The plug-in may not ask for the slices of MIG."""
    plugin = plugin_of(case.text)
    patch = '{"spec":{"template":{"spec":{"containers":[{"name":"nvidia-device-plugin-ctr","securityContext":{"allowPrivilegeEscalation":true,"capabilities":{"drop":[],"add":["SYS_ADMIN"]}}}]}}}}'
    yield tried("A card with MIG lets only those ask for its slices who may monitor them: give the plug-in that right, by its variable and the capability that goes with it", on.linux(f"kubectl -n {plugin.namespace} set env daemonset/{plugin.daemonset} NVIDIA_MIG_MONITOR_DEVICES=all\nkubectl -n {plugin.namespace} patch daemonset {plugin.daemonset} -p '{patch}'"))  # fmt: skip


# --- rights -----------------------------------------------------------------------------------------------------------


_ENFORCED = worded(r"\bEnforcing\b|\bselinux\b|\bavc: +denied|\bFedora\b|\bRHEL\b|Red Hat|CentOS|Rocky|AlmaLinux")
_OF_GROUP = worded(r"\bcrw-rw---- +\d+ root (\w+) [^\n]*?/dev/nvidia")


def rights(case: Asked) -> Ways:
    """The device files, or SELinux, refuse the container."""
    group = _OF_GROUP.search(case.text)
    tool = "podman" if "podman" in case.tools else "docker"
    device = "--device nvidia.com/gpu=all" if tool == "podman" else "--gpus all"
    if group and tool == "docker":
        number = group[1] if group[1].isdigit() else f"$(getent group {group[1]} | cut -d: -f3)"
        yield tried(f"The device files belong to the group {group[1]}: give the container's user that group, by its number", on.linux(f"docker run --rm --gpus all --group-add {number} {named_image(case)} nvidia-smi    # compose: group_add"))  # fmt: skip
    elif group:
        inside = "--group-add keep-groups"
        yield rooted(f"The device files belong to the group {group[1]}: join it, log in anew, and let the container keep your groups", on.host(f"sudo usermod -aG {group[1]} $USER    # then log out and in\n{tool} run --rm {device} {inside} --security-opt=label=disable {named_image(case)} nvidia-smi"))  # fmt: skip
    elif _ENFORCED.search(case.text) and "label=disable" not in case.text:
        yield tried("SELinux keeps containers from the device files: start it without its label", on.linux(f"{tool} run --rm {device} --security-opt=label=disable {named_image(case)} nvidia-smi    # compose: security_opt: [label=disable]"))  # fmt: skip
        yield rooted("Or let all containers use devices that are passed to them", on.host("sudo setsebool -P container_use_devices on"))  # fmt: skip


# --- scheduling ------------------------------------------------------------------------------------------------------


TAINT = worded(
    r"untolerated taint \{(?P<key>[\w./-]+): ?(?P<value>[\w.-]*)\}|had taint \{(?P<key2>[\w./-]+): ?(?P<value2>[\w.-]*)\}"
)


def tolerated(case: Asked) -> Ways:
    """A taint that the pod does not tolerate."""
    found = TAINT.search(case.text)
    if found:
        key = found["key"] or found["key2"]
        yield tried(f"The node has the taint {key}, which keeps pods away that do not tolerate it: let this one, and ask for the GPU, in its manifest", on.code(f"tolerations: [{{key: {key}, operator: Exists}}]    # in spec\nresources: {{limits: {{nvidia.com/gpu: 1}}}}    # in the container's part"))  # fmt: skip


_IDLE = worded(r"\bnvidia-device-plugin\S* +0 +0 +0\b|DESIRED\s+0\b|desired=0")
_TAINTED = worded(r"Taints: +([\w./-]+)=?([\w.-]*):(NoSchedule|NoExecute)")


def unoffered(case: Asked) -> Ways:
    """No node offers a GPU: by what keeps the plug-in away, or by the runtime that it starts under."""
    found = _TAINTED.search(case.text)
    if not found or not _IDLE.search(case.text):
        yield from _daemon(case)
        return
    node, plugin = node_of(case.text), plugin_of(case.text)
    yield tried(f"The plug-in runs on no node (0 wanted): the taint {found[1]} keeps what labels the GPU nodes away from them, and it goes only where the label is. Give that label by hand", on.linux(f"kubectl label node {node} feature.node.kubernetes.io/pci-10de.present=true nvidia.com/gpu.present=true --overwrite\nkubectl -n {plugin.namespace} get daemonset {plugin.daemonset}"))  # fmt: skip
    yield tried("For good: let the chart's node feature discovery tolerate it", on.linux(f"helm upgrade nvdp nvdp/nvidia-device-plugin -n {plugin.namespace} --reuse-values --set-json 'nfd.worker.tolerations=[{{\"key\":\"{found[1]}\",\"operator\":\"Exists\"}}]'"))  # fmt: skip


def booked(case: Asked) -> Ways:
    """GPUs that kubelet holds for booked."""
    plugin, pod = plugin_of(case.text), pod_of(case.text)
    yield tried("The node's kubelet holds its GPUs for booked, or the plug-in had not yet offered them again when the pod came (after a restart of node, kubelet or plug-in): start the plug-in anew, and delete the failed pod, which stays so", on.linux(f"{plugin.anew}\nkubectl delete pod {pod}    # its controller makes another; else apply its manifest again"))  # fmt: skip
    yield rooted("Where the node still offers none: on it, have kubelet forget its bookings", on.host("sudo systemctl stop kubelet && sudo rm /var/lib/kubelet/device-plugins/kubelet_internal_checkpoint && sudo systemctl start kubelet"))  # fmt: skip


def on_a_jetson(case: Asked) -> Ways:
    """A board whose docker lost, or never had, NVIDIA's runtime."""
    if _UNKNOWN_RUNTIME.search(case.text) or "could not select device driver" in case.text:
        yield rooted("Install JetPack's own container packages on the board, register the runtime, and start docker again (no driver of a server)", on.engine(f"sudo apt-get update && sudo apt-get install -y nvidia-container nvidia-container-toolkit\n{_DOCKER}\ndocker run --rm --runtime nvidia {named_image(case)} true"))  # fmt: skip
