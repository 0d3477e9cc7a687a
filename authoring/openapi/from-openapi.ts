/**
 * fromOpenAPI: operations of an OpenAPI document (3.0, 3.1) become tools.
 * Invariants: only allowed operations do; the effect of each is the worst that its method suggests, unless the author says
 * otherwise; the document is data: it names no headers, no other hosts, and no code of it runs.
 */
import type { ToolEffect } from '../../core/state/tool.js';
import { sideEffectOf } from '../../core/state/tool.js';
import { defineTool } from '../define-tool.js';
import { type KnownFields } from '../known-fields.js';
import { checkDefinition, fieldDefect } from '../whole-definition.js';
import type { JsonSchema } from '../schema-forms.js';
import type { Tool } from '../tool.js';
import { addressOf, checkPlace, type Address } from './address.js';
import { callOf } from './call.js';
import { documentOf, own, type Part } from './document.js';
import {
  allowedOperations,
  checkNamed,
  checkPath,
  saidOf,
  toolNameOf,
  wrong,
  type Operation,
} from './operations.js';
import { effectOf, repeated, settingsOf, type OperationSettings } from './operation-settings.js';
import { ownHeadersOf, type HeaderValue, type OwnHeaders } from './own-headers.js';
import { inputOf, planOf } from './parameters.js';

const DEFAULT_RESULT_BYTES_MAX = 1024 * 1024;
const DESCRIPTION_CHARS_MAX = 1_500;
const GROUP = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;
const HEADER = /^[A-Za-z0-9-]{1,60}$/;

/** Which operations of a document become tools, and how their service is reached. */
export interface OpenApiSettings {
  /** Operations that become tools: operationIds, or `GET /pets/{petId}`; `*` at the end stands for any rest. */
  readonly allow: readonly string[];
  /**
   * Needed where a header is a function: a document does not say who gets a secret. Default: the first server of the
   * document, when that is a public one over https.
   */
  readonly baseUrl?: string;
  /**
   * Sent with each request. A secret is a function, `() => process.env['API_TOKEN']`: its value goes into no result, error or
   * event. The model is not asked for a header that stands here.
   */
  readonly headers?: { readonly [name: string]: HeaderValue };
  /** The worst that a call can do, by operation. Default: by its method. */
  readonly effects?: { readonly [operation: string]: ToolEffect };
  /** Header for the idempotency key of a call, by operation, where the service honours one. */
  readonly idempotencyKeys?: { readonly [operation: string]: string };
  /** By operation. */
  readonly tools?: { readonly [operation: string]: OperationSettings };
  /** First part of the names of the tools: `crm` makes `crm.getPet`. */
  readonly group?: string;
  /** Version of each tool; default '1'. Give another one when the document changes. */
  readonly version?: string;
  /** Limit of one call, in ms; default 30 s. */
  readonly timeoutMs?: number;
  /** Most bytes of one answer, which is cut off there; default 1 MiB. */
  readonly maxResultBytes?: number;
  /** Sends the requests; default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

const FIELDS: KnownFields<OpenApiSettings> = {
  allow: true,
  baseUrl: true,
  headers: true,
  effects: true,
  idempotencyKeys: true,
  tools: true,
  group: true,
  version: true,
  timeoutMs: true,
  maxResultBytes: true,
  fetch: true,
};

/**
 * Tools for the allowed operations of a document, which is JSON or YAML text or an object. GET and HEAD read. PUT writes and
 * DELETE deletes, and either is repeated when nobody heard how it ended. POST and PATCH may do anything: a person is asked
 * before each call, unless `effects` says less.
 *
 * Errors: InvalidTool, for a document that is too large, refers to something outside of itself, or describes an allowed
 * operation in a way that cannot be called.
 */
export function fromOpenAPI(document: string | object, settings: OpenApiSettings): readonly Tool[] {
  checkDefinition('fromOpenAPI(document, { … })', settings, 'InvalidTool');
  const defect = fieldDefect(settings, FIELDS);
  if (defect !== undefined) throw wrong(defect.what, defect.hint);
  const { group, headers = {}, effects = {}, idempotencyKeys = {}, tools = {} } = settings;
  if (group !== undefined && !GROUP.test(group)) {
    throw wrong(
      `the group is ${JSON.stringify(group)}`,
      'Use a letter, letters, digits, "_", "-".',
    );
  }
  const whole = documentOf(document);
  const operations = allowedOperations(whole, settings.allow);
  checkNamed(effects, 'effects', operations);
  checkNamed(idempotencyKeys, 'idempotencyKeys', operations);
  checkNamed(tools, 'tools', operations);
  const shared = {
    document: whole,
    settings,
    address: addressOf(whole, {
      baseUrl: settings.baseUrl,
      isSecret: Object.values(headers).some((value) => typeof value === 'function'),
    }),
    headers: ownHeadersOf(headers),
  };
  const made = operations.map((operation) => toolOf(operation, shared));
  const names = made.map(({ record }) => record.name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return made;
  throw wrong(`two operations are called ${twice}`, 'Say another name in `tools` for one of them.');
}

interface Shared {
  readonly document: Part;
  readonly settings: OpenApiSettings;
  readonly address: Address;
  readonly headers: OwnHeaders;
}

function toolOf(operation: Operation, { document, settings, address, headers }: Shared): Tool {
  checkPath(operation);
  checkPlace(document, operation, address);
  const { effects = {}, idempotencyKeys = {}, tools = {}, timeoutMs } = settings;
  const { name, version, idempotency, ...said } = settingsOf(tools, operation);
  const told = saidOf(idempotencyKeys, operation);
  if (told !== undefined && !HEADER.test(told)) {
    throw wrong(`${operation.key} has no header for its key`, "Name one, 'Idempotency-Key'.");
  }
  const ownNames = told === undefined ? headers.names : [...headers.names, told.toLowerCase()];
  const plan = planOf(document, operation, ownNames);
  const effect = effectOf(effects, operation);
  const maxResultBytes = said.maxResultBytes ?? settings.maxResultBytes ?? DEFAULT_RESULT_BYTES_MAX;
  const keyHeader = (told ?? plan.keyHeader)?.toLowerCase();
  if (keyHeader !== undefined && headers.names.includes(keyHeader)) {
    const hint =
      'Drop it from headers, and name it by idempotencyKeys where the service honours it.';
    throw wrong(`headers has ${keyHeader}, the idempotency key of ${operation.key}`, hint);
  }
  return defineTool({
    description: descriptionOf(operation),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...repeated(operation.method, { effect, idempotency, isKeyed: told !== undefined }),
    ...said,
    name: name ?? toolNameOf(operation, settings.group),
    version: version ?? settings.version ?? '1',
    effect,
    // What is told of an answer that was cut off needs a little more.
    maxResultBytes: maxResultBytes + 1_024,
    input: inputOf(plan) as unknown as JsonSchema,
    run: callOf({
      operation,
      plan,
      destination: { ...address, path: operation.path },
      headers,
      isRead: sideEffectOf(effect) !== 'mutating',
      bytesMax: maxResultBytes,
      ...(keyHeader !== undefined && { keyHeader }),
      ...(settings.fetch !== undefined && { send: settings.fetch }),
    }),
  });
}

function descriptionOf({ declared, key }: Operation): string {
  const texts = ['summary', 'description'].flatMap((field) => {
    const text = own(declared, field);
    return typeof text === 'string' && text.trim() !== '' ? [text.trim()] : [];
  });
  return [...new Set([...texts, key])].join('\n').slice(0, DESCRIPTION_CHARS_MAX);
}
