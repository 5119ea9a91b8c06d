"""Rows that a page shows on demand."""


def collapsed(summary, lines):
    """A closed section. GitHub renders Markdown in it only between empty lines."""
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "", "</details>", ""]
