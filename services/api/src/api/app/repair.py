"""Wires repair: questions to the reconciler, and the loop that balances the books."""

from fastapi import APIRouter

from api.app.parts import Parts
from api.operators.routes.guard import Guard
from api.repair.adapters import ReconcilerQuestions
from api.repair.routes import dead_letters, reconciliation
from api.repair.usecases.balance_books import BalanceBooks
from api.repair.usecases.manage_letters import ReadDeadLetters, SettleDeadLetters
from api.repair.usecases.watch_books import WatchBooks
from chassis.clock import utc_now
from chassis.loop import Loop


def routers(guard: Guard, parts: Parts) -> list[APIRouter]:
    """Routes below /v1/admin."""
    questions = ReconcilerQuestions(asker=parts.asker, timeout_seconds=parts.settings.question_timeout_seconds)
    balance = BalanceBooks(database=parts.database, questions=questions, clock=utc_now)
    watch = WatchBooks(balance=balance, clock=utc_now)
    parts.stages.append(Loop("books", watch.step, interval_seconds=parts.settings.books_interval_seconds))
    return [
        dead_letters.reading_router(ReadDeadLetters(questions=questions)),
        dead_letters.settling_router(guard, SettleDeadLetters(questions=questions)),
        reconciliation.router(balance),
    ]
