"""One description of a catalog in, its two spellings out: Spark configuration and PyIceberg properties.

The profile speaks Iceberg's own (Java) names. Spark takes them as they are; PyIceberg shares most of them
but calls a JDBC catalog `sql` and wants a SQLAlchemy address.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL

from dbt.adapters.icebergmv.maintenance.catalog.opening import readable_type
from dbt.adapters.icebergmv.maintenance.errors import InvalidCatalog
from dbt.adapters.icebergmv.postgresql_address import sqlalchemy_address

SPARK_CATALOG_CLASS = "org.apache.iceberg.spark.SparkCatalog"
SQLITE_FILE = "catalog.db"
# Two processes (dbt and PyIceberg, or two dbt runs) share the file: WAL lets readers pass a writer.
SQLITE_OPTIONS = "journal_mode=WAL&busy_timeout=10000"
RESOLVING_FILE_IO = "org.apache.iceberg.io.ResolvingFileIO"
_PYICEBERG_NAMES = {
    "client.assume-role.arn": "client.role-arn",
    "client.assume-role.session-name": "client.role-session-name",
}


@dataclass(frozen=True)
class CatalogSettings:
    """A catalog as both engines want it.

    `spark` holds the keys without the prefix `spark.sql.catalog.<name>.`; `pyiceberg` goes to `load_catalog`.
    `supports_views` is false for a JDBC catalog in the old layout (V0). `drivers` are what Spark needs beside Iceberg,
    as keys of `spark.drivers.DRIVERS`. `folder` is the warehouse folder that must exist before anything is opened, None
    when there is none to make.
    """

    name: str
    spark: Mapping[str, str]
    pyiceberg: Mapping[str, str]
    supports_views: bool
    drivers: tuple[str, ...]
    folder: str | None

    def spark_conf(self) -> dict[str, str]:
        """Return the settings as Spark configuration keys, the catalog's class included."""
        prefix = f"spark.sql.catalog.{self.name}"
        conf = {prefix: SPARK_CATALOG_CLASS}
        conf.update({f"{prefix}.{key}": value for key, value in self.spark.items()})
        return conf


def catalog_settings(
    name: str, warehouse: str | None, properties: Mapping[str, str], project_dir: str
) -> CatalogSettings:
    """Describe the catalog `name` for both engines.

    `warehouse` alone gives the default layout: a JDBC catalog on SQLite in that folder, the data beside it.
    `properties` describe any other catalog; a `warehouse` given next to them is used when they name none.
    Relative paths are taken from `project_dir`. Raises InvalidCatalog when neither is given, or no reader is for it.
    """
    if not properties:
        if not warehouse:
            raise InvalidCatalog(
                "the profile gives neither `warehouse` nor `catalog_properties`. "
                "Describe it there; `warehouse: ./warehouse` is one in a local folder.",
                subject=f"Cannot open the catalog `{name}`",
            )
        return _sqlite(name, absolute_path(warehouse, project_dir))
    merged = {key: str(value) for key, value in properties.items()}
    if warehouse and "warehouse" not in merged:
        merged["warehouse"] = warehouse
    if "type" not in merged and "catalog-impl" not in merged:
        raise InvalidCatalog(
            "`catalog_properties` has neither `type` nor `catalog-impl`. Add one, for example `type: rest`.",
            subject=f"Cannot open the catalog `{name}`",
        )
    return _described(name, merged, project_dir)


def settings_for_spark(name: str, properties: Mapping[str, str], project_dir: str) -> CatalogSettings:
    """Describe the catalog `name` for Spark alone: PyIceberg cannot open it.

    Spark takes the properties as they are, but for a Hadoop catalog's folder, which is taken from `project_dir`.
    """
    spark = dict(properties)
    is_hadoop = spark.get("type") == "hadoop" or spark.get("catalog-impl", "").endswith(".HadoopCatalog")
    if is_hadoop and "warehouse" in spark:
        spark["warehouse"] = absolute_path(spark["warehouse"], project_dir)
    return CatalogSettings(
        name=name,
        spark=spark,
        pyiceberg={},
        supports_views=True,
        drivers=tuple(_drivers(properties)),
        folder=None,
    )


def make_folder(settings: CatalogSettings) -> None:
    """Make the warehouse folder when the catalog needs one; raises OSError when that fails."""
    if settings.folder is not None:
        Path(settings.folder).mkdir(parents=True, exist_ok=True)


def absolute_path(path: str, project_dir: str) -> str:
    """Return a local path as an absolute one; addresses with a scheme (s3://, file:/) stay as they are."""
    scheme = path.split(":", 1)[0] if ":" in path else ""
    if scheme.isalnum() and len(scheme) > 1 and path[len(scheme) + 1 :].startswith("/"):
        return path
    return str((Path(project_dir) / Path(path).expanduser()).resolve())


def _sqlite(name: str, folder: str) -> CatalogSettings:
    file = f"{folder}/{SQLITE_FILE}"
    if "?" in folder:
        raise InvalidCatalog(
            f"the warehouse folder {folder!r} has a `?` in its name, where the SQLite driver takes options to begin. "
            "Choose another folder.",
            subject=f"Cannot open the catalog `{name}`",
        )
    return CatalogSettings(
        name=name,
        spark={
            "type": "jdbc",
            "uri": f"jdbc:sqlite:{file}?{SQLITE_OPTIONS}",
            "warehouse": folder,
            "jdbc.schema-version": "V1",
        },
        pyiceberg={"type": "sql", "uri": _sqlite_uri(file), "warehouse": folder},
        supports_views=True,
        drivers=("sqlite",),
        folder=folder,
    )


def _sqlite_uri(file: str) -> str:
    return URL.create("sqlite", database=file).render_as_string()


def _described(name: str, properties: dict[str, str], project_dir: str) -> CatalogSettings:
    kind = readable_type(name, properties.get("type", ""), properties.get("catalog-impl", ""))
    if kind == "hive" and not properties.get("uri"):
        raise InvalidCatalog(
            "`catalog_properties` has no `uri`. Add the address of the metastore, `uri: thrift://<host>:9083`.",
            subject=f"Cannot open the catalog `{name}`",
        )
    spark = dict(properties)
    # A REST catalog's warehouse is a name that its server knows.
    if kind in ("jdbc", "hive") and "warehouse" in spark:
        spark["warehouse"] = absolute_path(spark["warehouse"], project_dir)
        if _is_on_s3(spark):
            # Their default knows Hadoop's file systems alone; a REST catalog's default knows S3.
            spark.setdefault("io-impl", RESOLVING_FILE_IO)
    if kind == "jdbc":
        if spark.get("uri", "").startswith("jdbc:sqlite:"):
            spark["uri"] = _absolute_sqlite(spark["uri"], project_dir)
        spark.setdefault("jdbc.schema-version", "V1")
    return CatalogSettings(
        name=name,
        spark=spark,
        pyiceberg=_pyiceberg(kind, spark),
        supports_views=spark.get("jdbc.schema-version", "").upper() != "V0",
        drivers=tuple(_drivers(spark)),
        folder=None,
    )


def _drivers(spark: Mapping[str, str]) -> Iterator[str]:
    for database in ("sqlite", "postgresql"):
        if spark.get("uri", "").startswith(f"jdbc:{database}:"):
            yield database
    # A REST server may keep tables on S3 without a word of it in the profile; any property of S3's says so. What signs
    # requests for AWS is in the same jar.
    is_signed = spark.get("rest.sigv4-enabled", "").lower() == "true"
    if is_signed or _is_on_s3(spark) or any(key.startswith(("s3.", "client.")) for key in spark):
        yield "s3"


def _is_on_s3(spark: Mapping[str, str]) -> bool:
    return spark.get("warehouse", "").startswith("s3://") or spark.get("io-impl", "").endswith(".S3FileIO")


def _pyiceberg(kind: str, spark: Mapping[str, str]) -> dict[str, str]:
    properties = {
        _PYICEBERG_NAMES.get(key, key): value for key, value in spark.items() if key not in {"catalog-impl", "io-impl"}
    }
    path_style = properties.pop("s3.path-style-access", None)
    if path_style is not None:
        properties["s3.force-virtual-addressing"] = str(path_style.lower() != "true").lower()
    if kind != "jdbc":
        # Iceberg loads the other snapshots when it needs them, PyIceberg never. The word of a client comes before the
        # default that a server gives.
        every_snapshot = {"snapshot-loading-mode": "all"} if kind in ("rest", "") else {}
        return {**properties, **every_snapshot, **({"type": kind} if kind else {})}
    for key in [key for key in properties if key.startswith("jdbc.")]:
        del properties[key]
    return {**properties, "type": "sql", "uri": _sqlalchemy_uri(spark)}


def _sqlalchemy_uri(spark: Mapping[str, str]) -> str:
    """Turn a JDBC address and the `jdbc.*` properties of its driver into SQLAlchemy's form."""
    uri = spark.get("uri", "")
    if uri.startswith("jdbc:sqlite:"):
        return _sqlite_uri(uri.removeprefix("jdbc:sqlite:").split("?", 1)[0])
    if not uri.startswith("jdbc:postgresql:"):
        raise InvalidCatalog(
            "only SQLite and PostgreSQL are known. "
            "Use `jdbc:sqlite:<file>` or `jdbc:postgresql://<host>/<database>`, or another catalog type.",
            subject=f"Cannot read a JDBC catalog of the kind `{':'.join(uri.split(':')[:2])}`",
        )
    return sqlalchemy_address(
        uri, {key.removeprefix("jdbc."): value for key, value in spark.items() if key.startswith("jdbc.")}
    )


def _absolute_sqlite(uri: str, project_dir: str) -> str:
    path, _, options = uri.removeprefix("jdbc:sqlite:").partition("?")
    if path.startswith((":memory:", "file:")):
        raise InvalidCatalog(
            f"Cannot share a SQLite catalog at `{path}`: dbt and Spark open it separately. Give a plain file path."
        )
    return f"jdbc:sqlite:{absolute_path(path, project_dir)}?{options or SQLITE_OPTIONS}"
