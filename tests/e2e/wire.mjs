// Runs the wire checker (mcp-client.mjs --negative) of the shared test tools against a server, with
// each official SDK in each era. Exit status 77 where those tools are not at hand.
//
//   node wire.mjs SERVER [ARGUMENT...]

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const [command, ...args] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const shared = process.env.ETW_SHARED ?? path.join(here, '../../../shared');
const checker = path.join(shared, 'tools/mcp-client.mjs');
if (!existsSync(checker)) {
  console.log('skipped: no tools/mcp-client.mjs in ETW_SHARED or ../shared');
  process.exit(77);
}
// The checker imports the SDKs from beside itself.
const folder = mkdtempSync(path.join(tmpdir(), 'etw-wire-'));
let failed = 0;
try {
  copyFileSync(checker, path.join(folder, 'mcp-client.mjs'));
  symlinkSync(path.join(here, 'node_modules'), path.join(folder, 'node_modules'));
  for (const [sdk, era] of [['v1', 'legacy'], ['v1', 'auto'], ['v2', 'legacy'], ['v2', 'auto'], ['v2', 'modern']]) {
    const run = spawnSync(process.execPath, [path.join(folder, 'mcp-client.mjs'), '-q', '--sdk', sdk, '--era', era,
      '--negative', '--', path.resolve(command), ...args], { encoding: 'utf8' });
    console.log(`sdk ${sdk}, ${era}: ${run.stdout.trim()}${run.stderr}`);
    failed += run.status !== 0;
  }
} finally {
  rmSync(folder, { recursive: true });
}
process.exit(failed ? 1 : 0);
