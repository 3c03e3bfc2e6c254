"""Starts several processes of one program on this machine and waits for them. Not their job: `worker.py`."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")
TIMEOUT_S = 240


def run_processes(count: int, folder: Path) -> Path:
    """Run `worker.py` in `count` processes, and return the folder with a folder for each scenario.

    The last process ends by being killed.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    port = free_port()
    workers = [
        subprocess.Popen(
            [sys.executable, str(WORKER), str(index), str(count), str(port), str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            text=True,
        )
        for index in range(count)
    ]
    try:
        printed = [worker.communicate(timeout=TIMEOUT_S)[0] for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    for index, (worker, text) in enumerate(zip(workers, printed, strict=True)):
        expected = -signal.SIGKILL if index == count - 1 else 0
        assert worker.returncode == expected, f"process {index} ended with {worker.returncode}:\n{text[-4000:]}"
    return folder


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
