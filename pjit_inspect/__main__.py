"""`python -m pjit_inspect`. Not its job: anything but calling `cli`."""

from __future__ import annotations

from pjit_inspect.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
