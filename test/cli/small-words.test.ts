/** What the command says where it once said the wrong thing: options, endings, files, decisions. */
import { blamingOptions } from '../../cli/blame.js';
import { withoutCircle } from '../../cli/commands/dev.js';
import { exportPlace } from '../../cli/commands/exported.js';
import type { Session } from '../../cli/session.js';
import { approvalCard, deliveryLines, resultBlock } from '../../cli/render/index.js';
import { createOutput } from '../../cli/terminal/output.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { RunResult } from '../../core/state/result.js';
import { endingWords } from '../../pure/ending-words.js';

function saidOf(error: unknown): string {
  let said = '';
  const streams = { out: () => undefined, err: (text: string) => void (said += text) };
  createOutput(streams, { json: false, colour: false }).failure(error);
  return said;
}

test('`dev` does not send to `dev` where a server is named', () => {
  const error = new HoldfastError('ServerUnavailable', 'No Temporal server answers at a:1.', {
    hint: 'Start one with `holdfast dev` or `holdfast server`, or set HOLDFAST_ADDRESS to yours.',
  });
  expect(withoutCircle(error)).toMatchObject({
    message: error.message,
    hint: expect.stringContaining('`unset HOLDFAST_ADDRESS`'),
  });
  const other = new HoldfastError('ServerUnavailable', 'It has no namespace x.', { hint: 'Do.' });
  expect(withoutCircle(other)).toBe(other);
});

describe('an option that was given is blamed, not the variable that it stands for', () => {
  const error = new HoldfastError(
    'InvalidConfig',
    'The environment variable HOLDFAST_ADDRESS cannot be used: it must be host:port.',
    { hint: 'Name yours with --address or HOLDFAST_ADDRESS; HOLDFAST_ADDRESS_X is another.' },
  );

  test('by its name in message and hint', () => {
    expect(blamingOptions(error, { address: 'foo' })).toMatchObject({
      code: 'InvalidConfig',
      message: 'The option --address cannot be used: it must be host:port.',
      hint: 'Name yours with --address; HOLDFAST_ADDRESS_X is another.',
    });
  });

  test('and without the option the variable stays', () => {
    expect(blamingOptions(error, { namespace: 'x' })).toBe(error);
  });

  test('and once, where no store is at the place that was given', async () => {
    const session = { wholeStore: () => Promise.resolve(undefined) } as unknown as Session;
    const missing = await exportPlace(session).catch((caught: unknown) => caught);
    expect(blamingOptions(missing, { store: '/data/x' })).toMatchObject({
      code: 'StoreUnavailable',
      hint: 'Name the store of the workers with --store.',
    });
  });
});

test('the hint of an error in JSON is a command as it is called here, with the place that was given', () => {
  let said = '';
  const streams = { out: (text: string) => void (said += text), err: () => undefined };
  const speech = {
    json: true,
    colour: false,
    invocation: 'npx holdfast',
    given: { '--home': '/h' },
  };
  const error = new HoldfastError('RunNotFound', 'No run r.', { hint: 'See `holdfast list`.' });
  createOutput(streams, speech).failure(error);
  expect(JSON.parse(said).error.hint).toBe('See `npx holdfast list --home /h`.');
});

describe('an error of the operating system is no bug of Holdfast', () => {
  const failed = (code: string, path?: string) =>
    Object.assign(new Error(`${code}: failed`), { code, syscall: 'open', ...(path && { path }) });

  test.each([
    ['ENOSPC', 'The disk has no room left for /data/x.'],
    ['EACCES', 'This user may not use /data/x.'],
    ['EROFS', 'The file system of /data/x can only be read.'],
    ['ENOTDIR', 'The file or folder /data/x cannot be used (ENOTDIR, open).'],
  ])('%s', (code, says) => {
    const said = saidOf(failed(code, '/data/x'));
    expect(said).toContain(says);
    expect(said).not.toContain('bug');
  });

  test('a program that cannot be started is no file, and an error without a code is not told as one', () => {
    const spawned = { code: 'ENOENT', syscall: 'spawn git', path: 'git' };
    const pathed = { path: '/data/x' };
    for (const facts of [spawned, pathed])
      expect(saidOf(Object.assign(new Error('failed'), facts))).toContain('bug of Holdfast');
  });

  test('a refused connection is no file, and what nobody foresaw stays a bug', () => {
    const refused = Object.assign(new Error('connect'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
    });
    expect(saidOf(refused)).toContain('bug of Holdfast');
    expect(saidOf(new TypeError('x is undefined'))).toContain('bug of Holdfast');
  });

  test('an error without a hint says where the remedies of its code are', () => {
    expect(saidOf(new HoldfastError('PortTaken', 'Port 1 is taken.'))).toContain(
      'docs/reference/errors.md in the package holdfast has causes and remedies of PortTaken',
    );
  });
});

describe('a headline says how a run ended', () => {
  const result = { runId: 'r', completed: false, usage: {}, counters: {} };

  test.each([
    [{ status: 'completed', stopReason: 'completed' }, 'completed'],
    [{ status: 'stopped', stopReason: 'max_cost' }, 'stopped: max_cost'],
    [{ status: 'failed', stopReason: 'failed', detail: 'AuthError' }, 'failed: AuthError'],
    [{ status: 'failed', stopReason: 'failed' }, 'failed'],
    [{ status: 'failed', stopReason: 'tool_failure' }, 'failed: tool_failure'],
  ] as const)('%j', (ending, says) => {
    expect(endingWords(ending)).toBe(says);
  });

  test('and the cause of a failure once', () => {
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const counted = { modelCalls: 1, toolCalls: 0, activeMs: 0, waitingMs: 0, costMicroUsd: 0 };
    const counters = { usage, ...counted };
    const failed = { ...result, status: 'failed', stopReason: 'failed', detail: 'AuthError' };
    const block = resultBlock({ ...failed, counters } as unknown as RunResult);
    expect(block.split('AuthError')).toHaveLength(2);
    expect(block).not.toContain('failed: failed');
  });
});

describe('a decision', () => {
  const pending = {
    delivered: 'update',
    verdict: { accepted: true, outcome: 'pending' },
  } as const;
  const decided = { askId: 'r:1', runId: 'r', verb: 'approved', delivery: pending };

  test('of one of two says how many have agreed', () => {
    const [line] = deliveryLines({ ...decided, agreed: { approved: 1, quorum: 2 } });
    expect(line).toContain('r:1: approved. 1 of 2 people have approved.');
    expect(deliveryLines(decided)[0]).toContain('More people have to decide');
  });

  test('on a frozen call says so, and who lifts it', () => {
    const frozen = {
      id: 'frz_1',
      scope: { kind: 'tenant' },
      by: 'mia',
      reason: 'fraud wave',
      at: 1,
    } as const;
    const lines = deliveryLines({ ...decided, frozen });
    expect(lines[1]).toContain('A freeze covers the call: frz_1 by mia (fraud wave).');
    expect(lines[1]).toContain('holdfast freeze --lift frz_1');
  });

  test('is shown on the card of a question that several decide', () => {
    const ask = {
      askId: 'r:1',
      kind: 'approval',
      argsHash: 'h',
      roles: ['lead'],
      quorum: 2,
      openedAt: 0,
      expiresAt: 1,
    } as unknown as AskView;
    const card = (approvedBy?: readonly string[]) =>
      approvalCard(ask, { runId: 'r', now: 0, ...(approvedBy && { approvedBy }) });
    expect(card(['lea'])).toContain('2 different people: lead (1 of 2 so far: lea)');
    expect(card([])).toContain('(0 of 2 so far)');
    expect(card()).toMatch(/2 different people: lead\n/);
  });
});
