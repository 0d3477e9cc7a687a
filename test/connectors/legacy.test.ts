/** The reference server of the legacy protocol, as a program and over HTTP. */
import { defineAgent, defineConfig } from '../../authoring/index.js';
import type { ConnectorDefinition } from '../../authoring/connectors.js';
import { createConnectors, isInputRequired, pinnedTool } from '../../connectors/index.js';
import { EVERYTHING, freePort, startEverything } from './everything.js';

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const ASKS = 'trigger-elicitation-request';

function everything(definition: ConnectorDefinition) {
  const config = defineConfig({
    agents: [defineAgent({ name: 'a', model: 's/m', instructions: 'Help.', mcp: ['all'] })],
    mcp: { all: definition },
  });
  const connectors = createConnectors(config);
  ends.push(() => connectors.close());
  return {
    list: () => connectors.list('all', AbortSignal.timeout(30_000)),
    async call(name: string, args: object, over: object = {}): Promise<unknown> {
      const { definitions } = await connectors.list('all', AbortSignal.timeout(30_000));
      const definition = definitions.find((one) => one.name === name);
      const tool = await connectors.tool(
        pinnedTool(config.connectors.get('all')!, definition!)!,
        'default',
      );
      return tool.run(args, {
        runId: 'r',
        tenant: 'default',
        callId: 'c',
        idempotencyKey: 'k',
        attempt: 1,
        traceId: 't',
        signal: AbortSignal.timeout(30_000),
        cost: () => undefined,
        sandbox: undefined as never,
        ...over,
      });
    },
  };
}

const byProgram = (effect: 'read' | 'write'): ConnectorDefinition => ({
  tools: { effects: { [ASKS]: effect } },
  command: process.execPath,
  args: [EVERYTHING, 'stdio'],
  connectTimeoutMs: 20_000,
});

test('a program tells its tools, answers, and asks a person', async () => {
  const { list, call } = everything(byProgram('read'));
  const { era, definitions } = await list();
  expect(era).toBe('legacy');
  const names = definitions.map(({ name }) => name);
  expect(names).toContain('echo');
  expect(names).not.toContain('trigger-sampling-request');
  expect(names).not.toContain('get-roots-list');
  expect(await call('echo', { message: 'hello' })).toContain('hello');
  const asked: unknown = await call(ASKS, {}).catch((e: unknown) => e);
  if (!isInputRequired(asked)) throw asked;
  const { exchange } = asked;
  expect(exchange).toMatchObject({ era: 'legacy', responses: {} });
  const [question] = exchange.requests;
  const responses = { [question!.key]: { action: 'decline' as const } };
  expect(
    JSON.stringify(
      await call(
        ASKS,
        {},
        {
          exchange: { ...exchange, responses },
        },
      ),
    ),
  ).toMatch(/declin/i);
});

test('a call that changes something is not made anew: what its program returns is the result', async () => {
  const { call } = everything(byProgram('write'));
  expect(JSON.stringify(await call(ASKS, {}))).toMatch(/cancel/i);
});

test.each(['streamableHttp', 'sse'] as const)(
  'a server over %s answers, and answers again after it was killed',
  async (kind) => {
    const port = await freePort();
    const first = await startEverything(kind, port);
    ends.push(first.kill);
    const { call } = everything(
      kind === 'sse'
        ? { url: `http://127.0.0.1:${port}/sse`, transport: 'sse', protocol: 'legacy' }
        : { url: `http://127.0.0.1:${port}/mcp` },
    );
    expect(await call('echo', { message: 'one' })).toContain('one');
    await first.kill();
    ends.push((await startEverything(kind, port)).kill);
    expect(await call('echo', { message: 'two' })).toContain('two');
  },
);
