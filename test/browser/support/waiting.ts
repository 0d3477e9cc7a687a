/** Runs that wait for somebody, and where their questions are on the page. */
import type { RunHandle } from '../../../client/runs/run-handle.js';
import type { AskView } from '../../../core/state/ask-view.js';
import { newKey, type Name, type Reply } from '../../integration/support/desk.js';
import { openAsk, until, type StartIn } from '../../integration/support/world.js';
import { REFUND, type Stage } from './stage.js';

export interface Waiting {
  readonly run: RunHandle;
  readonly ask: AskView;
}

/** A run that believes proven decisions only, until it asks. */
export async function waiting(
  stage: Stage,
  runId: string,
  start: Omit<StartIn, 'runId'> = REFUND,
): Promise<Waiting> {
  const { settings, ...more } = start;
  const run = await stage.world.start({
    runId,
    ...more,
    settings: { requireProof: true, ...settings },
  });
  return { run, ask: await storedAsk(stage, run) };
}

/** The question that it waits with, as soon as the desk can show it. */
export async function storedAsk(stage: Stage, run: RunHandle): Promise<AskView> {
  const ask = await openAsk(run);
  await until('the question in the store', () => stage.world.store.getAsk('default', ask.askId));
  return ask;
}

export const pathTo = ({ askId }: Pick<AskView, 'askId'>): string =>
  `/approvals/${encodeURIComponent(askId)}`;

/** By the API, where the page is not what is looked at. */
export function decide(
  stage: Stage,
  { askId, argsHash }: AskView,
  {
    as = 'rita',
    ...decision
  }: Readonly<Record<string, unknown>> & { readonly decision: string; readonly as?: Name },
): Promise<Reply> {
  const path = `/v1/approvals/${encodeURIComponent(askId)}/decisions`;
  return stage.desk().post(path, { argsHash, ...decision }, { as, key: newKey() });
}
