"""Reads the Kubernetes manifests the way kustomize does, also on machines without kubectl."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
KUBERNETES = ROOT / "deploy" / "k8s"
BASE, LOCAL = KUBERNETES / "base", KUBERNETES / "overlays" / "local"
SECRETS_EXAMPLE = KUBERNETES / "secrets.example.yaml"
KUBECTL_SECONDS = 30

Document = dict[str, Any]


def documents_of(file: Path) -> list[Document]:
    return [document for document in yaml.safe_load_all(file.read_text()) if document]


def assembled(directory: Path) -> list[Document]:
    """Resources, namespace and image tags of a kustomization; refuses whatever else a kustomization may hold."""
    kustomization = yaml.safe_load((directory / "kustomization.yaml").read_text())
    unknown = kustomization.keys() - {"apiVersion", "kind", "namespace", "resources", "images"}
    if unknown:
        raise ValueError(f"{directory} uses {sorted(unknown)}")
    tags = {image["name"]: image["newTag"] for image in kustomization["images"]}
    documents: list[Document] = []
    for resource in kustomization["resources"]:
        path = directory / resource
        documents += assembled(path.resolve()) if path.is_dir() else documents_of(path)
    documents = json.loads(json.dumps(documents))  # anchors of YAML are shared objects
    for document in documents:
        if document["kind"] != "Namespace":
            document["metadata"]["namespace"] = kustomization["namespace"]
        for container in containers_of(document):
            name = container["image"].partition(":")[0]
            if name in tags:
                container["image"] = f"{name}:{tags[name]}"
    return documents


def rendered_by_kubectl(directory: Path) -> list[Document] | None:
    """None where kubectl is not installed."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        return None
    output = subprocess.run(
        [kubectl, "kustomize", str(directory)], check=True, capture_output=True, text=True, timeout=KUBECTL_SECONDS
    ).stdout
    return [document for document in yaml.safe_load_all(output) if document]


def identity(document: Document) -> tuple[str, str]:
    return document["kind"], document["metadata"]["name"]


def pod_spec_of(document: Document) -> Document | None:
    template = document.get("spec", {}).get("template") if document["kind"] != "Secret" else None
    return template["spec"] if template else None


def containers_of(document: Document) -> Iterator[Document]:
    pod = pod_spec_of(document) or {}
    yield from pod.get("containers", [])
    yield from pod.get("initContainers", [])


def of_kind(documents: list[Document], kind: str) -> dict[str, Document]:
    return {document["metadata"]["name"]: document for document in documents if document["kind"] == kind}


def environment_of(container: Document, config: dict[str, Any]) -> dict[str, str]:
    """Every variable of a container, with the values of the example secrets."""
    secrets = {secret["metadata"]["name"]: secret["stringData"] for secret in documents_of(SECRETS_EXAMPLE)}
    variables: dict[str, str] = {}
    for source in container.get("envFrom", []):
        assert source == {"configMapRef": {"name": "pilot-config"}}
        variables |= config
    for entry in container.get("env", []):
        if "value" in entry:
            variables[entry["name"]] = entry["value"]
        else:
            reference = entry["valueFrom"]["secretKeyRef"]
            variables[entry["name"]] = secrets[reference["name"]][reference["key"]]
    return variables
