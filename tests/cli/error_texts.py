"""The texts of all `BadInput` in the code, or of the calls of another name, read from its syntax trees; `{}` stands for
a value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product
from pathlib import Path

Assigned = dict[str, list[ast.expr]]


def error_texts(folder: Path, name: str = "BadInput") -> Iterator[tuple[str, str]]:
    """File and line, and what an error says or advises there. `name`: of the function that is called."""
    for file in sorted(folder.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for call, known in _calls(tree, _assigned(tree.body), name):
            for node in (*call.args[:1], *(one.value for one in call.keywords if one.arg == "remedy")):
                for text in _texts(node, known):
                    yield f"{file}:{call.lineno}", text


def _calls(node: ast.AST, known: Assigned, name: str) -> Iterator[tuple[ast.Call, Assigned]]:
    """Calls of a function, with what the names around them were assigned."""
    for child in ast.iter_child_nodes(node):
        inner = {**known, **_assigned(ast.walk(child))} if isinstance(child, ast.FunctionDef) else known
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == name:
            yield child, inner
        yield from _calls(child, inner, name)


def _assigned(nodes: object) -> Assigned:
    found: Assigned = {}
    for node in nodes:  # type: ignore[attr-defined]
        for target in node.targets if isinstance(node, ast.Assign) else ():
            several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            pairs = zip(target.elts, node.value.elts, strict=True) if several else [(target, node.value)]
            for name, value in pairs:
                if isinstance(name, ast.Name):
                    found.setdefault(name.id, []).append(value)
    return found


def _texts(node: ast.expr, known: Assigned) -> list[str]:
    """The texts that an expression may have; none where it is not known."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        values = [one.value if isinstance(one, ast.FormattedValue) else one for one in node.values]
        parts = [found if any(found := _texts(one, known)) else ["{}"] for one in values]
        return ["".join(one) for one in product(*parts)]
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body, known), *_texts(node.orelse, known)]
    if isinstance(node, ast.Name):
        others = {name: values for name, values in known.items() if name != node.id}
        return [text for value in known.get(node.id, ()) for text in _texts(value, others)]
    return []
