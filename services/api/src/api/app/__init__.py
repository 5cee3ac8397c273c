"""Puts the api together: the only place that reads settings and picks adapters."""

from api.app import messages, operator, webhooks
from api.app.mounting import mount
from api.app.parts import TOPOLOGY, Parts
from api.settings import Settings
from api.tables import OUTBOX
from chassis.foundation import Foundation
from contracts.registry import API, decode


async def serve() -> int:
    """Run until a signal; the exit code."""
    settings = Settings.load()
    foundation = Foundation(
        settings, service=API, outbox=OUTBOX, topology=TOPOLOGY, decode=decode, title="Pilot Status API"
    )
    parts = Parts(settings, foundation)
    public = [messages.routes(parts), webhooks.routes(parts)]
    mount(foundation.app, public=public, operator=operator.routes(parts))
    messages.listen(parts)
    operator.listen(parts)
    return await foundation.run(*parts.stages)
