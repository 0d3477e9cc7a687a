/**
 * How the server is reached, as the environment says it: Temporal's own variables and profiles, read by Temporal's
 * own library, and Holdfast's of the same names, which win.
 * Invariants: what is set but cannot be meant is refused by name; no value of a key is in an error; nothing is
 * sent in clear text because a word was misspelt.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  loadClientConfigProfile,
  type ClientConfigProfile,
  type ConfigDataSource,
} from '@temporalio/envconfig';
import { HoldfastError } from '../core/state/errors.js';
import type { Credentials, TlsMaterial } from './access.js';
import { checkMaterial } from './check-material.js';

export type Variables = Readonly<Record<string, string | undefined>>;

/** What somebody has named; what nobody has is absent. */
export interface NamedAccess extends NamedPlace, Credentials {}

export interface NamedPlace {
  readonly address?: string;
  readonly namespace?: string;
}

/** As a configuration says it: paths of files, and what no file holds. */
export interface AccessSettings {
  readonly address?: string | undefined;
  readonly namespace?: string | undefined;
  readonly tls?:
    | boolean
    | {
        readonly ca?: string | undefined;
        readonly cert?: string | undefined;
        readonly key?: string | undefined;
        readonly serverName?: string | undefined;
      }
    | undefined;
  readonly apiKeyFile?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Names of Temporal's that Holdfast has as well; the shorter ones are its own. */
const NAMES: readonly (readonly [ours: string, theirs: string])[] = [
  ...[
    'ADDRESS',
    'NAMESPACE',
    'API_KEY',
    'PROFILE',
    'CONFIG_FILE',
    'TLS',
    'TLS_SERVER_NAME',
    'TLS_CLIENT_CERT_PATH',
    'TLS_CLIENT_CERT_DATA',
    'TLS_CLIENT_KEY_PATH',
    'TLS_CLIENT_KEY_DATA',
    'TLS_SERVER_CA_CERT_PATH',
    'TLS_SERVER_CA_CERT_DATA',
  ].map((name) => [`HOLDFAST_${name}`, `TEMPORAL_${name}`] as const),
  // After the others: who sets both means the short one.
  ['HOLDFAST_TLS_CA', 'TEMPORAL_TLS_SERVER_CA_CERT_PATH'],
  ['HOLDFAST_TLS_CERT', 'TEMPORAL_TLS_CLIENT_CERT_PATH'],
  ['HOLDFAST_TLS_KEY', 'TEMPORAL_TLS_CLIENT_KEY_PATH'],
];
/** `HOLDFAST_GRPC_META_X_TEAM=a` is the metadata `x-team: a`. */
const META = /^(?:TEMPORAL|HOLDFAST)_GRPC_META_(.+)$/;
const ADDRESS = /^(\[[0-9A-Fa-f:]+\]|[^\s:/]+):\d{1,5}$/;
const FILE_BYTES_MAX = 1_048_576;

export interface AccessPlace {
  readonly variables: Variables;
  /** Relative paths start here. */
  readonly folder: string;
  /** Below the environment. */
  readonly settings?: AccessSettings | undefined;
}

/** Where the server is, without a look at certificates and keys. Errors: InvalidConfig. */
export function readPlace(place: AccessPlace): NamedPlace {
  return placeIn(profileOf(inTheirNames(place)), place);
}

/** Reads files of certificates and keys anew at every call. Errors: InvalidConfig. */
export function readAccess(place: AccessPlace): NamedAccess {
  const { folder, settings = {} } = place;
  const profile = profileOf(inTheirNames(place));
  const read = reading(folder);
  const apiKey = apiKeyOf(place, profile, read);
  const tls = tlsFrom(profile, settings, read);
  const metadata = { ...settings.metadata, ...profile.grpcMeta };
  if (tls === false && apiKey !== undefined) {
    throw wrong('An API key is set, and TLS is switched off: the key would travel in clear text');
  }
  return {
    ...placeIn(profile, place),
    ...(tls !== undefined && { tls }),
    ...(apiKey !== undefined && { apiKey }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

function placeIn(
  profile: ClientConfigProfile,
  { variables, settings = {} }: AccessPlace,
): NamedPlace {
  const address = profile.address ?? settings.address;
  const namespace = profile.namespace ?? settings.namespace;
  if (address !== undefined && !ADDRESS.test(address)) {
    throw wrong(`${nameOf('ADDRESS', variables)} cannot be used: it must be host:port`);
  }
  if (namespace?.trim() === '') {
    throw wrong(`${nameOf('NAMESPACE', variables)} cannot be used: it must not be blank`);
  }
  return {
    ...(address !== undefined && { address }),
    ...(namespace !== undefined && { namespace }),
  };
}

function inTheirNames({ variables, folder }: AccessPlace): Record<string, string> {
  const theirs: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    const meta = META.exec(name)?.[1];
    if (value === undefined || (meta === undefined && name.startsWith('HOLDFAST_'))) continue;
    // The library replaces the first underscore only.
    if (meta === undefined) theirs[name] = value;
    else if (name.startsWith('TEMPORAL_')) theirs[metaName(meta)] ??= value;
    else theirs[metaName(meta)] = value;
  }
  for (const [name, their] of NAMES) {
    const value = variables[name];
    if (value === undefined) continue;
    theirs[their] = blank(name, value);
    // One source of a certificate: the path of ours is not beside the text of theirs.
    const other = their.endsWith('_PATH') ? '_DATA' : their.endsWith('_DATA') ? '_PATH' : undefined;
    if (other !== undefined) delete theirs[their.replace(/_(PATH|DATA)$/, other)];
  }
  for (const name of ['HOLDFAST_TLS', 'TEMPORAL_TLS']) refuseNoSwitch(name, variables[name]);
  if (/^(1|true)$/.test(theirs['TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'] ?? '')) {
    throw wrong(
      'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION is not followed: a server is always verified',
    );
  }
  const file = theirs['TEMPORAL_CONFIG_FILE'];
  if (file !== undefined) theirs['TEMPORAL_CONFIG_FILE'] = resolve(folder, file);
  return theirs;
}

function metaName(suffix: string): string {
  return `TEMPORAL_GRPC_META_${suffix.toLowerCase().replaceAll('_', '-')}`;
}

function refuseNoSwitch(name: string, value: string | undefined): void {
  if (value === undefined || /^(1|0|true|false)$/.test(value)) return;
  throw wrong(`The environment variable ${name} cannot be used: it must be true or false`);
}

function blank(name: string, value: string): string {
  if (value.trim() !== '') return value.trim();
  throw wrong(`The environment variable ${name} cannot be used: it must not be blank`);
}

function profileOf(theirs: Record<string, string>): ClientConfigProfile {
  try {
    return loadClientConfigProfile({ overrideEnvVars: theirs });
  } catch (error) {
    // A parser quotes what it read, and that may be a key.
    const { name = '', message = '' } = error as Partial<Error>;
    const isParser = name === 'TomlError' || message.includes('\n');
    const why = isParser ? 'it is no TOML' : message.slice(0, 300);
    throw wrong(`Temporal's profile cannot be read: ${why}`);
  }
}

interface Read {
  (source: ConfigDataSource | undefined, what: string): Uint8Array | undefined;
}

function reading(folder: string): Read {
  return (source, what) => {
    if (source === undefined) return undefined;
    if ('data' in source) return Buffer.from(source.data);
    const path = resolve(folder, source.path);
    try {
      const bytes = beginningOf(path);
      if (bytes.length > 0 && bytes.length <= FILE_BYTES_MAX) return bytes;
    } catch (cause) {
      const { code = '' } = cause as NodeJS.ErrnoException;
      throw wrong(`The file of ${what}, ${path}, cannot be read (${code})`);
    }
    throw wrong(`The file of ${what}, ${path}, is empty or too large`);
  };
}

/** Up to one byte more than a file may have: of a pipe, or a file that grows, nobody knows the size before. */
function beginningOf(path: string): Uint8Array {
  const bytes = Buffer.alloc(FILE_BYTES_MAX + 1);
  const file = openSync(path, 'r');
  try {
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(file, bytes, length, bytes.length - length, null);
      if (read === 0) break;
      length += read;
    }
    return Buffer.from(bytes.subarray(0, length));
  } finally {
    closeSync(file);
  }
}

function apiKeyOf(
  { variables, settings = {} }: AccessPlace,
  profile: ClientConfigProfile,
  read: Read,
): string | undefined {
  // The file is the one that can change while a process runs.
  const named = variables['HOLDFAST_API_KEY_FILE'];
  const isGiven = variables['HOLDFAST_API_KEY'] !== undefined;
  if (named !== undefined && isGiven) {
    throw wrong('HOLDFAST_API_KEY and HOLDFAST_API_KEY_FILE are both set: one of them is meant');
  }
  const file = named ?? (profile.apiKey === undefined ? settings.apiKeyFile : undefined);
  const key =
    file === undefined
      ? profile.apiKey
      : Buffer.from(read({ path: file }, 'the API key') ?? '').toString('utf8');
  const trimmed = key?.trim();
  if (trimmed !== undefined && !/^[\x21-\x7e]+$/.test(trimmed)) {
    throw wrong('The API key cannot be used: a key is one word of readable ASCII');
  }
  return trimmed;
}

function tlsFrom(
  { tls: said }: ClientConfigProfile,
  { tls: below }: AccessSettings,
  read: Read,
): TlsMaterial | boolean | undefined {
  if (said?.disabled === true) return false;
  if (said === undefined && (below === undefined || typeof below === 'boolean')) return below;
  const files = typeof below === 'object' ? below : {};
  const ca = read(said?.serverCACert ?? at(files.ca), "the server's authority");
  const cert = read(said?.clientCert ?? at(files.cert), "the client's certificate");
  const key = read(said?.clientKey ?? at(files.key), "the key of the client's certificate");
  const serverName = said?.serverName ?? files.serverName;
  const tls: TlsMaterial = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(serverName !== undefined && { serverName }),
  };
  checkMaterial(tls, {
    names: {
      ca: named(said?.serverCACert ?? at(files.ca), 'HOLDFAST_TLS_CA'),
      cert: named(said?.clientCert ?? at(files.cert), 'HOLDFAST_TLS_CERT'),
      key: named(said?.clientKey ?? at(files.key), 'HOLDFAST_TLS_KEY'),
    },
  });
  return tls;
}

function at(path: string | undefined): ConfigDataSource | undefined {
  return path === undefined ? undefined : { path };
}

function named(source: ConfigDataSource | undefined, variable: string): string {
  return source !== undefined && 'path' in source ? `${variable} (${source.path})` : variable;
}

function nameOf(suffix: string, variables: Variables): string {
  const ours = `HOLDFAST_${suffix}`;
  if (variables[ours] !== undefined) return `The environment variable ${ours}`;
  const theirs = `TEMPORAL_${suffix}`;
  if (variables[theirs] !== undefined) return `The environment variable ${theirs}`;
  return `The ${suffix.toLowerCase()} of Temporal's profile or of the configuration`;
}

function wrong(what: string): HoldfastError {
  return new HoldfastError('InvalidConfig', `${what}.`, {
    hint: 'Correct the setting, or leave it out (docs/operate/cluster.md in the package holdfast).',
  });
}
