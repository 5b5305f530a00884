// latency.mjs [--state FILE] [--only WORD] ETW_MCP TRACE.etl: times each read-only tool that needs
// nothing but a trace and prints rows of a Markdown table, slowest first.
//
// Every tool gets a server of its own, so that its first call pays for all it needs (derived tables,
// stacks) and none for another tool's. That call is timed apart; then calls follow until there are 20
// or two seconds are over. A call that takes longer than CALL_LIMIT_MS is given up, and the row says
// so. With --state, tools measured before by the same program on the same trace are not run again.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';

const CALLS_MAX = 20;
const CALLS_MS = 2000;
const CALL_LIMIT_MS = 30000;

const words = process.argv.slice(2);
function option(name) {
  const at = words.indexOf(name);
  return at < 0 ? undefined : words.splice(at, 2)[1];
}
const state = option('--state');
const only = option('--only') ?? '';
const [program, trace] = words;
if (!trace) {
  console.error('usage: latency.mjs [--state FILE] [--only WORD] ETW_MCP TRACE.etl');
  process.exit(2);
}
const stamp = [program, trace].map((path) => `${statSync(path).size}.${statSync(path).mtimeMs}`).join('/');
const ms = (from) => Number(process.hrtime.bigint() - from) / 1e6;

// A server that has been asked to initialize; request() resolves to undefined when time is up.
async function start() {
  const child = spawn(program, ['--quiet'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let last = 0;
  const request = (method, params, limitMs = CALL_LIMIT_MS) => new Promise((resolve) => {
    const id = ++last;
    const timer = setTimeout(() => resolve(undefined), limitMs);
    waiting.set(id, (message) => { clearTimeout(timer); resolve(message); });
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  });
  await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
  return { request, pid: child.pid, stop: () => child.kill() };
}

async function load(server) {
  const reply = await server.request('tools/call', { name: 'load_trace', arguments: { etl_path: trace, wait_seconds: 600 } }, 600000);
  return /trace_[0-9a-f]{12}/.exec(reply.result.content[0].text)[0];
}

// Arguments of tools that need more than the trace, as the generator names things; further cases of
// tools whose cost depends on what is asked.
const flow = '10.0.0.1:20000 <-> 10.1.0.1:443';
const half = { start_time: 0.5, end_time: 1.5 };
const CASES = {
  query_trace: [{ sql: 'SELECT cpu, count(*) FROM sample GROUP BY cpu ORDER BY cpu' }],
  get_function_callers: [{ function_filter: 'k0.sys', direction: 'both' }],
  walk_stack: [{ function_filter: 'k0.sys' }, { function_filter: 'k0.sys', branch_policy: 'all' }],
  count_stacks: [{ contains: ['k0.sys'] }, { contains: ['k0.sys', 'm1.dll'] }],
  butterfly_chain: [{ target_function: 'k0.sys' }, { target_function: 'k0.sys', direction: 'both' }],
  decode_packet: [{ timestamp_us: 500000 }],
  diagnose_symbol_load: [{ module: 'k0.sys' }],
  get_packet_timeline: [{ five_tuple: flow }],
  explain_connection: [{ five_tuple: flow }],
  get_network_wait_chain: [{ thread_filter: 'p1.exe' }],
  get_hot_lines: [{ function: 'k0.sys' }],
  get_critical_path: [{ thread: 1004 }, { thread: 1004, ...half }],
  analyze: [{}, half, { filter_query: 'k0.sys' }],
  get_cpu_samples: [{}, { group_by: 'function' }, { group_by: 'process+module' }, { process_filter: 'p1', ...half }],
  get_hot_functions: [{}, { modules: 'all' }],
  get_hot_stacks: [{}, { cpu_filter: '0-3', ...half }],
  get_cpu_timeline: [{}, { bucket_seconds: 0.05 }],
  get_flame_graph: [{}, { source: 'waits' }, { format: 'svg', ...half }],
  get_wait_analysis: [{}, { process: 'p1.exe' }, half],
  get_thread_cpu_precise: [{}, { group_by: 'process' }, half],
  get_per_cpu_summary: [{}, half],
};
CASES.compare_traces = ['hot_functions', 'waits', 'processes'].map((mode) => ({ mode, modules: 'all', baseline_etl: trace, test_etl: trace }));

const quantile = (sorted, q) => {
  const at = (sorted.length - 1) * q, low = Math.floor(at);
  return sorted[low] + (at - low) * (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]);
};

// CPU time a process has used, in ticks of 10 ms; what a busy machine changes least.
function cpuMs(pid) {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return undefined;
  const fields = readFileSync(path, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function measure(name, args) {
  const server = await start();
  const id = await load(server);
  const call = async () => {
    const at = process.hrtime.bigint();
    const reply = await server.request('tools/call', { name, arguments: name === 'compare_traces' ? args : { trace_id: id, ...args } });
    return { ms: ms(at), text: reply?.result?.content?.[0]?.text ?? '', failed: reply ? Boolean(reply.error || reply.result.isError) : 'given up' };
  };
  const loaded = cpuMs(server.pid);
  const first = await call();
  const warm = cpuMs(server.pid);
  const times = [];
  let bad = first.failed;
  const began = process.hrtime.bigint();
  while (!bad && times.length < CALLS_MAX && (times.length < 2 || ms(began) < CALLS_MS)) {
    const one = await call();
    times.push(one.ms);
    bad = one.failed;
  }
  const end = cpuMs(server.pid);
  server.stop();
  times.sort((a, b) => a - b);
  const result = { first: first.ms, calls: times.length, bytes: Buffer.byteLength(first.text) };
  if (end !== undefined) Object.assign(result, { firstCpu: warm - loaded, cpu: times.length ? (end - warm) / times.length : undefined });
  if (bad) result.note = bad === true ? 'error reply' : `${bad} after ${CALL_LIMIT_MS / 1000} s`;
  else if (/^\*No data: the capture recorded no /m.test(first.text)) result.note = 'not recorded';
  if (times.length) Object.assign(result, { p50: quantile(times, 0.5), p95: quantile(times, 0.95) });
  return result;
}

const done = new Map();
if (state && existsSync(state)) {
  for (const line of readFileSync(state, 'utf8').trim().split('\n').filter(Boolean)) {
    const row = JSON.parse(line);
    if (row.stamp === stamp) done.set(row.label, row);
  }
}

const server = await start();
await load(server); // also makes the database, which no tool pays for
const { tools } = (await server.request('tools/list', {})).result;
server.stop();

const rows = [];
for (const tool of tools) {
  const properties = tool.inputSchema.properties ?? {};
  const needs = (tool.inputSchema.required ?? []).filter((name) => name !== 'trace_id');
  const reads = tool.annotations?.readOnlyHint || tool.name === 'get_flame_graph'; // writes when told where
  const applies = reads && ('trace_id' in properties || CASES[tool.name]);
  if (!applies || (needs.length && !CASES[tool.name])) continue;
  for (const args of CASES[tool.name] ?? [{}]) {
    const shown = Object.entries(args).filter(([key]) => !key.endsWith('_etl') && (!needs.includes(key) || CASES[tool.name].length > 1));
    const label = [tool.name, ...shown.map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)].join(' ');
    if (!label.includes(only)) continue;
    if (!done.has(label)) {
      const row = { stamp, label, ...(await measure(tool.name, args)) };
      done.set(label, row);
      if (state) appendFileSync(state, `${JSON.stringify(row)}\n`);
    }
    rows.push(done.get(label));
  }
}
const number = (value) => (value === undefined ? '' : value.toFixed(value < 10 ? 1 : 0));
const absent = rows.filter((row) => row.note === 'not recorded');
rows.sort((a, b) => (b.p95 ?? Infinity) - (a.p95 ?? Infinity) || (a.label < b.label ? -1 : 1));
console.log('| call | first ms | p50 ms | p95 ms | CPU ms | calls | reply bytes |');
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const row of rows.filter((each) => !absent.includes(each))) {
  const note = row.note ? ` (${row.note})` : '';
  console.log(`| ${row.label.replaceAll('|', '\\|')}${note} | ${number(row.first)} | ${number(row.p50)} | ${number(row.p95)} | ${number(row.cpu)} | ${row.calls} | ${row.bytes} |`);
}
if (absent.length) {
  const worst = Math.max(...absent.map((row) => row.first));
  console.log(`\nWithout data in this trace, answered in ${number(worst)} ms at most: ${absent.map((row) => row.label.split(' ')[0]).join(', ')}.`);
}
