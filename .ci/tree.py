"""What no other tool looks at: long files, dead links, lock files, and names of places that are nobody's business."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST = 400
LOCK_FILES = {"Pipfile.lock", "package-lock.json", "pdm.lock", "poetry.lock", "pylock.toml", "uv.lock"}
REGISTRY = re.compile(r"(?:pypi|pythonhosted|npmjs)\.(?:org|com)")
LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)|(?:src|href)=\"([^\"#]+)[^\"]*\"")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
ROOT = Path(__file__).resolve().parent.parent
PLACES = {Path.home(), ROOT, *map(Path, sys.argv[1:])}


def committed() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listing.split("\0") if name]


def dead_links(path: Path, text: str) -> Iterator[str]:
    for match in LINK.finditer(text):
        target = match[1] or match[2]
        if not ELSEWHERE.match(target) and not (path.parent / target).exists():
            yield f"links to {target}, which is not there"


def complaints(path: Path) -> Iterator[str]:
    if path.name in LOCK_FILES:
        yield "a lock file names a registry host; take it out"
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return  # a picture
    if path.suffix == ".py" and (lines := text.count("\n")) > LONGEST:
        yield f"has {lines} lines; one idea a file, at most {LONGEST}"
    if path.suffix == ".md":
        yield from dead_links(path, text)
    if REGISTRY.search(text):
        yield "names a package registry's host"
    if any(f"{place}/" in text for place in PLACES):
        yield "names a path of this machine"


def main() -> int:
    files = committed()
    found = [f"{path.relative_to(ROOT)}: {complaint}" for path in files for complaint in complaints(path)]
    print(*found, f"{len(files)} files, {len(found)} complaints", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
