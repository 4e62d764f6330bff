"""Starts the `rulebook` binary, which is installed next to the scripts of this environment."""

import os
import subprocess
import sys
import sysconfig

__all__ = ["find_rulebook", "main"]


def find_rulebook() -> str:
    """The path of the binary."""
    name = "rulebook" + (sysconfig.get_config_var("EXE") or "")
    user = sysconfig.get_preferred_scheme("user")
    # The environment, the person's own folder, and the folder that `pip install --target` makes.
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=user),
        os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"),
    ]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"{name} is not in {', '.join(folders)}: install rulebook-cli again")


def main() -> None:
    """Runs the binary with the arguments of this process."""
    command = [find_rulebook(), *sys.argv[1:]]
    if sys.platform == "win32":
        sys.exit(subprocess.run(command).returncode)
    os.execv(command[0], command)
