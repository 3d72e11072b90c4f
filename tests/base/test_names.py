"""One name for each thing: what a class is called says which of them is meant."""

import ast
from collections import defaultdict
from pathlib import Path


def test_a_class_name_stands_once_in_the_package(root: Path) -> None:
    places = defaultdict(list)
    for path in sorted((root / "code" / "layerwise").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.relative_to(root).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
