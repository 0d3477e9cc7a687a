/** The business's own workflow: it owns the order of the steps, and the agent does one of them. */
import { proxyActivities } from '@temporalio/workflow';
import type * as activities from './activities.js';
import { triageStep, type Triage } from './agent-step.js';

const { openTicket } = proxyActivities<typeof activities>({ startToCloseTimeout: '10s' });

export interface Answered extends Triage {
  readonly ticket: string;
}

export async function complaint(text: string): Promise<Answered> {
  const triage = await triageStep(text);
  const ticket = await openTicket(triage.team, text);
  return { ...triage, ticket };
}
