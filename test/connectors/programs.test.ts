import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import { createConnectors } from '../../connectors/index.js';

/** A server that neither the end of its input nor a signal ends, as long as its line is open. */
const STUBBORN = `
  require('node:net').connect(Number(process.argv[2]), '127.0.0.1');
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => {});
  process.stdout.on('error', () => {});
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const result = method === 'initialize'
      ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
      : { tools: [] };
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  });`;

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('a program that its wrapper leaves behind ends with its connection', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'programs-')), 'server.cjs');
  await writeFile(file, STUBBORN);
  const lines = createServer();
  await new Promise<void>((resolve) => lines.listen(0, '127.0.0.1', resolve));
  const opened = new Promise<Socket>((resolve) => lines.once('connection', resolve));
  const { port } = lines.address() as AddressInfo;
  const args = ['-c', `"$0" "$1" "$2"; true`, process.execPath, file, String(port)];
  const config = defineConfig({
    agents: [defineAgent({ name: 'a', model: 's/m', instructions: 'Help.', mcp: ['crm'] })],
    mcp: { crm: { command: 'sh', args } },
  });
  const connectors = createConnectors(config);
  await connectors.list('crm', AbortSignal.timeout(20_000));
  const line = await opened;
  const ended = new Promise((resolve) => line.once('close', resolve));
  line.on('error', () => undefined).resume();
  await connectors.close();
  await ended;
  lines.close();
});
