"""Serve a package with Ray Serve: requests that come at the same time are run as one batch.

    pip install 'trivium[ray]'
    python docs/demo/serve_ray.py PACKAGE.trv [REPLICAS]
    curl -d '{"x": [1, 2, 3]}' http://127.0.0.1:8000/

A request is JSON with a row for each input of the package, and so is the answer for outputs.
"""

import json
import sys
from typing import Any

import numpy as np
import trivium.ray
from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse


@serve.deployment
class Rows:
    """Runs a package on rows; each replica has one session, and maps the weights of the file."""

    def __init__(self, package: str) -> None:
        self.predict = trivium.ray.Predictor(package)

    @serve.batch(max_batch_size=32, batch_wait_timeout_s=0.005)
    async def run(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Run rows that came at the same time; an error is that of all of them."""
        batch = {name: np.array([row[name] for row in rows], np.float32) for name in rows[0]}
        made = self.predict(batch)
        added = [name for name in made if name not in batch]
        return [{name: made[name][index].tolist() for name in added} for index in range(len(rows))]

    async def __call__(self, request: Request) -> JSONResponse:
        try:
            return JSONResponse(await self.run(json.loads(await request.body())))
        except (ValueError, KeyError, trivium.RunError) as error:
            return JSONResponse({"error": str(error)}, status_code=400)


def application(package: str, replicas: int = 1) -> serve.Application:
    """Return the application that `serve.run` takes."""
    return Rows.options(num_replicas=replicas).bind(package)


def main(package: str, replicas: str = "1") -> None:
    serve.run(application(package, int(replicas)), blocking=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
