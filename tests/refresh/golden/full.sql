-- Another SELECT: everything is rebuilt.
-- refresh_kind: full
-- refresh_reason: the SELECT changed

SET;

DESCRIBE QUERY SELECT * FROM (
SELECT region, count(*) AS orders FROM `lake`.`ns`.`orders` VERSION AS OF 1001 GROUP BY region
);

DESCRIBE QUERY SELECT * FROM (
SELECT * FROM `lake`.`ns`.`__mv_storage__sales`
);

CREATE OR REPLACE TABLE `lake`.`ns`.`__mv_storage__sales` USING iceberg PARTITIONED BY (`region`) TBLPROPERTIES ('write.spark.fanout.enabled' = 'false',
  'icebergmv.storage-of' = 'lake.ns.sales') AS SELECT `region`, `orders` FROM (
SELECT region, count(*) AS orders FROM `lake`.`ns`.`orders` VERSION AS OF 1001 GROUP BY region
) WHERE false;

ALTER TABLE `lake`.`ns`.`__mv_storage__sales` CREATE BRANCH `icebergmv_20240101T000000_00000001` AS OF VERSION 3001 RETAIN 36500 DAYS;

INSERT INTO `lake`.`ns`.`__mv_storage__sales`.`branch_icebergmv_20240101T000000_00000001` WITH (`snapshot-property.refresh-state` = '{"refresh-start-timestamp-ms": 1704067200000, "source-states": [{"type": "table", "catalog": "lake", "namespace": ["ns"], "name": "orders", "uuid": "00000000-0000-0000-0000-000000000001", "snapshot-id": 1001}]}', `snapshot-property.icebergmv.state` = '{"icebergmv.format-version": "1", "icebergmv.definition": "", "icebergmv.definition-hash": "0000000000000001", "icebergmv.storage-table": "lake.ns.__mv_storage__sales", "icebergmv.storage-uuid": "", "icebergmv.storage-snapshot-id": "0", "icebergmv.base-tables": "[{\\"name\\": \\"lake.ns.orders\\", \\"storage\\": \\"lake.ns.orders\\", \\"uuid\\": \\"00000000-0000-0000-0000-000000000001\\", \\"snapshot-id\\": 1001, \\"schema-id\\": 0, \\"metadata-location\\": \\"file:///warehouse/ns/orders/metadata/00001-00000000-0000-0000-0000-000000000002.metadata.json\\"}]", "icebergmv.refresh-kind": "full", "icebergmv.refresh-reason": "the SELECT changed", "icebergmv.started-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.refreshed-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.owner": "ann", "icebergmv.settings": "{\\"spark.sql.session.timeZone\\": \\"UTC\\"}", "icebergmv.config": "{\\"partition-by\\": null}", "icebergmv.partial": "", "icebergmv.views": "[]", "icebergmv.read-hash": "", "icebergmv.view-sql-hash": "", "icebergmv.stale-read-behavior": "use_data_table", "icebergmv.clock": "{}", "icebergmv.default-namespace": "ns", "icebergmv.tie-breakers": "[]", "icebergmv.vain-questions": "", "icebergmv.checksum": "0000000000000002", "storage-form": {"schema-id": 0, "spec-id": 0}}') REPLACE WHERE true SELECT `region`, `orders` FROM (
SELECT region, count(*) AS orders FROM `lake`.`ns`.`orders` VERSION AS OF 1001 GROUP BY region
);

SET;

CALL `lake`.system.fast_forward(table => '`lake`.`ns`.`__mv_storage__sales`', branch => 'main', to => 'icebergmv_20240101T000000_00000001');

CREATE OR REPLACE VIEW `lake`.`ns`.`sales` (`region`, `orders`) COMMENT '' TBLPROPERTIES (
  'icebergmv.format-version' = '1',
  'icebergmv.definition' = 'SELECT region, count(*) AS orders FROM orders GROUP BY region',
  'icebergmv.definition-hash' = '0000000000000001',
  'icebergmv.storage-table' = 'lake.ns.__mv_storage__sales',
  'icebergmv.storage-uuid' = '00000000-0000-0000-0000-000000000003',
  'icebergmv.storage-snapshot-id' = '3002',
  'icebergmv.base-tables' = '[{"name": "lake.ns.orders", "storage": "lake.ns.orders", "uuid": "00000000-0000-0000-0000-000000000001", "snapshot-id": 1001, "schema-id": 0, "metadata-location": "file:///warehouse/ns/orders/metadata/00001-00000000-0000-0000-0000-000000000002.metadata.json"}]',
  'icebergmv.refresh-kind' = 'full',
  'icebergmv.refresh-reason' = 'the SELECT changed',
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
  'icebergmv.full-rows' = '3',
  'icebergmv.vain-questions' = '',
  'icebergmv.checksum' = '0000000000000002', 'version.history.num-entries' = '10') AS SELECT `region`, `orders` FROM `lake`.`ns`.`__mv_storage__sales` VERSION AS OF 3002;
