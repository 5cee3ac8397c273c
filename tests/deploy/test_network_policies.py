"""Who may talk to whom in the cluster is what the picture of the architecture says, and nothing more."""

from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from chassis.addresses import is_allowed

from .manifests import BASE, LOCAL, assembled, of_kind
from .workspace_members import SERVICES

POLICIES = of_kind(assembled(BASE), "NetworkPolicy")
LOCAL_POLICIES = of_kind(assembled(LOCAL), "NetworkPolicy")
EDGE, GATEWAY, MONITORING = "pilot-status/edge", "pilot-status/gateway", "pilot-status/monitoring"


def peers(policy: dict[str, Any], direction: str) -> list[dict[str, Any]]:
    key = "from" if direction == "ingress" else "to"
    return [peer for rule in policy["spec"].get(direction, []) for peer in rule[key]]


def namespaces(policy: dict[str, Any], direction: str) -> set[str]:
    selected = [
        peer["namespaceSelector"]["matchLabels"] for peer in peers(policy, direction) if "namespaceSelector" in peer
    ]
    return {label for labels in selected for label in labels}


def blocks(name: str) -> list[dict[str, Any]]:
    return [peer["ipBlock"] for peer in peers(POLICIES[name], "egress") if "ipBlock" in peer]


def reachable(name: str, address: str) -> bool:
    parsed = ip_address(address)
    return any(
        parsed in ip_network(block["cidr"]) and not any(parsed in ip_network(hole) for hole in block.get("except", []))
        for block in blocks(name)
    )


def test_nothing_is_open_by_default() -> None:
    assert POLICIES["default-deny"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


@pytest.mark.parametrize("policies", [POLICIES, LOCAL_POLICIES], ids=["base", "local"])
def test_every_rule_names_its_peers_and_only_gateways_choose_their_port(policies: dict[str, Any]) -> None:
    for policy in policies.values():
        for direction in ("ingress", "egress"):
            for rule in policy["spec"].get(direction, []):
                assert rule["from" if direction == "ingress" else "to"]
                towards_gateways = direction == "egress" and GATEWAY in str(rule)
                assert bool(rule.get("ports")) != towards_gateways


def test_only_the_two_public_services_are_reached_from_the_edge() -> None:
    reached = {name: namespaces(POLICIES[name], "ingress") for name in SERVICES}
    assert reached == {
        "api": {EDGE},
        "status-ingest": {EDGE, GATEWAY},
        "dispatcher": set(),
        "notifier": set(),
        "reconciler": set(),
    }


def test_only_api_and_dispatcher_call_gateways() -> None:
    assert {name for name in SERVICES if GATEWAY in namespaces(POLICIES[name], "egress")} == {"api", "dispatcher"}


def test_only_three_services_leave_the_cluster() -> None:
    assert {name for name in SERVICES if blocks(name)} == {"api", "dispatcher", "notifier"}


@pytest.mark.parametrize("name", ["api", "dispatcher", "notifier"])
def test_the_metadata_of_the_cloud_is_out_of_reach(name: str) -> None:
    assert not reachable(name, "169.254.169.254")
    assert reachable(name, "93.184.215.14")


def test_customers_webhooks_reach_what_the_code_allows_and_nothing_else() -> None:
    coarse = [f"{first}.{second}.0.1" for first in range(0, 256, 3) for second in range(0, 256, 5)]
    blocks_of_the_table = [
        (10, 0),
        (100, 64),
        (100, 127),
        (127, 0),
        (169, 254),
        (172, 16),
        (172, 31),
        (192, 168),
        (198, 18),
    ]
    edges = [f"{first}.{second}.0.1" for first, second in blocks_of_the_table]
    edges += [f"{first}.{second + 1}.0.1" for first, second in blocks_of_the_table if second < 255]
    fine = [f"{prefix}.{third}.1" for prefix in ("192.0", "192.88", "198.51", "203.0") for third in range(256)]
    sixth = [
        "2001::1",
        "2001:1ff::1",
        "2001:200::1",
        "2001:db8::1",
        "2002::1",
        "2606:4700::1",
        "3fff::1",
        "3ffe::1",
        "2a00::1",
    ]
    others = ["::1", "fc00::1", "fe80::1", "ff02::1", "4000::1", "64:ff9b::1"]
    disagreeing = [
        address
        for address in coarse + edges + fine + sixth + others
        if reachable("notifier", address) != is_allowed(address)
    ]
    assert not disagreeing


def test_monitoring_sees_every_service_and_no_migration() -> None:
    policy = POLICIES["allow-monitoring"]
    assert namespaces(policy, "ingress") == {MONITORING}
    assert policy["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "service"
