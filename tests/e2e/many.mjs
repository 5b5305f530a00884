// many.mjs SERVER ETLGEN TRACE_BUILD: eight clients, each with a server of its own as stdio has it,
// ask about four traces at once and several calls at a time each. Every answer is the one that a
// single client got, and no server's memory exceeds its cap and what a program needs besides.
//
// ETW_MANY_CALLS (160) is the number of calls; 2000 is the full measure. ETW_MANY_SEED (1).
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import assert from 'node:assert/strict';
import { Client, plainTools, random } from './client.mjs';

const [program, etlgen, build] = process.argv.slice(2).map((p) => resolve(p));
const here = dirname(fileURLToPath(import.meta.url));
const CLIENTS = 8, AT_ONCE = 4;
const CALLS = Number(process.env.ETW_MANY_CALLS ?? 160);
const SEED = Number(process.env.ETW_MANY_SEED ?? 1);
const CAP_MB = 300, BESIDE_MB = 350; // the program, its threads' stacks, replies under way
const folder = mkdtempSync(join(tmpdir(), 'etw-many-'));
const env = { ...process.env, XDG_CACHE_HOME: join(folder, 'cache'), ETW_MCP_NATIVE_WORKER_MEMORY_MB: String(CAP_MB) };

const QUERIES = [
  'SELECT count(*), sum(weight_ns) FROM sample',
  'SELECT kind, count(*) AS n FROM disk_io GROUP BY kind ORDER BY kind',
  'SELECT name, pid FROM process ORDER BY pid, name, upid',
  'SELECT no_such_column FROM sample',
];

// The pool of calls: every tool that needs a trace alone, in several forms, and some SQL.
function pool(tools, ids) {
  const names = plainTools(tools);
  const calls = [];
  for (const trace_id of ids) {
    for (const name of names) {
      const { properties } = tools.find((t) => t.name === name).inputSchema;
      calls.push({ name, args: { trace_id } });
      if ('start_time' in properties) calls.push({ name, args: { trace_id, start_time: 0.01, end_time: 0.04 } });
      if ('max_rows' in properties) calls.push({ name, args: { trace_id, max_rows: 3 } });
      if ('process_filter' in properties) calls.push({ name, args: { trace_id, process_filter: 'e' } });
    }
    for (const sql of QUERIES) calls.push({ name: 'query_trace', args: { trace_id, sql } });
  }
  return calls;
}

const peakMb = (client) => existsSync(`/proc/${client.child.pid}/status`)
  ? Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${client.child.pid}/status`, 'utf8'))[1]) / 1024 : 0;

try {
  const traces = ['a', 'b', 'c', 'd'].map((n) => join(folder, `${n}.etl`));
  execFileSync(etlgen, ['--events', '30000', '--mix', 'mixed', '--seed', '1', traces[0]]);
  execFileSync(etlgen, ['--events', '30000', '--mix', 'network', '--seed', '2', traces[1]]);
  execFileSync(etlgen, ['--events', '30000', '--mix', 'sched', '--seed', '3', '--cpus', '16', traces[2]]);
  execFileSync(build, [join(here, '../support/demo.trace'), traces[3]]);

  // One client, one call at a time.
  const single = new Client(program, { env });
  const tools = await single.start();
  const ids = [];
  for (const trace of traces) ids.push(await single.load(trace));
  const calls = pool(tools, ids);
  const rnd = random(SEED);
  const chosen = Array.from({ length: CALLS }, () => calls[Math.floor(rnd() * calls.length)]);
  const expected = new Map();
  for (const call of new Set(chosen)) expected.set(call, await single.call(call.name, call.args));
  await single.stop();
  assert.ok([...expected.values()].filter((r) => r.isError).length < expected.size / 10, 'most calls answer');

  const clients = Array.from({ length: CLIENTS }, () => new Client(program, { env }));
  await Promise.all(clients.map((c) => c.start()));
  const began = performance.now();
  let next = 0;
  const work = async (client) => {
    while (next < chosen.length) {
      const call = chosen[next++];
      let got = await client.call(call.name, call.args);
      // A machine that is busy with other things may hit the time limit of a call: once more, then.
      if (got.isError && /took longer than/.test(got.text)) got = await client.call(call.name, call.args);
      const wanted = expected.get(call);
      if (got.text === wanted.text && got.isError === wanted.isError) continue;
      const lines = wanted.text.split('\n');
      const other = got.text.split('\n');
      const at = lines.findIndex((line, i) => line !== other[i]);
      assert.fail(`${call.name} ${JSON.stringify(call.args)} answers otherwise\n- ${lines[at]}\n+ ${other[at]}`);
    }
  };
  await Promise.all(clients.flatMap((client) => Array.from({ length: AT_ONCE }, () => work(client))));
  const seconds = (performance.now() - began) / 1000;
  const peak = Math.max(...clients.map(peakMb));
  await Promise.all(clients.map((c) => c.stop()));
  assert.ok(peak < CAP_MB + BESIDE_MB, `a server used ${Math.round(peak)} MB`);
  console.log(`${CALLS} calls (${expected.size} different) of ${CLIENTS} clients on ${traces.length} traces: all equal to a single client's; ` +
    `${seconds.toFixed(1)} s, at most ${Math.round(peak)} MB a server`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
