/** The story of a run: a read, a summary, a payment that a person approves, another read, an answer. */
import { finalViolations, transcriptAt, withTexts } from '../../../evaluation/scripted/observe.js';
import { AGENT, APPROVER } from './agents.js';
import type { Inside } from './kill-points.js';
import {
  ENDED_LIMIT_MS,
  HEARTBEATS,
  nameless,
  TENANT,
  WORKFLOW_TASK_TIMEOUT,
  type Played,
  type Stage,
  type Tale,
  type Telling,
} from './killed-stage.js';
import { isSummary, storyWith } from './killed-story.js';
import { config as quickDesk } from './quick-desk.js';
import type { History, World } from './world.js';

const AT_REST_MS = 1_000;

export const RUN_TALE: Tale = {
  wire: {
    runId: /(killed-\d{3})/,
    // Not the setting that an opening within a task tells, in whatever order Temporal writes it.
    activity: /open_run|call_model|compact(?!ion)|execute_tool|reconcile_tool|flush|close_run/,
  },
  start,
  inside: insideOf,
  people: approving,
  observed,
};

/** The same story with reads that are tried within the tasks that decide. */
export const QUICK_TALE: Tale = {
  ...RUN_TALE,
  served: { module: require.resolve('./quick-desk.ts'), config: quickDesk },
};

/** By signal: the person does not wait for a worker. */
function approving({
  world: { store, raw },
  patience,
}: Pick<Stage, 'world' | 'patience'>): () => Promise<void> {
  const answered = new Set<string>();
  return async () => {
    const asks = await store.listAsks(TENANT, { pendingOnly: true, limit: 100 });
    for (const { askId, argsHash, runId } of asks) {
      if (answered.has(askId) || patience.has(runId)) continue;
      answered.add(askId);
      const decision = { v: 1, askId, argsHash, decision: 'approve', decidedAt: Date.now() };
      await raw.workflow.getHandle(runId).signal('resolveApproval', { ...decision, ...APPROVER });
    }
  };
}

/** How it is known that a run is in the middle of something. */
function insideOf(stage: Stage, runId: string, what: Inside): () => Promise<boolean> {
  const { world, patience } = stage;
  const held = (phase: 'read' | 'before' | 'after') => {
    let there = false;
    void world.service.hold(runId, phase).then(() => (there = true));
    return () => Promise.resolve(there);
  };
  switch (what) {
    case 'while a tool reads':
      return held('read');
    case 'before an effect':
      return held('before');
    case 'after an effect':
      return held('after');
    case 'in the middle of a reply':
      return async () => world.requests(runId).length > 0;
    case 'in the middle of a summary':
      return async () => world.requests(runId).some(({ body = '' }) => isSummary(body));
    case 'while a person is waited for':
      patience.add(runId);
      return async () => {
        const [ask] = await world.store.listAsks(TENANT, { runId, pendingOnly: true, limit: 1 });
        // Announcing it is over by then, and nothing is under way.
        return ask !== undefined && Date.now() - ask.openedAt > AT_REST_MS;
      };
    default:
      throw new Error(`no run is ${what}`);
  }
}

async function start({ raw, script }: World, { runId, taskQueue, what }: Telling): Promise<void> {
  script(runId, storyWith(what));
  const input = {
    v: 1,
    agent: AGENT,
    task: { goal: 'Serve the customer.' },
    budget: { compactionThreshold: 0.005 },
    settings: { heartbeatMs: HEARTBEATS },
  };
  await raw.workflow.start('agentRun', {
    workflowId: runId,
    taskQueue,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    args: [input],
  });
}

async function observed(world: World, runId: string): Promise<Played> {
  const { store, service } = world;
  const run = world.client.handle(runId);
  await run.result({ timeoutMs: ENDED_LIMIT_MS });
  const ended = await world.ended(run);
  const { result, events } = await withTexts(store, TENANT, {
    result: ended.result,
    events: ended.events,
  });
  const transcript = await transcriptAt(store, TENANT, headIn(ended.history));
  const bodies = world.requests(runId).map(({ body = '' }) => body);
  const asked = [...new Set(bodies)];
  const seen = nameless(
    {
      observation: {
        result,
        events,
        transcript,
        violations: finalViolations({ events, transcript, result }),
        requests: [],
        executions: [],
        effects: {},
        maxInFlight: 1,
        persisted: 0,
        resumedWith: [],
        tookMs: 0,
      },
      effects: service.visits(runId, 'effect').map(({ key }) => key),
      asked,
      askedAgain: bodies.length > asked.length,
    },
    runId,
  );
  const { costMicroUsd: attemptedMicroUsd } = await store.attemptedCost(TENANT, runId);
  return { ...seen, runId, workflows: [runId], attemptedMicroUsd };
}

/** The newest message of the conversation, as the closing activity reported it. */
function headIn({ events }: History): string {
  const closed = (events ?? []).findLast((event) => event.activityTaskCompletedEventAttributes);
  const payload = closed?.activityTaskCompletedEventAttributes?.result?.payloads?.[0]?.data;
  return (JSON.parse(Buffer.from(payload!).toString('utf8')) as { head: string }).head;
}
