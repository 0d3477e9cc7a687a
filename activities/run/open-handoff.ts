/**
 * open_run of a segment with which a run goes on under another agent (G66): that agent is frozen as at a start, and the
 * conversation is written under its own root.
 * Invariants: the same input and configuration give the same output; what the start narrowed narrows this agent as well; the
 * model that the start chose was chosen for the agent before; an agent that no worker serves is waited for (G118).
 */
import type { OpenRunInput, OpenRunOutput, HandoffOpening } from '../../core/state/effect.js';
import { HoldfastError } from '../../core/state/errors.js';
import { RULES_VERSION } from '../../core/step/changes.js';
import { repairHistory } from '../../pure/session-repair.js';
import type { HashedNode } from '../../store/transcripts.js';
import type { ActivityDeps } from '../deps.js';
import { bytesOf } from '../model/compact-plan.js';
import { mediaOf } from '../model/node-attachments.js';
import { chainAt } from '../model/model-request.js';
import type { Scope } from '../scope.js';
import type { OpeningStart } from './bounds.js';
import { boundsOf } from './cycle-start.js';
import { appendEvents } from './append-events.js';
import { archiveSegment } from './archive-history.js';
import { handedMessages } from './handed-conversation.js';
import { handedWords, wholeGoal, wholeSchema } from './handed-task.js';
import { judgeTask } from './judge-task.js';
import { awaitAgent, freezeAgent, mustFit, noteNeeds } from './open-run.js';
import { rewritten } from './open-session.js';

export interface OpenHandoffInput extends OpenRunInput {
  readonly handoff: HandoffOpening;
}

export async function openHandoff(
  deps: ActivityDeps,
  scope: Scope,
  input: OpenHandoffInput,
): Promise<OpenRunOutput> {
  const { store, rules = RULES_VERSION } = deps;
  const { run, handoff: opening } = input;
  const { tenant, runId } = run;
  const { handoff } = opening;
  const eventsUpTo = await appendEvents(store, scope, input);
  const deskKeys = await store.deskKeys(tenant);
  await archiveSegment(deps, scope, input);
  const { nodes } = await chainAt(store, tenant, opening.head);
  const start = await startUnder(deps, input, { opening, nodes });
  awaitAgent(deps, scope, { start, agentVersion: undefined });
  const { frozen, connectors } = await freezeAgent(deps, scope, { run, start });
  const denied = await judgeTask(deps, scope, { run, start });
  const wanted = handedMessages(nodes, { runId, filter: handoff.filter });
  const { messages } = repairHistory(wanted, (n) => `${runId}:h${handoff.n}:r${n}`);
  const head = await rewritten(store, tenant, { root: frozen.prompt.hash, messages });
  const told = await chainAt(store, tenant, head);
  const media = mediaOf(told.nodes);
  const output: OpenRunOutput = {
    rules,
    frozen,
    head,
    handedOver: {
      message: await handedWords(store, tenant, handoff),
      bytes: frozen.prompt.bytes + bytesOf(told.nodes),
      ...(media !== undefined && { media }),
    },
    ...(denied !== undefined && { denied }),
    ...(connectors !== undefined && { connectors }),
    ...(deskKeys.length > 0 && { deskKeys }),
    eventsUpTo,
  };
  mustFit(start.agent, output);
  await noteNeeds(deps, run, frozen);
  return output;
}

interface Under {
  readonly opening: HandoffOpening;
  readonly nodes: readonly HashedNode[];
}

/** The start of the run as if it had been one of this agent. */
async function startUnder(
  { store }: ActivityDeps,
  { run, start: given }: OpenRunInput,
  { opening: { handoff, outputSchema }, nodes }: Under,
): Promise<OpeningStart> {
  if (given === undefined) {
    throw new HoldfastError('InvalidTask', 'A handoff came without the start of its run.', {
      hint: 'Only a run itself opens its segments.',
    });
  }
  // Another agent brings its own sub-agents.
  const { model: _, agents: __, ...start } = given;
  const bounds = await boundsOf(store, run, given.parent);
  const goal = await wholeGoal(store, run, nodes);
  const schema = await wholeSchema(store, run, outputSchema);
  return {
    ...start,
    ...(bounds !== undefined && { bounds }),
    agent: handoff.to,
    task: {
      ...start.task,
      goal: goal ?? start.task.goal,
      ...(schema !== undefined && { outputSchema: schema }),
    },
  };
}
