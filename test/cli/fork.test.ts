/** `holdfast fork --plan`: what a fork would begin with, from the record alone. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { changesOf } from '../../cli/commands/fork-options.js';
import { runCli } from '../../cli/program.js';
import { forkRefusal } from '../../core/loop/fork.js';
import { forkBeginning } from '../../core/loop/fork-beginning.js';
import { foldOf } from '../../recording/fold.js';
import { forkPlanAt, type ForkPlan } from '../../recording/fork-plan.js';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { openStoreAt } from '../../store/store.js';
import { stored } from '../replay/setup.js';

let folder: string;
let approved: Bundle;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-fork-'));
  approved = await stored('approved');
  writeFileSync(join(folder, 'approved.json'), bundleText(approved));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const holdfast = (...argv: readonly string[]) => holdfastWith({}, argv);

async function holdfastWith(variables: Record<string, string>, argv: readonly string[]) {
  let [out, err] = ['', ''];
  const code = await runCli(argv, {
    environment: { variables, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

/** The first step that began this, or received it. */
function stepOf(what: string): number {
  return foldOf(approved).steps.find(
    ({ effects, inputs }) =>
      effects.some(({ kind }) => kind === what) || inputs.some(({ type }) => type === what),
  )!.step;
}

interface Planned extends ForkPlan {
  readonly handedOver: ForkPlan['handedOver'] & {
    readonly family: readonly { readonly key: string; readonly runId: string }[];
    readonly familyMore?: boolean;
    readonly storeProblem?: string;
  };
}

async function planAt(step: number, ...more: readonly string[]): Promise<ForkPlan> {
  const words = ['fork', 'approved.json', '--at', `${step}`, '--plan', '--json', ...more];
  const { code, out } = await holdfast(...words);
  expect(code).toBe(0);
  return JSON.parse(out) as ForkPlan;
}

test('an open question is asked anew, and the effect after the step is named as one that asks first', async () => {
  const plan = await planAt(stepOf('decision') - 1);
  expect(plan.askedAnew).toMatchObject([{ kind: 'approval', tool: 'issue_refund' }]);
  expect(plan.handedOver).toMatchObject({
    before: [],
    after: [{ step: stepOf('execute_tool'), tool: 'issue_refund' }],
  });
});

test('where a store is at hand calls of other runs of the family are named as well, and elsewhere the plan says that they are not', async () => {
  const file = join(folder, 'runs.db');
  const { tenant, runId: parent } = approved.run;
  const store = await openStoreAt(file);
  try {
    await store.putFork({ tenant, runId: 'sister', parent, step: 3, body: '{}', at: 1 });
    const target = { tenant, key: 'sister:1', argsDigest: 'd', attempt: 1, claimedUntil: 9 };
    const subject = { runId: 'sister', callKey: '1', tool: 'issue_refund', sameKeyRetry: false };
    await store.claim({ ...target, ...subject });
  } finally {
    await store.close();
  }
  const known = { key: 'sister:1', runId: 'sister', tool: 'issue_refund', at: 9 };
  expect((await planAt(3, '--store', file)).handedOver).toMatchObject({
    after: [{ tool: 'issue_refund' }],
    family: [{ ...known, state: 'under_way' }],
  });
  const plan = ['fork', 'approved.json', '--at', '3', '--plan'];
  expect((await holdfast(...plan, '--store', file)).out).toContain(
    'asks to repeat issue_refund sister:1 (handed over by sister)',
  );
  expect((await planAt(3)).handedOver).not.toHaveProperty('family');
  expect((await holdfast(...plan)).err).toContain(
    'calls of other runs of the family are not listed',
  );
});

test('a read of another run of the family is not named: nobody is asked before a fork reads once more', async () => {
  const file = join(folder, 'reads.db');
  const completed = await stored('completed');
  writeFileSync(join(folder, 'completed.json'), bundleText(completed));
  const { tenant, runId: parent } = completed.run;
  const store = await openStoreAt(file);
  try {
    await store.putFork({ tenant, runId: 'sister', parent, step: 3, body: '{}', at: 1 });
    for (const [callKey, tool] of ['lookup_order', 'issue_refund'].entries()) {
      const target = { tenant, key: `sister:${callKey}`, argsDigest: 'd', attempt: 1 };
      const subject = { runId: 'sister', callKey: `${callKey}`, tool, sameKeyRetry: false };
      await store.claim({ ...target, claimedUntil: 9, ...subject });
    }
  } finally {
    await store.close();
  }
  const words = ['fork', 'completed.json', '--at', '3', '--plan', '--json', '--store', file];
  const { handedOver } = JSON.parse((await holdfast(...words)).out) as Planned;
  expect(handedOver.family).toMatchObject([{ key: 'sister:1', tool: 'issue_refund' }]);
});

test('of more calls of the family than a list has the newest are named, and the plan says so', async () => {
  const file = join(folder, 'many.db');
  const { tenant, runId: parent } = approved.run;
  const calls = Array.from({ length: 1_001 }, (_, index) => ({
    runId: `${parent}:a1`,
    key: `${parent}:a1:${index}`,
    tool: 'issue_refund',
    digest: `d${index}`,
    at: index,
    isDone: true,
  }));
  const store = await openStoreAt(file);
  try {
    await store.putFork({ tenant, runId: 'sister', parent, step: 3, body: '{}', at: 1, calls });
  } finally {
    await store.close();
  }
  const { handedOver } = (await planAt(3, '--store', file)) as Planned;
  expect(handedOver.familyMore).toBe(true);
  expect(handedOver.family).toHaveLength(1_000);
  expect(handedOver.family[0]).toMatchObject({ key: `${parent}:a1:1000`, runId: `${parent}:a1` });
  const { err } = await holdfast('fork', 'approved.json', '--at', '3', '--plan', '--store', file);
  expect(err).toContain('Of calls of other runs the newest 1000 are listed.');
});

test('a name of a file that is empty, as of a variable that is not set, is no word to fork without instructions', async () => {
  const words = ['fork', 'approved.json', '--at', '3', '--instructions', ''];
  expect(await holdfast(...words)).toMatchObject({
    code: 2,
    err: expect.stringContaining('--instructions is empty') as string,
  });
  const environment = { variables: {}, folder, colour: false, interactive: false };
  const cli = { environment } as Parameters<typeof changesOf>[0];
  await expect(changesOf(cli, { at: 3, instructions: '' }, undefined)).rejects.toMatchObject({
    message: 'The file of --instructions cannot be read.',
  });
});

test('a store that is at hand and cannot be read keeps no plan of a file away: the plan says why', async () => {
  const home = join(folder, 'broken');
  mkdirSync(home);
  writeFileSync(join(home, 'store.db'), 'no database');
  const plan = ['fork', 'approved.json', '--at', '3', '--plan', '--home', home];
  const told = await holdfast(...plan, '--json');
  expect(told.code).toBe(0);
  const { handedOver } = JSON.parse(told.out) as Planned;
  expect(handedOver).toMatchObject({ storeProblem: expect.any(String) as string });
  expect(handedOver).not.toHaveProperty('family');
  expect((await holdfast(...plan)).err).toContain(
    'The store was not read, and calls that it knows are not listed: ',
  );
  const variables = { HOLDFAST_STORE: join(home, 'store.db') };
  const atHand = await holdfastWith(variables, [...plan.slice(0, -2), '--json']);
  expect(JSON.parse(atHand.out)).toMatchObject({
    handedOver: { storeProblem: expect.any(String) as string },
  });
  const named = await holdfast(...plan, '--store', join(home, 'store.db'));
  expect(named).toMatchObject({ code: 1, out: '' });
});

test.each(['', ' \n'])('blank words of the user (%j) are refused', async (text) => {
  const { code, err } = await holdfast('fork', 'approved.json', '--at', '3', '--message', text);
  expect([code, err]).toEqual([2, expect.stringContaining('--message is empty.')]);
});

test('a step after which no fork begins has no plan, as it has no fork', async () => {
  const plan = (step: number) => holdfast('fork', 'approved.json', '--at', `${step}`, '--plan');
  const first = await plan(1);
  expect([first.code, first.out]).toEqual([1, '']);
  expect(first.err).toContain('had not begun its work');
  expect((await plan(foldOf(approved).steps.length)).err).toContain('The run was ending');
});

test('the step at which a run goes on in a new segment is no end', () => {
  const fold = foldOf(approved);
  if (fold.kind !== 'run') throw new Error('the bundle is of a goal');
  const { after } = fold.at(stepOf('execute_tool'));
  expect(forkRefusal({ ...after, final: { kind: 'continue_as_new' } })).toContain(
    'name an earlier step or the next one',
  );
});

test('a model call in flight begins anew, an effect in flight gets the outcome that was recorded later', async () => {
  expect((await planAt(stepOf('call_model'))).inFlight).toMatchObject([
    { kind: 'call_model', becomes: 'begins_anew' },
  ]);
  const plan = await planAt(stepOf('execute_tool'));
  expect(plan.askedAnew).toEqual([]);
  expect(plan.spentMicroUsd).toBeGreaterThan(0);
  expect(plan.handedOver.before).toHaveLength(1);
  expect(plan.inFlight).toMatchObject([{ tool: 'issue_refund', becomes: 'recorded_outcome' }]);
});

test('an effect in flight of which nothing was recorded later has an unknown outcome', () => {
  const fold = foldOf(approved);
  if (fold.kind !== 'run') throw new Error('the bundle is of a goal');
  const events = approved.events.filter(({ type }) => type !== 'tool_finished');
  expect(forkPlanAt(fold, events, stepOf('execute_tool')).inFlight).toMatchObject([
    { tool: 'issue_refund', becomes: 'outcome_unknown' },
  ]);
});

test('a read in flight begins anew; standing approvals and open sub-agents are not taken over', () => {
  const fold = foldOf(approved);
  if (fold.kind !== 'run') throw new Error('the bundle is of a goal');
  const { after } = fold.at(stepOf('execute_tool'));
  const tools = after.frozen!.tools.map((tool) => ({ ...tool, effect: 'read' as const }));
  const run = {
    ...after,
    frozen: { ...after.frozen!, tools },
    grants: [{ id: 'ask-1', tool: 'issue_refund', when: [], usesLeft: 2, expiresAt: 1, by: ['a'] }],
    children: [{ n: 1, name: 'searcher' }] as unknown as NonNullable<typeof after.children>,
  };
  expect(forkBeginning(run, () => true)).toMatchObject({
    droppedGrants: [{ id: 'ask-1', tool: 'issue_refund', usesLeft: 2 }],
    notExecuted: [{ n: 1, name: 'searcher' }],
    inFlight: [{ tool: 'issue_refund', becomes: 'begins_anew' }],
  });
});

test.each([
  ['a no', 'n\n'],
  ['the end of the input', ''],
])('at a terminal %s starts no live fork, and the command ends with 1', async (_, typed) => {
  let err = '';
  const input = new PassThrough();
  input.end(typed);
  const code = await runCli(['fork', 'approved.json', '--at', '3', '--live'], {
    environment: { variables: {}, folder, colour: false, interactive: true },
    streams: { out: () => undefined, err: (text) => void (err += text) },
    input,
  });
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(/No fork was started\.\n$/) as string,
  });
});

test('a budget below what the run had spent by then is refused before a fork starts', async () => {
  const words = ['fork', 'approved.json', '--at', '3', '--live', '--budget', 'maxCostMicroUsd=0'];
  const { code, err } = await holdfast(...words);
  expect([code, err]).toEqual([1, expect.stringMatching(/had spent \$0\.\d+ by then/)]);
});

test('the last step has a name', async () => {
  const steps = foldOf(approved).steps.length;
  const last = await holdfast('fork', 'approved.json', '--at', 'last', '--plan');
  expect(last).toEqual(await holdfast('fork', 'approved.json', '--at', `${steps}`, '--plan'));
  const word = await holdfast('fork', 'approved.json', '--at', 'soon', '--plan');
  expect([word.code, word.err]).toEqual([2, expect.stringContaining('--at must be')]);
});

test('what is not built or means nothing is refused and says so, and so is a step that there is not', async () => {
  const refusals = [
    [['--live', '--dry'], 'means nothing'],
    [['--plan', '--model', 'other'], '--plan plays no fork'],
    [['--plan', '--dry'], '--plan plays no fork'],
    [['--tool', 'a@1'], '--config'],
    [['--budget', 'maxTurns'], '--budget needs a name and a value'],
    [['--result', 'call_1=no json'], '--result has no valid JSON'],
    [['--rules', 'oldest'], '--rules knows one word'],
  ] as const;
  for (const [more, words] of refusals) {
    const { code, out, err } = await holdfast('fork', 'approved.json', '--at', '3', ...more);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(words);
  }
  const beyond = await holdfast('fork', 'approved.json', '--at', '999', '--plan');
  expect(beyond.err).toContain('There is no step 999');
});
