"""nvidia-smi, NVML and the device nodes."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, error, told

SIGNATURES: tuple[Signature, ...] = (
    error("nvidia.no_communication", r"nvidia-smi has failed because it couldn.?t communicate|communicate with the nvidia driver",
          "communicate with the nvidia driver"),
    error("nvidia.nvml_unknown", r"(?:failed to initialize nvml|nvml(?:init)?[^\n]{0,20}): unknown error", "failed to initialize nvml"),
    error("nvidia.nvml_na", r"failed to initialize nvml: (?:n/a|not supported)", "failed to initialize nvml"),
    error("nvidia.nvml_blocked", r"gpu access blocked by the operating system", "gpu access blocked"),
    error("nvidia.nvml_not_found",
          r"nvml shared library not found|could not load nvml|unable to (?:load|start|init\w*) nvml"
          r"|failed to start nvml|couldn.?t find libnvidia-ml|nvml(?:error)?[^\n]{0,30}library(?: was)? not found",
          "nvml shared library not found", "load nvml", "start nvml", "nvml library", "find libnvidia-ml", "library not found"),
    error("nvidia.smi_missing", r"nvidia-smi[`'\"]?:? (?:command )?not found|nvidia-smi'? is not recognized|no such file[^\n]*nvidia-smi"
          r"|command 'nvidia-smi' not found|nvidia-smi: (?:not found|no such file)",
          "nvidia-smi: command", "nvidia-smi: not found", "nvidia-smi: no such", "nvidia-smi' is not", "nvidia-smi' not found", "nvidia-smi not found",
          "nvidia-smi is not", "'nvidia-smi'"),
    error("nvidia.no_devices", r"(?:^|: )\s*no devices were found", "no devices were found"),
    error("nvidia.reset_required", r"gpu requires reset|reset required", "requires reset", "reset required"),
    error("nvidia.node_missing", r"/dev/nvidia[\w*-]*'?:? *(?:no such file|not found|does not exist|is missing)"
          r"|no such (?:file|device)[^\n]*/dev/nvidia|cannot access '?/dev/nvidia|open(?:at)?\([^\n]*/dev/nvidia[^\n]*enoent", "/dev/nvidia"),
    told("nvidia.no_instance", r"\bno mig devices found", "no mig devices found"),
    error("nvidia.mig", r"\bmig\b[^\n]*(?:pending|not (?:enabled|found|available|supported)|in use|invalid|instance)", "mig mode", "mig device",
          "mig instance", "mig-"),
    error("nvidia.persistence", r"nvidia-persistenced[^\n]*(?:fail|error|not running)", "nvidia-persistenced"),
    error("nvidia.query_files", r"please ensure that the nvidia device files", "nvidia device files"),
    error("nvidia.kernel_ptx", r"\bunsupported ptx version\b|ptx (?:code )?was compiled with an unsupported toolchain"
          r"|\bdrivers? does not support any of the supported (?:vulkan|opengl|cuda|directx|optix)\b"
          r"|(?:please )?try updating your (?:graphics|video|gpu|nvidia|display)(?: card)? drivers?\b",
          "unsupported ptx version", "unsupported toolchain", "any of the supported", "try updating your", covers=("title.", "ending.own")),
    error("nvidia.mps", r"\bmps (?:server|client|control|daemon)", "mps server", "mps client", "mps control", "mps daemon"),
)  # fmt: skip
