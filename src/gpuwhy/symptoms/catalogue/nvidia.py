"""nvidia-smi, NVML and the device nodes."""

from __future__ import annotations

from gpuwhy.symptoms.signature import Signature, error

SIGNATURES: tuple[Signature, ...] = (
    error("nvidia.no_communication", r"nvidia-smi has failed because it couldn.?t communicate|communicate with the nvidia driver",
          "communicate with the nvidia driver"),
    error("nvidia.mismatch", r"driver/library version mismatch|nvml_error_lib_rm|lib/?rm version mismatch", "version mismatch"),
    error("nvidia.nvml_unknown", r"(?:failed to initialize nvml|nvml(?:init)?[^\n]{0,20}): unknown error", "failed to initialize nvml"),
    error("nvidia.nvml_na", r"failed to initialize nvml: (?:n/a|not supported)", "failed to initialize nvml"),
    error("nvidia.nvml_permission", r"nvml[^\n]*insufficient permissions", "insufficient permissions"),
    error("nvidia.nvml_blocked", r"gpu access blocked by the operating system", "gpu access blocked"),
    error("nvidia.nvml_not_loaded", r"(?:nvml[^\n]*|nvmlerror[^\n]*)driver not loaded|nvml: driver not loaded|nvml error: driver not loaded",
          "driver not loaded"),
    error("nvidia.nvml_not_found", r"nvml shared library not found|could not load nvml|unable to (?:load|start|init\w*) nvml|failed to start nvml|couldn.?t find libnvidia-ml|nvml(?:error)?[^\n]{0,30}library(?: was)? not found",
          "nvml shared library not found", "load nvml", "start nvml", "nvml library", "find libnvidia-ml", "library not found"),
    error("nvidia.smi_missing", r"nvidia-smi[`'\"]?:? (?:command )?not found|nvidia-smi'? is not recognized|no such file[^\n]*nvidia-smi"
          r"|command 'nvidia-smi' not found|nvidia-smi: (?:not found|no such file)",
          "nvidia-smi: command", "nvidia-smi: not found", "nvidia-smi: no such", "nvidia-smi' is not", "nvidia-smi' not found", "nvidia-smi not found",
          "nvidia-smi is not", "'nvidia-smi'"),
    error("nvidia.no_devices", r"(?:^|: )\s*no devices were found", "no devices were found"),
    error("nvidia.no_handle", r"unable to determine the device handle for (?:gpu)? ?(?P<device>[\w:.]+)(?:: (?P<why>[\w ]+))?",
          "determine the device handle"),
    error("nvidia.lost", r"gpu is lost|gpu has fallen off the bus|gpu_is_lost", "gpu is lost", "fallen off the bus", "gpu_is_lost"),
    error("nvidia.err", r"\|[^\n]*\berr!|\berr!\W[^\n]{0,40}nvidia-smi|nvidia-smi[^\n]{0,60}\berr!", "err!"),
    error("nvidia.reset_required", r"gpu requires reset|reset required", "requires reset", "reset required"),
    error("nvidia.stub_banner", r"linked to libnvidia-ml library at wrong path|is a stub library that is attached|nvidia-ml\.so[^\n]*stub", "at wrong path", "is a stub library"),
    error("nvidia.node_mode", r"^c(?P<mode>[rw-]{8,9}[-.+]?)\s+\d+ (?P<owner>\w+) +(?P<group>\w+)[^\n]*/dev/(?P<node>nvidia[\w-]*)", "/dev/nvidia"),
    error("nvidia.node_denied", r"/dev/nvidia[\w-]*[^\n]*(?:permission denied|operation not permitted|input/output error)"
          r"|(?:permission denied|operation not permitted)[^\n]*/dev/nvidia|failed to open device /dev/nvidia|device files (?:are )?not accessible|not in (?:the )?(?:group (?:video|render)|(?:video|render) group)", "/dev/nvidia", "device files", "not in group", "not in the group", "video group", "render group"),
    error("nvidia.node_missing", r"/dev/nvidia[\w*-]*'?:? *(?:no such file|not found|does not exist|is missing)"
          r"|no such (?:file|device)[^\n]*/dev/nvidia|cannot access '?/dev/nvidia|open(?:at)?\([^\n]*/dev/nvidia[^\n]*enoent", "/dev/nvidia"),
    error("nvidia.fabric", r"(?:fabric[ -]?manager|nvswitch|fabric)[^\n]*(?:fail|not |error|inactive|dead|stop|in progress|n't|restart|start)", "fabricmanager", "fabric manager",
          "fabric-manager", "nvswitch", "fabric state"),
    error("nvidia.mig", r"\bmig\b[^\n]*(?:pending|not (?:enabled|found|available|supported)|in use|invalid|instance)", "mig mode", "mig device",
          "mig instance", "mig-"),
    error("nvidia.persistence", r"nvidia-persistenced[^\n]*(?:fail|error|not running)", "nvidia-persistenced"),
    error("nvidia.query_files", r"please ensure that the nvidia device files", "nvidia device files"),
    error("nvidia.fabric_version", r"fabric manager[^\n]*(?:don'?t|doesn'?t|not) match", "fabric manager", covers=("nvidia.fabric",)),
    error("nvidia.exclusive", r"exclusive[_ ](?:process|thread)|compute mode[^\n]*(?:exclusive|prohibited)|\be\. (?:process|thread)\b",
          "exclusive", "compute mode", "e. process", "e. thread"),
    error("nvidia.mps", r"\bmps (?:server|client|control|daemon)", "mps server", "mps client", "mps control", "mps daemon"),
    error("nvidia.power", r"power (?:cable|connector)s?[^\n]*(?:not|missing)|thermal (?:slowdown|shutdown|throttl)|overheat|"
          r"hw slowdown|gpu (?:clock|power) (?:throttl|brake)", "power cable", "power connector", "thermal ", "overheat", "hw slowdown"),
)  # fmt: skip
