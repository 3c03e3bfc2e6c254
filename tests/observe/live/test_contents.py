"""XLA's figures about a program: what it does not say is unknown, for a reason in plain words."""

from __future__ import annotations

from jax.errors import JaxRuntimeError

from pjit_inspect.observe.live.contents import slow_facts


class ForNoDevice:
    """An executable for hardware that is not attached, as XLA's compilers ahead of time give it."""

    def cost_analysis(self) -> None:
        raise JaxRuntimeError("UNIMPLEMENTED: GetCostAnalysis is not supported.")

    def get_compiled_memory_stats(self) -> None:
        return None


def test_operations_are_not_counted_for_hardware_that_is_not_attached():
    missing: dict[str, str] = {}
    assert slow_facts(ForNoDevice(), missing)["cost"] == {}
    assert missing["cost"] == "XLA counts operations only in programs for hardware that is attached"
