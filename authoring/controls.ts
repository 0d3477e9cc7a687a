/**
 * Business controls of a tool, as authors write them: limits across runs, and what an effect is about.
 * Invariant: a control that could never bind, or that lacks what it reckons with, fails where it is written.
 */
import { HoldfastError } from '../core/state/errors.js';
import {
  LIMIT_SCOPES,
  type LimitRule,
  type LimitRules,
} from '../core/controls/limits-across-runs.js';
import { DEFAULT_IDENTITY_WINDOW_MS } from '../core/controls/repeats.js';
import { sideEffectOf, type ToolEffect } from '../core/state/tool.js';
import { partDefect, shown, type KnownFields } from './known-fields.js';
import { isRecord } from '../pure/options.js';

const WINDOW_MS_MAX = 10 * 366 * 86_400_000;

/** Amounts are whole numbers in a unit of the tool's own, such as cents. A day is one of UTC. */
export interface LimitsDeclaration<Input> extends LimitRules {
  /** How much a call would do. Needed by limits on amounts. */
  readonly amount?: (input: Input) => number;
  /** For whom. Needed by limits per customer. */
  readonly customer?: (input: Input) => string;
}

/** The texts that say what an effect is about, such as `[orderId]`; undefined: nothing in particular. */
export type IdentityOf<Input> = (input: Input) => readonly (string | number)[] | undefined;

export type IdentityDeclaration<Input> =
  | IdentityOf<Input>
  | {
      readonly of: IdentityOf<Input>;
      /** For how long a second one is asked about, in ms; default: 30 days. */
      readonly windowMs?: number;
    };

const IDENTITY: KnownFields<Exclude<IdentityDeclaration<unknown>, IdentityOf<unknown>>> = {
  of: true,
  windowMs: true,
};

/** As the worker holds them; what the functions return is checked where it is used. */
export interface ToolControls {
  readonly limits?: {
    readonly rules: LimitRules;
    readonly amount?: (input: unknown) => unknown;
    readonly customer?: (input: unknown) => unknown;
  };
  readonly identity?: {
    readonly of: (input: unknown) => unknown;
    readonly windowMs: number;
  };
}

interface Declared {
  readonly name: string;
  readonly effect: ToolEffect;
  readonly limits?: unknown;
  readonly identity?: unknown;
}

/** Undefined: the tool has none. */
export function controlsOf({ name, effect, limits, identity }: Declared): ToolControls | undefined {
  if (limits === undefined && identity === undefined) return undefined;
  if (sideEffectOf(effect) !== 'mutating') {
    const hint = 'Drop limits and identity: nothing of a read has to be counted.';
    throw wrong(name, `it has business controls, but its effect is "${effect}"`, hint);
  }
  return Object.freeze({
    ...(limits !== undefined && { limits: limitsOf(name, limits) }),
    ...(identity !== undefined && { identity: identityOf(name, identity) }),
  });
}

function limitsOf(tool: string, declared: unknown): NonNullable<ToolControls['limits']> {
  if (!isRecord(declared)) throw wrong(tool, 'limits', LIMITS_HINT);
  const { amount, customer, ...rules } = declared as LimitsDeclaration<unknown>;
  const unknown = Object.keys(rules).find((key) => !LIMIT_SCOPES.some((scope) => scope === key));
  if (unknown !== undefined) throw wrong(tool, `limits.${unknown} is unknown`, LIMITS_HINT);
  const given = LIMIT_SCOPES.filter((scope) => rules[scope] !== undefined);
  if (given.length === 0) throw wrong(tool, 'its limits limit nothing', LIMITS_HINT);
  for (const scope of given) checkRule(tool, scope, rules[scope]);
  for (const [field, value] of Object.entries({ amount, customer })) {
    if (value === undefined || typeof value === 'function') continue;
    throw wrong(tool, `limits.${field} is no function`, LIMITS_HINT);
  }
  if (given.some((scope) => rules[scope]?.amount !== undefined) && typeof amount !== 'function') {
    const hint = 'Add amount: (input) => …, in the same unit.';
    throw wrong(tool, 'it limits amounts, but no call has one', hint);
  }
  if (rules.perCustomerAndDay !== undefined && typeof customer !== 'function') {
    const hint = 'Add customer: (input) => ….';
    throw wrong(tool, 'it limits customers, but no call has one', hint);
  }
  return {
    rules: Object.fromEntries(given.map((scope) => [scope, { ...rules[scope] }])),
    ...(typeof amount === 'function' && { amount }),
    ...(typeof customer === 'function' && { customer }),
  };
}

function checkRule(tool: string, scope: string, rule: LimitRule | undefined): void {
  const { amount, count, ...others } = rule ?? {};
  const numbers = [amount, count].filter((one) => one !== undefined);
  const valid =
    numbers.length > 0 &&
    Object.keys(others).length === 0 &&
    numbers.every((one) => Number.isSafeInteger(one) && one >= 0);
  if (!valid) throw wrong(tool, `limits.${scope} is ${shown(rule)}`, LIMITS_HINT);
}

function identityOf(tool: string, declared: unknown): NonNullable<ToolControls['identity']> {
  if (typeof declared === 'function') {
    return { of: declared as IdentityOf<unknown>, windowMs: DEFAULT_IDENTITY_WINDOW_MS };
  }
  const { of, windowMs = DEFAULT_IDENTITY_WINDOW_MS } = (declared ?? {}) as {
    readonly of?: unknown;
    readonly windowMs?: number;
  };
  if (typeof of !== 'function') {
    throw wrong(tool, 'its identity is no function', 'Use identity: (input) => [input.orderId].');
  }
  const defect = partDefect('identity', declared, IDENTITY);
  if (defect !== undefined) throw wrong(tool, defect.what, defect.hint);
  if (!Number.isSafeInteger(windowMs) || windowMs <= 0 || windowMs > WINDOW_MS_MAX) {
    const hint = 'Give a positive number of milliseconds, for example days(30).';
    throw wrong(tool, `the window of its identity is ${String(windowMs)} ms`, hint);
  }
  return { of: of as IdentityOf<unknown>, windowMs };
}

const LIMITS_HINT =
  'Use limits: {amount, customer, perCustomerAndDay: {amount, count}, perDay: {…}, inAll: {…}} with whole numbers.';

function wrong(tool: string, what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidTool', `Tool ${tool}: ${what}.`, { hint });
}
