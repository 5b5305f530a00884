// A plain client of the wire for tests that need real work, kills and timing more than an SDK: one
// server process, requests that run side by side, and what the server wrote to stderr.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import assert from 'node:assert/strict';

export class Client {
  // options: args, env, uid
  constructor(server, { args = ['--quiet'], env = process.env, uid } = {}) {
    const who = uid === undefined ? {} : { uid, gid: uid };
    this.child = spawn(server, args, { stdio: ['pipe', 'pipe', 'pipe'], env, ...who });
    this.log = '';
    this.waiting = new Map();
    this.last = 0;
    this.ended = new Promise((resolve) => this.child.once('close', (code, signal) => resolve(code ?? signal)));
    // Whoever still waits when the server ends gets no answer.
    this.ended.then(() => { for (const answer of this.waiting.values()) answer({}); });
    this.child.stdin.on('error', () => {});
    this.child.stderr.on('data', (bytes) => { this.log += bytes; });
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      this.waiting.get(message.id)?.(message);
      this.waiting.delete(message.id);
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
                                       clientInfo: { name: 'e2e', version: '1' } });
    return (await this.request('tools/list', {})).result.tools;
  }
  async call(name, args) {
    const { result, error } = await this.request('tools/call', { name, arguments: args });
    assert.ok(result, `${name}: ${JSON.stringify(error ?? 'the server ended')}\n${this.log}`);
    return { text: result.content[0].text, isError: result.isError === true };
  }
  async load(path, more = {}) {
    const reply = await this.call('load_trace', { etl_path: path, wait_seconds: 300, ...more });
    assert.ok(!reply.isError, reply.text);
    return /trace_[0-9a-f]{12}/.exec(reply.text)[0];
  }
  async stop() {
    this.child.stdin.end();
    assert.equal(await this.ended, 0, `the server ends with status 0\n${this.log}`);
  }
}

// Tools that need only the trace, and whose answer is about the trace alone.
export const plainTools = (tools) => tools.filter((t) => t.annotations?.readOnlyHint && 'trace_id' in (t.inputSchema.properties ?? {}) &&
  (t.inputSchema.required ?? []).every((n) => n === 'trace_id') && t.name !== 'get_load_status').map((t) => t.name);

// The same sequence for the same seed (mulberry32), 0 <= x < 1.
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Runs a program to its end or until it is killed after `killAfter` ms.
export function run(program, args, { env = process.env, killAfter, uid } = {}) {
  const who = uid === undefined ? {} : { uid, gid: uid };
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env, ...who });
  let out = '', log = '';
  child.stdout.on('data', (bytes) => { out += bytes; });
  child.stderr.on('data', (bytes) => { log += bytes; });
  const timer = killAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfter);
  return new Promise((resolve) => child.once('close', (code, signal) => {
    clearTimeout(timer);
    resolve({ code, signal, out, log });
  }));
}
