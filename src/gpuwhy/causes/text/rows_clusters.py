"""Rows, clusters and boards: the pods of the GPU operator, what schedulers and engines say, Jetson's own libraries."""

from __future__ import annotations

from gpuwhy.causes.text.situations import UNSEEN, Situation, situation
from gpuwhy.model import on

_ALL = "driver. container. device. other. env. framework. install. program. cuda. memory.host"
_NODE = "kubectl describe node NODE"

CLUSTERS: tuple[Situation, ...] = (
    situation("container. device. other.", (r"Insufficient nvidia\.com/gpu", r"nvidia\.com/mig-(?P<part>[\w.]+)"),
              ("The nodes offer slices of a GPU (MIG), by their own names, and no whole one: ask for a slice, by the name that the node lists", on.code("resources: {limits: {nvidia.com/mig-1g.10gb: 1}}")),
              ("Or let the plug-in offer whole names for equal slices (MIG strategy single), or switch MIG off on the node", on.linux("kubectl patch clusterpolicies.nvidia.com/cluster-policy --type=merge -p '{\"spec\":{\"mig\":{\"strategy\":\"single\"}}}'"))),
    situation("container. device. other.", r"untolerated taint|had taint",
              ("The GPU nodes have a taint: let the pod tolerate it, in its manifest", on.code("tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]")),
              ("And ask for the GPU itself", on.code("resources: {limits: {nvidia.com/gpu: 1}}"))),
    situation(_ALL, r"UnexpectedAdmissionError|no healthy devices|unhealthy devices",
              ("The device plug-in holds the node's GPUs for unhealthy: see nvidia-smi and the kernel log there (an Xid), restart the node where the card fails, else start the plug-in anew", "kubectl -n kube-system rollout restart daemonset nvidia-device-plugin-daemonset"),
              ("Then make the pod anew: one that was refused stays failed", "kubectl delete pod POD")),
    situation(_ALL, (r"gpu-operator|nvidia-driver-|validat|container-toolkit", r"symlinks under /dev/char|creating symlinks|invalid device node"),
              ("The operator's validator cannot make links below /dev/char, which this driver does not need: switch that step off", on.linux("kubectl patch clusterpolicies.nvidia.com/cluster-policy --type=merge -p '{\"spec\":{\"validator\":{\"driver\":{\"env\":[{\"name\":\"DISABLE_DEV_CHAR_SYMLINK_CREATION\",\"value\":\"true\"}]}}}}'")),
              ("Or bring the driver on the node in order: nvidia-smi must work there, and /dev/nvidiactl exist", on.host("sudo nvidia-modprobe -u -c=0 && nvidia-smi"))),
    situation(_ALL, r"Key was rejected by service|Required key not available",
              ("Secure Boot refuses the driver's module, which nobody signed for this machine: enrol the key, or switch Secure Boot off in the firmware of the machine or node, and restart", on.host("sudo mokutil --import /var/lib/shim-signed/mok/MOK.der && sudo reboot")),
              ("Or take the distribution's own signed driver in place of NVIDIA's installer or the operator's", on.host("sudo apt install linux-modules-nvidia-550-$(uname -r) nvidia-driver-550"))),
    situation(_ALL, r"entitlement may be improperly|RHEL entitlement",
              ("OpenShift: the driver's pod may not read Red Hat's packages: give the cluster an entitlement, or use the operator's driver toolkit of an OpenShift 4.10 or newer, which needs none", on.linux("oc get -n openshift is/driver-toolkit && oc -n nvidia-gpu-operator delete pod -l app=nvidia-driver-daemonset"))),
    situation(_ALL, (r"dcgm", r"(?:profiling module|watching fields|watch metrics)[^\n]*"),
              ("The profiling counters of DCGM are taken or not there for this card: leave its profiling metrics (DCGM_FI_PROF_…) out of the exporter's list; only one process may use them (no nsight, no second DCGM)", on.linux("kubectl -n gpu-operator set env daemonset/nvidia-dcgm-exporter DCGM_EXPORTER_COLLECTORS=/etc/dcgm-exporter/default-counters.csv")),
              ("And give DCGM the release that knows the driver: update the operator", on.linux("helm upgrade gpu-operator nvidia/gpu-operator -n gpu-operator --reuse-values"))),
    situation(_ALL, r"failed to add device rules|bpf_prog_query|unable to find any existing device filters|set device cgroup|cgroup subsystem devices not found",
              ("Without root the container tool may not set device rules in cgroups: let it leave them alone", on.host("sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups=true --in-place")),
              ("And configure the rootless engine, as that user", on.linux("nvidia-ctk runtime configure --runtime=docker --config=$HOME/.config/docker/daemon.json && systemctl --user restart docker"))),
    situation(_ALL, r"ldcache error|/sbin/ldconfig\.real: no such file",
              ("The container tool looks for ldconfig.real, which this host does not have (no Ubuntu): name the host's own", on.host("sudo nvidia-ctk config --set nvidia-container-cli.ldconfig=@/sbin/ldconfig --in-place && sudo systemctl restart docker")),
              ("Where it is the image that lacks ldconfig (Alpine, distroless): take one with glibc", on.dockerfile("FROM debian:12-slim"))),
    situation(_ALL, r"exec format error|platform \(linux/arm64[^\n]*does not match|platform \(linux/amd64[^\n]*does not match",
              ("The image is for another processor (arm64 against amd64): pull or build it for this one", "docker build --platform linux/amd64 -t IMAGE .    # a Jetson, Grace or Mac: linux/arm64"),
              ("Or take the tag that has both", "docker manifest inspect IMAGE"), alone=True),
    situation("device.selection driver. container. framework. cuda.", (r"^\s*#\d+ |=> ERROR|did not complete successfully|^Step \d+/\d+|/bin/sh -c|\bRUN ", r"No CUDA GPUs|no (?:CUDA|NVIDIA) (?:GPU|driver|device)|is_available|no CUDA-capable|libcuda"),
              ("While an image is built there is no GPU: give the architectures by hand, and do what needs the GPU when the container runs", on.dockerfile('ENV TORCH_CUDA_ARCH_LIST="7.5;8.0;8.6;8.9;9.0+PTX" FORCE_CUDA=1')),
              ("Then start it with the GPU", "docker run --gpus all IMAGE"), unless=r"\b(?:docker|podman|nerdctl)(?: container)? run\b"),
    situation("driver.library_mismatch", (r"singularity|apptainer|\.sif\b", r"--nv\b"),
              ("In the container another libnvidia-ml is found before the host's: of the image, of a module, or of LD_LIBRARY_PATH. Put the host's first, in the container", on.linux("export LD_LIBRARY_PATH=/.singularity.d/libs:$LD_LIBRARY_PATH")),
              ("Or have such a copy deleted from the image when it is built", on.linux("find / -name 'libnvidia-ml.so*' -not -path '/.singularity.d/*' 2>/dev/null"))),
    situation(UNSEEN, r"Could not find any nv files|no nv files",
              ("--nv finds the host's driver by its list of libraries (ldconfig) and this host has none there: name the tool that does, NVIDIA's container toolkit, or the driver's folder", on.linux("apptainer exec --nvccli IMAGE.sif nvidia-smi    # or: --bind /run/opengl-driver (NixOS)")),
              ("Or set the folder for --nv to look in, in its nvliblist.conf, and renew the host's list", on.linux("sudo ldconfig && ldconfig -p | grep libcuda.so.1"))),
    situation("container.no_gpu", (r"podman", r"(?:podman )?version (?:[123]\.|4\.0)"),
              ("This podman does not know CDI (from 4.1 on): update it; Ubuntu 22.04's own is 3.4. Until then use docker, or NVIDIA's hook", on.linux("sudo podman run --rm --hooks-dir=/usr/share/containers/oci/hooks.d --security-opt=label=disable nvidia/cuda:12.4.1-base-ubuntu22.04 nvidia-smi")),
              ("After the update: describe the GPUs for CDI, then pass one", on.linux("sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml && podman run --rm --device nvidia.com/gpu=all ubuntu nvidia-smi"))),
    situation("env.limit", (r"\bdocker\b|failed to register layer|buildkit|containerd", r"no space left"),
              ("Docker's own disk is full: remove images and layers that no container uses (they are pulled anew when needed; volumes stay)", "docker system prune --all"),
              ("Docker Desktop: enlarge or move its disk (Settings, Resources, Disk image); on Linux: data-root of /etc/docker/daemon.json on a larger one", "docker system df")),
    situation("cuda. framework. install. cudnn. env.path", r"torchvision::nms|torchvision[^\n]{0,60}(?:incompatible|no such operator|does not exist)|undefined symbol[^\n]*torchvision|_C\.so[^\n]*undefined",
              ("Jetson: pip's torchvision is not built against NVIDIA's torch: remove it, and build the release that belongs to that torch on the board", on.linux("pip uninstall -y torchvision && git clone --branch v0.18.0 https://github.com/pytorch/vision && cd vision && python3 setup.py install --user    # torch 2.1: v0.16.1, 2.0: v0.15.1, 1.10: v0.11.1")),
              ("Or take both from one place, with JetPack 6", on.linux("pip install --force-reinstall torch torchvision --index-url https://pypi.jetson-ai-lab.io/jp6/cu126")), place="jetson"),
    situation("cuda. env.path", r"libcusparseLt",
              ("Jetson: NVIDIA's torch from 24.06 on wants cuSPARSELt, which JetPack 6.0 does not have: install it (NVIDIA's page of cuSPARSELt, aarch64-jetson)", on.linux("sudo apt install libcusparselt0 libcusparselt-dev && sudo ldconfig    # its repository first: the page of cuSPARSELt has the line"))  , place="jetson"),
    situation("other. device. driver. env. program.", r"nvargus|\(Argus\)",
              ("Jetson: the camera's service has stopped: start it again, and see the cable and the sensor's mode", on.host("sudo systemctl restart nvargus-daemon")), place="jetson"),
)  # fmt: skip
"""The first that holds stands first."""
