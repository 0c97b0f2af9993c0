"""The codes of diagnostics: the meaning of each, and the error of a command that refuses.

Codes are never reused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kadmin.errors import (
    BusyError,
    InfeasibleError,
    InvalidInputError,
    NotCompletedError,
    StalePlanError,
    UnreachableError,
)

if TYPE_CHECKING:
    from kadmin.errors import KadminError


class Code(NamedTuple):
    """The meaning of a code, and the error that commands raise for it.

    None: they warn and continue. `of_request` is the error where it differs for a request, which is
    not made from the cluster and cannot be stale.
    """

    meaning: str
    refusal: type[KadminError] | None = InvalidInputError
    of_request: type[KadminError] | None = None


TABLE: Final[dict[str, Code]] = {}
"""Every code. `validate` exits with 3 for any error; commands that act exit with the code of the
refusal."""


def _code(code: str, meaning: str, *refusals: type[KadminError] | None) -> str:
    TABLE[code] = Code(meaning, *refusals)
    return code


# The text itself.
UNREADABLE: Final = _code(
    "KA001",
    "The file cannot be read, is not UTF-8 text, or holds a character that no document may hold.",
)
SYNTAX: Final = _code("KA002", "The text is not well-formed YAML or JSON.")
DUPLICATE_KEY: Final = _code("KA003", "A mapping has one key twice.")
FORBIDDEN_YAML: Final = _code(
    "KA004", "An anchor, alias, merge key, tag or directive: documents are plain data."
)
NOT_ONE_DOCUMENT: Final = _code("KA005", "The file holds no document, or more than one.")
KEY_NOT_TEXT: Final = _code("KA006", "A key is not a string.")
ODD_NUMBER: Final = _code(
    "KA007", "A number is written in a way that readers of YAML and JSON understand differently."
)
TOO_LARGE: Final = _code("KA008", "The text is larger, or nested deeper, than any plan is.")
MORE_PROBLEMS: Final = _code("KA009", "There are more problems than are listed.")

# The schema of its kind.
KIND: Final = _code("KA010", "The document's kind or apiVersion is missing or unknown.")
UNKNOWN_FIELD: Final = _code("KA011", "A field that this kind of document does not have.")
MISSING_FIELD: Final = _code("KA012", "A required field is missing.")
WRONG_TYPE: Final = _code("KA013", "A value is of another type than its field.")
MALFORMED: Final = _code("KA014", "A name or amount does not have its format.")
OUT_OF_RANGE: Final = _code("KA015", "A number is outside its range.")
NOT_ALLOWED: Final = _code("KA016", "A value is not one of those that its field allows.")
EMPTY: Final = _code("KA017", "A list is shorter or longer than it may be.")
NOT_EXACTLY_ONE: Final = _code("KA018", "Exactly one of several fields must be given.")
NO_UNIT: Final = _code("KA019", "A size, rate or duration has no unit.")

# The meaning of one document.
DUPLICATE_PARTITION: Final = _code("KA020", "One document names a partition twice.")
DUPLICATE_ENTRY: Final = _code("KA021", "A list names a broker or topic twice.")
NO_OP: Final = _code("KA022", "A reassignment changes nothing; it is skipped.", None)
REPLICATION_FACTOR: Final = _code(
    "KA023", "A reassignment changes the replication factor without the waiver."
)
NAME_COLLISION: Final = _code(
    "KA024", "Two topics differ only in . and _ and share one name in Kafka's metrics."
)
SIZE_UNKNOWN: Final = _code(
    "KA025",
    "A limit or throttle counts bytes, but the size of a partition that moves is not given.",
)
TOO_BIG_FOR_A_WAVE: Final = _code("KA026", "One reassignment alone breaks a limit of the waves.")
TOO_MANY_TOPICS: Final = _code("KA027", "A deletion names more topics than allow.more_than.")
INTERNAL_TOPIC: Final = _code(
    "KA028", "A deletion, or an unclean election, names an internal topic without the waiver."
)
CONTRADICTION: Final = _code("KA029", "Two fields of one document contradict each other.")

# Several documents together.
PARTITION_IN_TWO_PLANS: Final = _code("KA030", "Two reassignment plans name one partition.")
DELETED_AND_USED: Final = _code(
    "KA031", "One plan deletes a topic that another one reassigns or elects leaders for."
)
ELECTED_WHILE_REASSIGNED: Final = _code(
    "KA032",
    "An election names a partition that is being reassigned, or that another plan reassigns.",
    None,
)

# A document alone.
RECORD_TOPIC_DELETED: Final = _code(
    "KA033", "A deletion names the topic of kadmin's own record; there is no waiver."
)

# A document against an inventory, a live cluster or a policy.
UNKNOWN_TOPIC: Final = _code("KA040", "The cluster has no such topic.", StalePlanError)
UNKNOWN_PARTITION: Final = _code(
    "KA041", "The topic has no such partition.", StalePlanError, InvalidInputError
)
UNKNOWN_BROKER: Final = _code(
    "KA042", "The cluster has no such broker.", StalePlanError, InvalidInputError
)
STALE_CURRENT: Final = _code(
    "KA043", "The replicas of a partition are neither its current nor its target.", StalePlanError
)
FEWER_RACKS: Final = _code(
    "KA044", "A reassignment puts a partition on fewer racks without the waiver."
)
OTHER_CLUSTER: Final = _code(
    "KA045",
    "The document is for another cluster, or does not say for which cluster of a fleet.",
    StalePlanError,
)
OVER_CAPACITY: Final = _code(
    "KA046", "A broker would hold more bytes than its capacity.", StalePlanError
)
LEADERS_CONCENTRATED: Final = _code(
    "KA047", "A broker would lead more than twice its even share of the partitions.", None
)
UNDER_MIN_ISR: Final = _code(
    "KA048",
    "A partition would have fewer live replicas than its topic's min.insync.replicas.",
    None,
)
DEAD_BROKER: Final = _code(
    "KA049",
    "A target broker is not alive: the controller would wait for it forever.",
    StalePlanError,
)
PROTECTED_TOPIC: Final = _code(
    "KA050", "A deletion names a topic that the policy protects, without the waiver."
)
ACTIVE_CONSUMERS: Final = _code(
    "KA051", "A deletion names a topic that consumer groups use, without the waiver.", BusyError
)
OFFLINE_REPLICAS: Final = _code(
    "KA052",
    "A deletion names a topic with replicas on dead brokers, without the waiver.",
    StalePlanError,
)
DELETION_DISABLED: Final = _code(
    "KA053",
    "The brokers have delete.topic.enable=false, and the deletion has no waiver for it.",
    NotCompletedError,
)
BEING_REASSIGNED: Final = _code(
    "KA054",
    "A deletion, or a growth, names a topic that is being reassigned; there is no waiver.",
    BusyError,
)
COMES_BACK: Final = _code(
    "KA055", "A deleted topic that is still in use is created again, empty, by the brokers.", None
)
NOT_ELECTABLE: Final = _code(
    "KA056", "The preferred replica of a partition is not alive or not in sync.", None
)
TOPIC_EXISTS: Final = _code("KA057", "A recipe names a topic that exists.", BusyError)
GUARD_UNCHECKED: Final = _code(
    "KA058",
    "A guard of a deletion, or a check of a growth, was left out: an inventory lacks the facts, "
    "brokers did not answer, or the guard is waived.",
    None,
)

# A plan against a live cluster only: a snapshot does not show it.
REASSIGNMENT_RUNNING: Final = _code(
    "KA059",
    "A reassignment is running on the cluster, or is requested and not picked up yet.",
    BusyError,
)
ELECTION_RUNNING: Final = _code(
    "KA060", "A preferred leader election is requested on the cluster and not done yet.", BusyError
)
BEING_DELETED: Final = _code("KA061", "A topic of the plan is being deleted.", StalePlanError)

# A rebalance request against an inventory.
CANNOT_SUBSTITUTE: Final = _code(
    "KA062",
    "A substitute is not alive, to be emptied itself, or may not receive replicas.",
    InfeasibleError,
)
CANNOT_PIN: Final = _code(
    "KA063",
    "A pin cannot be kept: its brokers may not hold or lead the partition, or break the rule on "
    "racks, or it is moving.",
    InfeasibleError,
)
RACK_UNKNOWN: Final = _code(
    "KA064",
    "A request asks for strict racks, or for a number of racks, and some brokers have no rack.",
    InfeasibleError,
)
INFEASIBLE: Final = _code("KA065", "No plan can satisfy the request.", InfeasibleError)

# A plan against an inventory or a live cluster.
RACKS_LOST: Final = _code(
    "KA066", "A reassignment puts partitions on fewer racks, with the waiver.", None
)

# The waves of a plan against the disks of a cluster.
NO_ROOM: Final = _code(
    "KA070",
    "A broker has too little room on disk for the copies that it would get.",
    StalePlanError,
)

# A plan alone; its next step is better with an inventory.
UNTHROTTLED: Final = _code("KA071", "A reassignment copies replicas without a throttle.")

# A plan against an inventory or a live cluster.
WITHOUT_SOURCE: Final = _code(
    "KA072",
    "A partition has no replica that is alive and in sync: its copies would wait for a broker.",
    StalePlanError,
)

# A deletion against a live cluster.
GUARD_UNKNOWN: Final = _code(
    "KA073",
    "A guard of a deletion could not be looked at on the live cluster, and the deletion has no "
    "waiver for that.",
    UnreachableError,
)

# A plan alone.
UNKNOWN_ZONE: Final = _code(
    "KA074", "The time zone of a plan's hours is not in the time zone data of this machine."
)
HOURS_WITHOUT_EFFECT: Final = _code("KA075", "The hours of a plan change nothing.", None)
CANNOT_FOLLOW: Final = _code(
    "KA076", "A throttle has limits of signals, and a fixed rate, which cannot follow them."
)

# A plan against the context of a live cluster.
UNKNOWN_SIGNAL: Final = _code(
    "KA077",
    "A signal of a throttle is not in the context of the cluster, or has a unit that its limit "
    "does not fit.",
)

# A plan alone.
NO_DEMOTION: Final = _code(
    "KA078", "A maintenance names replicas that are no other order of the replicas before."
)
NOT_DRAINED: Final = _code("KA079", "A decommission gives a replica to a broker that leaves.")

# A plan against a live cluster or an inventory.
STAYS: Final = _code(
    "KA080", "A partition cannot be moved from a broker that leaves, and is not in the plan."
)
LANDED: Final = _code(
    "KA081",
    "A partition on a broker that leaves is not in the plan; a further round moves it.",
    None,
)

# A plan alone, or with a policy.
LOSES_RECORDS: Final = _code(
    "KA082", "An unclean election gives a partition a leader that lacks records."
)

# An unclean election against a live cluster.
CLEAN_WAY: Final = _code("KA083", "A replica is alive that leads without a loss.", StalePlanError)
CANNOT_LEAD: Final = _code(
    "KA084", "A broker that is to lead a partition has no living copy of it.", StalePlanError
)
NOT_LOST: Final = _code(
    "KA085",
    "A partition would come back empty although a copy is alive, or without spec.empty.",
    StalePlanError,
)

# An unclean election with a policy.
NEVER_UNCLEAN: Final = _code("KA086", "The policy forbids unclean elections of a topic.")

# An unclean election against a live cluster whose brokers are older than Kafka 2.4.
ELECTED_TOO: Final = _code(
    "KA087",
    "A partition outside the plan would be elected uncleanly: the config of its topic concerns all "
    "partitions.",
    StalePlanError,
)

# A plan alone.
LOG_DIRS_LENGTH: Final = _code(
    "KA088", "log_dirs of a partition names more or fewer directories than it has replicas."
)

# A plan against a live cluster or an inventory with disks.
NO_SUCH_LOG_DIR: Final = _code(
    "KA089",
    "A broker has no log directory of the path that a document names.",
    StalePlanError,
    InvalidInputError,
)
LOG_DIR_CLOSED: Final = _code(
    "KA090",
    "A log directory that a plan names takes no replica: it is failed or cordoned, or another one "
    "of the broker is failed.",
    StalePlanError,
)
FAILED_DISK: Final = _code(
    "KA091",
    "A broker with a failed log directory would get a replica, which that directory may have held.",
    StalePlanError,
)
LOG_DIRS_UNKNOWN: Final = _code(
    "KA092",
    "A plan names log directories of a broker, and those of the broker are not known.",
    UnreachableError,
)

# The waves of a plan against the disks of a cluster.
DISK_FILLS: Final = _code("KA093", "A plan fills a disk above its limit.")

# A rebalance request against an inventory.
TOO_FEW_RACKS: Final = _code(
    "KA094",
    "A request asks for partitions on more racks than the brokers have that may hold replicas.",
    InfeasibleError,
)

# A growth alone, or with a policy, an inventory or a live cluster.
KEYS_MOVE: Final = _code(
    "KA098", "A topic gets more partitions: records of its keys go to other partitions than before."
)
COMPACTED: Final = _code(
    "KA099",
    "A compacted topic gets more partitions without the waiver: values of its keys would be in two "
    "partitions.",
)
NEVER_GROWN: Final = _code(
    "KA100", "A growth names a topic that Kafka, or kadmin's record, needs; there is no waiver."
)
OTHER_FACTOR: Final = _code(
    "KA101", "A new partition has another number of replicas than the topic's other partitions."
)

# A growth against an inventory or a live cluster.
OTHER_COUNT: Final = _code(
    "KA102",
    "A topic has another number of partitions than the plan was made on.",
    StalePlanError,
)
GROUPS_DISTURBED: Final = _code(
    "KA103", "Consumer groups read a topic that gets more partitions.", None
)

# A rebalance request against an inventory.
UNMATCHED_PATTERN: Final = _code(
    "KA104", "A pattern of a rebalance request matches no topic of the inventory."
)

# A deletion against an inventory or a live cluster.
DELETES_REMOTE: Final = _code(
    "KA107", "A topic that is deleted has remote storage, whose records are deleted as well.", None
)
