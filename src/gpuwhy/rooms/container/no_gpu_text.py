"""container.no_gpu in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re

from gpuwhy.knowledge.messages import NO_ANSWER, NO_DRIVER, NO_GPU
from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.around import around, handed_over, started_bare
from gpuwhy.rooms.text.common import nothing_else, said_of
from gpuwhy.rooms.text.conditions import all_of, alone, asks, field, in_container, line, no, wants, with_
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.remedies import BAKED, CDI, CONTAINERD, CONTAINERD_DEFAULT, DOCKER_DEFAULT, TOOLKIT
from gpuwhy.rooms.text.room import Text

_UNSKIPPED = no(with_("loader.tf_skip"))

_OF_CONTAINERD = line("sandbox|containerd|runtimehandler|rpc error")


def _in_pod(s: Symptom, r: Reading) -> bool:
    return "kubernetes" in around((s,), r)


_BATCH = re.compile(r"#SBATCH|\bsrun\b|\bsalloc\b|\bsbatch\b|SLURM_JOB|slurmstepd")
_ASKED_FOR = re.compile(r"--gres[= ]|--gpus|#SBATCH -G|\s-G ?\d|gres/gpu|CUDA_VISIBLE_DEVICES[=:] ?\d")


def _ungiven(_: Symptom, r: Reading) -> bool:
    """A job of Slurm's that asks for no GPU."""
    return bool(_BATCH.search(r.excerpt)) and not _ASKED_FOR.search(r.excerpt)


def _by_hand(_: Symptom, r: Reading) -> bool:
    """Device files are passed to docker run, and the GPU is not."""
    passed = re.search(r"docker run [^\n]*--device[= ]/dev/nvidia", r.excerpt)
    return passed is not None and not re.search(r"docker run [^\n]*--(?:gpus|runtime)", r.excerpt)


def _host_has(_: Symptom, r: Reading) -> bool:
    """nvidia-smi is shown to work where the engine is."""
    return (
        re.search(
            r"driver version: *\d{3}\.|gpu 0: nvidia|\| nvidia-smi \d{3}|nvidia-smi (?:itself )?works",
            r.excerpt,
            re.IGNORECASE,
        )
        is not None
    )


_PLAIN_RUN = all_of(in_container, no(handed_over))
_SERVICES = re.compile(r"^services:\s*\n[^\0]*?^ +image: ?\S", re.MULTILINE)
_LIMITS = re.compile(r"\"limits\": ?\{|^ *limits:\s*$|^ +Limits:\s*$", re.MULTILINE | re.IGNORECASE)
_A_GPU = re.compile(
    r"\bdevices:|runtime: ?\"?nvidia|^ +gpus: |--gpus|capabilities:|default-runtime|nvidia\.com/gpu", re.MULTILINE
)


def _asks_for_none(_: Symptom, r: Reading) -> bool:
    """The manifest that starts the container stands in the text, a compose file or a pod's limits, and asks for no GPU."""
    shown = _SERVICES.search(r.excerpt) or _LIMITS.search(r.excerpt)
    return shown is not None and not _A_GPU.search(r.excerpt)


_NOT_GIVEN = all_of(in_container, lambda s, r: _asks_for_none(s, r) or started_bare(s, r))

TEXT = Text(
    "container.no_gpu",
    signatures=(
        error("remark.no_accelerator",
              r"\b(?:runtime type|hardware accelerator|accelerator)[^\w\n(]{1,3}(?:none|cpu)\b(?! ?[=(.\[])"
              r"|\b(?:docker|image|podman) builds?\b[^\n]{0,30}\b(?:has no|have no|without|sees? no|cannot see"
              r"|no access to)\b[^\n]{0,12}\bgpus?\b"
              r"|\bno gpus? (?:is |are )?(?:available )?(?:during|while|in|at) (?:the |a )?(?:docker "
              r"|image )?build\b", "runtime type", "accelerator", " build", "docker build", covers=("title.",)),
        error("container.no_driver_select", r"could not select device driver", "could not select device driver"),
        error("container.no_runtime", r"(?:unknown|invalid)[^\n]*runtime(?: name)?[^\n]*nvidia|nvidia-container-runtime[^\n]*(?:not found|no such file"
              r"|executable file not found)|runtime \"?nvidia\"?[^\n]*(?:not found|unknown)"
              r"|runtimehandler \"?nvidia\"? not supported|no runtime for \"?nvidia"
              r"|nvidia-docker[^\n]*(?:not found|deprecated)",
              "runtime name", "nvidia-container-runtime", "runtime: nvidia", "runtime nvidia", "\"nvidia\"", "nvidia-docker", "unknown runtime", "runtimehandler"),
        error("container.cdi",
              r"unresolvable cdi devices|stat nvidia\.com/gpu=[^\n]*no such file|cdi device injection failed"
              r"|nvidia\.com/gpu[^\n]*(?:cdi|unresolvable)|cdi[^\n]*nvidia\.com/gpu|failed to stat cdi host device"
              r"|cdi devices: failed to inject",
              "unresolvable cdi", "cdi device", "nvidia.com/gpu", "cdi host device"),
        error("container.stale", r"(?:crun|runc|oci|cdi|podman|docker|containerd)[^\n]*\b\w*(?:stat|mount|open"
              r"|bind)\w*\b[^\n]*\.so\.(?P<version>\d{3}\.\d+(?:\.\d+)?)[^\n]{0,40}no such file", "no such file",
              covers=("container.", "loader.", "title.")),
        error("container.reserved", r"devices\.\d+ capabilities is required|\d/\d: no suitable node[^\n]*resources", "capabilities is required", "no suitable node"),
        error("container.unhealthy", r"unexpectedadmissionerror|no healthy devices present|cannot allocate unhealthy devices", "unexpectedadmission", "healthy devices"),
        error("container.entitlement", r"rhel entitlement may be improperly", "rhel entitlement"),
        error("container.of_windows",
              r"no matching manifest for windows|image operating system \"linux\" cannot be used on this platform",
              "matching manifest for windows", "image operating system", covers=("container.generic",)),
        error("container.no_integration",
              r"'docker'? could not be found in this wsl|activate the wsl integration in docker desktop",
              "could not be found in this wsl", "wsl integration in docker"),
        error("container.generic", r"oci runtime (?:create failed|error)|error response from daemon"
              r"|failed to create (?:shim|task|containerd)", "oci runtime create", "oci runtime error",
              "response from daemon", "failed to create shim", "failed to create task"),
    ),
    clues=(
        ("cuda.stub_library", 7.4, "the container was started without the GPU, and the image's own stub of libcuda answers", _NOT_GIVEN),
        ("cuda.insufficient_driver", 5.6, "the container was started without the GPU, and error 35 says that it has no driver", _NOT_GIVEN),
        ("tf.dso_mismatch", -1.6, "the container was given the GPU, and its libcuda is another than the kernel module's", all_of(in_container, handed_over)),
        ("remark.no_accelerator", 4.4, "this session, or the building of an image, has no GPU"),
        ("remark.vm", 4.0, "a virtual machine, or a build service, has no GPU of its own", with_("cuda.", "torch.",
            "tf.", "jax.", "nvidia.", "title.", "said.no_device", "generic.")),
        ("remark.not_given", 4.4, "the text says that the container was started without the GPU", with_("cuda.",
            "torch.", "tf.", "jax.", "nvidia.", "title.", "said.no_device", "generic.", "loader.")),
        ("told.outside", 4.0, "outside the container it works", with_("cuda.", "torch.", "tf.", "jax.", "nvidia.", "title.", "said.no_device", "generic.")),
        ("said.video", 3.0, "the driver's library for video is in a container only with the capability video"),
        ("torch.webui", 4.4, "vLLM finds no GPU in the container", all_of(line("infer device type|no platform detected"), in_container)),
        ("torch.webui", 2.6, "vLLM finds no GPU, as in a container without one", line("infer device type")),
        ("said.no_device", 2.4, "the program finds no GPU, as in a container without one"),
        ("said.no_device", 3.4, "the program finds no GPU, as in a container without one", in_container),
        ("loader.cudarc", 2.2, "libcuda is in a container only if it was started with the NVIDIA runtime", field("library", "^(?:nv)?cuda$")),
        ("numba.versions", 1.5, "if this is a container, it was started without the GPU"),
        ("title.root_only", 1.6, "another user has no access to the GPU in the container", in_container),
        ("container.ray", 3.6, "Ray was told of GPUs that its process does not have"),
        ("container.no_integration", 5.0, "Docker Desktop is not linked to this distribution of WSL, or does not run"),
        ("container.baked", 2.6, "the runtime cannot mount the driver's files: they are there already"),
        ("generic.no_compatible", 3.6, "no GPU is found in the container", in_container),
        ("container.plugin", 4.4, "the device plug-in was started without the NVIDIA runtime"),
        ("container.smi_missing", 3.6, "nvidia-smi, which the NVIDIA runtime brings, is not in the container"),
        ("container.compose", 3.2, "this compose or docker cannot pass a GPU to a container"),
        ("kernel.proc_missing", 2.8, "in a container it means that it was started without the GPU"),
        ("container.no_driver_select", 5.2, "docker has no NVIDIA runtime to give the container a GPU"),
        ("container.no_runtime", 4.8, "docker does not know the NVIDIA runtime", no(_OF_CONTAINERD)),
        ("container.no_runtime", 4.8, "containerd does not know the NVIDIA runtime", _OF_CONTAINERD),
        ("container.no_hook", 3.4, "the NVIDIA container hook is not there"),
        ("container.stale", 4.8, "the container is told to mount a file of driver {version}, which the host no longer has"),
        ("container.reserved", 4.2, "what starts the container cannot reserve the GPU as it is written"),
        ("container.unhealthy", 3.2, "the node's device plug-in holds its GPUs for unhealthy"),
        ("container.entitlement", 2.0, "the driver's pod may not read the packages that it needs"),
        ("container.of_windows", 4.6, "docker runs Windows containers, which have no CUDA"),
        ("container.cdi", 4.4, "the CDI device of the GPU is not described on this host"),
        ("container.k8s", 3.4, "no node offers a GPU"),
        ("container.cli", 2.5, "the NVIDIA container toolkit failed: {what}"),
        ("container.denied", 1.8, "the container toolkit could not pass the GPU to the container"),
        ("torch.nccl_no_gpu", 2.4, "PyTorch sees no GPU"),
        ("container.device_error", 2.4, "the NVIDIA container toolkit cannot pass the GPU to the container"),
        ("container.load_ml", 4.8, "the driver works on the host, and its libraries do not reach the engine, which runs apart from it", _host_has),
        ("container.load_ml", 2.4, "the driver's libraries do not reach the container tool"),
        ("container.cgroup", 3.2, "the container tool may not set the device's cgroup rules"),
        ("container.ngc_banner", 4.4, "the image's start script sees no driver: it was started without the GPU"),
        ("title.no_known_devices", 4.2, "TensorFlow knows no GPU in the container", in_container),
        ("container.singularity", 2.6, "--nv found nothing to bring into the container"),
        *((one, 4.2, "the batch system gave the job no GPU", _ungiven) for one in ("nvidia.no_devices",
            "title.bare_false", "torch.unavailable", "cuda.no_device", "torch.no_gpus")),
        ("container.generic", 1.4, "the container did not start"),
        ("container.run", 2.6, "the container was started without --gpus", all_of(_PLAIN_RUN, no(line(r"--gpus|nvidia|\b(?:exec|start)\b")))),
        ("torch.no_driver", 4.0, "inside a container no driver usually means that it was started without the GPU", in_container),
        ("torch.no_driver", 2.5, "if this is a container, it was started without the GPU"),
        ("tf.no_kernel_driver", 3.4, "inside a container no kernel driver means that it was started without the GPU", in_container),
        ("tf.no_kernel_driver", 1.9, "if this is a container, it was started without the GPU"),
        ("tf.no_cuda_drivers", 3.4, "inside a container no driver usually means that it was started without the GPU", all_of(in_container, _UNSKIPPED)),
        ("tf.no_cuda_drivers", 2.0, "if this is a container, it was started without the GPU", _UNSKIPPED),
        ("tf.no_gpu_found", 1.2, "if this is a container, it was started without the GPU"),
        ("nvidia.node_missing", 3.6, "no device file was passed to the container", in_container),
        ("loader.cannot_open", 4.0, "{library} is in a container only if it was started with the NVIDIA runtime", all_of(asks("driver"), in_container)),
        ("loader.cannot_open", 2.4, "{library} is in a container only if it was started with the NVIDIA runtime", asks("driver")),
        ("loader.find_failed", 3.6, "{library} is in a container only if it was started with the NVIDIA runtime", all_of(asks("driver"), in_container)),
        ("loader.find_failed", 1.8, "{library} is in a container only if it was started with the NVIDIA runtime", asks("driver")),
        ("loader.tf_dso", 3.9, "{library} is in a container only if it was started with the NVIDIA runtime", all_of(asks("driver"), in_container)),
        ("loader.tf_dso", 1.9, "{library} is in a container only if it was started with the NVIDIA runtime", asks("driver")),
        ("loader.cudnn_sub", 3.4, "{wanted} is in a container only if it was started with the NVIDIA runtime", all_of(wants("driver"), in_container)),
        ("loader.cudnn_sub", 1.4, "{wanted} is in a container only if it was started with the NVIDIA runtime", wants("driver")),
        ("jax.falls_back", 2.9, "JAX sees no GPU in the container", in_container),
        ("jax.falls_back", 1.4, "if this is a container, it was started without the GPU"),
        ("cuda.shared_object_init_failed", 2.0, "error 303: libcuda could not be loaded"),
        ("triton.no_driver", 2.2, "Triton does not find a GPU driver"),
        *((one, 5.0, "the container was given the device files by hand, and none of the driver's libraries", _by_hand) for one in ("cuda.insufficient_driver",
            "torch.no_driver", "loader.cannot_open", "cuda.no_device")),
        ("loader.cannot_open", 4.8, "{library} is in a pod only if it runs under the NVIDIA runtime", all_of(asks("driver"), _in_pod)),
        ("cuda.insufficient_driver", 5.0, "inside a pod error 35 usually means that it was started without NVIDIA's runtime", all_of(in_container, _in_pod)),
        ("cuda.insufficient_driver", 3.4, "inside a container error 35 usually means that it was started without the GPU", in_container),
        ("cuda.insufficient_driver", 1.8, "in a container started without the GPU the error is 35 too"),
        ("cuda.no_device", 3.4, "inside a container this means that no GPU was passed to it", in_container),
        ("cuda.no_device", 1.8, "if this is a container, it was started without the GPU"),
        ("torch.no_gpus", 3.2, "inside a container this means that no GPU was passed to it", in_container),
        ("torch.no_gpus", 1.9, "if this is a container, it was started without the GPU"),
        ("torch.unavailable", 2.8, "CUDA is not available inside the container", all_of(in_container, alone)),
        ("torch.unavailable", 1.0, "CUDA is not available to PyTorch", alone),
        ("nvidia.smi_missing", 3.0, "inside a container nvidia-smi is brought by the NVIDIA runtime", in_container),
        ("nvidia.smi_missing", 1.6, "in a container nvidia-smi is brought by the NVIDIA runtime"),
        ("nvidia.nvml_unknown", 2.6, "in a container NVML's unknown error is a lost device"),
        ("nvidia.no_communication", 4.6, "the container was started without the GPU", _PLAIN_RUN),
        ("nvidia.no_communication", 1.6, "in a container it would mean that no driver was passed to it"),
        ("nvidia.nvml_not_found", 3.8, "in a container NVML's library is brought by the NVIDIA runtime", in_container),
        ("nvidia.nvml_not_found", 2.6, "in a container NVML's library is brought by the NVIDIA runtime"),
        ("nvml.driver_not_loaded", 1.6, "in a container it would mean that no driver was passed to it"),
        ("nvidia.node_missing", 2.4, "no device file was passed to the container"),
        ("title.bare_false", 1.6, "the answer in the container is False", in_container),
        ("title.gpu_unseen", 1.8, "no GPU is seen in the container", in_container),
        ("title.gpu_unseen", 0.5, "no GPU is seen"),
        ("torch.deserialize_cpu", 1.8, "CUDA is not available inside the container", in_container),
        ("numba.no_driver", 1.8, "Numba does not find libcuda"),
        ("nvidia.nvml_blocked", 1.6, "access to the GPU is blocked"),
        ("title.bare_false", 2.6, "CUDA is not available inside the container", all_of(with_("torch.asks_cuda"), in_container)),
        ("title.bare_false", 1.0, "CUDA is not available to PyTorch", with_("torch.asks_cuda")),
        ("told.on_host", 1.8, "on the host it works", in_container),
        ("title.trouble", 1.6, "the text says that a container fails", said_of(r"docker|container|\bpods?\b|kube")),
        ("title.trouble", 1.3, "the text says that the GPU fails inside a container", all_of(nothing_else, in_container)),
        ("nvml.gpu_not_found", 1.4),
    ),
    remedies=(
        meant("In a container: ask for the driver's libraries for video too (compose: environment NVIDIA_DRIVER_CAPABILITIES, and capabilities: [gpu, video])",
              "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,video,utility IMAGE", said="loader. nvenc. said.video",
              line=r"libnvidia-encode|libnvcuvid|nvenc|nvcuvid|cuvid", safe=True),
        meant("On the machine itself: install the driver's libraries for video, of the release that is loaded", on.host("sudo apt install libnvidia-encode-$(cut -d. -f1 /sys/module/nvidia/version) libnvidia-decode-$(cut -d. -f1 /sys/module/nvidia/version)"),
              said="loader. nvenc. said.video", line=r"libnvidia-encode|libnvcuvid|nvenc|nvcuvid|cuvid", root=True),
        meant("While an image is built there is no GPU: give the architectures by hand where the build asks for one, and do what needs a GPU when the container runs (docker run --gpus all)",
              on.dockerfile('ENV TORCH_CUDA_ARCH_LIST="7.5;8.0;8.6+PTX"    # CMake: -DCMAKE_CUDA_ARCHITECTURES="75;80;86"'),
              by="image", safe=True),
        meant("Remove the driver's files from the image: it carries libnvidia-ml and its kin, which the runtime wants to mount in their place",
              BAKED, said="container.", line="file exists", unless="wsl"),
        meant("Install the NVIDIA container toolkit, and add its runtime to docker", TOOLKIT, said="container.no_driver_select container.no_runtime",
              root=True, unless="containerd podman singularity"),
        meant("On the node: install the NVIDIA container toolkit and add its runtime to containerd (k3s and RKE2 find it by themselves once it is installed: start them anew); with the GPU operator, wait until its toolkit pod runs",
              CONTAINERD, said="container.no_driver_select container.no_runtime", by="containerd", root=True),
        meant("Then let the pod use that runtime, in its manifest", on.code("runtimeClassName: nvidia"), said="container.no_runtime", by="containerd"),
        meant(on.in_windows("set Docker Desktop to its WSL 2 engine (Settings, General), the only one that can pass a GPU to a container, with NVIDIA's driver installed on Windows; then update WSL"),
              on.across("wsl --update"), said="container.no_driver_select container.no_runtime"),
        meant("Give Ray's worker the GPU that it is told of: in KubeRay's workerGroupSpecs, for the container, and num-gpus the same; on one's own machine unset CUDA_VISIBLE_DEVICES before ray start",
              on.code("resources: {limits: {nvidia.com/gpu: 1}}    # rayStartParams: {num-gpus: \"1\"}"), said="container.ray"),
        meant("Start Docker Desktop in Windows, and switch this distribution on under Settings, Resources, WSL integration; then open a new shell in WSL",
              on.across("wsl --shutdown"), said="container.no_integration"),
        meant("Or install docker's own engine inside WSL, with NVIDIA's container toolkit (no driver)", on.linux("curl -fsSL https://get.docker.com | sh && sudo apt install nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=docker && sudo service docker restart"),
              said="container.no_integration", root=True),
        meant("Check that docker reads its settings: the file must be valid JSON (no stray bracket or comma) and define the runtime; else docker's log says why",
              on.linux("python3 -m json.tool /etc/docker/daemon.json && docker info | grep -i runtime"), said="container.no_runtime",
              safe=True, look=True, unless="containerd podman singularity windows"),
        meant("Then try the same again", "docker run --rm --gpus all ubuntu nvidia-smi", said="container.no_driver_select container.no_runtime",
              look=True, unless="containerd podman singularity"),
        meant("Describe the GPUs of this host for CDI, anew after each update of the driver; then pass one (podman from 4.1, docker from 25 on)",
              CDI, said="container.cdi", root=True),
        meant("If the toolkit is not there (nvidia-ctk: not found), install it first", on.engine("sudo apt install nvidia-container-toolkit"), said="container.cdi", root=True),
        meant("Check what the nodes offer and what is taken: a node without any has no device plug-in running, or a taint that the pod must tolerate; end the pods that hold GPUs, or add a node",
              "kubectl describe nodes | grep -e ^Name -e nvidia.com/gpu -e ^Taints", said="container.k8s", safe=True),
        meant("Where no node offers any: install NVIDIA's device plug-in, or the GPU operator, in the cluster, with NVIDIA's runtime as the default on the GPU nodes",
              CONTAINERD_DEFAULT, said="container.k8s", root=True),
        meant("Ask for no more GPUs than one node has, in the pod's manifest", on.code("resources: {limits: {nvidia.com/gpu: 1}}"), said="container.k8s"),
        meant("Check whether nvidia-smi works on the host; where it does, docker runs in a machine of its own (Docker Desktop, a snap): use the host's own docker engine",
              "docker context use default && docker run --rm --gpus all ubuntu nvidia-smi", said="container.load_ml"),
        meant(on.in_windows_or_wsl("update to Windows 10 21H2 or 11, install NVIDIA's driver on Windows (never inside WSL), let Docker Desktop use its WSL 2 engine, and update WSL"),
              on.across("wsl --update"), said="container.load_ml"),
        meant("On the node: make NVIDIA's runtime the default of containerd, which starts the device plug-in, then start the plug-in's pods anew",
              CONTAINERD_DEFAULT, by="plugin", root=True),
        meant("Where the node's engine is docker: make it docker's default", DOCKER_DEFAULT, by="plugin", root=True),
        meant("Singularity, Apptainer: start it with --nv, on a node with a GPU: it takes the host's driver in", on.linux("singularity exec --nv IMAGE.sif nvidia-smi"),
              by="singularity", safe=True),
        meant("Where --nv is given already: it takes what the host's own loader finds: on the host this must name libcuda.so.1, else add the driver's folder there",
              on.linux("ldconfig -p | grep libcuda"), by="singularity", safe=True, look=True),
        meant("Podman: describe the GPUs of this host for CDI (podman 4.1 or newer; an older one does not know it: update it), then pass one", CDI, by="podman", root=True),
        meant("The container has the GPU, but not its driver: ask for the driver's libraries, those for video too",
              "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,video,utility IMAGE", by="given", unless="compose kubernetes podman singularity"),
        meant("Compose: reserve the GPU in the service, and ask for the driver's parts that compute", on.code("deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}\nenvironment: [NVIDIA_VISIBLE_DEVICES=all, \"NVIDIA_DRIVER_CAPABILITIES=compute,video,utility\"]"),
              by="compose"),
        meant("Kubernetes: ask for a GPU, for the container in the pod's manifest: without that limit it gets none",
              on.code("resources: {limits: {nvidia.com/gpu: 1}}"), by="kubernetes", unless="plugin"),
        meant("And let the pod use NVIDIA's runtime, where it is not the node's default, in its spec", on.code("runtimeClassName: nvidia"), by="kubernetes", unless="plugin"),
        meant("Start the container with the GPU", "docker run --gpus all IMAGE", unless="given compose kubernetes podman singularity"),
        meant("Install the NVIDIA container toolkit, and add its runtime to docker", TOOLKIT, root=True, unless="podman singularity kubernetes"),
        meant("Compose: reserve the device under deploy.resources.reservations.devices with capabilities: [gpu]", unless="compose kubernetes podman singularity"),
    ),
    admitted_by=(*NO_GPU, *NO_ANSWER, *NO_DRIVER),
)  # fmt: skip
