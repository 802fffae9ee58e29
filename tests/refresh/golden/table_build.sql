-- With layout table, one statement makes the table, its rows and its state.
-- refresh_kind: full
-- refresh_reason: first build

SET;

DESCRIBE QUERY SELECT * FROM (
SELECT region, sum(amount) AS total FROM `lake`.`ns`.`orders` VERSION AS OF 1001 GROUP BY region
);

CREATE OR REPLACE TABLE `lake`.`ns`.`sales` USING iceberg PARTITIONED BY (`region`) TBLPROPERTIES ('write.spark.fanout.enabled' = 'false',
  'icebergmv.storage-of' = 'lake.ns.sales',
  'icebergmv.state' = '{"icebergmv.format-version": "1", "icebergmv.definition": "SELECT region, sum(amount) AS total FROM orders GROUP BY region", "icebergmv.definition-hash": "0000000000000001", "icebergmv.storage-table": "lake.ns.sales", "icebergmv.storage-uuid": "", "icebergmv.storage-snapshot-id": "0", "icebergmv.base-tables": "[{\\"name\\": \\"lake.ns.orders\\", \\"storage\\": \\"lake.ns.orders\\", \\"uuid\\": \\"00000000-0000-0000-0000-000000000001\\", \\"snapshot-id\\": 1001, \\"schema-id\\": 0, \\"metadata-location\\": \\"file:///warehouse/ns/orders/metadata/00001-00000000-0000-0000-0000-000000000002.metadata.json\\"}]", "icebergmv.refresh-kind": "full", "icebergmv.refresh-reason": "first build", "icebergmv.started-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.refreshed-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.owner": "ann", "icebergmv.settings": "{\\"spark.sql.session.timeZone\\": \\"UTC\\"}", "icebergmv.config": "{\\"column-comments\\": {}, \\"comment\\": null, \\"layout\\": \\"table\\", \\"partition-by\\": null, \\"stale-read-behavior\\": \\"use_data_table\\", \\"staleness-window\\": null, \\"tblproperties\\": {}}", "icebergmv.partial": "", "icebergmv.views": "[]", "icebergmv.read-hash": "", "icebergmv.view-sql-hash": "", "icebergmv.stale-read-behavior": "use_data_table", "icebergmv.clock": "{}", "icebergmv.default-namespace": "ns", "icebergmv.tie-breakers": "[]", "icebergmv.vain-questions": "", "icebergmv.checksum": "0000000000000002"}',
  'icebergmv.built-at-sequence-number' = '1') AS SELECT `region`, `total` FROM (
SELECT region, sum(amount) AS total FROM `lake`.`ns`.`orders` VERSION AS OF 1001 GROUP BY region
);

ALTER TABLE `lake`.`ns`.`sales` CREATE BRANCH `icebergmv_20240101T000000_00000001` AS OF VERSION 4001 RETAIN 36500 DAYS;
