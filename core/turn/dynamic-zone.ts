/**
 * The part of the system prompt that changes (G37): built anew for every request, said after the
 * static part, which stays as it is and so stays cached. The goal is not in it: it is the first message and
 * every compaction keeps it.
 * Invariants: empty when there is nothing to say; small; never part of the transcript.
 */
import { type Limit } from '../state/budget-fields.js';
import { isPrevious, ownPaths, writtenState } from '../dataflow/state.js';
import { STATE_PREFIX } from '../dataflow/state-path.js';
import { countedMs, left } from '../step/clock.js';
import type { OpenRun } from '../state/run.js';

/** From this share of a limit on the model is told what is left of it. */
const NEARLY_USED = 0.2;
const STATE_PATHS_SHOWN = 20;
const MINUTE_MS = 60_000;
const USD = 1_000_000;

/** One paragraph each. */
export function dynamicZone(run: OpenRun): readonly string[] {
  return [...placeText(run), ...stateText(run), ...budgetText(run)];
}

/** Where the caller works: quoted, because the caller wrote it. */
function placeText({ start, frozen }: OpenRun): readonly string[] {
  const { cwd } = start.session ?? {};
  if (cwd === undefined || frozen.settings.showCwd !== true) return [];
  return [`The user works in the folder ${JSON.stringify(cwd)}.`];
}

/** What later calls may refer to. Names alone: values are data of tools and must not speak as the system. */
function stateText(run: OpenRun): readonly string[] {
  const own = ownPaths(run);
  const previous = Object.keys(writtenState(run)).filter(isPrevious);
  return [
    ...pathsText('Values that are there', own),
    ...pathsText('Values of earlier runs of this session, only to read', previous),
  ];
}

function pathsText(label: string, paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const shown = paths.slice(0, STATE_PATHS_SHOWN).map((path) => `${STATE_PREFIX}${path}`);
  const more = paths.length > shown.length ? `, and ${paths.length - shown.length} more` : '';
  return [`${label}: ${shown.join(', ')}${more}.`];
}

function budgetText(run: OpenRun): readonly string[] {
  const scarce = budgets(run).flatMap((budget) => scarceText(budget));
  if (scarce.length === 0) return [];
  return [`Budget left: ${scarce.join(', ')}. Come to an end in time, or say what is left to do.`];
}

interface Use {
  readonly used: number;
  readonly limit: Limit;
  /** Least amount that is worth a word. */
  readonly least: number;
  readonly show: (left: number, limit: number) => string;
}

function budgets(run: OpenRun): readonly Use[] {
  const { budget, settings } = run.frozen;
  const { tally } = run;
  const turns = settings.turnCounting === 'logical' ? tally.turnCount : tally.modelCalls;
  const usd = (amount: number): string => `$${(amount / USD).toFixed(2)}`;
  return [
    {
      used: turns,
      limit: budget.maxTurns,
      least: 1,
      show: (rest, limit) => `${rest} of ${limit} turns`,
    },
    {
      used: tally.toolCalls,
      limit: budget.maxToolCalls,
      least: 1,
      show: (rest, limit) => `${rest} of ${limit} tool calls`,
    },
    {
      used: run.money.spentMicroUsd,
      limit: budget.maxCostMicroUsd,
      least: 0,
      show: (rest, limit) => `${usd(rest)} of ${usd(limit)}`,
    },
    {
      used: countedMs(run),
      limit: budget.timeoutMs,
      least: 0,
      show: (rest) => `${Math.ceil(rest / MINUTE_MS)} minutes`,
    },
  ];
}

function scarceText({ used, limit, least, show }: Use): readonly string[] {
  if (limit === 'unlimited' || used === 0) return [];
  const rest = left(used, limit);
  return rest <= Math.max(least, limit * NEARLY_USED) ? [show(rest, limit)] : [];
}
