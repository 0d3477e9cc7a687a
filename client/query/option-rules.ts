/** Which options a query has, and what each must be. Bounds that depend on the agent are the worker's to check. */
import { PERMISSION_MODES } from '../../core/state/permission-mode.js';
import {
  AMOUNT,
  CALLBACK,
  FIELDS,
  FLAG,
  isRecord,
  isText,
  isTexts,
  LIST,
  oneOf,
  TEXT,
  TEXTS,
  type OptionRule,
  type OptionRules,
} from '../../pure/option-rules.js';
import type { FollowQueryOptions, QueryOptions } from './options.js';

const MONEY: OptionRule = { ...AMOUNT, is: 'an amount of money in USD, a number from 0' };

export const FOLLOW_OPTIONS: OptionRules<FollowQueryOptions> = {
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

export const QUERY_OPTIONS: OptionRules<QueryOptions> = {
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
  permissionMode: oneOf(...PERMISSION_MODES),
  allowDangerouslySkipPermissions: FLAG,
  persistSession: FLAG,
  outputFormat: {
    is: "{ type: 'json_schema', schema } with a JSON Schema as object",
    fits: (value) =>
      isRecord(value) && value['type'] === 'json_schema' && isRecord(value['schema']),
  },
  attachments: { ...LIST, is: 'a list of files' },
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
