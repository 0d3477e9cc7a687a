/**
 * One call of each goal tool: what is kept of it, what the model is told, and why it is refused.
 * Invariants: a step becomes done only with evidence that exists; limits are those of the memory (MEMORY_LIMITS) and are
 * named; an id that does not exist counts as none.
 */
import type { z } from 'zod';
import type { GOAL_INPUTS } from '../../authoring/goal/goal-tools.js';
import type { Json } from '../../core/json/json.js';
import { MEMORY_LIMITS } from '../../core/state/goal/memory.js';
import type { GoalToolName, Proposal } from '../../core/state/goal/proposal.js';
import { citedOf, refused, type Cited, type CycleSite, type Judged } from './cycle-site.js';
import { judgePlan, planAfter } from './plan-call.js';

type Input<Name extends GoalToolName> = z.output<(typeof GOAL_INPUTS)[Name]>;

export const GOAL_CALLS: {
  readonly [Name in GoalToolName]: (site: CycleSite, input: Input<Name>) => Promise<Judged>;
} = {
  goal_plan: judgePlan,
  goal_note: async (site, { text, evidence }) => {
    const kept = site.before.filter(({ kind }) => kind === 'note').length;
    const most = MEMORY_LIMITS.notes;
    if (kept >= most) return refused(`Not kept: this cycle has its ${most} notes already.`);
    const cited = await citedOf(site, evidence);
    return {
      proposal: { kind: 'note', text, ...evidenceOf(cited) },
      says: `Kept as note ${kept + 1} of at most ${most} of this cycle.${without(cited)}`,
      unknown: cited.unknown,
    };
  },
  goal_publish: async (site, { path, value }) => judgePublish(site, path, value as Json),
  goal_propose_done: async (site, { because, evidence }) => {
    const cited = await citedOf(site, evidence);
    return {
      proposal: { kind: 'done', because, ...evidenceOf(cited) },
      says: `Noted. The goal looks at its own conditions after this cycle.${without(cited)}`,
      unknown: cited.unknown,
    };
  },
  goal_propose_handoff: async ({ definition: { handoffTo = [] } }, { to, because }) => {
    if (!handoffTo.includes(to)) {
      const who =
        handoffTo.length === 0
          ? 'This goal can be handed to nobody'
          : `The goal can be handed to ${handoffTo.join(', ')}`;
      return refused(`Not kept: the goal cannot be handed to ${JSON.stringify(to)}. ${who}.`);
    }
    const proposal = { kind: 'handoff', to, because } as const;
    return { proposal, says: 'Noted. The goal decides about it after this cycle.', unknown: [] };
  },
  goal_ask_pause: async (site, input) => judgePause(site, input),
  goal_block: async (site, { kind, because, step }) => {
    const known = planAfter(site).steps.some(({ id }) => id === step);
    if (step !== undefined && !known) {
      return refused(`Not kept: the plan has no step ${JSON.stringify(step)}.`);
    }
    const proposal: Proposal = {
      kind: 'block',
      block: kind,
      because,
      ...(step !== undefined && { step }),
    };
    return { proposal, says: 'Noted. End your turn: the goal takes it from here.', unknown: [] };
  },
};

function evidenceOf({ known }: Cited): { readonly evidence?: readonly string[] } {
  return known.length === 0 ? {} : { evidence: known };
}

function without({ unknown }: Cited): string {
  return unknown.length === 0
    ? ''
    : ` ${unknown.length} of its ids are no evidence and do not count.`;
}

function judgePublish({ memory, before }: CycleSite, path: string, value: Json): Judged {
  const earlier = before.filter((one) => one.kind === 'publish');
  if (earlier.some((one) => one.path === path)) {
    return refused(
      `Not kept: ${JSON.stringify(path)} was published in this cycle already. A later cycle may replace it.`,
    );
  }
  const state = new Map<string, Json>(
    Object.entries(memory.state).map(([name, published]) => [name, published.value]),
  );
  for (const one of [...earlier, { path, value }]) state.set(one.path, one.value);
  if (state.size > MEMORY_LIMITS.paths) {
    return refused(`Not kept: at most ${MEMORY_LIMITS.paths} paths can be published.`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(Object.fromEntries(state)));
  if (bytes > MEMORY_LIMITS.stateBytes) {
    return refused(
      `Not kept: the published state would have ${bytes} bytes, at most ${MEMORY_LIMITS.stateBytes} are allowed.`,
    );
  }
  const says = `Published under ${path}. The goal's conditions look at it after this cycle.`;
  return { proposal: { kind: 'publish', path, value }, says, unknown: [] };
}

const MINUTE_MS = 60_000;

function judgePause(
  { at, own, definition: { maxAskedPauseMs } }: CycleSite,
  { until, minutes, because }: Input<'goal_ask_pause'>,
): Judged {
  if ((until === undefined) === (minutes === undefined)) {
    return refused('Not kept: give either until or minutes.');
  }
  // Delivered again it means the same time.
  const since = own?.kind === 'pause' && minutes !== undefined ? own.until : undefined;
  const end =
    since ?? (until === undefined ? at + Math.ceil((minutes ?? 0) * MINUTE_MS) : Date.parse(until));
  if (!Number.isFinite(end)) return refused(`Not kept: ${until} is no time.`);
  if (since === undefined && end <= at) return refused(`Not kept: ${until} is over.`);
  if (maxAskedPauseMs !== undefined && since === undefined && end - at > maxAskedPauseMs) {
    const most = Math.floor(maxAskedPauseMs / MINUTE_MS);
    return refused(`Not kept: a pause may last at most ${most} minutes.`);
  }
  const says = `Noted: after this cycle the goal is asked to sleep until ${new Date(end).toISOString()}.`;
  return { proposal: { kind: 'pause', because, until: end }, says, unknown: [] };
}
