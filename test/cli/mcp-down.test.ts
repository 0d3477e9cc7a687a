/** `holdfast mcp diff` while a server is down. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCli } from '../../cli/program.js';
import { compiledPath } from '../compiled.js';

test('a server that is down differs from nothing, and is an error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-mcp-down-'));
  try {
    const authoring = JSON.stringify(compiledPath(join(__dirname, '../../authoring/index.ts')));
    writeFileSync(
      join(folder, 'holdfast.config.js'),
      `const { defineAgent, defineConfig } = require(${authoring});
      module.exports = defineConfig({
        agents: [defineAgent({ name: 'a', model: 'scripted/m', instructions: 'x', mcp: ['crm'] })],
        scripted: () => ({ text: 'x' }),
        mcp: { crm: { url: 'http://127.0.0.1:1/mcp' } },
      });`,
    );
    let out = '';
    const code = await runCli(['mcp', 'diff'], {
      environment: { variables: {}, folder, colour: false, interactive: false },
      input: new PassThrough(),
      streams: { out: (text) => void (out += text), err: () => undefined },
    });
    expect(code).toBe(1);
    expect(out).toContain('crm: down');
    expect(out).not.toContain('Nothing differs');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
