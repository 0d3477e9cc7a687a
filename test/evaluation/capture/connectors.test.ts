/** Recorded runs that used connectors, as cases: servers, their questions, and what they answered. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capture } from '../../../evaluation/capture/capture.js';
import { differencesOf } from '../../../evaluation/capture/check.js';
import type { FixtureDocument } from '../../../evaluation/format/document.js';
import { redactBundle } from '../../../replay/redaction/redact-bundle.js';
import { parseRules } from '../../../replay/redaction/rules.js';
import { hiddenTexts } from '../../../replay/redaction/select.js';
import { documents } from '../../replay/setup.js';
import { canonicalJson, digestOf } from '../../../core/json/json.js';
import type { Bundle } from '../../../replay/bundle.js';
import { compiledPath } from '../../compiled.js';
import { recordedRun } from './recorded-runs.js';

const elicited = recordedRun('connectors-elicited');
const TOOL = 'mcp__crm__ask_first';

function toolsOf({ tools = {} }: FixtureDocument) {
  if (tools === 'live') throw new Error('The tools are those of a configuration.');
  return tools;
}

test('a question of a server, an answer that did not fit and one that did are played as they were', async () => {
  const captured = capture(elicited);
  expect(captured.mcp).toMatchObject({ crm: { timeoutMs: 5_000 } });
  expect(toolsOf(captured)[TOOL]).toMatchObject({
    kind: 'mcp',
    recorded: [
      {
        input: {},
        results: [
          {
            input_required: {
              questions: { who: { message: 'Who pays?', schema: { required: ['name', 'share'] } } },
              state: 'sealed \u0000 "state" é',
            },
          },
          { ok: expect.stringContaining('"share":40') as string },
        ],
      },
    ],
  });
  expect(await differencesOf(captured, 'elicited')).toEqual([]);
});

test('a case whose server answers otherwise than it was recorded fails at that call', async () => {
  const captured = capture(elicited);
  const tools = toolsOf(captured);
  const [call] = tools[TOOL]!.recorded!;
  const results = call!.results.with(-1, { ok: 'changed by hand' });
  const recorded = [{ ...call!, results }];
  const changed = { ...captured, tools: { ...tools, [TOOL]: { ...tools[TOOL], recorded } } };
  const [first] = await differencesOf(changed, 'changed');
  expect(first?.path).toMatch(/^results\.toolu_0_0/);
});

test('what was never recorded is refused in words that say so', async () => {
  const captured = capture(elicited);
  const tools = toolsOf(captured);
  const recorded = [{ input: { other: true }, results: [{ ok: 'x' }] }];
  const changed = { ...captured, tools: { ...tools, [TOOL]: { ...tools[TOOL], recorded } } };
  const differences = await differencesOf(changed, 'unrecorded');
  expect(JSON.stringify(differences)).toContain('The record has no (further) answer');
});

test('a required connector that was down is down in the case', async () => {
  const captured = capture(recordedRun('connectors-needy'));
  expect(captured.mcp).toEqual({ needed: { required: true, is: 'down' } });
  expect(captured.expected).toMatchObject({ stop_reason: 'tool_unavailable', detail: 'needed' });
  expect(await differencesOf(captured, 'needy')).toEqual([]);
});

const GET = 'mcp__crm__get_contact';

/** How a call of the tool ends whose server answers so. */
async function ends(document: FixtureDocument, input: object, ok: object, file = 'called') {
  const tools = toolsOf(document);
  const recorded = [{ input: input as never, results: [{ ok }] }];
  const changed = {
    ...document,
    tools: { ...tools, [GET]: { ...tools[GET], recorded } },
    model: [{ calls: [{ id: 'call_1', tool: GET, input }] }, { text: 'Done.' }],
    during: [],
    expected: { results: { call_1: { code: 'frozen' } } },
  } as unknown as FixtureDocument;
  const [difference] = await differencesOf(changed, file);
  expect(difference?.path).toBe('results.call_1.code');
  return difference?.observed;
}

describe('what servers say of their tools', () => {
  const inputSchema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
  const outputSchema = {
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
  };
  const definition = {
    name: 'get_contact',
    description: 'Reads a contact.',
    inputSchema,
    outputSchema,
    annotations: { readOnlyHint: true },
  };
  const withDefinition: Bundle = {
    ...elicited,
    blobs: { ...elicited.blobs, [digestOf(definition)]: canonicalJson(definition) },
  };

  test('is in the case, and in one about an agent of a configuration: arguments that break a schema are refused as in production', async () => {
    for (const own of [undefined, { config: 'holdfast.config.ts' }]) {
      const document = capture(elicited, own && { own });
      expect(toolsOf(document)[GET]).toMatchObject({
        description: 'Reads a contact.',
        inputSchema,
      });
    }
    expect(await ends(capture(elicited), { id: 7 }, { name: 'Ann' })).toBe('invalid_arguments');
  });

  test('has the output schema where the record has it, and results are held against it', async () => {
    const document = capture(withDefinition);
    expect(toolsOf(document)[GET]).toMatchObject({ outputSchema });
    expect(document.captured).not.toHaveProperty('leftOut');
    expect(await differencesOf(document, 'whole')).toEqual([]);
    expect(toolsOf(capture(withDefinition, { own: { config: 'x.ts' } }))[GET]).toMatchObject({
      outputSchema,
    });
    const lie = [{ id: 'c9' }, { name: 7 }] as const;
    expect(await ends(document, ...lie)).toBe('malformed_result');
    expect(await ends(capture(elicited), ...lie)).not.toBe('malformed_result');
  });

  test('a file of an earlier release lacks it, and the case says so', async () => {
    const [left] = capture(elicited).captured?.leftOut ?? [];
    expect(left).toBe(
      `the output schema of ${GET}: the record does not have it, so the case does not hold results against it`,
    );
    const hidden = await redactBundle(
      withDefinition,
      parseRules({ rules: [{ name: 'words', regex: 'Reads a contact' }] }, 'rules.json'),
    );
    expect(JSON.stringify(hidden)).not.toContain('Reads a contact');
    expect(capture(hidden).captured?.leftOut).toEqual([
      expect.stringContaining(`the output schema of ${GET}: texts are hidden`),
    ]);
    expect(await differencesOf(capture(hidden), 'hidden')).toEqual([]);
  });
});

describe('a case about an agent of a configuration', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-own-servers-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** The agent as it is today, with the recorded servers behind its connectors. */
  function captured(connectors: object, policy?: object): FixtureDocument {
    const authoring = compiledPath(join(__dirname, '..', '..', '..', 'authoring', 'index.ts'));
    const config = join(folder, 'holdfast.config.cjs');
    const agent = {
      name: 'served',
      model: 'scripted/model',
      instructions: 'Serve the customer as we do today.',
      mcp: Object.keys(connectors),
      ...(policy !== undefined && { policy }),
    };
    writeFileSync(
      config,
      `const { defineAgent, defineConfig } = require(${JSON.stringify(authoring)});
       module.exports = defineConfig({
         agents: [defineAgent(${JSON.stringify(agent)})],
         unknownModels: { prices: 'zero' },
         mcp: ${JSON.stringify(connectors)},
       });`,
    );
    return capture(elicited, { own: { config } });
  }

  const crm = { url: 'https://crm.example.com/mcp' };
  const differing = async (document: FixtureDocument) =>
    (await differencesOf(document, join(folder, 'own.json'))).map(({ path }) => path);

  test('has the recorded servers, whose questions and answers are played as they were', async () => {
    const document = captured({ crm });
    expect(document).toMatchObject({ agent: 'served', mcp: { crm: {} } });
    expect(toolsOf(document)[TOOL]).not.toHaveProperty('effect');
    expect((await differing(document)).filter((path) => !/cost|usage/i.test(path))).toEqual([]);
  });

  test('fails where the configuration lets the agent have the tool no more, or its policy forbids it', async () => {
    expect(await differing(captured({ crm: { ...crm, tools: { deny: ['ask_*'] } } }))).toContain(
      'results.toolu_0_0.status',
    );
    const rules = [{ tool: TOOL, decision: 'deny' }];
    expect(await differing(captured({ crm }, { rules }))).toContain('results.toolu_0_0.status');
  });

  test('refuses arguments that break the schema which the server gave', async () => {
    const called = (input: object) =>
      ends(captured({ crm }), input, { name: 'Ann' }, join(folder, 'own.json'));
    expect(await called({ id: 7 })).toBe('invalid_arguments');
    // What fits comes to a person, because the connector is not trusted.
    expect(await called({ id: 'c9' })).toBe('approval_expired');
  });

  test('reaches no server that the record does not have, and none by its own address', async () => {
    const other = { command: 'no-such-program', required: true };
    const document = captured({ crm: { command: 'no-such-program' }, other });
    expect((await differing(document)).filter((path) => !/cost|usage/i.test(path))).toEqual([]);
  });
});

describe('hidden', () => {
  const rules = (...list: readonly object[]) => parseRules({ rules: list }, 'rules.json');

  test('the state and the question of a server are nowhere, and the run still is a case', async () => {
    const redacted = await redactBundle(
      elicited,
      rules({ name: 'state', key: 'state' }, { name: 'question', regex: 'Who pays' }),
    );
    const captured = capture(redacted);
    for (const text of [JSON.stringify(redacted), JSON.stringify(captured)]) {
      expect(text).not.toContain('Who pays');
      expect(text).not.toContain('sealed');
    }
    expect(await differencesOf(captured, 'hidden')).toEqual([]);
  });

  test('a rule by name does not reach into the form of a question', async () => {
    const shown = await documents(elicited);
    const found = async (key: string): Promise<readonly string[]> => [
      ...(await hiddenTexts(shown, rules({ name: key, key }))).hidden.keys(),
    ];
    expect(await found('properties')).toEqual([]);
    expect(await found('required')).toEqual([]);
    expect(await found('requestedSchema')).toEqual([]);
  });
});
