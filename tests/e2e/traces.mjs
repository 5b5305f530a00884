// traces.mjs SERVER ETLGEN TRACE_BUILD: real work over the protocol, on traces made here. The same call
// gives the same bytes: twice, in parallel, after a restart, and from a database made anew; a call that
// is cancelled answers no more; unloading stops a load.
import { spawn, execFileSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import assert from 'node:assert/strict';

const [server, etlgen, build] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'etw-traces-'));
const env = { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') };

class Client {
  constructor() {
    this.child = spawn(server, ['--quiet'], { stdio: ['pipe', 'pipe', 'inherit'], env });
    this.waiting = new Map();
    this.last = 0;
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      this.waiting.get(message.id)?.(message);
    });
  }
  send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
  request(method, params) {
    const id = ++this.last;
    const answer = new Promise((resolve) => this.waiting.set(id, resolve));
    this.send({ id, method, params });
    return answer;
  }
  async start() {
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities: {},
                                       clientInfo: { name: 'traces', version: '1' } });
    return (await this.request('tools/list', {})).result.tools;
  }
  async call(name, args) {
    const { result, error } = await this.request('tools/call', { name, arguments: args });
    assert.ok(result, `${name}: ${JSON.stringify(error)}`);
    return { text: result.content[0].text, isError: result.isError === true };
  }
  async stop() {
    const ended = new Promise((resolve) => this.child.on('exit', resolve));
    this.child.stdin.end();
    assert.equal(await ended, 0, 'the server ends with status 0');
  }
}

const a = join(folder, 'a.etl');
const b = join(folder, 'b.etl');
const large = join(folder, 'large.etl');
writeFileSync(join(folder, 'a.json'), execFileSync(etlgen, ['--events', '20000', a]));
execFileSync(build, [join(here, '../support/demo.trace'), b]);
execFileSync(etlgen, ['--events', '600000', large]);

// Like deepEqual, but names what differs instead of printing everything.
function same(got, expected, why) {
  for (const key of Object.keys(expected)) {
    if (got[key] === expected[key]) continue;
    const a = got[key].split('\n');
    const b = expected[key].split('\n');
    const at = b.findIndex((line, i) => line !== a[i]);
    assert.fail(`${why}: ${key}\n- ${b[at]}\n+ ${a[at]}`);
  }
}

const load = async (client, path, more = {}) => {
  const reply = await client.call('load_trace', { etl_path: path, wait_seconds: 300, ...more });
  assert.ok(!reply.isError, reply.text);
  return /trace_[0-9a-f]{12}/.exec(reply.text)[0];
};
// Tools that need only the trace, and whose answer is about the trace alone.
const plain = (tools) => tools.filter((t) => t.annotations?.readOnlyHint && 'trace_id' in (t.inputSchema.properties ?? {}) &&
  (t.inputSchema.required ?? []).every((n) => n === 'trace_id') && t.name !== 'get_load_status').map((t) => t.name);
const answers = async (client, names, ids) => {
  const found = {};
  for (const id of ids) for (const name of names) found[`${name} ${id}`] = (await client.call(name, { trace_id: id })).text;
  return found;
};

try {
  let client = new Client();
  const names = plain(await client.start());
  assert.ok(names.length >= 8, 'tools are found');
  const ids = [await load(client, a), await load(client, b)];
  const first = await answers(client, names, ids);
  same(await answers(client, names, ids), first, 'the second answers differ from the first');

  const jobs = Object.keys(first).concat(Object.keys(first)).slice(0, Math.max(20, Object.keys(first).length));
  const parallel = await Promise.all(jobs.map((job) => {
    const [name, id] = job.split(' ');
    return client.call(name, { trace_id: id });
  }));
  jobs.forEach((job, i) => assert.equal(parallel[i].text, first[job], `${job} in parallel`));
  await client.stop();

  client = new Client(); // ids outlive the process; nothing is decoded again
  await client.start();
  same(await answers(client, names, ids), first, 'warm answers differ from cold ones');
  for (const path of [a, b]) await load(client, path, { force: true });
  same(await answers(client, names, ids), first, 'a second decoding gives other answers');

  // A cancelled call is silent, and its load goes on; unloading ends a load.
  const id = client.last + 1;
  let answered = false;
  client.request('tools/call', { name: 'load_trace', arguments: { etl_path: large, wait_seconds: 300 } })
    .then(() => { answered = true; });
  let status;
  do {
    status = JSON.parse((await client.call('get_load_status', { etl_path: large })).text);
  } while (status.status === 'not_found');
  client.send({ method: 'notifications/cancelled', params: { requestId: id } });
  const at = Date.now();
  await client.request('ping', {});
  assert.ok(Date.now() - at < 5000, 'the server answers while a trace loads');
  status = JSON.parse((await client.call('get_load_status', { etl_path: large })).text);
  assert.ok(['extracting', 'ready'].includes(status.status), status.status);
  if (status.status === 'extracting') {
    await client.call('unload_trace', { trace_id: status.trace_id });
    let after;
    do { // ends by the test's own time limit when the load does not
      await new Promise((resolve) => setTimeout(resolve, 50));
      after = JSON.parse((await client.call('get_load_status', { etl_path: large })).text);
    } while (after.status === 'extracting');
    assert.notEqual(after.status, 'ready', 'the load went on after unload_trace');
  }
  assert.equal(answered, false, 'a cancelled call was answered');
  await client.stop();
  console.log(`${names.length} tools on ${ids.length} traces: equal twice, in parallel, warm, and decoded anew`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
