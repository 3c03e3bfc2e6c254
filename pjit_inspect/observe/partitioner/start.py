"""What starts the server of `observe.partitioner.service`: a script that detaches itself, then becomes the server.

So the server is no child of the user's process, which never has to wait for it nor can by accident. Not its job:
serving (`observe.partitioner.server`).
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Fork off and serve. The arguments: the process that asks, and the folder in which this package lies."""
    if os.fork():
        os._exit(0)
    # Last, where the user's path, which was passed on, does not have it.
    sys.path.append(sys.argv[2])
    from pjit_inspect.observe.partitioner.server import serve

    try:
        serve(int(sys.argv[1]))
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
