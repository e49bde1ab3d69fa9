"""The docs tell the truth: what the code writes is current, and nothing is left out."""

from __future__ import annotations

import re
from pathlib import Path

from tools import write_docs

from easeci.script import KEYS
from tests.cases import each_case
from tests.commands import easeci_here

ROOT = Path(__file__).parent.parent.parent
WORKFLOW = ROOT / "docs" / "workflow.md"
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    *ROOT.glob("docs/**/*.md"),
]


def test_pages_written_by_the_code_are_current() -> None:
    """`make docs` would change nothing, whatever was printed in this process before."""
    planned = easeci_here("plan", "-c", "n > 0.8 +/- 0.1")
    for path, content in write_docs.pages().items():
        assert path.read_text("utf-8") == content, f"{path.name}: run `make docs`"
    assert easeci_here("plan", "-c", "n > 0.8 +/- 0.1").stdout == planned.stdout


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    told = (ROOT / "README.md", WORKFLOW, ROOT / "docs" / "pages.md")
    pages = "".join(path.read_text("utf-8") for path in told)
    commands = write_docs.commands()
    assert {"plan", "run", "testset add"} <= set(commands)
    for command in commands:
        assert f"## easeci {command}\n" in page
        assert f"easeci {command}" in pages, command


@each_case("key", KEYS)
def test_every_key_is_documented(key: object) -> None:
    page = (ROOT / "docs" / "script.md").read_text("utf-8")
    assert f"| `{getattr(key, 'name', '')}` |" in page


@each_case("page", PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text("utf-8")
    for page in folder.glob("0*.md"):
        assert page.name in index


def test_every_module_is_in_the_architecture() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    for path in (ROOT / "src" / "easeci").iterdir():
        if path.is_dir() and path.name != "__pycache__":
            assert f"  {path.name}/ " in page
        elif path.suffix == ".py" and not path.name.startswith("__"):
            assert path.name in page
