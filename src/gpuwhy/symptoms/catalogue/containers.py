"""Docker, containerd, Kubernetes, Singularity and the NVIDIA container toolkit."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, error

SIGNATURES: tuple[Signature, ...] = (
    error("container.requirement", r"unsatisfied condition: (?P<what>[\w>=<. ]+)", "unsatisfied condition",
          covers=("container.cli", "container.generic")),
    error("container.load_ml", r"nvidia-container-cli[^\n]*load library failed: (?P<library>[\w.-]+)", "load library failed",
          covers=("loader.cannot_open", "container.cli", "container.generic")),
    error("container.denied", r"nvidia-container-cli(?:\.real)?: [^\n]*(?:insufficient permissions|permission denied|operation not permitted)",
          "insufficient permissions", "permission denied", "operation not permitted",
          covers=("nvidia.nvml_permission", "container.cli", "container.generic", "container.device_error")),
    error("container.old_image", r"unsupported cuda version: driver (?P<has>[\d.]+) < image (?P<needs>[\d.]+)", "unsupported cuda version: driver", covers=("jax.unable_to_use",)),
    error("container.cgroup", r"bpf_prog_query|failed to (?:add|set) device (?:rules|cgroup)|cgroup (?:subsystem|driver)[^\n]*(?:not found|devices)"
          r"|no-cgroups", "bpf_prog_query", "device rules", "device cgroup", "cgroup subsystem", "no-cgroups",
          covers=("container.cli", "container.generic")),
    error("container.device_error", r"nvidia-container-cli(?:\.real)?: (?:device error|initialization error: (?:nvml error: (?:unknown|gpu)|cuda error))"
          r"(?:[^\n]*?(?P<what>unknown device|device error: [^\n:]+))?", "device error", "nvidia-container-cli: initialization",
          covers=("container.cli", "container.generic")),
    error("container.cli", r"nvidia-container-cli(?:\.real)?: (?P<what>[^\n]*)", "nvidia-container-cli:", "nvidia-container-cli.real:", covers=("cuda.says_short",)),
    error("container.ray", r"start raylet with \d+ gpus, but cuda_visible_devices contains", "start raylet with"),
    error("container.k8s",
          r"insufficient nvidia\.com/gpu|devices unavailable for nvidia\.com|0/\d+ nodes are available[^\n]*gpu",
          "insufficient nvidia.com/gpu", "unavailable for nvidia.com", "nodes are available"),
    error("container.ngc_banner", r"the nvidia driver was not detected", "nvidia driver was not detected"),
    error("container.singularity", r"could not find any nv files on this host", "any nv files"),
    error("container.no_hook", r"exec: \"?nvidia-container"
          r"|hook[^\n]*nvidia-container-(?:runtime-hook|toolkit)[^\n]{0,40}(?:no such file|not found)"
          r"|executing hook(?![^\n]*nvidia-container-cli:)[^\n]*nvidia", "exec: \"nvidia-container",
          "nvidia-container-runtime-hook", "nvidia-container-toolkit", "executing hook"),
    error("container.plugin",
          r"failed to construct nvml resource manager|error building device map|invalid device discovery strategy"
          r"|incompatible (?:strategy|platform) detected|detected non-nvml platform"
          r"|did you (?:set the docker default runtime|configure the nvidia container toolkit)"
          r"|no devices found\. waiting indefinitely|runtimeclass\w* [^\n]*nvidia[^\n]*not found"
          r"|failed to initialize nvml: could not load nvml",
          "nvml resource manager", "building device map", "device discovery strategy", "incompatible strategy",
          "incompatible platform", "non-nvml platform", "docker default runtime",
          "configure the nvidia container toolkit",
          "waiting indefinitely", "runtimeclass", "could not load nvml", covers=("nvidia.nvml_not_found", "loader.cannot_open", "nvidia.nvml_unknown")),
    error("container.smi_missing",
          r"exec:? \"?nvidia-smi\"?: executable file not found|nvidia-smi[^\n]{0,40}executable file not found"
          r"|executable file `?nvidia-smi`? not found", "executable file", covers=("container.generic",
        "nvidia.smi_missing")),
    error("container.compose", r"additional properties are not allowed \('?(?:devices|runtime|gpus)"
          r"|unsupported config option[^\n]*(?:runtime|devices|gpus)|unknown flag: --gpus",
          "additional properties are not allowed", "unsupported config option", "unknown flag: --gpus"),
    context("container.run", r"\b(?:docker|podman|nvidia-docker)(?:-compose| compose)?(?: container)? (?:run|exec|start|up)\b(?P<options>[^\n]*)",
            "docker run", "docker exec", "docker-compose", "docker compose", "podman run", "nvidia-docker", "docker start", "docker container"),
    context("container.gpus_flag", r"--gpus[= ]|--runtime[= ]nvidia|nvidia-docker run|--device[= ](?:/dev/nvidia|nvidia\.com)", "--gpus",
            "--runtime=nvidia", "--runtime nvidia", "nvidia-docker run", "--device"),
)  # fmt: skip
