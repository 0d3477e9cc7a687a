/** `elicitation: 'defaults'`: questions of a trusted server that their own forms answer. */
import { defineAgent, defineConfig } from '../../authoring/index.js';
import { parseConnectors } from '../../authoring/connectors.js';
import { createConnectors, isInputRequired, pinnedTool } from '../../connectors/index.js';
import { ownAnswers, type AnsweredCall } from '../../connectors/own-answers.js';
import type { FormRequest, PersonRequest } from '../../connectors/exchange.js';
import type { Json } from '../../core/json/json.js';
import { startModernServer, type ServedTool } from './modern-server.js';

const CRM = { url: 'http://127.0.0.1:1/mcp', trust: 'trusted', elicitation: 'defaults' } as const;
const WITH_DEFAULTS = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'Ann' },
    age: { type: 'integer', minimum: 1, default: 30 },
    note: { type: 'string' },
  },
  required: ['name', 'age'],
};
const ANSWER = { action: 'accept', content: { name: 'Ann', age: 30 } };

function form(schema: object, message = 'Who?'): FormRequest {
  return { mode: 'form', message, schema: schema as Json };
}

function answersOf(over: Partial<AnsweredCall> = {}, definition: object = CRM) {
  const notes: string[] = [];
  const call: AnsweredCall = {
    changes: false,
    wantsProof: () => Promise.resolve(false),
    note: (text) => void notes.push(text),
    ...over,
  };
  const answers = ownAnswers(parseConnectors({ crm: definition }).get('crm')!, call);
  return { answers, notes };
}

test('a form is answered by its defaults, and its call tells so in a few words', async () => {
  const { answers, notes } = answersOf({ changes: true });
  expect(await answers(form(WITH_DEFAULTS, 'x'.repeat(2_000)))).toEqual(ANSWER);
  expect(notes).toEqual([
    expect.stringMatching(
      /^The defaults of its form answer the server: \{"name":"Ann","age":30\} to "x+…"$/,
    ),
  ]);
  expect(notes[0]!.length).toBeLessThanOrEqual(200);
});

const { name, age } = WITH_DEFAULTS.properties;
test.each<[string, PersonRequest, Partial<AnsweredCall>]>([
  [
    'lacks the default of a field that it requires',
    form({ ...WITH_DEFAULTS, required: ['name', 'age', 'note'] }),
    {},
  ],
  [
    'has a default of another type',
    form({ ...WITH_DEFAULTS, properties: { name, age: { ...age, default: 'thirty' } } }),
    {},
  ],
  [
    'has a default below its own bound',
    form({ ...WITH_DEFAULTS, properties: { name, age: { ...age, default: 0 } } }),
    {},
  ],
  [
    'has a wrong default in a field that nobody has to fill in',
    form({ ...WITH_DEFAULTS, properties: { name, age, note: { type: 'string', default: 7 } } }),
    {},
  ],
  ['has no default and requires nothing', form({ type: 'object', properties: {} }), {}],
  ['cannot be read', form({ type: 'object', properties: null }), {}],
  ['is an address', { mode: 'url', message: 'Log in.', url: 'https://a.example/' }, {}],
  [
    'comes before a change of a run that wants signed decisions',
    form(WITH_DEFAULTS),
    { changes: true, wantsProof: () => Promise.resolve(true) },
  ],
  [
    'comes before a change while nobody can say whether decisions are signed',
    form(WITH_DEFAULTS),
    { changes: true, wantsProof: () => Promise.reject(new Error('The store is away.')) },
  ],
])('a question that %s is for a person', async (_, request, over) => {
  const { answers, notes } = answersOf(over);
  expect(await answers(request)).toBeUndefined();
  expect(notes).toEqual([]);
});

test('people answer where the configuration says nothing, and from the sixth question of a call on', async () => {
  const { elicitation: _, ...bare } = CRM;
  expect(await answersOf({}, bare).answers(form(WITH_DEFAULTS))).toBeUndefined();
  const { answers, notes } = answersOf();
  const all = await Promise.all(Array.from({ length: 8 }, () => answers(form(WITH_DEFAULTS))));
  expect(all.filter((one) => one !== undefined)).toHaveLength(5);
  expect(notes).toHaveLength(5);
});

test('a server that is not trusted cannot answer its own questions', () => {
  const { trust: _, ...untrusted } = CRM;
  expect(() => parseConnectors({ crm: untrusted })).toThrow(
    /mcp\.crm\.elicitation is 'defaults', which needs a trusted server/,
  );
  expect(parseConnectors({ crm: { ...untrusted, elicitation: 'ask' } }).get('crm')).toMatchObject({
    elicitation: 'ask',
  });
});

describe('a modern server', () => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  const asks = (requests: { readonly [key: string]: object }, state: string) => ({
    resultType: 'input_required',
    requestState: state,
    inputRequests: Object.fromEntries(
      Object.entries(requests).map(([key, requestedSchema]) => [
        key,
        {
          method: 'elicitation/create',
          params: { mode: 'form', message: `The ${key}?`, requestedSchema },
        },
      ]),
    ),
  });

  async function calling(run: ServedTool['run']) {
    const server = await startModernServer([
      { name: 'it', annotations: { readOnlyHint: true }, run },
    ]);
    ends.push(() => server.stop());
    const config = defineConfig({
      agents: [defineAgent({ name: 'a', model: 's/m', instructions: 'Help.', mcp: ['crm'] })],
      mcp: { crm: { ...CRM, url: server.url } },
    });
    const connectors = createConnectors(config);
    ends.push(() => connectors.close());
    const { definitions } = await connectors.list('crm', AbortSignal.timeout(20_000));
    const pinned = pinnedTool(config.connectors.get('crm')!, definitions[0]!)!;
    const tool = await connectors.tool(pinned, 'default');
    const notes: string[] = [];
    const call = (over: object = {}): Promise<unknown> =>
      Promise.resolve(
        tool.run(
          {},
          {
            runId: 'r',
            tenant: 'default',
            callId: 'c',
            idempotencyKey: 'k',
            attempt: 1,
            traceId: 't',
            signal: AbortSignal.timeout(20_000),
            cost: () => undefined,
            sandbox: undefined as never,
            note: (text: unknown) => void notes.push(String(text)),
            ...over,
          },
        ),
      );
    return { server, call, notes };
  }

  test('gets the answers of its forms and its state within the call, which tells of them beside all that the server says', async () => {
    const { server, call, notes } = await calling(async (_args, { responses, state, progress }) => {
      for (let at = 1; at <= 20; at += 1) await progress(at, 'busy');
      if (state === undefined) return asks({ contact: WITH_DEFAULTS }, 's1');
      if (state === 's1') return asks({ again: WITH_DEFAULTS }, `s2 ${JSON.stringify(responses)}`);
      return `${state} ${JSON.stringify(responses)}`;
    });
    const answered = JSON.stringify(ANSWER);
    expect(await call()).toBe(`s2 {"contact":${answered}} {"again":${answered}}`);
    expect(server.calls).toEqual(['it', 'it', 'it']);
    const told = notes.filter((note) => note.startsWith('The defaults of its form'));
    expect(told).toEqual([
      expect.stringContaining('"The contact?"'),
      expect.stringContaining('"The again?"'),
    ]);
    expect(notes.length).toBeLessThanOrEqual(10);
  });

  test('that asks for more has a person asked for that alone', async () => {
    const open = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] };
    const { call } = await calling((_args, { responses }) =>
      responses === undefined
        ? asks({ contact: WITH_DEFAULTS, sure: open }, 's1')
        : JSON.stringify(responses),
    );
    const asked: unknown = await call().catch((error: unknown) => error);
    if (!isInputRequired(asked)) throw asked;
    expect(asked.exchange.responses).toEqual({ contact: ANSWER });
    const sure = { action: 'accept', content: { yes: true } };
    const exchange = { ...asked.exchange, responses: { ...asked.exchange.responses, sure } };
    expect(await call({ exchange })).toBe(JSON.stringify({ contact: ANSWER, sure }));
  });
});
