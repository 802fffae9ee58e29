-- With layout table, a snapshot without rows records ids that moved.
-- refresh_kind: none
-- refresh_reason: nothing changed since 2024-01-01 00:00 UTC

ALTER TABLE `lake`.`ns`.`sales` CREATE BRANCH `icebergmv_20240101T000000_00000001` AS OF VERSION 4001 RETAIN 36500 DAYS;

INSERT INTO `lake`.`ns`.`sales`.`branch_icebergmv_20240101T000000_00000001` WITH (`snapshot-property.icebergmv.state` = '{"icebergmv.format-version": "1", "icebergmv.definition": "SELECT region, sum(amount) AS total FROM orders GROUP BY region", "icebergmv.definition-hash": "0000000000000001", "icebergmv.storage-table": "lake.ns.sales", "icebergmv.storage-uuid": "00000000-0000-0000-0000-000000000001", "icebergmv.storage-snapshot-id": "4001", "icebergmv.base-tables": "[{\\"name\\": \\"lake.ns.orders\\", \\"storage\\": \\"lake.ns.orders\\", \\"uuid\\": \\"00000000-0000-0000-0000-000000000002\\", \\"snapshot-id\\": 1002, \\"schema-id\\": 0, \\"metadata-location\\": \\"file:///warehouse/ns/orders/metadata/00002-00000000-0000-0000-0000-000000000003.metadata.json\\"}]", "icebergmv.refresh-kind": "full", "icebergmv.refresh-reason": "first build", "icebergmv.started-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.refreshed-at": "2024-01-01T00:00:00.000+00:00", "icebergmv.owner": "ann", "icebergmv.settings": "{\\"spark.sql.session.timeZone\\": \\"UTC\\"}", "icebergmv.config": "{\\"column-comments\\": {}, \\"comment\\": null, \\"layout\\": \\"table\\", \\"partition-by\\": null, \\"stale-read-behavior\\": \\"use_data_table\\", \\"staleness-window\\": null, \\"tblproperties\\": {}}", "icebergmv.partial": "", "icebergmv.views": "[]", "icebergmv.read-hash": "", "icebergmv.view-sql-hash": "", "icebergmv.stale-read-behavior": "use_data_table", "icebergmv.clock": "{}", "icebergmv.default-namespace": "ns", "icebergmv.tie-breakers": "[]", "icebergmv.vain-questions": "", "icebergmv.checksum": "0000000000000002"}') SELECT `region`, `total` FROM (
SELECT `region`, `total` FROM `lake`.`ns`.`sales` VERSION AS OF 4001
) WHERE false;

CALL `lake`.system.fast_forward(table => '`lake`.`ns`.`sales`', branch => 'main', to => 'icebergmv_20240101T000000_00000001');

ALTER TABLE `lake`.`ns`.`sales` DROP BRANCH IF EXISTS `icebergmv_20240101T000000_00000002`;
