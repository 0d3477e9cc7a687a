import { defineConfig, defineAgent, ToolError, type Tool } from '../../../authoring/index.js';
import type { DoneCondition, StoredCheck } from '../../../core/state/goal/definition.js';
import type { RunCheckInput } from '../../../core/state/goal/payloads.js';
import { sha256Hex } from '../../../core/json/json.js';
import { attempt, effect, failureFrom, startBed, type Bed } from '../setup.js';
import { DEFINITION, GOAL, MEMORY, stored, toolNamed } from './goal-bed.js';

let bed: Bed;
let runs = 0;
let answer: (input: Record<string, unknown>) => unknown;
const tool = toolNamed('open_invoices', (input) => {
  runs += 1;
  return answer(input);
});

beforeEach(async () => {
  runs = 0;
  answer = () => ({ count: 12, list: { old: 3 } });
  bed = await startBed({ tools: [tool] });
});
afterEach(() => bed.end());

function check(frozen: Tool, changes: Partial<StoredCheck> = {}): StoredCheck {
  const { name, version, schemaHash, effect: kind } = frozen.record;
  const measure = { path: 'count', better: 'lower' } as const;
  return {
    name: 'open',
    input: { month: 3 },
    measure,
    ...changes,
    frozen: { name, version, schemaHash, effect: kind },
  };
}

interface Asked {
  readonly check?: StoredCheck;
  readonly done?: readonly DoneCondition[];
  readonly input?: Partial<RunCheckInput>;
}

async function inputOf({ check: one = check(tool), done = [], input = {} }: Asked = {}) {
  const definition = { ...DEFINITION, done: { all: done }, validation: [one] };
  const given: RunCheckInput = {
    v: 1,
    run: GOAL,
    name: 'open',
    n: 1,
    timeoutMs: 2_000,
    definition: await stored(bed, definition),
    memory: await stored(bed, MEMORY),
    events: [],
    ...input,
  };
  return given;
}

async function run(asked: Asked = {}, config = bed.config) {
  return attempt(bed.activities({ config }).run_check, await inputOf(asked));
}

it('a check measures, says which conditions hold, and keeps the whole result under its digest', async () => {
  const seen: unknown[] = [];
  answer = (input) => {
    seen.push(input);
    return { count: 0, list: { old: 3 } };
  };
  const done: readonly DoneCondition[] = [
    { check: 'open', path: 'count', equals: 0 },
    { check: 'open', path: 'count', gte: 1 },
    { plan: 'complete' },
    { check: 'other', path: 'count', equals: 0 },
    { check: 'open', path: 'list.old', lte: 3 },
    { check: 'open', exists: true },
    { check: 'open', path: '__proto__.count', exists: true },
  ];
  const out = await run({ done });
  const text = '{"count":0,"list":{"old":3}}';
  expect(seen).toEqual([{ month: 3 }]);
  expect(out).toMatchObject({ known: true, held: [0, 4, 5], value: 0, digest: sha256Hex(text) });
  expect(await bed.store.getBlob('default', out.digest ?? '')).toBe(text);
});

it('a result without its number is known, and measures nothing', async () => {
  answer = () => ({ count: '12' });
  const out = await run({ done: [{ check: 'open', path: 'count', equals: '12' }] });
  expect(out).toMatchObject({
    known: true,
    held: [0],
    because: 'The result has no number at count.',
  });
  expect(out.value).toBeUndefined();
});

it('a large result lies in the store alone', async () => {
  answer = () => ({ count: 1, text: 'x'.repeat(100_000) });
  const out = await run();
  expect(out).toMatchObject({ known: true, value: 1 });
  expect(JSON.stringify(out).length).toBeLessThan(500);
});

it('a check that fails once is tried once more', async () => {
  answer = () => {
    if (runs === 1) throw new Error('The database is away.');
    return { count: 4 };
  };
  expect(await run()).toMatchObject({ known: true, value: 4 });
  expect(runs).toBe(2);
});

it('a check that fails twice is unknown, with its reason, and holds nothing', async () => {
  answer = () => {
    throw new ToolError('No access.');
  };
  const out = await run({ done: [{ check: 'open', path: 'count', exists: false }] });
  expect(out).toMatchObject({ known: false, held: [], because: 'execution_error: No access.' });
  expect(runs).toBe(2);
});

it('a check that answers nobody ends with its time', async () => {
  answer = () => new Promise(() => undefined);
  const out = await run({ input: { timeoutMs: 50 } });
  expect(out).toMatchObject({
    known: false,
    because: expect.stringContaining('timeout') as string,
  });
});

it('a tool of another schema is unknown and both hashes are told', async () => {
  const one = check(tool);
  const frozen = { ...one.frozen, schemaHash: 'f'.repeat(64) };
  const out = await run({ check: { ...one, frozen } });
  expect(out).toMatchObject({ known: false, changed: [frozen.schemaHash, tool.record.schemaHash] });
  expect(runs).toBe(0);
});

it('a tool that changes something now is not run', async () => {
  const write = toolNamed('open_invoices', () => (runs += 1), 'write');
  const agent = defineAgent({
    name: 'helper',
    model: 'scripted/test',
    instructions: 'x',
    tools: [write],
  });
  const out = await run({}, defineConfig({ agents: [agent] }));
  expect(out).toMatchObject({
    known: false,
    because: 'The tool open_invoices is no read tool any more.',
  });
  expect(runs).toBe(0);
});

it('code that this worker lacks is waited for, and then unavailable', async () => {
  const other = defineConfig({
    agents: [defineAgent({ name: 'helper', model: 'scripted/test', instructions: 'x' })],
  });
  const failed = await failureFrom(run({ input: { unservedMs: 60_000 } }, other));
  expect(failed.type).toBe('NotServed');
  expect(await run({ input: { unservedMs: 0 } }, other)).toMatchObject({
    known: false,
    because: 'tool_unavailable',
  });
});

it('the events of the pass are stored with it', async () => {
  const stamp = {
    seq: 0,
    runId: GOAL.runId,
    traceId: 't',
    at: 1,
    phase: 'initializing',
    step: 0,
    turn: 0,
  } as const;
  const warning = { type: 'warning', code: 'late_input', message: 'x', stamp } as const;
  const out = await attempt(
    bed.activities().run_check,
    await inputOf({ input: { events: [warning] } }),
    effect(),
  );
  expect(out.eventsUpTo).toBe(1);
});
