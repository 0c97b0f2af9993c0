"""The codes of everything that can be wrong with a document, one line each. Codes are stable: never reused."""

from __future__ import annotations

from typing import Final

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

MEANINGS: Final = {
    UNREADABLE: "The file cannot be read, is not UTF-8 text, or holds a character that no document may hold.",
    SYNTAX: "The text is not well-formed YAML or JSON.",
    DUPLICATE_KEY: "A key stands twice in one mapping.",
    FORBIDDEN_YAML: "An anchor, alias, merge key, tag or directive: documents are plain data.",
    NOT_ONE_DOCUMENT: "The file holds no document, or more than one.",
    KEY_NOT_TEXT: "A key is not a string.",
    ODD_NUMBER: "A number is written in a way that readers of YAML and JSON understand differently.",
    TOO_LARGE: "The text is larger, or nested deeper, than any plan is.",
    MORE_PROBLEMS: "There are more problems than are listed.",
    KIND: "The document's kind or apiVersion is missing or unknown.",
    UNKNOWN_FIELD: "A field that this kind of document does not have.",
    MISSING_FIELD: "A required field is missing.",
    WRONG_TYPE: "A value is of another type than its field.",
    MALFORMED: "A name or amount is not written as it must be.",
    OUT_OF_RANGE: "A number is outside its range.",
    NOT_ALLOWED: "A value is not one of those that its field allows.",
    EMPTY: "A list is shorter or longer than it may be.",
    NOT_EXACTLY_ONE: "Exactly one of several fields must be given.",
    NO_UNIT: "A size, rate or duration has no unit.",
    DUPLICATE_PARTITION: "One document names a partition twice.",
    DUPLICATE_ENTRY: "A list names a broker or topic twice.",
    NO_OP: "A reassignment changes nothing; it is skipped.",
    REPLICATION_FACTOR: "A reassignment changes the replication factor without the waiver.",
    NAME_COLLISION: "Two topics differ only in . and _ and share one name in Kafka's metrics.",
    SIZE_UNKNOWN: "A limit or throttle counts bytes, but the size of a partition that moves is not given.",
    TOO_BIG_FOR_A_WAVE: "One reassignment alone breaks a limit of the waves.",
    TOO_MANY_TOPICS: "A deletion names more topics than allow.more_than.",
    INTERNAL_TOPIC: "A deletion names one of Kafka's internal topics without the waiver.",
    CONTRADICTION: "Two fields of one document contradict each other.",
    PARTITION_IN_TWO_PLANS: "Two reassignment plans name one partition.",
    DELETED_AND_USED: "One plan deletes a topic that another one reassigns or elects leaders for.",
    ELECTED_WHILE_REASSIGNED: "An election names a partition that is being reassigned, or that another plan reassigns.",
    UNKNOWN_TOPIC: "The cluster has no such topic.",
    UNKNOWN_PARTITION: "The topic has no such partition.",
    UNKNOWN_BROKER: "The cluster has no such broker.",
    STALE_CURRENT: "A partition is neither where the plan was made nor where it leads.",
    FEWER_RACKS: "A reassignment puts a partition on fewer racks without the waiver.",
    OTHER_CLUSTER: "The plan was made for another cluster, or does not say for which one of a fleet.",
    OVER_CAPACITY: "A broker would hold more bytes than its capacity.",
    LEADERS_CONCENTRATED: "A broker would lead more than twice its even share of the partitions.",
    UNDER_MIN_ISR: "A partition would have fewer live replicas than its topic's min.insync.replicas.",
    DEAD_BROKER: "A target broker is not alive: the controller would wait for it for ever.",
    PROTECTED_TOPIC: "A deletion names a topic that the policy protects, without the waiver.",
    ACTIVE_CONSUMERS: "A deletion names a topic that consumer groups use, without the waiver.",
    OFFLINE_REPLICAS: "A deletion names a topic with replicas on dead brokers, without the waiver.",
    DELETION_DISABLED: "The brokers have delete.topic.enable=false, and the deletion has no waiver for it.",
    BEING_REASSIGNED: "A deletion names a topic that is being reassigned; there is no waiver.",
    COMES_BACK: "A deleted topic that is still used comes back empty: the brokers create what is asked for.",
    NOT_ELECTABLE: "The preferred replica of a partition is not alive or not in sync.",
    TOPIC_EXISTS: "A recipe names a topic that is there.",
    GUARD_UNCHECKED: "A guard of a deletion could not be checked, since nobody knows what it asks for.",
}
