"""The console is served under a policy that loads and sends nothing elsewhere."""

import re

from tests.support.cluster import Cluster

ADDRESSES = ("/console", "/console/", "/console/now", "/console/why/12", "/console/explore/item/own:3")


async def test_every_screen_is_the_page(cluster: Cluster) -> None:
    async with cluster.client(None) as anybody:
        pages = [await anybody.get(path) for path in ADDRESSES]
        assert {page.status for page in pages} == {200}
        assert len({page.body for page in pages}) == 1
        for page in pages:
            assert page.headers["content-type"].startswith("text/html")
            assert page.headers["cache-control"] == "no-cache"


async def test_the_page_needs_no_other_host_and_no_key(cluster: Cluster) -> None:
    async with cluster.client(None) as anybody:
        page = await anybody.get("/console")
        policy = page.headers["content-security-policy"].split("; ")
        assert "default-src 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert all(part.split(" ", 1)[1] in ("'none'", "'self'", "'script'") for part in policy)
        files = re.findall(r'(?:src|href)="([^"]+)"', page.body)
        assert len(files) >= 3
        for path in files:
            assert path.startswith("/console/assets/")
            async with anybody.session.get(path) as file:
                assert file.status == 200, path
                assert file.headers["x-content-type-options"] == "nosniff"
                assert "immutable" in file.headers["cache-control"]


async def test_nothing_else_lies_there(cluster: Cluster) -> None:
    async with cluster.client(None) as anybody:
        for path in ("/console/assets/none.js", "/console/assets/../../routes.py", "/console/assets/"):
            answer = await anybody.get(path)
            assert answer.status == 404, path
            assert "import" not in str(answer.body)


async def test_files_go_out_compressed_when_asked(cluster: Cluster) -> None:
    async with cluster.client(None) as anybody:
        async with anybody.session.get("/console", headers={"accept-encoding": "identity"}) as plain:
            assert "content-encoding" not in plain.headers
            assert plain.headers["vary"] == "accept-encoding"
        async with anybody.session.get("/console", headers={"accept-encoding": "gzip"}) as small:
            assert small.headers["content-encoding"] == "gzip"


async def test_a_key_learns_what_it_may_do(cluster: Cluster) -> None:
    for token, access in (
        ("read", ["read"]),
        ("write", ["read", "write"]),
        ("admin", ["admin", "read", "write"]),
    ):
        async with cluster.client(token) as client:
            me = (await client.get("/api/context/me")).body
            assert (me["access"], me["name"], me["tenant"]) == (access, f"env:{token}", "default")
            assert (me["agent"], me["missions"], me["users"]) == (None, None, None)
    async with cluster.client("admin") as admin:
        made = await admin.post(
            "/api/context/keys", {"name": "bound", "access": "read", "agent": "scout", "missions": ["b", "a"]}
        )
    async with cluster.client(made.body["token"]) as bound:
        me = (await bound.get("/api/context/me")).body
        assert (me["access"], me["agent"], me["missions"], me["users"]) == (
            ["read"],
            "scout",
            ["a", "b"],
            None,
        )
    async with cluster.client(None) as anybody:
        assert (await anybody.get("/api/context/me")).status == 401
