"""What secrets, addresses and names of machines and people look like: data of redact.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property


class Lazy:
    """An expression that is compiled when it is first used: most reports hold few of these."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern, self.flags = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)

    def sub(self, by: Callable[[re.Match[str]], str], text: str) -> str:
        """As of a compiled one."""
        return self._compiled.sub(by, text)

    def search(self, text: str) -> re.Match[str] | None:
        """As of a compiled one."""
        return self._compiled.search(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """As of a compiled one."""
        return self._compiled.fullmatch(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """As of a compiled one."""
        return self._compiled.finditer(text)


SHAPES = Lazy(
    r"(?:(?<![A-Za-z0-9])|(?<=bot))(?:"
    r"gh[pousr]_[A-Za-z0-9]{16,255}|github_pat_[A-Za-z0-9_]{16,255}|gl(?:pat|ptt|dt|rt|soat"
    r"|cbt)-[\w-]{12,255}"
    r"|(?:AKIA|ASIA|AIDA|AROA|ABIA|ACCA)[A-Z0-9]{12,20}(?![a-z0-9])"
    r"|xox[abeoprs]-[A-Za-z0-9-]{8,255}|xapp-[A-Za-z0-9-]{8,255}"
    r"|AIza[\w-]{30,60}|ya29\.[\w-]{16,500}|GOCSPX-[\w-]{16,60}|sk-[A-Za-z0-9_-]{16,255}|(?:sk"
    r"|rk|pk)_(?:live|test)_[A-Za-z0-9]{12,255}"
    r"|hf_[A-Za-z0-9]{16,100}|api_org_[A-Za-z0-9]{16,100}|npm_[A-Za-z0-9]{16,100}"
    r"|pypi-[A-Za-z0-9_-]{16,500}|nvapi-[\w-]{16,255}"
    r"|dop_v1_[a-f0-9]{16,100}|dapi[a-f0-9]{28,64}|dckr_(?:pat|oat)_[\w-]{12,255}|shp(?:at|ca"
    r"|pa|ss)_[a-fA-F0-9]{16,64}"
    r"|SG\.[\w-]{12,64}\.[\w-]{12,128}|key-[a-f0-9]{32}|EAACEdEose0cBA[A-Za-z0-9]{10,300}"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{20,80}"
    r"|r8_[A-Za-z0-9]{20,80}|gsk_[A-Za-z0-9]{20,100}|xai-[A-Za-z0-9]{20,120}"
    r"|lin_api_[A-Za-z0-9]{20,80}|ATATT3[\w=-]{20,300}"
    r"|tfp_[A-Za-z0-9]{20,100}|pscale_(?:tkn|pw)_[\w-]{16,100}|sntrys_[\w=-]{20,300}"
    r"|glc_[A-Za-z0-9+/=]{20,300}"
    r"|hvs\.[\w-]{16,300}|s\.[A-Za-z0-9]{24}(?![\w.])|v2\.public\.[\w-]{20,500}"
    r"|\d{8,10}:AA[\w-]{30,40}|LS0tLS1CRUdJTi[A-Za-z0-9+/=]{8,9000}"
    r"|eyJ[\w-]{8,4000}\.[\w-]{8,8000}(?:\.[\w-]{0,4000})?"
    r")(?![A-Za-z0-9])"
)
"""Tokens that say by their first letters whose they are (LS0t: a key in PEM, coded again)."""
PRIVATE = Lazy(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]{0,12000})(?:-----END "
    r"[A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
IN_URL = Lazy(
    r"(?<![\w+.-])([A-Za-z][A-Za-z0-9+.-]{1,20}:/{2})([^\s/'\"<>`|]{1,300})@(?=[\w\[])"
    r"|(?<![\w+.:/-])(/{2})([^\s/:'\"<>`|@]{1,100}:[^\s/'\"<>`|@]{1,200})@(?=[\w\[])"
)
"""The name and password of an address, with a scheme or without one: https://u:p@h, //u:p@h."""

STRONG = (
    r"[a-z]{0,12}passw(?:or)?d|pass(?:wd|phrase|code)?|[a-z]{0,12}pwd|secret|credentials?"
    r"|creds?|[a-z]{0,12}api[_-]?key|[a-z]{0,12}access[_-]?key(?:[_-]?id)?|private[_-]?key"
    r"|account[_-]?key|shared[_-]?key|secret[_-]?key|encryption[_-]?key|signing[_-]?key"
    r"|license[_-]?key|client[_-]?secret"
    r"|authorization|proxy-authorization|x-api-key|cookie|set-cookie|session[_-]?(?:id|key)|bearer"
    r"|(?:access|auth|api|hf|hub|huggingface|github|gh|gitlab|git|jupyter|csrf|xsrf|refresh"
    r"|session|private|secret|user|bot|registry"
    r"|npm|pypi|wandb|slack|deploy|ci|job|personal[_-]?access|identity|id|sas|service|oauth"
    r"|login|security|vault)[_-]?token"
)
WEAK = r"tokens?|keys?|auth|sig|signature|pat|jwt|nonce|salt|apitoken|wandb"
VALUE = (
    r"(?:\"(?P<{0}1>[^\"\n]{{1,2000}})\"|'(?P<{0}2>[^'\n]{{1,2000}})'"
    r"|(?P<{0}3>[^\s'\",;&<>(){{}}\[\]|`]{{3,2000}}))"
)
TIE = r"[\"']?\s{0,3}(?:=>|:=|[:=])\s{0,3}"
NAMED = Lazy(
    rf"(?<![A-Za-z0-9])(?:[A-Za-z0-9]{{1,40}}[_.-]){{0,6}}(?P<strong>{STRONG})(?:[_-](?!file"
    rf"|path|dir|type|name|len|count|url)[A-Za-z0-9]{{1,20}}){{0,3}}"
    rf"{TIE}(?:(?:bearer|basic|token|digest|negotiate|ntlm|apikey"
    rf"|key)\s{{1,3}})?{VALUE.format('a')}"
    rf"|(?<![\w-])--?(?:[A-Za-z0-9]{{1,30}}-){{0,4}}(?:{STRONG}"
    rf"|token)\s{{1,3}}(?!-){VALUE.format('b')}"
    rf"|(?<![A-Za-z0-9])(?:[A-Za-z0-9]{{1,40}}[_.-]){{0,6}}(?P<weak>{WEAK})(?:[_-]"
    rf"[A-Za-z0-9]{{1,20}}){{0,2}}{TIE}{VALUE.format('c')}"
    rf"|(?<![A-Za-z0-9])(?:bearer|basic)\s{{1,3}}(?P<d3>[A-Za-z0-9+/=._~-]{{8,2000}})",
    re.IGNORECASE,
)
CAMEL = Lazy(
    r"(?<![A-Za-z0-9])[a-z][a-z0-9]{0,30}(?:[A-Z][a-z0-9]{1,20}){0,3}(?P<strong>Password|Passwd"
    r"|Secret|ApiKey|AccessKey|SecretKey"
    rf"|AccountKey|Credentials?|AuthToken|AccessToken|Token"
    rf"|SharedAccessKey){TIE}{VALUE.format('a')}"
    rf"|(?<![A-Za-z0-9])(?P<strong2>AccountKey|SharedAccessKey|SharedAccessSignature|AccessKey"
    rf"|SecretKey|Password|Pwd){TIE}{VALUE.format('b')}"
)
PLAIN = Lazy(
    r"(?:none|null|nil|true|false|yes|no|on|off|set|unset|required|optional|missing|invalid"
    r"|expired|empty|default|redacted.*|\*+|x+|\.+"
    r"|<[^>]*>?|\$\{?\w*\}?|%\w*%?|/[\w./+-]*|~/?[\w./+-]*|\d{1,9}(?:\.\d+){0,3}%?|str|int|bool"
    r"|bytes|string|must|is|was|not|are|and|for|the|in)",
    re.IGNORECASE,
)
"""What stands after such a name and is no secret: words, numbers, variables, files."""
_WORDS = (
    'passw|passp|passc|pass=|pass:|pass"|pwd|secret|cred|key=|key:|key"|key\'|key |keys|'
    'key_|key-|token|auth|cookie|session|sig=|sig:|signature|pat=|pat:|pat"|jwt|bearer |'
    "basic |nonce|salt|wandb|hostname|host_name|nodename|node_name|nodelist|node_list|_addr|"
    "computername|computer_name|machinename|machine_name|fqdn|on this |on host |on node |"
    'on machine |srun: |user=|user:|user"|username|user_name|login|logname|owner|maintainer|'
    "uploaded by|ip-|ec2-|.internal|.intra|.corp|.lan|.localdomain|.cluster|.svc|.home|*** |"
    "sshpass|-u |--user|/services/|/webhooks/|logged in|serial|ssh |scp |sftp |mosh |rsync |"
    "linux |aaaa|endpoint|connect|://|/t/| user |_user|userid|uid=|rw-|r-x| nccl |host:|"
    "host |addresses of|pdsh|slots=|mysql|mariadb|redis-cli|smbclient| by: |-by: |\\\\|mac |"
    "ether|negotiate|ntlm|src |dst "
)
WORDS = tuple(_WORDS.split("|"))
"""What a line must hold before the slower expressions are tried on it; or one of these:"""
NUMBERS = Lazy(
    r" \d\d:\d\d:\d\d [A-Za-z]|T\d\d:\d\d:\d\d|\.\d{1,3}\.\d{1,3}\.\d"
    r"|:[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:|-[0-9A-Fa-f]{2}-[0-9A-Fa-f]{2}-[0-9A-Fa-f]{2}-"
)

MAIL = Lazy(
    r"(?:(?:(?<![\w.])[A-Z][\w.'-]{1,30} ){1,4}<(?=[\w.%+-]{1,64}@))?(?<![\w.%+/@-])[A-Za-z0-9]"
    r"[\w.%+-]{0,63}@(?!lib\w)(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,5}"
    r"(?!(?:so|dll|py|pyc|cu|cuh|cpp|cc|c|h|hpp|json|txt|cfg|gz|whl|service|socket|timer|slice"
    r"|scope|mount|target|function|git)\b)[A-Za-z]{2,18}(?![\w@(-])"
)
ADDRESS = Lazy(
    r"(?<![\w.])(?!127\.|0\.0\.0\.0|255\.255)(?:\d{1,3}\.){3}\d{1,3}(?=:\d{2,5}(?!\d))(?![\d.]*\.)"
    r"|(?<![\w.])(?:192\.168|172\.(?:1[6-9]|2\d|3[01])|169\.254|100\.(?:6[4-9]|[7-9]\d|1[01]\d"
    r"|12[0-7]))\.\d{1,3}\.\d{1,3}(?![\w.]*\w)"
    r"|(?:(?<=://)|(?<=[a-z]\d:)|(?<=src )|(?<=dst ))(?!127\."
    r"|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}"
    r"|(?<![\w.])(?!127\.)(?:\d{1,3}\.){3}\d{1,3}(?=<\d{1,5}>)"
)
ADDRESS_NAMED = Lazy(
    r"(?<![A-Za-z])((?:[A-Za-z0-9]{1,20}_){0,3}(?:addr(?:ess)?|ip|ips|inet6?|host(?:name)?"
    r"|endpoints?|master|server|peer|node|remote|nodelist|gateway)"
    r"(?:\s{0,2}[:=]\s{0,2}|\s+(?:is\s+)?)[\"'(\[<]?|(?:connect(?:ed|ion|ing)?|listen(?:ing)?"
    r"|bind|bound|reach|ssh|ping|rendezvous|tcp|rdzv[_-]\w{1,20})"
    r"\s+(?:to|on|from|at|with)?\s*[\"'(\[<]?)(?!127\."
    r"|0\.0\.0\.0)((?:\d{1,3}\.){3}\d{1,3})(?![\d.]*\d\.)",
    re.IGNORECASE,
)
ADDRESS_6 = Lazy(
    r"(?<![\w:.])(?=[0-9a-f:]{0,40}[a-f])(?:[0-9a-f]{1,4}:){3,7}(?::?[0-9a-f]{1,4})"
    r"(?:%\w{1,16})?(?![\w:.])"
    r"|(?:(?<![\w:])|(?<=[a-z]\d:))(?:fe80|fd[0-9a-f]{2}"
    r"|2[0-9a-f]{3}):(?:[0-9a-f]{0,4}:){1,6}[0-9a-f]{0,4}(?:%\w{1,16})?(?![\w:])"
    r"|(?<![\w:.-])(?:[0-9a-f]{2}[:-]){5,31}[0-9a-f]{2}(?![\w:.-])",
    re.IGNORECASE,
)
ADDRESS_10 = Lazy(r"(?<![\w.:/-])10\.(?P<second>\d{1,3})\.(?P<third>\d{1,3})\.\d{1,3}(?![\w.-]*\w)")
"""An address of a private network, unless it is a version of an NVIDIA library: 10.3.5.147."""
OF_A_PACKAGE = Lazy(
    r"nvidia|cu(?:blas|fft|rand|solver|sparse|dart|dnn|da)|nvrtc|nccl\b(?! (?:INFO|WARN))|npp"
    r"|version|install|require|wheel|\bpip\b|conda|[<>=!~]=|release",
    re.IGNORECASE,
)
CARD = Lazy(
    r"(?<![\w.])(?=[0-9a-f.]{0,13}[a-f])[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?![\w.])",
    re.IGNORECASE,
)
NODE = Lazy(
    r"(?<![\w.-])(?:ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}|ec2-[\d-]{7,20})(?:\.[\w-]{1,60}){0,6}"
    r"|(?<![\w.@/-])[A-Za-z0-9][\w-]{0,62}(?:\.[A-Za-z0-9][\w-]{0,62}){0,5}\.(?:internal"
    r"|intranet|intra|corp|lan|localdomain|cluster\.local|svc|home\.arpa)(?![\w-])"
)
PAIRED = Lazy(
    r"((?<![\w-])sshpass\s{1,3}-p\s{0,2}|(?<![\w-])(?:mysql|mariadb|mysqldump"
    r"|mysqladmin)\s(?:[^\n|;]{0,120}\s)?-p|(?<![\w-])redis-cli\s(?:[^\n|;]{0,120}\s)?-a\s{1,3}"
    r"|(?<![\w-])smbclient\s(?:[^\n|;]{0,120}\s)?-U\s{0,3}[\w.\\-]{1,60}%"
    r"|^\s{0,20}password\s{1,3}(?=\S{1,200}\s{0,9}$)|(?<![\w-])(?:-u|--user)\s{1,3}[\w.@-]{1,60}:"
    r"|(?<![\w-])login\s{1,3}\S{1,60}\s{1,3}password\s{1,3}"
    r"|hooks\.slack\.com/services/|/api/webhooks/"
    r"|(?<![\w-])(?:ssh|scp|sftp|mosh"
    r"|rsync)\s{1,3}(?:-\S{1,60}\s{1,3}(?:[\w./]{1,60}\s{1,3})?){0,4}[\w.-]{1,32}@"
    r"|(?<![\w-])logged in as:?\s{1,3}"
    r"|(?<![\w-])serial(?: ?(?:number|no\.?))?\s{0,60}[:=]\s{0,3}(?!N/A|none|unknown|not )"
    r"|(?<![\w-])Linux (?!version)(?=[\w.-]{1,64} \d{1,2}\.\d{1,3}\.\d)|(?<![\w-])(?:ssh-(?:rsa"
    r"|dss|ed25519)|ecdsa-[\w-]{4,30}) (?=AAAA)"
    r"|(?<!\w)(?:-{1,2}(?:[a-z]{1,12}[_-])?|rdzv[_-])?endpoint[=: ]{1,3}(?!https?:|localhost"
    r"|127\.)(?=[\w.-]{2,64}:\d{2,5})"
    r"|(?<![\w-])(?:connect(?:ed|ing|ion)? to|addresse?s? of) [(\[]?(?!localhost|127\.|the "
    r"|a )(?=[\w.-]{2,64}(?:\]?, ?|\]?:)\d{2,5})"
    r"|(?<![\w-])(?:tcp|grpc|ssh|redis|amqp|nats|nfs)://(?!localhost|127\.|0\.0|\[)"
    r"|^(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[\d.]{0,8}(?:Z"
    r"|[+-]\d\d:?\d\d)) (?=[A-Za-z][\w.-]{1,62} [\w./@-]{1,60}(?:\[\d{1,9}\])?: ))"
    r"([^\s'\",;()<>:]{3,4000})",
    re.IGNORECASE | re.MULTILINE,
)
"""What a known neighbour betrays: options of tools, lines of uname and syslog, connections."""
PROMPT = Lazy(
    r"(?<![\w.@/-])([a-z_][\w.-]{0,31})@([A-Za-z][\w.-]{0,62})(?=:\\?[~/]|:\$"
    r"|[ ~\w./-]{1,80}\][#$])"
)
NODE_NAMED = Lazy(
    r"((?<![A-Za-z-])(?:[A-Za-z0-9]{1,12}_){0,3}(?:hostname|host_name|nodename|node_name"
    r"|nodelist|node_list"
    r"|master_addr|computer_?name|machine_?name|fqdn)[\"']?\s{0,2}[:=]\s{0,2}[\"']?"
    r"|^\s{0,12}(?:local |remote |peer )?host(?:name)?\s{0,30}:\s{1,30}"
    r"|(?<![\w-])pdsh\s(?:-\S{1,20}\s{1,3}(?:\d{1,6}\s{1,3})?){0,6}-w\s{1,3}"
    r"|(?<![\w-])ssh\s{1,3}(?=[\w-]{1,62}\.[\w.-]{2,100}(?:\s|$))"
    r"|(?<=[\s:])(?=[\w.-]{2,64}\sslots=\d)"
    r"|(?<=://)(?!localhost)(?=[\w.-]{2,100}:\d{4,5}(?!\d))"
    r"|(?<![\w-])on (?:host|node|machine) [(\"']?|(?<![\w-])on this (?:host|node"
    r"|machine) [(\"']|srun: error: "
    r"|(?<![\w-])task launch for [\d.]{1,20} on node |\*{3} (?:JOB|STEP) [\d.]{1,24} ON )"
    r"(?!localhost|and |is |are |the |with |this |that |has |for |to |in |or |not |memory|gpu\b"
    r"|only|which|where"
    r"|was |if |it |x86_64-|aarch64-"
    r"|https?:)([A-Za-z][\w-]{1,62}(?:\[[\d,-]{1,60}\])?(?:\.[\w-]{1,62}){0,6}(?:,[A-Za-z]"
    r"[\w.-]{1,62}){0,64})",
    re.IGNORECASE | re.MULTILINE,
)
NODE_OF_NCCL = Lazy(r"(?<![\w.-])([A-Za-z][\w.-]{1,63})(?=:\d{2,7}:\d{2,7} \[\d{1,3}\] NCCL )")
"""`gpu-7:4321:4321 [0] NCCL WARN`: NCCL begins its lines with the machine's name."""
USER_NAMED = Lazy(
    r"((?<![A-Za-z-])(?:[A-Za-z0-9]{1,12}_){0,3}(?:user(?:_?(?:name|id))?|login|logname|author"
    r"|owner|maintainer|uploaded by)[\"']?(?:\s{0,2}=\s{0,2}|:\s{0,2})[\"']?"
    r"|(?<![\w-])(?:for|by|as|of|from) user (?=[\"'`]|[\w-]{1,40}[\d.]|\S{1,60} (?:uid|on|from"
    r"|at|is not|does not|has no)\b)[\"'`]?|(?<![\w-])(?:uid|gid)=\d{3,10}\("
    r"|^\s{0,8}[-dlcbps](?:[r-][w-][xsStT-]){3}[.+@]?\s{1,3}\d{1,6}\s{1,3})"
    r"(?!root\b|none\b|null\b|true\b|false\b|users\b|\d+\b)([A-Za-z][\w.-]{2,63})(?=[\"'`\s,;)(]|$)"
    r"|((?<![\w-])(?:submitted|created|written|started|launched|requested|run|signed-off"
    r"|reported)[ -]by:\s{1,3})([^\W\d_][\w.'-]{1,40}(?: [^\W\d_][\w.'-]{1,40}){0,3})",
    re.IGNORECASE | re.MULTILINE,
)
BEHIND = Lazy(
    r"(?<![A-Za-z0-9])(?:(?:api|access|secret|private|auth|license)[ _-]?)?(?:keys?|tokens?"
    r"|secret|login|password|passphrase|credentials?)(?![A-Za-z0-9])"
    r"(?P<between>[^\n]{0,80}?[\s:='\"])(?P<value>[0-9a-f]{32}(?:[0-9a-f]{8}){0,4}"
    r"|[A-Za-z0-9+/_-]{24,200}={0,2})(?![\w/.-])|/t/(?P<path>[\w-]{8,80})(?=/)",
    re.IGNORECASE,
)
"""What looks random some words behind one for a key; the folder in which conda keeps one."""
HASHED = Lazy(
    r"commit|sha\d|sha-|hash|md5|digest|revision|checksum|blob|state_dict|\bsize mismatch"
    r"|tensor|layers?\.",
    re.IGNORECASE,
)
UNC = Lazy(r"((?<![^\s\"'=(,])\\{2,4})(?!wsl[$.])([A-Za-z][\w.-]{1,62})(?=\\{1,2}[\w$])")
EMPTY = frozenset(
    {
        "localhost",
        "localhost.localdomain",
        "host",
        "ubuntu",
        "debian",
        "gpu",
        "node",
        "server",
        "linux",
        "docker",
        "nvidia",
    }
)
COMMON = Lazy(
    r"(?:rank|gpu|cuda|worker|ps|eth|ib|mlx|en[ops]|device|task|trainer|chief|process|proc|pid"
    r"|job|step|stage|epoch|node|host|torch|python|py|cu|sm|x86_64|v)"
    r"[_-]?\d{1,2}(?:[._-]\d{1,3})*|[\d.,_-]+",
    re.IGNORECASE,
)
"""Words with a number that name no machine."""
TELLING = Lazy(
    r"key|token|secret|pass|pwd|auth|cred|sig|pat$|_pat_|jwt|cookie|dsn|salt|session", re.IGNORECASE
)
"""Names of variables whose values are learnt first, and found where they are printed alone."""
VERSION = Lazy(r"\d\.\d|[/\\]lib|\.so|site-packages|\s")
"""What no drawn word holds."""
