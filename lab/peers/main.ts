/** `npm run peers -- [--rounds N] [--lengths 10,100] [--only NAME,…] [--json FILE]`: the same refund loop in Holdfast and its peers. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Command } from 'commander';
import { startTestServer } from '../../testing/index.js';
import { factLines, machineFacts } from '../bench/machine.js';
import { startPostgres, type PostgresServer } from '../chaos/postgres.js';
import { writeReportFile } from '../proving/report-file.js';
import { wholeNumber } from '../proving/whole-number.js';
import { CONTESTANTS, installOthers } from './contestants.js';
import { openOutside } from './outside.js';
import { costsOf } from './costs.js';
import { afterKill, afterRestart, type Entrant, type Ground } from './trials.js';

const KILLS = (['booked', 'told'] as const).flatMap((moment) =>
  [true, false].map((keyed) => ({ moment, keyed })),
);

const count = wholeNumber(1, 1_000);

interface Options {
  readonly rounds: number;
  readonly lengths: readonly number[];
  readonly only?: readonly string[];
  readonly json?: string;
}

const program = new Command('peers')
  .description('The same refund loop in Holdfast, a plain Temporal loop, DBOS and LangGraph.')
  .option('--rounds <n>', 'runs of each length', count, 7)
  .option(
    '--lengths <n,n,…>',
    'turns of the runs',
    (text) => text.split(',').map((word) => count(word)),
    [10, 100],
  )
  .option('--only <name,name,…>', 'some of the peers', (text) => text.split(','))
  .option('--json <file>', 'write the figures to a file')
  .action(tryAll);

async function tryAll(options: Options): Promise<void> {
  const say = (line: string): void => console.log(line);
  const peers = CONTESTANTS.filter(({ name }) => options.only?.includes(name) ?? true);
  if (peers.some(({ keepsInPostgres }) => keepsInPostgres)) installOthers(say);
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-peers-'));
  // PostgreSQL has an account of its own.
  await chmod(folder, 0o755);
  const outside = await openOutside();
  const server = await startTestServer({ environment: process.env });
  const connection = await Connection.connect({ address: server.address });
  const databases: PostgresServer[] = [];
  try {
    const ground: Ground = { outside, client: new Client({ connection }), say };
    const entrants: Entrant[] = [];
    for (const peer of peers) {
      const place = { modelUrl: outside.modelUrl, serviceUrl: outside.serviceUrl, keyed: true };
      if (!peer.keepsInPostgres) {
        const store = peer.name === 'holdfast' && { storePlace: join(folder, 'store.db') };
        entrants.push({ peer, settings: { ...place, address: server.address, ...store } });
        continue;
      }
      const database = join(folder, peer.name);
      await mkdir(database, { mode: 0o755 });
      const postgres = await startPostgres(database, await freePort());
      databases.push(postgres);
      entrants.push({ peer, settings: { ...place, databaseUrl: postgres.url } });
    }
    const costs = await costsOf(entrants, ground, options);
    const report = [];
    for (const one of entrants) {
      const kills = [];
      for (const after of KILLS) kills.push(await afterKill(one, ground, after));
      const restart = await afterRestart(one, ground);
      report.push({ peer: one.peer.title, costs: costs.get(one.peer), kills, restart });
    }
    for (const line of factLines(await machineFacts(server.address))) say(line);
    if (options.json !== undefined) writeReportFile(options.json, report);
  } finally {
    await connection.close();
    await Promise.all([server.stop(), outside.stop(), ...databases.map((one) => one.stop())]);
    await rm(folder, { recursive: true, force: true });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

program.parseAsync().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
