"""Pictures: meshes, shards, time lines, charts."""
