"""container.no_gpu in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.causes.text.common import nothing_else, said_of
from gpuwhy.causes.text.conditions import all_of, alone, asks, in_container, line, no, wants, with_
from gpuwhy.causes.text.meant import meant
from gpuwhy.causes.text.room import Text
from gpuwhy.knowledge.messages import NO_ANSWER, NO_DRIVER, NO_GPU
from gpuwhy.model.signature import error

_UNSKIPPED = no(with_("loader.tf_skip"))

_PLAIN_RUN = all_of(in_container, no(with_("container.gpus_flag")))

TEXT = Text(
    "container.no_gpu",
    signatures=(
        error("container.no_driver_select", r"could not select device driver", "could not select device driver"),
        error("container.no_runtime", r"(?:unknown|invalid)[^\n]*runtime(?: name)?[^\n]*nvidia|nvidia-container-runtime[^\n]*(?:not found|no such file"
              r"|executable file not found)|runtime \"?nvidia\"?[^\n]*(?:not found|unknown)|runtimehandler \"?nvidia\"? not supported|no runtime for \"?nvidia|nvidia-docker[^\n]*(?:not found|deprecated)",
              "runtime name", "nvidia-container-runtime", "runtime: nvidia", "runtime nvidia", "\"nvidia\"", "nvidia-docker", "unknown runtime", "runtimehandler"),
        error("container.cdi", r"unresolvable cdi devices|cdi device injection failed|nvidia\.com/gpu[^\n]*(?:cdi|unresolvable)|cdi[^\n]*nvidia\.com/gpu",
              "unresolvable cdi", "cdi device", "nvidia.com/gpu"),
        error("container.generic", r"oci runtime (?:create failed|error)|error response from daemon|failed to create (?:shim|task|containerd)", "oci runtime create", "oci runtime error",
              "response from daemon", "failed to create shim", "failed to create task"),
    ),
    clues=(
        ("numba.versions", 1.5, "in a container it would mean that no GPU was handed over"),
        ("title.root_only", 1.6, "another user has no access to the GPU in the container", in_container),
        ("container.plugin", 4.4, "the device plug-in was started without the NVIDIA runtime"),
        ("container.smi_missing", 3.6, "nvidia-smi, which the NVIDIA runtime brings, is not in the container"),
        ("container.compose", 3.2, "this compose or docker cannot hand over a GPU"),
        ("kernel.proc_missing", 2.8, "in a container it means that it was started without the GPU"),
        ("container.no_driver_select", 5.2, "docker has no NVIDIA runtime to give the container a GPU"),
        ("container.no_runtime", 4.8, "docker does not know the NVIDIA runtime"),
        ("container.no_hook", 3.4, "the NVIDIA container hook is not there"),
        ("container.cdi", 4.4, "the CDI device of the GPU is not described on this host"),
        ("container.k8s", 3.4, "no node offers a GPU"),
        ("container.cli", 2.5, "the NVIDIA container toolkit failed: {what}"),
        ("container.denied", 1.8, "the container toolkit could not hand over the device"),
        ("torch.nccl_no_gpu", 2.4, "PyTorch sees no GPU"),
        ("container.device_error", 2.4, "the NVIDIA container toolkit cannot hand over the device"),
        ("container.load_ml", 2.4, "the driver's libraries do not reach the container tool"),
        ("container.cgroup", 3.2, "the container tool may not set the device's cgroup rules"),
        ("container.ngc_banner", 4.4, "the image's start script sees no driver: it was started without the GPU"),
        ("container.singularity", 2.6, "--nv found nothing to bring into the container"),
        ("container.generic", 1.4, "the container did not start"),
        ("container.run", 2.6, "the container was started without --gpus", all_of(_PLAIN_RUN, no(line("--gpus|nvidia")))),
        ("torch.no_driver", 4.0, "inside a container no driver usually means that it was started without the GPU", in_container),
        ("torch.no_driver", 2.5, "in a container it would mean that it was started without the GPU"),
        ("tf.no_kernel_driver", 3.4, "inside a container no kernel driver means that it was started without the GPU", in_container),
        ("tf.no_kernel_driver", 1.9, "in a container it would mean that it was started without the GPU"),
        ("tf.no_cuda_drivers", 3.4, "inside a container no driver usually means that it was started without the GPU", all_of(in_container, _UNSKIPPED)),
        ("tf.no_cuda_drivers", 2.0, "in a container it would mean that it was started without the GPU", _UNSKIPPED),
        ("tf.no_gpu_found", 1.2, "in a container it would mean that no GPU was handed over"),
        ("nvidia.node_missing", 3.6, "no device file was handed over to the container", in_container),
        ("loader.cannot_open", 4.0, "{library} is brought into a container by the NVIDIA runtime", all_of(asks("driver"), in_container)),
        ("loader.cannot_open", 2.4, "{library} is brought into a container by the NVIDIA runtime", asks("driver")),
        ("loader.find_failed", 3.6, "{library} is brought into a container by the NVIDIA runtime", all_of(asks("driver"), in_container)),
        ("loader.find_failed", 1.8, "{library} is brought into a container by the NVIDIA runtime", asks("driver")),
        ("loader.tf_dso", 3.9, "{library} is brought into a container by the NVIDIA runtime", all_of(asks("driver"), in_container)),
        ("loader.tf_dso", 1.9, "{library} is brought into a container by the NVIDIA runtime", asks("driver")),
        ("loader.cudnn_sub", 3.4, "{wanted} is brought into a container by the NVIDIA runtime", all_of(wants("driver"), in_container)),
        ("loader.cudnn_sub", 1.4, "{wanted} is brought into a container by the NVIDIA runtime", wants("driver")),
        ("jax.falls_back", 2.9, "JAX sees no GPU in the container", in_container),
        ("jax.falls_back", 1.4, "in a container it would mean that no GPU was handed over"),
        ("cuda.shared_object_init_failed", 2.0, "error 303: libcuda could not be loaded"),
        ("triton.no_driver", 2.2, "Triton finds no GPU driver"),
        ("cuda.insufficient_driver", 3.4, "inside a container error 35 usually means that it was started without the GPU", in_container),
        ("cuda.insufficient_driver", 1.8, "in a container started without the GPU the error is 35 too"),
        ("cuda.no_device", 3.4, "inside a container no device means that none was handed over", in_container),
        ("cuda.no_device", 1.8, "in a container it would mean that no GPU was handed over"),
        ("torch.no_gpus", 3.2, "inside a container no device means that none was handed over", in_container),
        ("torch.no_gpus", 1.9, "in a container it would mean that no GPU was handed over"),
        ("torch.unavailable", 2.8, "CUDA is not available inside the container", all_of(in_container, alone)),
        ("torch.unavailable", 1.0, "CUDA is not available to PyTorch", alone),
        ("nvidia.smi_missing", 3.0, "inside a container nvidia-smi is brought by the NVIDIA runtime", in_container),
        ("nvidia.smi_missing", 1.6, "in a container nvidia-smi is brought by the NVIDIA runtime"),
        ("nvidia.nvml_unknown", 2.6, "in a container NVML's unknown error is a lost device"),
        ("nvidia.no_communication", 1.6, "in a container it would mean that no driver was handed over"),
        ("nvidia.nvml_not_found", 3.8, "in a container NVML's library is brought by the NVIDIA runtime", in_container),
        ("nvidia.nvml_not_found", 2.6, "in a container NVML's library is brought by the NVIDIA runtime"),
        ("nvml.driver_not_loaded", 1.6, "in a container it would mean that no driver was handed over"),
        ("nvidia.node_missing", 2.4, "no device file was handed over"),
        ("title.bare_false", 1.6, "the answer in the container is False", in_container),
        ("title.gpu_unseen", 1.8, "no GPU is seen in the container", in_container),
        ("title.gpu_unseen", 0.5, "no GPU is seen"),
        ("torch.deserialize_cpu", 1.8, "CUDA is not available inside the container", in_container),
        ("numba.no_driver", 1.8, "Numba finds no libcuda"),
        ("nvidia.nvml_blocked", 1.6, "access to the GPU is blocked"),
        ("title.bare_false", 2.6, "CUDA is not available inside the container", all_of(with_("torch.asks_cuda"), in_container)),
        ("title.bare_false", 1.0, "CUDA is not available to PyTorch", with_("torch.asks_cuda")),
        ("told.on_host", 1.8, "on the host it works", in_container),
        ("title.trouble", 1.6, "a container is said to fail", said_of(r"docker|container|\bpods?\b|kube")),
        ("title.trouble", 1.3, "the GPU is said to fail inside a container", all_of(nothing_else, in_container)),
    ),
    remedies=(
        meant("Install the NVIDIA container toolkit and tell docker of it", "sudo apt install nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker", said="container.no_driver_select container.no_runtime", root=True),
        meant("Then try the same again", "docker run --rm --gpus all ubuntu nvidia-smi", said="container.no_driver_select container.no_runtime", look=True),
        meant("Ask for no more GPUs than one node has, in the pod's manifest", "resources: {limits: {nvidia.com/gpu: 1}}", said="container.k8s"),
        meant("See what the nodes offer and what is taken; add a node with GPUs, or end the pods that hold them", "kubectl describe nodes | grep -e ^Name -e nvidia.com/gpu", said="container.k8s", safe=True, look=True),
        meant("Where no node offers any: install NVIDIA's device plug-in, or the GPU operator, in the cluster", "kubectl get pods --all-namespaces | grep -i nvidia", said="container.k8s"),
        meant("Start the container with the GPU", "docker run --gpus all IMAGE"),
        meant("Install the NVIDIA container toolkit and tell docker of it", "sudo apt install nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker", root=True),
        meant("Compose: reserve the device under deploy.resources.reservations.devices with capabilities: [gpu]"),
    ),
    admitted_by=(*NO_GPU , *NO_ANSWER , *NO_DRIVER,),
)  # fmt: skip
