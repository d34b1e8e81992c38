"""A program that uses an embedded PostgreSQL: says so in one line, and leaves at the end of its input."""

import json
import sys
from pathlib import Path

from clarion.model.errors import ClarionError
from clarion.store.embedded import EmbeddedPostgres


def main() -> None:
    server = EmbeddedPostgres(Path(sys.argv[1]), settings={"fsync": "off"})
    try:
        url = server.start()
    except ClarionError as error:
        print(json.dumps({"code": error.code, "message": str(error)}), flush=True)  # noqa: T201
        return
    print(json.dumps({"url": url, "attached": server.attached, "version": server.version}), flush=True)  # noqa: T201
    sys.stdin.read()
    server.close()


if __name__ == "__main__":
    main()
