/** `holdfast dev --ask`: one run, followed to its end; how it ends ends nothing else. */
import type { Config } from '../../authoring/index.js';
import type { HintsOf } from '../desk/actor.js';
import { followEvents } from '../terminal/follow.js';
import type { Output } from '../terminal/output.js';
import type { DevAt } from './options.js';

export interface FirstAsked {
  readonly config: Config;
  /** Aborts when the command ends: what then fails of the run is told no more. */
  readonly signal: AbortSignal;
  /** How commands that answer a question look here. */
  readonly hints: HintsOf;
}

export async function askFirst(
  { options, session }: DevAt,
  { config, signal, hints }: FirstAsked,
  output: Output,
): Promise<void> {
  const { ask: goal = '', agent = [...config.agents.keys()][0] ?? '' } = options;
  try {
    const client = await session.client();
    const settings = { includePartialMessages: true };
    const run = await client.start({ agent, task: { goal }, settings });
    output.remark(`run ${run.runId}: ${agent} is asked ${JSON.stringify(goal)}`);
    const handle = (runId: string) => client.handle(runId);
    const asking = { runId: run.runId, agents: [agent] };
    const following = { session, output, handle, hints: () => hints(asking) };
    await followEvents(run, following, { tokens: true });
  } catch (error) {
    if (!signal.aborted) output.failure(error);
  }
}
