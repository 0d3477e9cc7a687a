/** Which options a query has, and what each must be. Bounds that depend on the agent are the worker's to check. */
import { PERMISSION_MODES } from '../../core/state/permission-mode.js';
import type { FollowQueryOptions, QueryOptions } from './options.js';

export interface OptionRule {
  /** After "it must be". */
  readonly is: string;
  readonly fits: (value: unknown) => boolean;
}

type Rules<Options> = { readonly [name in keyof Required<Options>]: OptionRule };

const FLAG: OptionRule = { is: 'true or false', fits: (value) => typeof value === 'boolean' };
const CALLBACK: OptionRule = { is: 'a function', fits: (value) => typeof value === 'function' };
const TEXT: OptionRule = { is: 'a text that is not blank', fits: isText };
const TEXTS: OptionRule = { is: 'a list of texts', fits: isTexts };
const FIELDS: OptionRule = { is: 'an object', fits: isRecord };
const AMOUNT: OptionRule = {
  is: 'a number from 0',
  fits: (value) => typeof value === 'number' && value >= 0,
};
const MONEY: OptionRule = { ...AMOUNT, is: 'an amount of money in USD, a number from 0' };

export const FOLLOW_OPTIONS: Rules<FollowQueryOptions> = {
  canUseTool: CALLBACK,
  onQuestion: CALLBACK,
  decider: {
    is: '{ by, roles }, a name and a list of texts',
    fits: (value) =>
      isRecord(value) &&
      isText(value['by']) &&
      (value['roles'] === undefined || isTexts(value['roles'])),
  },
  includePartialMessages: FLAG,
  closeOnReturn: FLAG,
  abortController: {
    is: 'an AbortController',
    fits: (value) => isRecord(value) && value['signal'] instanceof AbortSignal,
  },
  tenant: TEXT,
};

export const QUERY_OPTIONS: Rules<QueryOptions> = {
  ...FOLLOW_OPTIONS,
  agent: TEXT,
  agents: { ...FIELDS, is: 'an object: {auditor: {description, prompt}}' },
  model: TEXT,
  fallbackModel: TEXT,
  betas: TEXTS,
  maxTurns: AMOUNT,
  maxCostUsd: MONEY,
  maxBudgetUsd: MONEY,
  maxThinkingTokens: AMOUNT,
  tools: TEXTS,
  allowedTools: TEXTS,
  disallowedTools: TEXTS,
  permissionMode: {
    is: `one of ${PERMISSION_MODES.join(', ')}`,
    fits: (value) => (PERMISSION_MODES as readonly unknown[]).includes(value),
  },
  allowDangerouslySkipPermissions: FLAG,
  persistSession: FLAG,
  outputFormat: {
    is: "{ type: 'json_schema', schema } with a JSON Schema as object",
    fits: (value) =>
      isRecord(value) && value['type'] === 'json_schema' && isRecord(value['schema']),
  },
  attachments: { is: 'a list of files', fits: (value) => Array.isArray(value) },
  caller: TEXT,
  runId: TEXT,
  budget: FIELDS,
  settings: FIELDS,
  openLimitMs: AMOUNT,
  wait: FLAG,
  sessionId: TEXT,
  resume: TEXT,
  continue: FLAG,
  fork: {
    is: 'true, false or { at }, the id of a message',
    fits: (value) => typeof value === 'boolean' || (isRecord(value) && isText(value['at'])),
  },
  cwd: TEXT,
};

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isRecord(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
