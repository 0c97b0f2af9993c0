from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity

kinds = st.sampled_from(["topics", "brokers", "users", "clients", "ips"])
entities = st.builds(ConfigEntity, kinds, st.text())


@given(entities, entities)
def test_an_entity_is_its_text_and_is_ordered_as_its_text(
    one: ConfigEntity, other: ConfigEntity
) -> None:
    assert ConfigEntity.parse(str(one)) == one
    assert (one < other) == (str(one) < str(other))


def test_brokers_have_an_id_and_topics_and_the_default_of_all_brokers_have_none() -> None:
    named = (
        ConfigEntity.of_broker(3),
        ConfigEntity.of_topic("3"),
        DEFAULT_ENTITY,
        ConfigEntity.parse("brokers/²"),
    )
    assert [each.broker_id for each in named] == [3, None, None, None]
    assert [str(each) for each in named[:3]] == ["brokers/3", "topics/3", "brokers/<default>"]
