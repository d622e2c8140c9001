"""The verb `init`: a new project folder with configs and templates to edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import BadInput
from . import show

COPIED = ("configs/*.yaml", "configs/gates/*.yaml", "configs/weights_baseline.json", "templates/pack_*/*.json")
"""What a project edits. Models are not copied: they are found where they came along, or named in a config."""
IGNORED = ".askgate/\n.venv/\ncheckpoints/\ndata/\nlogs/\nreports/\nconfigs/weights.json\n"
README = """# A project of AskGate

Run every command in this folder. What lies here is used; what you remove is taken from the package again.

    askgate quickstart                      # the whole loop on the embedded default, about 20 minutes on two cores
    askgate status                          # the lights, and what to do next
    askgate board                           # the same in a browser on this machine

| file | edit it to |
|---|---|
| `configs/quickstart.yaml` | train: model, steps, learning rate, reward |
| `configs/gates/quickstart.yaml`, `rc1.yaml` | say how much of everything a run makes, and what figures must reach |
| `configs/default.yaml` | name the judge, its limits and prices |
| `configs/weights_baseline.json` | name the dimensions of the reward and the old weights |
| `templates/pack_v2/*.json` | change how samples are worded; `templates/pack_v1` is what they are compared with |

A gate's threshold is part of the ticket: after an edit both rounds have to be run again.
"""


def init(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder, or an empty one.")]) -> None:
    """Lay out a new project folder. Configs and templates to edit, and what to do with them."""
    import os
    import shutil
    import tempfile

    from ..core.shipped import HOME

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput("is not empty, and nothing is overwritten", where=str(folder), remedy="name a new folder")
    there = folder.is_dir()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=folder if there else folder.parent, prefix=f".{folder.name}."))
    except OSError as error:
        raise BadInput(f"cannot write here ({error.strerror})", where=str(folder), remedy="choose another") from None
    try:
        for file in sorted(file for pattern in COPIED for file in HOME.glob(pattern)):
            target = work / file.relative_to(HOME)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        (work / "README.md").write_text(README, encoding="utf-8")
        (work / ".gitignore").write_text(IGNORED, encoding="utf-8")
        if there:
            # It stays the folder that it is: somebody may be standing in it.
            for made in list(work.iterdir()):
                os.replace(made, folder / made.name)
            work.rmdir()
        else:
            work.chmod(0o755)
            os.replace(work, folder)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    for name in ("configs", "templates", "README.md"):
        show.say(f"wrote {folder / name}")
    show.say(f"-> cd {folder} and run `askgate quickstart`; README.md there says what each file is for")
    show.say(f"-> 进入 {folder} 运行 `askgate quickstart`；各文件用途见其中的 README.md")
