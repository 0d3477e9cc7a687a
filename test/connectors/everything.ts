/** The reference server of the legacy protocol, as a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { until } from '../until.js';

export const EVERYTHING = join(
  __dirname,
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Over HTTP, once it answers. */
export async function startEverything(kind: 'streamableHttp' | 'sse', port: number) {
  const child = spawn(process.execPath, [EVERYTHING, kind], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  await until(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    return response !== undefined;
  });
  return { kill: () => killed(child) };
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await until(() => child.signalCode !== null || child.exitCode !== null);
}
