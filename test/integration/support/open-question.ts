/** Runs that wait at a desk which proves its decisions, what reaches their tools, and what the trail says. */
import { checkAudit } from '../../../cli/desk/audit-check.js';
import type { RunHandle } from '../../../client/runs/run-handle.js';
import type { Decision } from '../../../core/state/ask.js';
import type { AuditRow } from '../../../pure/audit.js';
import type { AskView } from '../../../core/state/ask-view.js';
import { newKey, type Name, type Reply, type TestDesk } from './desk.js';
import { openAsk, pay, say, until, type StartIn, type World } from './world.js';

export interface OpenQuestion {
  readonly run: RunHandle;
  readonly ask: AskView;
}

export interface Scene {
  /** A run that asks whether it may pay, and believes proven decisions only. */
  asked(runId: string, more?: Partial<StartIn>): Promise<OpenQuestion>;
  /** By HTTP. */
  decide(ask: AskView, over?: object, as?: Name): Promise<Reply>;
  /** Straight to Temporal, as anybody can who may signal the workflow. */
  signal(runId: string, decision: object): Promise<void>;
  /** Signed by the desk for this question, unless something else is said. */
  signed(asked: OpenQuestion, over?: Partial<Decision>, place?: object): Decision;
  /** What has reached the tool's own service. */
  effects(runId: string): readonly unknown[];
  /** Rows of an unbroken trail about a run. */
  trail(runId: string, tenant?: string): Promise<readonly AuditRow[]>;
  rowsOf(runId: string, kind: AuditRow['kind']): Promise<readonly AuditRow[]>;
}

/** What the model says of its own accord; `replies` of a run are those of a test. */
export type Replying = (replies: StartIn['replies']) => StartIn['replies'];

export function sceneOf(
  world: World,
  desk: TestDesk,
  replying: Replying = (replies) => replies,
): Scene {
  const trail = async (runId: string, tenant = 'default') => {
    expect((await checkAudit(world.store, tenant, [])).fault).toBeUndefined();
    return world.store.readAudit(tenant, { runId, limit: 10_000 });
  };
  return {
    async asked(runId, more = {}) {
      const run = await world.start({
        runId,
        settings: { requireProof: true },
        ...more,
        replies: replying(more.replies ?? [pay('pay.asked'), say('Finished.')]),
      });
      const ask = await openAsk(run);
      await until('the question in the store', () => world.store.getAsk(run.tenant, ask.askId));
      return { run, ask };
    },
    decide: (ask, over = {}, as = 'mia') =>
      desk.post(
        `/v1/approvals/${encodeURIComponent(ask.askId)}/decisions`,
        { decision: 'approve', argsHash: ask.argsHash, ...over },
        { as, key: newKey() },
      ),
    signal: (runId, decision) =>
      world.raw.workflow.getHandle(runId).signal('resolveApproval', decision),
    signed({ run, ask }, over = {}, place = {}) {
      const { askId, argsHash, kind, policyVersion } = ask;
      const where = { tenant: run.tenant, runId: run.runId, kind, policyVersion, ...place };
      return desk.signer.signDecision(where, {
        v: 1,
        askId,
        argsHash,
        decision: 'approve',
        by: 'mia',
        roles: ['manager'],
        decidedAt: Date.now(),
        nonce: newKey(),
        ...over,
      });
    },
    effects: (runId) => world.service.visits(runId, 'effect'),
    trail,
    rowsOf: async (runId, kind) => (await trail(runId)).filter((row) => row.kind === kind),
  };
}
