/**
 * What the business controls say of a call that has just been checked, for the card of its question.
 * Invariants: it reserves nothing and refuses nothing; where it cannot be told there is none, and the claim
 * decides alone.
 */
import type { Tool } from '../../authoring/index.js';
import { exceedance, LIMIT_SCOPES } from '../../core/controls/limits-across-runs.js';
import type { LimitsOutlook, LimitStanding, Outlook } from '../../core/controls/outlook.js';
import { EARLIER_MAX, type Repeats } from '../../core/controls/repeats.js';
import type { Json } from '../../core/json/json.js';
import type { StoreCalls } from '../../store/store.js';
import { controlledOf, type Controlled } from './controls.js';
import { cardOf } from './done-before.js';

export interface Checked {
  readonly tenant: string;
  readonly tool: Tool;
  /** Parsed, with its texts restored. */
  readonly input: Json;
  /** ms since epoch. */
  readonly at: number;
}

type Lookups = Pick<StoreCalls, 'earlierEffects' | 'totalsFor'>;

export async function outlookOf(store: Lookups, checked: Checked): Promise<Outlook | undefined> {
  const { controls } = checked.tool;
  if (controls === undefined) return undefined;
  let controlled: Controlled;
  try {
    controlled = controlledOf(controls, checked.input);
  } catch {
    // Whoever executes says what is wrong with them.
    return undefined;
  }
  const repeats = await repeatsFor(store, checked, controlled);
  const limits = await limitsFor(store, checked, controlled);
  if (repeats === undefined && limits === undefined) return undefined;
  return {
    ...(repeats !== undefined && { repeats }),
    ...(limits !== undefined && { limits, at: checked.at }),
  };
}

async function repeatsFor(
  store: Lookups,
  { tenant, tool, at }: Checked,
  { identity }: Controlled,
): Promise<Repeats | undefined> {
  const guard = tool.controls?.identity;
  if (guard === undefined || identity === undefined) return undefined;
  const since = at - guard.windowMs;
  const asked = { tenant, tool: tool.record.name, identity, since, limit: EARLIER_MAX + 1 };
  const found = await store.earlierEffects(asked);
  return found.length === 0 ? undefined : cardOf(identity, found);
}

async function limitsFor(
  store: Lookups,
  { tenant, tool, at }: Checked,
  { spending }: Controlled,
): Promise<LimitsOutlook | undefined> {
  const rules = tool.controls?.limits?.rules;
  if (rules === undefined || spending === undefined) return undefined;
  const totals = await store.totalsFor({ tenant, tool: tool.record.name }, spending, at);
  const limits = LIMIT_SCOPES.flatMap((scope): readonly LimitStanding[] => {
    const rule = rules[scope];
    return rule === undefined ? [] : [{ scope, ...rule, used: totals[scope] }];
  });
  const exceeded = exceedance(rules, totals, spending) !== undefined;
  return { ...spending, limits, ...(exceeded && { exceeded: true as const }) };
}
