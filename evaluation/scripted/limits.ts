/** Budgets and settings of a case as those of the runtime. */
import { DEFAULT_BUDGET, type Budget } from '../../core/state/budget-fields.js';
import { DEFAULT_SETTINGS, type Settings } from '../../core/state/settings.js';
import type { CaseSettings, Fixture } from '../fixture.js';

const OUTPUT_TOKENS_MAX = 1_000_000;
/** The longest duration that a setting may have. */
const YEAR_MS = 366 * 86_400_000;
const MANY = 100;

/** Limits that have no 'unlimited' get the most that they allow. */
const MOST: Partial<Budget> = {
  maxParallelToolCalls: MANY,
  maxToolResultChars: Number.MAX_SAFE_INTEGER,
  maxRetriesPerModelCall: 20,
  maxServerErrorRetries: 20,
  maxRetriesPerToolCall: 20,
  maxTokensPerResponse: OUTPUT_TOKENS_MAX,
  maxOutputRecoveries: MANY,
  emptyResponseRetries: MANY,
  maxReactiveCompactions: MANY,
  maxStopHookReentries: MANY,
  maxOutputSchemaRetries: MANY,
};

export function budgetOf({ budget }: Pick<Fixture, 'budget'>): Partial<Budget> {
  const known = Object.entries(budget).filter(([name]) => name in DEFAULT_BUDGET);
  const fields = known.map(([name, value]) => [
    name,
    value === 'unlimited' ? (MOST[name as keyof Budget] ?? value) : value,
  ]);
  return Object.fromEntries(fields) as Partial<Budget>;
}

/** Waits that may be over at once; the runtime's shortest is a millisecond. */
const AT_ONCE = ['approvalTimeoutMs', 'inputTimeoutMs', 'idleTimeoutMs'] as const;

export function settingsOf({ settings }: { readonly settings: CaseSettings }): Partial<Settings> {
  const known = Object.entries(settings).filter(([name]) => name in DEFAULT_SETTINGS);
  const fields = known.map(([name, value]) => [name, value === 'unlimited' ? YEAR_MS : value]);
  const { onToolFailure, permissionMode } = settings;
  return {
    ...(Object.fromEntries(fields) as Partial<Settings>),
    ...AT_ONCE.reduce((rest, name) => (settings[name] === 0 ? { ...rest, [name]: 1 } : rest), {}),
    // Whoever writes this mode down has unlocked it (G16); a change to it on the way has not.
    ...(permissionMode === 'bypassPermissions' && { allowBypassPermissions: true }),
    ...(onToolFailure !== undefined && {
      onToolFailure: { ...DEFAULT_SETTINGS.onToolFailure, ...withoutAbsent(onToolFailure) },
    }),
  };
}

function withoutAbsent<T extends object>(value: T): T {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries) as T;
}
