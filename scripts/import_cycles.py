"""Fails if modules of `src` or `askgate_env` import each other in a circle.

Imports inside functions count, those for types do not.
"""

import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src")]


def main() -> None:
    graph = grimp.build_graph("src", "askgate_env", exclude_type_checking_imports=True)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in sorted(graph.modules)}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        raise SystemExit("import cycle: " + " <- ".join(error.args[1])) from None
    print(f"{len(imports)} modules, no import cycle")


if __name__ == "__main__":
    main()
