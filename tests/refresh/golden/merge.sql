-- No output column follows the partitions: what came is added to the stored groups.
-- refresh_kind: merge
-- refresh_reason: orders: 2 rows appended

SET;

DESCRIBE QUERY SELECT * FROM (
SELECT day, sum(amount) AS total, avg(amount) AS mean, count(1) AS icebergmv_state_0, count(amount) AS icebergmv_state_1, try_sum(CASE WHEN amount < -9223372036854775807 THEN 9223372036854775807 ELSE abs(amount) END) AS icebergmv_state_2 FROM `lake`.`ns`.`orders` VERSION AS OF 1002 GROUP BY day
);

ALTER TABLE `lake`.`ns`.`__mv_storage__sales` CREATE BRANCH `icebergmv_20240101T000000_00000001` AS OF VERSION 3002 RETAIN 36500 DAYS;

INSERT INTO `lake`.`ns`.`__mv_storage__sales`.`branch_icebergmv_20240101T000000_00000001` WITH (`snapshot-property.refresh-state` = '{"refresh-start-timestamp-ms": 1704067200000, "source-states": [{"type": "table", "catalog": "lake", "namespace": ["ns"], "name": "orders", "uuid": "00000000-0000-0000-0000-000000000001", "snapshot-id": 1002}]}', `snapshot-property.icebergmv.state` = '{"icebergmv.format-version": "1", "icebergmv.definition": "", "icebergmv.definition-hash": "0000000000000001", "icebergmv.storage-table": "lake.ns.__mv_storage__sales", "icebergmv.storage-uuid": "", "icebergmv.storage-snapshot-id": "0", "icebergmv.base-tables": "[{\\"name\\": \\"lake.ns.orders\\", \\"storage\\": \\"lake.ns.orders\\", \\"uuid\\": \\"00000000-0000-0000-0000-000000000001\\", \\"snapshot-id\\": 1002, \\"schema-id\\": 0, \\"metadata-location\\": \\"file:///warehouse/ns/orders/metadata/00002-00000000-0000-0000-0000-000000000002.metadata.json\\"}]", "icebergmv.refresh-kind": "merge", "icebergmv.refresh-reason": "orders: 2 rows appended", "icebergmv.started-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.refreshed-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.owner": "ann", "icebergmv.settings": "{\\"spark.sql.session.timeZone\\": \\"UTC\\"}", "icebergmv.config": "{\\"partition-by\\": null}", "icebergmv.partial": "", "icebergmv.views": "[]", "icebergmv.read-hash": "", "icebergmv.view-sql-hash": "", "icebergmv.stale-read-behavior": "use_data_table", "icebergmv.clock": "{}", "icebergmv.default-namespace": "ns", "icebergmv.tie-breakers": "[]", "icebergmv.vain-questions": "", "icebergmv.checksum": "0000000000000002", "storage-form": {"schema-id": 0, "spec-id": 0, "icebergmv.hidden-columns": "555cc0cbaa018a78"}}') REPLACE WHERE true SELECT `day`, `total`, `mean`, `icebergmv_state_0`, `icebergmv_state_1`, `icebergmv_state_2` FROM (
SELECT `day`, (CASE WHEN `icebergmv_state_1` <> 0 THEN `total` END) AS `total`, (CASE WHEN `icebergmv_state_1` <> 0 THEN CAST(`total` AS double) / CAST(`icebergmv_state_1` AS double) END) AS `mean`, CASE WHEN coalesce(icebergmv_state_refused, CASE WHEN `icebergmv_state_0` < 0 THEN 'rows' WHEN `total` IS NULL AND `icebergmv_state_1` <> 0 THEN 'sum' WHEN `icebergmv_state_1` <> 0 AND coalesce(`icebergmv_state_2` >= 9007199254740992, true) THEN 'average' END) IS NOT NULL THEN CAST(raise_error(concat('icebergmv_not_merged ', coalesce(icebergmv_state_refused, CASE WHEN `icebergmv_state_0` < 0 THEN 'rows' WHEN `total` IS NULL AND `icebergmv_state_1` <> 0 THEN 'sum' WHEN `icebergmv_state_1` <> 0 AND coalesce(`icebergmv_state_2` >= 9007199254740992, true) THEN 'average' END))) AS bigint) ELSE `icebergmv_state_0` END AS `icebergmv_state_0`, `icebergmv_state_1`, `icebergmv_state_2` FROM (
SELECT `day`, try_sum(CASE WHEN icebergmv_state_sign <> -1 THEN `total` WHEN `total` <> -9223372036854775808 THEN -`total` END) AS `total`, try_sum(CASE WHEN icebergmv_state_sign = -1 THEN -`icebergmv_state_0` ELSE `icebergmv_state_0` END) AS `icebergmv_state_0`, try_sum(CASE WHEN icebergmv_state_sign = -1 THEN -`icebergmv_state_1` ELSE `icebergmv_state_1` END) AS `icebergmv_state_1`, try_sum(CASE WHEN icebergmv_state_sign = -1 THEN -`icebergmv_state_2` ELSE `icebergmv_state_2` END) AS `icebergmv_state_2`, CASE WHEN bool_or(`total` IS NULL AND `icebergmv_state_1` <> 0) THEN 'sum' WHEN bool_or(icebergmv_state_sign = -1 AND `total` = -9223372036854775808) THEN 'sum' WHEN bool_or(`icebergmv_state_2` IS NULL AND `icebergmv_state_1` <> 0) THEN 'average' END AS icebergmv_state_refused FROM (
SELECT `day`, `total`, `icebergmv_state_0`, `icebergmv_state_1`, `icebergmv_state_2`, 0 AS icebergmv_state_sign FROM (
SELECT `day`, `total`, `mean`, `icebergmv_state_0`, `icebergmv_state_1`, `icebergmv_state_2` FROM `lake`.`ns`.`__mv_storage__sales` VERSION AS OF 3002
)
UNION ALL
SELECT `day`, `icebergmv_adds_0`, `icebergmv_adds_1`, `icebergmv_adds_2`, `icebergmv_adds_3`, 1 AS icebergmv_state_sign FROM (
SELECT day, (amount) AS icebergmv_adds_0, 1 AS icebergmv_adds_1, CASE WHEN (amount) IS NOT NULL THEN 1 ELSE 0 END AS icebergmv_adds_2, CASE WHEN amount < -9223372036854775807 THEN 9223372036854775807 ELSE abs(amount) END AS icebergmv_adds_3 FROM (SELECT * FROM `lake`.`ns`.`orders` WITH (`start-snapshot-id` = '1001', `end-snapshot-id` = '1002')) AS `orders`
)
) GROUP BY `day`
) WHERE `icebergmv_state_0` <> 0
);

SET;

CALL `lake`.system.fast_forward(table => '`lake`.`ns`.`__mv_storage__sales`', branch => 'main', to => 'icebergmv_20240101T000000_00000001');

CREATE OR REPLACE VIEW `lake`.`ns`.`sales` (`day`, `total`, `mean`) COMMENT '' TBLPROPERTIES (
  'icebergmv.format-version' = '1',
  'icebergmv.definition' = 'SELECT day, sum(amount) AS total, avg(amount) AS mean FROM orders GROUP BY day',
  'icebergmv.definition-hash' = '0000000000000001',
  'icebergmv.storage-table' = 'lake.ns.__mv_storage__sales',
  'icebergmv.storage-uuid' = '00000000-0000-0000-0000-000000000003',
  'icebergmv.storage-snapshot-id' = '3003',
  'icebergmv.base-tables' = '[{"name": "lake.ns.orders", "storage": "lake.ns.orders", "uuid": "00000000-0000-0000-0000-000000000001", "snapshot-id": 1002, "schema-id": 0, "metadata-location": "file:///warehouse/ns/orders/metadata/00002-00000000-0000-0000-0000-000000000002.metadata.json"}]',
  'icebergmv.refresh-kind' = 'merge',
  'icebergmv.refresh-reason' = 'orders: 2 rows appended',
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
  'icebergmv.checksum' = '0000000000000002', 'version.history.num-entries' = '10') AS SELECT `day`, `total`, `mean` FROM `lake`.`ns`.`__mv_storage__sales` VERSION AS OF 3003;
