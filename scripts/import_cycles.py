"""Fails if modules of `src` import each other in a circle. Imports inside functions count, those for types do not."""

import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def main() -> None:
    graph = grimp.build_graph("src", exclude_type_checking_imports=True)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in sorted(graph.modules)}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        raise SystemExit("import cycle: " + " <- ".join(error.args[1])) from None
    print(f"{len(imports)} modules, no import cycle")


if __name__ == "__main__":
    main()
