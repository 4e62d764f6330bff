"""Runs inside the clean system of scripts/prove-packages: installs, asks and uninstalls each package."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

PACKAGES = Path("/packages")
REGISTRY = "http://127.0.0.1:4873/"
SAMPLE = Path("/sample")
# A first answer takes at most so many times as long as `--version`.
LIMIT = 5
# How often each package is installed for each of the two commands that are timed.
ROUNDS = 3
# What registries, package managers and the kernel keep for themselves.
KEPT = ["/proc", "/sys", "/dev", "/tmp", "/packages", "/registry", "/sample", "/var/lib/dpkg", "/var/log", "/var/cache",
        "/root/.npm", "/root/.cache", "/root/.npmrc", "/root/.local/share/uv", "/root/.local/state/uv", "/usr/local/lib/node_modules"]


def run(*words: str, **options) -> str:
    """What a command prints; its failure ends the proof."""
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def files() -> set[str]:
    """Every file of the system but those in KEPT."""
    found = set()
    for folder, folders, names in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in KEPT and name != "__pycache__"]
        # npm keeps its own folder, but nothing of ours in it.
        if folder == "/usr/local/lib" and os.path.isdir("/usr/local/lib/node_modules"):
            names += [f"node_modules/{name}" for name in os.listdir("/usr/local/lib/node_modules") if "rulebook" in name]
        found.update(path for name in [*names, *folders] if (path := os.path.join(folder, name)) not in KEPT)
    return found


def seconds(command: list[str]) -> float:
    """How long one run takes. It runs at real-time priority: otherwise, a busy machine interrupts the longer of two commands more often."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    started = time.perf_counter()
    run(*command, cwd=SAMPLE)
    taken = time.perf_counter() - started
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return taken


def venv(*words: str) -> str:
    """A shell line in a new environment of Python."""
    return " && ".join(["python3 -m venv /opt/env", *words])


PIP = "/opt/env/bin/pip --no-cache-dir --disable-pip-version-check"
OFFLINE = "--no-index --find-links /packages/pypi"
UV = "/opt/uv/bin/uv --quiet --offline tool"

# Name, how to install it, the command, how to remove it.
WAYS = [
    ("npm i -g rulebook-cli", "npm i -g rulebook-cli", ["rulebook"], "npm rm -g rulebook-cli"),
    ("npx rulebook-cli", "npx --yes rulebook-cli --version", ["npx", "--yes", "rulebook-cli"], "rm -rf /root/.npm/_npx"),
    ("npm i in a project", "mkdir /opt/project && cd /opt/project && npm init -y && npm i -D rulebook-cli",
     ["/opt/project/node_modules/.bin/rulebook"], "cd /opt/project && npm rm rulebook-cli && cd / && rm -r /opt/project"),
    ("pip install rulebook-cli", venv(f"{PIP} install {OFFLINE} rulebook-cli"), ["/opt/env/bin/rulebook"],
     f"{PIP} uninstall -y rulebook-cli && test -z \"$(find /opt/env -iname '*rulebook*')\" && rm -r /opt/env"),
    ("python -m rulebook_cli", venv(f"{PIP} install {OFFLINE} rulebook-cli"), ["/opt/env/bin/python", "-m", "rulebook_cli"],
     f"{PIP} uninstall -y rulebook-cli && test -z \"$(find /opt/env -iname '*rulebook*')\" && rm -r /opt/env"),
    ("uvx rulebook-cli", f"{UV} run {OFFLINE} rulebook-cli --version",
     [*UV.split(), "run", *OFFLINE.split(), "rulebook-cli"], "/opt/uv/bin/uv --quiet cache clean"),
    ("uv tool install rulebook-cli", f"{UV} install {OFFLINE} rulebook-cli", ["/root/.local/bin/rulebook"],
     "/opt/uv/bin/uv --quiet tool uninstall rulebook-cli"),
    ("dpkg -i", "dpkg -i /packages/rulebook_*_amd64.deb", ["rulebook"], "dpkg -P rulebook"),
    ("install.sh", "sed 's|^url=.*/|url=file:///packages/|' /packages/install.sh | sh -s -- /usr/local/bin", ["/usr/local/bin/rulebook"],
     "rm /usr/local/bin/rulebook"),
    ("the GitHub action", "npm install --no-audit --no-fund --ignore-scripts --prefix /opt/runner rulebook-cli",
     ["/opt/runner/node_modules/.bin/rulebook"], "rm -r /opt/runner"),
    ("the pre-commit hook", venv(f"cp -r /hook /opt/hook && {PIP} install {OFFLINE} --find-links /registry/pypi /opt/hook"),
     ["/opt/env/bin/rulebook"], f"{PIP} uninstall -y rulebook-pre-commit rulebook-cli && test -z \"$(find /opt/env -iname '*rulebook*')\""
     " && rm -r /opt/env /opt/hook"),
]

NODE = """
const { Book } = await import("PACKAGE");
const book = await Book.OPEN;
const { targets } = await book.explain({ input: { paths: ["src/a.ts"] } });
console.log(targets[0].stack.map(({ source }) => source).join());
book.close();
"""
ON_DISK = 'open({ roots: ["/sample"] })'
IN_MEMORY = 'ofTexts({ texts: [{ path: ".cursor/rules/ts.mdc", text: "---\\nglobs: src/*.ts\\n---\\nUse types." }], files: ["src/a.ts"] })'
PYTHON = """
from rulebook_py import Book
with Book.open({"roots": ["/sample"]}) as book:
    print([rule["source"] for rule in book.explain({"input": {"paths": ["src/a.ts"]}})["targets"][0]["stack"]])
"""


def npm_library(name: str, opened: str) -> tuple[str, str, str, list[str], str]:
    """A library for Node in a project of its own."""
    program = NODE.replace("PACKAGE", name).replace("OPEN", opened)
    return (f"npm/{name}-[0-9]*", f"npm i {name}", f"mkdir /opt/library && cd /opt/library && npm init -y && npm i {name}",
            ["node", "--input-type=module", "-e", program],
            f"cd /opt/library && npm rm {name} && test -z \"$(find . -path '*{name}*')\" && cd / && rm -r /opt/library")


# Libraries: the package, name, how to install it, a program that uses it, how to remove it.
LIBRARIES = [
    npm_library("rulebook-node", ON_DISK),
    npm_library("rulebook-wasm", IN_MEMORY),
    ("pypi/rulebook_py-*", "pip install rulebook-py", venv(f"{PIP} install {OFFLINE} rulebook-py"), ["/opt/env/bin/python", "-c", PYTHON],
     f"{PIP} uninstall -y rulebook-py && test -z \"$(find /opt/env -iname '*rulebook*')\" && rm -r /opt/env"),
]


def start_registry() -> subprocess.Popen:
    """Starts verdaccio without any registry above it, and publishes the packages of npm there."""
    Path("/tmp/verdaccio.yaml").write_text(
        "storage: /tmp/storage\nmax_body_size: 100mb\nauth: {htpasswd: {file: /tmp/htpasswd}}\nuplinks: {}\n"
        "packages: {'**': {access: $all, publish: $all}}\nlog: {type: stdout, level: error}\n")
    server = subprocess.Popen(
        ["node", "/registry/node_modules/verdaccio/bin/verdaccio", "--config", "/tmp/verdaccio.yaml", "--listen", "127.0.0.1:4873"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    Path("/root/.npmrc").write_text(
        f"registry={REGISTRY}\n//127.0.0.1:4873/:_authToken=none\nupdate-notifier=false\nprefix=/usr/local\n")
    for _ in range(300):
        if subprocess.run(["curl", "-sf", REGISTRY + "-/ping"], capture_output=True).returncode == 0:
            break
        time.sleep(0.2)
    for package in sorted(PACKAGES.glob("npm/*.tgz"), key=lambda path: (path.name.startswith("rulebook-cli-0"), path.name)):
        run("npm", "publish", "--registry", REGISTRY, str(package))
    return server


def is_library_fine(name: str, install: str, program: list[str], remove: str) -> bool:
    """Whether a library answers as it should, and leaves nothing."""
    before = files()
    run("sh", "-c", install)
    project = Path("/opt/library")
    answer = run(*program, cwd=project if project.exists() else SAMPLE)
    run("sh", "-c", remove)
    left = sorted(files() - before)
    print(f"{name:30} answers {answer.strip()}  {', '.join(left) or 'nothing'}", flush=True)
    return ".cursor/rules/ts.mdc" in answer and not left


def main() -> None:
    for tool in ["cc", "gcc", "clang", "c++", "ld", "make", "rustc", "cargo", "git"]:
        assert not shutil.which(tool), f"{tool} is in the clean system"
    assert subprocess.run(["curl", "-sm3", "http://deb.debian.org"], capture_output=True).returncode, "there is a network"
    (SAMPLE / ".cursor/rules").mkdir(parents=True)
    (SAMPLE / ".git").mkdir()
    (SAMPLE / ".cursor/rules/ts.mdc").write_text("---\nglobs: src/*.ts\n---\nUse types.\n")
    (SAMPLE / "AGENTS.md").write_text("Be brief.\n")
    for folder in ["bin", "share"]:
        Path("/root/.local", folder).mkdir(parents=True)
    run("python3", "-m", "venv", "/opt/uv")
    run("sh", "-c", "/opt/uv/bin/pip install --quiet --no-index --find-links /registry/pypi uv")
    server = start_registry()
    failed = []
    print(f"{'way':30} {'--version':>10} {'first':>10} {'ratio':>6}  left")
    for name, install, command, remove in WAYS:
        before = files()
        version, answer = [*command, "--version"], [*command, "explain", "src/a.ts"]
        # A binary that was just written starts slower than later. So both commands are timed as the first one after an installation.
        times = {"version": [], "answer": []}
        for _ in range(ROUNDS):
            for timed, words in [("version", version), ("answer", answer)]:
                run("sh", "-c", install)
                times[timed].append(seconds(words))
                assert run(*version, cwd=SAMPLE).startswith("rulebook "), name
                said = run(*answer, cwd=SAMPLE)
                assert ".cursor/rules/ts.mdc" in said and "src/*.ts" in said, said
                run("sh", "-c", remove)
        version, first = min(times["version"]), min(times["answer"])
        left = sorted(files() - before)
        print(f"{name:30} {version * 1000:7.1f} ms {first * 1000:7.1f} ms {first / version:6.2f}  {', '.join(left) or 'nothing'}", flush=True)
        if left or first > LIMIT * version:
            failed.append(name)
    for package, name, *parts in LIBRARIES:
        if any(PACKAGES.glob(package)) and not is_library_fine(name, *parts):
            failed.append(name)
    server.terminate()
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


main()
