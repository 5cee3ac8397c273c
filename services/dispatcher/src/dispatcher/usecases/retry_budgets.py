"""The retry budgets of this process, one per gateway: N replicas let N times as many second tries through."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from dispatcher.domain.retry_budget import RetryBudget
from dispatcher.usecases.measures import RETRIES
from gateways.port import Answer, Refused, Taken

GATEWAYS_MAX = 1_000


@dataclass(slots=True)
class RetryBudgets:
    """Keyed by the gateway's address; the one used least recently is forgotten first and starts anew."""

    monotonic: Callable[[], float] = time.monotonic
    _budgets: OrderedDict[str, RetryBudget] = field(default_factory=OrderedDict)

    def allows(self, base_url: str, *, is_retry: bool) -> bool:
        """Whether a call may be made now. A first try always may; a second one takes a token."""
        if not is_retry:
            return True
        spent = self._of(base_url).spent(self.monotonic())
        if spent is not None:
            self._keep(base_url, spent)
        RETRIES.labels(outcome="postponed" if spent is None else "made").inc()
        return spent is not None

    def learn(self, base_url: str, answer: Answer, *, is_retry: bool) -> None:
        """A gateway that took or refused a message is well; silence and failures earn nothing."""
        if isinstance(answer, Taken | Refused):
            self._keep(base_url, self._of(base_url).earned(self.monotonic(), was_retry=is_retry))

    def _of(self, base_url: str) -> RetryBudget:
        return self._budgets.get(base_url) or RetryBudget(at=self.monotonic())

    def _keep(self, base_url: str, budget: RetryBudget) -> None:
        self._budgets[base_url] = budget
        self._budgets.move_to_end(base_url)
        while len(self._budgets) > GATEWAYS_MAX:
            self._budgets.popitem(last=False)
