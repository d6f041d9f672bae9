"""Run KOReader's wallabag plugin, as it is, through a whole story; for a Python that has lupa.

`koreader_story.py MAIN_LUA SERVER NAME PASSWORD FOLDER ADDRESS`: what the plugin needs of KOReader is imitated here, as little as it asks
for. It prints "change" and waits for a line before it goes on.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lupa import lua51

KOREADER = r"""
local ask, encode, decode, stat, list = ...
local nothing = {}
setmetatable(nothing, {
    __index = function() return nothing end,
    __call = function() return nothing end,
    __concat = function() return "" end,
})
SHOWN, SIDECARS, SETTINGS = {}, {}, {}
local stands = {
    ["gettext"] = function(text) return text end,
    ["json"] = {encode = encode, decode = decode},
    ["ui/widget/infomessage"] = {new = function(_, box) return box end},
    ["ui/widget/container/widgetcontainer"] = {
        extend = function(self, class) return setmetatable(class, {__index = self}) end,
        new = function(self, one)
            setmetatable(one, {__index = self})
            one:init()
            return one
        end,
    },
    ["frontend/luasettings"] = {
        open = function()
            return {
                data = {wallabag = SETTINGS},
                readSetting = function() end,
                saveSetting = function() end,
                flush = function() end,
            }
        end,
    },
    ["docsettings"] = {
        hasSidecarFile = function(_, path) return SIDECARS[path] ~= nil end,
        open = function(_, path)
            return {readSetting = function(_, name) return SIDECARS[path][name] end}
        end,
    },
    ["libs/libkoreader-lfs"] = {
        attributes = function(path, name)
            local mode, modified = stat(path)
            if not mode then return nil end
            return name == "mode" and mode or {mode = mode, modification = modified}
        end,
        dir = function(path)
            local names, at = list(path), 0
            return function() at = at + 1; return names[at] end
        end,
    },
    ["ltn12"] = {
        sink = {
            table = function(into)
                return function(chunk) if chunk then into[#into + 1] = chunk end return 1 end
            end,
            file = function(file)
                return function(chunk) if chunk then file:write(chunk) else file:close() end return 1 end
            end,
        },
        source = {string = function(text) return text end},
    },
    ["socket"] = {skip = function(count, ...) return select(count + 1, ...) end},
    ["socket.http"] = {
        request = function(request)
            local code, body = ask(request.method, request.url, request.headers, request.source or "")
            if not code then return nil, "refused" end
            request.sink(body)
            request.sink(nil)
            return 1, code, {}, "HTTP/1.1 " .. code
        end,
    },
    ["util"] = {
        getSafeFilename = function(name) return (name:gsub("[/\\:]", "_")) end,
        gsplit = function(text) return text:gmatch("[^,]+") end,
        trim = function(text) return text:match("^%s*(.-)%s*$") end,
    },
    ["ffi/util"] = {
        template = function(text, ...)
            local values = {...}
            return (text:gsub("%%(%d)", function(at) return tostring(values[tonumber(at)]) end))
        end,
    },
    ["ui/uimanager"] = {
        show = function(_, box) if type(box.text) == "string" then SHOWN[#SHOWN + 1] = box.text end end,
        close = function() end,
        forceRePaint = function() end,
    },
    ["ui/network/manager"] = {
        runWhenOnline = function(_, work) work() end,
        isOnline = function() return true end,
    },
    ["apps/filemanager/filemanager"] = {deleteFile = function(_, path) os.remove(path) end},
}
function require(name)
    if name == "lib.dateparser" then error("It is part of another plugin.") end
    return stands[name] or nothing
end
"""


class Reader:
    """An e-reader with the plugin."""

    def __init__(self, plugin: Path, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.lua = lua51.LuaRuntime(encoding="latin-1", unpack_returned_tuples=True)
        self.lua.execute(KOREADER, _ask, self._encode, self._decode, _stat, self._list)
        stored = self.lua.globals().SETTINGS
        for name, value in {**settings, "directory": f"{folder}/"}.items():
            stored[name] = value
        made = self.lua.execute(plugin.read_bytes().decode("latin-1"))
        window = self.lua.eval("{menu = {registerToMainMenu = function() end}}")
        self.plugin = made.new(made, self.lua.table(ui=window))

    def synchronise(self) -> str:
        """Synchronise; return the last text shown."""
        self.plugin.onSynchronizeWallabag(self.plugin)
        return self.shown()

    def shown(self) -> str:
        """Return the last text shown."""
        return list(self.lua.globals().SHOWN.values())[-1]

    def books(self) -> dict[str, str]:
        """Return the names of the downloaded books, by the numbers of their articles."""
        for path in self.folder.iterdir():
            assert path.read_bytes()[:2] == b"PK", path
        names = [path.name for path in self.folder.iterdir()]
        return {name.partition("] ")[0].removeprefix("[w-id_"): name for name in names}

    def finish(self, number: str, note: str = "") -> None:
        """Read an article to its end, with tags in the review."""
        summary = self.lua.table(status="complete", note=note)
        self.lua.globals().SIDECARS[_to_lua(f"{self.folder}//{self.books()[number]}")] = self.lua.table(summary=summary)

    def _encode(self, value: Any) -> str:
        return json.dumps(dict(value.items()))

    def _decode(self, text: str) -> Any:
        return self._table(json.loads(text.encode("latin-1")))

    def _table(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self.lua.table_from({key: self._table(one) for key, one in value.items()})
        if isinstance(value, list):
            return self.lua.table_from([self._table(one) for one in value])
        if isinstance(value, str):
            return value.encode().decode("latin-1")
        return value if value is not None else self.lua.eval("function() end")

    def _list(self, path: str) -> Any:
        return self.lua.table_from([".", "..", *sorted(_to_lua(name) for name in os.listdir(path))])


def _to_lua(name: str) -> str:
    """Return the bytes of a file name, as Lua has them."""
    return os.fsencode(name).decode("latin-1")


def _stat(path: str) -> tuple[str | None, float]:
    found = Path(os.fsdecode(path.encode("latin-1")))
    mode = "directory" if found.is_dir() else "file" if found.is_file() else None
    return mode, found.stat().st_mtime if mode else 0.0


def _ask(method: str, url: str, headers: Any, body: str) -> tuple[int | None, str]:
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.netloc, timeout=30)
    try:
        path = f"{where.path}?{where.query}" if where.query else where.path
        connection.request(method, path, body.encode("latin-1") or None, dict(headers.items()) if headers else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode("latin-1")
    except OSError:
        return None, ""
    finally:
        connection.close()


def tell(reader: Reader, plugin: Any, address: str) -> None:
    assert "Articles downloaded: 5" in reader.synchronise(), reader.shown()
    books = reader.books()
    assert len(books) == 5
    assert "Articles downloaded: 0" in reader.synchronise(), "nothing has changed"
    read, done, *others = books
    plugin.send_review_as_tags = True
    reader.finish(read, "good,again")
    assert "Deleted: 1" in reader.synchronise(), reader.shown()
    plugin.is_archiving_deleted = False
    reader.finish(done)
    assert "Deleted: 1" in reader.synchronise(), reader.shown()
    assert set(reader.books()) == set(others)
    print(json.dumps([read, done, others[0]]), flush=True)
    sys.stdin.readline()  # meanwhile the server is restarted, and the third one deleted there
    plugin.is_sync_remote_delete = True
    plugin.onAddWallabagArticle(plugin, address)
    assert "Article added" in reader.shown()
    assert "Articles downloaded: 1\nDeleted: 1" in reader.synchronise(), reader.shown()
    assert set(others[1:]) < set(reader.books())
    assert any("The keeper" in name for name in reader.books().values())
    plugin.access_token = "expired"
    assert "Requesting article list failed." in reader.synchronise()
    plugin.token_expiry = 0
    assert "Articles downloaded: 0" in reader.synchronise(), "it signs in again"
    plugin.password, plugin.token_expiry = "wrong", 0
    assert "Could not login" in reader.synchronise()


def main() -> None:
    main_lua, server, name, password, folder, address = sys.argv[1:]
    who = {"username": name, "password": password, "client_id": "1_a", "client_secret": "b"}
    reader = Reader(Path(main_lua), Path(folder), server_url=server, **who)
    tell(reader, reader.plugin, address)


if __name__ == "__main__":
    main()
