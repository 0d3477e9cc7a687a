/**
 * What a fork of a recorded run begins with: the state after the step, what the record knows later, and the named changes.
 * Invariant: nothing is written outside of the store that is given.
 */
import { writeAuthority } from '../../activities/run/authority.js';
import { callsAtHand, forkRefusal } from '../../core/loop/fork.js';
import { dollars } from '../../core/money/dollars.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Fork } from '../../core/state/fork.js';
import type { Frozen } from '../../core/state/frozen.js';
import { isOpen, type OpenRun, type Run } from '../../core/state/run.js';
import { foldOf, type RunFold } from '../../recording/fold.js';
import { forkOutcomes } from '../../recording/fork-outcomes.js';
import type { Bundle } from '../../replay/bundle.js';
import { exportRun } from '../../replay/export-run.js';
import type { MemoryStore } from '../../store/store.js';
import { frozenFork, type ForkChanges } from './frozen.js';

/** Where a fork begins. */
export interface ForkPlace {
  readonly fold: RunFold;
  readonly bundle: Bundle;
  readonly step: number;
}

export interface ForkTerms {
  readonly changes: ForkChanges;
  /** Absent: those of the parent. */
  readonly rules?: 'newest' | undefined;
}

export interface PreparedFork extends Fork {
  readonly run: OpenRun;
  readonly frozen: Frozen;
}

/** In a run that a server holds. Errors: those of `exportRun`; StepNotFound; ForkRefused for a goal, and for a run of another tenant. */
export async function placeIn(
  from: Parameters<typeof exportRun>[0],
  run: Bundle['run'],
  at: number | 'last',
): Promise<ForkPlace> {
  const bundle = await exportRun(from, run);
  const fold = foldOf(bundle);
  if (fold.kind === 'goal') {
    throw new HoldfastError('ForkRefused', 'The id is that of a goal.', {
      hint: 'Fork the goal with `holdfast fork` or `client.forkGoal`, or fork the run of one of its cycles.',
    });
  }
  const step = at === 'last' ? fold.steps.length : at;
  // The server may have another one of this id by now.
  if (fold.at(step).after.tenant !== run.tenant) throw forkRefused('The run is not there.');
  return { fold, bundle, step };
}

/** `store` has the record. Errors: `StepNotFound`, `ForkRefused`, and what a configuration says that cannot be used. */
export async function preparedFork(
  store: MemoryStore,
  { fold, bundle, step }: ForkPlace,
  { changes, rules }: ForkTerms,
): Promise<PreparedFork> {
  const { after } = fold.at(step);
  const reason =
    forkRefusal(after) ?? unknownResult(after, { step, changes }) ?? overspent(after, changes);
  if (reason !== undefined || !isOpen(after)) throw forkRefused(reason ?? 'The run was not open.');
  const { frozen: own, head } = await frozenFork(store, bundle, { run: after, changes });
  // A fork belongs to no tree: what it starts counts below the fork itself.
  const { lineage: _l, ...frozen } = own;
  const { tenant, runId, traceId, start } = after;
  // What sub-agents may do follows from it; a bundle does not have the text.
  const authority = await writeAuthority(store, { run: { tenant, runId, traceId }, start }, frozen);
  const { modelChoice: _, ...unchosen } = after;
  const results = await Promise.all(
    Object.entries(changes.results ?? {}).map(
      async ([id, text]) => [id, await store.putText(tenant, text)] as const,
    ),
  );
  return {
    // A chosen model takes the place of one that people had chosen.
    run: changes.route === undefined ? after : unchosen,
    step,
    outcomes: forkOutcomes(fold, step),
    frozen: authority === undefined ? frozen : { ...frozen, authority },
    ...(head !== undefined && { head }),
    ...(changes.message !== undefined && { message: changes.message }),
    ...(results.length > 0 && { results: Object.fromEntries(results) }),
    ...(rules === undefined && { keepsRules: true }),
  };
}

const CALLS_NAMED = 10;

/** Undefined: each result is one of a call at hand. */
function unknownResult(
  run: Run,
  { step, changes }: { readonly step: number; readonly changes: ForkChanges },
): string | undefined {
  const atHand = callsAtHand(run);
  const unknown = Object.keys(changes.results ?? {}).find((id) => !atHand.includes(id));
  if (unknown === undefined) return undefined;
  const shown = atHand.slice(0, CALLS_NAMED).map((id) => id.slice(0, ID_CHARS));
  const more = atHand.length - shown.length;
  const named =
    atHand.length === 0
      ? 'No call is: the step is before the model proposed one, or after the model had answered to the results.'
      : `These are: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
  return `The call ${unknown.slice(0, ID_CHARS)} is not at hand after step ${step}. ${named}`;
}

const ID_CHARS = 100;

/** The fork would end at once as one whose vendor billed more than the budget. Undefined: it would not. */
function overspent({ money }: Run, { budget = {} }: ForkChanges): string | undefined {
  const { spentMicroUsd } = money;
  const { maxCostMicroUsd: most } = budget;
  if (typeof most !== 'number' || most >= spentMicroUsd) return undefined;
  return `The run had spent ${dollars(spentMicroUsd)} by then, which count: name a higher maxCostUsd.`;
}

export function forkRefused(reason: string): HoldfastError {
  return new HoldfastError('ForkRefused', reason, {
    hint: '`holdfast inspect FILE|RUN` lists the steps; `holdfast fork … --plan` shows what a fork would begin with.',
  });
}
