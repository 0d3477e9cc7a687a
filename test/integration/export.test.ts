/** The bundle of a run whose server has lost, or reset, a part of its history. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { exportRun } from '../../replay/export-run.js';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { parseBundle } from '../../replay/read-bundle.js';
import { redactBundle } from '../../replay/redaction/redact-bundle.js';
import { parseRules } from '../../replay/redaction/rules.js';
import { replayRun } from '../../replay/strict-replay.js';
import { documentValues } from '../replay/setup.js';
import { APPROVER } from './support/agents.js';
import { PATIENT } from './support/patience.js';
import { redactedBothWays } from './support/redacted-export.js';
import { openAsk, pay, read, say, startWorld, until, type World } from './support/world.js';

const EVENTS_PER_SEGMENT = 40;
const TURNS = 8;

let world: World;
beforeAll(async () => {
  const dynamicConfig = [
    `limit.historyCount.suggestContinueAsNew=${EVENTS_PER_SEGMENT}`,
    // Deleting waits until the server has noted that the execution was closed.
    'history.transferProcessorUpdateAckInterval="1s"',
  ];
  world = await startWorld({ dynamicConfig });
});
afterAll(() => world.stop());

function exported(runId: string): Promise<Bundle> {
  const { store } = world;
  const place = { ...world.place, store };
  return exportRun(place, { tenant: 'default', runId });
}

test('segments that Temporal has deleted come from the archive, and the run replays exactly', async () => {
  const run = await world.start({
    runId: 'lost',
    budget: { maxTurns: 100 },
    replies: ({ assistantMessages: n }) => (n < TURNS ? read(`item-${n}`) : say('Finished.')),
  });
  await world.ended(run);
  const whole = await exported('lost');
  expect(whole.segments.length).toBeGreaterThan(2);
  expect(whole.segments.map(({ source }) => source)).not.toContain('store');
  const rules = [{ name: 'end', pattern: /Finished/g }];
  const { streamed, held, places } = await redactedBothWays(world, whole, rules);
  expect(places).toBeGreaterThan(1);
  expect(streamed).toBe(held);
  const { execution } = whole.segments[0]!;
  await world.raw.workflowService.deleteWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: 'lost', runId: execution },
  });
  const bundle = await until('the first segment to be gone', async () => {
    const one = await exported('lost');
    return one.segments[0]!.source === 'store' ? one : undefined;
  });
  expect(bundle.segments.map(({ events }) => events)).toEqual(
    whole.segments.map(({ events }) => events),
  );
  expect(Object.keys(bundle.nodes)).toHaveLength(Object.keys(whole.nodes).length);
  expect(bundle.events.at(-1)).toMatchObject({ type: 'run_result' });
  const again = parseBundle(bundleText(bundle), 'lost.json');
  expect(await replayRun(again)).toMatchObject({ equal: true, segments: bundle.segments.length });
  const newest = whole.segments.at(-1)!.execution;
  await world.raw.workflowService.deleteWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: 'lost', runId: newest },
  });
  await until('the newest segment to be gone', async () => {
    const code = await exported('lost').then(
      () => undefined,
      (error: { readonly code: string }) => error.code,
    );
    return code === 'HistoryMissing' ? code : undefined;
  });
});

test('what a reset has left behind is no part of the bundle, and what came after it replays', async () => {
  const run = await world.start({ runId: 'reset', replies: [pay('pay.asked'), say('Paid.')] });
  const ask = await openAsk(run);
  const history = await world.history('reset');
  const task = history.events!.find(({ workflowTaskCompletedEventAttributes: one }) => one)!;
  const { runId: execution } = await world.raw.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: 'reset', runId: '' },
    workflowTaskFinishEventId: task.eventId!,
    reason: 'test',
    requestId: randomUUID(),
  });
  await until('the question to be asked again', async () =>
    (await run.state()).asks.length > 0 ? true : undefined,
  );
  const waiting = parseBundle(bundleText(await exported('reset')), 'reset.json');
  expect(await replayRun(waiting)).toMatchObject({ equal: true, open: true });
  await run.approve(ask.askId, APPROVER);
  await run.result();
  const bundle = parseBundle(bundleText(await exported('reset')), 'reset.json');
  // The run after the reset may have gone on in further segments.
  expect(bundle.segments[0]!.execution).toBe(execution);
  expect(await replayRun(bundle)).toMatchObject({ equal: true, open: false });
});

test('a run that nobody knows is said to be unknown', async () => {
  await expect(exported('nobody')).rejects.toMatchObject({ code: 'RunNotFound' });
});

/** A command over what this world has. */
async function holdfast(...words: readonly string[]) {
  const { address, namespace } = world.place;
  const place = ['--address', address, '--namespace', namespace, '--store', world.storePlace];
  const environment = { variables: {}, folder: '/', colour: false, interactive: false, ...PATIENT };
  const said = { out: '', err: '' };
  const streams = {
    out: (text: string) => void (said.out += text),
    err: (text: string) => void (said.err += text),
  };
  return { code: await runCli([...words, ...place], { environment, streams }), ...said };
}

const inWorld = (name: string): string => join(dirname(world.storePlace), name);

test('a file that exists is kept, and another name asked for', async () => {
  const run = await world.start({ runId: 'twice', replies: [say('Done.')] });
  await world.ended(run);
  const file = inWorld('twice.json');
  expect((await holdfast('export', 'twice', '-o', file)).code).toBe(0);
  const kept = readFileSync(file, 'utf8');
  const { code, err } = await holdfast('export', 'twice', '-o', file);
  expect(code).toBe(2);
  expect(err).toContain(`${file} exists, and is kept.`);
  expect(err).toContain('-o');
  expect(err).not.toContain('EEXIST');
  expect(readFileSync(file, 'utf8')).toBe(kept);
});

describe('texts that a tool wrote as JSON of another program', () => {
  const NOTE = 'he said "hello7788" to Jürgen';
  const python = (value: object): string =>
    JSON.stringify(value).replaceAll('ü', String.raw`\u00fc`);
  const ITEM = python({
    php: String.raw`{"url":"https:\/\/x.example\/u\/tom77"}`,
    n2: python({ x: python({ note: NOTE }) }),
    upper: String.raw`{"p":"pw/\"\u00E4\"-Secret77"}`,
  });
  const RULES = {
    url: { key: 'url' },
    address: { regex: 'https://x.example/u/[a-z0-9]+' },
    note: { key: 'note' },
    said: { regex: 'he said "hello7788"' },
    password: { regex: 'pw/"ä"-Secret77' },
  };
  const LEFT = /tom77|hello7788|Secret77/;

  function rulesFile(name: string, rules: Readonly<Record<string, object>>): string {
    const file = inWorld(`${name}.rules.json`);
    const list = Object.entries(rules).map(([rule, one]) => ({ name: rule, ...one }));
    writeFileSync(file, JSON.stringify({ rules: list }));
    return file;
  }

  test('are hidden in bundles and cases, and replay', async () => {
    const run = await world.start({ runId: 'foreign', replies: [read(ITEM), say('Done.')] });
    await world.ended(run);
    const whole = await exported('foreign');
    expect(JSON.stringify(await documentValues(whole))).toMatch(LEFT);
    for (const [name, rule] of Object.entries(RULES)) {
      const [alone] = parseRules({ rules: [{ name, ...rule }] }, 'rules.json');
      const { redactions } = await redactBundle(whole, [alone!]);
      expect(redactions[0]!.count).toBeGreaterThan(1);
    }
    const rules = rulesFile('foreign', RULES);
    const bundle = inWorld('foreign.json');
    const { code, err } = await holdfast('export', 'foreign', '-o', bundle, '--redact', rules);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const written = parseBundle(readFileSync(bundle, 'utf8'), 'foreign.json');
    expect(JSON.stringify(await documentValues(written))).not.toMatch(LEFT);
    const fixture = inWorld('foreign.case.json');
    const captured = await holdfast('capture', 'foreign', '-o', fixture, '--redact', rules);
    expect(captured).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(fixture, 'utf8')).not.toMatch(LEFT);
  });

  test('and in base64 are refused with the rule and the form, and no file is written', async () => {
    const item = `${ITEM} ${Buffer.from(`a ${NOTE}`).toString('base64')}`;
    const run = await world.start({ runId: 'coded', replies: [read(item), say('Done.')] });
    await world.ended(run);
    const rules = rulesFile('coded', { note: { regex: NOTE } });
    for (const command of ['export', 'capture']) {
      const file = inWorld(`coded.${command}.json`);
      const { code, err } = await holdfast(command, 'coded', '-o', file, '--redact', rules);
      expect(code).toBe(1);
      expect(err).toMatch(/rule note hides would remain at \/\S+, base64/);
      expect(err).not.toMatch(LEFT);
      expect(existsSync(file)).toBe(false);
    }
  });
});
