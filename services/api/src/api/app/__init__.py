"""Puts the api together: the only place that reads settings and picks adapters."""

from api.app import analytics, keys, messages, numbers, operator, projects, reading, templates, unsupported, webhooks
from api.app.documentation import document_with
from api.app.keeping import KEPT, SEALED
from api.app.key_first import KeyFirst
from api.app.mounting import mount
from api.app.parts import TOPOLOGY, Parts
from api.settings import Settings
from api.tables import OUTBOX
from chassis.body_guard import ask_first
from chassis.clock import utc_now
from chassis.foundation import Foundation
from chassis.retention import measuring_loop
from contracts.registry import API, decode


async def serve() -> int:
    """Run until a signal; the exit code."""
    foundation, parts = assemble(Settings.load())
    return await foundation.run(*parts.stages)


def assemble(settings: Settings) -> tuple[Foundation, Parts]:
    """Everything in its place, nothing started or connected yet."""
    foundation = Foundation(
        settings, service=API, outbox=OUTBOX, topology=TOPOLOGY, decode=decode, title="Pilot Status API", sealed=SEALED
    )
    parts = Parts(settings, foundation)
    follow = reading.following(parts)
    public = [
        unsupported.routes(parts),
        keys.routes(parts),
        numbers.routes(parts),
        projects.routes(parts),
        templates.routes(parts),
        messages.routes(parts),
        webhooks.routes(parts),
        analytics.routes(parts),
        reading.routes(parts, follow),
    ]
    mount(foundation.app, public=public, operator=operator.routes(parts, follow))
    ask_first(foundation.app, KeyFirst(clients=parts.authenticate, operators=parts.authenticate_operator))
    document_with(foundation.app)
    operator.listen(parts)
    webhooks.listen(parts)
    parts.stages.append(measuring_loop(foundation.database, KEPT, utc_now))
    return foundation, parts
