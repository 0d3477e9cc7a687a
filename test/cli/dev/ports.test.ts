import { createServer, type AddressInfo, type Server } from 'node:net';
import type { HoldfastError } from '../../../core/state/errors.js';
import type { DevOptions } from '../../../cli/dev/options.js';
import { commandWithOthers, requirePorts, takenText, wantedPorts } from '../../../cli/dev/ports.js';
import { holdfastName, listeningSockets } from '../../../devserver/port-holder.js';

const open: Server[] = [];

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  open.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
}

afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

const options = (more: Partial<DevOptions>): DevOptions => ({
  console: true,
  watch: true,
  ...more,
});

describe('the ports of holdfast dev', () => {
  it('are those of the server, its page and the desk, but no port that is any', () => {
    const named = (more: Partial<DevOptions>) =>
      wantedPorts(options(more), 8585).map(({ option, port }) => `${option} ${port}`);
    expect(named({})).toEqual(['--port 7233', '--ui-port 8233', '--console-port 8585']);
    expect(named({ port: 0, headless: true, consolePort: 9 })).toEqual(['--console-port 9']);
    expect(named({ console: false })).toEqual(['--port 7233', '--ui-port 8233']);
  });

  it('that are taken are told together, with one whole command that begins with others', async () => {
    const [port, uiPort, consolePort] = [await takenPort(), await takenPort(), await takenPort()];
    const given = options({ port, uiPort, consolePort, ask: 'Where is it?', watch: false });
    const refused = requirePorts(wantedPorts(given, 8585), { ...given });
    const error = await refused.then(
      () => undefined,
      (thrown: HoldfastError) => thrown,
    );
    expect(error?.code).toBe('PortTaken');
    for (const one of [port, uiPort, consolePort]) expect(error?.message).toContain(`${one} (for `);
    const command = /holdfast dev (.*)/.exec(error?.hint ?? '')?.[1] ?? '';
    expect(command).toMatch(
      /^--port \d+ --ui-port \d+ --console-port \d+ --ask 'Where is it\?' --no-watch$/,
    );
    const others = command.match(/\d+/g)?.map(Number) ?? [];
    expect(others).not.toContain(port);
    expect(new Set(others.map((other, at) => other - [port, uiPort, consolePort][at]!)).size).toBe(
      1,
    );
  });

  it('stop nothing when the desk has none', async () => {
    const consolePort = await takenPort();
    const given = options({ port: 0, uiPort: 0, consolePort });
    await expect(requirePorts(wantedPorts(given, 8585), { ...given })).resolves.toBeUndefined();
  });

  it('are not moved onto one that stays', async () => {
    const port = await takenPort();
    const taken = [{ port, option: '--port', purpose: 'the Temporal server' }] as const;
    const stays = { port: port + 1, option: '--ui-port', purpose: "Temporal's web page" } as const;
    const command = await commandWithOthers(taken, { uiPort: stays.port }, [...taken, stays]);
    expect(command).not.toContain(`--port ${port + 1} `);
    expect(command).toContain(`--ui-port ${port + 1}`);
  });

  it('keep what else the command was given, but for the password of a store', async () => {
    const store = 'postgres://hf:secret@db/hf';
    expect(await commandWithOthers([], { ...options({}), store })).not.toContain('secret');
    const given = options({ console: false, headless: true });
    expect(await commandWithOthers([], { ...given, config: 'a b.ts', json: true })).toBe(
      "holdfast dev --config 'a b.ts' --headless --no-console --json",
    );
  });

  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('are told with who holds them, and where that runs', async () => {
    const port = await takenPort();
    const text = await takenText([{ port, option: '--port', purpose: 'the Temporal server' }]);
    expect(text).toContain(`Port ${port} (for the Temporal server) is taken by `);
    expect(text).toContain(` in ${process.cwd()} (process ${process.pid}).`);
  });
});

describe('who holds a port', () => {
  it('is holdfast with its command, however it was called', () => {
    expect(holdfastName(['node', '/x/node_modules/.bin/holdfast', 'dev', '--port', '1'])).toBe(
      'holdfast dev',
    );
    expect(holdfastName(['node', '/x/node_modules/holdfast/dist/cli/main.js', 'server'])).toBe(
      'holdfast server',
    );
    expect(holdfastName(['/usr/bin/holdfast', '--json', 'console'])).toBe('holdfast console');
    expect(holdfastName(['python3', '-m', 'http.server'])).toBeUndefined();
    expect(holdfastName(['cat', '/home/holdfast/notes.txt'])).toBeUndefined();
    expect(holdfastName(['node', '/x/other/dist/cli/main.js', 'serve'])).toBeUndefined();
    expect(holdfastName(['python3', '-m', 'http.server', '-d', '/srv/holdfast'])).toBeUndefined();
  });

  it('is found by the socket that listens, not by one that is connected', () => {
    const table = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 0100007F:1C41 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1',
      '   1: 0100007F:1C41 0100007F:BEEF 01 00000000:00000000 00:00000000 00000000     0        0 4712 1',
      '   2: 0100007F:2029 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1',
      '   3: 0501A8C0:1C41 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4714 1',
      '   4: 00000000:1C41 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4715 1',
    ].join('\n');
    expect(listeningSockets(table, 7233)).toEqual(['socket:[4711]', 'socket:[4715]']);
    expect(listeningSockets(table, 1)).toEqual([]);
  });
});
