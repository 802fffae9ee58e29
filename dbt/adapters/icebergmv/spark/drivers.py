"""What Spark needs beside Iceberg for a database or an object store, and how its lack shows."""

from __future__ import annotations

import re

DRIVERS = {
    "sqlite": "org.xerial:sqlite-jdbc:3.50.3.0",
    "postgresql": "org.postgresql:postgresql:42.7.14",
    "s3": "org.apache.iceberg:iceberg-aws-bundle:{iceberg}",
}
"""Maven coordinates; a bundle has Iceberg's own version."""

_SIGNS = {
    "sqlite": re.compile(r"No suitable driver found for jdbc:sqlite"),
    "postgresql": re.compile(r"No suitable driver found for jdbc:postgresql"),
    "s3": re.compile(r"(?:ClassNotFoundException|NoClassDefFoundError): software[./]amazon[./]awssdk"),
}
_MENDS = {
    "s3": "Add `client.region: <region>` to `catalog_properties`, which brings it; a Spark server has jars of its own",
}


def lack_of_driver(text: str) -> str | None:
    """Return what to say of an error of Spark that a missing driver caused, None for any other."""
    for driver, sign in _SIGNS.items():
        if sign.search(text):
            artifact = DRIVERS[driver].format(iceberg="<version of Iceberg>")
            mend = _MENDS.get(driver, f"Add `{artifact}` to `jars` in the profile, or to the jars of the Spark server")
            return f"Cannot use a catalog: Spark was started without the jar {artifact.split(':')[1]}. {mend}."
    return None
