"""Meshes, PartitionSpecs, and a program before partitioning with the sharding of every value."""
