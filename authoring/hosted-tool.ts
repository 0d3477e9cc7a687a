/**
 * defineHostedTool: a tool that the model's vendor runs itself, such as a web search (G48). It is offered only
 * where every call of it would be allowed, because nobody here sees a call before it has run.
 */
import { digestOf, type Json } from '../core/json/json.js';
import {
  EFFECTS,
  sideEffectOf,
  wireNameOf,
  type HostedBound,
  type ToolEffect,
  type ToolRecord,
} from '../core/state/tool.js';
import { didYouMean } from '../pure/nearest-names.js';
import { approvalOf, type ApprovalDeclaration } from './approval.js';
import { checkNames, wrong } from './define-tool.js';
import { partDefect, shown, type KnownFields } from './known-fields.js';
import { checkDefinition, fieldDefect } from './whole-definition.js';
import type { Tool } from './tool.js';

/** A tool that the vendor of the model runs: its declaration goes to the vendor as it is. */
export interface HostedToolDefinition {
  /** As the vendor calls it. */
  readonly name: string;
  readonly version: string;
  /** The worst that a call can do. */
  readonly effect: ToolEffect;
  /** Name of the provider that knows it; with another one it is not offered. */
  readonly provider: string;
  /** The vendor's own declaration, sent as it stands: `{type: 'web_search_20250305', name, max_uses: 5}`. */
  readonly declaration: { readonly [key: string]: Json };
  /** What one request may cost because of it: reserved before the request leaves. */
  readonly bound: HostedBound;
  readonly description?: string;
  readonly approval?: ApprovalDeclaration;
}

const FIELDS: KnownFields<HostedToolDefinition> = {
  name: true,
  version: true,
  effect: true,
  provider: true,
  declaration: true,
  bound: true,
  description: true,
  approval: true,
};
const BOUND: KnownFields<HostedBound> = { inputTokens: true, uses: true, feeMicroUsd: true };

const DECLARATION_BYTES_MAX = 32 * 1024;

/**
 * Makes a tool that the vendor of the model runs, such as a search of the web; `bound` is the most that one call costs.
 */
export function defineHostedTool(definition: HostedToolDefinition): Tool {
  checkDefinition('defineHostedTool({ … })', definition, 'InvalidTool');
  checkNames(definition);
  const defect = fieldDefect(definition, FIELDS);
  if (defect !== undefined) throw wrong(definition.name, defect.what, defect.hint);
  checkHosted(definition);
  const { name, version, effect, provider, declaration, bound, description = '' } = definition;
  const record: ToolRecord = {
    name,
    version,
    wireName: wireNameOf(name),
    kind: 'hosted',
    effect,
    idempotency: sideEffectOf(effect) === 'mutating' ? 'unknown' : 'natural',
    approval: approvalOf(name, effect, definition.approval),
    concurrencySafe: false,
    timeoutMs: 1,
    maxResultBytes: 1,
    schemaHash: digestOf(declaration),
    probes: false,
    hosted: { ...bound },
  };
  const message = `${name} is run by the model's vendor; it cannot be called.`;
  return Object.freeze({
    record: Object.freeze(record),
    description,
    inputSchema: {},
    hosted: { provider, declaration },
    parse: () => ({ ok: false, message }) as const,
    run: () => Promise.reject(new Error(message)),
  });
}

function checkHosted({ name, effect, provider, declaration, bound }: HostedToolDefinition): void {
  if (!EFFECTS.includes(effect)) {
    const hint = `${didYouMean(effect, EFFECTS)}Use one of ${EFFECTS.join(', ')}.`;
    throw wrong(name, `its effect is ${shown(effect)}`, hint);
  }
  if (typeof provider !== 'string' || provider === '') {
    throw wrong(
      name,
      'it names no provider',
      "Name the vendor that runs the tool, such as provider: 'anthropic'.",
    );
  }
  if (declaration?.['name'] !== undefined && declaration['name'] !== wireNameOf(name)) {
    const hint = 'Give the tool the name that its declaration has.';
    throw wrong(name, `its declaration calls it ${JSON.stringify(declaration['name'])}`, hint);
  }
  if (typeof declaration !== 'object' || declaration === null || !isSmall(declaration)) {
    throw wrong(
      name,
      'its declaration cannot be sent',
      `Give at most ${DECLARATION_BYTES_MAX} bytes.`,
    );
  }
  const defect = bound === undefined ? undefined : partDefect('bound', bound, BOUND);
  if (defect !== undefined) throw wrong(name, defect.what, defect.hint);
  const amounts = [bound?.inputTokens, bound?.uses, bound?.feeMicroUsd];
  if (!amounts.every((amount) => Number.isSafeInteger(amount) && amount >= 0)) {
    const hint = 'Give bound: {inputTokens, uses, feeMicroUsd} as whole numbers from 0.';
    throw wrong(name, 'what it may cost is not bounded', hint);
  }
}

function isSmall(declaration: HostedToolDefinition['declaration']): boolean {
  return Buffer.byteLength(JSON.stringify(declaration)) <= DECLARATION_BYTES_MAX;
}
