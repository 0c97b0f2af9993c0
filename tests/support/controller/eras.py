"""Lists how the controllers of each era treat the admin znodes, as data for the model.

Keyed by the versions that tests/support/eras/claims.py proves its claims on, one of each kind of
controller.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Era:
    """One kind of controller.

    `watches_for_good`: every change of the reassignment node is seen, and the node, not memory, is
    the truth (to 1.0). `marks_moves`: the topic znode holds adding and removing replicas (2.4+),
    not the bare union of both lists. `batches_removals`: the node is rewritten once at pickup,
    whatever it holds (2.0 to 2.3).
    `strict_json`: an unknown key makes the whole node unreadable (2.0+).
    `skips_unknown`: an election goes on past a partition that does not exist; before, its node
    stays (2.2+). `adds_topic_ids`: a topic znode of an older version is rewritten at once (2.8+).
    """

    version: str
    watches_for_good: bool = False
    marks_moves: bool = False
    batches_removals: bool = False
    strict_json: bool = True
    skips_unknown: bool = True
    adds_topic_ids: bool = False
    topic_format: int = 1
    registration_format: int = 4
    controller_format: int = 1


ERAS = {
    era.version: era
    for era in (
        Era("0.10.2.2", watches_for_good=True, strict_json=False, skips_unknown=False),
        Era("1.1.1", strict_json=False, skips_unknown=False),
        Era("2.3.1", batches_removals=True),
        Era("2.4.1", marks_moves=True, topic_format=2),
        Era("2.8.2", marks_moves=True, adds_topic_ids=True, topic_format=3, registration_format=5),
        Era(
            "3.9.2",
            marks_moves=True,
            adds_topic_ids=True,
            topic_format=3,
            registration_format=5,
            controller_format=2,
        ),
    )
}
