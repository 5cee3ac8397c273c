"""Which network addresses customers may make us call: an explicit table, not a library's idea of "global"."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

_V4_FORBIDDEN: Final = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, cloud metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relay
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_V6_ALLOWED: Final = IPv6Network("2000::/3")
_V6_FORBIDDEN: Final = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which embeds IPv4
        "3fff::/20",  # documentation
    )
)
_V4_DEVELOPMENT: Final = tuple(
    IPv4Network(text) for text in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
)
_V6_DEVELOPMENT: Final = (IPv6Network("::1/128"), IPv6Network("fc00::/7"))


def is_allowed(address: str, *, allow_private: bool = False) -> bool:
    """True for public unicast; `allow_private` (development) adds loopback and private networks, nothing else."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    match parsed:
        case IPv4Address():
            private = any(parsed in network for network in _V4_DEVELOPMENT)
            return (allow_private and private) or not any(parsed in network for network in _V4_FORBIDDEN)
        case IPv6Address():
            if parsed.scope_id is not None:
                return False
            private = any(parsed in network for network in _V6_DEVELOPMENT)
            public = parsed in _V6_ALLOWED and not any(parsed in network for network in _V6_FORBIDDEN)
            return (allow_private and private) or public
