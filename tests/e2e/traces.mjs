// traces.mjs SERVER ETLGEN TRACE_BUILD: real work over the protocol, on traces made here. The same call
// gives the same bytes: twice, in parallel, after a restart, and from a database made anew; a call that
// is cancelled answers no more; unloading stops a load.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import assert from 'node:assert/strict';
import { Client, plainTools } from './client.mjs';

const [server, etlgen, build] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'etw-traces-'));
const env = { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') };

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

const answers = async (client, names, ids) => {
  const found = {};
  for (const id of ids) for (const name of names) found[`${name} ${id}`] = (await client.call(name, { trace_id: id })).text;
  return found;
};

try {
  let client = new Client(server, { env });
  const names = plainTools(await client.start());
  assert.ok(names.length >= 8, 'tools are found');
  const ids = [await client.load(a), await client.load(b)];
  const first = await answers(client, names, ids);
  same(await answers(client, names, ids), first, 'the second answers differ from the first');

  const jobs = Object.keys(first).concat(Object.keys(first)).slice(0, Math.max(20, Object.keys(first).length));
  const parallel = await Promise.all(jobs.map((job) => {
    const [name, id] = job.split(' ');
    return client.call(name, { trace_id: id });
  }));
  jobs.forEach((job, i) => assert.equal(parallel[i].text, first[job], `${job} in parallel`));
  await client.stop();

  client = new Client(server, { env }); // ids outlive the process; nothing is decoded again
  await client.start();
  same(await answers(client, names, ids), first, 'warm answers differ from cold ones');
  for (const path of [a, b]) await client.load(path, { force: true });
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
