-- refresh_on_run is false: no row is computed, the view reads stored rows where they are fresh.
-- refresh_kind: restitch
-- refresh_reason: orders: 1 partition changed

SET;

REFRESH TABLE `lake`.`ns`.`orders`;

REFRESH TABLE `lake`.`ns`.`__mv_storage__sales`;

DESCRIBE QUERY SELECT * FROM (
SELECT region, sum(amount) AS total FROM `lake`.`ns`.`orders` VERSION AS OF 1002 GROUP BY region
);

DESCRIBE QUERY SELECT * FROM (
SELECT `region`, `total` FROM `lake`.`ns`.`__mv_storage__sales` VERSION AS OF 3002
);

CREATE OR REPLACE VIEW `lake`.`ns`.`sales` (`region`, `total`) COMMENT '' TBLPROPERTIES (
  'icebergmv.format-version' = '1',
  'icebergmv.definition' = 'SELECT region, sum(amount) AS total FROM orders GROUP BY region',
  'icebergmv.definition-hash' = '0000000000000001',
  'icebergmv.storage-table' = 'lake.ns.__mv_storage__sales',
  'icebergmv.storage-uuid' = '00000000-0000-0000-0000-000000000001',
  'icebergmv.storage-snapshot-id' = '3002',
  'icebergmv.base-tables' = '[{"name": "lake.ns.orders", "storage": "lake.ns.orders", "uuid": "00000000-0000-0000-0000-000000000002", "snapshot-id": 1001, "schema-id": 0, "metadata-location": "file:///warehouse/ns/orders/metadata/00001-00000000-0000-0000-0000-000000000003.metadata.json"}]',
  'icebergmv.refresh-kind' = 'restitch',
  'icebergmv.refresh-reason' = 'refresh_on_run is false; orders: 1 partition changed',
  'icebergmv.started-at' = '2024-01-01T00:00:00.000+00:00',
  'icebergmv.refreshed-at' = '2024-01-01T00:00:00.000+00:00',
  'icebergmv.owner' = 'ann',
  'icebergmv.settings' = '{"spark.sql.session.timeZone": "UTC"}',
  'icebergmv.config' = '{"column-comments": {}, "comment": null, "definition-below-rows": 0, "partition-by": null, "refresh-on-run": false, "stale-read-behavior": "use_stitching", "staleness-window": null, "tblproperties": {}}',
  'icebergmv.partial' = '',
  'icebergmv.views' = '[]',
  'icebergmv.read-hash' = '',
  'icebergmv.view-sql-hash' = '0000000000000002',
  'icebergmv.stale-read-behavior' = 'use_stitching',
  'icebergmv.clock' = '{}',
  'icebergmv.default-namespace' = 'ns',
  'icebergmv.tie-breakers' = '[]',
  'icebergmv.full-seconds' = '1.5',
  'icebergmv.full-rows' = '3',
  'icebergmv.vain-questions' = '',
  'icebergmv.checksum' = '0000000000000003', 'version.history.num-entries' = '10') AS SELECT `region`, `total` FROM `lake`.`ns`.`__mv_storage__sales` VERSION AS OF 3002 WHERE ((`region` IS NULL OR (`region` IS NOT NULL AND `region` < 'EU') OR (`region` > 'EU')))
UNION ALL
SELECT CAST(`region` AS string) AS `region`, CAST(`total` AS bigint) AS `total` FROM (
SELECT region, sum(amount) AS total FROM (SELECT * FROM `lake`.`ns`.`orders` VERSION AS OF 1002 WHERE (`region` <=> 'EU')) AS `orders` GROUP BY region
) WHERE (`region` <=> 'EU');
