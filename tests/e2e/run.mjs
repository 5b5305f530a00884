// Starts a built server, drives it with the official SDK clients in both eras, lists everything and
// calls every tool.
//
//   node run.mjs SERVER [ARGUMENT...]        (or ETW_MCP=SERVER node run.mjs)
//
// With a trace (ETW_TRACE, else the smallest .etl below ETW_SHARED or ../shared), and a server that
// has load_trace, every tool is also called on that trace.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as TransportV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Ajv } from 'ajv';

const MODERN = '2026-07-28';
const [server, ...args] = process.argv.length > 2 ? process.argv.slice(2) : [process.env.ETW_MCP];
if (!server) {
  console.error('usage: node run.mjs SERVER [ARGUMENT...]');
  process.exit(2);
}
const command = path.resolve(server); // the server starts in another folder
const structured = args.includes('--structured');
const RESULT_BYTES = 24000, LIST_BYTES = 60 * 1024, TEXT_CHARS = 2048, ERROR_CHARS = 10000;

// ------------------------------------------------------------ the two SDKs behind one face
const info = { name: 'e2e', version: '1.0.0' };
// Clients pass a handful of variables and what the configuration names; the cache must not be the user's.
const env = Object.fromEntries(['XDG_CACHE_HOME', 'ASAN_OPTIONS', 'UBSAN_OPTIONS'].filter((k) => process.env[k]).map((k) => [k, process.env[k]]));
const where = { command, args, env, stderr: 'ignore', cwd: '/' };

async function connect(sdk, era) {
  const errors = [];
  const transport = sdk === 'v1' ? new TransportV1(where) : new TransportV2(where);
  const client = sdk === 'v1' ? new ClientV1(info)
    : new ClientV2(info, { versionNegotiation: { mode: era === 'modern' ? { pin: MODERN } : era } });
  client.onerror = (e) => errors.push(e); // anything on stdout that is no message ends up here
  await client.connect(transport);
  return {
    errors,
    close: () => client.close(),
    version: () => client.getServerVersion(),
    instructions: () => client.getInstructions(),
    lists: async () => ({
      tools: (await client.listTools()).tools,
      prompts: (await client.listPrompts()).prompts,
      resources: (await client.listResources()).resources,
      templates: (await client.listResourceTemplates()).resourceTemplates,
    }),
    call: (params, options) => sdk === 'v1' ? client.callTool(params, undefined, options) : client.callTool(params, options),
    prompt: (params) => client.getPrompt(params),
    read: (uri) => client.readResource({ uri }),
    complete: (params) => client.complete(params),
  };
}

// ------------------------------------------------------------ checks
function checkSchema(schema, at, top = true) {
  if (top) assert.equal(schema.type, 'object', `${at}: the root must be an object`);
  assert.ok(!Array.isArray(schema.type), `${at}: a list of types`);
  for (const key of ['anyOf', 'oneOf', 'allOf', '$ref']) assert.ok(!(key in schema), `${at}: ${key}`);
  if (schema.type === 'array') {
    assert.ok(schema.items, `${at}: an array without items`);
    checkSchema(schema.items, `${at}[]`, false);
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    // Most tools have these; the instructions explain them once.
    const known = ['trace_id', 'start_time', 'end_time', 'max_rows', 'top_n'].includes(name);
    assert.ok(property.description || known, `${at}.${name}: no description`);
    checkSchema(property, `${at}.${name}`, false);
  }
}

function checkTools(tools) {
  const names = new Set();
  for (const tool of tools) {
    assert.match(tool.name, /^[a-z0-9_]{1,40}$/);
    assert.ok(!names.has(tool.name), `${tool.name} is listed twice`);
    names.add(tool.name);
    assert.ok(tool.title, `${tool.name}: no title`);
    assert.ok(tool.description.length <= TEXT_CHARS, `${tool.name}: description of ${tool.description.length} characters`);
    assert.equal(typeof tool.annotations?.readOnlyHint, 'boolean', `${tool.name}: no readOnlyHint`);
    assert.equal(tool.inputSchema.additionalProperties, false, `${tool.name}: additionalProperties`);
    checkSchema(tool.inputSchema, tool.name);
    assert.equal(tool.outputSchema !== undefined, structured, `${tool.name}: outputSchema`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(tools));
  assert.ok(structured || bytes <= LIST_BYTES, `the tool list has ${bytes} bytes`);
  return bytes;
}

const ajv = new Ajv({ strict: false });
function checkResult(tool, result) {
  assert.ok(Array.isArray(result.content) && result.content.length > 0, `${tool.name}: no content`);
  const text = result.content.map((c) => { assert.equal(c.type, 'text'); return c.text; }).join('');
  assert.ok(text.length > 0, `${tool.name}: no text`);
  assert.ok(!/\bNaN\b|\bInfinity\b/.test(text), `${tool.name}: NaN or Infinity in the text`);
  if (result.isError) {
    assert.ok(text.length < ERROR_CHARS, `${tool.name}: error of ${text.length} characters`);
    assert.equal(result.structuredContent, undefined);
    return text;
  }
  if (structured) {
    const validate = ajv.compile(tool.outputSchema);
    assert.ok(validate(result.structuredContent), `${tool.name}: ${ajv.errorsText(validate.errors)}`);
    assert.deepEqual(JSON.parse(text), result.structuredContent, `${tool.name}: text and structure differ`);
  } else {
    assert.ok(Buffer.byteLength(text) <= RESULT_BYTES, `${tool.name}: ${Buffer.byteLength(text)} bytes`);
    assert.equal(result.structuredContent, undefined);
  }
  return text;
}

// A value that fits the schema of a required parameter.
function sample(name, schema, known) {
  if (name in known) return known[name];
  if (schema.enum) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  switch (schema.type) {
    case 'integer': case 'number': return schema.minimum ?? 1;
    case 'boolean': return false;
    case 'array': return [];
    case 'object': return {};
    default: return 'x';
  }
}
const argumentsFor = (tool, known) => Object.fromEntries((tool.inputSchema.required ?? [])
  .map((name) => [name, sample(name, tool.inputSchema.properties[name], known)]));

// ------------------------------------------------------------ the run
function findTrace() {
  if (process.env.ETW_TRACE) return process.env.ETW_TRACE;
  const shared = process.env.ETW_SHARED ?? path.join(path.dirname(fileURLToPath(import.meta.url)), '../../../shared');
  const root = path.join(shared, 'traces');
  if (!existsSync(root)) return undefined;
  const files = readdirSync(root, { recursive: true }).filter((f) => f.toLowerCase().endsWith('.etl'))
    .map((f) => path.join(root, f)).map((f) => ({ f, size: statSync(f).size })).filter((x) => x.size > 4096);
  return files.sort((a, b) => a.size - b.size || (a.f < b.f ? -1 : 1))[0]?.f;
}

async function callAll(client, tools, known, what) {
  let errors = 0;
  for (const tool of tools) {
    const result = await client.call({ name: tool.name, arguments: argumentsFor(tool, known) });
    checkResult(tool, result);
    errors += result.isError === true;
  }
  console.log(`  ${what}: ${tools.length} tools called, ${errors} answered with an error`);
}

async function checkOthers(client, lists) {
  for (const resource of lists.resources) {
    assert.ok(resource.description, `${resource.uri}: no description`);
    assert.ok((await client.read(resource.uri)).contents.length > 0);
  }
  await assert.rejects(client.read('trace://trace_000000000000/summary'));
  await assert.rejects(client.read('nosuch://thing'));
  for (const prompt of lists.prompts) {
    const given = Object.fromEntries(prompt.arguments.map((a) => [a.name, 'some value']));
    const result = await client.prompt({ name: prompt.name, arguments: given });
    const { text } = result.messages[0].content;
    assert.match(text, /some value/);
    if (lists.tools.some((t) => t.name === 'analyze')) { // recipes name tools of the product
      for (const [name] of text.matchAll(/\b(?:get_\w+|analyze|load_trace|trace_info|(?:check|resolve)_symbols|compare_traces)\b/g))
        assert.ok(lists.tools.some((t) => t.name === name), `prompt ${prompt.name} names ${name}`);
    }
    await assert.rejects(client.prompt({ name: prompt.name, arguments: {} }));
    const ref = { type: 'ref/prompt', name: prompt.name };
    const completion = await client.complete({ ref, argument: { name: prompt.arguments[0].name, value: '' } });
    assert.ok(completion.completion.values.length <= 100);
  }
  await assert.rejects(client.call({ name: 'no_such_tool', arguments: {} }));
}

async function runEra(sdk, era, trace, first) {
  const client = await connect(sdk, era);
  const lists = await client.lists();
  if (first) assert.deepEqual(lists, first, 'the lists differ between clients');
  const bytes = checkTools(lists.tools);
  assert.ok(client.instructions().length > 0 && client.instructions().length <= TEXT_CHARS);
  console.log(`sdk ${sdk}, ${era}: ${client.version().name} ${client.version().version}, ${lists.tools.length} tools in ${bytes} bytes`);
  await callAll(client, lists.tools, { trace_id: 'trace_000000000000' }, 'unknown trace');
  for (const tool of lists.tools.filter((t) => t.inputSchema.required?.length)) {
    const result = await client.call({ name: tool.name, arguments: {} });
    assert.equal(result.isError, true, `${tool.name} without arguments`);
    checkResult(tool, result);
  }
  const load = lists.tools.find((t) => t.name === 'load_trace');
  if (load && trace) {
    const result = await client.call({ name: 'load_trace', arguments: { etl_path: trace } });
    const id = /trace_[0-9a-f]+/.exec(checkResult(load, result))?.[0];
    assert.ok(id, 'load_trace names no trace_id');
    const known = { trace_id: id, etl_path: trace, baseline_etl: id, test_etl: id, sql: 'SELECT 1 AS one' };
    const others = lists.tools.filter((t) => !['unload_trace', 'export_analysis'].includes(t.name));
    await callAll(client, others, known, path.basename(trace));
    assert.ok((await client.read(`trace://${id}/summary`)).contents[0].text.length > 0);
    if (lists.tools.some((t) => t.name === 'query_trace'))
      assert.ok((await client.read(`trace://${id}/table/process`)).contents[0].text.length > 0);
  }
  await checkOthers(client, lists);
  assert.deepEqual(await client.lists(), lists, 'the lists changed during the session');
  assert.deepEqual(client.errors.map(String), []);
  await client.close();
  return lists;
}

// Status 0 after a signal, and after the end of input, also while a call runs that never notices.
async function checkExit(how, tools) {
  const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = new Promise((resolve) => server.once('close', (code, signal) => resolve(code ?? signal)));
  if (tools.some((t) => t.name === 'stuck'))
    server.stdin.write(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'stuck', arguments: { ms: 60000 },
      _meta: { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} } } }) + '\n');
  server.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await new Promise((resolve) => server.stdout.once('data', resolve));
  const began = performance.now();
  if (how === 'end of input') server.stdin.end(); else server.kill(how);
  assert.equal(await ended, 0, how);
  console.log(`${how}: status 0 after ${Math.round(performance.now() - began)} ms`);
}

const trace = findTrace();
if (!trace) console.log('no trace: set ETW_TRACE or ETW_SHARED to call the tools on one');
let lists;
for (const [sdk, era] of [['v1', 'legacy'], ['v2', 'legacy'], ['v2', 'auto'], ['v2', 'modern']])
  lists = await runEra(sdk, era, trace, lists);
for (const how of ['end of input', 'SIGTERM', 'SIGINT', 'SIGHUP']) await checkExit(how, lists.tools);
console.log('ok');
