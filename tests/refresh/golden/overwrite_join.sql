-- The null-supplying side of a join changed: both sides are read for its region alone.
-- refresh_kind: overwrite
-- refresh_reason: regions: 1 partition changed

SET;

DESCRIBE QUERY SELECT * FROM (
SELECT o.region, r.manager, sum(o.amount) AS total
FROM `lake`.`ns`.`orders` VERSION AS OF 1001 o LEFT JOIN `lake`.`ns`.`regions` VERSION AS OF 2002 r ON o.region = r.region GROUP BY o.region, r.manager
);

ALTER TABLE `lake`.`ns`.`__mv_storage__sales` CREATE BRANCH `icebergmv_20240101T000000_00000001` AS OF VERSION 3002 RETAIN 36500 DAYS;

INSERT INTO `lake`.`ns`.`__mv_storage__sales`.`branch_icebergmv_20240101T000000_00000001` WITH (`snapshot-property.refresh-state` = '{"refresh-start-timestamp-ms": 1704067200000, "source-states": [{"type": "table", "catalog": "lake", "namespace": ["ns"], "name": "orders", "uuid": "00000000-0000-0000-0000-000000000001", "snapshot-id": 1001}, {"type": "table", "catalog": "lake", "namespace": ["ns"], "name": "regions", "uuid": "00000000-0000-0000-0000-000000000002", "snapshot-id": 2002}]}', `snapshot-property.icebergmv.state` = '{"icebergmv.format-version": "1", "icebergmv.definition": "", "icebergmv.definition-hash": "0000000000000001", "icebergmv.storage-table": "lake.ns.__mv_storage__sales", "icebergmv.storage-uuid": "", "icebergmv.storage-snapshot-id": "0", "icebergmv.base-tables": "[{\\"name\\": \\"lake.ns.orders\\", \\"storage\\": \\"lake.ns.orders\\", \\"uuid\\": \\"00000000-0000-0000-0000-000000000001\\", \\"snapshot-id\\": 1001, \\"schema-id\\": 0, \\"metadata-location\\": \\"file:///warehouse/ns/orders/metadata/00001-00000000-0000-0000-0000-000000000003.metadata.json\\"}, {\\"name\\": \\"lake.ns.regions\\", \\"storage\\": \\"lake.ns.regions\\", \\"uuid\\": \\"00000000-0000-0000-0000-000000000002\\", \\"snapshot-id\\": 2002, \\"schema-id\\": 0, \\"metadata-location\\": \\"file:///warehouse/ns/regions/metadata/00002-00000000-0000-0000-0000-000000000004.metadata.json\\"}]", "icebergmv.refresh-kind": "overwrite", "icebergmv.refresh-reason": "regions: 1 partition changed", "icebergmv.started-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.refreshed-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.owner": "ann", "icebergmv.settings": "{\\"spark.sql.session.timeZone\\": \\"UTC\\"}", "icebergmv.config": "{\\"partition-by\\": null}", "icebergmv.partial": "", "icebergmv.views": "[]", "icebergmv.read-hash": "", "icebergmv.view-sql-hash": "", "icebergmv.stale-read-behavior": "use_data_table", "icebergmv.clock": "{}", "icebergmv.default-namespace": "ns", "icebergmv.tie-breakers": "[]", "icebergmv.vain-questions": "", "icebergmv.checksum": "0000000000000002", "storage-form": {"schema-id": 0, "spec-id": 0}}', `distribution-mode` = 'none') REPLACE WHERE (`region` <=> 'EU') SELECT `region`, `manager`, `total` FROM (
SELECT o.region, r.manager, sum(o.amount) AS total
FROM (SELECT * FROM `lake`.`ns`.`orders` VERSION AS OF 1001 WHERE (`region` <=> 'EU')) o LEFT JOIN (SELECT * FROM `lake`.`ns`.`regions` VERSION AS OF 2002 WHERE (`region` <=> 'EU')) r ON o.region = r.region GROUP BY o.region, r.manager
) WHERE (`region` <=> 'EU');

SET;

CALL `lake`.system.fast_forward(table => '`lake`.`ns`.`__mv_storage__sales`', branch => 'main', to => 'icebergmv_20240101T000000_00000001');

CREATE OR REPLACE VIEW `lake`.`ns`.`sales` (`region`, `manager`, `total`) COMMENT '' TBLPROPERTIES (
  'icebergmv.format-version' = '1',
  'icebergmv.definition' = 'SELECT o.region, r.manager, sum(o.amount) AS total\u000aFROM orders o LEFT JOIN regions r ON o.region = r.region GROUP BY o.region, r.manager',
  'icebergmv.definition-hash' = '0000000000000001',
  'icebergmv.storage-table' = 'lake.ns.__mv_storage__sales',
  'icebergmv.storage-uuid' = '00000000-0000-0000-0000-000000000005',
  'icebergmv.storage-snapshot-id' = '3003',
  'icebergmv.base-tables' = '[{"name": "lake.ns.orders", "storage": "lake.ns.orders", "uuid": "00000000-0000-0000-0000-000000000001", "snapshot-id": 1001, "schema-id": 0, "metadata-location": "file:///warehouse/ns/orders/metadata/00001-00000000-0000-0000-0000-000000000003.metadata.json"}, {"name": "lake.ns.regions", "storage": "lake.ns.regions", "uuid": "00000000-0000-0000-0000-000000000002", "snapshot-id": 2002, "schema-id": 0, "metadata-location": "file:///warehouse/ns/regions/metadata/00002-00000000-0000-0000-0000-000000000004.metadata.json"}]',
  'icebergmv.refresh-kind' = 'overwrite',
  'icebergmv.refresh-reason' = 'regions: 1 partition changed',
  'icebergmv.started-at' = '2024-01-01T00:00:00.000+00:00',
  'icebergmv.refreshed-at' = '2024-01-01T00:00:00.000+00:00',
  'icebergmv.owner' = 'ann',
  'icebergmv.settings' = '{"spark.sql.session.timeZone": "UTC"}',
  'icebergmv.config' = '{"column-comments": {}, "comment": null, "partition-by": null, "stale-read-behavior": "use_data_table", "staleness-window": null, "tblproperties": {}}',
  'icebergmv.partial' = '',
  'icebergmv.views' = '[]',
  'icebergmv.read-hash' = '',
  'icebergmv.view-sql-hash' = '',
  'icebergmv.stale-read-behavior' = 'use_data_table',
  'icebergmv.clock' = '{}',
  'icebergmv.default-namespace' = 'ns',
  'icebergmv.tie-breakers' = '[]',
  'icebergmv.full-seconds' = '1.5',
  'icebergmv.full-rows' = '4',
  'icebergmv.vain-questions' = '',
  'icebergmv.checksum' = '0000000000000002', 'version.history.num-entries' = '10') AS SELECT `region`, `manager`, `total` FROM `lake`.`ns`.`__mv_storage__sales` VERSION AS OF 3003;
