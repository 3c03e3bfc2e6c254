"""The lowest layer: protobuf fields, XLA's schema, shapes and replica groups in both forms."""
