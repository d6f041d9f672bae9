"""Print the names of the tools that `pagekeep mcp` offers, as an assistant's client asks for them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "requirements", "version": "1"}}


def main() -> None:
    command = [sys.executable, "-m", "pagekeep", "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def send(method: str, number: int | None = None, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
            message = {"jsonrpc": "2.0", "method": method} | ({"params": parameters} if parameters else {})
            process.stdin.write(json.dumps(message | ({} if number is None else {"id": number})) + "\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            return {} if number is None else json.loads(process.stdout.readline())  # type: ignore[union-attr]

        send("initialize", 1, HELLO)
        send("notifications/initialized")
        print("\n".join(tool["name"] for tool in send("tools/list", 2)["result"]["tools"]))
        process.stdin.close()


if __name__ == "__main__":
    main()
