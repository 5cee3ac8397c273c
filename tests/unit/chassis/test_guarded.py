"""A customer's URL is no way into our network: not by its text, its name, its redirects, nor by changing its mind."""

import datetime
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from chassis.guarded import (
    ForbiddenTargetError,
    PinnedBackend,
    Reason,
    Resolve,
    check_target,
    check_url,
    guarded_client,
    resolve_by_system,
)

from .servers import response, serving

NAME = "hooks.example.com"
PUBLIC = "93.184.215.14"


def answering(*rounds: Sequence[str]) -> Resolve:
    """A resolver that gives one answer after the other and repeats the last."""
    pending = list(rounds)

    async def resolve(host: str, port: int) -> Sequence[str]:
        return pending.pop(0) if len(pending) > 1 else pending[0]

    return resolve


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com/in?x=1#y",
        "https://hooks.example.com:8443/in",
        "https://HOOKS.example.com./in",
        "https://bücher.example/in",
        "https://1.1.1.1/in",
        "https://[2606:4700::1111]/in",
        "https://a_b.example.com/",
    ],
)
def test_plain_https_addresses_pass(url: str) -> None:
    check_url(url)
    check_url(url, allow_private=True)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://hooks.example.com/", Reason.SCHEME),
        ("ftp://x.example.com/", Reason.SCHEME),
        ("file:///etc/passwd", Reason.SCHEME),
        ("hooks.example.com", Reason.SCHEME),
        ("", Reason.SCHEME),
        ("https://user:pw@hooks.example.com/", Reason.USER_INFO),
        ("https://user@hooks.example.com/", Reason.USER_INFO),
        ("https://1.1.1.1@127.0.0.1/", Reason.USER_INFO),
        ("https://hooks.example.com:5672/", Reason.PORT),
        ("https://hooks.example.com:22/", Reason.PORT),
        ("https://hooks.example.com:80/", Reason.PORT),
        ("https://hooks.example.com:99999/", Reason.PORT),
        ("https://hooks.example.com:0/", Reason.PORT),
        ("https://hooks.example.com:x/", Reason.MALFORMED),
        ("https://hooks.example.com\\@127.0.0.1/", Reason.MALFORMED),
        ("https://hooks.example.com/\r\nx: y", Reason.MALFORMED),
        ("https://hooks .example.com/", Reason.MALFORMED),
        ("https://hooks.example.com/" + "x" * 2048, Reason.TOO_LONG),
        ("https://" + ".".join(["a" * 60] * 5) + ".com/", Reason.HOST),
        ("https:///path", Reason.HOST),
        ("https://localhost/", Reason.HOST),
        ("https://broker/", Reason.HOST),
        ("https://2130706433/", Reason.HOST),
        ("https://0x7f000001/", Reason.HOST),
        ("https://0x7f.0.0.1/", Reason.HOST),
        ("https://127.1/", Reason.HOST),
        ("https://0177.0.0.1/", Reason.MALFORMED),
        ("https://127.0.0.1./", Reason.HOST),
        ("https://127.0.0.0x1/", Reason.HOST),
        ("https://example.1/", Reason.HOST),
        ("https://ex_ample..com/", Reason.HOST),
        ("https://127.0.0.1/", Reason.ADDRESS),
        ("https://169.254.169.254/latest", Reason.ADDRESS),
        ("https://100.64.0.1/", Reason.ADDRESS),
        ("https://[::1]/", Reason.ADDRESS),
        ("https://[::ffff:127.0.0.1]/", Reason.ADDRESS),
        ("https://[::ffff:a9fe:a9fe]/", Reason.ADDRESS),
        ("https://[64:ff9b::7f00:1]/", Reason.ADDRESS),
    ],
)
def test_bad_targets_are_refused_with_a_reason(url: str, reason: Reason) -> None:
    with pytest.raises(ForbiddenTargetError) as raised:
        check_url(url)
    assert raised.value.reason is reason
    assert "127" not in str(raised.value)


@pytest.mark.parametrize("url", ["https://１２７.0.0.1/", "https://127。0。0。1/", "https://ⓛocalhost/"])
def test_disguised_characters_do_not_help(url: str) -> None:
    with pytest.raises(ForbiddenTargetError):
        check_url(url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9000/", "http://localhost:9000/x", "http://sink:80/", "https://10.1.2.3/"]
)
def test_development_permits_loopback_and_private_networks(url: str) -> None:
    check_url(url, allow_private=True)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:0/",
        "http://127.0.0.1:99999/",
        "http://169.254.169.254/",
        "http://0.0.0.0/",
        "http://2130706433/",
        "ftp://127.0.0.1/",
        "http://u@127.0.0.1/",
    ],
)
def test_development_permits_no_more(url: str) -> None:
    with pytest.raises(ForbiddenTargetError):
        check_url(url, allow_private=True)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (["127.0.0.1"], Reason.ADDRESS),
        ([PUBLIC, "10.0.0.1"], Reason.ADDRESS),
        (["10.0.0.1", PUBLIC], Reason.ADDRESS),
        ([PUBLIC, "::ffff:a9fe:a9fe"], Reason.ADDRESS),
        (["64:ff9b::7f00:1"], Reason.ADDRESS),
        (["nonsense"], Reason.ADDRESS),
        ([], Reason.UNRESOLVED),
    ],
)
async def test_every_resolved_address_counts_at_save_and_at_send(answer: Sequence[str], reason: Reason) -> None:
    with pytest.raises(ForbiddenTargetError) as at_save:
        await check_target(f"https://{NAME}/in", resolve=answering(answer))
    async with guarded_client(resolve=answering(answer)) as client:
        with pytest.raises(ForbiddenTargetError) as at_send:
            await client.post(f"https://{NAME}/in", content=b"x")
    assert at_save.value.reason is at_send.value.reason is reason


async def test_a_name_that_cannot_be_resolved_is_refused() -> None:
    async def fail(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(-2, "unknown")

    with pytest.raises(ForbiddenTargetError) as raised:
        await check_target(f"https://{NAME}/", resolve=fail)
    assert raised.value.reason is Reason.UNRESOLVED
    assert (await check_target(f"https://{NAME}/", resolve=answering([PUBLIC]))).host == NAME


async def test_the_systems_resolver_is_asked_for_every_address() -> None:
    assert "127.0.0.1" in await resolve_by_system("localhost", 443)
    with pytest.raises(ForbiddenTargetError) as raised:
        await check_target("https://127.0.0.1/")
    assert raised.value.reason is Reason.ADDRESS


async def test_a_name_that_turns_private_after_saving_is_never_dialled() -> None:
    async with serving(response(200)) as inside:
        rebinding = answering([PUBLIC], ["127.0.0.1"])
        await check_target(f"https://{NAME}:8443/", resolve=rebinding)
        backend = PinnedBackend(rebinding, allow_private=False)
        with pytest.raises(ForbiddenTargetError):
            await backend.connect_tcp(NAME, inside.port)
        async with guarded_client(resolve=rebinding) as client:
            with pytest.raises(ForbiddenTargetError):
                await client.post(f"https://{NAME}:8443/", content=b"x")
        assert inside.connections == 0


async def test_the_checked_address_is_dialled_without_asking_again() -> None:
    async with (
        serving(response(204)) as there,
        guarded_client(allow_private=True, resolve=answering(["127.0.0.1"], ["169.254.169.254"])) as client,
    ):
        answer = await client.post(f"http://{NAME}:{there.port}/in", content=b"x")
        assert answer.status_code == 204
        assert f"Host: {NAME}:{there.port}".lower().encode() in there.requests[0].lower()
        with pytest.raises(ForbiddenTargetError):
            await client.post(f"http://{NAME}:{there.port}/in", content=b"x")
        assert there.connections == 1


async def test_the_next_address_is_tried_when_the_first_does_not_answer() -> None:
    async with (
        serving(response(200)) as there,
        guarded_client(allow_private=True, resolve=answering(["127.0.0.2", "127.0.0.1"])) as client,
    ):
        assert (await client.post(f"http://{NAME}:{there.port}/")).status_code == 200


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_not_followed(status: int) -> None:
    async with serving(response(200, b"inside")) as inside:
        location = b"location: http://127.0.0.1:%d/" % inside.port
        async with serving(response(status, b"", location)) as outside, guarded_client(allow_private=True) as client:
            answer = await client.post(f"http://127.0.0.1:{outside.port}/in", content=b"x")
        assert answer.status_code == status
        assert inside.connections == 0


async def test_every_request_opens_and_checks_its_own_connection() -> None:
    async with serving(response(200)) as there, guarded_client(allow_private=True) as client:
        for _ in range(3):
            await client.post(f"http://127.0.0.1:{there.port}/", content=b"x")
        assert there.connections == 3


async def test_the_environments_proxy_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(response(200, b"proxy")) as proxy, serving(response(200, b"direct")) as there:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        async with guarded_client(allow_private=True) as client:
            assert (await client.post(f"http://127.0.0.1:{there.port}/")).content == b"direct"
        assert proxy.connections == 0


async def test_tls_checks_the_name_although_an_address_is_dialled(tmp_path: Path) -> None:
    server_side, client_side = _certificate_for(NAME, tmp_path)
    async with (
        serving(response(200), tls=server_side) as there,
        guarded_client(allow_private=True, resolve=answering(["127.0.0.1"]), tls=client_side) as client,
    ):
        assert (await client.post(f"https://{NAME}:{there.port}/")).status_code == 200
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await client.post(f"https://other.example.com:{there.port}/")


def _certificate_for(name: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    chain = certificate.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "pair.pem").write_bytes(secret + chain)
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(folder / "pair.pem")
    return server_side, ssl.create_default_context(cadata=chain.decode())
