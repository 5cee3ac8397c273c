-- How many values each key of the seal's ring still has to open, by table. A seal begins with its version, the length of
-- the key's id and that id (libs/chassis/src/chassis/seal.py); ids beyond 28 characters are not told apart here.
SELECT format(
         $query$
         SELECT %L AS place, convert_from(substring(head FROM 3 FOR get_byte(head, 1)), 'UTF8') AS key, count(*)
           FROM (SELECT decode(translate(left(%s, 40), '-_', '+/'), 'base64') AS head
                   FROM %I.%I WHERE %s IS NOT NULL) AS seals
          GROUP BY key ORDER BY key
         $query$,
         table_schema || '.' || table_name || '.' || column_name, seal, table_schema, table_name, seal)
  FROM information_schema.columns
 CROSS JOIN LATERAL (
       SELECT CASE WHEN data_type = 'jsonb' THEN format('(%I ->> ''sealed'')', column_name)
                   ELSE format('%I', column_name) END AS seal) AS spelled
 WHERE table_schema IN ('api', 'dispatcher', 'status_ingest', 'notifier', 'reconciler')
   AND ((data_type = 'text' AND column_name LIKE '%sealed%')
        OR (table_schema = 'reconciler' AND table_name = 'ledger' AND column_name = 'accepted'))
 ORDER BY table_schema, table_name, column_name
\gexec
