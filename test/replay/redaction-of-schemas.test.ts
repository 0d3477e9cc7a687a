/** A rule by name hides data; what a JSON Schema declares under that name is none, and stays. */
import type { Json } from '../../core/json/json.js';
import type { Bundle } from '../../replay/bundle.js';
import { at, isObject, type JsonObject } from '../../recording/history.js';
import { readBundle } from '../../replay/read-bundle.js';
import { redactBundle } from '../../replay/redaction/redact-bundle.js';
import { parseRules } from '../../replay/redaction/rules.js';
import { hiddenTexts } from '../../replay/redaction/select.js';
import { replayRun } from '../../replay/strict-replay.js';
import { keptBundles } from './recordings.js';
import {
  attributes,
  changed,
  documents,
  documentValues,
  payloads,
  scheduled,
  stored,
  withInput,
} from './setup.js';

const SECRET = 'Petra Quitzow';

async function found(bundle: Bundle, ...list: readonly object[]): Promise<readonly string[]> {
  const rules = parseRules({ rules: list }, 'rules.json');
  return [...(await hiddenTexts(await documents(bundle), rules)).hidden.keys()];
}
const key = (name: string) => ({ name, key: name });

function withNodes(bundle: Bundle, change: (node: JsonObject) => JsonObject): Bundle {
  const nodes = Object.entries(bundle.nodes).map(([hash, node]) => [hash, change(node)] as const);
  return { ...bundle, nodes: Object.fromEntries(nodes) };
}

/** The tools that the run offers, with another schema of each order's number. */
function withOrderSchema(bundle: Bundle, orderId: JsonObject): Bundle {
  return withNodes(bundle, (node) =>
    node.role === 'root'
      ? {
          ...node,
          tools: (node.tools as readonly JsonObject[]).map((tool) =>
            at(tool, 'inputSchema', 'properties', 'orderId') === undefined
              ? tool
              : { ...tool, inputSchema: { type: 'object', properties: { orderId } } },
          ),
        }
      : node,
  );
}

const toolsOf = (bundle: Bundle): readonly (Json | undefined)[] =>
  Object.values(bundle.nodes).flatMap((node) => (node.role === 'root' ? [node.tools] : []));

let bundle: Bundle;
beforeAll(async () => {
  bundle = await stored('long-text');
});

test('an argument is hidden by its name, although its schema bounds its length; the schema stays', async () => {
  const bounded = withOrderSchema(bundle, {
    type: 'string',
    maxLength: 1_000,
    pattern: '^O-[0-9]+$',
  });
  const redacted = await redactBundle(
    bounded,
    parseRules({ rules: [key('orderId')] }, 'rules.json'),
  );
  expect(JSON.stringify(await documentValues(bounded))).toContain('O-17');
  expect(JSON.stringify(await documentValues(redacted))).not.toContain('O-17');
  expect(toolsOf(redacted)).toEqual(toolsOf(bounded));
  expect(await replayRun(redacted)).toMatchObject({ equal: true });
});

test.each(['inputSchema', 'properties', 'required'])(
  'a rule for the name %s does not reach into the schemas of tools',
  async (name) => {
    const bounded = withOrderSchema(bundle, { type: 'string', maxLength: 1_000, pattern: '^O-' });
    expect(await found(bounded, key(name))).not.toContain('string');
    expect(await found(bounded, key(name))).not.toContain('^O-');
  },
);

test('a pattern and a pointer find texts in schemas as everywhere', async () => {
  const described = withOrderSchema(bundle, { description: `As ${SECRET} has it` });
  const pointer = '/tools/1/inputSchema/properties/orderId/description';
  expect(await found(described, { name: 'who', pointer })).toEqual([`As ${SECRET} has it`]);
  expect(await found(described, { name: 'who', regex: `As ${SECRET}` })).toEqual([`As ${SECRET}`]);
});

describe('the schema of an answer', () => {
  test('is none of the data', async () => {
    const recorded = await stored('invalid_output');
    expect(await found(recorded, key('required'))).toEqual([]);
    // What stands around it is data.
    expect((await found(recorded, key('task'))).toSorted()).toEqual([
      'Handle the case of order O-17.',
      'S128b',
    ]);
  });

  test('is none where its first task has opened the run', async () => {
    const recorded = await stored('invalid_output');
    const opened = { frozen: { outputSchema: { text: '{"required":["told"]}' } } };
    const openedBy = (activity_type: string) =>
      changed(recorded, (event) =>
        event.eventId === '5'
          ? {
              ...event,
              eventType: 'EVENT_TYPE_MARKER_RECORDED',
              markerRecordedEventAttributes: {
                markerName: 'core_local_activity',
                details: {
                  data: payloads({ seq: 1, activity_type }),
                  result: payloads(opened),
                },
              },
            }
          : event,
      );
    expect(await found(openedBy('open_run'), key('required'))).toEqual([]);
    expect(await found(openedBy('execute_tool'), key('required'))).toContain('told');
  });

  test('is known in the store and in later segments too', async () => {
    const recorded = await stored('invalid_output');
    const hash = 'a'.repeat(64);
    const outputSchema = { $blob: hash, bytes: 60, preview: '{' };
    const continued = {
      continued: { frozen: { outputSchema: { text: '{"required":["told"]}' } } },
    };
    const spilled = changed(
      changed(
        recorded,
        scheduled('call_model', (given) =>
          withInput(given, (input) => ({ ...input, outputSchema })),
        ),
      ),
      attributes('workflowExecutionStarted', (given) => ({
        ...given,
        continuedExecutionRunId: 'before',
        input: payloads(continued),
      })),
    );
    const blobs = { [hash]: '{"required":["verdict"]}' };
    const rule = key('required');
    expect(await found({ ...spilled, blobs }, rule)).toEqual([]);
    // A text that no schema refers to is data.
    expect(await found({ ...recorded, blobs }, rule)).toEqual(['verdict']);
  });
});

describe('data that looks like a schema is hidden', () => {
  const schema = { properties: { holder: SECRET }, holder: SECRET };
  const disguised = {
    role: 'root',
    tools: [{ inputSchema: schema }],
    inputSchema: schema,
    outputSchema: schema,
    frozen: { outputSchema: schema },
    start: { task: { outputSchema: schema } },
  };

  test.each(['inputSchema', 'outputSchema', 'tools', 'frozen', 'start'] as const)(
    'in arguments, under the name %s',
    async (name) => {
      const one = changed(
        bundle,
        scheduled('execute_tool', (given) =>
          withInput(given, (input) => ({ ...input, call: { args: { [name]: disguised[name] } } })),
        ),
      );
      expect(await found(one, key('holder'))).toEqual([SECRET]);
    },
  );

  test('in results, as JSON within a text', async () => {
    const text = JSON.stringify(disguised);
    const one = changed(
      bundle,
      attributes('activityTaskCompleted', (given) => ({
        ...given,
        result: payloads({ outcome: { content: { text } } }),
      })),
    );
    expect(await found(one, key('holder'))).toEqual([SECRET]);
  });

  test('in messages of the conversation', async () => {
    const one = withNodes(bundle, (node) =>
      node.role === 'root' ? node : { ...node, ...disguised, role: 'assistant' },
    );
    expect(await found(one, key('holder'))).toEqual([SECRET]);
  });

  test('in what anybody may send: signals, and a start that claims to be a later segment', async () => {
    const signals = changed(bundle, (event) =>
      event.eventId === '1'
        ? {
            eventId: '1',
            eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED',
            workflowExecutionSignaledEventAttributes: { input: payloads(disguised) },
          }
        : event,
    );
    expect(await found(signals, key('holder'))).toEqual([SECRET]);
    const starts = changed(
      bundle,
      attributes('workflowExecutionStarted', (given) => ({
        ...given,
        input: payloads({ continued: disguised }),
      })),
    );
    expect(await found(starts, key('holder'))).toEqual([SECRET]);
  });
});

test('what cannot be hidden is named by its place, and what to do instead', async () => {
  await expect(found(bundle, key('amount'))).rejects.toMatchObject({
    code: 'RedactionRefused',
    message: expect.stringMatching(
      /^Rule amount finds a number at event \d+, result\[0\]\.reply\.calls\[0\]\.args\.amount;/,
    ),
    hint: expect.stringContaining('a pointer or a regex'),
  });
  const long = withNodes(bundle, (node) => ({ ...node, ['x'.repeat(5_000)]: { small: 'ab' } }));
  await expect(found(long, key('small'))).rejects.toThrow(
    /^Rule small finds a text of 2 characters at node [0-9a-f]{64}, x+…x+\.small, which is too short/,
  );
});

test('every schema in the stored histories is known by its place', async () => {
  for (const file of keptBundles()) {
    for (const { value, schemas, path, source } of await documents(await readBundle(file))) {
      const unknown = namedSchemas(value).filter((schema) => !schemas.has(schema));
      expect({ file, source, path, unknown }).toEqual({ file, source, path, unknown: [] });
    }
  }
});

function namedSchemas(value: Json): readonly Json[] {
  if (typeof value !== 'object' || value === null) return [];
  const named = isObject(value) ? [value.inputSchema, value.outputSchema] : [];
  return [
    ...named.filter((one): one is JsonObject => isObject(one)),
    ...Object.values(value).flatMap((inner) => namedSchemas(inner as Json)),
  ];
}
