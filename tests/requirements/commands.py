"""The commands in docs/requirements.md: `pagekeep` itself, and small tools that look at what it printed.

One process has everything imported and forks for each call, so that a hundred calls take seconds instead of minutes. What
runs is the real command line with its own arguments, environment, folder, standard input and output.
"""

from __future__ import annotations

import json
import os
import runpy
import socket
import sys
import traceback
from pathlib import Path

CLIENT = """#!{python} -ISs
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({path!r})
call = [os.path.basename(sys.argv[0]), sys.argv[1:], os.getcwd(), dict(os.environ)]
socket.send_fds(server, [json.dumps(call).encode() + b"\\n"], [0, 1, 2])
sys.exit(int(server.recv(16) or 1))
"""
NAMES = ("pagekeep", "json", "has", "lacks", "frontmatter", "python")


def start(folder: Path) -> int:
    """Write the commands into a folder, start the process that runs them, and return its id."""
    path = str(folder / "socket")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    for name in NAMES:
        (folder / name).write_text(CLIENT.format(python=sys.executable, path=path))
        (folder / name).chmod(0o755)
    process = os.fork()
    if process:
        listener.close()
        return process
    try:
        _import_everything()
        while True:
            _serve(listener)
    finally:
        os._exit(1)


def _import_everything() -> None:
    import pagekeep.capture.from_url
    import pagekeep.doors.cli.browse
    import pagekeep.doors.cli.main
    import pagekeep.doors.cli.save
    import pagekeep.fetch.client
    import pagekeep.library.open
    import pagekeep.library.saving.save
    import pagekeep.pipeline

    pagekeep.extract("<p>Everything is loaded.")


def _serve(listener: socket.socket) -> None:
    """Run one call in a child and send its exit code; calls do not wait for each other."""
    caller, _ = listener.accept()
    if os.fork():
        caller.close()
        while True:  # collect children that have ended
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    return
            except ChildProcessError:
                return
    listener.close()
    data, files, _, _ = socket.recv_fds(caller, 1_000_000, 3)
    while not data.endswith(b"\n"):
        data += caller.recv(1_000_000)
    name, arguments, folder, environment = json.loads(data)
    process = os.fork()
    if process:
        for number in files:
            os.close(number)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        caller.sendall(str(code).encode())
        os._exit(0)
    caller.close()
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os._exit(_run(name, arguments))


def _run(name: str, arguments: list[str]) -> int:
    sys.argv = [name, *arguments]
    try:
        if name == "pagekeep":
            runpy.run_module("pagekeep", run_name="__main__")
        elif name == "python":
            exec(compile(arguments[1], "<command>", "exec"), {"__name__": "__main__"})
        else:
            return _check(name, arguments, sys.stdin.read())
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _check(name: str, arguments: list[str], text: str) -> int:
    """Check what a command printed; what is wrong goes to stderr."""
    if name in ("has", "lacks"):
        wrong = [one for one in arguments if (one in text) != (name == "has")]
        if wrong:
            print(f"{name} {wrong}:\n{text[:2000]}", file=sys.stderr)
        return int(bool(wrong))
    if name == "frontmatter":
        import yaml

        data = yaml.safe_load(text.split("---\n")[1])
    else:
        data = json.loads(text)
    items = data.get("items") or [None]
    if eval(arguments[0], {"d": data, "item": items[0]}):
        return 0
    print(f"not {arguments[0]}:\n{json.dumps(data, default=str, ensure_ascii=False)[:2000]}", file=sys.stderr)
    return 1
