"""Which URLs and addresses are refused."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.addresses import Reach, allowed, networks, url_problem

PUBLIC = Reach()
REFUSED = [
    *(
        "http://example.com/",
        "ftp://example.com/",
        "//example.com",
        "example.com",
        "javascript:1",
        "https://",
    ),
    *("https://user@example.com/", "https://user:pass@example.com/", "https://example.com@127.0.0.1/"),
    *(
        "https://example.com/#x",
        "https://example.com:99999/",
        "https://exa mple.com/",
        "https://[::1/",
        "https:///x",
    ),
    *("https://127.0.0.1/", "https://10.1.2.3/", "https://172.16.0.1/", "https://192.168.1.1/"),
    *("https://169.254.169.254/latest/meta-data", "https://168.63.129.16/", "https://100.64.0.1/"),
    *(
        "https://0.0.0.0/",
        "https://0/",
        "https://224.0.0.1/",
        "https://255.255.255.255/",
        "https://198.18.0.1/",
    ),
    *(
        "https://2130706433/",
        "https://0x7f000001/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://127.1/",
    ),
    *("https://127.0.0.1./", "https://[::1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/"),
    *(
        "https://[::ffff:7f00:1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[64:ff9b:1::1]/",
        "https://[fe80::1]/",
    ),
    *("https://[fe80::1%25eth0]/", "https://[fc00::1]/", "https://[fd00:ec2::254]/", "https://[ff02::1]/"),
    *(
        "https://[2002:7f00:1::]/",
        "https://[2001:0:7f00:1::]/",
        "https://[::127.0.0.1]/",
        "https://[2001:db8::1]/",
    ),
    *(
        "https://localhost/",
        "https://LOCALHOST/",
        "https://a.localhost./",
        "https://metadata.google.internal/",
    ),
    *("https://printer.local/", "https://①②⑦.⓪.⓪.①/", "https://exa\\mple.com/", "https://example.com\t/"),
    *("https://-/", "https://a..b/", "https://%31%32%37.0.0.1/", "https://" + "a" * 64 + ".com/"),
]


@pytest.mark.parametrize("url", REFUSED)
def test_a_url_that_leads_inside_is_refused(url: str) -> None:
    assert url_problem(url, PUBLIC) is not None


@pytest.mark.parametrize(
    "url",
    [
        *(
            "https://example.com",
            "https://example.com:8443/a?b=c",
            "https://1.1.1.1/",
            "https://[2606:4700::1111]/",
        ),
        *("https://EXAMPLE.com./x", "https://a-b.c_d.example/", "https://xn--bcher-kva.example/%20"),
    ],
)
def test_a_public_url_is_taken(url: str) -> None:
    assert url_problem(url, PUBLIC) is None


def test_an_installation_may_allow_networks_and_http() -> None:
    reach = Reach(networks(["10.0.0.0/8", "fd00::/8"]), http=True)
    for url in (
        "http://10.1.2.3/",
        "https://[fd00::1]/",
        "http://example.com/",
        "https://[::ffff:10.0.0.1]/",
    ):
        assert url_problem(url, reach) is None, url
    for url in ("http://127.0.0.1/", "https://[fc00::1]/", "https://[::ffff:127.0.0.1]/"):
        assert url_problem(url, reach) is not None, url


@given(st.ip_addresses(v=4))
def test_an_embedded_address_is_judged_as_itself(address: ipaddress.IPv4Address) -> None:
    for prefix in ("::ffff:0:0", "64:ff9b::"):
        inside = ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | int(address))
        assert allowed(inside, PUBLIC) == allowed(address, PUBLIC)


@given(st.ip_addresses())
def test_what_is_not_global_is_never_reached(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if address.is_private or address.is_loopback or address.is_link_local or address.is_multicast:
        embedded = isinstance(address, ipaddress.IPv6Address) and address in ipaddress.ip_network(
            "64:ff9b::/96"
        )
        assert embedded or not allowed(address, PUBLIC)


@given(st.text(max_size=300))
def test_any_text_is_judged(text: str) -> None:
    url_problem("https://" + text, PUBLIC)
    url_problem(text, PUBLIC)
