"""A budget for one run: no sample is started that would, as far as can be foreseen, pass it."""

from __future__ import annotations

from ..core.errors import BadInput
from .judge import Tally
from .monitor import cost
from .providers import Provider


class Purse:
    """`budget` in US dollars; None: no limit."""

    def __init__(self, provider: Provider, tally: Tally, budget: float | None) -> None:
        if budget is not None and provider.cost(0, 0) is None:
            raise BadInput(
                f"the prices of {provider.name} are not known, so no budget can be kept",
                where="--budget",
                remedy="add usd_in and usd_out for it to configs/default.yaml, or leave the flag out",
            )
        self._provider, self._tally = provider, tally
        self._budget = None if provider.cost(1, 1) == 0 else budget
        self._dearest_tokens = 0

    def ended(self, tokens: int) -> None:
        """A sample that cost so many tokens."""
        self._dearest_tokens = max(self._dearest_tokens, tokens)

    @property
    def is_blind(self) -> bool:
        """Whether there is a budget to keep, and calls that the server did not say the price of."""
        return self._budget is not None and self._tally.unbilled > 0

    def allows(self, in_flight: int) -> bool:
        """Whether one more may start. The first sample runs alone: before it nobody knows what one costs."""
        if self._budget is None:
            return True
        if self.is_blind:
            return False
        spent = cost(self._provider, self._tally) or 0.0
        if not self._dearest_tokens:
            return in_flight == 0 and spent < self._budget
        price = spent / (self._tally.tokens_in + self._tally.tokens_out)
        return spent + (in_flight + 1) * self._dearest_tokens * price <= self._budget
