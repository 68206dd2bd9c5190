"""A Ray cluster for tests, with two cores and one GPU in its books, until standard input ends: cluster.py FOLDER."""

import json
import logging
import os
import sys
import tempfile
from pathlib import Path

from lengthlab.sweep.ray_engine import own_cluster


def main(folder: Path) -> None:
    environment = own_cluster(folder)
    os.environ.update(environment)
    import ray

    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as temporary:
        ray.init(
            address="local",
            num_cpus=2,
            num_gpus=1,
            include_dashboard=False,
            logging_level=logging.ERROR,
            _node_ip_address="127.0.0.1",
            _temp_dir=temporary,
        )
        address = ray.get_runtime_context().gcs_address
        print(json.dumps({"address": address, "environment": environment}), flush=True)
        sys.stdin.read()
        ray.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
