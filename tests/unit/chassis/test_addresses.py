"""The address table, row by row: what customers may make us call, and what never."""

import pytest

from chassis.addresses import is_allowed

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.215.14",
    "172.32.0.1",
    "100.128.0.1",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00::1",
]
PRIVATE = ["127.0.0.1", "127.255.0.9", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "::1", "fd00::1"]
NEVER = [
    "0.0.0.0",
    "0.1.2.3",
    "100.64.0.1",
    "100.127.255.255",
    "169.254.169.254",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "::ffff:8.8.8.8",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:1ff::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:a9fe:a9fe::",
    "3fff::1",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
    "fec0::1",
    "ff02::1",
    "5f00::1",
    "localhost",
    "",
    "127.1",
    "0177.0.0.1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_allowed(address)
    assert is_allowed(address, allow_private=True)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_for_development_only(address: str) -> None:
    assert not is_allowed(address)
    assert is_allowed(address, allow_private=True)


@pytest.mark.parametrize("address", NEVER)
def test_the_rest_is_never_allowed(address: str) -> None:
    assert not is_allowed(address)
    assert not is_allowed(address, allow_private=True)
