"""The kinds of secrets that are looked for, each by how it begins and by what follows.

Most providers give their secrets a beginning of their own, so that they can be found. A kind without such a beginning
is found by the name that it is assigned to. Nothing is guessed from entropy, which also marks hashes and ids.
"""

from __future__ import annotations

import re
from typing import NamedTuple

SECRET = "secret"  # noqa: S105
"""The group of a pattern that is masked, where that is not all of it."""

# What a secret cannot follow, and what cannot follow it.
_START, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_WORD = "[A-Za-z0-9_-]"
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_MOST_BEFORE = 100


class Kind(NamedTuple):
    """A pattern is tried at each place that holds one of its anchors, `before` characters to the left."""

    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    before: int = 0


def _begins(name: str, anchors: str, rest: str) -> Kind:
    """A secret that begins with one of the anchors, which a space separates."""
    words = tuple(anchors.split())
    beginning = "|".join(map(re.escape, words))
    return Kind(name, words, re.compile(f"{_START}(?:{beginning}){rest}"))


def _holds(name: str, anchor: str, before: int, pattern: str) -> Kind:
    """A secret that holds the anchor after `before` characters."""
    assert before <= _MOST_BEFORE
    return Kind(name, (anchor,), re.compile(_START + pattern), before)


def _assigned(name: str, anchors: str, value: str) -> Kind:
    """A secret that stands behind one of the names: after an equals sign, a colon or both, in quotes or not."""
    words = tuple(anchors.split())
    names = "|".join(map(re.escape, words))
    return Kind(
        name,
        words,
        re.compile(
            rf"(?:{names})[\"'\\]{{0,3}}\s{{0,4}}[:=]{{1,2}}>?\s{{0,4}}[\"'\\]{{0,3}}(?P<secret>{value})"
        ),
    )


_BREAK = r"(?:\s|\\[nr])"
_PRIVATE_KEY = (
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    # Up to its end, or as far as lines of base64 go.
    r"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END [A-Z0-9 ]{1,60}-----"
    rf"|{_BREAK}*+(?:[A-Za-z0-9+/=]{{32,}}+{_BREAK}*+)++)"
)
# A placeholder stands for a password, and is none.
_GIVEN = r"(?![*x.]{1,200}+@|\$[{A-Z(]|[<{])[^\s/\"'<>\\]{1,200}"

KINDS: tuple[Kind, ...] = (
    _begins("aws access key", "AKIA ASIA ABIA ACCA", f"[A-Z0-9]{{16}}{_END}"),
    _assigned(
        "aws secret key",
        "aws_secret_access_key AWS_SECRET_ACCESS_KEY SecretAccessKey secretAccessKey secret_access_key",
        "[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])",
    ),
    _begins("aws mws token", "amzn.mws.", _UUID),
    _begins("aws bedrock key", "ABSK", "[A-Za-z0-9+/]{109,269}={0,2}"),
    _begins("google api key", "AIza", f"{_WORD}{{35}}"),
    _begins("google oauth secret", "GOCSPX-", f"{_WORD}{{24,}}"),
    _begins("google oauth token", "ya29.", f"{_WORD}{{20,}}"),
    _begins("google refresh token", "1//0", f"{_WORD}{{30,}}"),
    _assigned("azure storage key", "AccountKey", "[A-Za-z0-9+/]{60,88}={0,2}"),
    _assigned("azure shared access key", "SharedAccessKey SharedSecretKey", "[A-Za-z0-9+/]{40,88}={0,2}"),
    _assigned("azure signature", "&sig ?sig", "[A-Za-z0-9%/+]{40,120}={0,2}"),
    _holds("azure client secret", "Q~", 4, r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    _holds("azure devops token", "AZDO", 76, r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    _begins("github token", "ghp_", "[A-Za-z0-9]{30,255}"),
    _begins("github oauth token", "gho_", "[A-Za-z0-9]{30,255}"),
    _begins("github user token", "ghu_", "[A-Za-z0-9]{30,255}"),
    _begins("github app token", "ghs_", r"[A-Za-z0-9_.-]{30,}"),
    _begins("github refresh token", "ghr_", "[A-Za-z0-9]{30,255}"),
    _begins("github fine-grained token", "github_pat_", "[A-Za-z0-9_]{22,255}"),
    _begins(
        "gitlab token",
        "glpat- glptt- gldt- glrt- glrtr- glcbt- glsoat- glft- glimt- glagent- gloas- glffct- glwt- GR1348941",
        r"[A-Za-z0-9_.-]{20,}",
    ),
    _begins("slack token", "xoxa xoxb xoxc xoxd xoxe xoxo xoxp xoxr xoxs", r"[.-][A-Za-z0-9.%/+-]{10,}"),
    _begins("slack app token", "xapp-", "[0-9]-[A-Za-z0-9-]{20,}"),
    _begins("slack webhook", "hooks.slack.com/", "(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}"),
    _begins("stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", "[A-Za-z0-9]{16,}"),
    _begins("stripe webhook secret", "whsec_", "[A-Za-z0-9+/]{32,}={0,2}"),
    _begins("anthropic key", "sk-ant-", f"{_WORD}{{20,}}"),
    _begins("openrouter key", "sk-or-v1-", "[0-9a-f]{64}"),
    _begins("openai key", "sk-", f"(?:(?:proj|svcacct|admin|None)-{_WORD}{{20,}}|[A-Za-z0-9]{{32,}})"),
    _begins("hugging face token", "hf_ api_org_", "[A-Za-z0-9]{30,}"),
    _begins("xai key", "xai-", "[A-Za-z0-9]{60,}"),
    _begins("groq key", "gsk_", "[A-Za-z0-9]{40,}"),
    _begins("replicate token", "r8_", "[A-Za-z0-9]{37,}"),
    _begins("perplexity key", "pplx-", "[A-Za-z0-9]{40,}"),
    _begins("nvidia key", "nvapi-", f"{_WORD}{{60,}}"),
    _begins("voyage key", "pa-", f"(?={_WORD}{{0,42}}[A-Z])(?={_WORD}{{0,42}}[0-9]){_WORD}{{40,}}"),
    _begins("langsmith key", "lsv2_pt_ lsv2_sk_", "[0-9a-f]{32}_[0-9a-f]{10}"),
    _begins("tavily key", "tvly-", f"{_WORD}{{20,}}"),
    _begins("npm token", "npm_", "[A-Za-z0-9]{36,}"),
    _begins("pypi token", "pypi-AgE", f"{_WORD}{{50,}}"),
    _begins("rubygems key", "rubygems_", "[0-9a-f]{48}"),
    _begins("docker token", "dckr_pat_ dckr_oat_", f"{_WORD}{{20,}}"),
    _begins("artifactory token", "AKCp cmVmdGtu", "[A-Za-z0-9]{50,}"),
    _begins("twilio key", "SK", f"[0-9a-f]{{32}}{_END}"),
    _assigned("twilio token", "TWILIO_AUTH_TOKEN twilio_auth_token", "[0-9a-f]{32}"),
    _begins("sendgrid key", "SG.", rf"{_WORD}{{16,32}}\.{_WORD}{{16,64}}"),
    _begins("brevo key", "xkeysib- xsmtpsib-", "[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _begins("mailgun key", "key-", f"[0-9a-f]{{32}}{_END}"),
    _holds("mailchimp key", "-us", 32, rf"[0-9a-f]{{32}}-us[0-9]{{1,2}}{_END}"),
    # The digits before it are the bot's public id.
    Kind("telegram token", (":AA",), re.compile(rf"(?<=[0-9]{{8}}):AA{_WORD}{{32,34}}")),
    _begins(
        "discord webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        f"[0-9]{{17,20}}/{_WORD}{{60,}}",
    ),
    _begins("digitalocean token", "dop_v1_ doo_v1_ dor_v1_", "[0-9a-f]{64}"),
    _begins("heroku token", "HRKU-", f"{_WORD}{{36,}}"),
    _begins("fly token", "fo1_ fm1r_ fm2_ fm1a_", "[A-Za-z0-9+/_-]{40,}={0,2}"),
    _begins("supabase key", "sbp_ sb_secret_", f"{_WORD}{{31,}}"),
    _begins("planetscale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=-]{30,}"),
    _begins("databricks token", "dapi", rf"[0-9a-f]{{32}}(?:-[0-9])?{_END}"),
    _begins("shopify token", "shpat_ shpca_ shppa_ shpss_", "[A-Fa-f0-9]{32}"),
    _begins("square token", "sq0atp- sq0csp-", f"{_WORD}{{22,}}"),
    _begins("square access token", "EAAAE", f"{_WORD}{{55,}}"),
    _begins("hubspot token", "pat-na1- pat-na2- pat-eu1-", _UUID),
    _begins("plaid token", "access-production- access-sandbox- access-development-", _UUID),
    _begins("linear key", "lin_api_ lin_oauth_", "[A-Za-z0-9]{32,}"),
    _begins("notion token", "ntn_ secret_", f"[A-Za-z0-9]{{43,}}{_END}"),
    _begins("atlassian token", "ATATT3 ATCTT3 ATBB", "[A-Za-z0-9_=-]{28,}"),
    _begins("figma token", "figd_ figdr_ figor_", f"{_WORD}{{40,}}"),
    _begins("postman key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"),
    _begins("grafana token", "glsa_ glc_", "[A-Za-z0-9_+/-]{32,}={0,2}"),
    _begins("new relic key", "NRAK- NRJS- NRII- NRAL-", f"{_WORD}{{19,}}"),
    _begins("sentry token", "sntrys_ sntryu_", "[A-Za-z0-9+/=_-]{40,}"),
    _begins("dynatrace token", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _assigned("datadog key", "DD_API_KEY DD_APP_KEY DD_APPLICATION_KEY DATADOG_API_KEY", "[0-9a-f]{32,40}"),
    _assigned("cloudflare token", "CLOUDFLARE_API_TOKEN CLOUDFLARE_API_KEY CF_API_TOKEN", f"{_WORD}{{37,}}"),
    _begins("cloudflare ca key", "v1.0-", "[0-9a-f]{24}-[0-9a-f]{146}"),
    _begins("vault token", "hvs. hvb. hvr.", f"{_WORD}{{24,}}"),
    _holds("terraform token", ".atlasv1.", 14, r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    _begins("pulumi token", "pul-", "[0-9a-f]{40}"),
    _begins("doppler token", "dp.", r"(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}"),
    _begins("1password token", "ops_eyJ", "[A-Za-z0-9+/_-]{100,}={0,3}"),
    _begins("age key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
    _begins("sourcegraph token", "sgp_", "[A-Za-z0-9_]{40,}"),
    _begins("buildkite token", "bkua_ bkaa_", "[0-9a-f]{40}"),
    _begins("circleci token", "CCIPAT_", "[A-Za-z0-9]{22}_[0-9a-f]{40}"),
    _begins("prefect key", "pnu_ pnb_", "[A-Za-z0-9]{36}"),
    _begins("alibaba key", "LTAI", f"[A-Za-z0-9]{{12,20}}{_END}"),
    _begins("tencent key", "AKID", f"[A-Za-z0-9]{{32}}{_END}"),
    _begins("typeform token", "tfp_", r"[A-Za-z0-9_.=-]{59,}"),
    _begins("easypost key", "EZAK EZTK", f"[A-Za-z0-9]{{54}}{_END}"),
    _begins("scrubjay key", "sj_", f"{_WORD}{{40,}}"),
    Kind(
        "json web token",
        ("eyJ",),
        re.compile(rf"(?<!{_WORD})eyJ{_WORD}{{8,}}+\.eyJ{_WORD}{{8,}}+\.{_WORD}{{8,}}+"),
    ),
    Kind("private key", ("-----BEGIN ",), re.compile(_PRIVATE_KEY)),
    Kind(
        "password in a url",
        ("://",),
        re.compile(rf"://[^\s:/?#@\"'<>\\]{{0,200}}+:(?P<secret>{_GIVEN})@(?=[A-Za-z0-9\[_.-])"),
    ),
    Kind(
        "bearer token",
        ("Bearer ", "bearer "),
        re.compile(r"[Bb]earer {1,4}(?P<secret>(?=[^\s0-9]{0,200}[0-9])[A-Za-z0-9_.~+/-]{20,}+={0,2})"),
    ),
    Kind(
        "basic credentials",
        ("Authorization: Basic ", "authorization: Basic ", "authorization: basic "),
        re.compile(r"[Aa]uthorization: [Bb]asic (?P<secret>[A-Za-z0-9+/]{8,}+={0,2})"),
    ),
)
