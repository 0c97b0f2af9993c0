from __future__ import annotations

import json
import math
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import tp

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.errors import KadminError, NotCompletedError
from kadmin.insight.diagnosis.health import Health
from kadmin.operations.record.codec import (
    RECORD_VERSION,
    UndecodableError,
    decode_holder,
    decode_listing,
    decode_record,
    decode_status,
    decode_throttle_request,
    decoding,
    encode_holder,
    encode_record,
    encode_status,
    restate,
)
from kadmin.operations.record.holder import Holder, LostLockError, lost_lock
from kadmin.operations.record.record import (
    KEPT_CHANGES,
    ROLLS_BACK,
    TRANSITIONS,
    Author,
    HighWatermark,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
    ThrottleRecord,
    require_transition,
)
from kadmin.operations.record.step_codec import decode_step, encode_step
from kadmin.operations.record.steps import (
    CancelStep,
    Channel,
    ConfigStep,
    CreationStep,
    DeletionStep,
    DrainStep,
    ElectionStep,
    Errand,
    ErrandStep,
    GoneStep,
    GrowthStep,
    HealStep,
    Intent,
    LogDirsStep,
    ProbeStep,
    Replaced,
    Sending,
    StepKind,
    ThrottleChange,
    ThrottleStep,
    UncleanElectionStep,
    WaveStep,
)
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.plan.model import PartitionTarget, TopicRecipe
from kadmin.plan.signals import SignalValue
from kadmin.plan.throttle import LISTS, RATES, ConfigChange
from kadmin.plan.written import require_written
from kadmin.report.operations.status import history_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kadmin.operations.record.steps import Step

TOPIC_A = ConfigEntity.of_topic("a")
BROKER_1 = ConfigEntity.of_broker(1)
partitions = st.builds(
    TopicPartition, st.text("abc._-", min_size=1, max_size=20), st.integers(0, 2**31 - 1)
)
replicas = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=5, unique=True).map(tuple)


def changes_of(keys: Iterable[str]) -> st.SearchStrategy[dict[str, ConfigChange]]:
    values = st.builds(ConfigChange, st.none() | st.text(max_size=9), st.text(max_size=9))
    return st.dictionaries(st.sampled_from(tuple(keys)), values)


records = st.builds(
    OperationRecord,
    operation_id=st.just("20261121T080000-abcdef"),
    kind=st.sampled_from(OperationKind),
    plan_text=st.text(max_size=200),
    plan_digest=st.text("0123456789abcdef", min_size=64, max_size=64),
    cluster_id=st.none() | st.text(max_size=22),
    created_at=st.just("2026-11-21T08:00:00Z"),
    author=st.builds(Author, st.text(max_size=8), st.text(max_size=8), st.integers(1, 99_999)),
    origin=st.dictionaries(partitions, replicas, max_size=30),
    waves=st.lists(st.lists(st.integers(0, 29), max_size=9).map(tuple), max_size=5).map(tuple),
    targets=st.lists(partitions, max_size=9).map(tuple),
    recipes=st.lists(
        st.builds(
            TopicRecipe,
            st.text(max_size=9),
            st.dictionaries(st.integers(0, 99), replicas, max_size=5),
            st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=3),
        ),
        max_size=3,
    ).map(tuple),
    throttle=st.none()
    | st.builds(
        ThrottleRecord,
        st.integers(1, 2**63 - 1),
        st.fixed_dictionaries(
            {}, optional={TOPIC_A: changes_of(LISTS), BROKER_1: changes_of(RATES)}
        ),
    ),
)


@given(records)
def test_a_record_survives_the_round_trip(record: OperationRecord) -> None:
    """encode then decode is the identity."""
    assert decode_record(encode_record(record), record.operation_id) == record


@given(
    records,
    st.dictionaries(
        partitions, st.dictionaries(st.integers(0, 9), st.text(max_size=5), min_size=1), max_size=3
    ),
)
def test_log_directories_are_kept_and_older_versions_refuse_the_record(
    record: OperationRecord, log_dirs: dict[TopicPartition, dict[int, str]]
) -> None:
    data = encode_record(replace(record, log_dirs=log_dirs))
    assert decode_record(data, record.operation_id) == replace(record, log_dirs=log_dirs)
    assert ("log_dirs" in json.loads(zlib.decompress(data))) == bool(log_dirs)


HEALTH = Health(frozenset({1, 2}), frozenset(), frozenset({TopicPartition("a", 0)}))


@given(
    records,
    st.dictionaries(
        partitions, st.builds(HighWatermark, st.integers(0, 2**63 - 1), st.integers(0, 99))
    ),
)
def test_high_watermarks_are_kept_where_older_versions_skip_them(
    record: OperationRecord, marks: dict[TopicPartition, HighWatermark]
) -> None:
    """Older records have none; versions that do not know them read the record as before: it has no
    other key.
    """
    marked = replace(record, health=HEALTH, high_watermarks=marks)
    data = encode_record(marked)
    assert decode_record(data, record.operation_id) == marked
    value = json.loads(zlib.decompress(data))
    assert value.keys() == json.loads(zlib.decompress(encode_record(record))).keys()
    del value["health"]["high_watermarks"]
    older = zlib.compress(json.dumps(value).encode())
    assert decode_record(older, record.operation_id) == replace(record, health=HEALTH)


def test_a_high_watermark_that_is_no_number_is_refused() -> None:
    author = Author("ann", "h1", 7)
    record = OperationRecord(
        "id", OperationKind.REASSIGNMENT, "{}", "sha256:1", None, "then", author, {}, health=HEALTH
    )
    value = json.loads(zlib.decompress(encode_record(record)))
    value["health"]["high_watermarks"] = [["a", 0, "7100", 4]]
    with pytest.raises(TypeError, match="'7100' is no int"):
        decode_record(zlib.compress(json.dumps(value).encode()), "id")


@pytest.mark.parametrize("layout", [{"min_reader": RECORD_VERSION + 1}, {"version": 1}])
def test_a_record_of_another_layout_is_refused(layout: dict[str, int]) -> None:
    record = OperationRecord(
        "id", OperationKind.ELECTION, "{}", "sha256:0", None, "now", Author("u", "h", 1), {}
    )
    value = json.loads(zlib.decompress(encode_record(record)))
    del value["min_reader"]
    with pytest.raises(NotCompletedError, match="another version of kadmin"):
        decode_record(zlib.compress(json.dumps(value | layout).encode()), "id")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("topics/a", "retention.ms"),
        ("topics/a", RATES[0]),
        ("topics/..", LISTS[0]),
        ("topics/a/b", LISTS[0]),
        ("brokers/1", "log.retention.ms"),
        ("brokers/1", LISTS[0]),
        ("brokers/<default>", RATES[0]),
        ("users/ann", RATES[0]),
        ("", LISTS[0]),
    ],
)
def test_a_throttle_on_record_names_throttles_of_topics_and_brokers_only(
    text: str, key: str
) -> None:
    """As a record and as a step; what is to be written says the same, but for the default of all
    brokers.
    """
    entity = ConfigEntity.parse(text)
    changes = {entity: {key: ConfigChange(None, "1000")}}
    author = Author("ann", "h1", 7)
    record = OperationRecord(
        "id", OperationKind.REASSIGNMENT, "{}", "sha256:1", None, "then", author, {}
    )
    packed = encode_record(replace(record, throttle=ThrottleRecord(5, changes)))
    step = encode_step(ThrottleStep(1, "now", ThrottleChange(5, changes, None)))
    for decode in (lambda: decode_record(packed, "id"), lambda: decode_step(step)):
        with (
            pytest.raises(UndecodableError, match="operations/id cannot be decoded") as refused,
            decoding("operations/id"),
        ):
            decode()
        assert f"{key} of {entity} is no throttle of an operation" in str(refused.value.cause)
    if entity == DEFAULT_ENTITY:
        require_written({entity: {key: None}})
    else:
        with pytest.raises(NotCompletedError, match="is no throttle, cordon or unclean"):
            require_written({entity: {key: None}})


def test_signals_of_a_change_are_on_record_with_four_digits_and_older_records_have_none() -> None:
    signals = (
        SignalValue("commit_delay", "s", 0.0123456, 0.0987654),
        SignalValue("lag", None, 7.0, None),
    )
    change = ThrottleChange(5, {}, None, "clients do not wait", signals)
    data = encode_step(ThrottleStep(1, "now", change))
    decoded = decode_step(data)
    assert isinstance(decoded, ThrottleStep)
    assert decoded.throttle is not None
    assert decoded.throttle.signals == (
        SignalValue("commit_delay", "s", 0.01235, 0.09877),
        SignalValue("lag", None, 7.0, None),
    )
    value = json.loads(data)
    value["throttle"]["signals"][0][2] = "soon"
    with pytest.raises(TypeError, match="'soon' is no float"):
        decode_step(json.dumps(value).encode())
    del value["throttle"]["signals"]
    older = decode_step(json.dumps(value).encode())
    assert older == ThrottleStep(1, "now", replace(change, signals=()))


@pytest.mark.parametrize("before", OperationState)
@pytest.mark.parametrize("after", OperationState)
def test_only_listed_transitions_are_legal(before: OperationState, after: OperationState) -> None:
    """A finished operation never changes; an unfinished one can come to an end."""
    assert not (before.finished and TRANSITIONS[before])

    def lose() -> None:
        raise lost_lock()

    if after in TRANSITIONS[before]:
        require_transition("id", before, after, lose)
    else:
        with pytest.raises(KadminError, match=f"is {before} and cannot become {after}"):
            require_transition("id", before, after, lambda: None)
        with pytest.raises(LostLockError):
            require_transition("id", before, after, lose)


@given(
    st.sampled_from(StepKind),
    st.lists(partitions, max_size=5),
    st.lists(st.text(max_size=5), max_size=3, unique=True),
)
def test_a_step_survives_the_round_trip(
    kind: StepKind, named: list[TopicPartition], topics: list[str]
) -> None:
    refused, refused_topics = dict.fromkeys(named, "no"), dict.fromkeys(topics, "no")
    every: tuple[Step, ...] = (
        ProbeStep(3, "now", Channel.ELECTION),
        ThrottleStep(3, "now"),
        WaveStep(3, "now", 2, refused=refused),
        CancelStep(3, "now", tuple(named), refused=refused),
        ElectionStep(3, "now", tuple(named), refused),
        UncleanElectionStep(3, "now", tuple(named), refused),
        ConfigStep(3, "now", tuple(topics)),
        DeletionStep(3, "now", tuple(topics), refused_topics, sending=Sending.ANSWERED),
        CreationStep(3, "now", tuple(topics), refused_topics, sending=Sending.ANSWERED),
        GrowthStep(3, "now", tuple(topics), refused_topics, sending=Sending.ANSWERED),
        HealStep(3, "now", Replaced("/a", 1, b"")),
        GoneStep(3, "now", 2, tuple(range(len(named)))),
        DrainStep(3, "now", (tuple(PartitionTarget(each, (1, 2), (2, 3)) for each in named),)),
        ErrandStep(3, "now", Errand.CORDON, (4,)),
        LogDirsStep(
            3,
            "now",
            2,
            7,
            dict.fromkeys(named, "/b"),
            dict.fromkeys(named[:1], "/a"),
            {each.topic: None for each in named},
            refused,
        ),
    )
    (step,) = (each for each in every if each.kind is kind)
    assert decode_step(encode_step(step)) == step


@given(st.dictionaries(partitions, st.none() | replicas, max_size=5), st.sampled_from(Sending))
def test_a_step_with_an_intent_survives_the_round_trip(
    targets: dict[TopicPartition, tuple[int, ...] | None], sending: Sending
) -> None:
    ids = {each.topic: "id" for each in targets}
    step = WaveStep(
        3, "now", 0, sending=sending, intent=Intent(targets, ids, dict.fromkeys(targets, 7))
    )
    assert decode_step(encode_step(step)) == step


def test_steps_without_an_intent_are_as_older_versions_write_them_not_so_a_newer_layout() -> None:
    plain = json.loads(encode_step(WaveStep(1, "now", 0)))
    assert not {"sending", "intent", "min_reader"} & set(plain)
    newer = json.dumps({**plain, "min_reader": RECORD_VERSION + 1}).encode()
    with pytest.raises(NotCompletedError, match="another version"):
        decode_step(newer)


def test_a_status_changes_without_touching_what_a_listing_shows() -> None:
    record = OperationRecord(
        "id",
        OperationKind.ELECTION,
        "{}",
        "sha256:1",
        None,
        "then",
        Author("ann", "h1", 7),
        {tp("a-0"): (1,)},
    )
    data = encode_status(OperationStatus(OperationState.PREPARING, "then"), record)
    changed = restate(data, OperationStatus(OperationState.COMPLETED, "later", "2 partitions"))
    assert decode_status(changed) == OperationStatus(
        OperationState.COMPLETED, "later", "2 partitions"
    )
    listing = decode_listing("id", changed)
    assert listing.changes == (OperationStatus(OperationState.COMPLETED, "later", "2 partitions"),)
    assert (listing.kind, listing.plan_digest, listing.author) == (
        OperationKind.ELECTION,
        "sha256:1",
        Author("ann", "h1", 7),
    )


def test_what_apply_knew_of_file_and_sizes_is_kept_beside_the_status_and_older_data_has_none() -> (
    None
):
    """An older version decodes a record strictly, so nothing is added there."""
    author = Author("ann", "h1", 7)
    plan = json.dumps({"metadata": {"name": "rollback", "labels": {ROLLS_BACK: "op-1"}}})
    record = OperationRecord(
        "id", OperationKind.ELECTION, plan, "sha256:1", None, "then", author, {}
    )
    record = replace(record, file_digest="ab", to_copy_bytes=7)
    data = encode_status(OperationStatus(OperationState.PREPARING, "then"), record)
    again = restate(data, OperationStatus(OperationState.COMPLETED, "later"))
    for kept in (decode_listing("id", data), decode_listing("id", again)):
        assert (kept.file_digest, kept.to_copy_bytes) == ("ab", 7)
        assert (kept.plan_name, kept.rolls_back) == ("rollback", "op-1")
        assert "  rollback of op-1  " in history_text((kept,), None)
    new = {"file_digest", "to_copy_bytes", "plan_name", "rolls_back"}
    older = json.dumps(
        {key: value for key, value in json.loads(data).items() if key not in new}
    ).encode()
    found = decode_listing("id", older)
    assert (found.file_digest, found.to_copy_bytes, found.plan_name, found.rolls_back) == (
        None,
    ) * 4
    assert decode_record(encode_record(record), "id") == replace(
        record, file_digest=None, to_copy_bytes=None
    )


def test_changes_are_kept_up_to_a_number_and_added_to_data_of_older_versions() -> None:
    record = OperationRecord(
        "id", OperationKind.HEAL, "{}", "sha256:1", None, "then", Author("ann", "h1", 7), {}
    )
    older = json.loads(encode_status(OperationStatus(OperationState.RUNNING, "then"), record))
    del older["by"]
    data = json.dumps(older).encode()
    assert (decode_status(data).by, decode_listing("id", data).changes) == ("", ())
    for number in range(KEPT_CHANGES + 3):
        data = restate(data, OperationStatus(OperationState.RUNNING, str(number), by="bob@h2"))
    changes = decode_listing("id", data).changes
    assert [each.updated_at for each in changes] == [
        str(number) for number in range(3, KEPT_CHANGES + 3)
    ]
    assert {each.by for each in changes} == {"bob@h2"}


def test_a_confirmed_request_is_on_record_and_data_of_older_versions_has_its_text() -> None:
    asked = replace(ASKED, stop=Stop.CANCEL_NOW, allow_foreign=True)
    data = encode_status(
        OperationStatus(OperationState.RUNNING, "now", str(asked), answered=asked), WHOLE
    )
    assert decode_status(data).answered == asked
    assert (
        decode_status(restate(data, OperationStatus(OperationState.RUNNING, "later"))).answered
        is None
    )
    older = json.loads(data)
    del older["answered"]
    assert decode_status(json.dumps(older).encode()).answered == replace(asked, allow_foreign=False)


def test_preparing_running_and_paused_are_unfinished() -> None:
    assert {state for state in OperationState if not state.finished} == {
        OperationState.PREPARING,
        OperationState.RUNNING,
        OperationState.PAUSED,
    }


def put(value: dict[str, Any], path: str, other: object) -> bytes:
    """JSON with another value at a path, whose parts are keys and positions."""
    *parents, last = [int(part) if part.isdecimal() else part for part in path.split("|")]
    place: Any = value
    for part in parents:
        place = place[part]
    assert place[last] != other
    place[last] = other
    return json.dumps(value).encode()


def refused(decode: Callable[[], object]) -> bool:
    try:
        with decoding("it"):
            decode()
    except UndecodableError:
        return True
    return False


ANN = Author("ann", "host", 1)
ASKED = StopRequest(Stop.PAUSE, "ann@host-a", "2026-01-02T00:00:00Z")
STATUS = OperationStatus(OperationState.RUNNING, "now", "copying", "ben", answered=ASKED)
WHOLE = OperationRecord(
    "id",
    OperationKind.REASSIGNMENT,
    "{}",
    "sha256:0",
    "c",
    "now",
    ANN,
    {tp("a-0"): (1, 2)},
    ((0,),),
    (tp("a-0"),),
    (TopicRecipe("b", {0: (1,)}, {"k": "v"}),),
    throttle=ThrottleRecord(5, {BROKER_1: {RATES[0]: ConfigChange("1", "2")}}),
    to_copy_bytes=5,
)


@pytest.mark.parametrize("other", [[1], {"a": 1}, 1.5])
@pytest.mark.parametrize(
    "path",
    [
        "state",
        "updated_at",
        "message",
        "by",
        "throttle_removed",
        "answered|by",
        "answered|stop",
        "kind",
        "plan_digest",
        "created_at",
        "author|user",
        "author|pid",
        "changes|0|message",
        "file_digest",
        "to_copy_bytes",
        "plan_name",
        "rolls_back",
    ],
)
def test_a_status_of_other_types_is_refused(path: str, other: object) -> None:
    """A message that is a number was a traceback of every `status` and `history`."""
    value = json.loads(restate(encode_status(STATUS, WHOLE), STATUS))
    assert refused(lambda: decode_listing("id", put(value, path, other)))


@pytest.mark.parametrize("other", [[[1]], {"a": 1}, 1.5])
@pytest.mark.parametrize(
    "path",
    [
        "operation_id",
        "kind",
        "plan_text",
        "plan_digest",
        "cluster_id",
        "created_at",
        "author|host",
        "origin|0|0",
        "origin|0|1",
        "origin|0|2",
        "waves|0",
        "targets|0|1",
        "recipes|0|topic",
        "recipes|0|replicas|0|1",
        "recipes|0|configs|k",
        "throttle|rate",
        f"throttle|changes|brokers/1|{RATES[0]}|previous",
    ],
)
def test_a_record_of_other_types_is_refused(path: str, other: object) -> None:
    value = json.loads(zlib.decompress(encode_record(WHOLE)))
    assert refused(lambda: decode_record(zlib.compress(put(value, path, other)), "id"))


@pytest.mark.parametrize("other", [[[1]], {"a": 1}, 1.5])
@pytest.mark.parametrize(
    "path",
    ["number", "kind", "at", "wave", "partitions", "topics|0", "refused|0|2", "replaced|path"],
)
def test_a_step_of_other_types_is_refused(path: str, other: object) -> None:
    """Whatever the kind of the step."""
    step = json.loads(encode_step(HealStep(1, "now", Replaced("/a", 1, b""))))
    step |= {"wave": 0, "topics": ["a"], "refused": [["a", 0, "no"]]}
    assert refused(lambda: decode_step(put(step, path, other)))


@pytest.mark.parametrize("odd", [{"wave": None}, {"another": 1}])
def test_a_step_without_a_field_of_its_kind_and_one_with_an_odd_field_are_refused(
    odd: dict[str, Any],
) -> None:
    step = json.loads(encode_step(WaveStep(1, "now", 0)))
    assert refused(lambda: decode_step(json.dumps(step | odd).encode()))


@pytest.mark.parametrize(
    "changed",
    [
        {"operation_id": 5},
        {"started_at": []},
        {"session_timeout_s": "z"},
        {"session_timeout_s": math.nan},
        {"session_timeout_s": -1},
        {"author": {"user": "a", "host": "b", "pid": "x"}},
        {"author": 5},
    ],
)
def test_a_holder_of_other_types_is_unknown(changed: dict[str, object]) -> None:
    """Whether its process exists was asked of the system, and its lease was reckoned with."""
    holder = Holder(ANN, "id", "now", 6.0)
    assert decode_holder(encode_holder(holder)) == holder
    assert (
        decode_holder(json.dumps({**json.loads(encode_holder(holder)), **changed})).author.user
        == "unknown"
    )


@pytest.mark.parametrize("rate", [0, -1, 2**63, 1.5, "5", None, True])
def test_a_rate_that_no_broker_takes_is_refused(rate: object) -> None:
    """Whoever may ask for a throttle asked for one that ended the runner with the brokers'
    refusal.
    """
    asked = {"rate": rate, "by": "ann", "at": "now"}
    assert refused(lambda: decode_throttle_request(json.dumps(asked).encode()))
    record = put(json.loads(zlib.decompress(encode_record(WHOLE))), "throttle|rate", rate)
    assert refused(lambda: decode_record(zlib.compress(record), "id"))
