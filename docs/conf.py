"""The docs site, by Sphinx: ``nox -s docs`` builds it into ``build/site``."""

from __future__ import annotations

import sys
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from arena.base.version import __version__

sys.path.insert(0, str(Path(__file__).parent / "site"))  # our extensions

project = "Grid arena"
author = "the Grid arena authors"
version = release = __version__
html_title = "Grid arena"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_theme = "furo"
html_favicon = "site/static/favicon.svg"
html_static_path = ["site/static"]
html_css_files = ["site.css"]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "repository_pages",
    "references",
    "own_host",
]
smartquotes = False  # options begin with two hyphens
exclude_patterns = ["site", "examples"]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

nb_execution_mode = "force"
nb_execution_in_temp = True  # it writes the directory of an arena
nb_execution_timeout = 300
nb_execution_raise_on_error = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "inherited-members": "tuple, str, BaseException"}  # those of the arena
napoleon_numpy_docstring = False
napoleon_use_ivar = True
maximum_signature_line_length = 100
copybutton_exclude = ".linenos, .gp, .go"


def setup(app: Sphinx) -> None:
    """Show blocks that only our tests can read as plain text."""
    for language in ("conversation", "example", "hex"):
        app.add_lexer(language, TextLexer)
