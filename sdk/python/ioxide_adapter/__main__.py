"""`python3 -m ioxide_adapter FILE CLASS [HOST:PORT]`: speaks for a system that is a class in a file of tests."""

import importlib.util
import pathlib
import sys

from .adapter import Adapter
from .machine import Machine, MachineAdapter


def main() -> None:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    path, name = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    found = getattr(module, name, None)
    if isinstance(found, type) and issubclass(found, Machine):
        adapter: Adapter = MachineAdapter(found)
    elif isinstance(found, type) and issubclass(found, Adapter):
        adapter = found()
    else:
        sys.exit(f"{path} has no adapter or machine `{name}`")
    adapter.run(sys.argv[3] if len(sys.argv) == 4 else None)


if __name__ == "__main__":
    main()
