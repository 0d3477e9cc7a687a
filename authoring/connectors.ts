/**
 * Connectors: servers of the Model Context Protocol (MCP) whose tools agents may use, as a configuration names them (MC-01).
 * Invariants: whatever would fail later because of the declaration alone fails here, with a hint; headers, arguments and
 * variables of a connector may be secrets, so that no message here quotes their values.
 */
import { z } from 'zod';
import { declaredAuth, isDeclaredAuth, isSafeAddress } from './connector-auth.js';
import type { DeclaredAuth } from './connector-auth.js';
import { HoldfastError } from '../core/state/errors.js';
import { matchesName } from '../core/state/policy.js';
import { EFFECTS, type ToolEffect } from '../core/state/tool.js';
import { parseFields } from './parse-fields.js';
import { isRecord } from '../pure/options.js';

/** First part of the name of each tool of a connector: `mcp__crm__merge_contacts`. */
export const CONNECTOR_PREFIX = 'mcp__';

const CONNECTORS_MAX = 50;
const TIMEOUT_MS_MAX = 24 * 3_600_000;
const RESULT_BYTES_LIMIT = 64 * 1024 * 1024;
const NAME = /^[a-z](?:-?[a-z0-9]){0,23}$/;
const VERSION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,11}$/;

/** Gives the bearer token of each request; what it throws reaches nobody but the log, without the token. */
export interface ConnectorAuth {
  /** Called before every request; undefined: the request goes without a token. */
  token(): string | undefined | Promise<string | undefined>;
  /** Called once when the server refuses the token (401); the request is sent again after it. */
  onUnauthorized?(): void | Promise<void>;
}

export interface ConnectorTools {
  /** Names of the server's tools that agents may use; `*` at the end stands for any rest. Default: all. */
  readonly allow?: readonly string[];
  /** Names that no agent may use, whatever `allow` says. */
  readonly deny?: readonly string[];
  /** The worst that a call of a tool can do, by the server's name of the tool; counts before any annotation. */
  readonly effects?: { readonly [tool: string]: ToolEffect };
  /** Versions by the server's name of the tool, for people who read a trace; default '1'. */
  readonly versions?: { readonly [tool: string]: string };
}

interface EveryConnector {
  /** A run of an agent that uses the connector stops `tool_unavailable` when nobody can reach it. Default false. */
  readonly required?: boolean;
  /** 'trusted': the hint `readOnlyHint` of the server counts. Default 'untrusted'. */
  readonly trust?: 'trusted' | 'untrusted' | boolean;
  /**
   * What becomes of a question in the middle of a call. 'ask': people answer. 'defaults', of a trusted server alone: a form that
   * its own defaults fill in is accepted with them at once, told as a note of the call; people answer the rest. Default 'ask'.
   */
  readonly elicitation?: 'ask' | 'defaults';
  readonly tools?: ConnectorTools;
  /** Limit of one call, in ms; default 60 s. */
  readonly timeoutMs?: number;
  /** Limit of connecting and listing the tools, in ms; default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Most bytes of one result and of one message; default 4 MiB. */
  readonly maxResultBytes?: number;
  /** Most pages of the list of tools; default 16. */
  readonly maxPages?: number;
  /** Which era of the protocol is spoken. Default 'auto' over HTTP, 'legacy' over stdio. */
  readonly protocol?: 'auto' | 'legacy' | 'modern';
}

export interface HttpConnectorDefinition extends EveryConnector {
  readonly url: string;
  /** 'sse': the transport of servers before 2025-03-26. Default 'http' (streamable HTTP). */
  readonly transport?: 'http' | 'sse';
  /** A function that gives the token, or OAuth by client credentials or by an authorization code. */
  readonly auth?: ConnectorAuth | DeclaredAuth;
  /** Sent with each request. */
  readonly headers?: { readonly [name: string]: string };
}

export interface StdioConnectorDefinition extends EveryConnector {
  /** A program that speaks the protocol on its standard input and output; one process for each connection. */
  readonly command: string;
  readonly args?: readonly string[];
  /** All variables of the program, beside a few harmless ones (PATH, HOME, …). */
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
}

export type ConnectorDefinition = HttpConnectorDefinition | StdioConnectorDefinition;

export type Reached =
  | {
      readonly kind: 'http' | 'sse';
      readonly url: string;
      readonly auth?: ConnectorAuth | DeclaredAuth;
      readonly headers: { readonly [name: string]: string };
    }
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: { readonly [name: string]: string };
      readonly cwd?: string;
    };

/** A checked connector. */
export interface Connector {
  readonly name: string;
  readonly reached: Reached;
  readonly required: boolean;
  readonly trusted: boolean;
  readonly elicitation: 'ask' | 'defaults';
  readonly tools: Required<ConnectorTools>;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly maxResultBytes: number;
  readonly maxPages: number;
  readonly protocol: 'auto' | 'legacy' | 'modern';
}

const text = z.string().min(1).max(4_096);
const toolName = z.string().min(1).max(128);
const texts = z.record(z.string().min(1).max(256), z.string().max(16_384));
const count = (max: number) => z.int().positive().max(max);

const every = {
  required: z.boolean().optional(),
  trust: z.union([z.boolean(), z.enum(['trusted', 'untrusted'])]).optional(),
  elicitation: z.enum(['ask', 'defaults']).optional(),
  tools: z
    .strictObject({
      allow: z.array(toolName).max(1_000).optional(),
      deny: z.array(toolName).max(1_000).optional(),
      effects: z.record(toolName, z.enum(EFFECTS)).optional(),
      versions: z.record(toolName, z.string().regex(VERSION)).optional(),
    })
    .optional(),
  timeoutMs: count(TIMEOUT_MS_MAX).optional(),
  connectTimeoutMs: count(45_000).optional(),
  maxResultBytes: count(RESULT_BYTES_LIMIT).optional(),
  maxPages: count(64).optional(),
  protocol: z.enum(['auto', 'legacy', 'modern']).optional(),
};

const auth = z.custom<ConnectorAuth>(
  (value) => typeof (value as ConnectorAuth | null | undefined)?.token === 'function',
  'must have a function token()',
);

const anyAuth = z.unknown().transform((value, ctx): ConnectorAuth | DeclaredAuth => {
  const isDeclared = typeof value === 'object' && value !== null && isDeclaredAuth(value);
  const parsed = isDeclared ? declaredAuth.safeParse(value) : auth.safeParse(value);
  if (parsed.success) return parsed.data as ConnectorAuth | DeclaredAuth;
  ctx.issues.push(...parsed.error.issues.map((issue) => ({ ...issue, input: undefined }) as never));
  return z.NEVER;
});

const http = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).max(4_096),
  transport: z.enum(['http', 'sse']).optional(),
  auth: anyAuth.optional(),
  headers: texts.optional(),
  ...every,
});

const stdio = z.strictObject({
  command: text,
  args: z.array(z.string().max(16_384)).max(200).optional(),
  env: texts.optional(),
  cwd: text.optional(),
  ...every,
});

/** By name. Errors: `InvalidConfig`, which names the connector and the field and quotes no value. */
export function parseConnectors(given: unknown): ReadonlyMap<string, Connector> {
  if (given === undefined) return new Map();
  if (!isRecord(given)) {
    throw wrong('mcp is no object of connectors', 'Use mcp: {crm: {url: "https://…"}}.');
  }
  const entries = Object.entries(given);
  if (entries.length > CONNECTORS_MAX) {
    throw wrong(`mcp names ${entries.length} connectors`, `Name at most ${CONNECTORS_MAX}.`);
  }
  return new Map(entries.map(([name, definition]) => [name, connectorOf(name, definition)]));
}

function connectorOf(name: string, given: unknown): Connector {
  if (!NAME.test(name)) {
    const hint = 'Use 1 to 24 lower-case letters, digits and single "-", beginning with a letter.';
    throw wrong(`No connector can be called ${JSON.stringify(name.slice(0, 60))}`, hint);
  }
  const isStdio = typeof given === 'object' && given !== null && 'command' in given;
  const parsed = parseFields<z.output<typeof stdio> | z.output<typeof http>>(
    isStdio ? stdio : http,
    given,
  );
  if (!parsed.success) throw misfit(name, parsed.error);
  const { data } = parsed;
  if ('auth' in data && data.auth && isDeclaredAuth(data.auth) && !isSafeAddress(data.url)) {
    throw wrong(
      `mcp.${name}.url begins with http, over which no token may be sent`,
      'Use https, or a server on this machine.',
    );
  }
  const trusted = data.trust === true || data.trust === 'trusted';
  if (data.elicitation === 'defaults' && !trusted) {
    throw wrong(
      `mcp.${name}.elicitation is 'defaults', which needs a trusted server`,
      "Add trust: 'trusted', or leave elicitation out: people are asked then.",
    );
  }
  const { tools = {} } = data;
  return Object.freeze({
    name,
    reached: reachedOf(data),
    required: data.required ?? false,
    trusted,
    elicitation: data.elicitation ?? 'ask',
    tools: {
      allow: tools.allow ?? ['*'],
      deny: tools.deny ?? [],
      effects: tools.effects ?? {},
      versions: tools.versions ?? {},
    },
    timeoutMs: data.timeoutMs ?? 60_000,
    connectTimeoutMs: data.connectTimeoutMs ?? 10_000,
    maxResultBytes: data.maxResultBytes ?? 4 * 1024 * 1024,
    maxPages: data.maxPages ?? 16,
    protocol: data.protocol ?? (isStdio ? 'legacy' : 'auto'),
  });
}

function reachedOf(data: z.infer<typeof http> | z.infer<typeof stdio>): Reached {
  if ('command' in data) {
    const { command, args = [], env = {}, cwd } = data;
    return { kind: 'stdio', command, args, env, ...(cwd !== undefined && { cwd }) };
  }
  const { url, transport: kind = 'http', auth: given, headers = {} } = data;
  return { kind, url, headers, ...(given !== undefined && { auth: given }) };
}

/** The path and the kind of the defect alone: a value may be a secret. */
function misfit(name: string, error: z.ZodError): HoldfastError {
  const issue = error.issues[0];
  const path = ['mcp', name, ...(issue?.path ?? [])].map(String).join('.');
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.join(', ') : undefined;
  const what =
    unknown === undefined
      ? `${path.slice(0, 200)} cannot be used: it ${defectOf(issue)}`
      : `${path.slice(0, 200)} has the unknown field ${unknown.slice(0, 200)}`;
  return wrong(
    what,
    'A connector has url, or command, and auth, headers, args, env, cwd, required, trust, elicitation, tools and limits; see docs/guide/connectors.md in the package holdfast.',
  );
}

function defectOf(issue: z.core.$ZodIssue | undefined): string {
  switch (issue?.code) {
    case 'invalid_type':
      return `is no ${issue.expected}`;
    case 'invalid_format':
      return `is no ${issue.format}`;
    case 'invalid_value':
      return `is none of ${issue.values.map(String).join(', ')}`;
    case 'too_big':
      return `is above ${String(issue.maximum)}`;
    case 'too_small':
      return `is below ${String(issue.minimum)}`;
    case 'custom':
      return issue.message;
    default:
      return 'does not fit';
  }
}

/** Whether the configuration lets agents use this tool of the server. */
export function isAllowedTool({ tools }: Pick<Connector, 'tools'>, tool: string): boolean {
  const isNamed = (patterns: readonly string[]): boolean =>
    patterns.some((pattern) => matchesName(pattern, tool));
  return isNamed(tools.allow) && !isNamed(tools.deny);
}

/** The connector of what an agent names: a connector, or one of its tools. */
export function connectorNameOf(named: string): string {
  if (!named.startsWith(CONNECTOR_PREFIX)) return named;
  return named.slice(CONNECTOR_PREFIX.length).split('__')[0] ?? '';
}

function wrong(what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidConfig', `The configuration cannot be used. ${what}.`, { hint });
}
