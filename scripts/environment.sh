# Sourced by scripts/check, scripts/demo and scripts/test: finds Python and fills one virtual environment; finds and fetches
# the tools of the inspector's JavaScript.
# Not its job: running anything of the project.
#
# Settings (environment variables):
#   PYTHON             the Python to build the environment with (default: the first suitable one found)
#   PJIT_INSPECT_VENV  the environment's folder (default: .venv-<major.minor> in the checkout)

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
oldest_python=3.11

say() { printf '\n== %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$1" >&2
  shift
  if [ $# -gt 0 ]; then printf '       %s\n' "$@" >&2; fi
  exit 1
}

python_version() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null; }

is_recent() { "$1" -c "import sys; sys.exit(sys.version_info < (${oldest_python/./, }))" 2>/dev/null; }

# Prints the Python to use. $PYTHON is taken at its word; otherwise `python3` wins when it is recent enough.
find_python() {
  local candidate
  if [ -n "${PYTHON:-}" ]; then
    [ -n "$(python_version "$PYTHON")" ] || die "PYTHON=$PYTHON does not run."
    is_recent "$PYTHON" || die "PYTHON=$PYTHON is Python $(python_version "$PYTHON"); pjit_inspect needs $oldest_python or newer."
    command -v "$PYTHON"
    return
  fi
  for candidate in python3 python3.13 python3.12 python3.11 python3.14 python; do
    if is_recent "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  die "no Python $oldest_python or newer was found (python3 is ${1:-not there})." \
    "Install one, or name it: PYTHON=/path/to/python3.12 $0"
}

# Sets `venv` (the environment's folder) and `python` (its interpreter, which may not exist yet).
locate_environment() {
  base_python=
  if [ -n "${PJIT_INSPECT_VENV:-}" ] && [ -x "$PJIT_INSPECT_VENV/bin/python" ]; then
    venv=$(cd "$PJIT_INSPECT_VENV" && pwd)
    is_recent "$venv/bin/python" ||
      die "PJIT_INSPECT_VENV=$venv holds Python $(python_version "$venv/bin/python"); pjit_inspect needs $oldest_python or newer."
  else
    base_python=$(find_python "$(python_version python3)") || exit 1
    venv=${PJIT_INSPECT_VENV:-$root/.venv-$(python_version "$base_python")}
  fi
  python=$venv/bin/python
}

create_environment() {
  # Never delete a folder that is something else.
  if [ -e "$venv" ] && [ ! -f "$venv/pyvenv.cfg" ]; then
    die "$venv exists and is no virtual environment." "Name another folder in PJIT_INSPECT_VENV."
  fi
  rm -rf "$venv"
  say "making $venv with $base_python"
  "$base_python" -c 'import venv, ensurepip' 2>/dev/null ||
    die "$base_python comes without its venv module." \
      "On Debian and Ubuntu: apt install python$(python_version "$base_python")-venv"
  "$base_python" -m venv "$venv" ||
    die "python -m venv $venv failed: see the lines above." "Is the folder writable, is the disk full?"
}

# What an installed environment was made from; when it changes, pip runs again.
environment_stamp() {
  "$python" - "$root" <<'PY'
import hashlib, pathlib, sys
root = pathlib.Path(sys.argv[1])
print(sys.version.split()[0], hashlib.sha256((root / "pyproject.toml").read_bytes()).hexdigest(), root)
PY
}

# prepare_environment EXTRA: afterwards `python` runs this checkout with the packages of that extra.
prepare_environment() {
  local extra=$1 stamp log
  locate_environment
  # An environment whose own Python has gone (an upgrade, another machine) is made anew.
  if [ ! -x "$python" ] || ! is_recent "$python"; then
    create_environment
  fi
  stamp=$venv/pjit_inspect.$extra.stamp
  log=$venv/pjit_inspect.$extra.log
  if [ "$(cat "$stamp" 2>/dev/null)" = "$(environment_stamp)" ]; then return; fi
  say "installing pjit_inspect[$extra] into $venv (a few minutes the first time; log: $log)"
  if ! "$python" -m pip install --disable-pip-version-check --no-input -e "$root[$extra]" >"$log" 2>&1; then
    grep -v '^WARNING' "$log" | tail -30 >&2
    die "pip could not install pjit_inspect[$extra]: see the lines above, and $log." "Is there a network? Is pip set up for it?"
  fi
  environment_stamp >"$stamp"
}

# Where the inspector's JavaScript lies, and its tools once `npm ci` has fetched them.
front=$root/pjit_inspect/view/front

# Sets `no_front`: why the JavaScript cannot be checked here; empty where it can.
locate_front() {
  no_front=
  if ! command -v node >/dev/null; then
    no_front="there is no node"
  elif [ ! -x "$front/node_modules/.bin/tsc" ] || [ ! -x "$front/node_modules/.bin/prettier" ]; then
    no_front="its tools are not installed (npm ci in pjit_inspect/view/front)"
  fi
}

# Fetches the tools of the inspector's JavaScript, where there are npm and a network: the versions of its lock file, whose
# programs of installation do not run. Never fails: without the tools, their checks are skipped.
prepare_front() {
  local stamp log lock
  if ! command -v npm >/dev/null; then return; fi
  stamp=$front/node_modules/pjit_inspect.stamp
  log=$venv/pjit_inspect.npm.log
  lock=$(cksum <"$front/package-lock.json")
  if [ "$(cat "$stamp" 2>/dev/null)" = "$lock" ]; then return; fi
  say "installing the tools of the inspector's JavaScript (log: $log)"
  if (cd "$front" && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1) >"$log" 2>&1; then
    printf '%s\n' "$lock" >"$stamp"
  else
    say "npm could not install them: see $log. The JavaScript is tested, but not checked"
  fi
}

# Looks for a Chromium for the browser tests. Continuous integration, as root on a Debian, installs one; a person is told
# how. Never fails: without one these tests are skipped.
prepare_browser() {
  local name
  if [ -n "${CHROMIUM:-}" ]; then return; fi
  for name in chromium google-chrome chromium-browser; do
    if command -v "$name" >/dev/null; then return; fi
  done
  if [ -n "${CI:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing Debian's chromium for the browser tests"
    if { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } >"$venv/chromium.log" 2>&1; then
      return
    fi
    tail -3 "$venv/chromium.log" >&2
  fi
  say "no Chromium: the browser tests will be skipped (Debian: apt install chromium; or its path in CHROMIUM)"
}
