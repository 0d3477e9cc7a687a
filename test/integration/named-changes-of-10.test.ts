/**
 * Runs whose decisions hang on a named change of rules 10 (core/step/changes.ts), on a real server; those that need
 * a desk are in named-changes.test.ts. What older rules decide is in the unit tests of each change.
 */
import { z } from 'zod';
import {
  defineAgent,
  defineConfig,
  defineHook,
  defineTool,
  ToolError,
  type Config,
} from '../../authoring/index.js';
import { follows, RULES_VERSION, type ChangeName } from '../../core/step/changes.js';
import type { Script, ScriptedAnswer } from '../../testing/index.js';
import { APPROVER } from './support/agents.js';
import { isSummary } from './support/killed-story.js';
import {
  call,
  ofType,
  openAsk,
  say,
  startWorld,
  until,
  warnings,
  type World,
} from './support/world.js';

const JAIL = 'jail';
/** Of a reply after which a summary is due. */
const CROWDED = { input: 165_000 };
const SUMMARY = 'What happened so far: orders were read.';

/** Recordings of older rules decide otherwise. */
const rules = Number(process.env['HOLDFAST_RULES'] ?? RULES_VERSION);
const has = (change: ChangeName): boolean => follows({ rules }, change);

const readOrder = defineTool({
  name: 'orders.read',
  version: '1',
  effect: 'read',
  input: z.object({ order: z.string() }),
  run: ({ order }) => {
    if (order === 'gone') throw new ToolError('tool_unavailable', 'the shop is closed');
    return { order, paid: order === 'paid' };
  },
});

const refund = defineTool({
  name: 'payments.refund',
  version: '1',
  effect: 'financial',
  idempotency: 'keyed',
  approval: { roles: [...APPROVER.roles] },
  input: z.object({ iban: z.string(), amountCents: z.number().int() }),
  card: {
    amount: { path: 'amountCents', unit: 'minor', currency: 'EUR' },
    recipient: 'iban',
  },
  run: () => 'refunded',
});

const weigh = defineTool({
  name: 'parcels.weigh',
  version: '1',
  effect: 'read',
  queue: JAIL,
  input: z.object({ order: z.string() }),
  run: () => ({ grams: 200 }),
});

const guard = defineHook({
  name: 'guard',
  point: 'PreToolUse',
  match: { tools: ['payments.*'] },
  run: () => null,
});

const judge = defineHook({
  name: 'judge',
  point: 'Stop',
  run: ({ response }) => (response.includes('Sure') ? {} : { blockingErrors: ['Be sure.'] }),
});

const tell = defineHook({ name: 'tell', point: 'StopFailure', run: () => undefined });

function config(): Config {
  const agent = {
    model: 'scripted/model',
    instructions: 'Serve the customer.',
    tools: [readOrder, refund, weigh],
  };
  return defineConfig({
    agents: [
      defineAgent({ name: 'desk', ...agent }),
      defineAgent({ name: 'guarded', ...agent, hooks: [guard] }),
      defineAgent({ name: 'judged', ...agent, hooks: [judge] }),
      defineAgent({ name: 'told', ...agent, hooks: [tell] }),
      defineAgent({ name: 'talker', ...agent, settings: { afterAnswer: 'await_user' } }),
      // Decides itself how much it thinks.
      defineAgent({ name: 'thinker', ...agent, model: 'anthropic/claude-sonnet-5' }),
    ],
  });
}

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  await world.serve({ config: config() });
});
afterAll(() => world.stop());

const order = (name: string) => call('orders.read', { order: name });

/** The replies in their order until a summary, if one is made, takes the place of the conversation. */
function summarised(summary: ScriptedAnswer, replies: readonly ScriptedAnswer[]): Script {
  return ({ messages, assistantMessages }) => {
    const text = JSON.stringify(messages);
    if (isSummary(text)) return summary;
    const next = text.includes(SUMMARY) ? undefined : replies[assistantMessages];
    return next ?? say('Finished.');
  };
}

test('cardShown: a question says which argument is the amount, and which says to whom', async () => {
  const run = await world.start({
    runId: 'card',
    replies: [call('payments.refund', { iban: 'BE68', amountCents: 500 }), say('Finished.')],
  });
  const ask = await openAsk(run);
  if (has('cardShown')) expect(ask.card).toMatchObject({ recipient: 'iban' });
  await run.approve(ask.askId, APPROVER);
  await world.ended(run);
});

test('toolQueues: a call goes to the task queue of its tool', async () => {
  await world.serve({ serves: 'activities', taskQueue: JAIL, config: config() });
  const run = await world.start({
    runId: 'own-queue',
    replies: [call('parcels.weigh', { order: 'A1' }), say('Finished.')],
  });
  const { history } = await world.ended(run);
  const queues = (history.events ?? []).map(
    ({ activityTaskScheduledEventAttributes: one }) => one?.taskQueue?.name,
  );
  if (has('toolQueues')) expect(queues).toContain(JAIL);
});

test('matchedHooks: a hook is not asked about a call that it does not match', async () => {
  const run = await world.start({
    runId: 'matched',
    agent: 'guarded',
    replies: [order('A1'), say('Finished.')],
  });
  const { events } = await world.ended(run);
  if (has('matchedHooks')) expect(ofType(events, 'hook')).toEqual([]);
});

test('thinkingTold: a limit of thinking that the model has no knob for is a warning', async () => {
  const run = await world.start({
    runId: 'thinking-limit',
    agent: 'thinker',
    budget: { maxThinkingTokens: 4_000 },
    replies: [say('Finished.')],
  });
  const { events } = await world.ended(run);
  if (has('thinkingTold')) expect(warnings(events)).toEqual(['thinking_limit_ignored']);
});

test('thoughtReplies: a reply with thinking names its message', async () => {
  const run = await world.start({
    runId: 'thoughts',
    replies: [{ ...say('Finished.'), thinking: 'Nothing is left to do.' }],
  });
  const { events } = await world.ended(run);
  const [response] = ofType(events, 'model_response');
  if (has('thoughtReplies')) expect(response).toMatchObject({ head: expect.any(String) });
});

test('growthTold: tokens that keep doubling from turn to turn are a warning', async () => {
  const turns = [3_000, 9_000, 27_000, 81_000];
  const run = await world.start({
    runId: 'growth',
    replies: [
      ...turns.map((cacheRead, at) => ({ ...order(`A${at}`), usage: { cacheRead } })),
      say('Finished.'),
    ],
  });
  const { events } = await world.ended(run);
  if (has('growthTold')) expect(warnings(events)).toContain('cost_exploding');
});

test('sessionReentries: what a Stop hook sends back is counted over the session', async () => {
  const budget = { maxStopHookReentries: 1 };
  const talk = { agent: 'judged', persistSession: true, budget };
  const first = await world.start({
    ...talk,
    runId: 'sent-back',
    replies: [say('Perhaps.'), say('Sure.')],
  });
  expect((await world.ended(first)).result.stopReason).toBe('completed');
  const earlier = [say('Never said.'), say('Never said.')];
  const second = await world.start({
    ...talk,
    runId: 'sent-back-again',
    resume: 'sent-back',
    replies: [...earlier, say('Perhaps.'), say('Sure.')],
  });
  const { result } = await world.ended(second);
  const stopReason = has('sessionReentries') ? 'stop_hook_prevented' : 'completed';
  expect(result).toMatchObject({ stopReason });
});

const PAID = {
  id: 'paid',
  satisfiedBy: 'orders.read',
  predicate: { path: 'paid', equals: true },
} as const;

test('pinnedProofs: a proof stays pinned beside a summary when its tool returns something else', async () => {
  const run = await world.start({
    runId: 'proof',
    task: { goal: 'Serve the customer.', requiredEvidence: [PAID] },
    replies: summarised(say(SUMMARY), [
      // Long enough for a summary to be shorter.
      { ...order('paid'), text: 'Let me see. '.repeat(400) },
      order('unpaid'),
      { ...order('A1'), usage: CROWDED },
      say('Finished.'),
    ]),
  });
  const { events } = await world.ended(run);
  expect(ofType(events, 'compact_boundary')).toHaveLength(1);
  const after = world.requests('proof').at(-1)?.body ?? '';
  if (has('pinnedProofs')) expect(after).toContain('What orders.read returned (evidence paid)');
});

test('unmetEvidence: a tool that is gone ends the run when nothing has met its predicate', async () => {
  const run = await world.start({
    runId: 'unmet',
    task: { goal: 'Serve the customer.', requiredEvidence: [PAID] },
    // Under older rules the run is asked for the evidence, again and again.
    replies: [order('unpaid'), order('gone'), ...Array.from({ length: 9 }, () => say('Finished.'))],
  });
  const { result } = await world.ended(run);
  const stopReason = has('unmetEvidence') ? 'tool_unavailable' : 'evidence_missing';
  expect(result).toMatchObject({ stopReason });
});

test('summaryFailuresTold: StopFailure hooks hear what kept a summary from being made', async () => {
  const run = await world.start({
    runId: 'no-summary',
    agent: 'told',
    budget: { maxRetriesPerModelCall: 0 },
    replies: summarised({ status: 529 }, [{ ...order('A1'), usage: CROWDED }, say('Finished.')]),
  });
  const { events } = await world.ended(run);
  if (has('summaryFailuresTold')) {
    expect(ofType(events, 'hook')).toMatchObject([{ name: 'StopFailure', hook: 'tell' }]);
  }
});

test('bytesBound: tokens that another model counted bound no request', async () => {
  const run = await world.start({
    runId: 'other-model',
    agent: 'talker',
    replies: [say('Hello.'), say('Hello again.')],
  });
  const first = await openAsk(run);
  await run.setModel('scripted/second');
  await run.sendMessage('And now?');
  await until('the next answer', async () =>
    (await run.pendingApprovals()).find(({ askId }) => askId !== first.askId),
  );
  await run.close();
  const { result } = await world.ended(run);
  expect(result.completed).toBe(true);
});

test('routeHashes: another model that is asked is named by the hash of its route', async () => {
  const run = await world.start({
    runId: 'spare-model',
    settings: { fallbackModel: 'scripted/spare' },
    budget: { maxRetriesPerModelCall: 0 },
    replies: [[{ status: 529 }, say('Finished.')]],
  });
  const { result } = await world.ended(run);
  const { modelRoute } = result.versions;
  if (has('routeHashes')) expect(modelRoute).toMatch(/, [0-9a-f]{64}$/);
});

test('shownTransition: a run that goes on in another segment knows why it last went on', async () => {
  const dynamicConfig = ['limit.historyCount.suggestContinueAsNew=30'];
  const other = await startWorld({ dynamicConfig, worker: false });
  await other.serve({ config: config() });
  const turns = Array.from({ length: 8 }, (_, at) => order(`A${at}`));
  const run = await other.start({ runId: 'segments', replies: [...turns, say('Finished.')] });
  const { events } = await other.ended(run);
  const reasons = ofType(events, 'transition').map(({ reason }) => reason);
  expect(reasons).toContain('continued_as_new');
  const { transition } = await run.state();
  if (has('shownTransition')) expect(transition).toMatchObject({ reason: reasons.at(-1) });
  await other.stop();
});

test('schemasRechecked: whoever approved a call that has not begun is asked again', async () => {
  const other = await startWorld({ worker: false });
  const paid: unknown[] = [];
  const payingBy = (input: z.ZodType): Config => {
    const pay = defineTool({
      name: 'payments.pay',
      version: '1',
      effect: 'financial',
      idempotency: 'keyed',
      approval: { roles: [...APPROVER.roles] },
      input,
      run: (args) => void paid.push(args),
    });
    const agent = { name: 'desk', model: 'scripted/model', instructions: 'Serve.', tools: [pay] };
    return defineConfig({ agents: [defineAgent(agent)] });
  };
  const worker = await other.serve({ config: payingBy(z.object({ amount: z.number() })) });
  const pays = [5, 7].map((amount) => ({ tool: 'payments.pay', input: { amount } }));
  const run = await other.start({
    runId: 'newer-schema',
    replies: [{ calls: pays }, say('Finished.')],
    // Shorter than 60 s, it is how long the first schema must have been gone.
    settings: { toolExecution: 'dataflow', unservedTimeoutMs: 4_000 },
  });
  const asked = async (known: readonly string[]) =>
    until('the questions', async () => {
      const asks = await run.pendingApprovals();
      const open = asks.filter(({ askId }) => !known.includes(askId));
      return open.length === 2 ? open.map(({ askId }) => askId) : undefined;
    });
  const first = await asked([]);
  worker.shutdown();
  const currency = z.string().default('EUR');
  await other.serve({ config: payingBy(z.object({ amount: z.number(), currency })) });
  for (const askId of first) await run.approve(askId, APPROVER);
  if (has('schemasRechecked')) {
    for (const askId of await asked(first)) await run.approve(askId, APPROVER);
    await other.ended(run);
    expect(paid).toHaveLength(2);
    // Both were approved at once.
    const each = [5, 7].map((amount) => ({ amount, currency: 'EUR' }));
    expect(paid).toEqual(expect.arrayContaining(each));
  } else await run.cancel();
  await other.stop();
});
