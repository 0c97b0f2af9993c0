"""Every rule of the schemas of documents and payloads refuses a bad example; none is there for
show.

From one good value that fills every field, a bad one is made for each keyword of each subschema it
passes through: the schema must refuse it, at that place, by that rule.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator

from kadmin.documents.check import KINDS
from kadmin.schema import bundled, validate_value
from kadmin.schema.bundle import compile_quick

if TYPE_CHECKING:
    from collections.abc import Iterator

ANNOTATIONS = {"$schema", "$id", "$defs", "$ref", "title", "description", "default", "x-hint"}
ASSERTIONS = {
    "type",
    "const",
    "enum",
    "pattern",
    "maxLength",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "minItems",
    "maxItems",
    "uniqueItems",
    "required",
    "minProperties",
    "additionalProperties",
    "propertyNames",
    "oneOf",
    "dependentRequired",
}
OF_OBJECTS = {"required", "minProperties", "additionalProperties", "propertyNames"}
STRUCTURE = {"properties", "items"}
NAMES = [*KINDS.values(), *(name for name in bundled().names() if name.startswith("payloads/"))]

PARTITION = {"topic": "orders", "partition": 0}
METADATA = {"name": "n", "cluster_id": "c", "description": "d", "labels": {"l": "x"}}
FOLLOWING = {
    "rate": {"min": "1B/s", "max": "2B/s"},
    "pair": 1,
    "while": {"produce_p99": {"below": "50ms"}},
    "disks": "1B/s",
}
HEAD = {"apiVersion": "kadmin/v1", "metadata": METADATA}
GOOD: dict[str, list[dict[str, Any]]] = {
    "partition-reassignment": [
        {
            **HEAD,
            "kind": "PartitionReassignment",
            "spec": {
                "throttle": throttle,
                "hours": {**hours, "outside": "pause"},
                "waves": {
                    "max_partitions": 1,
                    "max_moves_per_broker": 1,
                    "max_bytes": "1B",
                    "max_payload": "1B",
                },
                "order": "priority",
                "elect": "none",
                "allow": {
                    "replication_factor_change": True,
                    "fewer_racks": True,
                    "without_source": True,
                    "topics_deleted": True,
                    "failed_disks": True,
                },
                "limits": {"moves_per_disk": 1, "disk_fill": "80%"},
                "partitions": [
                    {
                        **PARTITION,
                        "current": [1],
                        "replicas": [2],
                        "log_dirs": ["/data/a"],
                        "size_bytes": 1,
                    }
                ],
            },
        }
        for throttle, hours in (
            ({"rate": "1B/s"}, {"within": ["sat 22:00-06:00"], "zone": "Europe/Berlin"}),
            ({"finish_in": "1h"}, {"quiet": 0.7, "of": "load"}),
            ({"link_budget": "1B/s"}, {"within": ["22:00-06:00", "sun"], "zone": "UTC"}),
            (FOLLOWING, {"within": ["22:00-06:00"], "zone": "UTC"}),
            ({"disks": "1B/s"}, {"within": ["22:00-06:00"], "zone": "UTC"}),
        )
    ],
    "preferred-replica-election": [
        {**HEAD, "kind": "PreferredReplicaElection", "spec": spec}
        for spec in ({"partitions": [PARTITION]}, {"topics": ["orders"]}, {"all": True})
    ],
    "topic-deletion": [
        {
            **HEAD,
            "kind": "TopicDeletion",
            "spec": {
                "topics": ["orders"],
                "layout": "children",
                "allow": {
                    **dict.fromkeys(
                        [
                            "internal",
                            "protected",
                            "active_consumers",
                            "offline_replicas",
                            "deletion_disabled",
                            "unchecked_guards",
                        ],
                        True,
                    ),
                    "more_than": 1,
                },
            },
        }
    ],
    "topic-recipe": [
        {
            **HEAD,
            "kind": "TopicRecipe",
            "spec": {"topics": [{"topic": "orders", "partitions": [[1]], "configs": {"a.b": "x"}}]},
        }
    ],
    "policy": [
        {
            **HEAD,
            "kind": "Policy",
            "spec": {
                "codes": {"KA001": "off"},
                "deletion": {"deny": ["_*"], "allow": ["*"], "max_topics": 1},
                "unclean_election": {"deny": ["pay*"]},
            },
        }
    ],
    "prometheus-names": [
        {
            **HEAD,
            "kind": "PrometheusNames",
            "spec": {
                "metrics": {"bytes": {"metric": "bytes_in", "kind": "gauge"}},
                "labels": {
                    name: ["label"]
                    for name in ("cluster", "topic", "partition", "broker_id", "group", "instance")
                },
                "brokers": {"kafka-1:7071": 1},
                "topics": {"pay_in": "pay.in"},
            },
        }
    ],
    "rebalance-request": [
        {
            **HEAD,
            "kind": "RebalanceRequest",
            "spec": {
                "brokers": {
                    "drain": [1],
                    "no_receive": [1],
                    "never_lead": [1],
                    "substitute": {"5": 9},
                    "weights": {"4": 2.5},
                },
                "topics": {"include": ["*"], "exclude": ["_*"]},
                "replication_factor": {"o*": 3},
                "broker_sets": {"o*": [1]},
                "pins": [{**PARTITION, "replicas": [1]}],
                "racks": racks,
                "disks": {
                    "drain": {"1": ["/a"]},
                    "no_receive": {"1": ["/b"]},
                    "weights": {"1": {"/b": 2.5}},
                    "failed": "move",
                },
                "only": "disks",
                "tolerance": {"bytes": "2%", "disk_bytes": "5%"},
                "limits": {
                    "max_moves": 1,
                    "max_bytes": "1B",
                    "max_bytes_in_per_broker": "1B",
                    "max_order_changes": 1,
                    "load_moves": "2%",
                    "load_leader_changes": 100,
                    "disk_moves": 20,
                },
                "leaders_only": False,
                "even": True,
                "free": {"broker": 7, "bytes": "1B"},
                "load": {
                    "from": "load",
                    "in": 1.05,
                    "out": 1.1,
                    "cpu": {"in": 1, "out": 0.5, "requests": 2000},
                    "hours": "week",
                    "zones": {
                        "price_per_gb": 0.02,
                        "currency": "$",
                        "producers": {"r1": 0},
                        "consumers": {"r1": 1},
                        "closest_replica": True,
                    },
                },
                "only_if": {"gain": "5%"},
                "throttle": throttle,
                "hours": {**hours, "outside": "pause"},
            },
        }
        for throttle, racks, hours in (
            ({"rate": "1B/s"}, "strict", {"within": ["sun"], "zone": "UTC"}),
            ({"finish_in": "1h"}, {"at_least": 2}, {"quiet": 0.7, "of": "load"}),
            ({"link_budget": "1B/s"}, "strict", {"within": ["sun"], "zone": "UTC"}),
            (FOLLOWING, "strict", {"within": ["sun"], "zone": "UTC"}),
            ({"disks": "1B/s"}, "strict", {"within": ["sun"], "zone": "UTC"}),
        )
    ],
    "cluster-inventory": [
        {
            "apiVersion": "kadmin/v1",
            "kind": "ClusterInventory",
            "taken_at": "2026-11-21T08:30:00Z",
            "cluster_id": "c",
            "clusters": {"east": "c"},
            "zookeeper": {"connect": "h:1", "version": "3"},
            "kafka": {
                "version": "3",
                "mode": "kraft",
                "controller": 1,
                "controller_epoch": 1,
                "min_insync_replicas": {"orders": 2},
                "default_min_insync_replicas": 1,
                "consumers": {"orders": ["g"]},
                "reassigning": [PARTITION],
                "delete_topic_enable": True,
                "auto_create_topics_enable": False,
                "unavailable": ["groups were not seen"],
                "tiered_topics": ["orders"],
            },
            "kafka_by_cluster": {"east": {"controller": 1}},
        }
    ],
    "contexts": [
        {
            "apiVersion": "kadmin/v1",
            "kind": "Contexts",
            "current": "east",
            "contexts": {
                "east": {
                    "description": "d",
                    "cluster_id": "c",
                    "zookeeper": {
                        "connect": "h:1",
                        "sasl": {"mechanism": "DIGEST-MD5", "username": "u", "password": secret},
                        "digest": {"username": "u", "password": secret},
                        "tls": {"ca": "a", "certificate": "b", "key": "c", "key_password": secret},
                    },
                    "kafka": {"bootstrap_servers": "h:1", "command_config": "p", "records": "r"},
                    "policy": "p",
                    "inventory": "i",
                    "protect": "confirm",
                    "allow": ["TopicDeletion"],
                    "defaults": {
                        "throttle": "1B/s",
                        "waves": {
                            "max_partitions": 1,
                            "max_moves_per_broker": 1,
                            "max_bytes": "1B",
                            "max_payload": "1B",
                        },
                    },
                    "signals": {
                        "s": {
                            "prometheus": "https://h:1",
                            "query": "q",
                            "unit": "ms",
                            "basic_auth": {"username": "u", "password": secret},
                            "bearer_token": secret,
                            "tls": {
                                "ca": "a",
                                "certificate": "b",
                                "key": "c",
                                "key_password": secret,
                            },
                        }
                    },
                },
                "west": {
                    "zookeeper": {
                        "connect": "h:1",
                        "sasl": {
                            "mechanism": "GSSAPI",
                            "principal": "p",
                            "keytab": "k",
                            "service": "s",
                        },
                    }
                },
            },
        }
        for secret in ({"file": "f"}, {"env": "E"}, {"command": ["c", "a"]})
    ],
    "payloads/reassign_partitions": [
        {"version": 1, "partitions": [{**PARTITION, "replicas": [1]}]}
    ],
    "payloads/preferred_replica_election": [{"version": 1, "partitions": [PARTITION]}],
    "payloads/delete_topics": [{"version": 1, "topics": ["orders"]}],
}
GOOD["broker-maintenance"] = [
    {
        **HEAD,
        "kind": "BrokerMaintenance",
        "spec": {
            "throttle": each["spec"]["throttle"],
            "margin": 1,
            "rounds": [
                {
                    "brokers": [2],
                    "partitions": [
                        {
                            **PARTITION,
                            "current": [2, 1],
                            "replicas": [1, 2],
                            "log_dirs": ["any", "any"],
                            "size_bytes": 1,
                        }
                    ],
                }
            ],
        },
    }
    for each in GOOD["partition-reassignment"]
    if "throttle" in each["spec"]
]
GOOD["broker-decommission"] = [
    {**each, "kind": "BrokerDecommission", "spec": {"brokers": [9], **each["spec"]}}
    for each in GOOD["partition-reassignment"]
]
GOOD["unclean-leader-election"] = [
    {
        **HEAD,
        "kind": "UncleanLeaderElection",
        "spec": {
            "looked_at": "2026-03-01T02:30:00Z",
            "empty": True,
            "allow": {"impatient": True, "internal": True},
            "partitions": [
                {
                    **PARTITION,
                    "leader": 1,
                    "current": [2],
                    "replicas": [1],
                    "losing": {"records": 1, "at_most": 2},
                    "because": "dead",
                }
            ],
        },
    }
]
GOOD["partition-growth"] = [
    {
        **HEAD,
        "kind": "PartitionGrowth",
        "spec": {
            "allow": {"keys_move": True},
            "topics": [{"topic": "a", "current": 1, "new_partitions": [[1, 2]]}],
        },
    }
]
ODD: dict[str, list[Any]] = {
    "type": [None, 1.5, "x", [], {}],
    "const": ["other", 7],
    "enum": ["other"],
    "pattern": ["/", "\n", "", "\x07"],
    "maxLength": ["x" * 300_000],
    "uniqueItems": [],
}


class Rule(NamedTuple):
    """A keyword with its argument, and where in the value its subschema stands."""

    keyword: str
    argument: Any
    place: tuple[str | int, ...]

    def __str__(self) -> str:
        return f"{'/'.join(map(str, self.place)) or '.'}:{self.keyword}"


def schema_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(bundled().text(name))
    return found


def rules(
    schema: dict[str, Any],
    root: dict[str, Any],
    value: Any,  # noqa: ANN401 - JSON
    place: tuple[str | int, ...],
) -> Iterator[Rule]:
    """Walk a value along the schema that it conforms to."""
    if "$ref" in schema:
        yield from rules(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, value, place)
    yield from (
        Rule(keyword, argument, place)
        for keyword, argument in schema.items()
        if keyword in ASSERTIONS and (isinstance(value, dict) or keyword not in OF_OBJECTS)
    )
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from rules(schema["items"], root, item, (*place, index))
    for key, part in value.items() if isinstance(value, dict) else ():
        others = schema.get("additionalProperties")
        below = schema.get("properties", {}).get(key, others if isinstance(others, dict) else None)
        if below is not None:
            yield from rules(below, root, part, (*place, key))


def bad_examples(rule: Rule, value: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON
    """Yield values for the rule's place, at least one of which it must refuse."""
    match rule.keyword:
        case "minimum" | "exclusiveMinimum":
            yield rule.argument - 1
        case "maximum":
            yield rule.argument + 1
        case "minItems" | "minProperties":
            yield type(value)()
        case "maxItems":
            yield value * (rule.argument + 1)
        case "uniqueItems":
            yield [*value, *value]
        case "required":
            yield {}
        case "additionalProperties" | "propertyNames":
            yield {**value, "no such field/": next(iter(value.values()), 1)}
            yield {**value, "another": object()}
        case "oneOf":
            yield {}
        case "dependentRequired":
            yield dict([next(iter(value.items()))])
        case _:
            yield from ODD[rule.keyword]


def put(value: Any, place: tuple[str | int, ...], replacement: Any) -> Any:  # noqa: ANN401 - JSON
    if not place:
        return replacement
    changed = copy.deepcopy(value)
    container = changed
    for step in place[:-1]:
        container = container[step]
    container[place[-1]] = replacement
    return changed


def at(value: Any, place: tuple[str | int, ...]) -> Any:  # noqa: ANN401 - JSON
    for step in place:
        value = value[step]
    return value


CASES = [
    (name, good, rule)
    for name in NAMES
    for good in GOOD[name]
    for rule in dict.fromkeys(
        Rule(r.keyword, json.dumps(r.argument), r.place)
        for r in rules(schema_of(name), schema_of(name), good, ())
    )
]


def subschemas(part: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - JSON
    """Yield every schema below; what stands under properties and $defs are names, not keywords."""
    if not isinstance(part, dict):
        return
    yield part
    for named in ("properties", "$defs"):
        for below in part.get(named, {}).values():
            yield from subschemas(below)
    for keyword in ("items", "additionalProperties", "propertyNames"):
        yield from subschemas(part.get(keyword))
    for below in part.get("oneOf", ()):
        yield from subschemas(below)


@pytest.mark.parametrize("name", bundled().names())
def test_only_known_keywords_are_used(name: str) -> None:
    for part in subschemas(schema_of(name)):
        assert set(part) <= ANNOTATIONS | ASSERTIONS | STRUCTURE, part.get("title")


@pytest.mark.parametrize("name", NAMES)
def test_the_good_examples_fill_every_field(name: str) -> None:
    """A field without a good example would have rules without a bad one."""
    schema = schema_of(name)
    reached = {
        json.dumps(part, sort_keys=True)
        for good in GOOD[name]
        for part in passed_through(schema, schema, good)
    }
    wanted = {
        json.dumps(part, sort_keys=True)
        for part in subschemas(schema)
        if "title" in part or "$ref" in part
    }
    names = {
        json.dumps(part["propertyNames"], sort_keys=True)
        for part in subschemas(schema)
        if "propertyNames" in part
    }
    assert wanted - reached - names == set()
    assert all(validate_value(good, name) == [] for good in GOOD[name])


@pytest.mark.parametrize("name", NAMES)
def test_the_quick_test_says_yes_to_what_is_good(name: str) -> None:
    """Or large plans would be judged by jsonschema alone, which is a hundred times slower."""
    quick = compile_quick(schema_of(name))
    assert all(quick(good) for good in GOOD[name])
    assert not quick({**GOOD[name][0], "spec": {}, "version": 2})


def passed_through(
    schema: dict[str, Any],
    root: dict[str, Any],
    value: Any,  # noqa: ANN401 - JSON
) -> Iterator[dict[str, Any]]:
    yield schema
    if "$ref" in schema:
        yield from passed_through(
            root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, value
        )
    for item in value if isinstance(value, list) and "items" in schema else ():
        yield from passed_through(schema["items"], root, item)
    for key, part in value.items() if isinstance(value, dict) else ():
        others = schema.get("additionalProperties")
        below = schema.get("properties", {}).get(key, others if isinstance(others, dict) else None)
        if below is not None:
            yield from passed_through(below, root, part)


def is_refused(schema: Draft202012Validator, rule: Rule, value: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether a rule refuses what stands in its place in a value."""
    errors = list(schema.iter_errors(value))
    if rule.keyword == "propertyNames" and any(
        "propertyNames" in error.absolute_schema_path for error in errors
    ):
        return True
    if rule.keyword == "additionalProperties" and isinstance(rule.argument, dict) and errors:
        return True
    return any(
        error.validator == rule.keyword
        and tuple(error.absolute_path)[: len(rule.place)] == rule.place
        for error in errors
    )


def test_every_rule_refuses_its_bad_example() -> None:
    assert len(CASES) > 300
    for name, good, case in CASES:
        schema = Draft202012Validator(schema_of(name))
        rule = case._replace(argument=json.loads(case.argument))
        assert any(
            is_refused(schema, rule, put(good, rule.place, bad))
            for bad in bad_examples(rule, at(good, rule.place))
        ), f"{name} {rule}"
