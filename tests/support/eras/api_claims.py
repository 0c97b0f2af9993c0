"""What brokers answer through Kafka's API, as far as kadmin relies on it, as data.

Each claim is proved on live brokers by the test of its name: in KRaft mode by tests/kraft/test_eras_api*.py, in
ZooKeeper mode by tests/live/test_eras_reading.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.eras.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Mapping

KRAFT_VERSIONS = ("3.9.2", "4.1.2", "4.3.0", "4.4.0")
READING_VERSIONS = ("2.4.1", "2.8.2", "3.9.2")


def _kraft(*seen: str) -> Mapping[str, str]:
    """Map each version to what happens: one for all, one for each, or one for each before 4.3 and one from 4.3 on."""
    by_version = {1: seen * 4, 3: (*seen, *seen[-1:]), 4: seen}[len(seen)]
    return dict(zip(KRAFT_VERSIONS, by_version, strict=True))


def _reading(*seen: str) -> Mapping[str, str]:
    return dict(zip(READING_VERSIONS, seen * (3 if len(seen) == 1 else 1), strict=True))


KRAFT_CLAIMS = (
    Claim(
        "original_list",
        "The original replicas are sent for a reassignment in flight",
        _kraft("ends at once", "ends at once", "in flight until null is sent; then in the original order"),
        "A take-back sends the original replicas, looks, sends null if the reassignment is still in flight, and looks.",
    ),
    Claim(
        "null_alone",
        "null is sent for a reassignment in flight from [A, B] to [B, C]",
        _kraft("[B, A]; then the original replicas give [A, B]"),
        "null alone loses the order, and with it the preferred leader: the original replicas are sent first.",
    ),
    Claim(
        "null_and_original_list",
        "null and the original replicas are sent in one request for a reassignment in flight",
        _kraft("ends at once", "ends at once", "ends when the copies are done"),
        "A take-back sends one at a time, and looks in between.",
    ),
    Claim(
        "null_when_idle",
        "null is sent for a partition that is not being reassigned",
        _kraft("refused (85)"),
        "This refusal of a take-back is no failure: the reassignment had ended.",
    ),
    Claim(
        "another_target",
        "A reassignment in flight gets a target that leaves out an added broker",
        _kraft("ends", "ends", "never ends"),
        "kadmin never changes the target of a reassignment in flight: it is taken back first.",
    ),
    Claim(
        "null_after_another_target",
        "null is sent after the target [C, D] of a reassignment in flight from [A, B] was replaced with [B, D]",
        _kraft("ends: [B, A]"),
        "What another tool changed in mid-run can be taken back, too.",
    ),
    Claim(
        "wider_target",
        "A reassignment in flight gets a target that keeps every added broker",
        _kraft("ends"),
        "Only a target that leaves out an added broker is one that may never end.",
    ),
    Claim(
        "same_target",
        "The target of a reassignment in flight is sent again",
        _kraft("accepted, nothing changes"),
        "A request whose answer was lost is sent again with the same targets.",
    ),
    Claim(
        "good_and_bad_entries",
        "One request has good and bad entries",
        _kraft("good ones run, each bad one has its own error"),
        "Errors are reported for each partition, and the accepted ones are followed to their end.",
    ),
    Claim(
        "replication_factor_kept",
        "A request does not allow the replication factor to change, and a target changes it",
        _kraft(
            "not known",
            "refused (38), compared with the target in flight",
            "refused (38), compared with the target in flight",
        ),
        "kadmin compares the numbers itself (`allow.replication_factor_change`), on every version. A wave that keeps "
        "them asks the controller to refuse a change that another client makes after the last look.",
    ),
    Claim(
        "ten_thousand_and_one",
        "One request makes 10,001 changes",
        _kraft("10,000 run, the last has error -1"),
        "One request of kadmin's names far fewer partitions.",
    ),
    Claim(
        "no_time",
        "A reassignment is sent with `timeout_ms` 0",
        _kraft("error 7, and 7 for each partition; not applied"),
        "Error 7 is an unknown outcome: with more time it may have been applied.",
    ),
    Claim(
        "present_list",
        "The present replicas are sent for a partition that is not being reassigned",
        _kraft("accepted, never in flight, same leader epoch"),
        "An entry that repeats what the cluster has does no harm.",
    ),
    Claim(
        "reorder",
        "A reassignment only reorders",
        _kraft("ends at once, leader kept"),
        "Only `elect: at_end` or `after_each_wave` elects the new preferred leaders.",
    ),
    Claim(
        "late_request",
        "The sender gives up while no controller answers",
        _kraft("the request is applied when they answer again"),
        "A request without an answer has an unknown outcome, whatever its timeout: kadmin reads the cluster.",
    ),
    Claim(
        "topic_deleted_in_mid_move",
        "A topic is deleted while it is being reassigned",
        _kraft("deleted, its reassignment with it"),
        "A topic that is created again under the name inherits nothing; its id tells them apart.",
    ),
    Claim(
        "controller_in_metadata",
        "The controller in the answer to Metadata",
        _kraft("any live broker"),
        "The active controller is asked for by DescribeQuorum.",
    ),
    Claim(
        "rate_through_another_broker",
        "A throttle rate of a broker is sent to another broker",
        _kraft("refused (42)"),
        "Each broker's rate is sent to that broker.",
    ),
    Claim(
        "rate_through_a_controller",
        "A throttle rate of a broker is sent to a controller",
        _kraft("active: 0; another one: 41; a broker that is not registered: 102"),
        "The rate of a broker that is not alive is removed there.",
    ),
    Claim(
        "rate_of_all_brokers",
        "A throttle rate is set for all brokers (the default entity)",
        _kraft("told apart from a broker's own"),
        "kadmin restores what a broker had of its own, and leaves the rate of all brokers.",
    ),
    Claim(
        "wrong_rate",
        "A throttle rate is set to a word, to -1 or to null; one is appended",
        _kraft("refused (42); APPEND: -1", "refused (42); APPEND: -1", "refused (42); APPEND: 40"),
        "Rates are set and deleted, and never appended; a wrong one is refused.",
    ),
    Claim(
        "good_and_bad_configs",
        "One request has good and bad configs",
        _kraft("entities are independent; one entity is changed as a whole or not at all"),
        "A topic never has one list of throttled replicas without the other.",
    ),
    Claim(
        "minimum_isr",
        "`min.insync.replicas` of all brokers, and of one broker, is set and deleted",
        _kraft(
            "accepted",
            "cannot be deleted (40); a broker has none of its own (40)",
            "cannot be deleted (40); a broker has none of its own (40)",
        ),
        "The limit is read from the topic, or from the default of all brokers.",
    ),
    Claim(
        "last_entry_subtracted",
        "The last entry of a topic's list of throttled replicas is subtracted",
        _kraft("an empty list stays"),
        "A list that was not there before is deleted at the end. A request that is sent again changes nothing.",
    ),
    Claim(
        "entry_added_to_a_star",
        "An entry is appended to the list `*`",
        _kraft("refused (40)"),
        "A list `*` is left as it is: it holds every replica.",
    ),
    Claim(
        "long_list",
        "A config value is longer than 32,767 bytes",
        _kraft("connection closed without an answer"),
        "kadmin does not send such a value.",
    ),
    Claim(
        "election_not_needed",
        "An election of a partition that its preferred replica leads",
        _kraft("error 84, nothing changes"),
        "Error 84 is no failure.",
    ),
    Claim(
        "election_refused",
        "An election of a partition that does not exist; an election with `timeout_ms` 0",
        _kraft("error 3 for an unknown partition; 7 without time"),
        "The reason is reported for each partition; error 7 is an unknown outcome.",
    ),
    Claim(
        "deletion_by_an_old_id",
        "A deletion by the id of an earlier topic of the same name",
        _kraft("refused (100)"),
        "Deletions name topics by id: a topic that was created again is kept.",
    ),
    Claim(
        "deletion_named_twice",
        "A deletion names a topic twice",
        _kraft("refused (42)"),
        "A request of kadmin's names each topic once.",
    ),
    Claim(
        "too_many_partitions",
        "A topic is created with 10,001 partitions",
        _kraft("refused (44)"),
        "`recreate` reports the refusal.",
    ),
    Claim(
        "fence",
        "A second transactional producer starts with the same transactional id",
        _kraft("the first one's next record is refused (90)"),
        "A runner that lost its lock cannot write to its record.",
    ),
    Claim(
        "fenced_target",
        "A target broker is registered and not alive",
        _kraft("accepted, in flight"),
        "A plan with a target that is not alive is refused: kadmin checks every target itself.",
    ),
    Claim(
        "fenced_broker",
        "A broker that is not alive, in the answer to DescribeCluster",
        _kraft("not listed", "listed as fenced", "listed as fenced"),
        "On older versions it is known only as a replica.",
    ),
    Claim(
        "kept_broker_is_dead",
        "A reassignment from [A, B] to [C, B] while B is not alive",
        _kraft("in flight until it is back", "in flight until it is back", "ends with ISR [C]"),
        "The end of a reassignment is not enough: kadmin waits for the whole ISR, and checks kept brokers beforehand.",
    ),
    Claim(
        "removal_without_a_kept_broker",
        "A reassignment from [A, B, C] to [A, B] while B is not alive",
        _kraft("in flight until it is back"),
        "kadmin checks that every broker of the target is alive, those that are kept, too.",
    ),
    Claim(
        "election_without_the_preferred",
        "An election of a partition whose preferred replica is not alive",
        _kraft("refused (80), leader kept"),
        "The reason is reported for each partition.",
    ),
    Claim(
        "no_replica_alive",
        "An election of a partition none of whose replicas is alive",
        _kraft("preferred: refused (80); unclean: refused (83)"),
        "kadmin elects preferred leaders only.",
    ),
    Claim(
        "eligible_leaders",
        "Replicas that may lead again although they left the ISR (ELR)",
        _kraft("not known", "told by DescribeTopicPartitions", "told by DescribeTopicPartitions"),
        "The ELR is read where it is told.",
    ),
    Claim(
        "leaderless",
        "A partition loses its last replica in sync, [A], and gets [B], which is alive: an election",
        _kraft(
            "preferred: refused (80); unclean: 0, [B] leads; ISR [A]",
            "preferred: refused (80); unclean: 0, [B] leads; ISR empty, ELR [A], emptied by the election",
            "preferred: refused (80); unclean: 0, [B] leads; ISR empty, ELR [A], emptied by the election",
        ),
        "`doctor` names the brokers that may lead without a loss: the ISR, or the ELR.",
    ),
    Claim(
        "below_min_isr",
        "A record for a partition below `min.insync.replicas`",
        _kraft("refused (19)"),
        "A record topic below its minimum takes no record, and then kadmin changes nothing on the cluster.",
    ),
    Claim(
        "deletion_without_a_broker",
        "A topic with a replica on a broker that is not alive is deleted",
        _kraft("deleted at once; its folder there ends in `-stray`"),
        "The deletion is not held up; the folders are reported.",
    ),
    Claim(
        "rate_of_a_dead_broker",
        "A throttle rate of a broker that is not alive is sent to the active controller, and to another broker",
        _kraft("active controller: 0; a broker: 42"),
        "It is in force when the broker is back, and can be read only then: its record is kept until it is removed.",
    ),
    Claim(
        "removed_after_a_snapshot",
        "A throttle rate is removed from a broker that has it in its last metadata snapshot, and the broker restarts",
        _kraft(
            "stays removed",
            "stays removed",
            "back at each restart until the broker has a newer snapshot, unless it has another config of its own",
        ),
        "`doctor` and `throttle clear` say that a removed rate may be back, and docs/throttles.md says what ends it.",
    ),
    Claim(
        "one_cordoned_log_directory",
        "One of two log directories of a target broker is cordoned",
        _kraft("not known", "not known", "accepted, copied to the other one; told by DescribeLogDirs"),
        "kadmin does not count the room on a cordoned directory.",
    ),
    Claim(
        "cordoned_log_directories",
        "Every log directory of a target broker is cordoned",
        _kraft(
            "not known",
            "not known",
            "told; accepted (0), a creation too (0)",
            "told; refused (39), a creation too (39)",
        ),
        "kadmin finds no room there where sizes are known. A refusal is reported for each partition.",
    ),
    Claim(
        "unregistered_while_alive",
        "A broker that is alive is unregistered",
        _kraft("accepted; it leaves the cluster until it is restarted"),
        "`doctor` names a server that follows the metadata and is not registered.",
    ),
)

READING_CLAIMS = (
    Claim(
        "another_broker_is_asked",
        "A broker that is not the controller is asked for reassignments",
        _reading("error 41"),
        "On clusters in ZooKeeper mode the controller is asked.",
    ),
    Claim(
        "controller_in_metadata",
        "The controller in the answer to Metadata",
        _reading("the controller"),
        "It is taken from there; in KRaft mode it is not.",
    ),
    Claim(
        "topic_ids",
        "Topic ids in the answer to Metadata",
        _reading("not reported", "reported", "reported"),
        "Where there are none, a topic that was created again is not recognised with `-b`.",
    ),
    Claim(
        "quorum",
        "DescribeQuorum",
        _reading("not served"),
        "This is how a cluster in ZooKeeper mode is recognised: with `-b` alone kadmin only reads there.",
    ),
)
