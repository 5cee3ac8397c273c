"""The manifests are what kustomize makes of them, valid to the letter, restricted, and free of secrets."""

import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest

from chassis.health import Health

from .manifests import (
    BASE,
    LOCAL,
    SECRETS_EXAMPLE,
    Document,
    assembled,
    containers_of,
    documents_of,
    identity,
    of_kind,
    pod_spec_of,
    rendered_by_kubectl,
)
from .workspace_members import SERVICES

KUBERNETES_VERSION = "1.32"

OVERLAYS = {"base": BASE, "local": LOCAL}
DOCUMENTS = {name: assembled(directory) for name, directory in OVERLAYS.items()}
EVERY = [pytest.param(document, id="-".join(identity(document))) for document in DOCUMENTS["local"]]
PODS = [
    pytest.param(document, id="-".join(identity(document))) for document in DOCUMENTS["local"] if pod_spec_of(document)
]
DEPLOYMENTS = of_kind(DOCUMENTS["base"], "Deployment")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_kustomization_renders_to_each_resource_once(overlay: str) -> None:
    documents = DOCUMENTS[overlay]
    ours = {identity(document): document for document in documents}
    assert len(ours) == len(documents)
    rendered = rendered_by_kubectl(OVERLAYS[overlay])
    assert rendered is None or {identity(document): document for document in rendered} == ours


@pytest.mark.parametrize("directory", OVERLAYS.values(), ids=OVERLAYS)
def test_no_manifest_is_forgotten(directory: Path) -> None:
    listed = set(documents_of(directory / "kustomization.yaml")[0]["resources"])
    assert {file.name for file in directory.glob("*.yaml")} - {"kustomization.yaml"} == {
        name for name in listed if name.endswith(".yaml")
    }


@pytest.mark.parametrize("document", EVERY)
def test_resources_are_valid_to_the_letter(document: Document) -> None:
    kubernetes_validate.validate(document, KUBERNETES_VERSION, strict=True)


def test_the_validation_notices_an_unknown_field() -> None:
    wrong: dict[str, Any] = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": {"prots": []}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, KUBERNETES_VERSION, strict=True)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_secrets_are_referred_to_and_never_contained(overlay: str) -> None:
    assert not of_kind(DOCUMENTS[overlay], "Secret")
    example = {
        (secret["metadata"]["name"], key) for secret in documents_of(SECRETS_EXAMPLE) for key in secret["stringData"]
    }
    references = {
        (entry["valueFrom"]["secretKeyRef"]["name"], entry["valueFrom"]["secretKeyRef"]["key"])
        for document in DOCUMENTS[overlay]
        for container in containers_of(document)
        for entry in container.get("env", [])
        if "valueFrom" in entry
    }
    assert references <= example
    assert overlay == "base" or references == example


@pytest.mark.parametrize("document", PODS)
def test_pods_are_restricted(document: Document) -> None:
    pod = pod_spec_of(document)
    assert pod is not None
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    security = pod["securityContext"]
    assert security["runAsNonRoot"] is True
    assert security["runAsUser"] > 0
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert all(
        volume.keys() - {"name"} == {"emptyDir"} and volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"]
    )
    for container in containers_of(document):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
        assert "memory" in container["resources"]["limits"]


@pytest.mark.parametrize("document", PODS)
def test_images_have_a_tag(document: Document) -> None:
    for container in containers_of(document):
        assert re.fullmatch(r"[a-z0-9/-]+:(?!latest)[\w.-]+", container["image"])


def test_the_namespace_enforces_the_restricted_profile() -> None:
    labels = of_kind(DOCUMENTS["base"], "Namespace")["pilot-status"]["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_every_service_is_deployed() -> None:
    assert DEPLOYMENTS.keys() == SERVICES.keys()
    for kind in ("Service", "ServiceAccount", "PodDisruptionBudget"):
        assert of_kind(DOCUMENTS["base"], kind).keys() == SERVICES.keys()
    assert SERVICES.keys() <= of_kind(DOCUMENTS["base"], "NetworkPolicy").keys()


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_runs_its_package_on_one_port(name: str) -> None:
    [container] = containers_of(DEPLOYMENTS[name])
    assert container["image"].partition(":")[0] == f"pilot-status/{name}"
    assert container["command"] == ["python", "-m", SERVICES[name]]
    port = int(of_kind(DOCUMENTS["base"], "ConfigMap")["pilot-config"]["data"]["HTTP_PORT"])
    assert container["ports"] == [{"name": "http", "containerPort": port}]
    assert of_kind(DOCUMENTS["base"], "Service")[name]["spec"]["ports"] == [
        {"name": "http", "port": port, "targetPort": "http"}
    ]
    annotations = DEPLOYMENTS[name]["spec"]["template"]["metadata"]["annotations"]
    assert annotations["prometheus.io/port"] == str(port)
    probes = {kind: container[kind]["httpGet"] for kind in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert {probe["port"] for probe in probes.values()} == {"http"}
    asked = {probe["path"] for probe in probes.values()} | {annotations["prometheus.io/path"]}
    assert asked == {"/live", "/ready", "/metrics"} == {route.path for route in Health().routes()}
    assert probes["readinessProbe"]["path"] == "/ready"


@pytest.mark.parametrize("name", SERVICES)
def test_selectors_find_the_pods(name: str) -> None:
    labels = DEPLOYMENTS[name]["spec"]["template"]["metadata"]["labels"].items()
    policy = of_kind(DOCUMENTS["base"], "NetworkPolicy")[name]["spec"]["podSelector"]["matchLabels"]
    budget = of_kind(DOCUMENTS["base"], "PodDisruptionBudget")[name]["spec"]["selector"]["matchLabels"]
    service = of_kind(DOCUMENTS["base"], "Service")[name]["spec"]["selector"]
    selector = DEPLOYMENTS[name]["spec"]["selector"]["matchLabels"]
    assert selector == policy == budget == service == {"app.kubernetes.io/name": name}
    assert selector.items() <= labels


@pytest.mark.parametrize("name", SERVICES)
def test_updates_lose_nothing(name: str) -> None:
    deployment = DEPLOYMENTS[name]["spec"]
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    pod = deployment["template"]["spec"]
    [container] = containers_of(DEPLOYMENTS[name])
    config = of_kind(DOCUMENTS["base"], "ConfigMap")["pilot-config"]["data"]
    pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pause + float(config["SHUTDOWN_TIMEOUT_SECONDS"]) < pod["terminationGracePeriodSeconds"]
    scaled = of_kind(DOCUMENTS["base"], "HorizontalPodAutoscaler").get(name)
    assert (scaled["spec"]["minReplicas"] if scaled else deployment["replicas"]) >= 2
    assert scaled is None or "replicas" not in deployment  # else every apply would undo the scaling
