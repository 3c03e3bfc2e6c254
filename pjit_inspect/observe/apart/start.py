"""Script that starts a helper: it detaches itself, finds its packages, and becomes the server.

The helper is no child of the user's process, which therefore never waits for it. It runs isolated (`python -I -S`): the
standard library comes first, then the folders from which jax was loaded, and this package is loaded from its folder,
whatever else is beside it. Not its job: serving (`observe.apart.server`).
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys

_NAME = "pjit_inspect"


def main() -> None:
    """Fork off and serve. The arguments: the process that asks, when it started, and the rest as JSON."""
    if os.fork():
        os._exit(0)
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        # A program that ignores it has its children's ends forgotten by the system, and so would its helper.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        owner, started, given = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
        sys.path.extend(given["folders"])
        _load_package(given["package"])
        from pjit_inspect.observe.apart.server import serve

        serve(owner, started, given["task"])
    except BaseException as error:
        if not isinstance(error, SystemExit):
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            sys.stderr.flush()
    finally:
        os._exit(0)


def _load_package(folder: str) -> None:
    """Load only this package from its folder: other packages beside it are not found."""
    spec = importlib.util.spec_from_file_location(
        _NAME, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{_NAME} cannot be loaded from {folder}")
    sys.modules[_NAME] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)


if __name__ == "__main__":
    main()
