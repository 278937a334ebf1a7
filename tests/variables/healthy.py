"""Environments in which nothing is wrong, as clusters, images, notebooks and CI set them; written before the code.

Each row: where it is from, what is installed there, and its variables. Every one of them must stay silent, the users'
own variables that look like a framework's included. Three values of the first draft turned out to be wrong, as the readers
themselves say, and were changed: --noxla_… (XLA has no such form), --xla_gpu_graph_level with JAX 0.7.2, which had lost it,
and TF_FORCE_GPU_ALLOW_GROWTH=TRUE, which TensorFlow compares with small letters.
"""

from __future__ import annotations

from typing import NamedTuple


class Healthy(NamedTuple):
    """One environment: a name, the installed frameworks with releases, and its variables."""

    name: str
    installed: dict[str, str]
    variables: dict[str, str]


_CUDA_IMAGE = {
    "CUDA_VERSION": "12.4.1", "NV_CUDA_CUDART_VERSION": "12.4.127-1", "NV_CUDA_COMPAT_PACKAGE": "cuda-compat-12-4",
    "NV_CUDA_LIB_VERSION": "12.4.1-1", "NV_NVTX_VERSION": "12.4.127-1", "NV_LIBNPP_VERSION": "12.2.5.30-1",
    "NV_LIBCUBLAS_VERSION": "12.4.5.8-1", "NV_LIBNCCL_PACKAGE": "libnccl2=2.21.5-1+cuda12.4", "NCCL_VERSION": "2.21.5-1",
    "NV_CUDNN_VERSION": "9.1.0.70-1", "NVIDIA_PRODUCT_NAME": "CUDA", "NVIDIA_VISIBLE_DEVICES": "all",
    "NVIDIA_DRIVER_CAPABILITIES": "compute,utility", "LIBRARY_PATH": "/usr/local/cuda/lib64/stubs",
    "NVIDIA_REQUIRE_CUDA": "cuda>=12.4 brand=tesla,driver>=470,driver<471 brand=unknown,driver>=470,driver<471",
}  # fmt: skip
_SLURM = {
    "SLURM_JOB_ID": "48213", "SLURM_JOB_GPUS": "0,1,2,3", "SLURM_GPUS_ON_NODE": "4", "SLURM_PROCID": "0",
    "SLURM_LOCALID": "0", "SLURM_NTASKS": "4", "SLURM_JOB_NODELIST": "gpu[01-02]", "SLURM_STEP_GPUS": "0,1,2,3",
    "CUDA_VISIBLE_DEVICES": "0,1,2,3", "ROCR_VISIBLE_DEVICES": "0,1,2,3", "GPU_DEVICE_ORDINAL": "0,1,2,3",
    "ZE_AFFINITY_MASK": "0,1,2,3",
}  # fmt: skip
_RANK = {
    "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "8", "MASTER_ADDR": "10.0.0.4",
    "MASTER_PORT": "29500", "GROUP_RANK": "0", "ROLE_NAME": "default", "OMP_NUM_THREADS": "1",
    "TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_MAX_RESTARTS": "0",
    "TORCHELASTIC_RESTART_COUNT": "0", "TORCHELASTIC_ERROR_FILE": "/tmp/torchelastic_1/none_x/attempt_0/0/error.json",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1", "NCCL_ASYNC_ERROR_HANDLING": "1",
}  # fmt: skip
_TORCH = {"torch": "2.8.0", "triton": "3.4.0"}
_JAX = {"jax": "0.7.2"}
_TF = {"tensorflow": "2.18.1"}
_ALL = {"torch": "2.8.0", "triton": "3.4.0", "jax": "0.7.2", "tensorflow": "2.18.1", "numba": "0.61.2", "cupy": "13.4.1",
        "onnxruntime": "1.22.0"}  # fmt: skip

HEALTHY: tuple[Healthy, ...] = (
    Healthy("a login shell without anything", {}, {"HOME": "/home/ada", "SHELL": "/bin/bash", "LANG": "C.UTF-8", "TERM": "xterm"}),
    Healthy("NVIDIA's CUDA image", {}, _CUDA_IMAGE),
    Healthy("the PyTorch image", _TORCH, {**_CUDA_IMAGE, "PYTORCH_VERSION": "2.8.0", "LD_LIBRARY_PATH": "/usr/local/nvidia/lib:/usr/local/nvidia/lib64"}),
    Healthy("NGC's PyTorch image", _TORCH, {
        **_CUDA_IMAGE, "NVIDIA_PYTORCH_VERSION": "24.05", "PYTORCH_BUILD_VERSION": "2.4.0a0+07cecf4", "PYTORCH_BUILD_NUMBER": "0",
        "PYTORCH_HOME": "/opt/pytorch/pytorch", "TORCH_CUDA_ARCH_LIST": "5.2 6.0 6.1 7.0 7.2 7.5 8.0 8.6 8.7 9.0+PTX",
        "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1", "USE_EXPERIMENTAL_CUDNN_V8_API": "1", "CUDA_MODULE_LOADING": "LAZY",
        "CUDNN_VERSION": "9.1.0.70", "CUBLAS_VERSION": "12.4.5.8", "TRT_VERSION": "8.6.3.1", "TRTOSS_VERSION": "23.11",
        "CUDA_DRIVER_VERSION": "550.54.15", "_CUDA_COMPAT_PATH": "/usr/local/cuda/compat", "OMPI_MCA_coll_hcoll_enable": "0",
        "NCCL_VERSION": "2.21.5", "OPAL_PREFIX": "/opt/hpcx/ompi", "CUDA_CACHE_DISABLE": "1", "UCC_CL_BASIC_TLS": "^sharp",
        "TORCHINDUCTOR_CUTLASS_DIR": "/opt/pytorch/pytorch/third_party/cutlass", "TF_ENABLE_ONEDNN_OPTS": "0"}),
    Healthy("NGC's TensorFlow image", {"tensorflow": "2.15.1"}, {
        **_CUDA_IMAGE, "NVIDIA_TENSORFLOW_VERSION": "24.02-tf2", "TENSORFLOW_VERSION": "2.15.0", "TF_ENABLE_AUTO_MIXED_PRECISION": "1",
        "TF_ADJUST_HUE_FUSED": "1", "TF_ADJUST_SATURATION_FUSED": "1", "TF_ENABLE_WINOGRAD_NONFUSED": "1",
        "TF_AUTOTUNE_THRESHOLD": "2", "TF_CUDNN_USE_AUTOTUNE": "1", "TF_USE_CUDNN_BATCHNORM_SPATIAL_PERSISTENT": "1"}),
    Healthy("NGC's JAX image", _JAX, {
        **_CUDA_IMAGE, "XLA_FLAGS": "--xla_gpu_enable_latency_hiding_scheduler=true --xla_gpu_enable_triton_gemm=false",
        "NCCL_NVLS_ENABLE": "0", "CUDA_DEVICE_MAX_CONNECTIONS": "1", "XLA_PYTHON_CLIENT_MEM_FRACTION": "0.90"}),
    Healthy("Colab with a T4", {"tensorflow": "2.18.1", "torch": "2.6.0", "jax": "0.5.2", "numba": "0.60.0", "cupy": "13.3.0"}, {
        "COLAB_GPU": "1", "COLAB_RELEASE_TAG": "release-colab_20250401", "TF_FORCE_GPU_ALLOW_GROWTH": "true", "TF2_BEHAVIOR": "1",
        "TBE_RUNTIME_ADDR": "172.28.0.1:8011", "NVIDIA_VISIBLE_DEVICES": "all", "LD_LIBRARY_PATH": "/usr/lib64-nvidia",
        "CUDA_VERSION": "12.5.1", "MPLBACKEND": "module://ipykernel.pylab.backend_inline", "XLA_PYTHON_CLIENT_ALLOCATOR": "bfc",
        "UV_SYSTEM_PYTHON": "true", "NCCL_VERSION": "2.22.3-1", "GCE_METADATA_TIMEOUT": "3", "ENABLE_DIRECTORYPREFETCHER": "1"}),
    Healthy("Kaggle", {"tensorflow": "2.18.1", "torch": "2.6.0"}, {
        "KAGGLE_KERNEL_RUN_TYPE": "Interactive", "TF_FORCE_GPU_ALLOW_GROWTH": "true", "TF_CPP_MIN_LOG_LEVEL": "1",
        "TORCH_HOME": "/kaggle/input", "KERAS_BACKEND": "tensorflow", "CUDA_MAJOR_VERSION": "12", "CUDA_MINOR_VERSION": "5"}),
    Healthy("SLURM with four GPUs", _TORCH, {**_SLURM, "NCCL_DEBUG": "WARN", "NCCL_SOCKET_IFNAME": "ib0"}),
    Healthy("SLURM step on a CPU node", _TORCH, {"SLURM_JOB_ID": "1", "SLURM_CPUS_PER_TASK": "8", "OMP_NUM_THREADS": "8", "MKL_NUM_THREADS": "8"}),
    Healthy("torchrun, a rank", _TORCH, _RANK),
    Healthy("torchrun on InfiniBand", _TORCH, {
        **_RANK, "NCCL_IB_HCA": "mlx5_0:1,mlx5_1:1", "NCCL_IB_GID_INDEX": "3", "NCCL_IB_TC": "106", "NCCL_NET_GDR_LEVEL": "PHB",
        "NCCL_SOCKET_IFNAME": "^docker0,lo", "NCCL_P2P_LEVEL": "NVL", "NCCL_ALGO": "Ring,Tree", "NCCL_PROTO": "^LL128",
        "NCCL_DEBUG_SUBSYS": "INIT,NET", "NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": "/tmp/nccl.%h.%p.log"}),
    Healthy("AWS with EFA", _TORCH, {
        **_RANK, "FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1", "NCCL_TUNER_PLUGIN": "libnccl-ofi-tuner.so",
        "NCCL_BUFFSIZE": "8388608", "NCCL_P2P_NET_CHUNKSIZE": "524288", "OFI_NCCL_PROTOCOL": "RDMA"}),
    Healthy("GKE with TCPX", _TORCH, {
        "NCCL_CROSS_NIC": "0", "NCCL_GPUDIRECTTCPX_SOCKET_IFNAME": "eth1,eth2,eth3,eth4", "NCCL_GPUDIRECTTCPX_CTRL_DEV": "eth0",
        "NCCL_NSOCKS_PERTHREAD": "4", "NCCL_SOCKET_NTHREADS": "1", "NCCL_DYNAMIC_CHUNK_SIZE": "524288", "NCCL_NET_PLUGIN": "none"}),
    Healthy("Kubernetes pod", _TORCH, {
        "KUBERNETES_SERVICE_HOST": "10.96.0.1", "NVIDIA_VISIBLE_DEVICES": "GPU-5a3c1c7e-51a0-ffb0-37a0-1d2ce3a4f4aa",
        "TORCH_SERVICE_SERVICE_HOST": "10.1.2.3", "TF_SERVING_PORT": "tcp://10.0.0.7:8500", "TF_SERVING_SERVICE_PORT": "8500",
        "JAX_WORKER_PORT_8476_TCP": "tcp://10.0.0.9:8476", "TRITON_SERVER_PORT_8000_TCP_ADDR": "10.0.0.8"}),
    Healthy("conda activated", _TORCH, {
        "CONDA_PREFIX": "/opt/conda/envs/ml", "CONDA_DEFAULT_ENV": "ml", "CONDA_SHLVL": "2", "CONDA_PROMPT_MODIFIER": "(ml) ",
        "XML_CATALOG_FILES": "file:///opt/conda/envs/ml/etc/xml/catalog", "GSETTINGS_SCHEMA_DIR": "/opt/conda/envs/ml/share/glib"}),
    Healthy("conda with compilers", _TORCH, {
        "CUDA_HOME": "/opt/conda/envs/ml", "NVCC_PREPEND_FLAGS": "-ccbin=/opt/conda/envs/ml/bin/x86_64-conda-linux-gnu-c++",
        "CXX": "/opt/conda/envs/ml/bin/x86_64-conda-linux-gnu-c++", "TORCH_CUDA_ARCH_LIST": "8.6;8.9+PTX"}),
    Healthy("GitHub Actions, CPU wheels", {"jax": "0.7.2", "torch": "2.8.0"}, {
        "CI": "true", "GITHUB_ACTIONS": "true", "JAX_ENABLE_X64": "1", "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "JAX_NUM_CPU_DEVICES": "8", "TORCH_LOGS": "+dynamo", "PYTORCH_TESTING_DEVICE_ONLY_FOR": "cpu"}),
    Healthy("GitLab CI", _TF, {"CI": "true", "GITLAB_CI": "true", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "TF_USE_LEGACY_KERAS": "1"}),
    Healthy("Terraform beside TensorFlow", _TF, {
        "TF_VAR_region": "eu-west-1", "TF_LOG": "DEBUG", "TF_LOG_PATH": "/tmp/tf.log", "TF_PLUGIN_CACHE_DIR": "/home/ada/.terraform.d",
        "TF_IN_AUTOMATION": "1", "TF_WORKSPACE": "prod", "TF_CLI_ARGS_plan": "-parallelism=30", "TF_INPUT": "0"}),
    Healthy("the user's own names", _ALL, {
        "TORCH_MODEL_DIR": "/data/models", "TF_MODEL_DIR": "/data/tf", "JAX_MODEL": "gemma", "NCCL_TEST_BIN": "/opt/nccl-tests/build",
        "CUDA_DEVICE": "1", "CUDA_ARCH": "sm_90", "CUDA_ARCHS": "80;90", "XLA_DUMP_DIR": "/tmp/xla", "TRITON_MODEL_REPO": "/models",
        "MY_CUDA_VISIBLE_DEVICES": "0", "CUPY_NOTES": "see wiki", "NUMBA_NOTES": "x", "ORT_HOME": "/opt/ort", "PYTORCH_PORT": "8080",
        "TORCH_SERVE_PORT": "8080", "GPU_IDS": "0,1", "DEVICE": "cuda:0", "TF_SEED": "7", "TORCH_SEED": "7", "JAX_SEED": "7"}),
    Healthy("names that are near to known ones and are known too", _ALL, {
        "CUDA_VISIBLE_DEVICES": "0", "XLA_CLIENT_MEM_FRACTION": "0.5", "TORCH_NCCL_BLOCKING_WAIT": "1", "NCCL_BLOCKING_WAIT": "1",
        "CUDA_LAUNCH_BLOCKING": "0", "TF_GPU_THREAD_MODE": "gpu_private", "TF_GPU_THREAD_COUNT": "2", "JAX_PLATFORMS": "cuda,cpu"}),
    Healthy("allocator, one option", _TORCH, {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}),
    Healthy("allocator, several options", _TORCH, {"PYTORCH_CUDA_ALLOC_CONF": "garbage_collection_threshold:0.6,max_split_size_mb:128"}),
    Healthy("allocator, blanks and a list", _TORCH, {"PYTORCH_CUDA_ALLOC_CONF": "backend:native, roundup_power2_divisions:[256:1,512:2,1024:4,>:8]"}),
    Healthy("allocator, asynchronous", _TORCH, {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}),
    Healthy("allocator, the new name", {"torch": "2.9.0"}, {"PYTORCH_ALLOC_CONF": "max_split_size_mb:512,expandable_segments:False"}),
    Healthy("allocator, pinned memory", _TORCH, {"PYTORCH_CUDA_ALLOC_CONF": "pinned_use_cuda_host_register:True,pinned_num_register_threads:8"}),
    Healthy("determinism", _TORCH, {"CUBLAS_WORKSPACE_CONFIG": ":4096:8", "PYTHONHASHSEED": "0", "CUBLASLT_WORKSPACE_SIZE": "32768"}),
    Healthy("determinism, the other size", _TORCH, {"CUBLAS_WORKSPACE_CONFIG": ":16:8", "NVIDIA_TF32_OVERRIDE": "0", "TORCH_BLAS_PREFER_CUBLASLT": "1"}),
    Healthy("determinism, two pools", _TORCH, {"CUBLAS_WORKSPACE_CONFIG": ":4096:2:16:8"}),
    Healthy("building an extension", _TORCH, {"TORCH_CUDA_ARCH_LIST": "Ampere;Hopper", "MAX_JOBS": "4", "FORCE_CUDA": "1", "TORCH_EXTENSIONS_DIR": "/tmp/ext"}),
    Healthy("building for new cards", _TORCH, {"TORCH_CUDA_ARCH_LIST": "9.0a 10.0 12.0+PTX", "TORCH_NVCC_FLAGS": "-Xfatbin -compress-all", "CUDAARCHS": "80;90"}),
    Healthy("compiling with inductor", _TORCH, {
        "TORCHINDUCTOR_CACHE_DIR": "/scratch/inductor", "TORCHINDUCTOR_FX_GRAPH_CACHE": "1", "TORCHINDUCTOR_MAX_AUTOTUNE": "1",
        "TORCHINDUCTOR_COMPILE_THREADS": "8", "TORCHDYNAMO_VERBOSE": "1", "TORCH_LOGS": "graph_breaks,recompiles,+inductor",
        "TORCH_COMPILE_DEBUG": "1", "TORCH_TRACE": "/tmp/trace", "TRITON_CACHE_DIR": "/scratch/triton", "TRITON_PRINT_AUTOTUNING": "1"}),
    Healthy("PyTorch, quiet and strict", _TORCH, {
        "TORCH_DISTRIBUTED_DEBUG": "DETAIL", "TORCH_CPP_LOG_LEVEL": "INFO", "TORCH_SHOW_CPP_STACKTRACES": "1",
        "PYTORCH_NO_CUDA_MEMORY_CACHING": "1", "PYTORCH_NVML_BASED_CUDA_CHECK": "1", "PYTORCH_ENABLE_MPS_FALLBACK": "1",
        "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1", "TORCH_CUDNN_V8_API_DISABLED": "1", "TORCH_USE_CUDA_DSA": "1"}),
    Healthy("NCCL watchdog", _TORCH, {
        "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": "1800", "TORCH_NCCL_ENABLE_MONITORING": "0", "TORCH_NCCL_TRACE_BUFFER_SIZE": "2000",
        "TORCH_NCCL_DUMP_ON_TIMEOUT": "true", "TORCH_NCCL_AVOID_RECORD_STREAMS": "1", "NCCL_NVLS_ENABLE": "2", "NCCL_CUMEM_ENABLE": "0"}),
    Healthy("JAX on GPU, memory", _JAX, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_PYTHON_CLIENT_MEM_FRACTION": ".75", "XLA_PYTHON_CLIENT_ALLOCATOR": "platform"}),
    Healthy("JAX on GPU, the newer names", _JAX, {"XLA_CLIENT_MEM_FRACTION": "0.95", "JAX_PLATFORMS": "cuda", "JAX_COMPILATION_CACHE_DIR": "/tmp/jax"}),
    Healthy("JAX, an empty choice of platform", _JAX, {"JAX_PLATFORMS": "", "JAX_DEBUG_NANS": "True", "JAX_TRACEBACK_FILTERING": "off"}),
    Healthy("JAX, precision and caches", _JAX, {
        "JAX_DEFAULT_MATMUL_PRECISION": "bfloat16", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_LOG_COMPILES": "0",
        "JAX_ENABLE_X64": "true", "JAX_DEFAULT_DTYPE_BITS": "32", "JAX_NUMPY_DTYPE_PROMOTION": "strict", "JAX_THREEFRY_PARTITIONABLE": "1"}),
    Healthy("JAX, many XLA flags", _JAX, {
        "XLA_FLAGS": "--xla_gpu_autotune_level=4 --xla_gpu_deterministic_ops=true --xla_dump_to=/tmp/dump "
        "--xla_gpu_all_reduce_combine_threshold_bytes=134217728 --xla_disable_hlo_passes=rematerialization "
        "--xla_gpu_cuda_data_dir=/usr/local/cuda --xla_dump_hlo_as_text"}),
    Healthy("XLA flags without a value", {"jax": "0.6.2"}, {"XLA_FLAGS": "--xla_dump_hlo_as_text  --xla_gpu_graph_level=0", "TF_CPP_MIN_LOG_LEVEL": "0"}),
    Healthy("JAX in a multi-host job", _JAX, {**_SLURM, "JAX_COORDINATOR_ADDRESS": "gpu01:1234", "JAX_COORDINATOR_PORT": "1234", "JAX_LOCAL_DEVICE_IDS": "0"}),
    Healthy("TensorFlow with XLA", _TF, {"TF_XLA_FLAGS": "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit", "TF_GPU_ALLOCATOR": "cuda_malloc_async", "TF_DETERMINISTIC_OPS": "1"}),
    Healthy("TensorFlow, growth", _TF, {"TF_FORCE_GPU_ALLOW_GROWTH": "true", "TF_NUM_INTEROP_THREADS": "4", "TF_ENABLE_GPU_GARBAGE_COLLECTION": "false"}),
    Healthy("TensorFlow, several workers", _TF, {"TF_CONFIG": '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}', "TF_GPU_THREAD_MODE": "gpu_private"}),
    Healthy("an old TensorFlow", {"tensorflow": "2.3.4"}, {"TF_XLA_FLAGS": "--tf_xla_enable_xla_devices", "TF_ENABLE_AUTO_MIXED_PRECISION": "1", "TF_CUDNN_DETERMINISTIC": "1"}),
    Healthy("Keras on JAX", {"jax": "0.7.2", "tensorflow": "2.18.1"}, {"KERAS_BACKEND": "jax", "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "KERAS_HOME": "/tmp/k"}),
    Healthy("Numba", {"numba": "0.61.2"}, {
        "NUMBA_CACHE_DIR": "/tmp/numba", "NUMBA_NUM_THREADS": "4", "NUMBA_CUDA_USE_NVIDIA_BINDING": "1", "NUMBA_THREADING_LAYER": "omp",
        "NUMBA_ENABLE_CUDASIM": "0", "NUMBA_DISABLE_JIT": "0", "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY": "0", "NUMBA_CUDA_DRIVER": "/usr/lib/libcuda.so.1"}),
    Healthy("CuPy", {"cupy": "13.4.1"}, {
        "CUPY_CACHE_DIR": "/tmp/cupy", "CUPY_ACCELERATORS": "cub,cutensor", "CUPY_GPU_MEMORY_LIMIT": "90%", "CUPY_TF32": "1",
        "CUPY_CUDA_COMPILE_WITH_DEBUG": "0", "CUPY_CACHE_IN_MEMORY": "0", "CUPY_CUDA_PER_THREAD_DEFAULT_STREAM": "1"}),
    Healthy("ONNX Runtime", {"onnxruntime": "1.22.0"}, {"ORT_TENSORRT_FP16_ENABLE": "1", "ORT_TENSORRT_MAX_WORKSPACE_SIZE": "2147483648", "ORT_CUDA_UNAVAILABLE": "0"}),
    Healthy("Triton's own debugging", {"triton": "3.4.0"}, {"TRITON_ALWAYS_COMPILE": "1", "MLIR_ENABLE_DUMP": "1", "TRITON_KERNEL_DUMP": "1", "TRITON_PTXAS_PATH": "/usr/local/cuda/bin/ptxas", "TRITON_INTERPRET": "0"}),
    Healthy("the driver's options", {}, {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_LAUNCH_BLOCKING": "1", "CUDA_MODULE_LOADING": "EAGER", "CUDA_CACHE_MAXSIZE": "4294967296",
        "CUDA_CACHE_PATH": "/scratch/nv", "CUDA_FORCE_PTX_JIT": "0", "CUDA_DEVICE_MAX_CONNECTIONS": "32", "CUDA_AUTO_BOOST": "0",
        "CUDA_MPS_PIPE_DIRECTORY": "/tmp/nvidia-mps", "CUDA_MPS_LOG_DIRECTORY": "/tmp/nvidia-log", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "50"}),
    Healthy("logs of NVIDIA's libraries", _TORCH, {
        "CUDNN_LOGLEVEL_DBG": "2", "CUDNN_LOGDEST_DBG": "stdout", "CUBLAS_LOGINFO_DBG": "1", "CUBLAS_LOGDEST_DBG": "stdout",
        "CUBLASLT_LOG_LEVEL": "5", "CUDNN_FRONTEND_LOG_INFO": "0", "CUSPARSE_LOG_LEVEL": "1"}),
    Healthy("a JupyterHub", _ALL, {"JUPYTERHUB_USER": "ada", "JUPYTER_IMAGE": "quay/x", "NB_USER": "jovyan", "NVIDIA_DRIVER_CAPABILITIES": "all", "CUDA_VISIBLE_DEVICES": "MIG-3b7b8c0e-5a1c"}),
    Healthy("LSF and PBS", _TORCH, {"LSB_JOBID": "77", "LS_EXEC_T": "START", "PBS_JOBID": "9.pbs", "CUDA_VISIBLE_DEVICES1": "0,1", "CUDA_VISIBLE_DEVICES_ORIG": "0", "OMPI_COMM_WORLD_RANK": "0"}),
    Healthy("Ray worker", _TORCH, {"RAY_JOB_ID": "01000000", "CUDA_VISIBLE_DEVICES": "3", "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES": "1", "OMP_NUM_THREADS": "1", "NCCL_CUMEM_HOST_ENABLE": "0"}),
    Healthy("vLLM", _TORCH, {"VLLM_USE_V1": "1", "VLLM_ATTENTION_BACKEND": "FLASH_ATTN", "TORCHINDUCTOR_COMPILE_THREADS": "1", "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}),
    Healthy("DeepSpeed and Hugging Face", _TORCH, {"DS_BUILD_OPS": "0", "ACCELERATE_MIXED_PRECISION": "bf16", "HF_HOME": "/data/hf", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "USE_TORCH": "1", "USE_TF": "0", "XLA_USE_BF16": "1"}),
)  # fmt: skip
