"""A library that is installed as editable from the repository is refused."""

from __future__ import annotations

import json
import venv
from pathlib import Path

import pytest

from easeci.build.editable import refuse_editable
from easeci.errors import UsageError


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A virtual environment inside a repository, as many keep it."""
    prefix = tmp_path / "repository" / ".venv"
    venv.create(prefix, with_pip=False, symlinks=True)
    return prefix


def site_of(prefix: Path) -> Path:
    return next(prefix.glob("lib/python3*/site-packages"))


def install_by_path(site: Path, source: Path) -> None:
    (site / "_model.pth").write_text(f"{source}\n")


def install_by_finder(site: Path, source: Path) -> None:
    name = "__editable___model_1_0_finder"
    (site / "__editable__.model-1.0.pth").write_text(f"import {name}; {name}.install()\n")
    (site / f"{name}.py").write_text(f"MAPPING = {{'model': '{source}/model'}}\n")


def install_by_record(site: Path, source: Path) -> None:
    (site / "model-1.0.dist-info").mkdir()
    record = {"url": source.as_uri(), "dir_info": {"editable": True}}
    (site / "model-1.0.dist-info" / "direct_url.json").write_text(json.dumps(record))


def install_by_egg(site: Path, source: Path) -> None:
    (site / "model.egg-link").write_text(f"{source}\n../")


def install_by_link(site: Path, source: Path) -> None:
    source.mkdir(exist_ok=True)
    (site / "model").symlink_to(source)


WAYS = (install_by_path, install_by_finder, install_by_record, install_by_egg, install_by_link)


@pytest.mark.parametrize("install", WAYS, ids=lambda way: way.__name__)
def test_editable_installs_of_the_repository_are_refused(
    install: object, environment: Path, tmp_path: Path
) -> None:
    """Every kind of editable install is refused: the program would import the work tree."""
    assert callable(install)
    top = tmp_path / "repository"
    refuse_editable([environment], top)
    install(site_of(environment), top / "src")
    with pytest.raises(UsageError, match="model is installed as editable from the repository") as e:
        refuse_editable([environment], top)
    assert "pip install ." in str(e.value)


def test_other_editable_installs_are_fine(environment: Path, tmp_path: Path) -> None:
    """Of another project, or within the environment itself; and a plain install of this one."""
    site, top = site_of(environment), tmp_path / "repository"
    install_by_path(site, tmp_path / "repository-of-another")
    install_by_finder(site, tmp_path / "another")
    (site / "within.pth").write_text("vendored\n# a comment\n")
    (site / "model-2.0.dist-info").mkdir()
    record = {"url": top.as_uri(), "dir_info": {}}
    (site / "model-2.0.dist-info" / "direct_url.json").write_text(json.dumps(record))
    refuse_editable([environment], top)
