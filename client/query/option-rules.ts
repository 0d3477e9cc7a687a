/** Which options a query has, and what each must be. Bounds that depend on the agent are the worker's to check. */
import { PERMISSION_MODES } from '../../core/state/permission-mode.js';
import {
  AMOUNT,
  CALLBACK,
  each,
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
} from '../../pure/options.js';
import type { FollowQueryOptions, QueryOptions } from './options.js';

const MONEY: OptionRule = { ...AMOUNT, is: 'an amount of money in USD, a number from 0' };

export const FOLLOW_OPTIONS: OptionRules<FollowQueryOptions> = {
  ...each(CALLBACK, 'canUseTool onQuestion'),
  decider: {
    is: '{ by, roles }, a name and a list of texts',
    fits: (value) =>
      isRecord(value) &&
      isText(value['by']) &&
      (value['roles'] === undefined || isTexts(value['roles'])),
  },
  ...each(FLAG, 'includePartialMessages closeOnReturn'),
  abortController: {
    is: 'an AbortController',
    fits: (value) => (value as Partial<AbortController> | null)?.signal instanceof AbortSignal,
  },
  tenant: TEXT,
};

export const QUERY_OPTIONS: OptionRules<QueryOptions> = {
  ...FOLLOW_OPTIONS,
  agents: { ...FIELDS, is: 'an object: {auditor: {description, prompt}}' },
  ...each(TEXT, 'agent model fallbackModel caller runId sessionId resume cwd'),
  ...each(TEXTS, 'betas tools allowedTools disallowedTools'),
  ...each(AMOUNT, 'maxTurns maxThinkingTokens openLimitMs'),
  ...each(MONEY, 'maxCostUsd maxBudgetUsd'),
  ...each(FLAG, 'allowDangerouslySkipPermissions persistSession wait continue'),
  ...each(FIELDS, 'budget settings'),
  permissionMode: oneOf(...PERMISSION_MODES),
  outputFormat: {
    is: "{ type: 'json_schema', schema } with a JSON Schema as object",
    fits: (value) =>
      isRecord(value) && value['type'] === 'json_schema' && isRecord(value['schema']),
  },
  attachments: { ...LIST, is: 'a list of files' },
  fork: {
    is: 'true, false or { at }, the id of a message',
    fits: (value) => typeof value === 'boolean' || (isRecord(value) && isText(value['at'])),
  },
};
