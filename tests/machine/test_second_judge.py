"""Another program's eyes on what we pass on: detect-secrets; and what stays readable on purpose."""

from __future__ import annotations

from detect_secrets.core.scan import scan_line
from detect_secrets.settings import transient_settings

from fuzz import contact
from gpuwhy.machine.redact import People, Redactor

PLUGINS = ["AWSKeyDetector", "ArtifactoryDetector", "AzureStorageKeyDetector", "BasicAuthDetector", "CloudantDetector", "DiscordBotTokenDetector", "GitHubTokenDetector", "GitLabTokenDetector", "IbmCloudIamDetector", "JwtTokenDetector", "KeywordDetector", "MailchimpDetector", "NpmDetector", "OpenAIDetector", "PrivateKeyDetector", "PypiTokenDetector", "SendGridDetector", "SlackDetector", "SquareOAuthDetector", "StripeDetector", "TelegramBotTokenDetector", "TwilioKeyDetector"]


def seen(line: str) -> list[str]:
    return [one.secret_value for one in scan_line(line) if "REDACTED" not in one.secret_value]


def test_detect_secrets_finds_nothing_in_what_was_redacted():
    with transient_settings({"plugins_used": [{"name": one} for one in PLUGINS]}):
        lines = [row.format(secret) for row, secret in contact.ROWS]
        assert sum(bool(seen(line)) for line in lines) >= 15  # it does see them before
        redactor = Redactor(people=People("/home/nobody", (), "~", "$USER"))
        assert [line for line in map(redactor.hide, lines) if seen(line)] == []


def test_names_that_a_diagnosis_needs_stay_and_who_owns_them_does_not():
    """SECURITY.md: packages, versions, branches and folders stay; people, machines, secrets go."""
    redactor = Redactor("gpu-node-17", People("/home/mlindqvist", ("mlindqvist",), "~", "$USER"))
    text = (
        "acme-secret-kernels 1.2+acme.7 at /home/mlindqvist/work/falcon/src, branch feature/falcon-2,"
        " on gpu-node-17"
    )
    shown = redactor.hide(text)
    for name in ("acme-secret-kernels 1.2+acme.7", "~/work/falcon/src", "feature/falcon-2"):
        assert name in shown
    assert "mlindqvist" not in shown
    assert "gpu-node-17" not in shown
