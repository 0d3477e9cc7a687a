import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createScriptedProvider } from '../../providers/scripted/provider.js';
import { parseScriptFile } from '../../providers/scripted/script-file.js';
import { scriptOf } from '../../providers/scripted/script.js';
import { startScriptedModel } from '../../providers/scripted/server.js';
import { compiledPath } from '../compiled.js';
import { failureOf, requestOf, serving, stopAll } from './scripted-setup.js';

afterEach(stopAll);

const post = async (url: string, body: unknown): Promise<Response> =>
  fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });

const hello = (runId: string, assistantMessages = 0): Record<string, unknown> => ({
  model: 'm',
  max_tokens: 9,
  metadata: { user_id: runId },
  messages: [
    { role: 'user', content: 'Hi' },
    ...Array.from({ length: assistantMessages }, () => ({ role: 'assistant', content: 'x' })),
  ],
});

describe('the scripted model', () => {
  test('answers by the number of assistant messages, so a repeated request gets the same reply', async () => {
    const { model } = await serving([{ text: 'first' }, { text: 'second' }]);
    const ask = async (count: number): Promise<string> =>
      (await post(`${model.baseUrl}/v1/messages`, hello('r', count))).text();
    const [first, second] = [await ask(0), await ask(1)];
    expect(await ask(0)).toBe(first);
    expect(await ask(1)).toBe(second);
    expect(second).toContain('second');
    expect(model.requests().map(({ attempt }) => attempt)).toEqual([1, 1, 2, 2]);
  });

  test('answers without a stream as JSON', async () => {
    const calls = [{ tool: 'a.b', input: { x: 1 } }];
    const { model } = await serving([{ text: 'Hi', thinking: 'hm', calls, usage: { input: 5 } }]);
    const response = await post(`${model.baseUrl}/v1/messages`, hello('r'));
    expect(await response.json()).toMatchObject({
      role: 'assistant',
      stop_reason: 'tool_use',
      content: [{ type: 'thinking' }, { text: 'Hi' }, { name: 'a__b', input: { x: 1 } }],
      usage: { input_tokens: 5 },
    });
  });

  test('waits for what a script promises', async () => {
    const model = await startScriptedModel({ script: async () => ({ text: 'promised' }) });
    const answer = await (await post(`${model.baseUrl}/v1/messages`, hello('r'))).json();
    await model.stop();
    expect(answer).toMatchObject({ content: [{ text: 'promised' }] });
  });

  test('shows its script the parts of a message, also of a chat completion', async () => {
    const content = [{ type: 'text', text: 'Hi' }];
    const model = await startScriptedModel({
      script: ({ messages }) => ({ text: JSON.stringify(messages) }),
    });
    const body = { model: 'm', messages: [{ role: 'user', content }] };
    const answer = await (await post(`${model.baseUrl}/v1/chat/completions`, body)).json();
    await model.stop();
    const messages = JSON.stringify(body.messages);
    expect(answer).toMatchObject({ choices: [{ message: { content: messages } }] });
  });

  test('counts tokens', async () => {
    const { model } = await serving([]);
    const response = await post(`${model.baseUrl}/v1/messages/count_tokens`, hello('r'));
    expect(await response.json()).toEqual({ input_tokens: expect.any(Number) });
  });

  test.each([
    '',
    '{',
    '[]',
    'null',
    '{"messages": 3}',
    '{"messages": [null], "tools": [1], "system": [2]}',
  ])('survives the request %j', async (body) => {
    const { model } = await serving([]);
    expect((await post(`${model.baseUrl}/v1/messages`, body)).status).toBe(400);
  });

  test('answers 500 when the script itself fails', async () => {
    const model = await startScriptedModel({
      script: () => {
        throw new Error('oops');
      },
    });
    const response = await post(`${model.baseUrl}/v1/messages`, hello('r'));
    expect([response.status, await response.text()]).toEqual([
      500,
      expect.stringContaining('oops'),
    ]);
    await model.stop();
    await model.stop();
  });

  const progress = { signal: new AbortController().signal, onProgress: () => undefined };

  test('blames the script that fails, and no vendor', async () => {
    const provider = createScriptedProvider(() => {
      throw new Error('oops');
    });
    await expect(provider.complete(requestOf(), progress)).rejects.toMatchObject({
      code: 'ServerError',
      message: expect.stringContaining('the script failed: Error: oops') as unknown,
      hint: 'Mend the function that the configuration has as `scripted`: it has thrown.',
      details: { shouldRetry: expect.any(Boolean) as unknown },
    });
  });

  /** Without the fields that there are. */
  const SHORT =
    /^Mend the function that the configuration has as `scripted`: its reply.{10,60}[.?]$/;

  test.each([
    [{ txt: 'Hi' }, 'its reply has no field "txt". Did you mean text? The fields are text, calls,'],
    [{ toolCals: [] }, 'its reply has no field "toolCals". The fields are text, calls,'],
    [{ text: 5 }, 'its reply cannot use its text. Give a text.'],
    [{ calls: { tool: 'pay' } }, 'its reply cannot use its calls. Give a list.'],
    [{ calls: [{ name: 'pay' }] }, 'its reply, call 1, has no field "name". The fields are tool,'],
    [{ calls: [{ input: {} }] }, 'its reply, call 1, cannot use its tool. Give a text.'],
    [
      { calls: [{ tool: 'pay', input: () => 1 }] },
      'its reply, call 1, cannot use its input. Give JSON.',
    ],
    ['Hi', 'its reply is a string. Give an object; the fields are text,'],
    [undefined, 'its reply is nothing. Give an object;'],
  ])('refuses a reply that cannot be sent, once and by name: %j', async (reply, words) => {
    let asked = 0;
    const provider = createScriptedProvider(() => {
      asked += 1;
      return reply as never;
    });
    await expect(provider.complete(requestOf(), progress)).rejects.toMatchObject({
      code: 'InvalidRequest',
      message: expect.stringContaining(`the script failed: ${words}`) as unknown,
      hint: expect.stringMatching(SHORT) as unknown,
      details: { shouldRetry: false, receivedInput: false },
    });
    expect(asked).toBe(1);
  });

  test('refuses an input that no JSON can say', async () => {
    const provider = createScriptedProvider(() => ({
      calls: [{ tool: 'pay', input: { cents: 5n } as never }],
    }));
    await expect(provider.complete(requestOf(), progress)).rejects.toMatchObject({
      code: 'InvalidRequest',
      hint: expect.stringContaining(
        'its reply, call 1, cannot use its input. Give JSON.',
      ) as unknown,
    });
  });

  const long = 'a word '.repeat(100);
  const emoji = `x${'😀'.repeat(100)}`;
  const call = { tool: 'pay', input: { words: long } };

  test.each([
    ['a text', { text: long }, [{ type: 'text', text: long.slice(0, 40) }]],
    ['a text, between its characters', { text: emoji }, [{ text: emoji.slice(0, 39) }]],
    ['a call, which is not made', { text: 'Now.', calls: [call] }, [{ text: 'Now.' }]],
  ])('is cut where the request ends, as by a vendor: %s', async (_, reply, blocks) => {
    const provider = createScriptedProvider(() => reply);
    expect(await provider.complete(requestOf({ maxTokens: 10 }), progress)).toMatchObject({
      stop: 'max_tokens',
      blocks,
      usage: { output: 10 },
    });
    const whole = await provider.complete(requestOf({ maxTokens: 1_000 }), progress);
    expect(['end_turn', 'tool_use']).toContain(whole.stop);
  });

  test('keeps the last requests only', async () => {
    const script = scriptOf([{ text: 'x' }]);
    const model = await startScriptedModel({ script, log: { limit: 2, bodies: false } });
    for (let n = 0; n < 5; n += 1) await post(`${model.baseUrl}/v1/messages`, hello(`r${n}`));
    expect(model.requests().map(({ seq, runId, body }) => [seq, runId, body])).toEqual([
      [4, 'r3', undefined],
      [5, 'r4', undefined],
    ]);
    await model.stop();
  });
});

describe('a script file', () => {
  test('answers each run by its own list and all others by *', async () => {
    const script = parseScriptFile(
      JSON.stringify({ runs: { a: [{ text: 'A' }], '*': [[{ status: 429 }, { text: 'B' }]] } }),
    );
    const model = await startScriptedModel({ script });
    const ask = async (runId: string): Promise<string> =>
      (await post(`${model.baseUrl}/v1/messages`, hello(runId))).text();
    expect(await ask('a')).toContain('"A"');
    expect(await ask('constructor')).toContain('rate_limit_error');
    expect(await ask('constructor')).toContain('"B"');
    await model.stop();
  });

  test.each(['{', '{}', '{"runs": {"a": [{"txt": "typo"}]}}', '{"runs": {"a": [[]]}}'])(
    'that is wrong is refused: %s',
    async (text) => {
      const { code } = await failureOf(Promise.resolve().then(() => parseScriptFile(text)));
      expect(code).toBe('InvalidConfig');
    },
  );
});

describe('the scripted model as a process', () => {
  let folder = '';
  let child: ChildProcess | undefined;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'scripted-'))));
  afterEach(() => {
    child?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(): Promise<string> {
    const root = path.join(__dirname, '..', '..');
    const main = compiledPath(path.join(root, 'providers', 'scripted', 'main.ts'));
    writeFileSync(path.join(folder, 's.json'), JSON.stringify({ runs: { '*': [{ text: 'Hi' }] } }));
    const options = [
      '--script',
      path.join(folder, 's.json'),
      '--log',
      path.join(folder, 'log.jsonl'),
    ];
    child = spawn(process.execPath, [main, ...options], { cwd: root });
    const line = await new Promise<string>((resolve, reject) => {
      child?.stdout?.once('data', (data: Buffer) => resolve(data.toString()));
      child?.stderr?.once('data', (data: Buffer) => reject(new Error(data.toString())));
    });
    return (JSON.parse(line) as { baseUrl: string }).baseUrl;
  }

  test.each(['SIGTERM', 'the end of its input'])('answers, logs, and stops on %s', async (way) => {
    const baseUrl = await start();
    expect(await (await post(`${baseUrl}/v1/messages`, hello('r'))).text()).toContain('Hi');
    const exit = new Promise((resolve) => child?.once('exit', resolve));
    if (way === 'SIGTERM') child?.kill('SIGTERM');
    else child?.stdin?.end();
    expect(await exit).toBe(0);
    const lines = readFileSync(path.join(folder, 'log.jsonl'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { seq: 1, runId: 'r', answer: 'message', body: expect.stringContaining('Hi') },
    ]);
  });
});
