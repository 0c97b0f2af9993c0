"""What Spark on this machine forks its Python workers from: it has loaded the planner before the first is asked for.

Spark puts PySpark's sources, zipped, before everything else on the path, where Python compiles them at every start; a
PySpark that is installed beside them is compiled already. So a first worker is ready in less than half the time.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Serve workers until Spark ends, as `pyspark.daemon` does."""
    sys.path.sort(key=lambda place: place.endswith(".zip"))
    from pyspark.daemon import manager

    import kadmin.planner.cluster_plan
    import kadmin.planner.packed_rows  # noqa: F401 - loaded for the workers

    manager()


if __name__ == "__main__":
    main()
