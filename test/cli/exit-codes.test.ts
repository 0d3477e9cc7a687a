/** The command without a server: its exit codes, and what it says. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { compiledPath } from '../compiled.js';

const ROOT = join(__dirname, '..', '..');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function holdfast(...argv: readonly string[]): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await runCli(argv, {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
    },
  });
  return { code, out, err };
}

const COMMANDS = [
  'dev',
  'server',
  'worker',
  'start',
  'list',
  'show',
  'watch',
  'approvals',
  'grounds',
  'whoami',
  'approve',
  'reject',
  'answer',
  'message',
  'set',
  'interrupt',
  'cancel',
  'close',
  'doctor',
  'export',
  'replay',
  'eval',
];

describe('holdfast --help', () => {
  it('names every command and the exit codes', async () => {
    const { code, out } = await holdfast('--help');
    expect(code).toBe(0);
    for (const command of COMMANDS) expect(out).toMatch(new RegExp(`\\n  ${command}[ |]`));
    expect(out).toContain('4    the run waits for a person');
  });

  it.each([
    [['help', 'shwo'], 'There is no command "shwo"', 'Did you mean show'],
    [['help', 'nothere'], 'There is no command "nothere"', 'holdfast --help'],
    [['help', 'nothere', '--json'], 'There is no command \\"nothere\\"', 'Usage'],
  ])('of a command that there is not is a wrong command line: %j', async (words, said, next) => {
    const { code, out, err } = await holdfast(...words);
    expect(code).toBe(2);
    expect(`${out}${err}`).toContain(said);
    expect(`${out}${err}`).toContain(next);
  });

  it.each(['show', 'runs', 'inbox', 'goal'])('%s is explained by name', async (name) => {
    expect(await holdfast('help', name)).toMatchObject({ code: 0, err: '' });
  });

  it('names the commands that there are, each by the name that calls it', async () => {
    const { out } = await holdfast('--help');
    const named = Array.from(out.matchAll(/^  ([a-z-]+)(?: |$)/gm), ([, name]) => name!);
    expect(named.length).toBeGreaterThan(COMMANDS.length);
    for (const name of named.filter((one) => one !== 'help')) {
      const told = await holdfast(name, '--help');
      expect({ name, ...told }).toEqual({
        name,
        code: 0,
        err: '',
        out: expect.stringMatching(new RegExp(`^Usage: holdfast ${name}[ |\\n]`)),
      });
    }
  });

  it('is what help explains of itself', async () => {
    const { out } = await holdfast('--help');
    for (const words of [['help', '--help'], ['help', '-h'], ['help']])
      expect(await holdfast(...words)).toEqual({ code: 0, err: '', out });
  });

  it.each(COMMANDS)('%s has examples', async (command) => {
    const { code, out } = await holdfast(command, '--help');
    expect(code).toBe(0);
    expect(out).toContain('Examples:');
    expect(out).toContain(`holdfast ${command}`);
    expect(out).toContain('--json');
  });
});

describe('a command line that is wrong', () => {
  it.each([
    ['an unknown command', ['strat']],
    ['no command', []],
    ['a missing argument', ['start']],
    ['an unknown option', ['list', '--nope']],
    ['no decider', ['approve', 'r:1']],
    ['no goal', ['start', 'refund']],
    ['a goal given twice', ['start', 'refund', 'x', '--file', 'task.json']],
    ['an unknown budget', ['start', 'refund', 'x', '--budget', 'maxTurn=3']],
    ['a number that is none', ['list', '--limit', 'many']],
    ['an unknown status', ['list', '--status', 'asleep']],
    ['an unknown stop reason', ['list', '--stop-reason', 'max_costs']],
    ['a condition that is not looked at', ['list', '--stuck', '--agent', 'refund']],
    ['a search that is not made', ['list', '--stuck', '--since', '7d']],
    ['a name that is empty', ['show', '']],
    ['options that exclude each other', ['start', 'refund', 'x', '--watch', '--detach']],
    ['a fork of nothing', ['start', 'refund', 'x', '--fork']],
    ['a fork of nothing at a message', ['start', 'refund', 'x', '--fork-at', 'r:m1']],
    ['two sessions to go on with', ['start', 'refund', 'x', '--resume', 's', '--continue']],
    ['unmatched rules where there are none', ['export', 'r', '--allow-unmatched']],
    ['rules that are not there', ['export', 'r', '--redact', 'none.json']],
    ['bundles that are not there', ['bundles', 'none']],
    ['cases that are not there', ['eval', 'none']],
  ])('exits with 2: %s', async (_, argv) => {
    const { code, out, err } = await holdfast(...argv);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).not.toBe('');
  });

  const create = ['schedule', 'create', 's', 'Tidy up.', '--agent', 'clerk'];

  it.each([
    ['--every', ['--every', '1.5s'], 'whole seconds'],
    ['--cron', ['--cron', 'bad', '--timezone', 'UTC'], 'this one has 1'],
    ['--cron', ['--cron', '0 9 1 * 1', '--timezone', 'UTC'], 'name one of the two'],
    ['--timezone', ['--cron', '0 9 * * *', '--timezone', 'Mars/X'], 'time zone'],
  ])('exits with 2 and names %s of a schedule: %j', async (option, argv, why) => {
    const { code, err } = await holdfast(...create, ...argv);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(why) });
    expect(err).toContain(`${option} cannot be used: `);
    expect(err).not.toMatch(/everyMs|pace|ticks/);
  });

  it('names the permission modes to whoever names another', async () => {
    const { code, err } = await holdfast('mode', 'r1', 'foo');
    expect(code).toBe(2);
    expect(err).toContain('There is no permission mode "foo".');
    expect(err).toContain('Known: default, acceptEdits, plan, dontAsk, bypassPermissions.');
  });

  it.each([
    ['no JSON', '{"rules": [', 'line 1'],
    ['an empty list', '{"rules": []}', 'rules:'],
    ['a pattern without its end', '{"rules": [{"name": "a", "regex": "("}]}', 'rule a:'],
  ])('exits with 2 for rules of a redaction with %s', async (_, rules, named) => {
    writeFileSync(join(folder, 'rules.json'), rules);
    const { code, err } = await holdfast('export', 'r', '--redact', 'rules.json');
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(named) });
  });

  it.each([
    [['worker', '--task-queue', '--json'], '--task-queue', '--json'],
    [['list', '--agent', '--status=running'], '--agent', '--status=running'],
    [['goal', 'list', '--status', '-h'], '--status', '-h'],
    [['approve', 'r:1', '--reason', '--as', 'mia'], '--reason', '--as'],
  ])('an option that stands where a value belongs is no value: %j', async (words, name, value) => {
    const { code, out, err } = await holdfast(...words);
    expect(code).toBe(2);
    expect(`${out}${err}`).toContain(`The value of ${name} is missing: ${value} looks like`);
    expect(`${out}${err}`).toContain(`is written ${name}=${value}.`);
  });

  it.each([
    ['with =', ['list', '--detail=--json']],
    ['of several words', ['list', '--detail', '-v is broken']],
    ['that is a number', ['list', '--goal', '-5']],
    ['behind --', ['approve', '--as', 'mia', '--', '--reason']],
  ])('a value %s may begin with a dash', async (_, words) => {
    const { code, err } = await holdfast(...words);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/no store|no Temporal/i) });
  });

  it.each([
    [['approvals', '--run='], '--run'],
    [['approvals', '--run', ' '], '--run'],
    [['start', 'refund', 'x', '--run-id='], '--run-id'],
    [['list', '--store', ''], '--store'],
  ])('an option is not empty: %j', async (words, name) => {
    const { code, err } = await holdfast(...words);
    expect({ code, err }).toEqual({
      code: 2,
      err: `Error: ${name} is empty.\nName a value, or leave it out.\n`,
    });
  });

  it.each([
    [['start', 'refund', 'x', '--wait', '--no-wait']],
    [['start', 'refund', 'x', '--no-wait', '--wait']],
    [['goal', 'start', 'goal.yaml', '--wait', '--no-wait']],
  ])('an option excludes its opposite: %j', async (words) => {
    const { code, err } = await holdfast(...words);
    expect({ code, err }).toEqual({
      code: 2,
      err: 'Error: --wait and --no-wait exclude each other.\nUse one of them.\n',
    });
  });

  it('suggests what may have been meant', async () => {
    expect((await holdfast('strat')).err).toContain('Did you mean start?');
    const budget = await holdfast('start', 'refund', 'x', '--budget', 'maxTurn=3');
    expect(budget.err).toContain('Did you mean maxTurns?');
    const setting = await holdfast('start', 'refund', 'x', '--setting', 'afterAnser=end');
    expect(setting.err).toContain('Did you mean afterAnswer?');
    const reason = await holdfast('list', '--stop-reason', 'max_costs', '--desk', 'http://[::1]:9');
    expect(reason.err).toContain('There is no stop reason "max_costs".');
    expect(reason.err).toMatch(/Did you mean max_cost.*Known: completed, .*timeout, /);
  });

  it('is one JSON object with --json', async () => {
    const { code, out, err } = await holdfast('start', '--json');
    expect(code).toBe(2);
    expect(err).toBe('');
    expect(JSON.parse(out)).toMatchObject({
      error: { code: 'Usage', message: expect.stringContaining('agent') },
    });
  });
});

describe('without a server', () => {
  it.each([
    ['start', 'refund', 'Refund A-1'],
    ['list'],
    ['watch', 'r1'],
    ['show', 'r1'],
    ['approve', 'r1:0', '--as', 'mia'],
    ['interrupt', 'r1'],
    ['worker'],
  ])('%s exits with 1 and says how to start one', async (...argv) => {
    const { code, out, err } = await holdfast(...argv);
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toContain('holdfast dev');
  });

  it.concurrent(
    'an address where nobody answers is named',
    async () => {
      const { code, err } = await holdfast('watch', 'r1', '--address', '127.0.0.1:1');
      expect(code).toBe(1);
      expect(err).toContain('127.0.0.1:1');
    },
    20_000,
  );

  it('an address that is none is refused', async () => {
    const { code, err } = await holdfast('list', '--address', 'nonsense');
    expect(code).toBe(1);
    expect(err).toContain('host:port');
  });

  it.concurrent('errors are JSON with --json', async () => {
    const { code, out, err } = await holdfast('list', '--json');
    expect(code).toBe(1);
    expect(err).toBe('');
    expect(JSON.parse(out)).toEqual({
      error: {
        code: 'ServerUnavailable',
        message: expect.any(String),
        hint: expect.stringContaining('holdfast dev'),
      },
    });
  });

  it.concurrent('doctor says what is broken and how to mend it', async () => {
    const { code, out } = await holdfast('doctor', '--json');
    const report = JSON.parse(out) as { ok: boolean; checks: { name: string; status: string }[] };
    expect(code).toBe(1);
    expect(report.ok).toBe(false);
    expect(report.checks).toContainEqual(expect.objectContaining({ name: 'node', status: 'ok' }));
    expect(report.checks).toContainEqual(
      expect.objectContaining({ name: 'server', status: 'broken', mend: expect.any(String) }),
    );
  });
});

describe('doctor, with a store that is broken and no server', () => {
  const look = async (...argv: readonly string[]) => {
    const store = join(folder, 'text.db');
    writeFileSync(store, 'this is no database. '.repeat(100));
    return holdfast('doctor', '--store', store, '--address', '127.0.0.1:1', ...argv);
  };

  it.concurrent(
    'tells each fault where it is, and what it could not look at',
    async () => {
      const { out } = await look('--json');
      const { checks } = JSON.parse(out) as { checks: { name: string; found: string }[] };
      const found = new Map(checks.map((check) => [check.name, check.found]));
      expect(found.get('store')).toContain('not a database');
      expect(found.get('server')).toContain('127.0.0.1:1');
      expect(found.get('desk key')).toBe('not checked, because the store is broken');
      expect(found.get('stuck runs')).toBe('not checked, because the server is broken');
    },
    20_000,
  );

  it.concurrent(
    'marks only what is broken as such',
    async () => {
      const { code, out } = await look();
      expect(code).toBe(1);
      expect(out).toMatch(/^BROKEN +store/m);
      expect(out).toMatch(/^- +desk key +not checked/m);
    },
    20_000,
  );
});

describe('a bad task', () => {
  it.each([
    ['a blank goal', ['start', 'refund', ' '], 'task.goal'],
    ['a file that is not there', ['start', 'refund', '--file', 'none.json'], 'does not exist'],
    ['a run id that is none', ['start', 'refund', 'x', '--run-id', 'a b'], 'run id'],
    ['a budget below zero', ['start', 'refund', 'x', '--budget', 'maxTurns=-1'], 'budget.maxTurns'],
  ])('is found before a server is looked for: %s', async (_, argv, named) => {
    const { code, err } = await holdfast(...argv);
    expect(code).toBe(1);
    expect(err).toContain(named);
  });

  it('in a file names the file and the line, or the field', async () => {
    writeFileSync(join(folder, 'broken.json'), '{\n  "goal": "x",\n  oops\n}');
    writeFileSync(join(folder, 'field.json'), '{"goal": "x", "constraints": "y"}');
    const broken = await holdfast('start', 'refund', '--file', 'broken.json');
    expect(broken.code).toBe(1);
    expect(broken.err).toMatch(/broken\.json.*line 3, column 3/);
    const field = await holdfast('start', 'refund', '--file', 'field.json');
    expect(field.code).toBe(1);
    expect(field.err).toContain('task.constraints');
  });
});

describe('the process', () => {
  function spawned(argv: readonly string[], input?: string) {
    return spawnSync(process.execPath, [compiledPath(join(ROOT, 'cli', 'main.ts')), ...argv], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, NO_COLOR: '1' },
      input,
    });
  }

  it('exits with the code of its command', () => {
    expect(spawned(['nope']).status).toBe(2);
    const { status, stderr } = spawned(['start', 'refund', '--file', '-'], '{"goal": ""}');
    expect(status).toBe(1);
    expect(stderr).toContain('task.goal');
  });

  async function leftAlone(argv: readonly string[], stream: 'stdout' | 'stderr', more = {}) {
    const child = spawn(process.execPath, [compiledPath(join(ROOT, 'cli', 'main.ts')), ...argv], {
      cwd: folder,
      env: { PATH: process.env.PATH, NO_COLOR: '1', ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child[stream].destroy();
    const [code] = (await once(child, 'exit')) as [number];
    return code;
  }

  it('ends with 141 where the reader left while the work goes on for long', async () => {
    const file = join(folder, 'slow.mjs');
    const words = [
      "process.stdout.write('x');",
      'await new Promise((end) => setTimeout(end, 60_000));',
    ];
    writeFileSync(file, words.join('\n'));
    expect(await leftAlone(['list'], 'stdout', { HOLDFAST_CONFIG: file })).toBe(141);
  }, 40_000);

  it('says how a command ended whose reader left, and a failure is no success then', async () => {
    expect(await leftAlone(['--help'], 'stdout')).toBe(0);
    expect(await leftAlone(['nope'], 'stderr')).toBe(2);
    mkdirSync(join(folder, 'cases'));
    for (const case_id of ['one', 'two', 'three']) {
      const fails = { case_id, expected: { stop_reason: 'max_cost' } };
      writeFileSync(join(folder, 'cases', `${case_id}.json`), JSON.stringify(fails));
    }
    // Lines may go out while cases are played, or all at the end.
    expect([1, 141]).toContain(await leftAlone(['eval', 'cases'], 'stdout'));
  });
});
