import type { ExecuteToolInput, ExecuteToolOutput } from '../../core/state/effect.js';
import {
  attempt,
  callOf,
  effect,
  environmentOf,
  executeInput,
  failureFrom,
  RUN,
  sessionEvent,
  type Bed,
} from './setup.js';
import { bedWith, call, execute, FINANCIAL, SUBJECT, TARGET } from './tool-bed.js';

let bed: Bed;
afterEach(() => bed.end());

const rowOf = () => bed.store.getLedgerRow('default', call.key);

describe('execute_tool, before anything runs', () => {
  const run = jest.fn(() => 'ran');
  beforeEach(async () => {
    run.mockClear();
    bed = await bedWith(run, FINANCIAL);
  });
  afterEach(() => expect(run).not.toHaveBeenCalled());

  test.each<[string, Partial<ExecuteToolInput>]>([
    ['a grant for other arguments', { grant: { ...executeInput(call).grant, digest: 'x' } }],
    ['arguments changed after the grant', { call: { ...call, args: { a: 2 } } }],
    ['another tool under the digest', { call: { ...call, tool: 'other' } }],
    ['no approval where one is needed', { grant: { ...executeInput(call).grant, basis: 'tool' } }],
  ])('%s is GrantInvalid', async (_what, changes) => {
    const failure = await failureFrom(execute(bed, effect(), changes));
    expect(failure).toMatchObject({ type: 'GrantInvalid', nonRetryable: true });
    expect(await rowOf()).toBeUndefined();
  });

  test('events are stored even then', async () => {
    await failureFrom(
      execute(bed, effect(), { call: { ...call, digest: 'x' }, events: [sessionEvent()] }),
    );
    expect((await bed.store.readEvents(RUN, { sinceSeq: 0, limit: 9 })).events).toHaveLength(1);
  });

  test('a version this worker lacks is tool_unavailable', async () => {
    const gone = callOf('it', {}, { toolVersion: '9' });
    const output = await attempt(bed.activities().execute_tool, executeInput(gone));
    expect(output.outcome).toMatchObject({ kind: 'error', code: 'tool_unavailable' });
  });

  test('but not when another worker may have begun it', async () => {
    const gone = callOf('it', {}, { toolVersion: '9' });
    await bed.store.claim({
      ...TARGET,
      ...SUBJECT,
      argsDigest: gone.digest,
      claimedUntil: 1,
      sameKeyRetry: false,
    });
    const output = await attempt(bed.activities().execute_tool, executeInput(gone));
    expect(output.outcome.kind).toBe('ambiguous');
  });

  test('a burned attempt cannot start, whoever wakes up', async () => {
    await bed.store.burn({ ...TARGET, ...SUBJECT });
    expect((await execute(bed)).outcome).toMatchObject({ kind: 'ambiguous' });
  });

  test('a key that other arguments used is a key conflict', async () => {
    await bed.store.burn({ ...TARGET, ...SUBJECT, argsDigest: 'other' });
    expect((await execute(bed)).outcome.kind).toBe('key_conflict');
  });

  test('a call that was interrupted before it began did nothing', async () => {
    const environment = environmentOf(effect());
    environment.cancel();
    const output = (await environment.run(
      bed.activities().execute_tool,
      executeInput(call),
    )) as ExecuteToolOutput;
    expect(output.outcome).toMatchObject({ kind: 'error', code: 'interrupted' });
    expect(await rowOf()).toBeUndefined();
  });
});

describe('execute_tool and the sandbox of a tool', () => {
  const run = jest.fn(() => 'outside');
  const sandboxRun = jest.fn(() => 'inside');
  const { grant } = executeInput(call);
  const SANDBOXED = { grant: { ...grant, sandbox: true } } as const;
  beforeEach(() => jest.clearAllMocks());

  test.each([
    ['reads', {}],
    ['changes', FINANCIAL],
  ])('a tool that %s runs in it when the grant says so, and only there', async (_what, shape) => {
    bed = await bedWith(run, { ...shape, sandboxRun });
    const output = await execute(bed, effect(), SANDBOXED);
    expect(output.outcome).toMatchObject({ kind: 'ok', content: { text: 'inside' } });
    expect(run).not.toHaveBeenCalled();
  });

  test('without such a grant it runs as usual', async () => {
    bed = await bedWith(run, { ...FINANCIAL, sandboxRun });
    expect((await execute(bed)).outcome).toMatchObject({ content: { text: 'outside' } });
    expect(sandboxRun).not.toHaveBeenCalled();
  });

  test('a tool that must run in it runs nowhere else', async () => {
    bed = await bedWith(run, { ...FINANCIAL, sandbox: 'required', sandboxRun });
    expect(await failureFrom(execute(bed))).toMatchObject({ type: 'GrantInvalid' });
    expect(run).not.toHaveBeenCalled();
    expect(await rowOf()).toBeUndefined();
  });

  test('a tool that has none is denied, and nothing is claimed', async () => {
    bed = await bedWith(run, FINANCIAL);
    const { outcome } = await execute(bed, effect(), SANDBOXED);
    expect(outcome).toMatchObject({ kind: 'error', code: 'permission_denied' });
    expect(run).not.toHaveBeenCalled();
    expect(await rowOf()).toBeUndefined();
  });
});
