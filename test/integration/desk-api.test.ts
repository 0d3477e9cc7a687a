/**
 * The API of the desk as its own document describes it: fuzzed on every route with two tenants, bad types and
 * huge bodies; and its event streams.
 */
import fc from 'fast-check';
import { newKey, startDesk, type Name, type Reply, type TestDesk } from './support/desk.js';
import { ofType, openAsk, pay, read, say, startWorld, until, type World } from './support/world.js';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: object;
}
interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { schema: object } } };
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let world: World;
let desk: TestDesk;
let document: Document;
const ASK = { mine: '', theirs: '' };

beforeAll(async () => {
  world = await startWorld();
  // The last one is of another agent of the same configuration.
  const known = ['pay.asked', 'facts.read', 'somebody.elses'].map((name) => ({
    name,
    version: '1',
    description: '',
    effect: 'read' as const,
    inputSchema: {},
  }));
  desk = await startDesk(world, { tools: known });
  document = (await desk.get('/openapi.json')).body as unknown as Document;
  const begin = async (runId: string, tenant: string): Promise<string> => {
    const replies = [pay('pay.asked'), say('Finished.')];
    const run = await world.start({ runId, replies, tenant });
    const { askId } = await openAsk(run);
    await until('the question in the store', () => world.store.getAsk(tenant, askId));
    return askId;
  };
  ASK.mine = await begin('fuzz-mine', 'default');
  ASK.theirs = await begin('fuzz-theirs-secret', 'other');
});
afterAll(async () => {
  await desk?.stop();
  await world.stop();
});

const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121);
const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 60);

/** Stands for a number that JSON can write and no number can hold. */
const HUGE = 'a huge number';
const json = (value: unknown): string =>
  (JSON.stringify(value) ?? '').replaceAll(`"${HUGE}"`, '1e999');

const hostileText = fc.oneof(
  fc.constantFrom(
    '',
    '..',
    '%00',
    "' or 1=1 --",
    '<script>',
    '__proto__',
    'fuzz-mine',
    'fuzz-theirs-secret',
    'fuzz-theirs-secret:0',
    'fuzz-mine:0',
    '*',
    '\u202e\u0000',
    '9'.repeat(400),
    'x'.repeat(2_000),
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
);
const hostileValue = fc.oneof(
  hostileText,
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom(null, -1, 1e308, 2 ** 53, '1e9', HUGE, [], {}, true, { toString: 1 }),
);

/** Mostly what the schema says, with fields taken away, added and replaced. */
function bodyFor(schema: object): fc.Arbitrary<string> {
  const shapes = ((schema as { oneOf?: object[] }).oneOf ?? [schema]) as {
    readonly properties?: Readonly<Record<string, { readonly const?: unknown }>>;
  }[];
  const fields = fc
    .constantFrom(...shapes)
    .chain(({ properties = {} }) =>
      fc.record(
        Object.fromEntries(
          Object.entries(properties).map(([name, { const: only }]) => [
            name,
            only === undefined
              ? fc.oneof(hostileValue, fc.constant('f'.repeat(64)))
              : fc.oneof({ arbitrary: fc.constant(only), weight: 4 }, hostileValue),
          ]),
        ),
        { requiredKeys: [] },
      ),
    );
  return fc.oneof(
    { arbitrary: fields.map(json), weight: 6 },
    { arbitrary: hostileValue.map(json), weight: 2 },
    fc.constantFrom(
      '',
      '{',
      `{"a":"${'x'.repeat(200_000)}"}`,
      '['.repeat(60_000),
      `${'[1,'.repeat(5_000)}1${']'.repeat(5_000)}`,
      '{"__proto__":{"admin":true}}',
      '\ud800',
      'null',
    ),
  );
}

interface Shot {
  readonly path: string;
  readonly body?: string;
  readonly as: Name;
  readonly key?: string;
}

function shotAt(path: string, operation: Operation): fc.Arbitrary<Shot> {
  const { parameters, requestBody } = operation;
  const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
  const inQuery = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  const texts = (names: readonly string[], requiredKeys: string[]) =>
    fc.record(Object.fromEntries(names.map((name) => [name, hostileText])), { requiredKeys });
  return fc
    .record({
      path: texts(inPath, [...inPath]),
      query: texts([...inQuery, 'extra'], []),
      as: fc.constantFrom<Name>('mia', 'ann', 'clerk', 'nobody'),
      key: fc.option(fc.constantFrom('short', newKey(), 'k'.repeat(200)), { nil: undefined }),
      body:
        requestBody === undefined
          ? fc.constant(undefined)
          : bodyFor(requestBody.content['application/json'].schema),
    })
    .map(({ path: values, query, as, key, body }) => {
      const search = new URLSearchParams(query as Record<string, string>).toString();
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        encoded((values as Record<string, string>)[name] ?? ''),
      );
      return {
        path: search === '' ? filled : `${filled}?${search}`,
        as,
        ...(key !== undefined && { key }),
        ...(body !== undefined && { body }),
      };
    });
}

function encoded(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '?'));
}

async function fire(method: string, { path, body, as, key }: Shot): Promise<Reply> {
  const keyed = key !== undefined && { key };
  if (method === 'post') return desk.post(path, body ?? '', { as, ...keyed });
  // A stream of a run that waits does not end by itself.
  const isMine = path.startsWith('/v1/runs/fuzz-mine/');
  return isMine ? desk.get(path.replace(/\/(stream|tokens)/, '/events'), as) : desk.get(path, as);
}

test('every route is in the document, and the document has no other', () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect(operations.sort()).toMatchInlineSnapshot(`
   [
     "get /v1/approvals",
     "get /v1/approvals/{askId}",
     "get /v1/audit",
     "get /v1/audit/head",
     "get /v1/connectors",
     "get /v1/effects",
     "get /v1/failures",
     "get /v1/freezes",
     "get /v1/goals",
     "get /v1/goals/{goalId}",
     "get /v1/goals/{goalId}/brief",
     "get /v1/goals/{goalId}/events",
     "get /v1/goals/{goalId}/evidence",
     "get /v1/goals/{goalId}/stream",
     "get /v1/inbox",
     "get /v1/inbox/{askId}",
     "get /v1/inbox/{askId}/grounds",
     "get /v1/me",
     "get /v1/questions",
     "get /v1/questions/{askId}",
     "get /v1/runs",
     "get /v1/runs/{runId}",
     "get /v1/runs/{runId}/diff/{other}",
     "get /v1/runs/{runId}/events",
     "get /v1/runs/{runId}/state",
     "get /v1/runs/{runId}/steps",
     "get /v1/runs/{runId}/steps/{step}",
     "get /v1/runs/{runId}/stream",
     "get /v1/runs/{runId}/texts/{hash}",
     "get /v1/runs/{runId}/tokens",
     "get /v1/runs/{runId}/transcript",
     "get /v1/runs/{runId}/tree",
     "get /v1/runs/{runId}/waits",
     "get /v1/starts",
     "get /v1/store",
     "post /v1/approvals/{askId}/decisions",
     "post /v1/connector-logins",
     "post /v1/connectors/{connector}/approve",
     "post /v1/connectors/{connector}/login",
     "post /v1/connectors/{connector}/logout",
     "post /v1/freezes",
     "post /v1/freezes/{freezeId}/lift",
     "post /v1/goals",
     "post /v1/goals/{goalId}/budget",
     "post /v1/goals/{goalId}/cancel",
     "post /v1/goals/{goalId}/pace",
     "post /v1/goals/{goalId}/pause",
     "post /v1/goals/{goalId}/plan",
     "post /v1/goals/{goalId}/resume",
     "post /v1/goals/{goalId}/review",
     "post /v1/goals/{goalId}/steer",
     "post /v1/goals/{goalId}/stop",
     "post /v1/goals/{goalId}/wake",
     "post /v1/questions/{askId}/answers",
     "post /v1/runs",
     "post /v1/runs/{runId}/forks",
     "post /v1/runs/{runId}/forks/dry",
     "post /v1/runs/{runId}/interrupt",
     "post /v1/runs/{runId}/messages",
   ]
  `);
});

test('whatever is sent, nothing breaks and nothing of another tenant comes back', async () => {
  const counts: Record<string, number> = {};
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      // Its effect is wanted here; everything else must have none.
      if (operation.operationId === 'interrupt') continue;
      await fc.assert(
        fc.asyncProperty(shotAt(path, operation), async (shot) => {
          const reply = await fire(method, shot);
          counts[reply.status] = (counts[reply.status] ?? 0) + 1;
          expect(reply.status).toBeLessThan(500);
          expect(Object.keys(operation.responses)).toContain(String(reply.status));
          expect(reply.text).not.toContain('theirs-secret');
          expect(reply.text).not.toMatch(/node_modules|\bat .+:\d+:\d+|hf_service/);
          if (reply.status >= 400) {
            expect(reply.headers.get('content-type')).toBe('application/problem+json');
            expect(reply.body).toMatchObject({ status: reply.status, code: expect.any(String) });
          }
        }),
        { seed: SEED, numRuns: ROUNDS },
      );
    }
  }
  // Freezing is one of the routes: what was frozen would stop the other tests.
  for (const tenant of ['default', 'other']) {
    for (const { id } of await world.store.freezesInForce(tenant, Date.now())) {
      await world.store.liftFreeze(tenant, { id, at: Date.now(), by: 'test' });
    }
  }
  expect(counts[200]).toBeGreaterThan(0);
  expect(counts[404]).toBeGreaterThan(0);
  expect(desk.log).toEqual([]);
  for (const runId of ['fuzz-mine', 'fuzz-theirs-secret']) {
    expect(world.service.visits(runId, 'effect')).toEqual([]);
  }
}, 300_000);

test('a body that is larger than it says, or than it may be, is not read to its end', async () => {
  const send = (body: string) => desk.post('/v1/runs/fuzz-mine/messages', body, { headers: {} });
  expect(await send(JSON.stringify({ text: 'x'.repeat(70_000) }))).toMatchObject({
    status: 413,
    body: { detail: 'The request is too large: it may have at most 65,536 bytes.' },
  });
  const stream = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode('"'.repeat(8_192)));
    },
  });
  const endless = fetch(`${desk.url}/v1/runs/fuzz-mine/messages`, {
    method: 'POST',
    body: stream,
    duplex: 'half',
    headers: { authorization: 'Bearer hf_service_mia', 'content-type': 'application/json' },
  } as RequestInit);
  const status = await endless.then(
    (response) => response.status,
    () => 413,
  );
  expect(status).toBe(413);
});

test('other methods, other hosts of the API and unknown paths are not there', async () => {
  for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']) {
    const response = await fetch(`${desk.url}/v1/runs`, { method });
    expect(response.status).toBe(404);
  }
  expect((await desk.get('/v1/nothing')).status).toBe(404);
  const { headers } = await desk.get('/v1/me');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('cache-control')).toBe('no-store');
});

interface Entry {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
}

/** Entries of a stream until one fits, or it ends. */
async function entries(
  path: string,
  {
    last,
    until: enough,
  }: { readonly last?: number | string; readonly until?: (entry: Entry) => boolean },
): Promise<readonly Entry[]> {
  const response = await fetch(`${desk.url}${path}`, {
    headers: {
      authorization: 'Bearer hf_service_mia',
      ...(last !== undefined && { 'last-event-id': String(last) }),
    },
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const found: Entry[] = [];
  let rest = '';
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    rest += Buffer.from(part).toString('utf8');
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2));
      const entry: Entry = Object.fromEntries(fields as [string, string][]);
      if (entry.event !== undefined) found.push(entry);
      // Leaving the loop closes the connection, as a page does that is closed.
      if (enough?.(entry)) return found;
    }
  }
  return found;
}

test('a stream that broke off goes on after the last event that was seen, and misses nothing', async () => {
  const run = await world.start({
    runId: 'streamed',
    replies: [read(), read('bed'), pay('pay.asked'), say('Finished.')],
  });
  const ask = await openAsk(run);
  const path = '/v1/runs/streamed/stream';
  const first = await entries(path, { until: ({ id }) => id === '3' });
  const seen = first.map(({ id }) => Number(id));
  expect(seen).toEqual([0, 1, 2, 3]);
  const rest = entries(path, { last: 3 });
  await desk.post(
    `/v1/approvals/${encodeURIComponent(ask.askId)}/decisions`,
    { decision: 'approve', argsHash: ask.argsHash },
    { key: newKey() },
  );
  const { events } = await world.ended(run);
  const all = [...first, ...(await rest)];
  expect(all.at(-1)).toMatchObject({ event: 'end' });
  const told = all.filter(({ event }) => event === 'event');
  expect(told.map(({ id }) => Number(id))).toEqual(events.map(({ stamp }) => stamp.seq));
  expect(told.map(({ data }) => JSON.parse(data ?? '') as unknown)).toEqual(events);
  expect(ofType(events, 'approval_resolved')).toHaveLength(1);
});

test('a question comes with what it rests on, its votes, and nothing of another tenant', async () => {
  const run = await world.start({
    runId: 'grounded',
    replies: [read('lamp'), pay('pay.asked', 500), say('Finished.')],
  });
  const { askId } = await openAsk(run);
  await until('the question in the store', () => world.store.getAsk('default', askId));
  const path = `/v1/inbox/${encodeURIComponent(askId)}`;
  expect((await desk.get(path)).body).toMatchObject({ outcome: 'pending', votes: [] });
  expect((await desk.get(`${path}/grounds`)).body).toMatchObject({
    goal: { text: 'Serve the customer.' },
    rule: 'tool',
    proposal: { model: 'model' },
    corrections: [],
    sources: [{ kind: 'tool', tool: 'facts.read', status: 'ok' }],
    more: false,
    tool: { name: 'pay.asked' },
    otherTools: [{ name: 'facts.read' }],
  });
  for (const hidden of [path, `${path}/grounds`, '/v1/runs/grounded/state']) {
    expect((await desk.get(hidden, 'bob')).status).toBe(404);
  }
  const listed = await desk.get('/v1/inbox?search=grounded&kind=approval');
  expect(listed.body).toMatchObject({ total: 1, items: [{ askId }] });
  expect((await desk.get('/v1/inbox?search=grounded', 'bob')).body).toMatchObject({ total: 0 });
  const state = await desk.get('/v1/runs/grounded/state');
  expect(state.body).toMatchObject({
    taskId: 'grounded',
    goal: 'Serve the customer.',
    startedAt: expect.any(Number),
    status: 'awaiting_approval',
    transition: { reason: expect.any(String), at: expect.any(Number) },
    budget: { maxTurns: 20 },
  });
  await run.interrupt();
});

test('a question says which webhooks have been told, and how it goes with the others', async () => {
  const run = await world.start({ runId: 'told-of', replies: [pay('pay.asked', 500)] });
  const { askId } = await openAsk(run);
  await until('the question in the store', () => world.store.getAsk('default', askId));
  const fates = [
    { state: 'sent' },
    { state: 'waiting', fault: 'status 503', nextAt: 900 },
    { state: 'given_up', fault: 'status 410' },
  ] as const;
  for (const [index, fate] of fates.entries()) {
    const target = `hook-${index}`;
    await world.store.openNotices({ target, at: 1, limit: 1_000 });
    const due = await world.store.dueNotices({ target, at: 1, limit: 1_000 });
    const name = due.find((one) => one.askId === askId);
    const claimed = await world.store.claimNotice(name!, { by: 'a', at: 1, until: 2 });
    await world.store.settleNotice(claimed!, fate);
  }
  const { body } = await desk.get(`/v1/inbox/${encodeURIComponent(askId)}`);
  expect(body?.notices).toEqual([
    { webhook: 'hook-0', state: 'sent', tries: 1 },
    { webhook: 'hook-1', state: 'waiting', tries: 1, nextAt: 900, fault: 'status 503' },
    { webhook: 'hook-2', state: 'given_up', tries: 1, fault: 'status 410' },
  ]);
  await run.interrupt();
});

test('a large text is read in pieces, by whoever may see its run', async () => {
  const { $blob: hash } = await world.store.putBlob('default', `${'a'.repeat(5_000)}end`);
  const path = `/v1/runs/fuzz-mine/texts/${hash}`;
  expect((await desk.get(`${path}?from=4999&chars=3`)).body).toEqual({
    text: 'aen',
    from: 4_999,
    chars: 5_003,
  });
  expect((await desk.get(path, 'bob')).status).toBe(404);
  expect((await desk.get(`/v1/runs/fuzz-theirs-secret/texts/${hash}`, 'bob')).status).toBe(404);
});

test('tokens come as a stream of their own, which resumes at its cursor and ends with the run', async () => {
  await world.start({
    runId: 'spoken',
    replies: [{ ...say('One two three four five.'), chunks: 6 }],
    settings: { includePartialMessages: true },
  });
  // The desk knows a run from the store, where it is a moment after its start.
  await until('the run in the store', () => world.store.getRun('default', 'spoken'));
  const chunks = (await entries('/v1/runs/spoken/tokens', {})).filter(
    (one) => one.event === 'chunk',
  );
  const kinds = chunks.map(({ data }) => (JSON.parse(data ?? '{}') as { kind: string }).kind);
  expect(kinds[0]).toBe('attempt_started');
  expect(kinds.at(-1)).toBe('attempt_ended');
  const middle = chunks[2]?.id ?? '';
  const rest = await entries('/v1/runs/spoken/tokens', { last: middle });
  expect(rest.filter((one) => one.event === 'chunk').map(({ id }) => id)).toEqual(
    chunks.slice(3).map(({ id }) => id),
  );
});
