"""Secrets as tools really print and keep them, made up on 15 November 2026 after the expressions: a set for first contact.

    python -m fuzz.contact          what of them is left after the redactor
    python -m fuzz.contact places   ... in the answers of every command, planted in logs, variables, models, environments, files

Each row is a line with `{}` where a secret stands, and the secret; PLAIN are lines of the same kinds that hold none.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzz import doors

HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
B64 = "wJalrXUtnFEMIK7MDENGbPxRfiCYzEXAMPLEKEYq"
JWT = "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQifQ.c2lnbmF0dXJlLXNpZ25hdHVyZQ"

ROWS: tuple[tuple[str, str], ...] = (
    # cloud keys, as variables, files and logs have them
    ("AWS_SECRET_ACCESS_KEY={}", B64),
    ("aws_secret_access_key = {}", "abcdEFGHijklMNOPqrstUVWXyz0123456789ABcd"),
    ("aws_session_token={}", "IQoJb3JpZ2luX2VjEJr//////////wEaCXVzLWVhc3QtMSJHMEUCIQDx"),
    ("export AWS_ACCESS_KEY_ID={}", "ASIAQ3EGTWL5X7B2M4PO"),
    ("{{'AWS_SECRET_ACCESS_KEY': '{}'}}", B64[::-1]),
    ('"Credentials": {{"SecretAccessKey": "{}"}}', "Zx81bQpTmK2vR7nYcW4sLdH9gJ6fA3eU0iOoPqVw"),
    ('"SessionToken": "{}"', "FwoGZXIvYXdzEBYaDKLmNoPqRsTuVwXyZ0123"),
    ("DefaultEndpointsProtocol=https;AccountName=mlstore;AccountKey={};EndpointSuffix=core.windows.net", "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq=="),
    ("https://mlstore.blob.core.windows.net/data?sp=r&st=2026-01-01&se=2026-02-01&spr=https&sv=2022-11-02&sr=c&sig={}", "kQ8Zp3mV7tY1xB5nR9wL2cD6hG0jF4sA8eU3iO7qKzM%3D"),
    ("AZURE_CLIENT_SECRET={}", "p~Q8Q~3hK7vT2nB9xW5mR1cL6dG0jF4sA8eU3i"),
    ("https://bucket.s3.amazonaws.com/ckpt.pt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={}%2F20260101%2Fus-east-1%2Fs3%2Faws4_request", "AKIAI44QH8DHBEXAMPLE"),
    ("GET https://bucket.s3.amazonaws.com/ckpt.pt?X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature={}", HEX),
    ("https://s3.amazonaws.com/x?X-Amz-Security-Token={}&X-Amz-Date=20260101T000000Z", "IQoJb3JpZ2luX2VjEJr2F2F2F2F2FwEaCXVz"),
    ("https://storage.googleapis.com/b/model.bin?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Signature={}", HEX[::-1]),
    ("https://storage.googleapis.com/b/o?GoogleAccessId=x@y.iam.gserviceaccount.com&Expires=1767225600&Signature={}", "mK3v%2BT7nB9xW5mR1cL6dG0jF4sA8eU3iO7qKzM%3D"),
    ("https://d111111abcdef8.cloudfront.net/x?Policy=eyJTdGF0&Signature={}&Key-Pair-Id=K2JCJMDEHXQW5F", "nitfHRCrtziwO2HwPfWw~yYDhUF5EwRunQA-j19DzZr"),
    ('"private_key_id": "{}",', "8f2e1d0c9b8a7f6e5d4c3b2a19080706f5e4d3c2"),
    ('"private_key": "-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----\\n"', "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"),
    ("OCI key_file content: -----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", "MIIEowIBAAKCAQEAx8mK3vT7nB9xW5mR1cL6dG0jF4sA8eU3iO7q"),
    # package tools
    ("torch @ git+https://x-access-token:{}@github.com/org/torch-fork.git@main", "ghs_16C7e42F292c6912E7710c838347Ae178B4a"),
    ("-e git+https://{}@gitlab.example.org/team/kernels.git@0a1b2c3#egg=kernels", "glpat-Zx81bQpTmK2vR7nYcW4s"),
    ('{{"url": "https://ci-user:{}@git.example.org/a/b.git", "vcs_info": {{"vcs": "git", "commit_id": "0a1b"}}}}', "Winter-2026-Vault"),
    ("Looking in indexes: https://ci:****@packages.example.org/simple, https://{}@packages.example.org/simple", "deploy:T0pfSecretValue"),
    ("extra-index-url = https://__token__:{}@packages.example.org/simple", "glcbt-64_yQ2mR7nTx9cW4sLdH"),
    ("index-url: https://oauth2accesstoken:{}@us-python.pkg.example.dev/p/simple/", "ya29.a0AfH6SMBx-Zx81bQpTmK2vR7nYcW4sLdH9gJ"),
    ("UV_INDEX_PRIVATE_PASSWORD={}", "Kestrel!Harbor9"),
    ("POETRY_HTTP_BASIC_INTERNAL_PASSWORD={}", "morgenrot"),
    ("CONDA_TOKEN /t/{}/channel/linux-64/repodata.json", "ab-1f2e3d4c-5b6a-7980-91a2-b3c4d5e6f708"),
    ("https://conda.anaconda.example.org/t/{}/private/linux-64", "jo-8f2e1d0c-9b8a-7f6e-5d4c-3b2a19080706"),
    ("TWINE_PASSWORD={}", "pypi-AgEIcHlwaS5vcmcCJDhmMmUxZDBjLTliOGE"),
    ("  WARNING: Authentication failed for user {} on packages.example.org", "m.lindqvist"),
    # headers in logs
    ("DEBUG:urllib3: headers: {{'Authorization': 'Bearer {}'}}", "Zx81bQpTmK2vR7nYcW4sLdH9gJ"),
    ("> Authorization: Basic {}", "bWFyaWE6aHVudGVyMg=="),
    ("< WWW-Authenticate: x\n> authorization: token {}", "0123abcd4567ef89a0b1"),
    ("send: b'GET /api HTTP/1.1\\r\\nX-Api-Key: {}\\r\\nHost: h\\r\\n'", "q7Wm2Zx81bQpTmK2"),
    ("curl -H 'PRIVATE-TOKEN: {}' https://gitlab.example.org/api/v4", "Zx81bQpTmK2vR7nYcW4s"),
    ("Cookie: _ga=GA1.2; sessionid={}; csrftoken=x", "o8dw7gq1v2u3x4y5z6a7b8c9"),
    ("x-goog-api-key: {}", "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"),
    ("Ocp-Apim-Subscription-Key: {}", "0123456789abcdef0123456789abcdef"),
    ("api-key: {}", "84c5f1b0d6e94a0f8a6f0d2d3c1b7e5f"),
    ("Proxy-Authorization: Negotiate {}", "YIIJvwYGKwYBBQUCoIIJszCCCa+gDTAL"),
    ("X-Vault-Token: {}", "hvs.CAESIJ2mR7nTx9cW4sLdH9gJ6fA3eU0iOoPq"),
    ("X-Amz-Security-Token: {}", "IQoJb3JpZ2luX2VjEKr8T7nB9xW5mR1cL6dG0j"),
    # files of logins
    ("machine api.wandb.ai\n  login user\n  password {}", "7c4a8d09ca3762af61e59520943dc26494f8941b"),
    ("machine github.com login maria password {}", "Harbor-Kestrel-4"),
    ("//npm.pkg.github.com/:_authToken={}", "ghp_zZ12aaBBccDDeeFF3344556677889900abcd"),
    ('{{"auths": {{"nvcr.io": {{"auth": "{}"}}}}}}', "JG9hdXRodG9rZW46bnZhcGktWng4MWJRcFRtSzJ2Ujdu"),
    ('"password": "{}"', "p@ss w0rd with spaces"),
    ("    token: {}", JWT),
    ("    client-key-data: {}", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo="),
    ("    client-certificate-data: {}", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURJVENDQWdtZ0F3SUJBZ0lJ"),
    ("    id-token: {}", JWT[:-6] + "abcdef"),
    ("kubectl --token={} get pods", "sha256~Zx81bQpTmK2vR7nYcW4sLdH9gJ6fA3eU0iO"),
    ("kubeadm join 10.0.3.7:6443 --token {} --discovery-token-ca-cert-hash sha256:x", "abcdef.0123456789abcdef"),
    ("oc login --token={}", "sha256~V5mR1cL6dG0jF4sA8eU3iO7qKzMZx81bQpTmK2"),
    # trackers and hubs
    ("wandb: Appending key for api.wandb.ai to your netrc file: {}", "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"),
    ("wandb login {}", "f0e1d2c3b4a5968778695a4b3c2d1e0f01234567"),
    ("WANDB_API_KEY={}", "1234567890abcdef1234567890abcdef12345678"),
    ("huggingface-cli login --token {}", "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345678"),
    ("HUGGING_FACE_HUB_TOKEN={}", "hf_QwErTyUiOpAsDfGhJkLzXcVbNm98765432"),
    ("COMET_API_KEY={}", "QwErTyUiOpAsDfGhJkLzXcVbN"),
    ("NEPTUNE_API_TOKEN={}", "eyJhcGlfYWRkcmVzcyI6Imh0dHBzOi8vYXBwLm5lcHR1bmUuYWkifQ=="),
    ("MLFLOW_TRACKING_PASSWORD={}", "gletscher"),
    ("MLFLOW_TRACKING_URI=https://maria:{}@mlflow.example.org", "eis&feuer"),
    ("OPENAI_API_KEY={}", "sk-proj-T3BlbkFJZx81bQpTmK2vR7nYcW4sLdH9gJ6f"),
    ("ANTHROPIC_API_KEY={}", "sk-ant-api03-Zx81bQpTmK2vR7nYcW4sLdH9gJ6fA3eU"),
    ("NGC_API_KEY={}", "dGhpc2lzYW5nY2tleQ:8f2e1d0c-9b8a-7f6e-5d4c"),
    ("REPLICATE_API_TOKEN={}", "r8_Zx81bQpTmK2vR7nYcW4sLdH9gJ6fA3eU0iOoP"),
    ("KAGGLE_KEY={}", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"),
    ('kaggle.json {{"username":"{}","key":"0f1e2d3c4b5a69788796a5b4c3d2e1f0"}}', "marialindqvist"),
    ("slack webhook https://hooks.slack.com/services/{}", "T01ABCDEF/B02GHIJKL/mR1cL6dG0jF4sA8eU3iO7qKz"),
    ("discord https://discord.com/api/webhooks/{}", "104837265910283746/Zx81bQpTmK2vR7nYcW4sLdH9gJ6f"),
    ("SLACK_BOT_TOKEN={}", "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx"),
    ("telegram bot{}/sendMessage", "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"),
    ("SENTRY_DSN=https://{}@o447951.ingest.sentry.example/5429219", "0a1b2c3d4e5f60718293a4b5c6d7e8f9"),
    ("DD_API_KEY: {}", "9775a026f1ca7d1c6c5af9d94d9595a4"),
    ("GF_SECURITY_ADMIN_PASSWORD={}", "Leuchtturm77"),
    ("PREFECT_API_KEY={}", "pnu_Zx81bQpTmK2vR7nYcW4sLdH9gJ6fA3eU"),
    ("LIGHTNING_API_KEY={}", "5d4c3b2a-1908-0706-f5e4-d3c2b1a09f8e"),
    ("RUNPOD_API_KEY={}", "rpa_ZX81BQPTMK2VR7NYCW4SLDH9GJ6FA3EU0IOOP"),
    ("vastai set api-key {}", "8b1f2e3d4c5a69788796a5b4c3d2e1f08b1f2e3d4c5a69788796a5b4c3d2e1f0"),
    ("MODAL_TOKEN_SECRET={}", "as-Zx81bQpTmK2vR7nYcW4s"),
    ("TOGETHER_API_KEY={}", "tgp_v1_Zx81bQpTmK2vR7nYcW4sLdH9gJ6fA3eU"),
    ("PINECONE_API_KEY={}", "pcsk_4Zx81b_QpTmK2vR7nYcW4sLdH9gJ6fA3eU"),
    # databases and queues
    ("postgresql://maria:{}@db.example.org:5432/runs", "dünen%21"),
    ("optuna storage mysql+pymysql://root:{}@10.4.5.6/optuna", "hafen"),
    ("mongodb://admin:{}@m1,m2/?replicaSet=r", "Seeadler9"),
    ("amqps://guest:{}@mq.example.org/vhost", "Nordsee"),
    ("Server=db;Database=x;User Id=sa;Password={};", "Str0ng!Pa5s"),
    ("jdbc:postgresql://h/db?user=maria&password={}", "muscheln"),
    ("redis-cli -a {} ping", "Fl1eder"),
    ("mysql -u root -p{} runs", "K0rall3n"),
    ("psql 'host=db user=maria password={}'", "hagebutte"),
    ("smbclient //nas/share -U maria%{}", "Br0mbeere"),
    ("mount -t cifs //nas/x /mnt -o username=maria,password={}", "Schlehe"),
    ("ray start --redis-password={}", "5241590000000000x"),
    ("ray start --address=10.1.2.3:6379 --redis-password {}", "wacholder"),
    # people
    ("\\\\fileserver\\home\\{}\\train.py", "mlindqvist"),
    ("\\\\nas01\\users\\{}\\venv\\lib", "marial"),
    ("C:\\Users\\{}\\AppData\\Local\\Programs\\Python\\Python311\\python.exe", "Maria Lindqvist"),
    ("C:/Users/{}/train.py", "Märta"),
    ('File "C:\\\\Users\\\\{}\\\\x.py", line 3', "jürgen.groß"),
    ("/c/Users/{}/train.py", "marial"),
    ("/mnt/c/Users/{}/train.py", "Maria"),
    ("D:\\Profiles\\{}\\train.py", "mlindqvist"),
    ("/home/{}/train.py", "мария"),
    ("/home/{}/train.py", "王小明"),
    ("/Users/{}/Library/Caches", "josé.garcía"),
    ("/export/home/{}/x.py", "mlindq"),
    ("/nfs/home/{}/x.py", "mlindq"),
    ("/home/students/{}/x.py", "mlindq23"),
    ("/home/CORP/{}/x.py", "mlindq"),
    ("/scratch/{}/run.py", "mlabonte"),
    ("/scratch/{}/run.py", "benvenuti"),
    ("/scratch/{}/run.py", "devika"),
    ("/scratch/{}/run.py", "blabla-kurt"),
    ("/scratch/users/{}/run.py", "applegate"),
    ("/scratch1/{}/run.py", "tempelhof"),
    ("/scratch/gpfs/{}/run.py", "binoche"),
    ("/lustre/scratch/{}/run.py", "grouper"),
    ("/work/users/{}/run.py", "mlindq"),
    ("/gpfs/u/home/{}/x", "mlindq"),
    ("/global/cscratch1/sd/{}/x.py", "mlindq"),
    ("/cluster/home/{}/x.py", "mlindq"),
    ("/var/spool/slurmd/job123/slurm_script by user {} uid 5012", "mlindq"),
    ("slurmstepd: error: *** JOB 5012 ON {} CANCELLED AT 2026-01-01T00:00:00 ***", "tesla-a17"),
    ("JobId=5012 UserId={}(5012) GroupId=x", "mlindq"),
    ("Submitted by: {}", "Maria Lindqvist"),
    ("SLURM_JOB_USER={}", "mlindq"),
    ("USER={}", "mlindq"),
    ("LOGNAME={} HOME=/x", "mlindq"),
    ("maintainer: {} <m@example.org>", "Märta Öberg"),
    ("uid=5012({}) gid=100(users)", "mlindq"),
    ("drwxr-xr-x 4 {} users 4096 Jan  1 00:00 ckpt", "mlindq"),
    ("[{} ~]$ python train.py", "mlindq@login3"),
    ("(torch) {}:~/x$ python t.py", "maria@dgx-station"),
    ("mlflow.user={}", "mlindq"),
    ("contact: {}", "maria.lindqvist@uni-example.se"),
    # machines
    ("{}:4711:4790 [0] NCCL INFO Bootstrap : Using eth0", "tesla-a17"),
    ("{}:4711:4790 [0] NCCL INFO cudaDriverVersion 12040", "gpu017"),
    ("NCCL INFO NET/Socket : Using [0]ib0:{}<0>", "10.147.22.31"),
    ("NCCL INFO Bootstrap : Using [0]eth0:{}<43211>", "fe80::a00:27ff:fe4e:66a1%eth0"),
    ("listening on [{}]:29500", "2001:db8:85a3::8a2e:370:7334"),
    ("addr: {}", "2001:db8::1"),
    ("link/ether {} brd ff:ff:ff:ff:ff:ff", "9c:b6:d0:e8:3f:11"),
    ("Physical Address. . . : {}", "9C-B6-D0-E8-3F-11"),
    ("mac {}", "9cb6.d0e8.3f11"),
    ("link/infiniband {} brd", "80:00:02:08:fe:80:00:00:00:00:00:00:24:8a:07:03:00:a4:5c:12"),
    ("node_guid: {}", "248a:0703:00a4:5c12"),
    ("port GID {}", "fe80:0000:0000:0000:248a:0703:00a4:5c12"),
    ("Serial Number                         : {}", "1320221047263"),
    ("Board serial: {}", "PF2W8X1Q"),
    ("System Serial Number: {}", "MJ0FQ2LP"),
    ("Chassis Serial Number                 : {}", "J200R4F9"),
    ("MASTER_ADDR={} MASTER_PORT=29500", "tesla-a17"),
    ("SLURM_NODELIST={}", "tesla-a[17-20]"),
    ("SLURMD_NODENAME={}", "tesla-a17"),
    ("torchrun --rdzv_endpoint={}:29400 train.py", "tesla-a17"),
    ("--rdzv-endpoint {}:29400", "tesla-a17"),
    ("[W socket.cpp:663] [c10d] The client socket has failed to connect to [{}]:29500", "tesla-a17.hpc.example.edu"),
    ("[c10d] The IPv6 network addresses of ({}, 29500) cannot be retrieved", "tesla-a17"),
    ("  host      : {}", "tesla-a17.hpc.example.edu"),
    ("    host      : {}\n    rank      : 3", "tesla-a17"),
    ("srun: error: {}: tasks 0-7: Exited", "tesla-a[17-18]"),
    ("mpirun noticed that process rank 3 with PID 0 on node {} exited on signal 11", "tesla-a17"),
    ("Local host:   {}", "tesla-a17"),
    ("  Local host:              {}\n  Local device: mlx5_0", "tesla-a17"),
    ("(raylet, ip={}) worker died", "10.147.22.31"),
    ("(RayTrainWorker pid=4711, ip={}) CUDA error", "10.147.22.31"),
    ("(train_fn pid=4711, ip={}) x", "172.20.3.4"),
    ("Node ID 0a1b, IP {}", "10.147.22.31"),
    ("deepspeed --hostfile: {} slots=8", "tesla-a17"),
    ("[2026-01-01 00:00:00,000] [INFO] [runner.py:463] cmd = pdsh -S -f 1024 -w {} export", "tesla-a17,tesla-a18"),
    ("{}: [2026-01-01 00:00:00,000] [INFO] [launch.py:139:main] WORLD INFO DICT", "tesla-a17"),
    ("{}: RuntimeError: CUDA error: invalid device ordinal", "tesla-a17"),
    ("Jan 01 00:00:00 {} kernel: NVRM: Xid (PCI:0000:3b:00): 79", "tesla-a17"),
    ("2026-01-01T00:00:00.000000+01:00 {} kernel: NVRM: loading", "tesla-a17"),
    ("<4>Jan  1 00:00:00 {} systemd[1]: x", "tesla-a17"),
    ("Hostname: {}", "tesla-a17"),
    ("HOSTNAME={}", "tesla-a17"),
    ("COMPUTERNAME={}", "DESKTOP-7QK2M1P"),
    ("PS C:\\work> ssh {}", "tesla-a17.hpc.example.edu"),
    ("gpu-operator pod nvidia-driver-daemonset-x on node {}", "aks-gpunp-12345678-vmss000003"),
    ("Node: {}/10.0.3.7", "ip-10-0-3-7.eu-west-1.compute.internal"),
    ("nodeName: {}", "gke-train-pool-1-0a1b2c3d-x7q9"),
    ("on {}.us-central1-a.c.my-project.internal", "a3-mega-7"),
    ("tailscale {}", "100.101.102.103"),
    ("peer {} closed the connection", "10.147.22.31"),
    ("src {} dst 10.147.22.32", "10.147.22.31"),
    ("http://{}:8265/dashboard", "tesla-a17.hpc.example.edu"),
    ("jupyter http://{}:8888/?token=x", "tesla-a17"),
)  # fmt: skip

PLAIN: tuple[str, ...] = (
    "/scratch/conda/envs/torch/lib/libcudart.so.12",
    "/scratch/envs/torch-2.5/lib/python3.11/site-packages/torch/lib/libc10.so",
    "/scratch/cuda-12.4/lib64/libcudart.so.12",
    "/scratch/tmp/build/x.o",
    "/scratch/datasets/imagenet/train/n01440764",
    "/scratch/models/llama-7b/config.json",
    "/scratch/shared/software/cuda/12.4/lib64",
    "/scratch/slurm/job_123/x",
    "tesla t4: RuntimeError",
    "node: v18.17.0 npm 9.6.7",
    "Host: x86_64-pc-linux-gnu",
    "cuda: error 35", "rank0: RuntimeError: CUDA error: invalid device ordinal",
    "worker-3: RuntimeError: CUDA error", "torch: 2.5.1", "ERROR: CUDA error: out of memory",
    "token: <pad> key: value tokens: 4096", "key=value", "keys: ['a', 'b']", "primary_key: id", "num_key_value_heads: 8",
    "password authentication failed", "signature: (x: Tensor) -> Tensor", "Signature=def f(x)",
    "/t/cu124/torch_stable.html", "host=localhost user=root", "Node 0, zone DMA32",
    "0000:3b:00.0 VGA", "GPU 00000000:3B:00.0", "time 12:34:56:78", "sha256:165764f44ef8c61fcdfdfdbe769d687e06374059fbb388b6c89ecb0e28793a6f",
    "X-Cache: HIT", "drwxr-xr-x 2 root root 4096 Jan  1 00:00 lib", "uid=0(root) gid=0(root)", "on node 0 of 8", "peer 3 closed the connection",
    "src 10 dst 12", "driver 550.54.15 on node 3", "libcudnn.so.9.1.0.70", "cudnn 10.147.22.31-1 amd64",
    "Serial Number: N/A", "serial: no", "hostfile: slots=8", "process rank 3 with PID 0 exited on signal 11",
    "Using key 'a' of dict", "auth: none", "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.4\\bin",
    "\\\\.\\pipe\\docker_engine", "\\\\?\\C:\\Windows\\System32\\nvcuda.dll", "/usr/share/doc", "kernel: nvidia: loading out-of-tree module",
)  # fmt: skip


def left() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The rows whose secret is still there, and the plain lines that were changed."""
    from gpuwhy.machine.redact import Redactor

    leaked = [(row, secret) for row, secret in ROWS if secret in Redactor().hide(row.format(secret))]
    changed = [(line, shown) for line in PLAIN if (shown := Redactor().hide(line)) != line]
    return leaked, changed


def planted(top: Path) -> tuple[Path, dict[str, str]]:
    """A home whose logs, environment, model, files and variables hold the rows."""
    home = top / "home" / "mlindqvist"
    lines = [row.format(secret) for row, secret in ROWS]
    settings = dict(line.split("=", 1) for line in lines if re.fullmatch(r"[A-Z][A-Z0-9_]+=\S+", line))
    doors.model(home / "model", {f"m{n}": line for n, line in enumerate(lines)}, **settings, notes=lines)
    (home / "train.log").write_text("\n".join([*lines, doors.FAILS, ""]))
    for number in range(2):
        (home / "ranks").mkdir(exist_ok=True)
        text = "\n".join([f"hostname: tesla-a{17 + number}", *lines, f"[rank{number}]: {doors.FAILS}", ""])
        (home / "ranks" / f"rank{number}.log").write_text(text)
    _environment(home / "venv", lines)
    _files(home, lines, settings)
    steering = {"LD_LIBRARY_PATH": "/opt/lib:" + lines[8], "XLA_FLAGS": " ".join(lines[:6]), "CUDA_HOME": "/scratch/mlabonte/cuda"}
    return home, doors.plain_environ(home) | settings | steering | {"NCCL_DEBUG_FILE": lines[10], "USER": "mlindq"}


def _environment(venv: Path, lines: list[str]) -> None:
    site = venv / "lib" / "python3.11" / "site-packages"
    links = [line for line in lines if "://" in line and "@" in line]
    for number, (name, version) in enumerate((("torch", "2.5.1"), ("tensorflow", "2.15.0"), ("nvidia_cudnn_cu12", "9.1.0.70"))):
        info = site / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "direct_url.json").write_text(json.dumps({"url": links[number], "vcs_info": {"vcs": "git", "commit_id": links[-1]}}))
        (info / "INSTALLER").write_text("pip\n")
        (info / "RECORD").write_text(f"{name}/lib/libx.so,sha256=abc,1\n")
        more = "".join(f"Requires-Dist: x{n} @ {line}\n" for n, line in enumerate(links))
        (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\nAuthor: Maria Lindqvist\n{more}")
    (venv / "bin").mkdir()
    (venv / "bin" / "python").symlink_to(sys.executable)
    (venv / "pyvenv.cfg").write_text(f"home = /usr/bin\nprompt = {lines[0]}\ncommand = {lines[1]}\n")


def _files(home: Path, lines: list[str], settings: dict[str, str]) -> None:
    links = [line for line in lines if "git+" in line]
    (home / "requirements.txt").write_text("\n".join([*links, *(f"# {line}" for line in lines if "\n" not in line), "tensorflow-gpu==2.15", ""]))
    channel = next(line for line in lines if "/t/" in line and "://" in line)
    (home / "environment.yml").write_text(f"channels: ['{channel}']\ndependencies: [python=3.11, pytorch=1.4, cudatoolkit=9.0]\n")
    given = "".join(f"ENV {name}='{value}'\n" for name, value in settings.items())
    (home / "Dockerfile").write_text(f"FROM nvidia/cuda:12.1.0-base-ubuntu22.04\n{given}RUN pip install {links[0].split(' @ ')[-1]} torch==1.4\n")
    whole = {"services": {"t": {"image": "nvidia/cuda:10.0-base", "environment": settings, "runtime": "nvidia", "command": lines[:40]}}}
    (home / "compose.yaml").write_text(json.dumps(whole))
    (home / "job.sh").write_text("#!/bin/bash\n#SBATCH --gres=gpu:1\n" + "\n".join(f"export {k}='{v}'" for k, v in settings.items()) + "\npython t.py\n")


SHARED: tuple[tuple[str, str], ...] = (
    ("check --json --python venv", ""), ("check -v --python venv", ""), ("check --python venv --markdown --html c.html", "c.html"), ("record --python venv", ""),
    ("explain --log-only train.log --json", ""), ("explain train.log --python venv --json", ""), ("explain --log-only train.log --markdown --html e.html", "e.html"),
    ("explain --log-only train.log --junit j.xml --github", "j.xml"), ("explain --ranks ranks --markdown --html r.html", "r.html"),
    ("lint . --json", ""), ("lint . --markdown --html l.html", "l.html"), ("lint . --github", ""), ("lint . --sarif", ""), ("lint . --gitlab", ""),
    ("plan -r requirements.txt --driver 550 --json", ""), ("fix --python venv --json", ""), ("inspect --json venv", ""),
    ("fit model --gpu H100 --json", ""), ("fit model --gpu H100 --markdown --html f.html", "f.html"),
    ("run --json run.json --record rec.json --html run.html -- /bin/sh -c /bin/cat<train.log>&2;exit<3", "run.json rec.json run.html"),
    ("prove --json -- /bin/sh -c /bin/cat<train.log>&2;exit<3", ""), ("report --markdown --html p.html", "p.html"), ("check --jsonl --node n1", ""),
    ("releases torch --json", ""),
)  # fmt: skip


def answers(top: Path) -> Iterator[tuple[str, str]]:
    """Every command, and everything in its answer that people pass on."""
    home, environ = planted(top)
    for line, files in SHARED:
        argv = [word.replace("<", " ").replace("cat train", "cat train").replace(">&2", " >&2") for word in line.split()]
        bad, out, _ = doors.asked(argv, home, environ)
        said = "" if argv[0] == "run" else out
        yield line, said + "".join((home / name).read_text(encoding="utf-8") for name in files.split()) + "".join(bad)
    yield from _agent(home, environ)


def _agent(home: Path, environ: dict[str, str]) -> Iterator[tuple[str, str]]:
    script = ["/bin/sh", "-c", "cat train.log >&2; exit 3"]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("explain", {"file": "train.log"}), ("fit", {"model": "model", "gpu": "H100"}), ("lint", {"paths": ["."]}),
        ("check", {}), ("run", {"command_line": script}), ("prove", {"command_line": script}),
    ]  # fmt: skip
    with doors.client(home, environ, "--allow-run") as server:
        for number, (name, arguments) in enumerate(calls):
            yield f"mcp {name}", "".join(doors.until(server, doors.call(name, number, arguments), number))


def places() -> int:
    """Print each secret that an answer holds; how many there are."""
    total, count = 0, 0
    with tempfile.TemporaryDirectory(prefix="contact-") as place:
        for line, said in answers(Path(place)):
            held = sorted({secret for _, secret in ROWS if len(secret) > 4 and secret in said})
            total, count = total + len(held), count + 1
            print(f"{len(held):4} {len(said):8} characters  {line}: {held[:12]}", flush=True)
    print(f"{total} leaks of {len(ROWS)} secrets in {count} answers")
    return total


def main() -> None:
    """Print both lists and their lengths."""
    if "places" in sys.argv[1:]:
        sys.exit(places() > 0)
    leaked, changed = left()
    for row, secret in leaked:
        print(f"left     {row!r} {secret!r}")
    for line, shown in changed:
        print(f"changed  {line!r} -> {shown!r}")
    print(f"{len(leaked)} of {len(ROWS)} left, {len(changed)} of {len(PLAIN)} plain lines changed")


if __name__ == "__main__":
    main()
