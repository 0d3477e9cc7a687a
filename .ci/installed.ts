/**
 * What the installed package does, from end to end on a real server: a run of several segments, its export and
 * replay, its session's fork, the desk. Compiled and run by `.ci/packed` in a project that has nothing else.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect, openStore, type HoldfastClient } from 'holdfast';
import {
  createAnthropicProvider,
  expectReplays,
  readBundle,
  startScriptedModel,
  startTestServer,
} from 'holdfast/testing';
import { loadConfig, startWorker } from 'holdfast/worker';

const TURNS = 8;
const EVENTS_PER_SEGMENT = 40;
const LIMIT_MS = 120_000;
const RUN = 'installed';
const STORE = join(process.cwd(), 'store.db');

interface Place {
  readonly address: string;
  readonly client: HoldfastClient;
}

function check(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`not so: ${what}`);
  console.log(`ok: ${what}`);
}

interface Said {
  readonly code: number;
  readonly out: string;
}

/** The command as npm has linked it. */
function holdfast({ address }: Place, ...argv: readonly string[]): Promise<Said> {
  const command = join('node_modules', '.bin', 'holdfast');
  const place = ['--address', address, '--store', STORE];
  return new Promise((resolve) => {
    execFile(command, [...argv, ...place], { timeout: LIMIT_MS }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      if (code !== 0) console.log(err);
      resolve({ code, out: `${out}${err}` });
    });
  });
}

async function runOfSeveralSegments(place: Place): Promise<void> {
  const run = await place.client.start({
    agent: 'orders',
    runId: RUN,
    task: 'Where are all of these orders?',
    persistSession: true,
  });
  const result = await run.result({ timeoutMs: LIMIT_MS });
  check(result.completed, `a run completes (${result.stopReason})`);
  check((await run.state()).segment > 1, 'it has several segments');
}

async function exportAndReplay(place: Place): Promise<void> {
  const exported = await holdfast(place, 'export', RUN, '-o', 'run.json');
  check(exported.code === 0 && existsSync('run.json'), 'the run is exported');
  const bundle = await readBundle('run.json');
  check(bundle.segments.length > 2, 'with all its segments');
  const offline = await holdfast(place, 'replay', 'run.json');
  check(offline.code === 0 && /replays exactly/.test(offline.out), 'the file replays exactly');
  const online = await holdfast(place, 'replay', RUN);
  check(online.code === 0, 'the run replays exactly as the server has it');
  await expectReplays('run.json');
  check(true, 'expectReplays agrees');
  const rules = ['--redact', 'rules.json', '-o', 'redacted.json'];
  const refused = await holdfast(place, 'export', RUN, ...rules);
  const isRefused =
    refused.code === 1 && /phones/.test(refused.out) && !existsSync('redacted.json');
  check(isRefused, 'a redaction rule that finds nothing is refused');
  const allowed = await holdfast(place, 'export', RUN, ...rules, '--allow-unmatched');
  const isHidden =
    allowed.code === 0 && !/All of them were/.test(readFileSync('redacted.json', 'utf8'));
  check(isHidden, 'and what the other rules find is hidden where that is allowed');
}

/** As many histories as closed segments are in the store, and nothing is left to be archived. */
async function archive(place: Place): Promise<void> {
  const store = await openStore({ file: STORE });
  const histories = await store.readHistories('default', RUN);
  const left = await store.listArchivals({ limit: 10 });
  await store.close();
  const { segments } = await readBundle('run.json');
  check(histories.length === segments.length - 1, 'every closed segment is archived');
  check(left.length === 0, 'no segment waits to be archived');
  const { out } = await holdfast(place, 'doctor', '--json');
  check(!/"archive"/.test(out), 'holdfast doctor finds nothing about the archive');
}

async function forkOfSession({ client }: Place): Promise<void> {
  const fork = await client.start({
    agent: 'orders',
    runId: 'fork',
    task: 'And who has brought them?',
    resume: RUN,
    fork: true,
  });
  const { session, completed } = await fork.result({ timeoutMs: LIMIT_MS });
  check(completed && session?.id === 'fork', "a session's fork is a session of its own");
  const { messages } = await client.transcript('fork');
  check(messages.length > 2 * TURNS, 'which has the conversation before it');
}

async function desk({ address }: Place): Promise<void> {
  const argv = ['console', '--port', '0', '--json', '--address', address, '--store', STORE];
  const child = spawn(join('node_modules', '.bin', 'holdfast'), argv, {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const { console: url, token } = await firstLine(child);
    const page = await (await fetch(url)).text();
    check(/<script/.test(page), 'the console serves its page');
    const script = /src="([^"]+)"/.exec(page)?.[1] ?? '';
    check((await fetch(new URL(script, url))).ok, 'with its scripts');
    const headers = { authorization: `Bearer ${token}` };
    const runs = await fetch(new URL('/v1/runs', url), { headers });
    check(runs.ok && (await runs.text()).includes(RUN), 'and its API tells of the run');
  } finally {
    child.kill('SIGINT');
    await once(child, 'exit');
  }
  check(child.exitCode === 0, 'Ctrl-C ends it');
}

async function firstLine(child: ChildProcess): Promise<{ console: string; token: string }> {
  const late = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  try {
    for await (const line of createInterface({ input: child.stdout! })) return JSON.parse(line);
  } finally {
    clearTimeout(late);
  }
  throw new Error('the console ended');
}

async function main(): Promise<void> {
  const dynamicConfig = [`limit.historyCount.suggestContinueAsNew=${EVENTS_PER_SEGMENT}`];
  const server = await startTestServer({ environment: process.env, dynamicConfig });
  const model = await startScriptedModel({
    script: ({ assistantMessages: n }) =>
      n < TURNS
        ? { calls: [{ tool: 'orders.read', input: { orderId: `ORDER-${n}` } }] }
        : { text: 'All of them were delivered.' },
  });
  const provider = createAnthropicProvider({ apiKey: 'scripted', baseUrl: model.baseUrl });
  const { address } = server;
  const worker = await startWorker({
    address,
    namespace: 'default',
    taskQueue: 'holdfast',
    storePlace: STORE,
    config: await loadConfig({ folder: process.cwd() }),
    providers: new Map([[provider.name, provider]]),
  });
  const served = worker.run();
  const store = await openStore({ file: STORE });
  const client = await connect({ address, store });
  try {
    const place = { address, client };
    await runOfSeveralSegments(place);
    await exportAndReplay(place);
    await archive(place);
    await forkOfSession(place);
    await desk(place);
  } finally {
    await client.close();
    await store.close();
    worker.shutdown();
    await served;
    await model.stop();
    await server.stop();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
