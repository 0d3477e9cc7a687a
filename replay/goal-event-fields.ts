/** The fields of each event that goals alone have, each with its kind. */
import type { GoalEventBody } from '../core/state/goal/event.js';
import type { FormsOf } from './event-form.js';

export const GOAL_EVENTS: FormsOf<GoalEventBody> = {
  goal_started: {
    agent: 'text',
    objective: 'stored',
    definition: 'text',
    maxCostMicroUsd: 'number',
    pace: 'json',
    caller: 'text?',
    requireProof: 'flag?',
    versions: 'record',
  },
  cycle_started: {
    n: 'number',
    runId: 'text',
    agent: 'text',
    budget: 'record',
    brief: 'text',
    briefTokens: 'number',
  },
  cycle_ended: {
    n: 'number',
    runId: 'text',
    stopReason: 'text',
    detail: 'text?',
    costMicroUsd: 'number',
    progress: 'records',
    unconfirmed: 'flag?',
  },
  check_finished: {
    name: 'text',
    n: 'number',
    known: 'flag',
    value: 'number?',
    best: 'number?',
    digest: 'text?',
    because: 'text?',
  },
  plan_changed: { by: 'text', revision: 'number', memory: 'text', steps: 'record' },
  progress_noted: { n: 'number', progress: 'records' },
  goal_review: {
    n: 'number',
    cycle: 'number',
    answers: 'record',
    decision: 'text',
    costMicroUsd: 'number?',
  },
  checkpoint_saved: { id: 'text', n: 'number' },
  goal_sleeping: { until: 'number?', because: 'text' },
  goal_woken: { by: 'text', sleptMs: 'number' },
  goal_steered: {
    by: 'text',
    proven: 'flag',
    text: 'stored',
    control: 'text?',
    value: 'json?',
  },
  handoff: { to: 'text', by: 'text', because: 'text', run: 'record?', started: 'record?' },
  goal_result: { result: 'result' },
};
