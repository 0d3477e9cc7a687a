/** What a worker does not serve is left to one that does: starts, calls and approvals wait for its code (G118, G110). */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool, type Tool } from '../../authoring/index.js';
import type { RunningWorker, WorkerSettings } from '../../worker/index.js';
import { holdfast, placeOf } from './support/command.js';
import { APPROVER } from './support/agents.js';
import {
  ANY_RUN,
  call,
  ofType,
  openAsk,
  say,
  startWorld,
  until,
  warnings,
  type World,
} from './support/world.js';

const LIMIT_MS = 180_000;
const RUNS_EACH = 8;

let world: World;
let workers: { readonly worker: RunningWorker; readonly served: Promise<void> }[] = [];
beforeAll(async () => {
  world = await startWorld({ worker: false });
}, LIMIT_MS);
afterEach(async () => {
  for (const one of workers) await ended(one);
  workers = [];
}, LIMIT_MS);
afterAll(() => world.stop());

async function ended(one: (typeof workers)[number]): Promise<void> {
  one.worker.shutdown();
  await one.served;
}

async function serve(config: WorkerSettings['config'], over: Partial<WorkerSettings> = {}) {
  const worker = await world.serve({ config, ...over });
  const one = { worker, served: worker.run() };
  workers.push(one);
  return one;
}

function agentWith(name: string, tools: readonly Tool[]) {
  return defineAgent({ name, model: 'scripted/model', instructions: 'Serve.', tools });
}

const configOf = (name: string, tools: readonly Tool[], more: object = {}) =>
  defineConfig({ agents: [agentWith(name, tools)], ...more });

interface Made {
  readonly version?: string;
  readonly input?: z.ZodType;
  readonly approval?: { readonly roles: readonly string[] };
}

function payTool(paid: unknown[], { version = '1', input, approval }: Made = {}): Tool {
  return defineTool({
    name: 'payments.issue_refund',
    version,
    effect: 'financial',
    idempotency: 'keyed',
    approval: approval === undefined ? 'never' : { ...approval, quorum: 1 },
    input: input ?? z.looseObject({ amount: z.number() }),
    run: (args) => {
      paid.push({ version, args });
      return { ok: true };
    },
  });
}

const PAY = [call('payments.issue_refund', { amount: 5 }), say('Done.')];
const ASKED = { approval: { roles: ['manager'] } };

test(
  'two configurations on one queue: every run is served by the worker that has its agent and tools',
  async () => {
    const noted: { [agent: string]: string[] } = { orders: [], refunds: [] };
    const noteOf = (agent: string): Tool =>
      defineTool({
        name: `${agent}.note`,
        version: '1',
        effect: 'write',
        idempotency: 'keyed',
        approval: 'never',
        input: z.object({ text: z.string().default('none') }),
        run: (_, { runId }) => {
          noted[agent]!.push(runId);
          return 'noted';
        },
      });
    const agents = ['orders', 'refunds'];
    for (const agent of agents) await serve(configOf(agent, [noteOf(agent)]));
    const started = await Promise.all(
      agents.flatMap((agent) =>
        Array.from({ length: RUNS_EACH }, (_, index) =>
          world.start({
            runId: `${agent}-${index}`,
            agent,
            replies: [call(`${agent}.note`, {}), say('Done.')],
          }),
        ),
      ),
    );
    const results = await Promise.all(started.map((run) => run.result({ timeoutMs: 120_000 })));
    expect(results.map(({ stopReason }) => stopReason)).toEqual(results.map(() => 'completed'));
    for (const agent of agents) {
      const mine = started.map(({ runId }) => runId).filter((id) => id.startsWith(agent));
      expect(noted[agent]!.toSorted()).toEqual(mine.toSorted());
    }
    // What another worker's model call could not check has been checked by the tool's own.
    const events = await world.events('orders-0');
    expect(ofType(events, 'tool_started')).toMatchObject([{ args: { text: 'none' } }]);
  },
  LIMIT_MS,
);

test(
  'a version that is raised while people decide: the approved call runs when a worker keeps the old one',
  async () => {
    const paid: unknown[] = [];
    const old = payTool(paid, ASKED);
    const heard: string[] = [];
    const first = await serve(configOf('refund', [old]), { say: (line) => heard.push(line) });
    const settings = { disallowedTools: ['payments.issue_refnd'] };
    const run = await world.start({ runId: 'raised', agent: 'refund', replies: PAY, settings });
    const ask = await openAsk(run);
    expect(heard).toContainEqual(
      expect.stringMatching(
        /^The start of run raised: settings\.disallowedTools\[0\] .*Did you mean payments\.issue_refund\?/,
      ),
    );
    await ended(first);

    const raised = payTool(paid, { ...ASKED, version: '2' });
    const said: string[] = [];
    const second = await serve(configOf('refund', [raised]), { say: (line) => said.push(line) });
    expect(said).toContainEqual(
      expect.stringMatching(
        /^Run raised began with tool payments\.issue_refund@1, .*raised:.* waits for a person/,
      ),
    );
    expect(await run.approve(ask.askId, APPROVER)).toMatchObject({
      verdict: { accepted: true, outcome: 'approved' },
      waitsFor: 'a worker with payments.issue_refund@1',
    });
    const wait = await until('the wait', async () => (await run.execution()).waits[0]);
    expect(wait.for).toBe('a worker with the tool payments.issue_refund@1');
    const doctor = await spoken(['doctor']);
    expect(doctor).toMatch(/Run raised began with tool payments\.issue_refund@1/);
    expect(paid).toEqual([]);
    await ended(second);

    await serve(configOf('refund', [raised], { retiredTools: [old] }));
    const { result, events } = await world.ended(run);
    expect(result.stopReason).toBe('completed');
    expect(paid).toEqual([{ version: '1', args: { amount: 5 } }]);
    expect(ofType(events, 'tool_finished')).toMatchObject([{ status: 'ok' }]);
    expect(await spoken(['doctor'])).not.toMatch(/Run raised/);
  },
  LIMIT_MS,
);

test(
  'a tool that nobody serves for as long as the run waits is unavailable',
  async () => {
    const first = await serve(configOf('refund', [payTool([], ASKED)]));
    const requiredEvidence = [{ id: 'paid', satisfiedBy: 'payments.issue_refund' }];
    const run = await world.start({
      runId: 'gone',
      agent: 'refund',
      replies: PAY,
      task: { goal: 'Refund.', requiredEvidence },
      settings: { unservedTimeoutMs: 3_000 },
    });
    const ask = await openAsk(run);
    await ended(first);
    await serve(configOf('other', []));
    await run.approve(ask.askId, APPROVER);
    const since = Date.now();
    const { result, events } = await world.ended(run);
    expect(Date.now() - since).toBeGreaterThan(2_500);
    expect(result).toMatchObject({ stopReason: 'tool_unavailable', status: 'failed' });
    expect(ofType(events, 'tool_finished')).toMatchObject([{ code: 'tool_unavailable' }]);
  },
  LIMIT_MS,
);

test(
  'another schema under the same version: the call is checked again, and asked about again',
  async () => {
    const paid: unknown[] = [];
    const first = await serve(configOf('refund', [payTool(paid, ASKED)]));
    const run = await world.start({
      runId: 'changed',
      agent: 'refund',
      replies: PAY,
      // Shorter than 60 s, it is how long the first schema must have been gone.
      settings: { unservedTimeoutMs: 4_000 },
    });
    const ask = await openAsk(run);
    await ended(first);
    const input = z.object({ amount: z.number(), currency: z.string().default('EUR') });
    await serve(configOf('refund', [payTool(paid, { ...ASKED, input })]));
    await run.approve(ask.askId, APPROVER);
    const again = await until('the second question', async () =>
      (
        await world.store.listAsks('default', { runId: 'changed', pendingOnly: true, limit: 5 })
      ).find(({ askId }) => askId !== ask.askId),
    );
    expect(again.args).toEqual({ amount: 5, currency: 'EUR' });
    expect(paid).toEqual([]);
    await run.approve(again.askId, APPROVER);
    const { result, events } = await world.ended(run);
    expect(result.stopReason).toBe('completed');
    expect(paid).toEqual([{ version: '1', args: { amount: 5, currency: 'EUR' } }]);
    expect(warnings(events)).toEqual(['tool_schema_changed']);
  },
  LIMIT_MS,
);

describe('a start', () => {
  test(
    'is refused for an agent that no worker serves, with the name that was meant',
    async () => {
      await serve(configOf('refund', []));
      const start = world.start({ runId: 'typo', agent: 'refnd', replies: [] });
      await expect(start).rejects.toMatchObject({
        code: 'UnknownAgent',
        hint: expect.stringMatching(/^Did you mean refund\? .*--wait/),
      });
      await expect(world.client.handle('typo').execution()).rejects.toMatchObject({
        code: 'RunNotFound',
      });
    },
    LIMIT_MS,
  );

  test(
    'is refused without any worker, and with --wait begins when one is there',
    async () => {
      const refused = world.start({
        runId: 'nobody',
        agent: 'refund',
        replies: [],
        openLimitMs: 500,
      });
      await expect(refused).rejects.toMatchObject({
        code: 'ServerUnavailable',
        hint: expect.stringMatching(/holdfast worker.*--wait/),
      });
      await serve(configOf('other', []));
      const waiting = world.start({
        runId: 'patient',
        agent: 'refund',
        replies: [say('Done.')],
        wait: true,
      });
      const run = world.client.handle('patient');
      const wait = await until('the wait', () =>
        run.execution().then(
          ({ waits }) => waits[0],
          () => undefined,
        ),
      );
      expect(wait.for).toBe('a worker with the agent refund');
      await serve(configOf('refund', []));
      expect((await world.ended(await waiting)).result.stopReason).toBe('completed');
    },
    LIMIT_MS,
  );

  test(
    'of a run that exists finds it, whoever serves',
    async () => {
      const first = await serve(configOf('refund', []));
      world.script(ANY_RUN, [say('Done.')]);
      const run = await world.start({ runId: 'known', agent: 'refund', replies: [say('Done.')] });
      const again = { runId: 'known', agent: 'refund', replies: [say('Done.')] };
      await ended(first);
      await serve(configOf('other', []));
      const found = await world
        .start({ ...again, openLimitMs: 500 })
        .catch((error: unknown) => error);
      // Ended or not: it is the run that is spoken of, not its agent.
      expect(found).not.toMatchObject({ code: 'UnknownAgent' });
      expect((await run.result()).stopReason).toBe('completed');
    },
    LIMIT_MS,
  );
});

/** The output of the command as an operator runs the command. */
async function spoken(words: readonly string[]): Promise<string> {
  return (await holdfast(placeOf(world), words)).out;
}

test(
  'a list of questions says that runs cannot ask while no worker serves them',
  async () => {
    const asked = () => holdfast(placeOf(world), ['approvals']);
    const remark = /No worker serves the task queue holdfast: .*`holdfast worker /;
    const one = await serve(configOf('refund', []));
    expect((await asked()).err).not.toMatch(remark);
    await ended(one);
    workers = [];
    expect((await asked()).err).toMatch(remark);
    expect((await holdfast(placeOf(world), ['approvals', '--json'])).err).toBe('');
  },
  LIMIT_MS,
);
