/** The start of a case's goal, and what people say to it. */
import type { GoalRequest } from '../../client/goals/check-goal.js';
import type { RunEvent } from '../../core/state/event.js';
import type { MessageBody } from '../../core/state/goal/message.js';
import type { Action, Fixture, ResolveApproval } from '../fixture.js';
import { GOAL_ACTIONS, type CaseGoal, type GoalAction } from '../goal-case.js';
import { cycleOfRun, isNarrowed } from '../goal-tree.js';
import { AGENT } from './config.js';
import { askFor } from './decisions.js';

const PERSON = 'person';
/** In place of days. */
const UNSERVED_MS = 1_000;

/** What a client sends. Errors: those of the client. */
export function goalRequestOf(fixture: Fixture, { definition }: CaseGoal): GoalRequest {
  const { caller, traceId } = fixture.task;
  return {
    definition: lacksAgent(fixture, definition)
      ? { ...definition, unavailableMs: UNSERVED_MS }
      : definition,
    ...(caller !== undefined && { caller }),
    ...(traceId !== undefined && { traceId }),
  };
}

/** Such an agent is waited for, for days: no worker of a case will ever have it. */
function lacksAgent({ agents }: Fixture, definition: Partial<CaseGoal['definition']>): boolean {
  const { agent = AGENT, handoffTo = [] } = definition;
  return [agent, ...handoffTo].some((name) => name !== AGENT && !agents.has(name));
}

/** Who speaks has every role that the goal's budget asks for. */
export function saidBy({ definition }: CaseGoal): {
  readonly by: string;
  readonly roles: readonly string[];
} {
  const { budget } = definition as Partial<CaseGoal['definition']>;
  return { by: PERSON, roles: budget?.budgetRoles ?? [] };
}

export function isSaidToGoal(action: Action): action is GoalAction {
  return (GOAL_ACTIONS as readonly string[]).includes(action.kind);
}

/** The body of a message. */
export function messageBodyOf(action: GoalAction): MessageBody {
  const { kind, ...rest } = action;
  // An action is its message under the name of `kind`; both engines check the message.
  return { type: kind, ...rest } as MessageBody;
}

/** The run that a decision is meant for, among all of a goal; absent: nobody has asked. */
export function decidedIn(
  action: ResolveApproval,
  tree: readonly RunEvent[],
  {
    goalId,
    agentOf,
  }: { readonly goalId: string; readonly agentOf: (n: number) => string | undefined },
): string | undefined {
  const meant = tree.filter(({ stamp: { runId } }) => {
    if (action.goal) return runId === goalId;
    return isNarrowed(action, cycleOfRun(runId), agentOf);
  });
  return askFor(action, meant)?.stamp.runId ?? (action.goal ? goalId : undefined);
}
