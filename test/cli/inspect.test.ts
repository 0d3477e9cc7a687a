/** `holdfast inspect` and `holdfast diff` of files: offline, from the record alone. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import type { RunEvent } from '../../core/state/event.js';
import { diffOf } from '../../recording/diff.js';
import { foldOf } from '../../recording/fold.js';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { recordedRequest } from '../../replay/recorded-request.js';
import { requestBegunAt } from '../../recording/moment-view.js';
import { until } from '../until.js';
import { stored } from '../replay/setup.js';

let folder: string;
let approved: Bundle;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-inspect-'));
  approved = await stored('approved');
  writeFileSync(join(folder, 'approved.json'), bundleText(approved));
  writeFileSync(join(folder, 'completed.json'), bundleText(await stored('completed')));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function holdfast(...argv: readonly string[]) {
  let [out, err] = ['', ''];
  const code = await runCli(argv, {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

test('the index tells each step: what was received, which rules fired, what began', async () => {
  const { code, out } = await holdfast('inspect', 'approved.json', '--json');
  expect(code).toBe(0);
  const told = JSON.parse(out) as { steps: { step: number; rules: string[] }[] };
  expect(told).toMatchObject({ runId: 'S39', kind: 'run', source: 'file', divergences: [] });
  expect(told.steps[1]).toMatchObject({ step: 2, rules: ['arrive', 'ask the model'] });
  const some = await holdfast('inspect', 'approved.json', '--kind', 'execute_tool', '--json');
  expect((JSON.parse(some.out) as { steps: unknown[] }).steps).toHaveLength(1);
  const mistyped = await holdfast('inspect', 'approved.json', '--kind', 'execute_tol');
  expect(mistyped.out).toMatch(/No step is of that kind\. Kinds of this run: .*execute_tool/);
});

test('a file is looked at whatever the environment says of servers and stores', async () => {
  const plain = await holdfast('inspect', 'approved.json');
  expect(plain.code).toBe(0);
  expect(await holdfast('inspect', 'approved.json', '--store', 'redis://elsewhere')).toEqual(plain);
  const run = await holdfast('inspect', 'run_1', '--store', 'redis://elsewhere');
  expect(run).toMatchObject({ code: expect.any(Number), err: expect.stringContaining('redis:') });
  expect(run.code).not.toBe(0);
});

test('--desk serves the steps of a bundle, and nothing else, to whoever has the token', async () => {
  let out = '';
  const showing = runCli(['inspect', 'approved.json', '--desk', '--at', '3'], {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: () => undefined },
  });
  const page = /(http:\/\/127\.0\.0\.1:\d+)(\S*)#token=(\S+)/;
  await until(() => page.test(out));
  const [, url = '', path, token = ''] = page.exec(out)!;
  expect(path).toBe('/runs/S39/steps/3');
  const get = async (where: string, headers = { authorization: `Bearer ${token}` }) => {
    const reply = await fetch(`${url}${where}`, { headers });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };
  const recording = { runId: 'S39', file: 'approved.json' };
  expect((await get('/v1/me')).body).toMatchObject({ may: ['read'], recording });
  const { steps } = foldOf(approved);
  expect((await get('/v1/runs/S39/steps')).body).toMatchObject({ source: 'file', steps });
  expect((await get('/v1/runs/S39/steps/3')).body).toMatchObject({ step: 3, source: 'file' });
  for (const where of ['/v1/runs/S40/steps', '/v1/runs', '/v1/inbox', '/v1/runs/S39/events']) {
    expect((await get(where)).status).toBe(404);
  }
  expect((await get('/v1/runs/S39/steps', { authorization: 'Bearer no' })).status).toBe(401);
  const posted = { method: 'POST', headers: { authorization: `Bearer ${token}` } };
  expect((await fetch(`${url}/v1/runs/S39/interrupt`, posted)).status).toBe(404);
  process.emit('SIGTERM');
  expect(await showing).toBe(0);
});

test('--desk is for bundles that can be read; --port is for --desk', async () => {
  writeFileSync(join(folder, 'broken.json'), '{"format":"holdfast-bundle","v":1}');
  const broken = await holdfast('inspect', 'broken.json', '--desk');
  expect(broken.code).not.toBe(0);
  expect(broken.err).toContain('cannot be used');
  expect((await holdfast('inspect', 'approved.json', '--port', '0')).code).toBe(2);
});

test('a step shows the open question, the request that the model saw, and what fired next and why', async () => {
  const { steps } = foldOf(approved);
  const asked =
    steps.find(({ inputs }) => inputs.some(({ type }) => type === 'decision'))!.step - 1;
  const { code, out } = await holdfast('inspect', 'approved.json', '--at', `${asked}`, '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    step: asked,
    view: { status: 'awaiting_approval', asks: [{ tool: 'issue_refund' }] },
    calls: [{ tool: 'issue_refund', stage: 'waiting' }],
    request: { call: 1, messages: [{ role: 'user' }], tools: [{ name: 'issue_refund' }] },
    next: { step: asked + 1, inputs: [{ type: 'decision' }] },
    state: { runId: 'S39' },
  });
  const words = await holdfast('inspect', 'approved.json', '--at', `${asked}`);
  expect(words.out).toContain(`Next, step ${asked + 1}`);
  expect(words.out).toContain('received  decision');
});

test('the last step shows the answer of the model; a step behind a newer request does not show an older reply', async () => {
  const answer = approved.events.findLast((event) => event.type === 'model_response')!.text;
  const said = answer !== undefined && 'text' in answer ? answer.text : 'none';
  const last = await holdfast('inspect', 'approved.json', '--at', 'last');
  expect(last.out).toMatch(/Reply to request 2, received in step \d+/);
  expect(last.out).toContain(`assistant ${said}`);
  const { steps } = foldOf(approved);
  const second = steps.findLast(({ effects }) => effects.some(({ kind }) => kind === 'call_model'));
  const asked = await holdfast('inspect', 'approved.json', '--at', `${second!.step}`, '--json');
  expect(JSON.parse(asked.out)).not.toHaveProperty('reply');
  const [first] = steps.filter(({ inputs }) => inputs.some(({ type }) => type === 'model_replied'));
  const heard = await holdfast('inspect', 'approved.json', '--at', `${first!.step}`, '--json');
  expect(JSON.parse(heard.out)).toMatchObject({
    reply: { step: first!.step, call: 1, calls: [{ tool: 'issue_refund' }] },
  });
});

test('a step that received a reply and made the next request shows each with its own', async () => {
  const bundle = await stored('empty_response');
  writeFileSync(join(folder, 'empty.json'), bundleText(bundle));
  const { steps } = foldOf(bundle);
  const both = steps.find(
    ({ inputs, effects }) =>
      inputs.some(({ type }) => type === 'model_replied') &&
      effects.some(({ kind }) => kind === 'call_model'),
  )!;
  const first = steps.find(({ effects }) => effects.some(({ kind }) => kind === 'call_model'))!;
  const at = async (step: number) =>
    JSON.parse(
      (await holdfast('inspect', 'empty.json', '--at', `${step}`, '--json')).out,
    ) as object;
  expect(await at(both.step)).toMatchObject({
    request: { step: both.step, call: 2 },
    reply: { step: both.step, call: 1 },
    answered: { step: first.step, call: 1, messages: [{ role: 'user' }] },
  });
  const { out } = await holdfast('inspect', 'empty.json', '--at', `${both.step}`);
  const titles = out.split('\n').filter((line) => /^(Request|Reply)/.test(line));
  expect(titles).toEqual([
    expect.stringMatching(/^Request 1 to .*, begun in step/),
    expect.stringMatching(/^Reply to request 1/),
    expect.stringMatching(/^Request 2 to/),
  ]);
  // A flush may stand between.
  const next = steps[both.step]!;
  if (!next.inputs.some(({ type }) => type === 'model_replied')) {
    expect(await at(next.step)).not.toHaveProperty('reply');
  } else {
    const later = await at(next.step);
    expect(later).toMatchObject({ request: { call: 2 }, reply: { call: 2 } });
    expect(later).not.toHaveProperty('answered');
  }
});

test('a step that there is not, and a word that is no step, are refused', async () => {
  const beyond = await holdfast('inspect', 'approved.json', '--at', '999');
  expect(beyond).toMatchObject({ code: 1, out: '' });
  expect(beyond.err).toContain('There is no step 999');
  expect(await holdfast('inspect', 'approved.json', '--at', 'soon')).toMatchObject({ code: 2 });
});

test('kinds of steps are of the index, and mean nothing beside one step', async () => {
  const words = ['inspect', 'approved.json', '--kind', 'execute_tool', '--at', '3'];
  const { code, err } = await holdfast(...words);
  expect([code, err]).toEqual([2, expect.stringContaining('--kind chooses steps of the index')]);
});

test('texts of a bundle cannot command the terminal', async () => {
  const { out } = await holdfast('inspect', 'approved.json', '--at', 'last');
  expect(out).not.toContain('\u001b');
});

test('a request is refused that refers to one text more often than a machine can hold', async () => {
  const input = requestBegunAt(foldOf(approved), 2)!;
  const [head, root] = Object.entries(approved.nodes).find(([hash]) => hash === input.head)!;
  const text = 'x'.repeat(1024 * 1024);
  const block = { type: 'text', text: { $blob: 'f'.repeat(64), bytes: text.length } };
  const bomb = { ...root, blocks: Array.from({ length: 100 }, () => block) };
  const bundle = { nodes: { [head]: bomb }, blobs: { ['f'.repeat(64)]: text } };
  await expect(recordedRequest(bundle, { ...input, append: [] })).rejects.toMatchObject({
    code: 'InvalidBundle',
  });
});

test('messages of a record are made once, however many of its requests are looked at', async () => {
  const fold = foldOf(approved);
  const inputs = fold.steps.flatMap(({ step }) => requestBegunAt(fold, step) ?? []);
  const requests = await Promise.all(inputs.map((input) => recordedRequest(approved, input)));
  const again = await recordedRequest(approved, inputs.at(-1)!);
  expect(again).toEqual(requests.at(-1));
  const kept = again.messages.filter((message) => requests.at(-1)!.messages.includes(message));
  expect(kept).toEqual(again.messages);
});

test('a run is equal to itself, and two runs that differ say where and why', async () => {
  const same = await holdfast('diff', 'approved.json', 'approved.json', '--json');
  expect(same.code).toBe(0);
  expect(JSON.parse(same.out)).toMatchObject({ equal: true, differsIn: 'nothing', rows: [] });
  const other = await holdfast('diff', 'approved.json', 'completed.json', '--json');
  expect(other.code).toBe(1);
  expect(JSON.parse(other.out)).toMatchObject({ equal: false, differsIn: 'action' });
  const words = await holdfast('diff', 'approved.json', 'completed.json');
  expect(words.out).toContain('First difference  A ');
  // Two columns, however long what stands in them.
  const rows = words.out.split('\n').filter((line) => line.includes(' | '));
  expect(new Set(rows.map((line) => line.indexOf('|')))).toEqual(new Set([61]));
});

const runOf = (events: readonly RunEvent[]) => ({
  runId: 'S39',
  events,
  steps: foldOf(approved).steps,
});

test('a decision of people that differs is named as what differs, with the step', () => {
  const rejected = approved.events.map((event) =>
    event.type === 'approval_resolved' ? { ...event, outcome: 'rejected' as const } : event,
  );
  const diff = diffOf(runOf(approved.events), runOf(rejected), { actions: true });
  expect(diff).toMatchObject({
    equal: false,
    differsIn: 'action',
    first: { a: { type: 'approval_resolved', step: expect.any(Number) as number } },
    why: 'The decision of a person differs, and the rules decide from there.',
  });
  expect(diff.decision).toBeUndefined();
});

test('--actions tells differences of text from differences of action', () => {
  const reworded = approved.events.map((event) =>
    event.type === 'model_response' ? { ...event, text: { text: 'other words' } } : event,
  );
  const [a, b] = [runOf(approved.events), runOf(reworded)];
  expect(diffOf(a, b, { actions: false })).toMatchObject({ equal: false, differsIn: 'text' });
  const actions = diffOf(a, b, { actions: true });
  expect(actions).toMatchObject({ equal: true, differsIn: 'nothing' });
  expect(actions.textDifferences).toBeGreaterThan(0);
});
