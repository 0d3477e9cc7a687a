/**
 * The `holdfast` command over client certificates and an API key at once, given by the environment: every command that
 * talks to the server, and those that stay (workers, `dev`, the desk, `chat`) as processes of their own.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runCli } from '../../cli/program.js';
import { withoutName } from '../../worker/reach.js';
import { readEnvironment } from '../../worker/config.js';
import { compiledPath } from '../compiled.js';
import {
  describeWithCertificates,
  makeAuthority,
  type Authority,
} from '../connection/certificates.js';
import { startSecureFront, type SecureFront } from '../connection/secure-front.js';
import { call, ofType, openAsk, pay, say, startWorld, until, type World } from './support/world.js';

const API_KEY = 'api-key-that-nobody-may-see';
const MODEL_KEY = 'model-key-that-nobody-may-see';
const SECRETS = [API_KEY, MODEL_KEY];
const ROOT = resolve(__dirname, '..', '..');
const JAIL = 'jail';
const DECIDER = ['--as', 'maria', '--role', 'manager'];

describeWithCertificates('over client certificates and an API key', () => {
  let world: World;
  let authority: Authority;
  let front: SecureFront;
  let folder: string;
  let variables: Readonly<Record<string, string>>;

  beforeAll(async () => {
    world = await startWorld({ ownServer: true, worker: false });
    await world.client.ensureNamespaceReady();
    authority = makeAuthority();
    folder = mkdtempSync(join(tmpdir(), 'holdfast-commands-'));
    const client = authority.issue({ name: 'everybody' });
    front = await startSecureFront({
      behind: world.server.address,
      server: authority.issue({ name: 'server', hosts: 'DNS:localhost' }),
      clientCa: authority.ca,
      apiKeys: [API_KEY],
    });
    variables = {
      HOLDFAST_ADDRESS: front.address,
      HOLDFAST_TLS_CA: authority.caFile,
      HOLDFAST_TLS_CERT: client.certFile,
      HOLDFAST_TLS_KEY: client.keyFile,
      HOLDFAST_API_KEY: API_KEY,
      ANTHROPIC_API_KEY: MODEL_KEY,
      ANTHROPIC_BASE_URL: world.model.baseUrl,
    };
    writeFileSync(join(folder, 'holdfast.config.js'), jailConfig());
  });
  afterEach(async () => {
    for (const one of running) await one.end();
  });
  afterAll(async () => {
    await world.stop();
    await front.stop();
    authority.remove();
    rmSync(folder, { recursive: true });
  });

  async function holdfast(words: readonly string[], store = world.storePlace) {
    let [out, err] = ['', ''];
    const home = join(folder, 'home');
    const code = await runCli([...words, '--store', store, '--home', home], {
      environment: { variables, folder: '/nowhere', colour: false, interactive: false },
      streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
    });
    expect({ words, said: secretsIn(`${out}${err}`) }).toEqual({ words, said: [] });
    return { code, out, err };
  }

  async function all(commands: readonly (readonly string[])[]): Promise<void> {
    for (const words of commands) {
      const { code, err } = await holdfast(words);
      expect({ words, code, err }).toMatchObject({ words, code: 0 });
    }
  }

  const running = new Set<Running>();

  /** The command as a process of its own, with nothing of this one's environment but where programs are. */
  function begin(words: readonly string[], store = world.storePlace): Running {
    const child = spawn(process.execPath, [compiledPath(join(ROOT, 'cli/main.ts')), ...words], {
      cwd: folder,
      env: { PATH: process.env['PATH'], ...variables, HOLDFAST_STORE: store },
    });
    const one = runningOf(child, words, () => running.delete(one));
    running.add(one);
    return one;
  }

  test('every command that talks to the server does', async () => {
    const reach = withoutName(readEnvironment(variables, folder).reach());
    const worker = await world.serve(reach);
    const asking = async (runId: string) => {
      const run = await world.start({ runId, replies: [pay('pay.asked'), say('Paid.')] });
      return { run, askId: (await openAsk(run)).askId };
    };
    const [approved, rejected, modified, replaced] = await Promise.all(
      ['approved', 'rejected', 'modified', 'replaced'].map(asking),
    );
    const question = await world.start({
      runId: 'asked',
      replies: [call('ask_person', { question: 'Which colour?' }), say('Blue.')],
    });
    const [cancelled, interrupted, closed] = await Promise.all(
      ['cancelled', 'interrupted', 'closed'].map(asking),
    );
    world.script('started', [say('Done.')]);
    const args = '{"order":"A-1","amountCents":5}';
    await all([
      ['start', 'desk', 'Serve.', '--run-id', 'started'],
      ['list'],
      ['sessions'],
      ['approvals'],
      ['grounds', approved!.askId],
      ['approve', approved!.askId, ...DECIDER],
      ['reject', rejected!.askId, '--reason', 'No.', ...DECIDER],
      ['modify', modified!.askId, '--args', args, ...DECIDER],
      ['replace', replaced!.askId, '--tool', 'pay.asked', '--args', args, ...DECIDER],
      ['answer', (await openAsk(question)).askId, 'blue', '--as', 'mia'],
      ['set', 'cancelled', '--model', 'scripted/model'],
      ['mode', 'cancelled', 'plan'],
      ['message', 'cancelled', 'Hurry.'],
      ['cancel', 'cancelled'],
      ['interrupt', 'interrupted'],
      ['close', 'closed'],
      ['watch', 'approved'],
      ['show', 'approved'],
      ['explain', 'approved'],
      ['transcript', 'approved'],
      ['replay', 'approved'],
      ['export', 'approved', '-o', join(folder, 'bundle.json')],
      ['doctor'],
    ]);
    for (const { run } of [cancelled!, interrupted!, closed!]) await world.ended(run);
    worker.shutdown();
    expect([...front.seen.names]).toEqual(['everybody']);
    expect([...front.seen.keys]).toEqual([API_KEY]);
  });

  test('a worker of runs and one of a queue share the work, and a conversation ends with its input', async () => {
    const runs = begin(['worker']);
    const jail = begin(['worker', '--only', 'activities', '--queue', JAIL]);
    await Promise.all([runs.says(/serves .* on task queue holdfast/), jail.says(/queue jail/)]);
    await runs.says(/run `holdfast worker --only activities --queue jail`/);
    world.script('split', [call('shell.run', { command: 'ls' }), say('Listed.')]);
    const { code } = await holdfast(['start', 'jailer', 'List.', '--run-id', 'split']);
    expect(code).toBe(0);
    const [finished] = ofType(await world.events('split'), 'tool_finished');
    expect(finished).toMatchObject({
      status: 'ok',
      content: { text: JSON.stringify({ pid: jail.pid }) },
    });
    world.script('any', [say('Hello there.')]);
    const chat = begin(['chat', 'jailer']);
    chat.type('Good morning.\n');
    await chat.says(/Hello there\./);
    expect(await chat.closed()).toBe(0);
    expect(await runs.end()).toBe(0);
    expect(await jail.end()).toBe(0);
  });

  test('`dev` serves the queues of tools as well, on a store that is new, and leaves nothing running', async () => {
    const store = join(folder, 'new', 'store.db');
    const dev = begin(['dev', '--no-console'], store);
    await dev.says(/serves jailer on task queue holdfast/);
    await dev.says(/serves activities of jailer on task queue jail/);
    world.script('developed', [call('shell.run', { command: 'ls' }), say('Listed.')]);
    const { code, out } = await holdfast(
      ['start', 'jailer', 'List.', '--run-id', 'developed'],
      store,
    );
    expect({ code, out, err: dev.said() }).toMatchObject({ code: 0 });
    expect(await dev.end()).toBe(0);
    expect(dev.said()).toContain('The worker has drained.');
  });

  test('the desk answers whoever has its token', async () => {
    const desk = begin(['console', '--port', '0']);
    const [, url, token] = await desk.says(/Approval desk +(http:\S+?)\/#token=(\S+)/);
    const reply = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(await reply.json()).toMatchObject({ via: 'local' });
    expect(await desk.end()).toBe(0);
  });
});

interface Running {
  readonly pid: number;
  said(): string;
  /** Waits until it has said so. */
  says(words: RegExp): Promise<RegExpExecArray>;
  type(text: string): void;
  /** Ends its input, and gives its exit code. */
  closed(): Promise<number | null>;
  /** Ends it in order, and gives its exit code. */
  end(): Promise<number | null>;
}

function runningOf(child: ChildProcess, words: readonly string[], gone: () => void): Running {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => void (said += text));
  }
  const exited = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  let isOver = false;
  void exited.then(() => {
    isOver = true;
    gone();
  });
  const checked = async (): Promise<number | null> => {
    const code = await exited;
    expect({ words, said: secretsIn(said) }).toEqual({ words, said: [] });
    return code;
  };
  return {
    pid: child.pid ?? 0,
    said: () => said,
    async says(wanted) {
      const found = await until(`${wanted.source} of ${words.join(' ')}`, () => {
        const match = wanted.exec(said);
        if (match === null && isOver) throw new Error(`It ended: ${said}`);
        return match ?? undefined;
      });
      // Everybody on the machine can read these.
      expect({ words, shown: secretsIn(commandLines()) }).toEqual({ words, shown: [] });
      return found;
    },
    type: (text) => void child.stdin?.write(text),
    async closed() {
      child.stdin?.end();
      return checked();
    },
    async end() {
      child.kill('SIGTERM');
      return checked();
    },
  };
}

function secretsIn(text: string): readonly string[] {
  return SECRETS.filter((secret) => text.includes(secret));
}

/** Of every process of this machine; where there is no /proc nobody can look. */
function commandLines(): string {
  let names: readonly string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return '';
  }
  return names.map(commandLineOf).join('\n');
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function jailConfig(): string {
  const authoring = JSON.stringify(compiledPath(join(ROOT, 'authoring/index.ts')));
  const zod = JSON.stringify(require.resolve('zod'));
  return `
    const { defineAgent, defineConfig, defineTool } = require(${authoring});
    const { z } = require(${zod});
    module.exports = defineConfig({
      agents: [defineAgent({
        name: 'jailer',
        model: 'scripted/model',
        instructions: 'Serve.',
        policy: { version: '1', rules: [{ tool: 'shell.run', decision: 'allow' }] },
        tools: [defineTool({
          name: 'shell.run',
          version: '1',
          effect: 'execute',
          idempotency: 'none',
          queue: ${JSON.stringify(JAIL)},
          input: z.object({ command: z.string() }),
          run: async () => ({ pid: process.pid }),
        })],
      })],
    });`;
}
