// life.mjs SERVER ETLGEN: loads that are killed, raced, starved and cut off. Whatever happens, a call
// answers as it would have after an undisturbed load, or says in one sentence why it cannot; nothing
// half made is used and no marker stays behind to hold up the next load.
//
// ETW_LIFE_KILLS (15) is the number of kills, spread over the time that a load takes here; 200 is the
// full measure. ETW_LIFE_SEED (1) moves their moments.
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync,
         renameSync, rmSync, statSync, symlinkSync, truncateSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import assert from 'node:assert/strict';
import { Client, random, run, sleep } from './client.mjs';

const [program, etlgen] = process.argv.slice(2).map((p) => resolve(p));
const KILLS = Number(process.env.ETW_LIFE_KILLS ?? 15);
const SEED = Number(process.env.ETW_LIFE_SEED ?? 1);
const ROOT = process.getuid?.() === 0;
const NOBODY = 65534;
const base = mkdtempSync(join(tmpdir(), 'etw-life-'));
const env = { ...process.env, XDG_CACHE_HOME: join(base, 'cache'), ETW_MCP_LOAD_HEARTBEAT_SECONDS: '0.05' };
const rnd = random(SEED);

// Each case has its folder, so that none sees what another left.
let cases = 0;
function freshTrace(source) {
  const folder = join(base, `case-${++cases}`);
  mkdirSync(folder);
  const trace = join(folder, 't.etl');
  copyFileSync(source, trace);
  return { folder, trace, cache: join(folder, '.etw-export-t') };
}

const COUNTS = "SELECT (SELECT count(*) FROM sample) AS samples, (SELECT sum(weight_ns) FROM sample) AS weight, " +
  "(SELECT count(*) FROM context_switch) AS switches, (SELECT count(*) FROM process) AS processes, (SELECT count(*) FROM event) AS events";
const cli = (args, options = {}) => run(program, args, { env, ...options });
const answer = async (trace, options) => {
  const { code, out, log } = await cli(['--csv', 'sql', trace, COUNTS], options);
  assert.equal(code, 0, log);
  return out;
};

// What the folder of a database may hold when nobody works in it: one generation and the manifest.
function checkSettled(cache, what) {
  const names = readdirSync(cache);
  const generations = names.filter((n) => n.startsWith('g'));
  assert.deepEqual(names.filter((n) => !n.startsWith('g')), ['extracting.lock', 'wpr-mcp-cache-manifest.json'], what);
  assert.equal(generations.length, 1, what);
  const inside = readdirSync(join(cache, generations[0]));
  assert.deepEqual(inside.filter((n) => !n.endsWith('.parquet')), [], what);
}

// One sentence or two for a person: no code, no stack, no second message behind it.
function checkSentence(text, wanted) {
  assert.match(text, wanted);
  assert.ok(text.length < 700, text);
  assert.ok(!/assert|0x[0-9a-f]{8}|\bnull\b|Error: .*Error: /.test(text), text);
}

const timeOf = async (work) => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};

// ------------------------------------------------------------ kills
async function childrenOf(pid) {
  const found = [];
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try { found.push(...readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)); } catch { /* the thread ended */ }
  }
  return found;
}

// The ways to die. Each gets a trace, the moment, and whether a database is there already.
const DEATHS = {
  'command': (trace, after) => cli(['extract', trace, 'force=true'], { killAfter: after }),
  'server': async (trace, after) => {
    const client = new Client(program, { env });
    client.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'life', version: '1' } });
    client.request('tools/call', { name: 'load_trace', arguments: { etl_path: trace, force: true } });
    await sleep(after);
    client.child.kill('SIGKILL');
    await client.ended;
  },
  'server with a child': async (trace, after) => {
    const client = new Client(program, { env });
    client.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'life', version: '1' } });
    client.request('tools/call', { name: 'load_trace', arguments: { etl_path: trace, force: true, mode: 'dotnet' } });
    await sleep(after);
    client.child.kill('SIGKILL');
    await client.ended;
  },
  'child': async (trace, after) => { // the server survives, says so, and loads it the next time
    const client = new Client(program, { env });
    await client.start();
    const loading = client.call('load_trace', { etl_path: trace, force: true, mode: 'dotnet', wait_seconds: 300 });
    await sleep(after);
    const pids = existsSync('/proc/self/task') ? await childrenOf(client.child.pid) : [];
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    const reply = await loading;
    if (reply.isError) checkSentence(reply.text, /^the trace could not be loaded \(.*\): the extraction process was killed/);
    else assert.match(reply.text, /^\*\*Trace loaded:\*\*/);
    assert.equal((await client.call('load_trace', { etl_path: trace, wait_seconds: 300 })).isError, false);
    await client.stop();
  },
  'server that another one waits for': async (trace, after) => {
    const first = new Client(program, { env });
    const second = new Client(program, { env });
    await Promise.all([first.start(), second.start()]);
    first.request('tools/call', { name: 'load_trace', arguments: { etl_path: trace, force: true } });
    await sleep(after / 2);
    const waiting = second.load(trace);
    await sleep(after / 2);
    first.child.kill('SIGKILL');
    await waiting;
    await second.stop();
    await first.ended;
  },
};

async function kills(source) {
  const { trace, cache } = freshTrace(source);
  const expected = await answer(trace);
  const times = [];
  for (let i = 0; i < 3; i++) times.push(await timeOf(() => cli(['extract', trace, 'force=true'])));
  const span = Math.max(...times);
  const seen = { none: 0, whole: 0 };
  const ways = Object.keys(DEATHS);
  for (let i = 0; i < KILLS; i++) {
    const way = ways[i % ways.length];
    if (i % 2) rmSync(cache, { recursive: true, force: true });
    const after = Math.round(rnd() * span * 1.1);
    const what = `kill ${i}: ${way} after ${after} of ${Math.round(span)} ms, ${i % 2 ? 'no database' : 'an old database'} before`;
    await DEATHS[way](trace, after);
    const manifest = join(cache, 'wpr-mcp-cache-manifest.json');
    if (!(i % 2)) assert.ok(existsSync(manifest), `${what}: the old database is gone`);
    if (existsSync(manifest)) {
      assert.equal(JSON.parse(readFileSync(manifest, 'utf8')).complete, true, what);
      seen.whole++;
    } else {
      seen.none++;
    }
    let got;
    const took = await timeOf(async () => { got = await answer(trace); });
    assert.equal(got, expected, what);
    assert.ok(took < 20000 + 10 * span, `${what}: the next load took ${Math.round(took)} ms: a marker held it up`);
  }
  assert.equal((await cli(['extract', trace, 'force=true'])).code, 0);
  checkSettled(cache, 'after all kills and one load');
  console.log(`${KILLS} kills within ${Math.round(span)} ms: ${seen.none} left no database, ${seen.whole} a whole one`);
}

// ------------------------------------------------------------ many at once
const dispatches = (logs) => logs.join('').split('event=load.dispatch').length - 1;

async function together(source) {
  const { trace: warm } = freshTrace(source);
  const expected = await answer(warm);
  for (const marker of [undefined, 'of a dead process', 'cut off']) {
    const { trace, cache } = freshTrace(source);
    if (marker) {
      mkdirSync(cache);
      writeFileSync(join(cache, 'extracting.json'), marker === 'cut off' ? '' :
        JSON.stringify({ schema_version: 1, pid: 0x7ffffff0, host: hostname() }));
    }
    if (marker === 'cut off') { // whoever made it has had its time to write it
      const old = new Date(Date.now() - 60000);
      utimesSync(join(cache, 'extracting.json'), old, old);
    }
    const servers = [1, 2].map(() => new Client(program, { env, args: [] }));
    await Promise.all(servers.map((s) => s.start()));
    const commands = [1, 2, 3, 4].map(() => cli(['--verbose', '--csv', 'sql', trace, COUNTS]));
    const ids = await Promise.all(servers.map((s) => s.load(trace)));
    const ended = await Promise.all(commands);
    ended.forEach(({ code, out, log }) => {
      assert.equal(code, 0, log);
      assert.equal(out, expected);
    });
    assert.equal(ids[0], ids[1]);
    const texts = await Promise.all(servers.map((s) => s.call('query_trace', { trace_id: ids[0], sql: COUNTS })));
    assert.deepEqual(texts[0], texts[1]);
    for (const s of servers) await s.stop();
    assert.equal(dispatches([...servers.map((s) => s.log), ...ended.map((e) => e.log)]), 1,
      `one extraction, with a marker ${marker ?? '(none)'}`);
    checkSettled(cache, `together, marker ${marker}`);
  }
  console.log('two servers and four commands on one cold trace: one extraction, six equal answers');
}

// ------------------------------------------------------------ traces that change
async function changes(source, large) {
  // Between loads: the old answer stays with the old id, a new load has a new id and new rows.
  const { folder, trace } = freshTrace(source);
  const client = new Client(program, { env });
  await client.start();
  const first = await client.load(trace);
  const counted = (await client.call('query_trace', { trace_id: first, sql: COUNTS })).text;
  const bytes = readFileSync(source);
  truncateSync(trace, Math.floor(bytes.length / 2));
  const second = await client.load(trace);
  assert.notEqual(second, first);
  assert.equal((await client.call('query_trace', { trace_id: first, sql: COUNTS })).text, counted, 'the old id answers for the old file');
  assert.notEqual((await client.call('query_trace', { trace_id: second, sql: COUNTS })).text, counted);
  writeFileSync(trace, bytes); // grown again
  const third = await client.load(trace);
  assert.ok(third !== second && third !== first);
  assert.equal((await client.call('query_trace', { trace_id: third, sql: COUNTS })).text, counted);
  await client.stop();
  // Gone: known ids and paths say so.
  unlinkSync(trace);
  const other = new Client(program, { env });
  await other.start();
  checkSentence((await other.call('load_trace', { etl_path: trace })).text, /does not exist\. list_traces/);
  checkSentence((await other.call('get_cpu_samples', { trace_id: third })).text, /is gone/);
  await other.stop();
  rmSync(folder, { recursive: true });

  // While it is read: whatever the moment, rows of the file as it was or a sentence that it changed.
  const WAYS = {
    'grows': (t) => appendFileSync(t, bytes.subarray(0, 65536)),
    'shrinks': (t) => truncateSync(t, 200000),
    'becomes empty': (t) => truncateSync(t, 0),
    'vanishes': (t) => unlinkSync(t),
    'is replaced': (t) => { copyFileSync(source, `${t}.new`); renameSync(`${t}.new`, t); },
    'is overwritten': (t) => writeFileSync(t, bytes),
  };
  const seen = {};
  for (const [how, change] of Object.entries(WAYS)) {
    for (const after of [5, 200]) {
      const { trace: t, cache } = freshTrace(large);
      const server = new Client(program, { env });
      await server.start();
      const loading = server.call('load_trace', { etl_path: t, wait_seconds: 300 });
      await sleep(after);
      const status = JSON.parse((await server.call('get_load_status', { etl_path: t })).text).status;
      change(t);
      const reply = await loading;
      const what = `${how} after ${after} ms (${status}): ${reply.text.slice(0, 300)}`;
      const changed = /grew while it was read/.test(reply.text);
      if (reply.isError) checkSentence(reply.text, /changed while it was read|does not exist|could not be loaded/);
      const outcome = `${how}: ${reply.isError ? 'refused' : changed ? 'warned' : 'loaded'}`;
      // What was answered without a warning is of the file as it is now.
      const asked = reply.isError || changed ? undefined
        : (await server.call('query_trace', { trace_id: /trace_[0-9a-f]+/.exec(reply.text)[0], sql: COUNTS })).text;
      seen[outcome] = (seen[outcome] ?? 0) + 1;
      // A fresh load afterwards is of the file as it is.
      if (existsSync(t) && statSync(t).size > 1000) {
        const id = await server.load(t);
        const again = (await server.call('query_trace', { trace_id: id, sql: COUNTS })).text;
        if (asked !== undefined && status !== 'ready') assert.equal(asked, again, what);
        const { trace: copy } = freshTrace(t);
        const copied = await server.load(copy);
        assert.equal((await server.call('query_trace', { trace_id: copied, sql: COUNTS })).text.replace(copied, id), again, what);
      }
      await server.stop();
      assert.ok(!existsSync(join(cache, 'extracting.json')), `${what}: a marker stays`);
    }
  }
  console.log('traces that change while they are read:', seen);
}

// ------------------------------------------------------------ folders that do not take files
async function readOnly(source) {
  const { folder, trace, cache } = freshTrace(source);
  const own = join(base, 'cache-of-nobody');
  mkdirSync(own);
  if (ROOT) chownSync(own, NOBODY, NOBODY);
  const who = { env: { ...env, XDG_CACHE_HOME: own }, uid: ROOT ? NOBODY : undefined };
  chmodSync(base, 0o755);
  chmodSync(folder, 0o555);
  try {
    const expected = await answer(freshTrace(source).trace);
    const client = new Client(program, who);
    await client.start();
    const reply = await client.call('load_trace', { etl_path: trace, wait_seconds: 300 });
    assert.ok(!reply.isError, reply.text);
    assert.match(reply.text, /cannot be written|not writable/, 'the summary says where the cache went');
    assert.ok(reply.text.includes(own), 'and names the folder');
    await client.stop();
    assert.ok(!existsSync(cache));
    assert.equal(await answer(trace, who), expected);
    // Nowhere to go: one sentence.
    chmodSync(own, 0o555);
    rmSync(join(own, 'etw-mcp'), { recursive: true });
    const { code, log } = await cli(['sql', trace, COUNTS], { ...who, env: { ...who.env, HOME: '/nonexistent' } });
    assert.notEqual(code, 0);
    checkSentence(log, /cannot (create|write)/);
    // A database that somebody else made here is read where it lies.
    chmodSync(folder, 0o755);
    await answer(trace);
    chmodSync(folder, 0o555);
    chmodSync(cache, 0o555);
    assert.equal(await answer(trace, who), expected);
    assert.deepEqual(readdirSync(own), []);
  } finally {
    for (const path of [folder, cache, own]) if (existsSync(path)) chmodSync(path, 0o755);
  }
  console.log('read-only folders: the per-user cache, said so; nowhere at all: a sentence');
}

async function fullDisk(source, large) {
  const disk = join(base, 'disk');
  mkdirSync(disk);
  let mounted = false;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk], { stdio: 'ignore' });
    mounted = true;
  } catch { console.log('full disk: skipped, no file system can be mounted here'); return; }
  try {
    const trace = join(disk, 't.etl');
    symlinkSync(large, trace); // the trace is elsewhere; its database would be beside it
    const other = freshTrace(large);
    mkdirSync(join(disk, 'cache'));
    symlinkSync(join(disk, 'cache'), other.cache);
    for (const mode of ['native', 'dotnet']) {
      const client = new Client(program, { env });
      await client.start();
      const reply = await client.call('load_trace', { etl_path: other.trace, wait_seconds: 300, mode });
      assert.equal(reply.isError, true);
      checkSentence(reply.text, /\(out-of-disk\): .*(no space left|disk is full)/i);
      const status = JSON.parse((await client.call('get_load_status', { etl_path: other.trace })).text);
      assert.equal(status.failure_kind, 'out-of-disk');
      assert.deepEqual(readdirSync(join(disk, 'cache')).filter((n) => n !== 'failed.json' && n !== 'extracting.lock'), [], 'room is free again');
      await client.stop();
    }
    unlinkSync(other.trace);
    copyFileSync(source, other.trace);
    await answer(other.trace);
    checkSettled(join(disk, 'cache'), 'after the disk was full');
  } finally {
    if (mounted) execFileSync('umount', [disk]);
  }
  console.log('a full disk: out-of-disk, nothing left behind');
}

const PARTS = { kills, together, changes, readOnly, fullDisk };
try {
  const small = join(base, 'small.etl');
  const large = join(base, 'large.etl');
  execFileSync(etlgen, ['--events', '5000', small]);
  execFileSync(etlgen, ['--events', '60000', large]);
  for (const name of process.env.ETW_LIFE_PARTS?.split(',') ?? Object.keys(PARTS)) {
    const took = await timeOf(() => PARTS[name](small, large));
    console.log(`  ${name}: ${(took / 1000).toFixed(1)} s`);
  }
} finally {
  rmSync(base, { recursive: true, force: true });
}
