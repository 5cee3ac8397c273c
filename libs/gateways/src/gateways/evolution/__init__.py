"""Evolution API in both directions: sending and its evidence, webhooks, look-ups, instances."""

from gateways.evolution.abilities import EvolutionInspector
from gateways.evolution.events import SUBSCRIBED_EVENTS
from gateways.evolution.exchange import Timeouts
from gateways.evolution.instances import (
    EvolutionInstances,
    GatewayAccessDeniedError,
    Group,
    InstanceCallError,
    InstanceInfo,
    InstanceNameTakenError,
    InstanceNotFoundError,
    InstanceTimeoutError,
)
from gateways.evolution.lookup import EvolutionLookup
from gateways.evolution.pairing import Pairing
from gateways.evolution.payloads import clean_text, clean_texts, instance_of, labels_of, strip_credentials
from gateways.evolution.send import EvolutionSender
from gateways.evolution.webhooks import translate

__all__ = [
    "SUBSCRIBED_EVENTS",
    "EvolutionInspector",
    "EvolutionInstances",
    "EvolutionLookup",
    "EvolutionSender",
    "GatewayAccessDeniedError",
    "Group",
    "InstanceCallError",
    "InstanceInfo",
    "InstanceNameTakenError",
    "InstanceNotFoundError",
    "InstanceTimeoutError",
    "Pairing",
    "Timeouts",
    "clean_text",
    "clean_texts",
    "instance_of",
    "labels_of",
    "strip_credentials",
    "translate",
]
