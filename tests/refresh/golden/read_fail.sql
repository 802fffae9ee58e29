-- A view that fails when a base table moved.
-- refresh_kind: full
-- refresh_reason: first build

SET;

DESCRIBE QUERY SELECT * FROM (
SELECT region, sum(amount) AS total FROM `lake`.`ns`.`orders` VERSION AS OF 1001 GROUP BY region
);

CREATE OR REPLACE TABLE `lake`.`ns`.`__mv_storage__sales` USING iceberg PARTITIONED BY (`region`) TBLPROPERTIES ('write.spark.fanout.enabled' = 'false',
  'icebergmv.storage-of' = 'lake.ns.sales') AS SELECT `region`, `total` FROM (
SELECT region, sum(amount) AS total FROM `lake`.`ns`.`orders` VERSION AS OF 1001 GROUP BY region
) WHERE false;

ALTER TABLE `lake`.`ns`.`__mv_storage__sales` CREATE BRANCH `icebergmv_20240101T000000_00000001` AS OF VERSION 3001 RETAIN 36500 DAYS;

INSERT INTO `lake`.`ns`.`__mv_storage__sales`.`branch_icebergmv_20240101T000000_00000001` WITH (`snapshot-property.refresh-state` = '{"refresh-start-timestamp-ms": 1704067200000, "source-states": [{"type": "table", "catalog": "lake", "namespace": ["ns"], "name": "orders", "uuid": "00000000-0000-0000-0000-000000000001", "snapshot-id": 1001}]}', `snapshot-property.icebergmv.state` = '{"icebergmv.format-version": "1", "icebergmv.definition": "", "icebergmv.definition-hash": "0000000000000001", "icebergmv.storage-table": "lake.ns.__mv_storage__sales", "icebergmv.storage-uuid": "", "icebergmv.storage-snapshot-id": "0", "icebergmv.base-tables": "[{\\"name\\": \\"lake.ns.orders\\", \\"storage\\": \\"lake.ns.orders\\", \\"uuid\\": \\"00000000-0000-0000-0000-000000000001\\", \\"snapshot-id\\": 1001, \\"schema-id\\": 0, \\"metadata-location\\": \\"file:///warehouse/ns/orders/metadata/00001-00000000-0000-0000-0000-000000000002.metadata.json\\"}]", "icebergmv.refresh-kind": "full", "icebergmv.refresh-reason": "first build", "icebergmv.started-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.refreshed-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.owner": "ann", "icebergmv.settings": "{\\"spark.sql.session.timeZone\\": \\"UTC\\"}", "icebergmv.config": "{\\"partition-by\\": null}", "icebergmv.partial": "", "icebergmv.views": "[]", "icebergmv.read-hash": "", "icebergmv.view-sql-hash": "", "icebergmv.stale-read-behavior": "use_data_table", "icebergmv.clock": "{}", "icebergmv.default-namespace": "ns", "icebergmv.tie-breakers": "[]", "icebergmv.vain-questions": "", "icebergmv.checksum": "0000000000000002", "storage-form": {"schema-id": 0, "spec-id": 0}}') REPLACE WHERE true SELECT `region`, `total` FROM (
SELECT region, sum(amount) AS total FROM `lake`.`ns`.`orders` VERSION AS OF 1001 GROUP BY region
);

SET;

CALL `lake`.system.fast_forward(table => '`lake`.`ns`.`__mv_storage__sales`', branch => 'main', to => 'icebergmv_20240101T000000_00000001');

CREATE OR REPLACE VIEW `lake`.`ns`.`sales` (`region`, `total`) COMMENT '' TBLPROPERTIES (
  'icebergmv.format-version' = '1',
  'icebergmv.definition' = 'SELECT region, sum(amount) AS total FROM orders GROUP BY region',
  'icebergmv.definition-hash' = '0000000000000001',
  'icebergmv.storage-table' = 'lake.ns.__mv_storage__sales',
  'icebergmv.storage-uuid' = '00000000-0000-0000-0000-000000000003',
  'icebergmv.storage-snapshot-id' = '3002',
  'icebergmv.base-tables' = '[{"name": "lake.ns.orders", "storage": "lake.ns.orders", "uuid": "00000000-0000-0000-0000-000000000001", "snapshot-id": 1001, "schema-id": 0, "metadata-location": "file:///warehouse/ns/orders/metadata/00001-00000000-0000-0000-0000-000000000002.metadata.json"}]',
  'icebergmv.refresh-kind' = 'full',
  'icebergmv.refresh-reason' = 'first build',
  'icebergmv.started-at' = '2024-01-01T00:00:00.000+00:00',
  'icebergmv.refreshed-at' = '2024-01-01T00:00:00.000+00:00',
  'icebergmv.owner' = 'ann',
  'icebergmv.settings' = '{"spark.sql.session.timeZone": "UTC"}',
  'icebergmv.config' = '{"column-comments": {}, "comment": null, "definition-below-rows": 0, "partition-by": null, "stale-read-behavior": "fail", "staleness-window": null, "tblproperties": {}}',
  'icebergmv.partial' = '',
  'icebergmv.views' = '[]',
  'icebergmv.read-hash' = '',
  'icebergmv.view-sql-hash' = '0000000000000002',
  'icebergmv.stale-read-behavior' = 'fail',
  'icebergmv.clock' = '{}',
  'icebergmv.default-namespace' = 'ns',
  'icebergmv.tie-breakers' = '[]',
  'icebergmv.full-seconds' = '1.5',
  'icebergmv.full-rows' = '3',
  'icebergmv.vain-questions' = '',
  'icebergmv.checksum' = '0000000000000003', 'version.history.num-entries' = '10') AS WITH icebergmv_log_0 AS (SELECT 0 AS t, file AS first_file, CAST(NULL AS STRING) AS last_file, latest_snapshot_id AS snapshot_id, CAST(NULL AS BIGINT) AS main, timestamp >= TIMESTAMP '2024-01-01 00:00:00.000000Z' AND substring_index(file, '/', -1) NOT IN ('00000-00000000-0000-0000-0000-000000000004.metadata.json', '00001-00000000-0000-0000-0000-000000000002.metadata.json') AS is_new, substring_index(file, '/', -1) = '00001-00000000-0000-0000-0000-000000000002.metadata.json' AS is_recorded, timestamp >= TIMESTAMP '2024-01-01 00:00:00.000000Z' AND substring_index(file, '/', -1) NOT IN ('00000-00000000-0000-0000-0000-000000000004.metadata.json', '00001-00000000-0000-0000-0000-000000000002.metadata.json') AND (NOT latest_schema_id <=> 0 OR timestamp < TIMESTAMP '2024-01-01 00:00:00.000000Z') AS other_shape FROM `lake`.`ns`.`orders`.`metadata_log_entries`),
icebergmv_refs_0 AS (SELECT 0 AS t, CAST(NULL AS STRING) AS first_file, CAST(NULL AS STRING) AS last_file, CAST(NULL AS BIGINT) AS snapshot_id, snapshot_id AS main, false AS is_new, false AS is_recorded, false AS other_shape FROM `lake`.`ns`.`orders`.`refs` WHERE name = 'main'),
icebergmv_last_0 AS (SELECT 0 AS t, CAST(NULL AS STRING) AS first_file, file AS last_file, CAST(NULL AS BIGINT) AS snapshot_id, CAST(NULL AS BIGINT) AS main, false AS is_new, false AS is_recorded, false AS other_shape FROM `lake`.`ns`.`orders`.`Metadata_log_entries`),
icebergmv_gate_0 AS (SELECT CASE WHEN NOT (NOT sort_array(collect_set(first_file) FILTER (WHERE t = 0)) <=> sort_array(collect_set(last_file) FILTER (WHERE t = 0)) OR count_if(t = 0 AND is_new) <> size(collect_set(nullif(snapshot_id, 1001L)) FILTER (WHERE t = 0 AND is_new)) OR bool_or(t = 0 AND other_shape) OR NOT bool_or(t = 0 AND is_recorded) OR NOT max(main) FILTER (WHERE t = 0) <=> 1001L) THEN false END AS moved FROM (SELECT * FROM icebergmv_log_0 UNION ALL SELECT * FROM icebergmv_refs_0 UNION ALL SELECT * FROM icebergmv_last_0)),
icebergmv_whole AS (SELECT 1 AS one WHERE (SELECT moved FROM icebergmv_gate_0) IS NULL),
icebergmv_checked AS (SELECT count(*) AS n, any_value(CAST(NULL AS string)) AS c0, any_value(CAST(NULL AS bigint)) AS c1 FROM (SELECT count(*) AS n FROM icebergmv_whole HAVING assert_true(count(*) = 0, 'lake.ns.sales is stale: its base tables have changed since its last refresh at 2024-01-01 00:00 UTC. Refresh it with dbt run, or set another stale_read_behavior.') IS NULL))
SELECT v.`region`, v.`total` FROM `lake`.`ns`.`__mv_storage__sales` VERSION AS OF 3002 AS v LEFT ANTI JOIN icebergmv_whole
UNION ALL
SELECT c0 AS `region`, c1 AS `total` FROM icebergmv_checked WHERE n < 0;
