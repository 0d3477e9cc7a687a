/** `holdfast fork --plan`: what a fork would begin with, and which calls it would ask about. */
import { usd } from '../../evaluation/past/report.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { ForkPlan } from '../../recording/fork-plan.js';
import type { RunFold } from '../../recording/fold.js';
import type { Bundle } from '../../replay/bundle.js';
import { LIST_ROWS_MAX } from '../../store/bounds.js';
import type { FamilyCall } from '../../store/family-calls.js';
import type { Recorded } from '../desk/recorded.js';
import { inert } from '../render/index.js';
import type { Session } from '../session.js';
import type { Output } from '../terminal/output.js';
import { meansNothing, type ForkOptions } from './fork-options.js';

const LINE_CHARS_MAX = 400;

interface Asked {
  readonly fold: RunFold;
  readonly recorded: Recorded;
  readonly options: ForkOptions;
  readonly session: Session;
}

export async function showPlan(
  { fold, recorded, options, session }: Asked,
  output: Output,
): Promise<void> {
  if (options.budget !== undefined) throw meansNothing('budget');
  const { bundle } = recorded;
  const { forkPlanAt } = await import('../../recording/fork-plan.js');
  const { handedOver, ...plan } = forkPlanAt(fold, bundle.events, options.at);
  const family = await familyOf(session, recorded);
  const told = { ...plan, handedOver: { ...handedOver, ...(family !== undefined && { family }) } };
  output.data({ runId: fold.run.runId, ...told });
  if (output.json) return;
  for (const line of linesOf(told)) output.line(inert(line, LINE_CHARS_MAX));
  for (const { segment, step } of plan.divergences) {
    output.remark(
      `Calls of segment ${segment} from step ${step} on are not listed: the record differs there.`,
    );
  }
  if (family === undefined) {
    output.remark(
      'There is no store at hand: calls of other runs of the family are not listed (--store).',
    );
  } else if (family.length === LIST_ROWS_MAX) {
    output.remark(`Of calls of other runs the newest ${LIST_ROWS_MAX} are listed.`);
  }
}

/** Calls of the other runs that a live fork would ask about; undefined: no store is at hand. */
async function familyOf(
  session: Session,
  { source, bundle, file = bundle }: Recorded,
): Promise<readonly PlannedCall[] | undefined> {
  const { run } = bundle;
  const opened = session.wholeStore();
  // The plan of a file needs no store.
  const store = await (source === 'file' ? opened.catch(() => undefined) : opened);
  const stored = await store?.callsOfFamily(run.tenant, run.runId, LIST_ROWS_MAX);
  if (source !== 'file') return stored;
  const known = new Set((stored ?? []).map(({ key }) => key));
  const more = (await inFile(file, run.runId)).filter(({ key }) => !known.has(key));
  const all = [...(stored ?? []), ...more];
  return stored === undefined && all.length === 0 ? undefined : all.slice(0, LIST_ROWS_MAX);
}

/** Calls of other runs of the file: a live fork asks about these whatever a store knows. */
async function inFile(file: Bundle, runId: string): Promise<readonly PlannedCall[]> {
  const { callsInFile } = await import('../../evaluation/fork/calls-below.js');
  try {
    return (callsInFile(file, runId) ?? []).flatMap((call) =>
      call.runId === undefined || call.runId === runId
        ? []
        : [{ key: call.key, runId: call.runId, tool: call.tool }],
    );
  } catch (error) {
    // A file that lacks runs is forked dry alone.
    if (error instanceof HoldfastError && error.code === 'ForkRefused') return [];
    throw error;
  }
}

/** Of a call that a file alone knows nobody has looked up when it was, and how it stands. */
type PlannedCall = Pick<FamilyCall, 'key' | 'runId' | 'tool'> & Partial<FamilyCall>;

interface Told extends Omit<ForkPlan, 'handedOver'> {
  readonly handedOver: ForkPlan['handedOver'] & { readonly family?: readonly PlannedCall[] };
}

function linesOf(plan: Told): readonly string[] {
  const { step, spentMicroUsd, rules, handedOver } = plan;
  return [
    `After step ${step}: ${usd(spentMicroUsd)} spent, rules ${rules}`,
    ...plan.askedAnew.map(({ id, kind, tool }) => `asked anew       ${id} ${kind} ${tool ?? ''}`),
    ...plan.droppedGrants.map(({ id, tool }) => `grant dropped    ${id} ${tool}`),
    ...plan.notExecuted.map(({ name, n }) => `not executed     sub-agent ${n} ${name}`),
    ...plan.inFlight.map(
      ({ effectId, tool, becomes }) => `in flight        ${effectId} ${tool ?? ''}: ${becomes}`,
    ),
    ...[...handedOver.before, ...handedOver.after].map(
      (one) => `asks to repeat   ${one.tool} ${one.callId} (handed over in step ${one.step})`,
    ),
    ...(handedOver.family ?? []).map(
      ({ tool, key, runId }) => `asks to repeat   ${tool} ${key} (handed over by ${runId})`,
    ),
  ];
}
