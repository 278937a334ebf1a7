"""Secrets: what must not leave the machine in anything that people share, found by shape, by the name before it, by place.

Every replacement is `REDACTED-n`, the same n for the same secret, so that a report stays readable and a path can be
turned back while we run. What looks like a version, a hash of a wheel or the path of a library stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

MARK = "REDACTED"

_SHAPES = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"gh[pousr]_[A-Za-z0-9]{16,255}|github_pat_[A-Za-z0-9_]{16,255}|gl(?:pat|ptt|dt|rt|soat|cbt)-[\w-]{12,255}"
    r"|(?:AKIA|ASIA|AIDA|AROA|ABIA|ACCA)[A-Z0-9]{12,20}(?![a-z0-9])|xox[abeoprs]-[A-Za-z0-9-]{8,255}|xapp-[A-Za-z0-9-]{8,255}"
    r"|AIza[\w-]{30,60}|ya29\.[\w-]{16,500}|GOCSPX-[\w-]{16,60}|sk-[A-Za-z0-9_-]{16,255}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{12,255}"
    r"|hf_[A-Za-z0-9]{16,100}|api_org_[A-Za-z0-9]{16,100}|npm_[A-Za-z0-9]{16,100}|pypi-[A-Za-z0-9_-]{16,500}|nvapi-[\w-]{16,255}"
    r"|dop_v1_[a-f0-9]{16,100}|dapi[a-f0-9]{28,64}|dckr_(?:pat|oat)_[\w-]{12,255}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{16,64}"
    r"|SG\.[\w-]{12,64}\.[\w-]{12,128}|key-[a-f0-9]{32}|EAACEdEose0cBA[A-Za-z0-9]{10,300}|AGE-SECRET-KEY-1[A-Z0-9]{20,80}"
    r"|r8_[A-Za-z0-9]{20,80}|gsk_[A-Za-z0-9]{20,100}|xai-[A-Za-z0-9]{20,120}|lin_api_[A-Za-z0-9]{20,80}|ATATT3[\w=-]{20,300}"
    r"|tfp_[A-Za-z0-9]{20,100}|pscale_(?:tkn|pw)_[\w-]{16,100}|sntrys_[\w=-]{20,300}|glc_[A-Za-z0-9+/=]{20,300}"
    r"|hvs\.[\w-]{16,300}|s\.[A-Za-z0-9]{24}(?![\w.])|v2\.public\.[\w-]{20,500}|\d{8,10}:AA[\w-]{30,40}"
    r"|eyJ[\w-]{8,4000}\.[\w-]{8,8000}(?:\.[\w-]{0,4000})?"
    r")(?![A-Za-z0-9])"
)
"""Tokens that say by their first letters whose they are."""
_PRIVATE = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]{0,12000})(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_IN_URL = re.compile(r"(?<![\w+.-])([A-Za-z][A-Za-z0-9+.-]{1,20}:/{2})([^\s/'\"<>`|]{1,300})@(?=[\w\[])")

_STRONG = (
    r"pass(?:word|wd|phrase|code)?|pwd|secret|credentials?|creds?|api[_-]?key|apikey|access[_-]?key(?:[_-]?id)?|private[_-]?key"
    r"|account[_-]?key|shared[_-]?key|secret[_-]?key|encryption[_-]?key|signing[_-]?key|license[_-]?key|client[_-]?secret"
    r"|authorization|proxy-authorization|x-api-key|cookie|set-cookie|session[_-]?(?:id|key)|bearer"
    r"|(?:access|auth|api|hf|hub|huggingface|github|gh|gitlab|git|jupyter|csrf|xsrf|refresh|session|private|secret|user|bot|registry"
    r"|npm|pypi|wandb|slack|deploy|ci|job|personal[_-]?access|identity|id|sas|service|oauth|login|security|vault)[_-]?token"
)
_WEAK = r"tokens?|keys?|auth|sig|signature|pat|jwt|nonce|salt|apitoken|wandb"
_VALUE = (
    r"(?:\"(?P<{0}1>[^\"\n]{{1,2000}})\"|'(?P<{0}2>[^'\n]{{1,2000}})'|(?P<{0}3>[^\s'\",;&<>(){{}}\[\]|`]{{3,2000}}))"
)
_TIE = r"[\"']?\s{0,3}(?:=>|:=|[:=])\s{0,3}"
_NAMED = re.compile(
    rf"(?<![A-Za-z0-9])(?:[A-Za-z0-9]{{1,40}}[_.-]){{0,6}}(?P<strong>{_STRONG})(?:[_-](?!file|path|dir|type|name|len|count|url)[A-Za-z0-9]{{1,20}}){{0,3}}"
    rf"{_TIE}(?:(?:bearer|basic|token|digest)\s{{1,3}})?{_VALUE.format('a')}"
    rf"|(?<![\w-])--?(?:[A-Za-z0-9]{{1,30}}-){{0,4}}(?:{_STRONG}|token)\s{{1,3}}(?!-){_VALUE.format('b')}"
    rf"|(?<![A-Za-z0-9])(?:[A-Za-z0-9]{{1,40}}[_.-]){{0,6}}(?P<weak>{_WEAK})(?:[_-][A-Za-z0-9]{{1,20}}){{0,2}}{_TIE}{_VALUE.format('c')}"
    rf"|(?<![A-Za-z0-9])(?:bearer|basic)\s{{1,3}}(?P<d3>[A-Za-z0-9+/=._~-]{{8,2000}})",
    re.IGNORECASE,
)
_CAMEL = re.compile(
    r"(?<![A-Za-z0-9])[a-z][a-z0-9]{0,30}(?:[A-Z][a-z0-9]{1,20}){0,3}(?P<strong>Password|Passwd|Secret|ApiKey|AccessKey|SecretKey"
    rf"|AccountKey|Credentials?|AuthToken|AccessToken|Token|SharedAccessKey){_TIE}{_VALUE.format('a')}"
    rf"|(?<![A-Za-z0-9])(?P<strong2>AccountKey|SharedAccessKey|SharedAccessSignature|AccessKey|SecretKey|Password|Pwd){_TIE}{_VALUE.format('b')}"
)
_PLAIN = re.compile(
    r"(?:none|null|nil|true|false|yes|no|on|off|set|unset|required|optional|missing|invalid|expired|empty|default|redacted.*|\*+|x+|\.+"
    r"|<[^>]*>?|\$\{?\w*\}?|%\w*%?|/[\w./+-]*|~/?[\w./+-]*|\d{1,9}(?:\.\d+){0,3}%?|str|int|bool|bytes|string|must|is|was|not|are|and|for|the|in)",
    re.IGNORECASE,
)
"""What stands after such a name and is no secret: words, numbers, variables, files."""
_WORDS = (
    "passw", "passp", "passc", "pass=", "pass:", "pass\"", "pwd", "secret", "cred", "key=", "key:", "key\"", "key'", "key ", "keys", "key_",
    "key-", "token", "auth", "cookie", "session", "sig=", "sig:", "signature", "pat=", "pat:", "pat\"", "jwt", "bearer ", "basic ", "nonce",
    "salt", "wandb", "hostname", "host_name", "nodename", "node_name", "nodelist", "node_list", "_addr", "computername", "computer_name",
    "machinename", "machine_name", "fqdn", "on this ", "on host ", "on node ", "on machine ", "srun: ", "user=", "user:", "user\"", "username",
    "user_name", "login", "logname", "owner", "maintainer", "uploaded by", "ip-", "ec2-", ".internal", ".intra", ".corp", ".lan",
    ".localdomain", ".cluster", ".svc", ".home", "*** ",
)  # fmt: skip
"""What a line must hold, in any case, before the slower expressions are tried on it; or one of these:"""
_NUMBERS = re.compile(
    r"\.\d{1,3}\.\d{1,3}\.\d|:[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:|-[0-9A-Fa-f]{2}-[0-9A-Fa-f]{2}-[0-9A-Fa-f]{2}-"
)

_MAIL = re.compile(
    r"(?<![\w.%+/@-])[A-Za-z0-9][\w.%+-]{0,63}@(?!lib\w)(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,5}"
    r"(?!(?:so|dll|py|pyc|cu|cuh|cpp|cc|c|h|hpp|json|txt|cfg|gz|whl|service|socket|timer|slice|scope|mount|target|function|git)\b)[A-Za-z]{2,18}(?![\w@(-])"
)
_ADDRESS = re.compile(
    r"(?<![\w.])(?!127\.|0\.0\.0\.0|255\.255)(?:\d{1,3}\.){3}\d{1,3}(?=:\d{2,5}(?!\d))(?![\d.]*\.)"
    r"|(?<![\w.])(?:192\.168|172\.(?:1[6-9]|2\d|3[01])|169\.254|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.\d{1,3}\.\d{1,3}(?![\w.]*\w)"
    r"|(?<=://)(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}"
)
_ADDRESS_NAMED = re.compile(
    r"(?<![A-Za-z])((?:[A-Za-z0-9]{1,20}_){0,3}(?:addr(?:ess)?|ip|ips|inet6?|host(?:name)?|endpoints?|master|server|peer|node|remote|nodelist|gateway)"
    r"(?:\s{0,2}[:=]\s{0,2}|\s+(?:is\s+)?)[\"'(\[<]?|(?:connect(?:ed|ion|ing)?|listen(?:ing)?|bind|bound|reach|ssh|ping|rendezvous|tcp|rdzv[_-]\w{1,20})"
    r"\s+(?:to|on|from|at|with)?\s*[\"'(\[<]?)(?!127\.|0\.0\.0\.0)((?:\d{1,3}\.){3}\d{1,3})(?![\d.]*\d\.)",
    re.IGNORECASE,
)
_ADDRESS_6 = re.compile(
    r"(?<![\w:.])(?=[0-9a-f:]{0,40}[a-f])(?:[0-9a-f]{1,4}:){3,7}(?::?[0-9a-f]{1,4})(?:%\w{1,16})?(?![\w:.])"
    r"|(?<![\w:])(?:fe80|fd[0-9a-f]{2}|2[0-9a-f]{3}):(?:[0-9a-f]{0,4}:){1,6}[0-9a-f]{0,4}(?![\w:])"
    r"|(?<![\w:.-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:.-])",
    re.IGNORECASE,
)
_NODE = re.compile(
    r"(?<![\w.-])(?:ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}|ec2-[\d-]{7,20})(?:\.[\w-]{1,60}){0,6}"
    r"|(?<![\w.@/-])[A-Za-z0-9][\w-]{0,62}(?:\.[A-Za-z0-9][\w-]{0,62}){0,5}\.(?:internal|intranet|intra|corp|lan|localdomain|cluster\.local|svc|home\.arpa)(?![\w-])"
)
_NODE_NAMED = re.compile(
    r"((?<![\w-])(?:hostname|host_name|nodename|node_name|nodelist|node_list|master_addr|computer_?name|machine_?name|fqdn)[\"']?\s{0,2}[:=]\s{0,2}[\"']?"
    r"|(?<![\w-])on (?:this )?(?:host|node|machine) [(\"']?|srun: error: |(?<![\w-])task launch for [\d.]{1,20} on node |\*{3} (?:JOB|STEP) [\d.]{1,24} ON )"
    r"(?!localhost|and |is |are |the |with |this |that |has |for |to |in |or |not |memory|gpu|only|which|where|was |if |it )([A-Za-z][\w-]{1,62}(?:\[[\d,-]{1,60}\])?(?:\.[\w-]{1,62}){0,6})",
    re.IGNORECASE,
)
_USER_NAMED = re.compile(
    r"((?<![\w-])(?:user(?:_?name)?|login|logname|author|owner|maintainer|uploaded by)[\"']?(?:\s{0,2}=\s{0,2}|:\s{0,2})[\"']?)"
    r"(?!root\b|none\b|null\b|true\b|false\b|\d+\b)([A-Za-z][\w.-]{2,63})(?=[\"'\s,;)]|$)",
    re.IGNORECASE,
)
_EMPTY = frozenset(
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


class Redactor:
    """Replaces secrets in texts, each by its own mark, and can put them back into a path."""

    def __init__(self, host: str = "") -> None:
        self._marks: dict[str, str] = {}
        name = host.partition(".")[0]
        wanted = [one for one in {host, name} if len(one) > 3 and one.lower() not in _EMPTY]
        whole = "|".join(re.escape(one) for one in sorted(wanted, key=len, reverse=True))
        self._host = re.compile(rf"(?<![\w.-])(?:{whole})(?![\w-])") if whole else None

    def hide(self, text: str) -> str:
        """A text without what must not be shared."""
        if len(text) < 4:
            return text
        if "-----BEGIN" in text:
            text = _PRIVATE.sub(self._whole, text)
        if "://" in text and "@" in text:
            text = _IN_URL.sub(lambda found: f"{found[1]}{self.mark(found[2])}@", text)
        text = _SHAPES.sub(self._whole, text)
        if "@" in text:
            text = _MAIL.sub(self._whole, text)
        if self._host is not None:
            text = self._host.sub("host", text)
        return "".join(self._by_line(text))

    def _by_line(self, text: str) -> Iterator[str]:
        """The text, the lines that say something of keys, addresses or people without them."""
        done = 0
        for place in sorted(_suspicious(text)):
            if place < done:
                continue
            start = text.rfind("\n", done, place) + 1 or done
            end = text.find("\n", place)
            end = end if end >= 0 else len(text)
            yield text[done:start]
            yield self._places(_CAMEL.sub(self._named, _NAMED.sub(self._named, text[start:end])))
            done = end
        yield text[done:]

    def _places(self, line: str) -> str:
        """Addresses and names of machines and people."""
        if line.count(".") >= 3:
            line = _ADDRESS_NAMED.sub(self._second, _ADDRESS.sub(self._whole, line))
        if line.count(":") >= 3 or line.count("-") >= 5:
            line = _ADDRESS_6.sub(self._whole, line)
        line = _NODE.sub(self._whole, line)
        return _USER_NAMED.sub(self._second, _NODE_NAMED.sub(self._second, line))

    def _second(self, found: re.Match[str]) -> str:
        return found[1] + self.mark(found[2])

    def back(self, text: str) -> str:
        """A path of ours with the secrets that are in it on this machine."""
        if MARK not in text:
            return text
        secrets = {mark: secret for secret, mark in self._marks.items()}
        return re.sub(rf"{MARK}-\d+", lambda found: secrets.get(found[0], found[0]), text)

    def mark(self, secret: str) -> str:
        """What stands for a secret."""
        if secret.startswith(MARK):
            return secret
        return self._marks.setdefault(secret, f"{MARK}-{len(self._marks) + 1}")

    def _whole(self, found: re.Match[str]) -> str:
        return self.mark(found[0])

    def _named(self, found: re.Match[str]) -> str:
        groups = found.groupdict()
        place = next(
            (
                name
                for name, value in groups.items()
                if value is not None and name[-1].isdigit() and "strong" not in name
            ),
            "",
        )
        value = groups.get(place) or ""
        if not value or not _secret(value, bool(groups.get("weak")), place == "d3"):
            return found[0]
        start = found.start(place) - found.start()
        return found[0][:start] + self.mark(value) + found[0][start + len(value) :]


def _suspicious(text: str) -> Iterator[int]:
    """Places in the lines that may hold something: of each word one a line, found with the speed of memory."""
    low = text.lower()
    if len(low) != len(text):  # a letter whose lower case is two
        low = text
    for word in _WORDS:
        place = low.find(word)
        while place >= 0:
            yield place
            end = low.find("\n", place)
            place = low.find(word, end) if end >= 0 else -1
    for found in _NUMBERS.finditer(text):
        yield found.start()


def _secret(value: str, weak: bool, bare: bool) -> bool:
    if value.startswith(MARK) or _PLAIN.fullmatch(value):
        return False
    digits, letters = sum(map(str.isdigit, value)), sum(map(str.isalpha, value))
    if bare:
        return bool(digits) or "=" in value
    if not weak:
        return len(value) >= 3
    return len(value) >= 8 and digits >= 2 and letters >= 2 and not re.search(r"[/\\ ]|\w\.\w+\.", value)


def of_values(value: object, hide: Callable[[str], str]) -> object:
    """Plain values with every text in them hidden, names too."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {hide(k) if isinstance(k, str) else k: of_values(v, hide) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [of_values(one, hide) for one in value]
    return value
