/** What is secret of OAuth is in nothing that is kept or said of a run, in no encoding; see docs/guide/connectors.md. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { deskLogins } from '../../connectors/desk-logins.js';
import { KEYS_VARIABLE, type LoginAnswer } from '../../connectors/logins.js';
import { capture } from '../../evaluation/capture/capture.js';
import { exportRun } from '../../replay/export-run.js';
import { redactBundle } from '../../replay/redaction/redact-bundle.js';
import { parseRules } from '../../replay/redaction/rules.js';
import { compiledPath } from '../compiled.js';
import {
  CLIENT_SECRET,
  startProtectedServer,
  type ProtectedServer,
} from '../connectors/hostile-authorization.js';
import { config, SECRET_VARIABLE } from './support/protected-agents.js';
import { call, ofType, say, startWorld, TASK_QUEUE, until, type World } from './support/world.js';

const MACHINE_SECRET = 'machine-secret/of+the operator';
const KEY = randomBytes(32).toString('base64');
const RULES = parseRules({ rules: [{ name: 'task', regex: 'Annabel' }] }, 'rules.json');

let world: World;
let machine: ProtectedServer;
let person: ProtectedServer;
let worker: ChildProcess;
let said = '';

beforeAll(async () => {
  process.env[KEYS_VARIABLE] = `k1:${KEY}`;
  process.env[SECRET_VARIABLE] = MACHINE_SECRET;
  [machine, person] = await Promise.all([startProtectedServer(), startProtectedServer()]);
  world = await startWorld({ worker: false });
  worker = startWorkerThatIsHeard();
  await until('a worker', () => said.includes('"serving"') || undefined);
});
afterAll(async () => {
  worker.kill('SIGTERM');
  await once(worker, 'exit');
  delete process.env[KEYS_VARIABLE];
  delete process.env[SECRET_VARIABLE];
  await world.stop();
  await Promise.all([machine.stop(), person.stop()]);
});

/** With everything that its process says, as an operator may have it said. */
function startWorkerThatIsHeard(): ChildProcess {
  const { place, storePlace, model } = world;
  const settings = {
    ...place,
    storePlace,
    taskQueue: TASK_QUEUE,
    configModule: compiledPath(join(__dirname, 'support/protected-agents.ts')),
    configOptions: servers(),
    modelUrl: model.baseUrl,
    logLevel: 'DEBUG',
  };
  const entry = compiledPath(join(__dirname, '../../testing/worker-entry.ts'));
  const child = spawn(process.execPath, [entry, JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return child;
}

const servers = () => ({
  machine: { url: machine.url, issuer: machine.issuer },
  person: { url: person.url, issuer: person.issuer },
});

/** Mia logs in at the desk. */
async function logIn(): Promise<void> {
  const { connectors } = config(servers());
  const logins = deskLogins({ connectors, store: world.store, clock: Date.now });
  const mia = { tenant: 'default', by: 'mia' };
  const { address } = await logins.begin(mia, 'person', 'http://127.0.0.1:3917/callback');
  const { headers } = await fetch(address, { redirect: 'manual' });
  const answer = Object.fromEntries(new URL(headers.get('location')!).searchParams) as LoginAnswer;
  expect(await logins.end(mia, answer)).toMatchObject({ connector: 'person', renews: true });
}

/** Servers that give back what they were sent, as it is and as it stood in the header. */
const echo = (token: string): string =>
  `You sent ${token}, ${Buffer.from(`Bearer ${token}`).toString('base64')}.`;

/** The characters beside what is hidden have bits of what stands around it. */
const ECHOED = /^You sent \[hidden\], QmVhcmVy\w{1,2}\[hidden\]\w?=*\.$/;
const CALLS = [call('mcp__machine__it', {}), call('mcp__person__it', {})] as const;

async function ended(runId: string, meanwhile: () => void = () => undefined) {
  const replies = [...CALLS, say('Done.')];
  const run = await world.start({
    runId,
    agent: 'authorized',
    task: 'Greet Annabel.',
    replies: ({ assistantMessages }) => {
      if (assistantMessages === 0) meanwhile();
      return replies[assistantMessages]!;
    },
  });
  return world.ended(run);
}

/** All that is left of a run, by name. */
async function leftOf(runId: string): Promise<Readonly<Record<string, string>>> {
  const at = { tenant: 'default', runId };
  const bundle = await exportRun({ ...world.place, store: world.store }, at);
  const redacted = await redactBundle(bundle, RULES);
  const texts = {
    history: historyToJSON(await world.history(runId)),
    events: await world.events(runId),
    state: await world.client.handle(runId).state(),
    ledger: await world.store.listLedger('default', { runId }),
    bundle,
    redacted,
    case: capture(bundle),
  };
  return Object.fromEntries(
    Object.entries(texts).map(([name, value]) => [name, decoded(JSON.stringify(value))]),
  );
}

/** In histories texts lie as base64. */
function decoded(text: string): string {
  const blobs = text.match(/[A-Za-z0-9+/=]{12,}/g) ?? [];
  return [text, ...blobs.map((blob) => Buffer.from(blob, 'base64').toString('latin1'))].join('\n');
}

function storeFiles(): string {
  const folder = dirname(world.storePlace);
  const files = readdirSync(folder).filter((name) => name.startsWith('store.db'));
  return files.map((name) => readFileSync(join(folder, name), 'latin1')).join('\n');
}

/** As texts stand in forms, headers and payloads: base64 has three of them, by the place of the first byte. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const coded = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)),
  );
  const forUrls = coded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [secret, encodeURIComponent(secret), bytes.toString('hex'), ...coded, ...forUrls];
}

/** Everything secret that went over the wire, and what it is encrypted with. */
function secrets(): ReadonlyMap<string, string> {
  const forms = [...machine.asked, ...person.asked].map(({ form }) => form);
  const sent = ['code', 'code_verifier', 'refresh_token', 'client_secret'].flatMap((name) =>
    forms.flatMap((form) => form.getAll(name).map((value) => [value, name] as const)),
  );
  return new Map([
    ...sent,
    ['access-token-', 'access tokens'],
    ['refresh-token-', 'refresh tokens'],
    ['authorization-code-', 'codes'],
    [CLIENT_SECRET, 'secret of the registered client'],
    [MACHINE_SECRET, 'secret of the configured client'],
    [`holdfast:${encodeURIComponent(MACHINE_SECRET)}`, 'header of the configured client'],
    [KEY, 'key of the store'],
  ]);
}

function found(places: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(places).flatMap(([place, text]) =>
    [...secrets()].flatMap(([secret, name]) =>
      formsOf(secret).some((form) => text.includes(form)) ? [`${name} in ${place}`] : [],
    ),
  );
}

test('no token, secret, code or code verifier of OAuth is in histories, files, bundles, events, errors or logs', async () => {
  await logIn();
  for (const server of [machine, person]) server.misbehave({ says: echo });
  const first = await ended('first');
  expect(ofType(first.events, 'tool_finished').map(({ content }) => content)).toMatchObject([
    { text: expect.stringMatching(ECHOED) as string },
    { text: expect.stringMatching(ECHOED) as string },
  ]);
  const renewed = await ended('renewed', () => {
    for (const server of [machine, person]) server.revoke();
  });
  expect(ofType(renewed.events, 'tool_finished')).toMatchObject([
    { status: 'ok' },
    { status: 'ok' },
  ]);
  const refused = await ended('refused', () => {
    machine.misbehave({
      answer: ({ form, authorization }, response) => {
        const error_description = `${authorization} ${form.toString()} ${MACHINE_SECRET}`;
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: 'invalid_client', error_description }));
      },
    });
    for (const server of [machine, person]) server.revoke();
    person.endLogins();
  });
  expect(ofType(refused.events, 'tool_finished')).toMatchObject([
    { code: 'tool_unavailable' },
    { code: 'tool_unavailable' },
  ]);
  const grants = person.asked.map(({ form }) => form.get('grant_type'));
  expect(grants).toEqual(['authorization_code', 'refresh_token', 'refresh_token']);

  for (const runId of ['first', 'renewed', 'refused']) {
    const left = await leftOf(runId);
    // Each place is one that a text of a run is found in.
    const { ledger: _, redacted, ...told } = left;
    for (const text of Object.values(told)) expect(text).toContain('Annabel');
    expect(redacted).toContain('mcp__person__it');
    expect([runId, found(left)]).toEqual([runId, []]);
  }
  const rest = { files: storeFiles(), logs: said };
  expect(rest.files).toContain('Annabel');
  expect(rest.logs).toContain('first');
  expect(found(rest)).toEqual([]);
});
