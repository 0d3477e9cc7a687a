/** Attacks from inside of a sandbox: how many there are is told in the guide, and none of them gets anywhere. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SandboxBroken, type CommandRan } from '../../sandbox/run-command.js';
import { ATTACKS, type Attack, type Targets } from './attacks.js';
import { sh } from './folders.js';
import { whereIsolated } from './where-isolated.js';

const SECRET = 'hunter2-of-the-worker';

test('the guide tells how many attacks there are', () => {
  const guide = readFileSync(join(__dirname, '../../docs/guide/sandbox.md'), 'utf8');
  const rows = guide.matchAll(/^\| (\w+) +\|[^|]+\| (\d+) +\| (\d+) +\|$/gm);
  const told = [...rows].map(([, about, attempts, successes]) => [
    about,
    Number(attempts),
    Number(successes),
  ]);
  expect(told).toEqual(Object.entries(ATTACKS).map(([about, { length }]) => [about, length, 0]));
});

whereIsolated('an attack on', (isolation) => {
  let targets: Targets;
  let outside: string;
  let tcp: Server;
  let abstract: Server;
  let udp: Socket;
  let victim: ChildProcess;
  let visits = 0;

  beforeAll(async () => {
    process.env['SANDBOX_ATTACK_SECRET'] = SECRET;
    outside = mkdtempSync(join(tmpdir(), 'holdfast-outside-'));
    const secretFile = join(outside, 'secret');
    writeFileSync(secretFile, SECRET);
    const visited = (): void => void (visits += 1);
    tcp = createServer((socket) => {
      visited();
      socket.destroy();
    });
    const abstractName = `holdfast-${process.pid}`;
    abstract = createServer(visited);
    udp = createSocket('udp4').on('message', visited);
    victim = spawn('sleep', ['600'], { stdio: 'ignore' });
    await new Promise<void>((resolve) => tcp.listen(0, '::', resolve));
    await new Promise<void>((resolve) => abstract.listen(`\0${abstractName}`, resolve));
    await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
    targets = {
      tcpPort: (tcp.address() as { port: number }).port,
      udpPort: udp.address().port,
      abstractName,
      secretFile,
      outside,
      secret: SECRET,
      workerPid: process.pid,
      victimPid: victim.pid!,
    };
  });

  afterAll(() => {
    delete process.env['SANDBOX_ATTACK_SECRET'];
    victim.kill('SIGKILL');
    tcp.close();
    abstract.close();
    udp.close();
    rmSync(outside, { recursive: true, force: true });
  });

  async function ranUnder(about: string, attack: Attack): Promise<CommandRan | undefined> {
    const limits = { timeMs: 2_500, floodBytes: 5_000_000 };
    try {
      return await sh(isolation, attack.line(targets), { limits });
    } catch (error) {
      // An attack that breaks its own sandbox got nowhere: nothing of it is kept.
      if ((about === 'signals' || attack.breaks) && error instanceof SandboxBroken)
        return undefined;
      throw error;
    }
  }

  for (const [about, attacks] of Object.entries(ATTACKS)) {
    test.each(attacks.map((attack) => [attack.name, attack] as const))(
      `${about}: %s`,
      async (_, attack) => {
        const before = visits;
        const ran = await ranUnder(about, attack);
        if (attack.endsBy !== undefined) expect(ran?.end.endedBy).toMatch(attack.endsBy);
        expect(ran?.end.stdout.text ?? '').not.toMatch(/GOT/);
        expect(JSON.stringify(ran?.end ?? {})).not.toContain(SECRET);
        expect(visits).toBe(before);
        expect(victim.exitCode ?? victim.signalCode).toBeNull();
        expect(readdirSync(outside)).toEqual(['secret']);
      },
    );
  }
});
