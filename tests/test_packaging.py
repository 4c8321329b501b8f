"""What a user installs: a typed wheel, the same from the source distribution, and an import that loads little."""

import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LOADED_BY_IMPORT = """
import sys
before = set(sys.modules)
from decide import *
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(loaded - sys.stdlib_module_names))
"""
# decide's two, and what these need themselves
LIGHT = {"anyio", "attr", "attrs", "decide", "idna", "sniffio", "typing_extensions"}
USER_CODE = """
import decide

answer = decide.NoulAnswer(noul=0.9)
reveal_type(answer)
decide.NoulAnswer(noul="very")
"""


def build(source: Path, out: Path, *targets: str) -> None:
    arguments = [argument for target in targets for argument in ("--target", target)]
    subprocess.run([sys.executable, "-m", "hatchling", "build", "--directory", out, *arguments], cwd=source, check=True)


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    build(ROOT, out, "sdist", "wheel")
    return out


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (path,) = dist.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def unpacked_sdist(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    (path,) = dist.glob("*.tar.gz")
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")
    (top,) = folder.iterdir()
    return top


def test_the_wheel_holds_every_module_and_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    packaged = {name for name in names_in(wheel) if ".dist-info/" not in name}
    in_tree = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "decide").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert "decide/py.typed" in packaged
    assert packaged == in_tree


def test_the_wheel_carries_its_license_and_its_command(wheel: Path) -> None:
    names = names_in(wheel)

    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert any(name.endswith(".dist-info/entry_points.txt") for name in names)


def test_the_source_distribution_can_be_checked_by_whoever_packages_it(unpacked_sdist: Path) -> None:
    wanted = ["CHANGELOG.md", "LICENSE", "README.md", "decide/py.typed", "docs", "pyproject.toml", "tests/conftest.py"]

    assert [name for name in wanted if not (unpacked_sdist / name).exists()] == []


def test_a_wheel_built_from_the_source_distribution_holds_the_same_files(
    wheel: Path, unpacked_sdist: Path, tmp_path: Path
) -> None:
    build(unpacked_sdist, tmp_path, "wheel")

    (rebuilt,) = tmp_path.glob("*.whl")
    assert names_in(rebuilt) == names_in(wheel)


def test_a_type_checker_elsewhere_reads_the_types_of_the_installed_wheel(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    site = next((tmp_path / "venv").glob("lib/*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "requirements.pth").write_text(sysconfig.get_path("purelib"))
    (tmp_path / "user.py").write_text(USER_CODE)

    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python), "user.py"]
    checked = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)

    assert 'Revealed type is "decide.answers.NoulAnswer"' in checked.stdout
    assert 'Argument "noul" to "NoulAnswer" has incompatible type "str"' in checked.stdout
    assert "Found 1 error" in checked.stdout


def test_all_that_decide_offers_loads_attrs_and_anyio_only() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", LOADED_BY_IMPORT], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()

    assert set(loaded) - LIGHT == set()
    assert {"anyio", "attrs", "decide"} <= set(loaded)
