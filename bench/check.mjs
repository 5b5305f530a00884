// check.mjs ETW_MCP TRACE.etl STATS.json: every answer on a generated trace must equal what the
// generator counted. Exit status 1 names each difference.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [program, trace, statsPath] = process.argv.slice(2);
const stats = JSON.parse(readFileSync(statsPath, 'utf8'));
let wrong = 0;

// First two columns of a query as an object.
function query(sql) {
  const text = execFileSync(program, ['--csv', '--quiet', 'call', 'query_trace', trace, `sql=${sql}`, 'max_rows=5000'],
                            { encoding: 'utf8', maxBuffer: 1 << 28 });
  const rows = text.trim().split('\n').slice(1).map((line) => line.replaceAll('"', '').split(','));
  return Object.fromEntries(rows.map((row) => [row[0], Number(row[1])]));
}

function same(what, got, expected) {
  const keys = new Set([...Object.keys(got), ...Object.keys(expected)]);
  for (const key of keys) {
    if ((got[key] ?? 0) === (expected[key] ?? 0)) continue;
    console.log(`${what} ${key}: ${got[key] ?? 0}, generated ${expected[key] ?? 0}`);
    wrong++;
  }
}

const kinds = stats.kinds;
const rows = (table, where = 'true') => query(`SELECT 'n', count(*) FROM ${table} WHERE ${where}`).n;
const counts = {
  sample: [rows('sample'), kinds.sample],
  context_switch: [rows('context_switch'), kinds.context_switch],
  ready_thread: [rows('ready_thread'), kinds.ready_thread],
  dpc: [rows('interrupt', "kind = 'dpc'"), kinds.dpc],
  isr: [rows('interrupt', "kind = 'isr'"), kinds.isr],
  disk_io: [rows('disk_io'), stats.disk_reads],
  tcp: [rows('tcp_event', "source = 'kernel'"), kinds.tcp],
};
for (const [what, [got, expected]] of Object.entries(counts)) same(what, { n: got }, { n: expected });

const events = query(`SELECT p.guid, sum(c.events) FROM event_class c JOIN provider p USING (provider_id)
  WHERE c.kind = 'manifest' GROUP BY 1`);
same('provider', {
  afd: events['e53c6823-7bb8-44bb-90dc-3f86090d48a6'] ?? 0,
  packet: events['2ed6006e-4729-4609-b423-3ee7bcd678ef'] ?? 0,
  http: events['dd5ef90a-6398-47a4-ad34-4dcecdef795f'] ?? 0,
  custom: events['5b1e0000-0000-4000-8000-000000000001'] ?? 0,
  bare: events['5b1e0000-0000-4000-8000-000000000002'] ?? 0,
}, { afd: kinds.afd, packet: kinds.packet, http: 4 * kinds.http, custom: kinds.custom, bare: kinds.bare });

// Process n of the generator has pid 400 + 4 n, thread n has tid 1000 + 4 n; 0 is idle.
same('samples of process', query(`SELECT CASE WHEN p.pid = 0 THEN 0 ELSE (p.pid - 400) // 4 END, count(*)
  FROM sample s JOIN process p USING (upid) GROUP BY 1`), stats.samples_of_process);
same('samples of module', query(`SELECT replace(i.name, '.sys', ''), count(*) FROM sample s
  JOIN frame f USING (frame_id) JOIN image i ON i.image_id = f.image_id GROUP BY 1`), stats.samples_of_module);
same('switches of thread', query(`SELECT CASE WHEN new_tid = 0 THEN 0 ELSE (new_tid - 1000) // 4 END, count(*)
  FROM context_switch GROUP BY 1`), stats.switches_in);
same('bytes of flow', query(`SELECT local_port - 20000, sum(bytes) FROM tcp_event WHERE source = 'kernel'
  GROUP BY 1`), stats.tcp_bytes);
same('disk bytes', query("SELECT 'n', sum(bytes) FROM disk_io"), { n: stats.disk_bytes });
same('stacks', query(`SELECT 'n', (SELECT count(*) FROM sample WHERE stack_id IS NOT NULL)
  + (SELECT count(*) FROM context_switch WHERE stack_id IS NOT NULL)`), { n: stats.stacks });
same('issues', query("SELECT kind, count FROM decode_issue WHERE severity = 'data_loss'"), {});

console.log(wrong ? `${wrong} differences` : 'every count equals the generator\'s');
process.exit(wrong ? 1 : 0);
