/**
 * close_child: reads the outcome of a sub-agent and makes a result of it.
 * Invariants: the row is sealed with the outcome, so that nothing that the sub-agent still does counts; asked again it
 * gives the same; a sub-agent that is lost costs what it and those below it asked for, at most what was reserved, and has used
 * the tokens of those questions.
 */
import type { ChildEnd, CloseChildInput, CloseChildOutput } from '../../core/state/effect.js';
import { addUsage } from '../../core/money/budget.js';
import { NO_USAGE, type Usage } from '../../core/state/model.js';
import { codeFor, unfinished } from '../../core/call/child-end.js';
import type { RunResult } from '../../core/state/result.js';
import type { StoredText } from '../../core/json/json.js';
import type { StoreCalls } from '../../store/store.js';
import type { ActivityDeps } from '../deps.js';
import { childOutcome, type ChildOutcome } from '../goal/child-outcome.js';
import { checkOutput } from '../model/output-check.js';
import { appendEvents } from '../run/append-events.js';
import { evidenceTold } from './evidence-told.js';
import type { Scope } from '../scope.js';

export async function closeChild(
  deps: ActivityDeps,
  scope: Scope,
  input: CloseChildInput,
): Promise<CloseChildOutput> {
  const eventsUpTo = await appendEvents(deps.store, scope, input);
  const found = await childOutcome(deps.store, scope, input);
  const { outcome, waiting } = found;
  if (outcome === undefined) return { ...(waiting && { waiting }), eventsUpTo };
  return deps.store.together(async (store) => {
    const { tenant } = input.run;
    await store.sealChild(tenant, input.child);
    const row = await store.getRun(tenant, input.child);
    const end =
      row?.result === undefined
        ? await lostEnd(store, input, outcome)
        : await endOf(store, input, row.result);
    return { end, eventsUpTo };
  });
}

async function endOf(
  store: StoreCalls,
  input: CloseChildInput,
  result: RunResult,
): Promise<ChildEnd> {
  const { stopReason, detail, costMicroUsd, usage, counters } = result;
  const said = await saidBy(store, input, result);
  return {
    stopReason,
    ...(detail !== undefined && { detail }),
    ...said,
    costMicroUsd,
    usage,
    activeMs: counters.activeMs,
  };
}

async function saidBy(
  store: StoreCalls,
  input: CloseChildInput,
  result: RunResult,
): Promise<Pick<ChildEnd, 'content' | 'code'>> {
  const { tenant } = input.run;
  if (!result.completed)
    return {
      content: { text: await whyNot(store, input, result) },
      code: codeFor(result.stopReason),
    };
  const { answer } = result;
  if (answer === undefined) return { content: { text: '' } };
  if (input.outputSchema !== undefined) {
    const text = await store.getText(tenant, answer);
    const check = await checkOutput({ store, tenant }, input.outputSchema, text);
    if (!check.ok) {
      const text = `The answer of ${input.name} does not fit its schema: ${check.message}`;
      return { content: { text }, code: 'malformed_result' };
    }
  }
  // An answer of a schema is data, and stays as it is.
  const evidence =
    input.outputSchema === undefined
      ? await evidenceTold(store, { tenant, child: input.child })
      : '';
  if (evidence === '') return { content: await fitted(store, input, answer) };
  const text = `${await store.getText(tenant, answer)}${evidence}`;
  return { content: await fitted(store, input, { text }) };
}

/** What has no room in the run lies in the store. */
async function fitted(
  store: StoreCalls,
  { run, inlineBytesMax }: CloseChildInput,
  answer: StoredText,
): Promise<StoredText> {
  if (!('text' in answer) || Buffer.byteLength(answer.text) <= inlineBytesMax) return answer;
  const { text } = answer;
  return { ...(await store.putBlob(run.tenant, text)), preview: text.slice(0, 200) };
}

async function whyNot(
  store: StoreCalls,
  { run, name }: CloseChildInput,
  result: RunResult,
): Promise<string> {
  const { partialOutput } = result;
  const said = partialOutput === undefined ? '' : await store.getText(run.tenant, partialOutput);
  return unfinished(name, result, said);
}

async function lostEnd(
  store: StoreCalls,
  { run, child, name, sliceMicroUsd }: CloseChildInput,
  { detail = 'lost', costMicroUsd, unconfirmed }: NonNullable<ChildOutcome['outcome']>,
): Promise<ChildEnd> {
  const below = await costBelow(store, run.tenant, child);
  const most = sliceMicroUsd ?? Number.MAX_SAFE_INTEGER;
  const isOpen = unconfirmed === true || below.open > 0;
  const known = Math.min(most, costMicroUsd + below.costMicroUsd);
  const content = { text: `The sub-agent ${name} did not finish: failed (${detail}).` };
  const usage = addUsage(await store.attemptedUsage(run.tenant, child), below.usage);
  const rest = { stopReason: 'failed', detail, content, usage, activeMs: 0 } as const;
  const code =
    (await store.countDoubtful(run.tenant, child)) > 0 ? 'outcome_unknown' : 'execution_error';
  // What still runs below may cost all that was reserved.
  if (isOpen) {
    const whole = sliceMicroUsd ?? known;
    return { ...rest, code, costMicroUsd: whole, unconfirmed: true };
  }
  return { ...rest, code, costMicroUsd: known };
}

interface SpentBelow {
  readonly costMicroUsd: number;
  readonly usage: Usage;
  /** How many have no result. */
  readonly open: number;
}

/** Of everything below a sub-agent that is lost; what is open there is sealed. */
async function costBelow(store: StoreCalls, tenant: string, child: string): Promise<SpentBelow> {
  const own = await store.childRow(tenant, child);
  const root = own?.place?.root;
  if (root === undefined) return { costMicroUsd: 0, usage: NO_USAGE, open: 0 };
  const tree = await store.listTree(tenant, root);
  const below = tree.filter(({ child: id }) => id.startsWith(`${child}:a`));
  let costMicroUsd = 0;
  let usage = NO_USAGE;
  let open = 0;
  for (const row of below) {
    const ended = (await store.getRun(tenant, row.child))?.result;
    // Sealed or open: an earlier attempt of this activity may have sealed what still runs.
    if (ended === undefined) open += 1;
    // A result has the cost of all below it; attempts have each their own.
    costMicroUsd += (await store.attemptedCost(tenant, row.child)).costMicroUsd;
    usage = addUsage(usage, await store.attemptedUsage(tenant, row.child));
    await store.sealChild(tenant, row.child);
  }
  return { costMicroUsd, usage, open };
}
