/** What is fixed of the supervisor of a run when the run is opened. */
import { agentFor } from '../run/freeze.js';
import type { OpeningStart } from '../run/bounds.js';
import type { RunRef } from '../../core/state/effect.js';
import type { Frozen } from '../../core/state/frozen.js';
import type { SupervisorTerms } from '../../core/state/supervision.js';
import { resolveRouteFor } from '../../providers/routes.js';
import type { InTransaction } from '../deps.js';

const ANSWER_TOKENS = 1_000;

/** Undefined: nobody supervises the agent. Errors: UnknownModel. */
export async function supervisorTerms(
  { config, store }: Pick<InTransaction, 'config' | 'store'>,
  { tenant }: RunRef,
  { start, budget }: { readonly start: OpeningStart; readonly budget: Frozen['budget'] },
): Promise<SupervisorTerms | undefined> {
  const { supervisor } = agentFor(config, start);
  if (supervisor === undefined) return undefined;
  const { agent, everyTurns, on, roles } = supervisor;
  const route = resolveRouteFor(agent.model, config, budget);
  return {
    agent: { name: agent.name, version: agent.version },
    route,
    instructions: await store.putText(tenant, agent.instructions),
    maxTokens: Math.min(ANSWER_TOKENS, route.maxOutputTokens),
    ...(everyTurns !== undefined && { everyTurns }),
    ...(on !== undefined && { on }),
    roles,
  };
}
