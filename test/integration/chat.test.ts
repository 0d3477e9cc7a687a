/** `holdfast chat`, in a pipe and with a person who types. */
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Conversation } from '../../cli/chat/conversation.js';
import { lineSource } from '../../cli/chat/line-source.js';
import { createOutput } from '../../cli/terminal/output.js';
import { runCli } from '../../cli/program.js';
import { AGENT } from './support/agents.js';
import { PATIENT } from './support/patience.js';
import { ANY_RUN, call, pay, read, say, startWorld, until, type World } from './support/world.js';

const EVIL = '\u001B[2J\u001B]52;c;AAAA\u0007\u202Egpj.exe\u0000 end';
const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/u;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

interface Terminal {
  readonly input: PassThrough;
  said(): string;
  /** Types a line when this has been said, behind what was seen before. */
  when(words: string | RegExp, line: string): Promise<void>;
  readonly done: Promise<number>;
}

function chat(interactive: boolean, ...words: readonly string[]): Terminal {
  const input = new PassThrough();
  let said = '';
  let seen = 0;
  const hear = (text: string): void => {
    said += text;
  };
  const place = [
    '--address',
    world.place.address,
    '--namespace',
    world.place.namespace,
    '--store',
    world.storePlace,
  ];
  const done = runCli(['chat', AGENT, ...words, ...place], {
    environment: { variables: {}, folder: '/', colour: false, interactive, ...PATIENT },
    streams: { out: hear, err: hear },
    input,
  });
  return {
    input,
    said: () => said,
    async when(what, line) {
      const wanted = typeof what === 'string' ? new RegExp(what.replace(/[[\]?.]/g, '\\$&')) : what;
      await until(`${wanted.source} in ${JSON.stringify(said.slice(seen))}`, () => {
        const found = wanted.exec(said.slice(seen));
        if (found === null) return undefined;
        seen += found.index + found[0].length;
        return true;
      });
      input.write(`${line}\n`);
    },
    done,
  };
}

async function piped(lines: readonly string[], ...words: readonly string[]) {
  const terminal = chat(false, ...words);
  terminal.input.end(lines.map((line) => `${line}\n`).join(''));
  const code = await terminal.done;
  return { code, said: terminal.said() };
}

const sessionIn = (said: string): string => /--resume (\S+)/.exec(said)?.[1] ?? '';
const effects = (runId: string) => world.service.visits(runId, 'effect');

/** The newest run there is. */
async function newestRun(): Promise<string> {
  const [run] = await world.client.listRuns({ limit: 1 });
  return run!.runId;
}

describe('in a pipe', () => {
  test('each line is a message, and the session is kept to go on with', async () => {
    world.script(ANY_RUN, [say('Hello.'), read('cup'), say('It is blue.'), say('Welcome back.')]);
    const first = await piped(['Hello?', '', 'Which colour?']);
    expect(first).toMatchObject({ code: 0 });
    expect(first.said).toMatch(/│ Hello\.\n[\s\S]*→ facts\.read \{"item":"cup"\}\n✓ facts\.read/);
    expect(first.said).toMatch(/│ It is blue\.\n\$0\.\d+ · [\d,]+ tokens in/);
    // After each turn, and not again because the input has ended.
    expect(first.said.match(/tokens in/g)).toHaveLength(2);
    expect(first.said).not.toContain('you>');
    expect(first.said).not.toContain('The question is');
    const session = sessionIn(first.said);
    expect(await world.store.getSession('default', session)).toMatchObject({ agent: AGENT });
    const second = await piped(['It is me again.'], '--resume', session);
    expect(second).toMatchObject({ code: 0 });
    expect(second.said).toContain('│ It is blue.');
    expect(second.said).toContain('│ Welcome back.');
    expect(sessionIn(second.said)).toBe(session);
  });

  test('what anybody says moves no cursor, and passes for nothing of ours', async () => {
    const reason = `${EVIL}\n✓ pay.asked (1 s)`;
    world.script(ANY_RUN, [
      { ...call(`tool${EVIL}`, { note: EVIL }), text: reason },
      say(`${EVIL}\nError: none`),
    ]);
    const { said } = await piped([`Hello ${EVIL}`]);
    expect(said).not.toMatch(UNSAFE);
    const lines = said.split('\n');
    expect(lines.filter((line) => line.startsWith('✓'))).toEqual([]);
    expect(lines.filter((line) => line.startsWith('Error'))).toEqual([]);
  });

  test('an approval is not taken from it: the run waits, and the code says so', async () => {
    world.script(ANY_RUN, [pay('pay.asked'), say('Paid.')]);
    const { code, said } = await piped(['Pay.', 'y', 'yes']);
    expect(code).toBe(4);
    expect(said).toMatch(/holdfast approve/);
    const run = world.client.handle(await newestRun());
    expect(await run.state()).toMatchObject({ status: 'awaiting_approval' });
    expect(effects(run.runId)).toHaveLength(0);
    await run.cancel();
    await run.result();
  });

  test('a line that is too long is told, and the conversation goes on with the next', async () => {
    world.script(ANY_RUN, [say('Hello.'), say('Blue.')]);
    const { code, said } = await piped([
      'x'.repeat(220_000),
      'Hello?',
      'y'.repeat(9_000),
      '\u0001'.repeat(8_000),
      'Which colour?',
    ]);
    expect(code).toBe(0);
    expect(said).toMatch(/goal cannot be used: it is longer than 200000[\s\S]*│ Hello\./);
    expect(said).toMatch(/not sent: .*at most 8192 char[\s\S]*not sent: .*bytes[\s\S]*│ Blue\./);
    expect(await world.store.getSession('default', sessionIn(said))).toMatchObject({
      agent: AGENT,
    });
    const { status } = await world.client.handle(await newestRun()).state();
    expect(status).toBe('completed');
  });

  test('a run that fails says why, and the code says so', async () => {
    world.script(ANY_RUN, [read('a'), read('b'), say('late')]);
    const { code, said } = await piped(['Look.'], '--budget', 'maxTurns=1');
    expect(code).toBe(3);
    expect(said).toContain('max_turns');
    expect((await piped(['Hello?'], '--resume', 'no-such-session')).code).toBe(1);
    expect((await piped([])).code).toBe(0);
  });
});

describe('with a person who types', () => {
  test('a question is answered where it is asked, by a line typed after it', async () => {
    world.script(ANY_RUN, [pay('pay.asked', 700), say('Paid.'), say('Bye.')]);
    const terminal = chat(true, '--by', 'maria', '--role', 'manager');
    await terminal.when('you> ', 'Pay.');
    // Typed ahead: a message, whatever it says.
    terminal.input.write('y\n');
    await terminal.when(/"amountCents": 700[\s\S]*\[l\]ater: /, 'perhaps');
    const runId = await newestRun();
    await sleep(300);
    expect(effects(runId)).toHaveLength(0);
    await terminal.when('[l]ater: ', 'y');
    await until('the payment', () => effects(runId)[0]);
    await until('the last words', () => (/Bye\./.test(terminal.said()) ? true : undefined));
    terminal.input.end();
    expect(await terminal.done).toBe(0);
    expect(terminal.said()).toMatch(/approved by maria/);
    expect(effects(runId)).toHaveLength(1);
  });

  test('a no and a correction reach the run; a refused decision is asked again', async () => {
    world.script(ANY_RUN, [pay('pay.asked'), pay('pay.asked', 900), say('Done.')]);
    const terminal = chat(true, '--by', 'maria', '--role', 'manager');
    await terminal.when('you> ', 'Pay.');
    await terminal.when('[l]ater: ', 'n no receipt');
    await terminal.when('[l]ater: ', 'e {"order":"A1","amountCents":-1}');
    await terminal.when(/Error: [\s\S]*\[l\]ater: /, 'e {"order":"A1","amountCents":300}');
    await terminal.when(/Done\.[\s\S]*you> /, '');
    const runId = await newestRun();
    terminal.input.end();
    expect(await terminal.done).toBe(0);
    expect(effects(runId)).toHaveLength(1);
    expect(terminal.said()).toMatch(/✗ pay\.asked: .*no receipt/);
    // Only what started is told as a start.
    expect(terminal.said().match(/→ pay\.asked/g)).toHaveLength(1);
    expect(terminal.said()).toContain('modified by maria');
    // What was paid, not what had been proposed.
    expect(terminal.said()).toMatch(/→ pay\.asked \{[^}]*"amountCents":300[^}]*\}\n✓ pay\.asked/);
  });

  test('the end of the input leaves a question open for others', async () => {
    world.script(ANY_RUN, [pay('pay.asked'), say('Paid.')]);
    const terminal = chat(true, '--by', 'maria', '--role', 'manager');
    await terminal.when('you> ', 'Pay.');
    await until('the question', () => (/\[l\]ater: /.test(terminal.said()) ? true : undefined));
    terminal.input.end();
    expect(await terminal.done).toBe(4);
    const runId = await newestRun();
    expect(await world.client.handle(runId).state()).toMatchObject({ status: 'awaiting_approval' });
    expect(await piped(['y'], '--resume', runId)).toMatchObject({ code: 4 });
    const back = chat(true, '--by', 'maria', '--role', 'manager', '--resume', runId);
    await back.when('[l]ater: ', 'y');
    await back.when(/Paid\.[\s\S]*you> /, '');
    back.input.end();
    expect(await back.done).toBe(0);
    expect(effects(runId)).toHaveLength(1);
  });
});

describe('Ctrl-C', () => {
  function talk(runId: string) {
    const input = new PassThrough();
    let said = '';
    const hear = (text: string): void => void (said += text);
    const output = createOutput({ out: hear, err: hear }, { json: false, colour: false });
    const lines = lineSource({ input, onInterrupt: () => undefined });
    const settings = { interruptMode: 'pause' } as const;
    const start = { agent: AGENT, settings, persistSession: true, runId };
    const conversation = new Conversation({
      client: world.client,
      output,
      lines,
      interactive: true,
      start,
    });
    const done = conversation.run().finally(() => lines.close());
    return { input, conversation, done, said: () => said };
  }

  test('interrupts what is under way, and the conversation goes on', async () => {
    world.script('pressed', [read('cup'), say('As you wish.')]);
    const reached = world.service.hold('pressed', 'read');
    const { input, conversation, done, said } = talk('pressed');
    input.write('Look.\n');
    await reached;
    await until('the tool', () => (/→ facts\.read/.test(said()) ? true : undefined));
    conversation.interrupt();
    await until('the end of it', () => (/Interrupted\./.test(said()) ? true : undefined));
    expect(said()).not.toContain('As you wish');
    input.write('Never mind.\n');
    await until('the answer', () => (/As you wish/.test(said()) ? true : undefined));
    expect(said()).toMatch(/✗ facts\.read: .*[Ii]nterrupted/);
    input.end();
    expect(await done).toBe(0);
  });

  test('is not needed to leave when something breaks: the run is closed, and its session kept', async () => {
    world.script('broken', [say('Hello.'), say('never')]);
    const { input, conversation, done, said } = talk('broken');
    conversation['screen'].show = (message) => {
      const isStatus = message.type === 'system' && message.subtype === 'status';
      if (isStatus && message.status === 'awaiting_user') throw new Error('no screen');
    };
    input.write('Hello?\n');
    await expect(done).rejects.toThrow('no screen');
    expect(await world.client.handle('broken').result()).toMatchObject({ detail: 'closed' });
    expect(await world.store.getSession('default', sessionIn(said()))).toMatchObject({
      agent: AGENT,
    });
  });

  test('is not needed, and a call under way is not stopped either, when something breaks in it', async () => {
    world.script('unbroken', [read('cup'), say('Blue.')]);
    const isReading = world.service.hold('unbroken', 'read');
    const { input, conversation, done, said } = talk('unbroken');
    conversation['screen'].show = (message) => {
      if (message.type === 'tool_progress') throw new Error('no screen');
    };
    input.write('Hello?\n');
    await isReading;
    await expect(done).rejects.toThrow('no screen');
    expect(said()).toContain('still open: holdfast show unbroken');
    world.service.releaseAll();
    const run = world.client.handle('unbroken');
    await until(
      'an answer',
      async () => (await run.state()).status === 'awaiting_user' || undefined,
    );
    await run.close();
    expect(await run.result()).toMatchObject({ counters: { toolCalls: 1, modelCalls: 2 } });
  });

  test('twice leaves: the run is closed, and its session kept', async () => {
    world.script('left', [say('Hello.'), say('never')]);
    const { input, conversation, done, said } = talk('left');
    input.write('Hello?\n');
    await until('the cost', () => (/tokens in/.test(said()) ? true : undefined));
    conversation.interrupt();
    conversation.interrupt();
    expect(await done).toBe(0);
    const session = sessionIn(said());
    expect(await world.store.getSession('default', session)).toMatchObject({ agent: AGENT });
    expect(await world.client.handle(await newestRun()).result()).toMatchObject({
      status: expect.stringMatching(/completed|cancelled/),
    });
  });
});
