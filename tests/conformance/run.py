"""Run vector files through the product: `python tests/conformance/run.py [--deviations FILE]... VECTORS.jsonl...`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.conformance.runner import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
