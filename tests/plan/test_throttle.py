from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import tp

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.plan.model import PartitionTarget
from kadmin.plan.throttle import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
    LISTS,
    MOST_LIST_BYTES,
    RATES,
    WILDCARD,
    ConfigChange,
    ForeignValue,
    apply_revision,
    edits_to_restore,
    edits_to_set,
    holds_ours,
    merge,
    only_readable,
    plan_revision,
    throttled,
)

if TYPE_CHECKING:
    from kadmin.plan.throttle import ConfigEdits, ConfigValues, Edits

TOPIC_A, TOPIC_B = map(ConfigEntity.of_topic, "ab")
BROKER_1, BROKER_2, BROKER_3 = map(ConfigEntity.of_broker, (1, 2, 3))

entries = st.builds("{}:{}".format, st.integers(0, 5), st.integers(1, 4))
lists = st.one_of(
    st.just("*"),
    st.lists(entries, unique=True, max_size=6).map(",".join),
    st.sampled_from([" 0:1 , 1:2", "0:1,", ","]),
)
rates = st.integers(1, 10**9).map(str)
entities = st.sampled_from([TOPIC_A, TOPIC_B, BROKER_1, BROKER_2])


def values_of(entity: ConfigEntity) -> st.SearchStrategy[dict[str, str]]:
    keys, value = (LISTS, lists) if entity.is_topic else (RATES, rates)
    return st.dictionaries(st.sampled_from(keys), value, max_size=2)


@st.composite
def config_values(draw: st.DrawFn) -> dict[ConfigEntity, dict[str, str]]:
    return {entity: draw(values_of(entity)) for entity in draw(st.lists(entities, unique=True))}


@st.composite
def wanted_values(draw: st.DrawFn) -> dict[ConfigEntity, dict[str, str]]:
    topics = draw(st.lists(st.sampled_from([TOPIC_A, TOPIC_B]), unique=True))
    listed = st.lists(entries, unique=True, min_size=1, max_size=6).map(",".join)
    found = {
        topic: dict.fromkeys(LISTS, "") | {key: draw(listed) for key in LISTS} for topic in topics
    }
    brokers = draw(st.lists(st.sampled_from([BROKER_1, BROKER_2]), unique=True))
    return {**found, **{broker: dict.fromkeys(RATES, draw(rates)) for broker in brokers}}


def written(found: ConfigValues, edits: Edits) -> dict[ConfigEntity, dict[str, str]]:
    """Return the values after a write."""
    result: dict[ConfigEntity, dict[str, str | None]] = {
        entity: dict(values) for entity, values in found.items()
    }
    for entity, values in edits.values.items():
        result.setdefault(entity, {}).update(values)
    return present(result)


def present(values: ConfigEdits) -> dict[ConfigEntity, dict[str, str]]:
    kept = {
        entity: {key: v for key, v in keys.items() if v is not None}
        for entity, keys in values.items()
    }
    return {entity: keys for entity, keys in kept.items() if keys}


@given(wanted_values(), config_values())
def test_set_and_undone_is_what_it_was_to_the_letter(
    wanted: ConfigValues, found: ConfigValues
) -> None:
    """merge then undo is the identity; what was set twice is set once."""
    changes = merge(wanted, found)
    during = written(found, edits_to_set(changes, found))
    again = edits_to_set(changes, during)
    assert (again.values, again.kept) == ({}, ())
    undo = edits_to_restore(changes, during)
    assert undo.kept == ()
    assert written(during, undo) == present(found)
    assert edits_to_restore(changes, found).values == {}, "undone twice is undone once"


@given(wanted_values(), config_values())
def test_everything_that_is_wanted_is_throttled_meanwhile(
    wanted: ConfigValues, found: ConfigValues
) -> None:
    during = written(found, edits_to_set(merge(wanted, found), found))
    for entity, values in wanted.items():
        for key, value in values.items():
            now = during[entity][key]
            if key in RATES:
                assert now == value
            else:
                assert now == "*" or set(value.split(",")) <= {
                    entry.strip() for entry in now.split(",")
                }


@given(wanted_values(), config_values(), config_values())
def test_an_operators_edit_meanwhile_survives(
    wanted: ConfigValues, found: ConfigValues, edit: ConfigValues
) -> None:
    """F39: what somebody changed is kept and reported; from a list only our own entries go."""
    changes = merge(wanted, found)
    during = {**written(found, edits_to_set(changes, found)), **edit}
    undo = edits_to_restore(changes, during)
    after = written(during, undo)
    for entity, keys in edit.items():
        for key, value in keys.items():
            change = changes.get(entity, {}).get(key)
            if change is None or (key in RATES and value not in {change.ours, change.previous}):
                assert after[entity][key] == value
            elif key in LISTS:
                ours = (
                    set((change.ours or "").split(","))
                    - set((change.previous or "").split(","))
                    - {"*"}
                )
                theirs = {entry.strip() for entry in value.split(",") if entry.strip()} - ours
                assert theirs <= {
                    entry.strip() for entry in after.get(entity, {}).get(key, "").split(",")
                }
                if set(value.split(",")) not in (
                    {*(change.ours or "").split(",")},
                    {*(change.previous or "").split(",")},
                ):
                    assert not theirs or ForeignValue(entity, key, value) in undo.kept


def test_both_halves_of_a_throttle() -> None:
    targets = [
        PartitionTarget(tp("a-0"), (1, 4), (1, 2)),
        PartitionTarget(tp("a-1"), (2, 1), (1, 2)),
        PartitionTarget(tp("b-0"), (1,), (1, 2)),
    ]
    rate = {LEADER_RATE: "5000", FOLLOWER_RATE: "5000"}
    assert throttled(targets, 5000) == {
        TOPIC_A: {LEADER_REPLICAS: "0:1,0:2", FOLLOWER_REPLICAS: "0:4"},
        BROKER_1: rate,
        BROKER_2: rate,
        ConfigEntity.of_broker(4): rate,
    }, "a new order and fewer replicas copy nothing"


def test_the_wildcard_needs_nothing_added_and_nothing_taken_off() -> None:
    changes = merge({TOPIC_A: {LEADER_REPLICAS: "0:1"}}, {TOPIC_A: {LEADER_REPLICAS: "*"}})
    assert changes == {}
    set_meanwhile = {TOPIC_A: {LEADER_REPLICAS: "*"}}
    undo = edits_to_restore({TOPIC_A: {LEADER_REPLICAS: ConfigChange(None, "0:1")}}, set_meanwhile)
    assert undo.values == {}
    assert undo.kept == (ForeignValue(TOPIC_A, LEADER_REPLICAS, "*"),)


@pytest.mark.parametrize("now", ["7", None])
def test_a_value_that_is_neither_previous_nor_ours_is_named_and_not_written(
    now: str | None,
) -> None:
    changes = {BROKER_1: {LEADER_RATE: ConfigChange("5", "6")}}
    found = {} if now is None else {BROKER_1: {LEADER_RATE: now}}
    for edits in (edits_to_set(changes, found), edits_to_restore(changes, found)):
        assert edits.values == {}
        assert edits.kept == (ForeignValue(BROKER_1, LEADER_RATE, now),)
    shown = "(none)" if now is None else now
    assert str(edits.kept[0]) == f"brokers/1 {LEADER_RATE} = {shown}"


@pytest.mark.parametrize(
    ("key", "change", "now", "ours"),
    [
        (LEADER_RATE, ConfigChange("5", "6"), "6", True),
        (LEADER_RATE, ConfigChange("5", "6"), "5", False),
        (LEADER_RATE, ConfigChange("5", "6"), "7", False),
        (LEADER_RATE, ConfigChange(None, "6"), None, False),
        (LEADER_REPLICAS, ConfigChange("0:1", "0:1,0:2"), "0:2,9:9", True),
        (LEADER_REPLICAS, ConfigChange("0:1", "0:1,0:2"), "0:1,9:9", False),
        (LEADER_REPLICAS, ConfigChange(None, "0:1,0:2"), "*", False),
    ],
)
def test_what_is_left_over(key: str, change: ConfigChange, now: str | None, ours: bool) -> None:  # noqa: FBT001 - a row
    assert holds_ours(key, change, now) is ours


@given(wanted_values(), config_values(), rates, rates)
def test_a_rate_that_changes_while_it_is_set_is_undone_from_every_state_between(
    wanted: dict[ConfigEntity, dict[str, str]],
    found: dict[ConfigEntity, dict[str, str]],
    first: str,
    second: str,
) -> None:
    """Whichever of our rates each broker has: setting again gives the last one, undoing what was
    before.
    """
    one, other = (
        {e: dict.fromkeys(RATES, rate) if not e.is_topic else keys for e, keys in wanted.items()}
        for rate in (first, second)
    )
    changes = merge(one, found)
    before = written(found, edits_to_set(changes, found))
    every = apply_revision(changes, plan_revision(other, changes, before))
    after = written(before, edits_to_set(every, before))
    assert plan_revision(other, every, after) == {}
    for entity, values in other.items():
        if not entity.is_topic:
            assert after[entity] == values
    for state in (before, after, {**after, BROKER_1: before.get(BROKER_1, {})}):
        assert written(state, edits_to_set(every, state)) == after
        undone = edits_to_restore(every, state)
        assert undone.kept == ()
        assert {e: v for e, v in written(state, undone).items() if v} == {
            e: v for e, v in found.items() if v
        }


def test_k18_a_list_that_is_too_long_for_brokers_becomes_the_wildcard_and_goes_back() -> None:
    """A topic of 3,000 partitions: two senders of each are too many for one value, one receiver of
    each is not.
    """
    wanted = throttled(
        [PartitionTarget(tp(f"a-{number}"), (1, 3), (1, 2)) for number in range(3_000)], 5
    )
    receivers = wanted[TOPIC_A][FOLLOWER_REPLICAS]
    assert len(receivers) <= MOST_LIST_BYTES < len(wanted[TOPIC_A][LEADER_REPLICAS])
    found = {TOPIC_A: {LEADER_REPLICAS: "7:7"}}
    changes = merge({TOPIC_A: wanted[TOPIC_A]}, found)
    written = {
        LEADER_REPLICAS: ConfigChange("7:7", WILDCARD),
        FOLLOWER_REPLICAS: ConfigChange(None, receivers),
    }
    assert changes == {TOPIC_A: written}
    set_now = {TOPIC_A: {LEADER_REPLICAS: WILDCARD, FOLLOWER_REPLICAS: receivers}}
    assert edits_to_restore(changes, set_now).values == {
        TOPIC_A: {LEADER_REPLICAS: "7:7", FOLLOWER_REPLICAS: None}
    }


@pytest.mark.parametrize(("previous", "back"), [(None, None), ("", "")])
def test_a_list_that_lost_its_entries_goes_where_there_was_none_and_stays_where_it_was_empty(
    previous: str | None, back: str | None
) -> None:
    changes = {TOPIC_A: {LEADER_REPLICAS: ConfigChange(previous, "0:1")}}
    found = {TOPIC_A: {LEADER_REPLICAS: "0:1"}}
    assert edits_to_restore(changes, found).values == {TOPIC_A: {LEADER_REPLICAS: back}}
    emptied = edits_to_restore(changes, {TOPIC_A: {LEADER_REPLICAS: ""}})
    assert emptied.kept == ()
    assert emptied.values == ({TOPIC_A: {LEADER_REPLICAS: None}} if previous is None else {})


def test_what_cannot_be_read_is_left_out_unless_it_is_on_record() -> None:
    wanted = {
        BROKER_1: {LEADER_RATE: "5"},
        BROKER_2: {LEADER_RATE: "5"},
        BROKER_3: {LEADER_RATE: "5"},
    }
    on_record = {BROKER_2: {LEADER_RATE: ConfigChange(None, "4")}}
    assert list(only_readable(wanted, {BROKER_1: {}}, on_record)) == [BROKER_1, BROKER_2]
