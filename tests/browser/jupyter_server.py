"""A JupyterLab or Notebook 7 server of its own, in a folder of its own, for one test."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

__all__ = ["running_server"]

SETTINGS = {
    # Outputs out of sight would not be in the page otherwise.
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
}
THEMES = "@jupyterlab/apputils-extension/themes"
APPS = {"lab": "LabApp", "notebook": "JupyterNotebookApp"}


@contextmanager
def running_server(app: str, root: Path, home: Path, theme: str = "JupyterLab Light") -> Iterator[str]:
    """The address of the notebook `run.ipynb` of `root`, opened in `app` with a theme."""
    token, port = secrets.token_hex(16), free_port()
    log = (home / "server.log").open("wb")
    command = [
        sys.executable, "-m", "jupyter", app, "--no-browser", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}",
        "--ServerApp.allow_root=True", f"--{APPS[app]}.expose_app_in_browser=True", "--LabApp.news_url=None",
        "--ServerApp.terminals_enabled=False",
    ]  # fmt: skip
    server = subprocess.Popen(command, env=environment(home, theme), stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", server, home)
        place = "lab/tree/run.ipynb" if app == "lab" else "notebooks/run.ipynb"
        yield f"http://127.0.0.1:{port}/{place}?token={token}"
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
        log.close()


def free_port() -> int:
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def environment(home: Path, theme: str) -> dict[str, str]:
    """Every folder Jupyter writes to, inside `home`; eight fake CPU devices for the kernel."""
    settings = home / "settings"
    for name, values in {**SETTINGS, THEMES: {"theme": theme}}.items():
        file = settings / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values), encoding="utf-8")
    folders = {
        "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython", "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }  # fmt: skip
    own = {key: str(home / folder) for key, folder in folders.items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    devices = {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8"}
    return {**os.environ, **own, **devices, "JUPYTERLAB_SETTINGS_DIR": str(settings), "PATH": path}


def wait_for(address: str, server: subprocess.Popen[bytes], home: Path) -> None:
    end = time.monotonic() + 90
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError((home / "server.log").read_text(errors="replace")[-3000:])
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError((home / "server.log").read_text(errors="replace")[-3000:])
