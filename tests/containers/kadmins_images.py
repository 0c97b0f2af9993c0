"""kadmin's own images: the command line on the brokers' network, the planner and the sandbox with
their own Java.

Run by test_containers.py, where there is a Docker daemon.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest
from build_images import EXTRAS, build_image
from locked import needed
from packaging.utils import canonicalize_name
from support.documents.plans import document, reassignment
from support.release.environments import TOOLS, succeed
from testcontainers.core.container import DockerContainer
from testcontainers.core.docker_client import DockerClient

from kadmin import __version__
from kadmin.cluster.model import TopicPartition
from kadmin.java import cache_folder
from kadmin.sandbox.jars import DEFAULT_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from support.live.cluster import Cluster
    from testcontainers.core.network import Network

ROOT = Path(__file__).parents[2]
SANDBOX = "/home/kadmin/sandbox"
CONNECT = "zookeeper:2181/kafka"
WAITS = "import signal; signal.sigwait({signal.SIGTERM})"
MB = 1_000_000
MOST_BYTES = {"kadmin": 200 * MB, "kadmin-planner": 1_300 * MB}


@pytest.fixture(scope="session", params=EXTRAS)
def image(request: pytest.FixtureRequest) -> Iterator[str]:
    docker = DockerClient().client
    name = build_image(request.param, TOOLS, None)
    yield name
    docker.images.remove(name)


@contextmanager
def started(
    image: str,
    work: Path,
    network: Network | None = None,
    mounts: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    **variables: str,
) -> Iterator[DockerContainer]:
    """A container of an image that waits for commands, with a folder as its workplace."""
    work.chmod(0o777)
    container = (
        DockerContainer(image)
        .with_kwargs(entrypoint=["python", "-c", WAITS])
        .with_envs(**variables)
    )
    for folder, (place, mode) in ({str(work): ("/work", "rw")} | dict(mounts)).items():
        container.with_volume_mapping(folder, place, mode)
    if network is None:
        container.with_kwargs(entrypoint=["python", "-c", WAITS], network_mode="none")
    else:
        container.with_network(network)
    with container:
        yield container


def kadmin(container: DockerContainer, *arguments: str, status: int = 0) -> str:
    """Run kadmin in a container and return its answer, or what it wrote about its failure."""
    done = container.get_wrapped_container().exec_run(["kadmin", *arguments], demux=True)
    out, err = ((stream or b"").decode() for stream in done.output)
    assert done.exit_code == status, out + err
    return str(out if status == 0 else err)


def test_an_image_is_small_and_its_user_is_not_root(image: str, tmp_path: Path) -> None:
    size = DockerClient().client.images.get(image).attrs["Size"]
    assert size < MOST_BYTES[image.partition(":")[0]]
    with started(image, tmp_path) as container:
        question = [
            "python",
            "-c",
            "import os, pwd; print(os.getuid(), pwd.getpwuid(os.getuid()).pw_name)",
        ]
        assert container.exec(question).output.decode().split() == ["65532", "kadmin"]
        assert kadmin(container, "--version") == f"kadmin {__version__}\n"


def test_an_image_says_what_it_was_made_of_and_whether_it_starts(
    image: str, tmp_path: Path
) -> None:
    config = DockerClient().client.images.get(image).attrs["Config"]
    labels = {key.rpartition(".")[2]: value for key, value in config["Labels"].items()}
    commit = succeed(["git", "rev-parse", "HEAD"], ROOT).strip()
    assert (labels["version"], labels["revision"].removesuffix("-dirty")) == (__version__, commit)
    _, *health = config["Healthcheck"]["Test"]
    with started(image, tmp_path) as container:
        assert container.exec(health).exit_code == 0
        # The base of this machine's Python has no other programs.
        shown = container.exec(["python", "-c", "print(open('/opt/kadmin/sbom.cdx.json').read())"])
    bill = json.loads(shown.output)
    names = {canonicalize_name(each["name"]) for each in bill["components"]}
    assert names == needed(EXTRAS[image.partition(":")[0]])


def test_an_image_reassigns_on_the_network_of_the_brokers(
    image: str, cluster: Cluster, network: Network, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))
    with started(image, tmp_path, network) as container:
        kadmin(container, "validate", "plan.yaml")
        kadmin(container, "apply", "plan.yaml", "--yes", "-z", CONNECT)
        kadmin(container, "verify", "plan.yaml", "-z", CONNECT)
        by_api = kadmin(container, "inspect", "brokers", "-b", "broker-1:9092", "-o", "json")
    assert list(cluster.state(topic).replicas(TopicPartition(topic, 0)) or ()) == [2, 3]
    assert {broker["broker_id"] for broker in json.loads(by_api)["brokers"]} == {1, 2, 3, 4}


@pytest.mark.parametrize("image", ["kadmin"], indirect=True)
def test_the_command_line_alone_says_what_the_other_image_has(image: str, tmp_path: Path) -> None:
    with started(image, tmp_path) as container:
        answer = kadmin(
            container,
            "propose",
            "rebalance",
            "r.yaml",
            "--inventory",
            "i",
            "--out",
            "plan.yaml",
            status=64,
        )
        assert "kadmin-kafka[planner]" in answer


@pytest.mark.parametrize("image", ["kadmin-planner"], indirect=True)
def test_the_planner_proposes_on_spark(
    image: str, cluster: Cluster, network: Network, tmp_path: Path
) -> None:
    topic = cluster.create_topic({number: [1, 2] for number in range(6)})
    (tmp_path / "request.yaml").write_text(
        f"kind: RebalanceRequest\nspec: {{topics: {{include: [{topic}]}}}}\n"
    )
    with started(image, tmp_path, network) as container:
        kadmin(container, "snapshot", "-z", CONNECT, "--out", "inventory")
        propose = (
            "propose",
            "rebalance",
            "request.yaml",
            "--inventory",
            "inventory",
            "--engine",
            "spark",
        )
        kadmin(container, *propose, "--out", "plan.yaml")
        kadmin(container, "validate", "plan.yaml", "--inventory", "inventory")


@pytest.mark.parametrize("image", ["kadmin-planner"], indirect=True)
def test_the_planner_runs_a_sandbox_with_its_own_java(image: str, tmp_path: Path) -> None:
    # No way leads from here to a repository: the jars are those that this machine has fetched for
    # its own sandboxes.
    cache = tmp_path / "cache"
    (cache / "jars").mkdir(parents=True)
    cache.chmod(0o777)
    version = os.environ.get("KADMIN_CONTAINER_VERSION", DEFAULT_VERSION)
    jars = str(cache_folder(os.environ) / "jars")
    mounts = {str(cache): ("/cache", "rw"), jars: ("/cache/jars", "ro")}
    with started(image, tmp_path, mounts=mounts, KADMIN_CACHE="/cache") as container:
        kadmin(container, "sandbox", "up", "--dir", SANDBOX, "--version", version, "--brokers", "1")
        status = kadmin(container, "sandbox", "status", "--dir", SANDBOX, "-o", "json")
        kadmin(container, "inspect", "cluster", "-z", json.loads(status)["connect"])
        kadmin(container, "sandbox", "down", "--dir", SANDBOX)
