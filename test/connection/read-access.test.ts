import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAccess } from '../../connection/index.js';
import { describeWithCertificates, makeAuthority, type Authority } from './certificates.js';

const SECRET = 'key-that-nobody-may-see';
let folder: string;

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'holdfast-access-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const read = (variables: Readonly<Record<string, string>>, settings = {}) =>
  readAccess({ variables, folder, settings });

function refused(variables: Readonly<Record<string, string>>, settings = {}): string {
  try {
    read(variables, settings);
  } catch (error) {
    expect(error).toMatchObject({ code: 'InvalidConfig' });
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
}

describe('what the environment says of the server', () => {
  test('nothing is named where nobody names anything', () => {
    expect(read({})).toEqual({});
  });

  test("Temporal's variables count, and Holdfast's of the same suffix win", () => {
    const theirs = {
      TEMPORAL_ADDRESS: 'theirs:7233',
      TEMPORAL_NAMESPACE: 'theirs',
      TEMPORAL_API_KEY: 'theirs',
    };
    expect(read(theirs)).toEqual({ address: 'theirs:7233', namespace: 'theirs', apiKey: 'theirs' });
    expect(read({ ...theirs, HOLDFAST_ADDRESS: 'ours:1', HOLDFAST_API_KEY: 'ours' })).toEqual({
      address: 'ours:1',
      namespace: 'theirs',
      apiKey: 'ours',
    });
  });

  test('a profile of Temporal is read, by its usual place and by name, and variables win over it', () => {
    const configured = join(folder, '.config', 'temporalio');
    mkdirSync(configured, { recursive: true });
    const profiles = `
      [profile.default]
      address = "cloud.example:7233"
      namespace = "prod.acct"
      api_key = "${SECRET}"
      [profile.staging]
      address = "staging.example:7233"
      [profile.staging.tls]
      server_name = "staging"`;
    writeFileSync(join(configured, 'temporal.toml'), profiles);
    const usual = { address: 'cloud.example:7233', namespace: 'prod.acct', apiKey: SECRET };
    expect(read({ HOME: folder })).toEqual(usual);
    expect(read({ HOME: folder, HOLDFAST_NAMESPACE: 'mine' })).toEqual({
      ...usual,
      namespace: 'mine',
    });
    expect(read({ HOME: folder, HOLDFAST_PROFILE: 'staging' })).toEqual({
      address: 'staging.example:7233',
      tls: { serverName: 'staging' },
    });
    expect(refused({ HOME: folder, HOLDFAST_PROFILE: 'absent' })).toContain("'absent' not found");
  });

  test('a profile that cannot be read is refused without a word of what stands in it', () => {
    writeFileSync(join(folder, 'own.toml'), `[profile.default]\napi_key = ${SECRET}\n`);
    const message = refused({ HOLDFAST_CONFIG_FILE: 'own.toml' });
    expect(message).toContain('no TOML');
    expect(message).not.toContain(SECRET);
  });

  test('a configuration stands below the environment, field by field', () => {
    writeFileSync(join(folder, 'key'), `${SECRET}\n`);
    const settings = {
      address: 'configured:7233',
      namespace: 'configured',
      apiKeyFile: 'key',
      metadata: { 'x-team': 'a', 'x-region': 'b' },
    };
    expect(read({}, settings)).toEqual({
      address: 'configured:7233',
      namespace: 'configured',
      apiKey: SECRET,
      metadata: { 'x-team': 'a', 'x-region': 'b' },
    });
    const variables = { HOLDFAST_ADDRESS: 'env:1', HOLDFAST_GRPC_META_X_TEAM: 'env' };
    expect(read(variables, settings)).toMatchObject({
      address: 'env:1',
      namespace: 'configured',
      metadata: { 'x-team': 'env', 'x-region': 'b' },
    });
  });

  test('metadata has its name from the variable, with every underscore a hyphen', () => {
    const variables = { TEMPORAL_GRPC_META_X_ROUTE_KEY: 'a', HOLDFAST_GRPC_META_X_ROUTE_KEY: 'b' };
    expect(read(variables)).toEqual({ metadata: { 'x-route-key': 'b' } });
  });

  test.each([
    [{ HOLDFAST_TLS: 'yes' }, 'HOLDFAST_TLS'],
    [{ HOLDFAST_API_KEY: ' ' }, 'HOLDFAST_API_KEY'],
    [{ HOLDFAST_API_KEY: 'a', HOLDFAST_API_KEY_FILE: 'b' }, 'both set'],
    [{ HOLDFAST_API_KEY_FILE: 'absent' }, 'absent'],
    [{ HOLDFAST_TLS_CA: 'absent.pem' }, 'absent.pem'],
    [{ HOLDFAST_TLS: 'false', HOLDFAST_API_KEY: SECRET }, 'clear text'],
    [{ HOLDFAST_API_KEY: `${SECRET} two words` }, 'one word'],
    [{ TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true' }, 'always verified'],
  ])('%j is refused: %s', (variables, why) => {
    const message = refused(variables);
    expect(message).toContain(why);
    expect(message).not.toContain(SECRET);
  });
});

describeWithCertificates('certificates in files', () => {
  let authority: Authority;
  beforeAll(() => void (authority = makeAuthority()));
  afterAll(() => authority.remove());

  test('come from the files of the variables, and the path of ours is not beside the text of theirs', () => {
    const { certFile, keyFile, cert, key } = authority.issue({ name: 'worker' });
    const variables = {
      HOLDFAST_TLS_CA: authority.caFile,
      HOLDFAST_TLS_CERT: certFile,
      HOLDFAST_TLS_KEY: keyFile,
      HOLDFAST_TLS_SERVER_NAME: 'temporal.example',
      TEMPORAL_TLS_CLIENT_CERT_DATA: 'theirs',
    };
    const expected = { ca: authority.ca, cert, key, serverName: 'temporal.example' };
    expect(read(variables).tls).toEqual(expected);
    const { caFile: ca } = authority;
    const settings = { tls: { ca, cert: certFile, key: keyFile, serverName: 'temporal.example' } };
    expect(read({}, settings).tls).toEqual(expected);
  });

  test('that do not belong together, have expired or are none are refused by the name of the file', () => {
    const [one, other] = [authority.issue({ name: 'one' }), authority.issue({ name: 'other' })];
    const old = authority.issue({ name: 'old', days: -1 });
    const pair = (certFile: string, keyFile: string) => ({
      HOLDFAST_TLS_CERT: certFile,
      HOLDFAST_TLS_KEY: keyFile,
    });
    expect(refused(pair(one.certFile, other.keyFile))).toContain(
      `(${other.keyFile}) is not the key`,
    );
    expect(refused(pair(old.certFile, old.keyFile))).toMatch(/old\.pem\) expired on \d{4}-/);
    expect(refused(pair(one.keyFile, one.keyFile))).toContain('holds no certificate');
    expect(refused(pair(one.certFile, one.certFile))).toContain('holds no private key');
    expect(refused({ HOLDFAST_TLS_CERT: one.certFile })).toContain('HOLDFAST_TLS_KEY is not');
  });
});

describe('the file of an API key', () => {
  const keyIn = (file: string) => ({ HOLDFAST_API_KEY_FILE: file });
  const writers: ChildProcess[] = [];
  afterEach(() => {
    for (const one of writers.splice(0)) one.kill('SIGKILL');
  });

  function pipeFrom(command: string): string {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    writers.push(spawn('sh', ['-c', `exec ${command} > "${pipe}"`], { stdio: 'ignore' }));
    return pipe;
  }

  test('may be a pipe that somebody writes into', () => {
    expect(read(keyIn(pipeFrom(`printf '%s\\n' ${SECRET}`)))).toEqual({ apiKey: SECRET });
  });

  test('may be a link to a link, as Kubernetes mounts secrets', () => {
    mkdirSync(join(folder, '..2026_11_23'));
    writeFileSync(join(folder, '..2026_11_23', 'key'), SECRET);
    symlinkSync('..2026_11_23', join(folder, '..data'));
    symlinkSync(join('..data', 'key'), join(folder, 'key'));
    expect(read(keyIn('key'))).toEqual({ apiKey: SECRET });
  });

  test('is read no further than it may be long', () => {
    const limit = 1_048_576;
    writeFileSync(join(folder, 'large'), 'k'.repeat(2 * limit));
    expect(refused(keyIn('large'))).toContain('is empty or too large');
    writeFileSync(join(folder, 'longest'), 'k'.repeat(limit));
    expect(read(keyIn('longest')).apiKey).toHaveLength(limit);
    expect(refused(keyIn(pipeFrom('yes')))).toContain('is empty or too large');
  });
});
