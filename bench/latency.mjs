// latency.mjs ETW_MCP TRACE.etl [ROUNDS]: starts the server, loads the trace and times each read-only
// tool that needs nothing but the trace. Prints "tool p50_ms p95_ms bytes" lines, slowest last.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [program, trace, rounds = '15'] = process.argv.slice(2);
const started = process.hrtime.bigint();
const server = spawn(program, ['--quiet'], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
createInterface({ input: server.stdout }).on('line', (line) => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message);
});
let last = 0;
function request(method, params) {
  const id = ++last;
  server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  return new Promise((resolve) => waiting.set(id, resolve));
}
const ms = (from) => Number(process.hrtime.bigint() - from) / 1e6;

await request('initialize', { protocolVersion: '2025-11-25', capabilities: {},
                              clientInfo: { name: 'bench', version: '1' } });
console.log(`initialize ${ms(started).toFixed(1)} 0 0`);
const { tools } = (await request('tools/list', {})).result;
const loadedAt = process.hrtime.bigint();
const load = (await request('tools/call', { name: 'load_trace',
                                            arguments: { etl_path: trace, wait_seconds: 600 } })).result;
const id = /trace_[0-9a-f]{12}/.exec(load.content[0].text)[0];
console.log(`load_trace ${ms(loadedAt).toFixed(1)} 0 ${load.content[0].text.length}`);

// Arguments of tools that need more than the trace.
const more = { query_trace: { sql: 'SELECT count(*) FROM sample' },
               get_function_callers: { function_filter: 'k0.sys' }, walk_stack: { function_filter: 'k0.sys' },
               count_stacks: { contains: ['k0.sys'] }, butterfly_chain: { target_function: 'k0.sys' },
               decode_packet: { timestamp_us: 500000 }, diagnose_symbol_load: { module: 'k0.sys' },
               get_packet_timeline: { five_tuple: '10.0.0.1:20000 <-> 10.1.0.1:443' },
               get_network_wait_chain: { thread_filter: 'p1.exe' }, get_hot_lines: { function: 'k0.sys' },
               get_critical_path: { thread: 1004 }, explain_connection: { five_tuple: '10.0.0.1:20000 <-> 10.1.0.1:443' } };
const results = [];
for (const tool of tools) {
  const needs = (tool.inputSchema.required ?? []).filter((name) => name !== 'trace_id');
  const takesTrace = 'trace_id' in (tool.inputSchema.properties ?? {});
  if (!tool.annotations?.readOnlyHint || !takesTrace || (needs.length && !more[tool.name])) continue;
  const times = [];
  let bytes = 0;
  let failed = '';
  const began = process.hrtime.bigint();
  for (let i = 0; i < Number(rounds) + 1 && (i < 2 || ms(began) < 5000); i++) {
    const at = process.hrtime.bigint();
    const reply = await request('tools/call', { name: tool.name, arguments: { trace_id: id, ...more[tool.name] } });
    if (i > 0) times.push(ms(at)); // the first call may build what the others share
    bytes = Buffer.byteLength(reply.result?.content?.[0]?.text ?? '');
    if (reply.result?.isError ?? true) failed = ' (error reply)';
  }
  times.sort((a, b) => a - b);
  results.push([times[Math.floor((times.length - 1) * 0.95)],
                `${tool.name} ${times[times.length >> 1].toFixed(1)} ${times[Math.floor((times.length - 1) * 0.95)].toFixed(1)} ${bytes}${failed}`]);
}
for (const [, line] of results.sort((a, b) => a[0] - b[0])) console.log(line);
server.stdin.end();
