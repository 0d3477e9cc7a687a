import {
  connect as connectSocket,
  createServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledPath } from '../compiled.js';
import { connect as connectClient } from '../../client/index.js';
import { connectionFailure, type Credentials } from '../../connection/index.js';
import type { HoldfastError } from '../../core/state/errors.js';
import { connect as connectWorker } from '../../worker/connection.js';
import {
  describeWithCertificates,
  makeAuthority,
  type Authority,
  type Issued,
} from './certificates.js';
import { startSecureFront, type SecureFront } from './secure-front.js';

const SECRET = 'key-that-nobody-may-see';

/** Of the worker and of the client, in ms. */
type Limits = readonly [worker: number, client: number];
/** Nobody waits long for what never comes. */
const FOR_NOTHING: Limits = [2_000, 500];
/** An answer ends the wait: only a busy machine takes as long. */
const FOR_AN_ANSWER: Limits = [60_000, 60_000];

describeWithCertificates('a connection that does not come about', () => {
  let ours: Authority;
  let others: Authority;
  let fronts: Record<'mtls' | 'keyed' | 'strict' | 'misnamed' | 'expired', SecureFront>;
  let bare: readonly Server[];
  let [curt, curtAddresses]: [readonly Curt[], readonly string[]] = [[], []];
  let deafAddress = '';
  let [plainAddress, silentAddress, oldAddress] = ['', '', ''];
  let client: Issued;

  beforeAll(async () => {
    [ours, others] = [makeAuthority(), makeAuthority('Somebody else')];
    const hosts = 'DNS:localhost';
    const server = ours.issue({ name: 'server', hosts });
    client = ours.issue({ name: 'client' });
    const behind = 'localhost:1';
    fronts = {
      mtls: await startSecureFront({ behind, server, clientCa: ours.ca }),
      keyed: await startSecureFront({ behind, server, apiKeys: ['right'] }),
      strict: await startSecureFront({ behind, server, apiKeys: ['right'], refusal: 7 }),
      misnamed: await startSecureFront({
        behind,
        server: ours.issue({ name: 'server', hosts: 'DNS:temporal.example' }),
      }),
      expired: await startSecureFront({
        behind,
        server: ours.issue({ name: 'server', hosts, days: -1 }),
      }),
    };
    // A server that speaks HTTP/2 in clear text answers a handshake with a frame of its own.
    const plain = answering(Buffer.from('000000040000000000', 'hex'));
    const silent = answering(undefined);
    // A fatal alert of TLS: another version is wanted.
    const old = answering(Buffer.from('15030300020246', 'hex'));
    // It hangs up on everything.
    const deaf = answering(Buffer.alloc(0));
    bare = [plain, silent, old, deaf];
    [plainAddress = '', silentAddress = '', oldAddress = '', deafAddress = ''] = await Promise.all(
      bare.map(listening),
    );
    curt = [
      await startCurt({ ...server, ca: ours.ca, maxVersion: 'TLSv1.3' }),
      await startCurt({ ...server, ca: ours.ca, maxVersion: 'TLSv1.2' }),
    ];
    curtAddresses = curt.map(({ address }) => address);
  });
  afterAll(async () => {
    await Promise.all(Object.values(fronts).map((front) => front.stop()));
    for (const socket of sockets) socket.destroy();
    await Promise.all(curt.map((one) => one.stop()));
    await Promise.all(bare.map((one) => new Promise((resolve) => one.close(resolve))));
    ours.remove();
    others.remove();
  });

  const trusting = (more: object = {}): Credentials => ({ tls: { ca: ours.ca, ...more } });

  /** What the worker and the client say of it within their limits, in ms. */
  async function saidOf(address: string, credentials: Credentials, [worker, client]: Limits) {
    const failures = await Promise.all([
      connectWorker({ address, ...credentials, attemptsMax: 2, limitMs: worker }).then(
        unexpected,
        failed,
      ),
      connectClient({ address, ...credentials, connectLimitMs: client }).then(unexpected, failed),
    ]);
    for (const { message, hint } of failures) expect(`${message} ${hint}`).not.toContain(SECRET);
    const reasons = failures.map(({ code, details }) => `${code}: ${String(details?.['reason'])}`);
    return { reasons: [...new Set(reasons)], message: failures[0]!.message };
  }
  const failed = (error: unknown) => error as HoldfastError;
  const unexpected = () => Promise.reject(new Error('a connection came about'));

  const cases: readonly (readonly [string, string, () => [string, Credentials]])[] = [
    ['client_certificate', 'wants a certificate', () => [fronts.mtls.address, trusting()]],
    [
      'client_certificate',
      "does not accept the client's certificate",
      () => [fronts.mtls.address, trusting(pairOf(others.issue({ name: 'stranger' })))],
    ],
    ['tls_expected', 'speaks TLS, and it was called without', () => [fronts.mtls.address, {}]],
    ['tls_expected', 'speaks TLS', () => [curtAddresses[0]!, {}]],
    ['tls_expected', 'speaks TLS', () => [curtAddresses[1]!, {}]],
    ['no_answer', 'No Temporal server answers', () => [deafAddress, {}]],
    ['untrusted', 'nobody who is trusted here', () => [fronts.keyed.address, { apiKey: SECRET }]],
    ['server_name', 'for another name than localhost', () => [fronts.misnamed.address, trusting()]],
    ['expired', 'has expired (', () => [fronts.expired.address, trusting()]],
    [
      'unauthenticated',
      'does not accept the API key',
      () => [fronts.keyed.address, { ...trusting(), apiKey: SECRET }],
    ],
    [
      'unauthenticated',
      'does not accept a caller without API key',
      () => [fronts.keyed.address, trusting()],
    ],
    ['no_tls', 'does not speak TLS', () => [plainAddress, trusting()]],
    [
      'permission',
      'does not allow this to the API key',
      () => [fronts.strict.address, { ...trusting(), apiKey: SECRET }],
    ],
    [
      'permission',
      "does not allow this to the client's certificate",
      () => [fronts.strict.address, trusting(pairOf(client))],
    ],
    ['unknown_host', 'cannot be found', () => ['temporal.invalid:7233', {}]],
    ['timeout', 'nothing came back', () => [silentAddress, trusting()]],
    ['handshake', 'The TLS handshake', () => [oldAddress, trusting(pairOf(client))]],
    ['no_answer', 'No Temporal server answers', () => ['localhost:1', trusting(pairOf(client))]],
  ];
  test.each(cases)('says %s: %s', async (reason, words, where) => {
    const isAnswered = ['unauthenticated', 'permission'].includes(reason);
    const said = await saidOf(...where(), isAnswered ? FOR_AN_ANSWER : FOR_NOTHING);
    expect(said.reasons).toEqual([`ServerUnavailable: ${reason}`]);
    expect(said.message).toContain(words);
  });

  test.each(['NativeCertsNotFound', 'InvalidCertificate(UnknownIssuer)'])(
    'names the authorities that a system lacks and Node has: %s',
    async (words) => {
      const place = { address: fronts.keyed.address, ...trusting() };
      const failure = await connectionFailure(place, new Error(`tonic::Error(${words})`));
      expect(failure.details?.['reason']).toBe('untrusted');
      expect(failure.hint).toContain('ca-certificates');
    },
  );

  test('an authority that Node alone was told of does not count, and is not overlooked', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'holdfast-authority-')), 'ca.crt');
    writeFileSync(file, ours.ca);
    const compiled = compiledPath(join(__dirname, '../../connection/index.ts'));
    const script = `require(${JSON.stringify(compiled)})
      .connectionFailure({ address: '${fronts.keyed.address}', tls: true }, new Error('too late'))
      .then(({ details }) => console.log(details.reason));`;
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: file };
    return new Promise<void>((resolve) => {
      execFile(process.execPath, ['-e', script], { env }, (_, out) => {
        expect(out.trim()).toBe('untrusted');
        resolve();
      });
    });
  });

  test('because the own certificate has expired is said before anybody is asked', async () => {
    const old = pairOf(ours.issue({ name: 'old', days: -1 }));
    const said = await saidOf(fronts.mtls.address, trusting(old), FOR_NOTHING);
    expect(said.reasons).toEqual(['InvalidConfig: expired']);
  });
});

function pairOf({ cert, key }: Issued) {
  return { cert, key };
}

const sockets = new Set<Socket>();

/** Speaks no TLS: answers the first bytes with these and ends, or says nothing at all. */
function answering(bytes: Buffer | undefined): Server {
  return createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => bytes !== undefined && socket.end(bytes));
  });
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `localhost:${(server.address() as AddressInfo).port}`;
}

interface Curt {
  readonly address: string;
  stop(): Promise<void>;
}

/** Demands a certificate of its clients, and hangs up without an alert on whoever shows none. */
async function startCurt(options: TlsOptions): Promise<Curt> {
  const inner = createTlsServer({ ...options, requestCert: true, rejectUnauthorized: true });
  inner.on('tlsClientError', () => undefined);
  const behind = await listening(inner);
  const front = createServer((socket) => {
    sockets.add(socket);
    const through = connectSocket(Number(behind.split(':')[1]), 'localhost');
    sockets.add(through);
    for (const one of [socket, through]) one.on('error', () => undefined);
    let flights = 0;
    socket.on('data', (bytes) => {
      flights += 1;
      // The second flight would bring the client's certificate.
      if (flights === 1) through.write(bytes);
      else socket.destroy();
    });
    through.on('data', (bytes) => socket.write(bytes));
    through.on('close', () => socket.destroy());
    socket.on('close', () => through.destroy());
  });
  const address = await listening(front);
  const closed = (one: Server) => new Promise((resolve) => one.close(resolve));
  return {
    address,
    async stop() {
      await closed(front);
      await closed(inner);
    },
  };
}
