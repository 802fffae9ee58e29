-- The configuration changed, the rows did not.
-- refresh_kind: none
-- refresh_reason: nothing changed since 2024-01-01 00:00 UTC; tblproperties changed (write.target-file-size-bytes), the description changed

SET;

DESCRIBE QUERY SELECT * FROM (
SELECT region, sum(amount) AS total FROM `lake`.`ns`.`orders` VERSION AS OF 1001 GROUP BY region
);

ALTER TABLE `lake`.`ns`.`__mv_storage__sales` SET TBLPROPERTIES ('write.target-file-size-bytes' = '1048576');

CREATE OR REPLACE VIEW `lake`.`ns`.`sales` (`region`, `total`) COMMENT 'Sales by region' TBLPROPERTIES (
  'icebergmv.format-version' = '1',
  'icebergmv.definition' = 'SELECT region, sum(amount) AS total FROM orders GROUP BY region',
  'icebergmv.definition-hash' = '0000000000000001',
  'icebergmv.storage-table' = 'lake.ns.__mv_storage__sales',
  'icebergmv.storage-uuid' = '00000000-0000-0000-0000-000000000001',
  'icebergmv.storage-snapshot-id' = '3002',
  'icebergmv.base-tables' = '[{"name": "lake.ns.orders", "storage": "lake.ns.orders", "uuid": "00000000-0000-0000-0000-000000000002", "snapshot-id": 1001, "schema-id": 0, "metadata-location": "file:///warehouse/ns/orders/metadata/00001-00000000-0000-0000-0000-000000000003.metadata.json"}]',
  'icebergmv.refresh-kind' = 'full',
  'icebergmv.refresh-reason' = 'first build',
  'icebergmv.started-at' = '2024-01-01T00:00:00.000+00:00',
  'icebergmv.refreshed-at' = '2024-01-01T00:00:00.000+00:00',
  'icebergmv.owner' = 'ann',
  'icebergmv.settings' = '{"spark.sql.session.timeZone": "UTC"}',
  'icebergmv.config' = '{"column-comments": {}, "comment": "Sales by region", "partition-by": null, "stale-read-behavior": "use_data_table", "staleness-window": null, "tblproperties": {"write.target-file-size-bytes": "1048576"}}',
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
  'icebergmv.checksum' = '0000000000000002', 'version.history.num-entries' = '10') AS SELECT `region`, `total` FROM `lake`.`ns`.`__mv_storage__sales` VERSION AS OF 3002;
