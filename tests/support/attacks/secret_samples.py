"""A made-up secret of every kind, put together so that no file holds one."""

from __future__ import annotations

import random
import string
from collections.abc import Mapping

_RANDOM = random.Random(15)


def _of(letters: str, count: int) -> str:
    return "".join(_RANDOM.choices(letters, k=count))


def _letters(count: int) -> str:
    """Begins with a digit and a capital, as some kinds want."""
    return "7Q" + _of(string.ascii_letters + string.digits, count - 2)


def _hex(count: int) -> str:
    return _of("0123456789abcdef", count)


def _capitals(count: int) -> str:
    return _of(string.ascii_uppercase + string.digits, count)


def _uuid() -> str:
    return "-".join(map(_hex, (8, 4, 4, 4, 12)))


_BASE64 = "\n".join(_of(string.ascii_letters + string.digits + "+/", 64) for _ in range(12))

SAMPLES: Mapping[str, tuple[str, str]] = {
    # kind: what stands before the secret, and the secret
    "aws access key": ("", "AKIA" + _capitals(16)),
    "aws secret key": ('aws_secret_access_key = "', _letters(40)),
    "aws mws token": ("", "amzn.mws." + _uuid()),
    "aws bedrock key": ("", "ABSK" + _letters(120)),
    "google api key": ("", "AIza" + _letters(35)),
    "google oauth secret": ("", "GOCSPX-" + _letters(28)),
    "google oauth token": ("", "ya29." + _letters(60)),
    "google refresh token": ("", "1//0" + _letters(40)),
    "azure storage key": ("AccountName=ours;AccountKey=", _letters(86) + "=="),
    "azure shared access key": ("SharedAccessKeyName=root;SharedAccessKey=", _letters(43) + "="),
    "azure signature": ("se=2030-01-01&sp=r&sig=", _letters(43) + "%3D"),
    "azure client secret": ("", _letters(3) + "8Q~" + _letters(34)),
    "azure devops token": ("", _letters(76) + "AZDO" + _letters(4)),
    "github token": ("", "ghp_" + _letters(36)),
    "github oauth token": ("", "gho_" + _letters(36)),
    "github user token": ("", "ghu_" + _letters(36)),
    "github app token": ("", "ghs_" + _letters(36)),
    "github refresh token": ("", "ghr_" + _letters(76)),
    "github fine-grained token": ("", "github_pat_" + _letters(22) + "_" + _letters(59)),
    "gitlab token": ("", "glpat-" + _letters(20)),
    "slack token": ("", "xoxb-" + "1234567890-" * 2 + _letters(24)),
    "slack app token": ("", "xapp-1-" + _capitals(11) + "-1234567890-" + _hex(64)),
    "slack webhook": ("https://", "hooks.slack.com/" + "services/T1234567/B1234567/" + _letters(24)),
    "stripe key": ("", "sk_live_" + _letters(24)),
    "stripe webhook secret": ("", "whsec_" + _letters(32)),
    "anthropic key": ("", "sk-ant-" + "api03-" + _letters(95)),
    "openrouter key": ("", "sk-or-v1-" + _hex(64)),
    "openai key": ("", "sk-proj-" + _letters(48)),
    "hugging face token": ("", "hf_" + _letters(34)),
    "xai key": ("", "xai-" + _letters(80)),
    "groq key": ("", "gsk_" + _letters(52)),
    "replicate token": ("", "r8_" + _letters(37)),
    "perplexity key": ("", "pplx-" + _letters(48)),
    "nvidia key": ("", "nvapi-" + _letters(64)),
    "voyage key": ("", "pa-" + _letters(43)),
    "langsmith key": ("", "lsv2_pt_" + _hex(32) + "_" + _hex(10)),
    "tavily key": ("", "tvly-" + _letters(32)),
    "npm token": ("", "npm_" + _letters(36)),
    "pypi token": ("", "pypi-AgE" + "IcHlwaS5vcmc" + _letters(80)),
    "rubygems key": ("", "rubygems_" + _hex(48)),
    "docker token": ("", "dckr_pat_" + _letters(27)),
    "artifactory token": ("", "AKCp" + _letters(69)),
    "twilio key": ("", "SK" + _hex(32)),
    "twilio token": ("TWILIO_AUTH_TOKEN=", _hex(32)),
    "sendgrid key": ("", "SG." + _letters(22) + "." + _letters(43)),
    "brevo key": ("", "xkeysib-" + _hex(64) + "-" + _letters(16)),
    "mailgun key": ("", "key-" + _hex(32)),
    "mailchimp key": ("", _hex(32) + "-us14"),
    "telegram token": ("123456789", ":AA" + _letters(33)),
    "discord webhook": ("https://", "discord.com/api/webhooks/" + "1" * 18 + "/" + _letters(68)),
    "digitalocean token": ("", "dop_v1_" + _hex(64)),
    "heroku token": ("", "HRKU-" + _letters(60)),
    "fly token": ("", "fo1_" + _letters(43)),
    "supabase key": ("", "sbp_" + _hex(40)),
    "planetscale token": ("", "pscale_tkn_" + _letters(43)),
    "databricks token": ("", "dapi" + _hex(32)),
    "shopify token": ("", "shpat_" + _hex(32)),
    "square token": ("", "sq0csp-" + _letters(43)),
    "square access token": ("", "EAAAE" + _letters(59)),
    "hubspot token": ("", "pat-na1-" + _uuid()),
    "plaid token": ("", "access-sandbox-" + _uuid()),
    "linear key": ("", "lin_api_" + _letters(40)),
    "notion token": ("", "ntn_" + _letters(46)),
    "atlassian token": ("", "ATATT3" + _letters(186)),
    "figma token": ("", "figd_" + _letters(40)),
    "postman key": ("", "PMAK-" + _hex(24) + "-" + _hex(34)),
    "grafana token": ("", "glsa_" + _letters(32) + "_" + _hex(8)),
    "new relic key": ("", "NRAK-" + _capitals(27)),
    "sentry token": ("", "sntryu_" + _hex(64)),
    "dynatrace token": ("", "dt0c01." + _capitals(24) + "." + _capitals(64)),
    "datadog key": ("DD_API_KEY: ", _hex(32)),
    "cloudflare token": ('CLOUDFLARE_API_TOKEN="', _letters(40)),
    "cloudflare ca key": ("", "v1.0-" + _hex(24) + "-" + _hex(146)),
    "vault token": ("", "hvs." + _letters(90)),
    "terraform token": ("", _letters(14) + ".atlasv1." + _letters(67)),
    "pulumi token": ("", "pul-" + _hex(40)),
    "doppler token": ("", "dp.pt." + _letters(43)),
    "1password token": ("", "ops_eyJ" + _letters(250)),
    "age key": ("", "AGE-SECRET-KEY-1" + _capitals(58)),
    "sourcegraph token": ("", "sgp_" + _hex(40)),
    "buildkite token": ("", "bkua_" + _hex(40)),
    "circleci token": ("", "CCIPAT_" + _letters(22) + "_" + _hex(40)),
    "prefect key": ("", "pnu_" + _letters(36)),
    "alibaba key": ("", "LTAI" + _letters(20)),
    "tencent key": ("", "AKID" + _letters(32)),
    "typeform token": ("", "tfp_" + _letters(59)),
    "easypost key": ("", "EZAK" + _letters(54)),
    "scrubjay key": ("", "sj_" + _letters(43)),
    "json web token": ("", ".".join(("eyJ" + _letters(20), "eyJ" + _letters(60), _letters(43)))),
    "private key": (
        "",
        "-----BEGIN " + f"RSA PRIVATE KEY-----\n{_BASE64}\n-----END " + "RSA PRIVATE KEY-----",
    ),
    "password in a url": ("postgresql://scrubjay:", "correct-horse7"),
    "bearer token": ("Authorization: Bearer ", "o" + _letters(30)),
    "basic credentials": ("Authorization: Basic ", _letters(24) + "=="),
}
AFTER: Mapping[str, str] = {"password in a url": "@db.internal:5432/scrubjay"}
"""What stands behind a secret, where that decides whether it is one."""


def told(kind: str) -> str:
    """A secret of the kind in its surroundings."""
    before, secret = SAMPLES[kind]
    return f"{before}{secret}{AFTER.get(kind, '')}"
