/** Workers, clients and commands over TLS, with certificates and API keys that change while they run. */
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect } from '../../client/index.js';
import { readEnvironment } from '../../worker/config.js';
import type { RunningWorker } from '../../worker/index.js';
import { withoutName } from '../../worker/reach.js';
import { runCli } from '../../cli/program.js';
import {
  describeWithCertificates,
  makeAuthority,
  type Authority,
  type Issued,
} from '../connection/certificates.js';
import { startSecureFront, type SecureFront } from '../connection/secure-front.js';
import { openAsk, pay, say, startWorld, until, type World } from './support/world.js';

const RENEW_MS = 100;
const [FIRST_KEY, SECOND_KEY] = ['key-one-of-the-cluster', 'key-two-of-the-cluster'];

describeWithCertificates('a secured cluster', () => {
  let world: World;
  let authority: Authority;
  let client: Issued;
  let server: Issued;
  let mtls: SecureFront;
  let keyed: SecureFront;
  let folder: string;

  beforeAll(async () => {
    world = await startWorld({ ownServer: true, worker: false });
    await world.client.ensureNamespaceReady();
    authority = makeAuthority();
    folder = mkdtempSync(join(tmpdir(), 'holdfast-secured-'));
    server = authority.issue({ name: 'server', hosts: 'DNS:localhost' });
    client = authority.issue({ name: 'worker-1' });
    const behind = world.server.address;
    mtls = await startSecureFront({ behind, server, clientCa: authority.ca });
    keyed = await startSecureFront({ behind, server, apiKeys: [FIRST_KEY] });
  });
  afterAll(async () => {
    await world.stop();
    await Promise.all([mtls.stop(), keyed.stop()]);
    authority.remove();
    rmSync(folder, { recursive: true });
  });

  let worker: RunningWorker | undefined;
  const serve = async (over: Parameters<World['serve']>[0]) => {
    worker = await world.serve(over);
  };
  afterEach(() => worker?.shutdown());

  const withCertificates = () => ({
    HOLDFAST_ADDRESS: mtls.address,
    HOLDFAST_TLS_CA: authority.caFile,
    HOLDFAST_TLS_CERT: client.certFile,
    HOLDFAST_TLS_KEY: client.keyFile,
  });
  const withKey = (key: string) => ({
    HOLDFAST_ADDRESS: keyed.address,
    HOLDFAST_TLS_CA: authority.caFile,
    HOLDFAST_API_KEY: key,
  });

  const reachBy = (variables: Readonly<Record<string, string>>) => ({
    ...withoutName(readEnvironment(variables, folder).reach()),
    renewEveryMs: RENEW_MS,
  });

  /** The `holdfast` command with this environment. */
  async function holdfast(
    words: readonly string[],
    variables: Readonly<Record<string, string>>,
    where = '/nowhere',
  ) {
    let [out, err] = ['', ''];
    const code = await runCli([...words, '--store', world.storePlace, '--home', '/nowhere'], {
      environment: { variables, folder: where, colour: false, interactive: false },
      streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
    });
    return { code, out, err };
  }

  /** Everything that talks to the server, on a run that waits for an approval. */
  async function everyCommand(variables: Readonly<Record<string, string>>, name: string) {
    const run = await world.start({ runId: name, replies: [pay('pay.asked'), say('Paid.')] });
    const ask = await openAsk(run);
    const bundle = join(folder, `${name}.json`);
    for (const words of [
      ['list'],
      ['show', name],
      ['approvals'],
      ['message', name, 'Thank you.'],
      ['approve', ask.askId, '--as', 'maria', '--role', 'manager'],
      ['watch', name],
      ['transcript', name],
      ['export', name, '-o', bundle],
      ['replay', name],
      ['replay', bundle],
      ['doctor'],
    ]) {
      const { code, out, err } = await holdfast(words, variables);
      expect({ words, code, err }).toMatchObject({ words, code: 0 });
      for (const secret of [FIRST_KEY, SECOND_KEY]) expect(`${out}${err}`).not.toContain(secret);
    }
    expect((await world.ended(run)).result.status).toBe('completed');
  }

  test('is reached by a worker and by every command with certificates', async () => {
    await serve(reachBy(withCertificates()));
    await everyCommand(withCertificates(), 'mtls');
    expect([...mtls.seen.names]).toEqual(['worker-1']);
  });

  test('is reached by a worker and by every command with an API key, and metadata goes along', async () => {
    const variables = { ...withKey(FIRST_KEY), HOLDFAST_GRPC_META_X_TEAM: 'payments' };
    await serve(reachBy(variables));
    await everyCommand(variables, 'keyed');
    expect([...keyed.seen.keys]).toEqual([FIRST_KEY]);
    expect(keyed.seen.metadata['x-team']).toBe('payments');
  });

  test('tells every command what is wrong with certificates and keys, and nothing of the key', async () => {
    const stranger = makeAuthority('Somebody else').issue({ name: 'stranger' });
    const wrong = [
      [withKey('wrong-key'), 'does not accept the API key'],
      [
        {
          ...withCertificates(),
          HOLDFAST_TLS_CERT: stranger.certFile,
          HOLDFAST_TLS_KEY: stranger.keyFile,
        },
        "does not accept the client's certificate",
      ],
      [{ HOLDFAST_ADDRESS: mtls.address }, 'speaks TLS'],
    ] as const;
    for (const [variables, words] of wrong) {
      for (const command of [['message', 'any', 'text'], ['doctor'], ['replay', 'any']]) {
        const { code, out, err } = await holdfast(command, variables);

        expect(code).not.toBe(0);
        expect(`${out}${err}`).toContain(words);
        expect(`${out}${err}`).not.toContain('wrong-key');
      }
    }
  });

  test('is looked at by doctor: over what, as whom, and until when', async () => {
    const said = await holdfast(['doctor'], withCertificates());
    expect(said.out).toMatch(
      /note +connection +localhost:\d+ over TLS with a certificate until 20/,
    );
    expect((await holdfast(['doctor'], withKey(FIRST_KEY))).out).toMatch(
      /ok +connection +localhost:\d+ over TLS, with an API key/,
    );
    const old = authority.issue({ name: 'old', days: -1 });
    const expired = { HOLDFAST_TLS_CERT: old.certFile, HOLDFAST_TLS_KEY: old.keyFile };
    const broken = await holdfast(['doctor'], { ...withCertificates(), ...expired });
    expect(broken.out).toMatch(/BROKEN +connection[^\n]*old\.pem\) expired on/);
    expect(broken.code).toBe(1);
  });

  test('gets new keys and certificates of a worker and a client without a restart of either', async () => {
    const keyFile = join(folder, 'key');
    writeFileSync(keyFile, FIRST_KEY);
    const { HOLDFAST_API_KEY: _, ...keyless } = withKey('');
    const lines: string[] = [];
    const say_ = (line: string) => void lines.push(line);
    const reach = reachBy({ ...keyless, HOLDFAST_API_KEY_FILE: keyFile });
    await serve({ ...reach, say: say_ });
    const remote = await connect({ ...reach, store: world.store, say: say_ });
    const run = await world.start({
      runId: 'new-key',
      replies: [pay('pay.asked'), say('Paid.')],
    });
    const ask = await openAsk(run);
    // A key that the server does not know changes nothing.
    writeFileSync(keyFile, 'key-that-nobody-knows');
    await until('the wrong key to be told', () =>
      lines.find((line) => /cannot be used/.test(line)),
    );
    keyed.allow([FIRST_KEY, SECOND_KEY]);
    writeFileSync(keyFile, SECOND_KEY);
    await until('the new key', () => (changes(lines) === 2 ? true : undefined));
    keyed.allow([SECOND_KEY]);
    keyed.cut();
    await remote.handle('new-key').approve(ask.askId, { by: 'maria', roles: ['manager'] });
    expect((await world.ended(run)).result.status).toBe('completed');
    for (const line of lines) expect(line).not.toMatch(/key-one|key-two|nobody-knows/);
    await remote.close();
  });

  test('gets a new authority for both sides while a run waits', async () => {
    const at = (name: string): string => join(folder, name);
    const show = (from: Authority, pair: Issued): void => {
      copyFileSync(pair.keyFile, at('own.key'));
      copyFileSync(pair.certFile, at('own.pem'));
      copyFileSync(from.caFile, at('ca.pem'));
    };
    show(authority, client);
    const variables = {
      HOLDFAST_ADDRESS: mtls.address,
      HOLDFAST_TLS_CA: 'ca.pem',
      HOLDFAST_TLS_CERT: 'own.pem',
      HOLDFAST_TLS_KEY: 'own.key',
    };
    const lines: string[] = [];
    const reach = { ...reachBy(variables), say: (line: string) => void lines.push(line) };
    await serve(reach);
    const remote = await connect({ ...reach, store: world.store });
    const run = await world.start({
      runId: 'new-ca',
      replies: [pay('pay.asked'), say('Paid.')],
    });
    const ask = await openAsk(run);
    const next = makeAuthority('The next authority');
    mtls.use(next.issue({ name: 'server', hosts: 'DNS:localhost' }), next.ca);
    show(next, next.issue({ name: 'worker-2' }));
    await until('both to have new certificates', () => (changes(lines) === 2 ? true : undefined));
    mtls.cut();
    await remote.handle('new-ca').approve(ask.askId, { by: 'maria', roles: ['manager'] });
    expect((await world.ended(run)).result.status).toBe('completed');
    expect([...mtls.seen.names]).toContain('worker-2');
    await remote.close();
    next.remove();
  });

  test('sees of a configured codec nothing but sealed payloads, and commands read through it', async () => {
    const place = mkdtempSync(join(folder, 'codec-'));
    const variables = { HOLDFAST_ADDRESS: world.server.address };
    const root = resolve(__dirname, '..', '..');
    writeFileSync(join(place, 'holdfast.config.ts'), configWithCodec(root));
    const { loadConfig } = await import('../../worker/load-config.js');
    const { connection } = await loadConfig({ folder: place });
    const reach = { ...withoutName(readEnvironment(variables, folder).reach(connection)) };
    expect(reach.payloadCodecs).toHaveLength(1);
    await serve(reach);
    const remote = await connect({ ...reach, store: world.store });
    world.script('sealed', [pay('pay.asked'), say('Paid.')]);
    const run = await remote.start({ runId: 'sealed', agent: 'desk', task: 'Serve the customer.' });
    const ask = await openAsk(run);
    const approve = ['approve', ask.askId, '--as', 'maria', '--role', 'manager'];
    for (const words of [approve, ['watch', 'sealed'], ['replay', 'sealed']]) {
      const { code, err } = await holdfast(words, variables, place);
      expect({ words, code, err }).toMatchObject({ words, code: 0 });
    }
    const history = JSON.stringify(await world.history('sealed'));
    expect(history).toContain(Buffer.from('binary/flipped').toString('base64'));
    await remote.close();
  });
});

const changes = (lines: readonly string[]): number =>
  lines.filter((line) => /have changed/.test(line)).length;

function configWithCodec(root: string): string {
  expect(readdirSync(root)).toContain('authoring');
  return `
    import { defineAgent, defineConfig } from ${JSON.stringify(join(root, 'authoring/index.ts'))};
    const flip = (bytes) => Uint8Array.from(bytes ?? [], (byte) => byte ^ 0x5a);
    const name = new TextEncoder().encode('binary/flipped');
    const is = ({ metadata }) => Buffer.from(metadata?.encoding ?? []).toString() === 'binary/flipped';
    const codec = {
      encode: async (payloads) => payloads.map(({ metadata, data }) => ({
        metadata: { encoding: name, as: metadata.encoding },
        data: flip(data),
      })),
      decode: async (payloads) => payloads.map((payload) => is(payload)
        ? { metadata: { encoding: payload.metadata.as }, data: flip(payload.data) }
        : payload),
    };
    export default defineConfig({
      agents: [defineAgent({ name: 'desk', model: 'scripted/model', instructions: 'Serve.', tools: [] })],
      connection: { codec },
    });`;
}
