"""The process from which local Spark forks its Python workers, with the planner loaded in advance.

Spark puts PySpark's zipped sources first on the path, and Python compiles those at every start. This daemon prefers
the installed PySpark, which is compiled already; the first worker is ready in less than half the time.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Fork workers until Spark ends, as `pyspark.daemon` does."""
    sys.path.sort(key=lambda place: place.endswith(".zip"))
    from pyspark.daemon import manager

    import kadmin.planner.cluster_plan
    import kadmin.planner.packed_rows  # noqa: F401 - loaded for the workers

    manager()


if __name__ == "__main__":
    main()
