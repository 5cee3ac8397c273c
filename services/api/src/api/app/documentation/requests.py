"""Examples of what to send to each route, with ids that the examples of answers have too."""

from collections.abc import Mapping
from typing import Any, Final

IDS: Final[Mapping[str, str]] = {
    name: f"0198c0de-0000-7000-8000-{place:012x}"
    for place, name in enumerate(
        (
            "tenant",
            "plan",
            "project",
            "package",
            "profile",
            "opt_in",
            "key",
            "number",
            "template",
            "message",
            "webhook",
            "operator",
            "delivery",
            "dead_letter",
            "erasure",
        ),
        start=1,
    )
}
"""One thing of each kind."""

PHONE: Final = "+5547991000000"
FORGOTTEN: Final = "+5547991777000"
_VERSION: Final = {"body": "Olá {{name}}, o pedido {{order}} está pronto.", "examples": {"name": "Ana", "order": "42"}}
_REPLAY: Final = {
    "from": "2020-01-01T00:00:00Z",
    "to": "2039-12-31T00:00:00Z",
    "events": ["message.failed"],
    "status": "FAILED",
}

REQUESTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "POST /v1/messages/send": {
        "text": {"destinationNumber": PHONE, "text": "Olá! O seu pedido está pronto."},
        "template": {
            "destinationNumber": PHONE,
            "templateId": "order_ready",
            "variables": {"name": "Ana", "order": "42"},
        },
        "media": {"destinationNumber": PHONE, "media": "https://example.com/a.png", "caption": "O seu pedido"},
        "buttons": {
            "destinationNumber": PHONE,
            "text": "Confirma a entrega?",
            "buttons": [{"type": "reply", "label": "Sim"}, {"type": "reply", "label": "Não"}],
            "footer": "Padaria",
        },
        "list": {
            "destinationNumber": PHONE,
            "text": "Escolha um horário.",
            "list": {
                "buttonText": "Horários",
                "sections": [{"title": "Hoje", "rows": [{"title": "14:00", "rowId": "14"}]}],
            },
        },
        "scheduled": {"destinationNumber": PHONE, "text": "Bom dia!", "deliverAt": "2030-01-02T09:00:00-03:00"},
    },
    "POST /v1/messages/batch": {
        "batch": {"messages": [{"destinationNumber": PHONE, "text": "Olá", "idempotencyKey": "order-42"}, {}]}
    },
    "DELETE /v1/messages/cancel": {"cancel": {"messageIds": [IDS["message"], "nope"]}},
    "POST /v1/opt-ins": {"consent": {"destinationNumber": PHONE}},
    "DELETE /v1/opt-ins": {"withdrawal": {"destinationNumber": PHONE}},
    "POST /v1/api-keys": {"rotate": {"whatsappNumberId": IDS["number"]}},
    "POST /v1/numbers": {"number": {"name": "Balcão", "number": "+5511973000001"}},
    "PATCH /v1/numbers/{number_id}": {
        "retention": {"piiMode": "STORE_X_DAYS", "piiRetentionDays": 30, "settings": {"rejectCall": True}}
    },
    "POST /v1/projects": {"project": {"name": "Loja", "description": "Pedidos do balcão"}},
    "POST /v1/templates": {"template": {"name": "order_done", "category": "UTILITY", **_VERSION}},
    "PUT /v1/templates/{reference}": {"draft": _VERSION},
    "POST /v1/templates/{reference}/versions": {"version": _VERSION},
    "POST /v1/webhooks": {
        "webhook": {"url": "https://example.com/hooks", "name": "pedidos", "events": ["message.delivered"]}
    },
    "PATCH /v1/webhooks/{webhook_id}": {"everything": {"events": ["*"], "active": True}},
    "POST /v1/webhooks/{webhook_id}/replay": {"failed": _REPLAY, "next": {**_REPLAY, "cursor": IDS["delivery"]}},
    "POST /v1/admin/webhooks/{webhook_id}/replay": {"failed": _REPLAY},
    "POST /v1/admin/tenants": {"tenant": {"name": "Padaria", "timezone": "America/Sao_Paulo", "defaultCountry": "BR"}},
    "PATCH /v1/admin/tenants/{tenant_id}": {"plan": {"planId": IDS["plan"]}},
    "POST /v1/admin/projects": {"project": {"tenantId": IDS["tenant"], "name": "Loja", "productionApproved": True}},
    "PATCH /v1/admin/projects/{project_id}": {"approve": {"productionApproved": True}},
    "POST /v1/admin/plans": {"plan": {"name": "Start", "liveMonthly": 10_000, "testDaily": 100}},
    "PATCH /v1/admin/plans/{plan_id}": {"raise": {"liveMonthly": 20_000}},
    "POST /v1/admin/packages": {
        "package": {
            "tenantId": IDS["tenant"],
            "messages": 5_000,
            "startsAt": "2030-01-01T00:00:00Z",
            "endsAt": "2030-02-01T00:00:00Z",
        }
    },
    "POST /v1/admin/profiles": {"profile": {"tenantId": IDS["tenant"], "name": "Ana", "phone": PHONE}},
    "PATCH /v1/admin/profiles/{profile_id}": {"rename": {"name": "Ana (caixa)"}},
    "POST /v1/admin/opt-ins": {"consent": {"projectId": IDS["project"], "phone": PHONE}},
    "POST /v1/admin/keys": {
        "key": {"projectId": IDS["project"], "environment": "LIVE", "name": "loja", "numberId": IDS["number"]}
    },
    "POST /v1/admin/numbers": {
        "existing": {
            "instance": "padaria",
            "tenantId": IDS["tenant"],
            "displayName": "Padaria",
            "phone": "+5511973000002",
            "gatewayUrl": "http://evolution:8080",
            "gatewayApiKey": "the key of the instance",
        }
    },
    "PUT /v1/admin/numbers/{number_id}/pacing": {
        "calm": {"utility": {"min_ms": 8_000, "max_ms": 12_000}},
        "capped": {
            "marketing": {"min_ms": 20_000, "max_ms": 40_000, "per_hour": 80, "per_day": 500},
            "first_contacts_per_day": 50,
        },
    },
    "POST /v1/admin/templates": {
        "template": {
            "projectId": IDS["project"],
            "name": "order_ready",
            "category": "UTILITY",
            "body": _VERSION["body"],
            "productionApproved": True,
        }
    },
    "POST /v1/admin/templates/{template_id}/approve": {"newest": {}},
    "POST /v1/admin/templates/{template_id}/reject": {"reason": {"reason": "Diga quem envia."}},
    "POST /v1/admin/templates/{template_id}/production-approval": {"release": {"approved": True}},
    "POST /v1/admin/dead-letters/replay": {
        "these": {"ids": [IDS["dead_letter"]]},
        "kind": {"queue": "messages--padaria", "reason": "rejected", "limit": 500},
    },
    "POST /v1/admin/dead-letters/discard": {"these": {"ids": [IDS["dead_letter"]], "reason": "Veio de um teste."}},
    "POST /v1/admin/dead-letters/{letter_id}/discard": {"reason": {"reason": "Veio de um teste."}},
    "POST /v1/admin/recipients/erase": {
        "of a tenant": {"phone": FORGOTTEN, "tenantId": IDS["tenant"]},
        "of everybody": {"phone": FORGOTTEN},
    },
    "POST /v1/admin/operators": {"operator": {"name": "Bia", "role": "operator"}},
    "PATCH /v1/admin/operators/{operator_id}": {"promote": {"role": "admin"}},
}
"""By route, then by what the example shows."""
