"""The codes of diagnostics: what each means, and how a command refuses that finds it. Codes are never reused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kadmin.errors import BusyError, InfeasibleError, InvalidInputError, NotCompletedError, StalePlanError

if TYPE_CHECKING:
    from kadmin.errors import KadminError

# The text itself.
UNREADABLE: Final = "KA001"
SYNTAX: Final = "KA002"
DUPLICATE_KEY: Final = "KA003"
FORBIDDEN_YAML: Final = "KA004"
NOT_ONE_DOCUMENT: Final = "KA005"
KEY_NOT_TEXT: Final = "KA006"
ODD_NUMBER: Final = "KA007"
TOO_LARGE: Final = "KA008"
MORE_PROBLEMS: Final = "KA009"

# The schema of its kind.
KIND: Final = "KA010"
UNKNOWN_FIELD: Final = "KA011"
MISSING_FIELD: Final = "KA012"
WRONG_TYPE: Final = "KA013"
MALFORMED: Final = "KA014"
OUT_OF_RANGE: Final = "KA015"
NOT_ALLOWED: Final = "KA016"
EMPTY: Final = "KA017"
NOT_EXACTLY_ONE: Final = "KA018"
NO_UNIT: Final = "KA019"

# The meaning of one document.
DUPLICATE_PARTITION: Final = "KA020"
DUPLICATE_ENTRY: Final = "KA021"
NO_OP: Final = "KA022"
REPLICATION_FACTOR: Final = "KA023"
NAME_COLLISION: Final = "KA024"
SIZE_UNKNOWN: Final = "KA025"
TOO_BIG_FOR_A_WAVE: Final = "KA026"
TOO_MANY_TOPICS: Final = "KA027"
INTERNAL_TOPIC: Final = "KA028"
CONTRADICTION: Final = "KA029"

# Several documents together.
PARTITION_IN_TWO_PLANS: Final = "KA030"
DELETED_AND_USED: Final = "KA031"
ELECTED_WHILE_REASSIGNED: Final = "KA032"

# A document against an inventory, a live cluster or a policy.
UNKNOWN_TOPIC: Final = "KA040"
UNKNOWN_PARTITION: Final = "KA041"
UNKNOWN_BROKER: Final = "KA042"
STALE_CURRENT: Final = "KA043"
FEWER_RACKS: Final = "KA044"
OTHER_CLUSTER: Final = "KA045"
OVER_CAPACITY: Final = "KA046"
LEADERS_CONCENTRATED: Final = "KA047"
UNDER_MIN_ISR: Final = "KA048"
DEAD_BROKER: Final = "KA049"
PROTECTED_TOPIC: Final = "KA050"
ACTIVE_CONSUMERS: Final = "KA051"
OFFLINE_REPLICAS: Final = "KA052"
DELETION_DISABLED: Final = "KA053"
BEING_REASSIGNED: Final = "KA054"
COMES_BACK: Final = "KA055"
NOT_ELECTABLE: Final = "KA056"
TOPIC_EXISTS: Final = "KA057"
GUARD_UNCHECKED: Final = "KA058"

# A plan against a live cluster only: a snapshot does not show it.
REASSIGNMENT_RUNNING: Final = "KA059"
ELECTION_RUNNING: Final = "KA060"
BEING_DELETED: Final = "KA061"

# A rebalance request against an inventory.
CANNOT_SUBSTITUTE: Final = "KA062"
CANNOT_PIN: Final = "KA063"
RACK_UNKNOWN: Final = "KA064"
INFEASIBLE: Final = "KA065"


class Code(NamedTuple):
    """What a code says, and the error that commands refuse with where they find it; None: they go on, and warn.

    `of_request` is the error where it differs for a request: that was not made from the cluster, and cannot be stale.
    """

    meaning: str
    refusal: type[KadminError] | None = InvalidInputError
    of_request: type[KadminError] | None = None


TABLE: Final = {
    UNREADABLE: Code("The file cannot be read, is not UTF-8 text, or holds a character that no document may hold."),
    SYNTAX: Code("The text is not well-formed YAML or JSON."),
    DUPLICATE_KEY: Code("A mapping has one key twice."),
    FORBIDDEN_YAML: Code("An anchor, alias, merge key, tag or directive: documents are plain data."),
    NOT_ONE_DOCUMENT: Code("The file holds no document, or more than one."),
    KEY_NOT_TEXT: Code("A key is not a string."),
    ODD_NUMBER: Code("A number is written in a way that readers of YAML and JSON understand differently."),
    TOO_LARGE: Code("The text is larger, or nested deeper, than any plan is."),
    MORE_PROBLEMS: Code("There are more problems than are listed."),
    KIND: Code("The document's kind or apiVersion is missing or unknown."),
    UNKNOWN_FIELD: Code("A field that this kind of document does not have."),
    MISSING_FIELD: Code("A required field is missing."),
    WRONG_TYPE: Code("A value is of another type than its field."),
    MALFORMED: Code("A name or amount is not written as it must be."),
    OUT_OF_RANGE: Code("A number is outside its range."),
    NOT_ALLOWED: Code("A value is not one of those that its field allows."),
    EMPTY: Code("A list is shorter or longer than it may be."),
    NOT_EXACTLY_ONE: Code("Exactly one of several fields must be given."),
    NO_UNIT: Code("A size, rate or duration has no unit."),
    DUPLICATE_PARTITION: Code("One document names a partition twice."),
    DUPLICATE_ENTRY: Code("A list names a broker or topic twice."),
    NO_OP: Code("A reassignment changes nothing; it is skipped.", None),
    REPLICATION_FACTOR: Code("A reassignment changes the replication factor without the waiver."),
    NAME_COLLISION: Code("Two topics differ only in . and _ and share one name in Kafka's metrics."),
    SIZE_UNKNOWN: Code("A limit or throttle counts bytes, but the size of a partition that moves is not given."),
    TOO_BIG_FOR_A_WAVE: Code("One reassignment alone breaks a limit of the waves."),
    TOO_MANY_TOPICS: Code("A deletion names more topics than allow.more_than."),
    INTERNAL_TOPIC: Code("A deletion names one of Kafka's internal topics without the waiver."),
    CONTRADICTION: Code("Two fields of one document contradict each other."),
    PARTITION_IN_TWO_PLANS: Code("Two reassignment plans name one partition."),
    DELETED_AND_USED: Code("One plan deletes a topic that another one reassigns or elects leaders for."),
    ELECTED_WHILE_REASSIGNED: Code(
        "An election names a partition that is being reassigned, or that another plan reassigns.", None
    ),
    UNKNOWN_TOPIC: Code("The cluster has no such topic.", StalePlanError),
    UNKNOWN_PARTITION: Code("The topic has no such partition.", StalePlanError, InvalidInputError),
    UNKNOWN_BROKER: Code("The cluster has no such broker.", StalePlanError, InvalidInputError),
    STALE_CURRENT: Code("The replicas of a partition are neither its current nor its target.", StalePlanError),
    FEWER_RACKS: Code("A reassignment puts a partition on fewer racks without the waiver."),
    OTHER_CLUSTER: Code(
        "The document is for another cluster, or does not say for which cluster of a fleet.", StalePlanError
    ),
    OVER_CAPACITY: Code("A broker would hold more bytes than its capacity.", None),
    LEADERS_CONCENTRATED: Code("A broker would lead more than twice its even share of the partitions.", None),
    UNDER_MIN_ISR: Code("A partition would have fewer live replicas than its topic's min.insync.replicas.", None),
    DEAD_BROKER: Code("A target broker is not alive: the controller would wait for it forever.", StalePlanError),
    PROTECTED_TOPIC: Code("A deletion names a topic that the policy protects, without the waiver."),
    ACTIVE_CONSUMERS: Code("A deletion names a topic that consumer groups use, without the waiver.", BusyError),
    OFFLINE_REPLICAS: Code(
        "A deletion names a topic with replicas on dead brokers, without the waiver.", StalePlanError
    ),
    DELETION_DISABLED: Code(
        "The brokers have delete.topic.enable=false, and the deletion has no waiver for it.", NotCompletedError
    ),
    BEING_REASSIGNED: Code("A deletion names a topic that is being reassigned; there is no waiver.", BusyError),
    COMES_BACK: Code("A deleted topic that is still in use is created again, empty, by the brokers.", None),
    NOT_ELECTABLE: Code("The preferred replica of a partition is not alive or not in sync.", None),
    TOPIC_EXISTS: Code("A recipe names a topic that exists.", BusyError),
    GUARD_UNCHECKED: Code("A guard of a deletion could not be checked: the facts that it needs are unavailable.", None),
    REASSIGNMENT_RUNNING: Code(
        "A reassignment is running on the cluster, or is requested and not picked up yet.", BusyError
    ),
    ELECTION_RUNNING: Code("A preferred leader election is requested on the cluster and not done yet.", BusyError),
    BEING_DELETED: Code("A topic of the plan is being deleted.", StalePlanError),
    CANNOT_SUBSTITUTE: Code(
        "A substitute is not alive, to be emptied itself, or may not receive replicas.", InfeasibleError
    ),
    CANNOT_PIN: Code(
        "A pin cannot be kept: its brokers may not hold or lead the partition, or share a rack; or it is moving.",
        InfeasibleError,
    ),
    RACK_UNKNOWN: Code("A request asks for strict racks, and some brokers have no rack.", InfeasibleError),
    INFEASIBLE: Code("No plan can satisfy the request; only the planner finds that.", InfeasibleError),
}
"""Every code. `validate` exits with 3 for any error; commands that act exit as the refusal says."""
