-- The storage is not partitioned by the region: its rows are deleted, then the new ones inserted.
-- refresh_kind: overwrite
-- refresh_reason: orders: 1 partition changed

SET;

DESCRIBE QUERY SELECT * FROM (
SELECT region, sum(amount) AS total FROM `lake`.`ns`.`orders` VERSION AS OF 1002 GROUP BY region
);

ALTER TABLE `lake`.`ns`.`__mv_storage__sales` CREATE BRANCH `icebergmv_20240101T000000_00000001` AS OF VERSION 3002 RETAIN 36500 DAYS;

DELETE FROM `lake`.`ns`.`__mv_storage__sales`.`branch_icebergmv_20240101T000000_00000001` WHERE (`region` <=> 'EU');

INSERT INTO `lake`.`ns`.`__mv_storage__sales`.`branch_icebergmv_20240101T000000_00000001` WITH (`snapshot-property.refresh-state` = '{"refresh-start-timestamp-ms": 1704067200000, "source-states": [{"type": "table", "catalog": "lake", "namespace": ["ns"], "name": "orders", "uuid": "00000000-0000-0000-0000-000000000001", "snapshot-id": 1002}]}', `snapshot-property.icebergmv.state` = '{"icebergmv.format-version": "1", "icebergmv.definition": "", "icebergmv.definition-hash": "0000000000000001", "icebergmv.storage-table": "lake.ns.__mv_storage__sales", "icebergmv.storage-uuid": "", "icebergmv.storage-snapshot-id": "0", "icebergmv.base-tables": "[{\\"name\\": \\"lake.ns.orders\\", \\"storage\\": \\"lake.ns.orders\\", \\"uuid\\": \\"00000000-0000-0000-0000-000000000001\\", \\"snapshot-id\\": 1002, \\"schema-id\\": 0, \\"metadata-location\\": \\"file:///warehouse/ns/orders/metadata/00002-00000000-0000-0000-0000-000000000002.metadata.json\\"}]", "icebergmv.refresh-kind": "overwrite", "icebergmv.refresh-reason": "orders: 1 partition changed", "icebergmv.started-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.refreshed-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.owner": "ann", "icebergmv.settings": "{\\"spark.sql.session.timeZone\\": \\"UTC\\"}", "icebergmv.config": "{\\"partition-by\\": []}", "icebergmv.partial": "", "icebergmv.views": "[]", "icebergmv.read-hash": "", "icebergmv.view-sql-hash": "", "icebergmv.stale-read-behavior": "use_data_table", "icebergmv.clock": "{}", "icebergmv.default-namespace": "ns", "icebergmv.tie-breakers": "[]", "icebergmv.vain-questions": "", "icebergmv.checksum": "0000000000000002", "storage-form": {"schema-id": 0, "spec-id": 0}}') SELECT `region`, `total` FROM (
SELECT region, sum(amount) AS total FROM (SELECT * FROM `lake`.`ns`.`orders` VERSION AS OF 1002 WHERE (`region` <=> 'EU')) AS `orders` GROUP BY region
) WHERE (`region` <=> 'EU');

SET;

SELECT 1 FROM (SELECT /*+ COALESCE(1) */ * FROM (SELECT *, 1 AS icebergmv_sign FROM (SELECT `region`, `total` FROM `lake`.`ns`.`__mv_storage__sales` VERSION AS OF 3004 WHERE (`region` <=> 'EU')) UNION ALL SELECT *, -1 AS icebergmv_sign FROM (SELECT `region`, `total` FROM `lake`.`ns`.`__mv_storage__sales` VERSION AS OF 3002 WHERE (`region` <=> 'EU')))) GROUP BY `region`, `total` HAVING sum(icebergmv_sign) <> 0 LIMIT 1;

CALL `lake`.system.fast_forward(table => '`lake`.`ns`.`__mv_storage__sales`', branch => 'main', to => 'icebergmv_20240101T000000_00000001');

CREATE OR REPLACE VIEW `lake`.`ns`.`sales` (`region`, `total`) COMMENT '' TBLPROPERTIES (
  'icebergmv.format-version' = '1',
  'icebergmv.definition' = 'SELECT region, sum(amount) AS total FROM orders GROUP BY region',
  'icebergmv.definition-hash' = '0000000000000001',
  'icebergmv.storage-table' = 'lake.ns.__mv_storage__sales',
  'icebergmv.storage-uuid' = '00000000-0000-0000-0000-000000000003',
  'icebergmv.storage-snapshot-id' = '3004',
  'icebergmv.base-tables' = '[{"name": "lake.ns.orders", "storage": "lake.ns.orders", "uuid": "00000000-0000-0000-0000-000000000001", "snapshot-id": 1002, "schema-id": 0, "metadata-location": "file:///warehouse/ns/orders/metadata/00002-00000000-0000-0000-0000-000000000002.metadata.json"}]',
  'icebergmv.refresh-kind' = 'overwrite',
  'icebergmv.refresh-reason' = 'orders: 1 partition changed',
  'icebergmv.started-at' = '2024-01-01T00:00:00.000+00:00',
  'icebergmv.refreshed-at' = '2024-01-01T00:00:00.000+00:00',
  'icebergmv.owner' = 'ann',
  'icebergmv.settings' = '{"spark.sql.session.timeZone": "UTC"}',
  'icebergmv.config' = '{"column-comments": {}, "comment": null, "partition-by": [], "stale-read-behavior": "use_data_table", "staleness-window": null, "tblproperties": {}}',
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
  'icebergmv.checksum' = '0000000000000002', 'version.history.num-entries' = '10') AS SELECT `region`, `total` FROM `lake`.`ns`.`__mv_storage__sales` VERSION AS OF 3004;
