/**
 * The console section of a configuration: who may reach the approval desk, and as whom.
 * Invariant: without `jwt` and `serviceTokens` nobody from outside can be told apart, so the desk only
 * serves local development.
 */
import { isIP } from 'node:net';
import { z } from 'zod';
import { OR_LEAVE, wrongPart } from './field-places.js';
import { mcpServer, starts } from './console-starts.js';
import { parseFields } from './parse-fields.js';

const name = z.string().trim().min(1).max(200);
const role = z.string().trim().min(1).max(64);
const names = z.array(name).max(50);

/** Never the symmetric ones: a public key must not be usable as a secret. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;

const jwt = z.strictObject({
  issuer: z.string().min(1).max(1_000),
  audience: z.string().min(1).max(1_000),
  /** Where the issuer publishes its keys; https, or http on this machine. */
  jwksUrl: z.url().max(2_000).refine(isSafeUrl, 'must be https, or http on this machine'),
  algorithms: z.array(z.enum(ALGORITHMS)).min(1).default(['RS256', 'ES256', 'EdDSA']),
  /** How far the issuer's clock may be off, in seconds. */
  clockToleranceS: z.number().int().min(0).max(300).default(5),
  claims: z
    .strictObject({
      /** Names the person for good: decisions carry it. */
      person: name.default('sub'),
      name: name.default('name'),
      /** A path with dots; its value is a text, or a list of texts. */
      roles: name.default('roles'),
      /** Absent: everybody belongs to `tenant`. */
      tenant: name.optional(),
    })
    .prefault({}),
  /** Of people whose token names none. Without both this and `claims.tenant`: 'default'. */
  tenant: name.refine((one) => one !== '*', 'must be the name of one tenant').optional(),
});

const limits = z
  .strictObject({
    bodyBytes: z.number().int().min(1_024).max(1_048_576).default(65_536),
    /** Of one person. */
    requestsPerMinute: z.number().int().min(1).max(100_000).default(600),
    /** Of one address, without a valid login. */
    failedLoginsPerMinute: z.number().int().min(1).max(10_000).default(30),
    connections: z.number().int().min(1).max(100_000).default(1_000),
    /** Of one address; trusted proxies have no such limit. */
    connectionsPerAddress: z.number().int().min(1).max(100_000).default(100),
    /** Event streams at a time, of one person and of all. */
    streamsPerPerson: z.number().int().min(1).max(1_000).default(20),
    streams: z.number().int().min(1).max(100_000).default(500),
  })
  .prefault({});

const webhook = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be a short name of a-z, 0-9 and -'),
  url: z.url().max(2_000).refine(isSafeUrl, 'must be https, or http on this machine'),
  /** The environment variable that holds the secret its requests are signed with. */
  secretVariable: name,
  format: z.enum(['json', 'slack', 'mail']).default('json'),
  /** Default: all. */
  tenants: names.optional(),
});

const schema = z.strictObject({
  host: z.string().min(1).max(255).default('127.0.0.1'),
  port: z.number().int().min(0).max(65_535).default(8585),
  /** Where people reach it, for the links in notifications. */
  publicUrl: z.url().max(2_000).optional(),
  /** Where Temporal's own page is, for links to it. */
  temporalUi: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
  jwt: jwt.optional(),
  /** A file of service tokens (docs/operate/console.md). */
  serviceTokens: z.string().min(1).max(4_096).optional(),
  /** Roles of a token in the desk's own words: `{ 'grp-finance': ['finance'] }`. Default: as they are. */
  roles: z.record(name, z.array(role).max(20)).optional(),
  /**
   * Who may do what; without a word: the roles that decide somewhere in the configuration, and where it names none,
   * everybody who has a role. `answer` is about one's own questions; without a word: everybody who has a role.
   */
  access: z
    .strictObject({
      answer: z.array(role).max(50).optional(),
      read: z.array(role).max(50).optional(),
      message: z.array(role).max(50).optional(),
      interrupt: z.array(role).max(50).optional(),
      /** Who may say something to goals. */
      steer: z.array(role).max(50).optional(),
      freeze: z.array(role).max(50).optional(),
      audit: z.array(role).max(50).optional(),
      /** Who may start runs and goals; without a word: nobody but a local developer. */
      start: z.array(role).max(50).optional(),
      /** Who may approve tools of connectors; without a word: nobody but a local developer. */
      connectors: z.array(role).max(50).optional(),
    })
    .prefault({}),
  /** What may be started over the desk. */
  starts,
  /** What other agents may do through `holdfast mcp-server`. */
  mcpServer,
  /**
   * Addresses and networks (`10.0.0.0/8`) of proxies before the desk: what they say in X-Forwarded-For is the address
   * that limits go by.
   */
  trustedProxies: z
    .array(z.string().refine(isNetwork, 'must be an address or a network'))
    .max(50)
    .default([]),
  limits,
  webhooks: z
    .array(webhook)
    .max(20)
    // The store keeps by the name who was told.
    .refine(haveOwnNames, 'two webhooks have the same name')
    .default([]),
});

/** As a configuration says it. */
export type ConsoleDefinition = z.input<typeof schema>;
export type ConsoleSettings = z.output<typeof schema>;
export type JwtSettings = NonNullable<ConsoleSettings['jwt']>;
export type WebhookSettings = ConsoleSettings['webhooks'][number];

/** Errors: InvalidConfig naming the field. */
export function parseConsole(definition: unknown): ConsoleSettings {
  const result = parseFields(schema, definition ?? {});
  if (result.success) return result.data;
  throw wrongPart('console', result.error, OR_LEAVE);
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  return isIP(address) !== 0 && isPrefix && rest.length === 0;
}

function haveOwnNames(webhooks: readonly { readonly name: string }[]): boolean {
  return new Set(webhooks.map((one) => one.name)).size === webhooks.length;
}

function isSafeUrl(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** A name or address of this machine alone. */
export function isLoopback(host: string): boolean {
  return (
    host === 'localhost' || host === '[::1]' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
  );
}
