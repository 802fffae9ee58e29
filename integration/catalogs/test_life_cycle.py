"""The whole life of materialized views in each kind of catalog, with the profiles of docs/catalogs.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from integration.support.living import live
from integration.support.servers.gate import CLIENT, SECRET, TOKEN, gate
from integration.support.servers.hive import hive_metastore
from integration.support.servers.postgres import postgres
from integration.support.servers.rest import rest_catalog
from integration.support.servers.s3 import s3
from integration.support.spark_settings import SPARK
from tests.support.docs_profiles import docs_profiles

PAGE = Path(__file__).parents[2] / "docs" / "catalogs.md"


@dataclass(frozen=True)
class Place:
    """What stands in a page of the docs for the addresses of the servers that run here, and the secrets."""

    addresses: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def sqlite(folder: Path) -> Iterator[Place]:
    yield Place()


@contextmanager
def postgresql(folder: Path) -> Iterator[Place]:
    with postgres() as database:
        yield Place(
            {"db.example.com:5432": f"{database.host}:{database.port}"},
            {"DBT_ENV_SECRET_LAKE_PASSWORD": database.password},
        )


@contextmanager
def rest(folder: Path) -> Iterator[Place]:
    with rest_catalog(folder / "server") as behind, gate(behind) as made:
        yield Place(
            {"https://catalog.example.com/api/catalog": made.uri},
            {"DBT_ENV_SECRET_LAKE_CREDENTIAL": f"{CLIENT}:{SECRET}"},
        )
        assert made.refused == []


@contextmanager
def hive(folder: Path) -> Iterator[Place]:
    with hive_metastore(folder / "server") as uri:
        yield Place({"thrift://metastore.example.com:9083": uri})


@contextmanager
def postgresql_and_s3(folder: Path) -> Iterator[Place]:
    with postgresql(folder) as place, s3() as store:
        yield Place(
            {**place.addresses, "https://s3.example.com": store.endpoint, "my-bucket": store.bucket},
            {
                **place.secrets,
                "DBT_ENV_SECRET_S3_KEY_ID": store.access_key,
                "DBT_ENV_SECRET_S3_KEY": store.secret_key,
            },
        )


SECTIONS: dict[str, Callable[[Path], AbstractContextManager[Place]]] = {
    "SQLite": sqlite,
    "PostgreSQL": postgresql,
    "REST": rest,
    "Hive metastore": hive,
    "S3": postgresql_and_s3,
}


@pytest.mark.long
def test_life_cycle_in_a_rest_catalog(tmp_path: Path) -> None:
    """As people have it who read their own lakes: Spark in the dbt process, with little memory."""
    with rest(tmp_path) as place:
        target = {**profile("REST", place), "server_side_parameters": SPARK}
        live(target, tmp_path / "project", place.secrets)
        assert secrets_in(tmp_path / "project", place) == []


@pytest.mark.long
@pytest.mark.parametrize("section", SECTIONS)
def test_profile_of_the_docs(section: str, tmp_path: Path) -> None:
    with SECTIONS[section](tmp_path) as place:
        live(profile(section, place), tmp_path / "project", place.secrets)
        assert secrets_in(tmp_path / "project", place) == []


def profile(section: str, place: Place) -> dict[str, Any]:
    """Return the target of a section with nothing but addresses replaced."""
    text = docs_profiles(PAGE)[section]
    for example, address in place.addresses.items():
        assert example in text
        text = text.replace(example, address)
    outputs: dict[str, Any] = yaml.safe_load(text)["shop"]["outputs"]
    (target,) = outputs.values()
    assert isinstance(target, dict)
    return target


def secrets_in(project: Path, place: Place) -> list[str]:
    """Return the files of a project that hold a secret: logs and target/, and the profile too."""
    secrets = [part for value in (*place.secrets.values(), TOKEN) for part in {value, value.rpartition(":")[2]}]
    files = [file for file in project.rglob("*") if file.is_file() and "warehouse" not in file.parts]
    return [str(file) for file in files if any(secret.encode() in file.read_bytes() for secret in secrets)]
