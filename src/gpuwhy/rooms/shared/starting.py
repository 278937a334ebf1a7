"""How each kind of container is given the GPU: the fixes of container.no_gpu and, inside, of driver.permission."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.cause import Fix

TOOLKIT = on.linux("sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker")
SPEC = on.linux("sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml")
COMPOSE = on.code("deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}")
_HOST = Fix("On the host, check that the driver works there", "nvidia-smi", safe=True, role="look")
_LXC = Fix(
    "Give the container the GPU",
    on.linux("lxc config device add NAME gpu gpu && lxc config set NAME nvidia.runtime true"),
)
_NSPAWN = Fix(
    "Start it with the nodes and the driver's libraries",
    on.linux(
        "systemd-nspawn --bind=/dev/nvidiactl --bind=/dev/nvidia-uvm --bind=/dev/nvidia0 "
        "--bind-ro=/usr/lib/x86_64-linux-gnu/libcuda.so.1 --property='DeviceAllow=/dev/nvidiactl rw' "
        "--property='DeviceAllow=/dev/nvidia-uvm rw' --property='DeviceAllow=/dev/nvidia0 rw' …"
    ),
)


def with_gpu(where: str, capabilities: str) -> tuple[Fix, ...]:
    """Start this kind of container with a GPU; `capabilities` is what NVIDIA_DRIVER_CAPABILITIES says now."""
    if where == "kubernetes":
        return _pod()
    if where == "singularity":
        return Fix(
            "Start it with the host's driver", on.linux("apptainer exec --nv IMAGE COMMAND    # or singularity")
        ), _HOST
    if where == "podman":
        device = Fix("Start the container with the GPU", "podman run --device nvidia.com/gpu=all IMAGE")
        return device, Fix("Describe the GPUs to podman first, on the host", SPEC, root=True), _HOST
    if where in ("lxc", "incus", "lxd"):
        return _LXC, _HOST
    if where == "systemd-nspawn":
        return _NSPAWN, _HOST
    if where == "image":
        return _built(capabilities)
    caps = " -e NVIDIA_DRIVER_CAPABILITIES=compute,utility" if capabilities else ""
    return (
        Fix("Start the container with the GPU", f"docker run --gpus all{caps} IMAGE"),
        Fix("With Compose, in the service", COMPOSE),
        Fix("If docker does not know --gpus, set the NVIDIA runtime up on the host", TOOLKIT, root=True),
        _HOST,
    )


def _built(capabilities: str) -> tuple[Fix, ...]:
    """What the image's own Dockerfile should say."""
    if capabilities and not {"compute", "all"} & set(capabilities.split(",")):
        lines = on.dockerfile(f"ENV NVIDIA_DRIVER_CAPABILITIES=compute,{capabilities}")
    else:
        lines = on.dockerfile("ENV NVIDIA_VISIBLE_DEVICES=all")
    return (Fix("In the Dockerfile, then build the image again", lines, safe=True),)


def _pod() -> tuple[Fix, ...]:
    manifest = on.code("spec: {containers: [{name: NAME, image: IMAGE, resources: {limits: {nvidia.com/gpu: 1}}}]}")
    return (
        Fix("Ask for a GPU in the pod's manifest", manifest),
        Fix("Check that the node offers GPUs", "kubectl describe nodes | grep nvidia.com/gpu", safe=True, role="look"),
        Fix("If the cluster has a runtime class, set it in the pod's spec", on.code("runtimeClassName: nvidia")),
    )


def with_nodes(where: str, denied: str, nodes: tuple[str, ...]) -> tuple[Fix, ...]:
    """For nodes that refuse: `denied` is EACCES (file modes, groups), EPERM (device rules), or "" where they lack."""
    if where == "podman" and denied == "EACCES":
        command = "podman run --device nvidia.com/gpu=all --group-add keep-groups --security-opt label=disable IMAGE"
        return Fix("Rootless podman: keep your groups, which own the nodes", command), *_described()
    if denied == "EPERM":
        return _revoked(where)
    if where == "docker" and denied == "EACCES":
        command = "docker run --gpus all --group-add video --group-add render IMAGE"
        return (Fix("Start the container in the groups that own the nodes", command),)
    if where in ("docker", "podman"):
        devices = " ".join(f"--device {node}" for node in nodes)
        given = "--gpus all" if where == "docker" else "--device nvidia.com/gpu=all"
        return (Fix("Start the container again with these nodes", f"{where} run {given} {devices} IMAGE"),)
    return with_gpu(where, "")


def _described() -> tuple[Fix, ...]:
    return (Fix("Describe the GPUs to podman first, on the host", SPEC, root=True),)


def _revoked(where: str) -> tuple[Fix, ...]:
    """The device rules are the engine's; systemd forgets them where it was not told of the nodes."""
    lasting = Fix(
        "Permanently, on the host: make links in /dev/char, by which systemd finds the device files",
        on.linux("sudo nvidia-ctk system create-dev-char-symlinks --create-all"),
        root=True,
    )
    if where == "kubernetes":
        return Fix("Start the pod again", "kubectl delete pod NAME    # its controller makes a new one"), lasting
    if where in ("docker", "podman"):
        cdi = Fix(
            "Or start it through CDI, which a reload does not touch", f"{where} run --device nvidia.com/gpu=all IMAGE"
        )
        return Fix("Start the container again", f"{where} restart NAME"), lasting, cdi
    return with_gpu(where, "")
