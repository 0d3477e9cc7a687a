/**
 * The alarm on turns whose cost or tokens keep doubling: nobody pays the last of them by accident.
 * Invariants: an alarm decides nothing; a run gives it once.
 */
import type { Usage } from '../state/model.js';
import type { OpenRun } from '../state/run.js';
import { follows } from '../step/changes.js';
import { warnOnce } from '../step/outbox.js';

/** So many turns in a row take at least twice the one before. */
const DOUBLINGS = 3;
/** Below this the last of them is not worth a word. */
const ALARM_FROM = { cost: 50_000, tokens: 30_000 } as const;
const TOLD = {
  cost: ['the cost of a turn has doubled', 'micro-USD'],
  tokens: ['the tokens of a turn have doubled', 'tokens'],
} as const;

/** After each reply: what the turn took, with all that was spent since the one before. */
export function watchGrowth(run: OpenRun, usage: Usage): OpenRun {
  if (!follows(run, 'growthTold')) return run;
  const { spentMicroUsd } = run.money;
  const before = run.growth ?? { cost: [], tokens: [], spentMicroUsd: 0 };
  const tokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  const growth = {
    cost: [...before.cost, spentMicroUsd - before.spentMicroUsd].slice(-1 - DOUBLINGS),
    tokens: [...before.tokens, tokens].slice(-1 - DOUBLINGS),
    spentMicroUsd,
  };
  return (['cost', 'tokens'] as const).reduce<OpenRun>(
    (next, what) => {
      const turns = growth[what];
      if ((turns.at(-1) ?? 0) < ALARM_FROM[what] || !keepDoubling(turns)) return next;
      const [words, unit] = TOLD[what];
      const told = `${words} ${DOUBLINGS} times in a row: ${turns.join(', ')} ${unit}`;
      return warnOnce(next, 'cost_exploding', told);
    },
    { ...run, growth },
  );
}

function keepDoubling(turns: readonly number[]): boolean {
  if (turns.length <= DOUBLINGS) return false;
  return turns.every((one, at) => at === 0 || one >= 2 * Math.max(1, turns[at - 1] ?? 0));
}
