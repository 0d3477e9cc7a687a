/** Runs whose tools are those of servers of MCP. */
import type { RunHandle } from '../../client/runs/run-handle.js';
import { PassThrough } from 'node:stream';
import { runCli } from '../../cli/program.js';
import { capture } from '../../evaluation/capture/capture.js';
import { differencesOf } from '../../evaluation/capture/check.js';
import { foldOf } from '../../recording/fold.js';
import type { Bundle } from '../../replay/bundle.js';
import { exportRun } from '../../replay/export-run.js';
import { redactBundle } from '../../replay/redaction/redact-bundle.js';
import { parseRules } from '../../replay/redaction/rules.js';
import { replayRuns } from '../../testing/replay.js';
import {
  startModernServer,
  type ModernServer,
  type ServedTool,
} from '../connectors/modern-server.js';
import { PATIENT } from './support/patience.js';
import { config, SECRET } from './support/served-agents.js';
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

const getContact: ServedTool = {
  name: 'get_contact',
  description: 'Reads a contact.',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  outputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  annotations: { readOnlyHint: true },
  run: ({ id }) => {
    const structuredContent = id === 'liar' ? { name: 7 } : { name: `Contact ${String(id)}` };
    return { content: [{ type: 'text', text: 'see there' }], structuredContent };
  },
};

const merge: ServedTool = {
  name: 'merge_contacts',
  description: 'Merges two contacts.',
  inputSchema: { type: 'object', properties: { from: { type: 'string' } } },
  annotations: { idempotentHint: true },
  run: ({ from }) =>
    from === 'refused'
      ? { content: [{ type: 'text', text: 'There is no such contact.' }], isError: true }
      : `merged ${String(from)}`,
};

const TOOLS: readonly ServedTool[] = [
  getContact,
  merge,
  { name: 'drop_all', run: () => 'dropped' },
  { name: 'note', run: () => 'noted' },
  {
    name: 'ask_first',
    annotations: {},
    run: (_args, { responses, state }) =>
      responses === undefined
        ? {
            resultType: 'input_required',
            requestState: 'sealed \u0000 "state" é',
            inputRequests: {
              who: {
                method: 'elicitation/create',
                params: {
                  mode: 'form',
                  message: 'Who pays?',
                  requestedSchema: {
                    type: 'object',
                    properties: { payer: { type: 'string' }, share: { type: 'integer' } },
                    required: ['payer', 'share'],
                  },
                },
              },
            },
          }
        : `${JSON.stringify(responses)} ${String(state === 'sealed \u0000 "state" é')}`,
  },
];

let world: World;
let server: ModernServer;
beforeAll(async () => {
  server = await startModernServer(TOOLS);
  world = await startWorld({ workerSettings: { config: config({ url: server.url }) } });
});
afterAll(async () => {
  await world.stop();
  await server.stop();
});
beforeEach(() => {
  server.calls.length = 0;
});

function exported(runId: string): Promise<Bundle> {
  return exportRun({ ...world.place, store: world.store }, { tenant: 'default', runId });
}

/** The case of the run, which passes, and has no secret of a connector. */
async function capturedOf(bundle: Bundle) {
  const captured = capture(bundle);
  expect([captured.case_id, await differencesOf(captured, captured.case_id)]).toEqual([
    captured.case_id,
    [],
  ]);
  // The bundle has what the server said of its tools.
  if (bundle.redactions.length === 0)
    expect(captured.captured?.leftOut ?? []).not.toContainEqual(
      expect.stringContaining('output schema'),
    );
  const { steps, at } = foldOf(bundle);
  const moments = steps.map(({ step }) => at(step));
  expect(JSON.stringify([captured, bundle, moments])).not.toContain(SECRET);
  return captured;
}

const approve = async (run: RunHandle): Promise<void> => {
  const { askId } = await openAsk(run);
  await run.approve(askId, { by: 'mia', roles: [] });
};

test('a read of a trusted server runs, an unknown tool asks once, and a denied one is not there', async () => {
  const run = await world.start({
    runId: 'served',
    agent: 'served',
    replies: [
      call('mcp__crm__get_contact', { id: 'c7' }),
      call('mcp__crm__drop_all', {}),
      call('mcp__crm__merge_contacts', { from: 'c8' }),
      say('Done.'),
    ],
  });
  await approve(run);
  const { events, result } = await world.ended(run);
  expect(result).toMatchObject({ stopReason: 'completed', answer: { text: 'Done.' } });
  expect(ofType(events, 'session_init')).toMatchObject([
    {
      connectors: [
        { name: 'crm', status: 'connected', era: 'modern', server: 'modern@3', tools: 4 },
      ],
      tools: [
        'mcp__crm__get_contact',
        'mcp__crm__merge_contacts',
        'mcp__crm__note',
        'mcp__crm__ask_first',
      ],
    },
  ]);
  expect(ofType(events, 'tool_finished')).toMatchObject([
    { tool: 'mcp__crm__get_contact', status: 'ok', content: { text: '{"name":"Contact c7"}' } },
    { tool: 'mcp__crm__drop_all', code: 'unknown_tool' },
    { tool: 'mcp__crm__merge_contacts', status: 'ok', content: { text: 'merged c8' }, attempts: 1 },
  ]);
  expect(ofType(events, 'approval_requested')).toMatchObject([
    { tool: 'mcp__crm__merge_contacts' },
  ]);
  expect(server.calls).toEqual(['get_contact', 'merge_contacts']);
  expect(await world.store.listLedger('default', { runId: 'served' })).toMatchObject([
    { state: 'recorded' },
  ]);
  expect([...(await replayRuns(world.place, ['served']))]).toEqual([]);
});

test('a result that breaks its schema is no result, arguments that break theirs are none, and an error is told', async () => {
  const run = await world.start({
    runId: 'lied-to',
    agent: 'served',
    replies: [
      call('mcp__crm__get_contact', { id: 'liar' }),
      call('mcp__crm__get_contact', { id: 7 }),
      call('mcp__crm__merge_contacts', { from: 'refused' }),
      say('Done.'),
    ],
  });
  await approve(run);
  const { events } = await world.ended(run);
  expect(ofType(events, 'tool_finished')).toMatchObject([
    { code: 'malformed_result', returned: { text: '{"name":7}' } },
    { code: 'invalid_arguments' },
    { code: 'execution_error', content: { text: 'There is no such contact.' } },
  ]);
  expect(server.calls).toEqual(['get_contact', 'merge_contacts']);
  expect(await world.store.listLedger('default', { runId: 'lied-to' })).toMatchObject([
    { state: 'recorded' },
  ]);
});

test('an agent has the tools that it names', async () => {
  const run = await world.start({ runId: 'narrow', agent: 'narrow', replies: [say('Hello.')] });
  const { events } = await world.ended(run);
  expect(ofType(events, 'session_init')).toMatchObject([{ tools: ['mcp__crm__get_contact'] }]);
});

test('a server that is down is a warning, and the end of a run that needs it', async () => {
  const lonely = await world.start({ runId: 'lonely', agent: 'lonely', replies: [say('Hello.')] });
  const { events, result } = await world.ended(lonely);
  expect(result.stopReason).toBe('completed');
  expect(warnings(events)).toEqual(['connector_down']);
  const needy = await world.start({ runId: 'needy', agent: 'needy', replies: [say('Hello.')] });
  const ended = await world.ended(needy);
  expect(ended.result).toMatchObject({
    stopReason: 'tool_unavailable',
    detail: 'needed',
    counters: { modelCalls: 0 },
  });
  expect(JSON.stringify([events, ended.events, ended.history])).not.toContain(SECRET);
});

test('a tool that its server describes otherwise in the middle of a run is stopped in it', async () => {
  const run = await world.start({
    runId: 'changed',
    agent: 'served',
    replies: [
      call('mcp__crm__merge_contacts', { from: 'c1' }),
      call('mcp__crm__merge_contacts', { from: 'c2' }),
      say('Done.'),
    ],
  });
  await openAsk(run);
  server.offer(TOOLS.map((tool) => ({ ...tool, description: `${tool.description ?? ''} Hurry!` })));
  try {
    await approve(run);
    const { events } = await world.ended(run);
    expect(warnings(events)).toEqual(['server_tool_changed']);
    expect(ofType(events, 'tool_finished')).toMatchObject([
      { code: 'tool_unavailable' },
      { code: 'tool_not_allowed' },
    ]);
    expect(server.calls).toEqual([]);
    const captured = await capturedOf(await exported('changed'));
    expect(JSON.stringify(captured.during)).toContain('Described otherwise');
    const { tools } = JSON.parse(String(world.requests('changed').at(1)?.body)) as {
      tools: { name: string }[];
    };
    expect(tools.map(({ name }) => name)).toEqual([
      'mcp__crm__get_contact',
      'mcp__crm__note',
      'mcp__crm__ask_first',
    ]);
    const later = await world.start({ runId: 'later', agent: 'served', replies: [say('Hello.')] });
    const next = await world.ended(later);
    expect(ofType(next.events, 'session_init')).toMatchObject([{ tools: [] }]);
    expect(warnings(next.events)).toEqual(['server_tool_hidden']);
  } finally {
    server.offer(TOOLS);
  }
});

test('a question of the server waits for a person, and the call goes on with the answer', async () => {
  const run = await world.start({
    runId: 'elicited',
    agent: 'served',
    replies: [call('mcp__crm__ask_first', {}), say('Done.')],
  });
  await approve(run);
  const first = await openAsk(run);
  expect(first).toMatchObject({
    kind: 'input',
    question: 'Who pays?',
    elicitation: { connector: 'crm', mode: 'form', schema: { required: ['payer', 'share'] } },
  });
  const short = { kind: 'text', value: { payer: 'Annabel' } } as const;
  await expect(run.answer(first.askId, short, { by: 'mia' })).rejects.toMatchObject({
    code: 'DecisionRejected',
    message: expect.stringMatching(/share/) as string,
    details: { reason: 'malformed' },
  });
  await run.provideInput({ askId: first.askId, value: { payer: 'Annabel' }, by: 'mia' });
  const second = await openAsk(run);
  expect(second.elicitation?.problem).toMatch(/share/);
  await run.provideInput({
    askId: second.askId,
    value: { payer: 'Annabel', share: '40' },
    by: 'mia',
  });
  const { events, result } = await world.ended(run);
  expect(result.stopReason).toBe('completed');
  expect(ofType(events, 'tool_finished')).toMatchObject([
    {
      status: 'ok',
      content: {
        text: '{"who":{"action":"accept","content":{"payer":"Annabel","share":40}}} true',
      },
    },
  ]);
  expect(server.calls).toEqual(['ask_first', 'ask_first']);
  expect([...(await replayRuns(world.place, ['elicited']))]).toEqual([]);
  const bundle = await exported('elicited');
  expect(JSON.stringify(await capturedOf(bundle))).toContain('Annabel');
  const rules = parseRules({ rules: [{ name: 'payer', key: 'payer' }] }, 'rules.json');
  const redacted = await redactBundle(bundle, rules);
  expect(JSON.stringify([redacted, await capturedOf(redacted)])).not.toContain('Annabel');
});

test('a server that goes away in the middle of a run is away in the case of it', async () => {
  const run = await world.start({
    runId: 'gone-away',
    agent: 'served',
    replies: [
      call('mcp__crm__get_contact', { id: 'c1' }),
      call('mcp__crm__merge_contacts', { from: 'c2' }),
      call('mcp__crm__get_contact', { id: 'c3' }),
      say('Done.'),
    ],
  });
  await openAsk(run);
  await server.kill();
  const { askId } = await openAsk(run);
  await run.approve(askId, { by: 'mia', roles: [] });
  const { events } = await world.ended(run);
  await server.restart();
  expect(ofType(events, 'tool_finished')).toMatchObject([
    { status: 'ok' },
    { code: 'tool_unavailable' },
    { code: 'tool_unavailable' },
  ]);
  const captured = await capturedOf(await exported('gone-away'));
  expect(JSON.stringify(captured.during)).toContain('"is":"down"');
});

/** In place of a line: there are no more. */
const END = '';

/** A person at a terminal, who types each line when its words were said. */
async function typed(words: readonly string[], ...lines: readonly (readonly [RegExp, string])[]) {
  const input = new PassThrough();
  let said = '';
  let seen = 0;
  const { address, namespace } = world.place;
  const place = ['--address', address, '--namespace', namespace, '--store', world.storePlace];
  const done = runCli([...words, ...place], {
    environment: { variables: {}, folder: '/', colour: false, interactive: true, ...PATIENT },
    streams: { out: (text) => void (said += text), err: (text) => void (said += text) },
    input,
  });
  for (const [pattern, line] of lines) {
    await until(`${pattern.source} in ${JSON.stringify(said.slice(seen))}`, () => {
      const found = pattern.exec(said.slice(seen));
      if (found === null) return undefined;
      seen += found.index + found[0].length;
      return true;
    });
    if (line === END) input.end();
    else input.write(`${line}\n`);
  }
  return { code: await done, said };
}

const FORM: readonly (readonly [RegExp, string])[] = [
  [/\[f\]ill in/, 'f'],
  [/payer: $/, 'Annabel'],
  [/share: $/, 'many'],
  [/share does not fit[\s\S]*share: $/, '40'],
];
const TOLD = '{"who":{"action":"accept","content":{"payer":"Annabel","share":40}}} true';

test('the form of a server is filled in by holdfast answer at a terminal, field by field', async () => {
  const run = await world.start({
    runId: 'typed',
    agent: 'served',
    replies: [call('mcp__crm__ask_first', {}), say('Done.')],
  });
  await approve(run);
  const { askId } = await openAsk(run);
  const later = await typed(['answer', askId, '--as', 'mia'], [/\[f\]ill in/, 'l']);
  expect(later.code).not.toBe(0);
  expect(later.said).toContain('The question was not answered, and stays open.');
  const { code, said } = await typed(['answer', askId, '--as', 'mia'], ...FORM);
  expect([code, said]).toEqual([0, expect.stringContaining('answered')]);
  const { events } = await world.ended(run);
  expect(ofType(events, 'tool_finished')).toMatchObject([{ content: { text: TOLD } }]);
});

test('the form of a server is filled in within holdfast chat', async () => {
  world.script(ANY_RUN, [call('mcp__crm__ask_first', {}), say('It is done.')]);
  const { code, said } = await typed(
    ['chat', 'served', '--by', 'mia'],
    [/you> /, 'Go on.'],
    [/\[y\]es/, 'y'],
    ...FORM,
    [/It is done\.[\s\S]*you> /, END],
  );
  expect([code, said]).toEqual([0, expect.stringContaining('Who pays?')]);
  const [newest] = await world.client.listRuns({ limit: 1 });
  const { events } = await world.ended(world.client.handle(newest!.runId));
  expect(ofType(events, 'tool_finished')).toMatchObject([{ content: { text: TOLD } }]);
});
