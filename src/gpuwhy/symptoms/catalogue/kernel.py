"""The kernel log: NVRM, Xid, module loading, DKMS, PCIe."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, error

SIGNATURES: tuple[Signature, ...] = (
    error("kernel.xid", r"\bxid\W+(?:\(?pci:?[\w:.]*\)?:? ?)?(?P<xid>\d{1,3})\b(?![^\n]{0,60}\b(?:not ours|not mine|(?:other|another) (?:tenant|user|job)|neighbou?r))", "xid"),
    error("kernel.off_bus", r"f[ae]ll(?:s|en|ing)? off (?:of )?(?:the )?(?:pci\w* )?bus\b", "off the bus", "off of the bus", "off bus", "off the pci", "off of the pci"),
    error("kernel.unknown_card", r"installed in this system is not supported"
          r"|\bis not supported by (?:the|this) (?:nvidia )?[\d.]+ (?:nvidia )?driver"
          r"|^(?:\[[^\]\n]{0,20}\] )?nvrm:\s+nvidia [\d.]+ driver release", "in this system is not", "driver release",
          "is not supported by the", "is not supported by this"),
    error("kernel.adapter", r"rminitadapter failed|rm_init_adapter failed|rm_?init\w* failed", "rminitadapter", "rm_init_adapter"),
    error("kernel.probe", r"nvidia probe routine (?:failed|was not called)|nvrm: no nvidia (?:gpu|device)|none of the nvidia|no nvidia graphics adapter",
          "nvidia probe routine", "no nvidia gpu", "no nvidia graphics adapter", "none of the nvidia"),
    error("kernel.module_missing", r"module nvidia(?:[-_]\w+)? not found|could not insert '?\"?nvidia|failed to insert nvidia|"
          r"modprobe: (?:fatal|error)[^\n]*nvidia|no such device[^\n]*nvidia|failed to (?:load|initialize) (?:the )?nvidia (?:kernel|module)"
          r"|unable to load the (?:'?nvidia|kernel module)|(?:insert|load|find|open)\w* [^\n]{0,60}nvidia\.ko"
          r"|nvidia\.ko[^\n]{0,40}(?:no such|not found|invalid|fail|error|unable|cannot)",
          "module nvidia", "insert 'nvidia", "insert \"nvidia", "insert nvidia", "modprobe", "nvidia kernel", "unable to load the", "nvidia.ko"),
    error("kernel.proc_missing",
          r"/proc/driver/nvidia(?:/[/\w]*)?[:'\"]{0,2} ?(?:no such file|not found|does not exist)"
          r"|no such file[^\n]*/proc/driver/nvidia(?!\w)", "/proc/driver/nvidia"),
    error("kernel.gpu_refused", r"(?:nvrm:|nvidia)[^\n]*is not supported by[^\n]*(?:nvidia|driver release)", "is not supported by"),
    error("kernel.module_format", r"version magic '[^'\n]*' should be '|nvidia[\w-]*(?:\.ko)?: (?:invalid module format|unknown symbol|disagrees about version)"
          r"|insert module [^\n]*nvidia[^\n]*: (?:invalid|unknown|exec)", "version magic", "invalid module format", "unknown symbol", "insert module", "disagrees about"),
    error("kernel.code43", r"\(code 43\)|\berror code 43\b", "code 43"),
    error("kernel.dkms", r"bad return status for module build|dkms[^\n]*(?:error|fail|missing)|kernel headers for module|"
          r"unable to find the kernel source|missing \S+ kernel headers|kernel (?:headers|source)[^\n]*(?:not found|missing)"
          r"|building of module nvidia|error! [^\n]*(?:module|kernel)",
          "return status for module build", "dkms", "kernel headers", "kernel source", "error! "),
    error("kernel.legacy", r"legacy[^\n]*(?:driver|gpu)[^\n]*nvidia|supported (?:only )?(?:by|through) the nvidia [\d.x]+ legacy",
          "legacy driver", "legacy gpu", "legacy nvidia"),
)  # fmt: skip
