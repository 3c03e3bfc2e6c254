"""Compute and link speeds of chips, with their sources: the basis of modelled times.

None of them was measured. Not its job: their memory (`observe.partitioner.chips`).
"""

from __future__ import annotations

from pjit_inspect.model.record.target import Speed

_TPU = "Google Cloud's pages, links of the scaling book"
_GPU = "XLA's description of the GPU"

SPEEDS: dict[str, Speed] = {
    "v4": Speed(flops_per_s=275e12, link_bytes_per_s=45e9, source=_TPU),
    "v5e": Speed(flops_per_s=197e12, link_bytes_per_s=45e9, source=_TPU),
    "v5p": Speed(flops_per_s=459e12, link_bytes_per_s=90e9, source=_TPU),
    "v6e": Speed(flops_per_s=918e12, link_bytes_per_s=90e9, source=_TPU),
    "tpu7x": Speed(flops_per_s=1_153e12, link_bytes_per_s=100e9, source=_TPU),
    "a100": Speed(flops_per_s=312e12, link_bytes_per_s=300e9, source=_GPU),
    "h100": Speed(flops_per_s=989e12, link_bytes_per_s=450e9, source=_GPU),
    "h200": Speed(flops_per_s=989e12, link_bytes_per_s=450e9, source=_GPU),
    "b200": Speed(flops_per_s=2_225e12, link_bytes_per_s=900e9, source=_GPU),
}
"""Chip -> dense bfloat16 products of one JAX device, and one link in one direction."""
