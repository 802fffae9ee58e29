"""A hook of MkDocs: README.md, CHANGELOG.md and CONTRIBUTING.md become pages of the site.

They stay beside docs/, where people and repository browsers look for them. Links between them and the pages in docs/
are written for these places; on the site all are in one folder, so the links are written anew here. MkDocs then checks
them as any other.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""A file beside docs/, and its page."""

_IN_DOCS = re.compile(r"\]\((?:\.\./)?docs/")
_BESIDE_DOCS = re.compile(rf"\]\((?:\.\./)?({'|'.join(map(re.escape, PAGES))})")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of the site, with those beside docs/ among them."""
    for name, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return the text of a page with its links as they are on the site."""
    return _BESIDE_DOCS.sub(lambda found: f"]({PAGES[found[1]]}", _IN_DOCS.sub("](", markdown))
