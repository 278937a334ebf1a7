"""Boxes: what starts the containers that a text is from, and the names it has there: engine, kind of cluster, sandbox, pods and their plug-in."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.told_names import image_of
from gpuwhy.rooms.text.ways import tried

_FLAGS = re.IGNORECASE | re.MULTILINE


def worded(pattern: str) -> Later:
    """Words of a text, whatever their case; ^ and $ are those of a line."""
    return Later(pattern, _FLAGS)


_BOXES: tuple[tuple[str, Later], ...] = (
    ("snap", worded(r"\bsnap (?:list|install|services|info|changes)\b[^\0]{0,300}?\bdocker\b"
                    r"|/(?:var/)?snap/(?:bin/)?docker|snap\.docker"
                    r"|docker[^\n]{0,30}\b(?:from|by|via|as a|\() ?snap\b")),
    ("desktop_linux", worded(r"\bdesktop-linux \*[^\n]*unix://|/\.docker/desktop/|systemctl --user \w+ docker-desktop|docker desktop (?:for|on) linux")),
    ("nixos", worded(r"\bNixOS\b|\bnixos-(?:rebuild|version)|/nix/store/|configuration\.nix|hardware\.nvidia-container-toolkit")),
    ("microk8s", worded(r"\bmicrok8s\b")),
    ("k3s", worded(r"\bk3s\b|\bk3d\b|rancher/k3s|\+k3s\d")),
    ("rke2", worded(r"\brke2\b")),
    ("k0s", worded(r"\bk0s\b|\+k0s\b|\bk0s(?:worker|controller)\b")),
    ("kind", worded(r"\bkind (?:create|get|load|delete)\b|kindest/node|kind-control-plane")),
    ("minikube", worded(r"\bminikube\b")),
    ("openshift", worded(r"\bopenshift\b|(?:^|[$#]) ?oc (?:get|describe|logs|adm|project|apply)\b|runtime list map\[crun")),
    ("dockershim", worded(r"docker://\d|\bcri-dockerd\b|\bdockershim\b")),
    ("crio", worded(r"\bcri-o\b|\bcrio\b|cri-o://")),
    ("gke", worded(r"\bGKE\b|\bgke-[\w-]+|cos-containerd|Container-Optimized OS")),
    ("eks", worded(r"\bEKS\b|\beksctl\b|\.eks\.amazonaws|amazon-eks|-eks-[0-9a-f]{6,}")),
    ("aks", worded(r"\bAKS\b|\baks-\w+|\baz aks\b")),
    ("enroot", worded(r"\bpyxis\b|\benroot\b|--container-image[ =]")),
    ("lxc", worded(r"\blxc\b|\blxd\b|\bincus\b|\bproxmox\b|\bpct (?:enter|exec|start)|/etc/pve/")),
    ("singularity", worded(r"\bsingularity\b|\bapptainer\b|\.sif\b")),
    ("rootless", worded(r"\brootless\b|/run/user/\d+/docker|dockerd-rootless|user\.slice/devices")),
)  # fmt: skip
"""The first whose words stand in a text; after them what the tools tell."""


def box_of(case: Asked) -> str:
    """What starts containers there; "" where a text tells of none."""
    named = next((name for name, words in _BOXES if words.search(case.text)), "")
    if (case.windows or ("wsl" in case.tools and _DESKTOP.search(case.text))) and named in ("", *_OF_LINUX):
        return "desktop" if case.tools & {"docker", "compose", "container"} else ""
    if named == "rootless" and "podman" in case.tools:
        return "podman"
    if named:
        return named
    if any(map(case.reading.has, ("container.plugin", "container.k8s", "container.unhealthy"))):
        return "containerd"
    return next((box for tool, box in _TOOLS if tool in case.tools), "")


_DESKTOP = worded(r"\bDocker Desktop\b|\bdocker-desktop\b")
_OF_LINUX = ("desktop_linux", "snap", "dockershim")
_TOOLS = (("kubernetes", "containerd"), ("plugin", "containerd"), ("containerd", "containerd"), ("podman", "podman"), ("compose", "compose"), ("docker", "docker"), ("container", "docker"))  # fmt: skip

CLUSTERS = frozenset({"microk8s", "k3s", "rke2", "k0s", "kind", "minikube", "openshift", "dockershim", "crio", "gke", "eks", "aks", "containerd"})  # fmt: skip
"""The boxes whose containers are pods."""


class Plugin(msgspec.Struct, frozen=True):
    """Where NVIDIA's device plug-in runs in a cluster."""

    namespace: str = "kube-system"
    daemonset: str = "nvidia-device-plugin-daemonset"

    @property
    def anew(self) -> str:
        """The command that starts its pods again."""
        return f"kubectl -n {self.namespace} rollout restart daemonset {self.daemonset}"


_OF_PLUGIN = Later(r"\b(nvidia-device-plugin[a-z0-9-]*?|nvdp-nvidia-device-plugin[a-z0-9-]*?)-[a-z0-9]{5}\b(?!-)")
_SET = Later(r"\b(?:ds|daemonsets?)(?:\.apps)?[ /](?:-n \S+ )?(nvidia-device-plugin[a-z0-9-]*|nvdp-[a-z0-9-]+)")
_NAMESPACE = Later(r"(?:-n|--namespace)[ =]([a-z0-9-]+)[^\n]*(?:nvidia|plug-?in|gpu)|(?:nvidia|plug-?in|gpu)[^\n]*(?:-n|--namespace)[ =]([a-z0-9-]+)")  # fmt: skip


def plugin_of(text: str) -> Plugin:
    """The plug-in by the names of its pods, as a text shows them; else as NVIDIA's own manifest calls it."""
    pod, spoken, named = _OF_PLUGIN.search(text), _SET.search(text), _NAMESPACE.search(text)
    operator = "gpu-operator-resources" if "gpu-operator-resources" in text else "gpu-operator"
    usual = operator if re.search(r"\bgpu-operator\b|clusterpolic", text) else "kube-system"
    found = pod or spoken
    return Plugin((named[1] or named[2]) if named else usual, found[1] if found else Plugin().daemonset)


_POD = Later(r"kubectl (?:-n \S+ |--namespace[ =]\S+ )?(?:describe|logs|get|exec|delete)(?: -\w+)* (?:pods?[ /])?(?:-n \S+ )?((?!pods?\b|nodes?\b|nvidia-|-)[a-z0-9][a-z0-9.-]*[a-z0-9])(?: |$)", re.MULTILINE)  # fmt: skip
_ROW = Later(r"^((?!nvidia-|gpu-)[a-z0-9][a-z0-9.-]+) +\d+/\d+ +(?:UnexpectedAdmissionError|Pending|CrashLoopBackOff|Error|Failed|ContainerCreating|RunContainerError|Unknown)", re.MULTILINE)  # fmt: skip


def pod_of(text: str) -> str:
    """The pod that a text is about, as it is named there; POD where it is not."""
    found = _ROW.search(text) or _POD.search(text)
    return found[1] if found else "POD"


_NODE = Later(r"kubectl (?:describe|cordon|drain|get|label|taint) nodes? ([a-z0-9][\w.-]*[a-z0-9])|^Node: +([a-z0-9][\w.-]*?)(?:/|\s|$)", re.MULTILINE)  # fmt: skip


def node_of(text: str) -> str:
    """The node that a text names; NODE where it names none."""
    found = _NODE.search(text)
    return (found[1] or found[2]) if found else "NODE"


CLASS = "printf 'apiVersion: node.k8s.io/v1\\nkind: RuntimeClass\\nmetadata: {name: nvidia}\\nhandler: nvidia\\n' | kubectl apply -f -"
"""The class by which pods name NVIDIA's runtime."""


def named_image(case: Asked) -> str:
    """The image that the text starts, else Ubuntu's, which brings nothing of its own."""
    return image_of(case.text)[1] or "ubuntu"


def rooted(text: str, command: str) -> Fix:
    """A fix that needs root where its command says so."""
    return tried(text, command, root="sudo" in command)
