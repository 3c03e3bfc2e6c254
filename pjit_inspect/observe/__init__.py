"""Observing JAX: live compiles and live objects turned into frozen records.

The only room that imports jax. `listener` sees compiles, `program` gathers what one compile consists of, `record` turns
that into `model.RecordData`. Not its job: understanding HLO (`parse`, `analyze`).
"""
