#!/usr/bin/env python3
"""Reads models with the grammar and says which it cannot read: `examples.py FOLDER...`. The texts of `corpus` must have
the trees that stand there.

It compiles `src/parser.c` with `cc` and needs the Python package `tree_sitter`.
"""

import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

from tree_sitter import Language, Parser

HERE = pathlib.Path(__file__).resolve().parent.parent


def language(folder):
    """The grammar, compiled."""
    library = pathlib.Path(folder) / "ioxide.so"
    source = HERE / "src"
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{source}", source / "parser.c", "-o", library], check=True)
    function = ctypes.cdll.LoadLibrary(str(library)).tree_sitter_ioxide
    function.restype = ctypes.c_void_p
    warnings.simplefilter("ignore", DeprecationWarning)
    return Language(function())


def query(grammar, text):
    """A query, which fails if it is not well formed. Versions of the package before 0.25 have no constructor for it."""
    try:
        from tree_sitter import Query
        return Query(grammar, text)
    except (ImportError, TypeError):
        return grammar.query(text)


def first_error(node):
    """The first place that cannot be read."""
    if node.type == "ERROR" or node.is_missing:
        return node
    return next(
        filter(None, (first_error(child) for child in node.children if child.has_error or child.is_missing)), None
    )


def corpus():
    """The name, text and expected tree of each text of the corpus, as `tree-sitter test` reads them."""
    form = re.compile(r"^={3,}\n([^\n]+)\n={3,}\n(.*?)^-{3,}\n(.*?)(?=^={3,}\n|\Z)", re.MULTILINE | re.DOTALL)
    for path in sorted((HERE / "test" / "corpus").glob("*.txt")):
        for name, text, tree in form.findall(path.read_text()):
            yield f"{path.name}: {name}", text, tree


def has_tree(node, expected):
    """Whether the node is the tree; one without names of fields has them left out."""
    found = str(node)
    if not re.search(r"\w:", expected):
        found = re.sub(r"\w+: ", "", found)
    return found.split() == re.sub(r"\s+\)", ")", expected).split()


def main():
    with tempfile.TemporaryDirectory() as folder:
        grammar = language(folder)
        for queries in sorted((HERE / "queries").glob("*.scm")):
            query(grammar, queries.read_text())
        parser = Parser(grammar)
        paths = sorted(path for folder in sys.argv[1:] for path in pathlib.Path(folder).rglob("*.iox"))
        bad = 0
        for name, text, expected in corpus():
            tree = parser.parse(text.encode())
            if not has_tree(tree.root_node, expected):
                bad += 1
                print(f"{name}: expected {' '.join(expected.split())}\nfound {tree.root_node}")
        for path in paths:
            tree = parser.parse(path.read_bytes())
            if tree.root_node.has_error:
                bad += 1
                row, column = first_error(tree.root_node).start_point
                print(f"{path}:{row + 1}:{column + 1}: cannot be read")
        print(f"{len(paths)} models; {bad} texts cannot be read or have another tree")
        sys.exit(1 if bad or not paths else 0)


if __name__ == "__main__":
    main()
