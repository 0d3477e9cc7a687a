/** Rows of the audit trail that wait while the store is away. */
import { owedRows } from '../../console/owed.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { AuditEntry } from '../../pure/audit.js';
import { until } from '../until.js';

const AWAY = {
  appendAudit: () => Promise.reject(new HoldfastError('StoreUnavailable', 'The store is away.')),
};
const ATTEMPTS = 3_000;

const entry = (kind: AuditEntry['kind']): AuditEntry =>
  ({ kind, at: 1, actor: 'ada', facts: {} }) as unknown as AuditEntry;

test('a write that a store leaves without an answer is not begun a second time', async () => {
  jest.useFakeTimers();
  try {
    const begun: AuditEntry[] = [];
    let answer = (): void => undefined;
    const silent = {
      appendAudit: (_: string, entries: readonly AuditEntry[]) => {
        begun.push(...entries);
        return new Promise<void>((resolve) => (answer = resolve));
      },
    };
    const said: string[] = [];
    const rows = owedRows(silent, (line) => void said.push(line));
    const written = rows.write('default', [entry('seen')]);
    await jest.advanceTimersByTimeAsync(60_000);
    await written;
    expect(begun).toHaveLength(1);
    const later = rows.write('default', [entry('interrupted')]);
    await jest.advanceTimersByTimeAsync(30_000);
    await later;
    answer();
    await jest.advanceTimersByTimeAsync(10_000);
    answer();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(begun.map(({ kind }) => kind)).toEqual(['seen', 'interrupted']);
    expect(said.at(-1)).toMatch(/^The store is back/);
    await rows.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('while the store is silent one deed waits for it, and the others are owed at once, in order, until it has answered', async () => {
  jest.useFakeTimers();
  try {
    const written: (string | undefined)[] = [];
    let answer = (): void => undefined;
    const store = {
      isSilent: true,
      async appendAudit(_: string, entries: readonly AuditEntry[]) {
        if (store.isSilent) await new Promise<void>((resolve) => (answer = resolve));
        written.push(...entries.map(({ by }) => by));
      },
    };
    const rows = owedRows(store, () => undefined);
    const deed = (by: string) => rows.write('default', [{ ...entry('interrupted'), by }]);
    const first = deed('ada');
    await jest.advanceTimersByTimeAsync(5_010);
    await first;
    for (const name of ['bob', 'cy', 'dan']) {
      const isDone = jest.fn();
      void deed(name).then(isDone);
      await jest.advanceTimersByTimeAsync(0);
      expect(isDone).toHaveBeenCalled();
      await jest.advanceTimersByTimeAsync(3_000);
    }
    store.isSilent = false;
    answer();
    await jest.advanceTimersByTimeAsync(3_000);
    await deed('eli');
    expect(written).toEqual(['ada', 'bob', 'cy', 'dan', 'eli']);
    await rows.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('a write that failed is begun again', async () => {
  let failures = 1;
  const written: AuditEntry[] = [];
  const rows = owedRows(
    {
      appendAudit: async (_, entries) => {
        if ((failures -= 1) >= 0) throw new HoldfastError('StoreUnavailable', 'Away.');
        written.push(...entries);
      },
    },
    () => undefined,
  );
  await rows.write('default', [entry('interrupted'), entry('seen')]);
  await until(() => written.length > 0);
  expect(written.map(({ kind }) => kind)).toEqual(['interrupted', 'seen']);
  await rows.stop();
});

test('refused requests leave room for the rows of those who act', async () => {
  const rows = owedRows(AWAY, () => undefined);
  let refused = 0;
  for (let n = 0; n < ATTEMPTS; n += 1) {
    await rows.write('default', [entry('access_denied')]).catch(() => (refused += 1));
  }
  expect(refused).toBeGreaterThan(0);
  await expect(rows.write('default', [entry('interrupted')])).resolves.toBeUndefined();
  await expect(rows.write('default', [entry('access_denied')])).rejects.toThrow('Too many rows');
  await rows.stop();
});

test('rows under way count: who only looks does not take the room of those who act', async () => {
  jest.useFakeTimers();
  try {
    const silent = { appendAudit: () => new Promise<void>(() => undefined) };
    const rows = owedRows(silent, () => undefined);
    const refusals = Array.from({ length: 2_001 }, () =>
      rows.write('default', [entry('access_denied')]).then(
        () => 'kept',
        ({ message }: Error) => message,
      ),
    );
    expect(await refusals[2_000]).toBe('Too many rows of the audit trail wait.');
    const acts = rows.write('default', [entry('interrupted')]);
    await jest.advanceTimersByTimeAsync(60_000);
    await expect(acts).resolves.toBeUndefined();
  } finally {
    jest.useRealTimers();
  }
});

describe('a row that the store cannot hold', () => {
  const PAUSE_MS = 3_000;
  type Entry = AuditEntry & { readonly sentBefore?: true };

  /** A store that is away until it is told otherwise, and then refuses what `eve` did. */
  function refusingStore({ failures = 0, takesMs = 0 } = {}) {
    const store = { isAway: true, failures, written: [] as Entry[] };
    const appendAudit = async (_: string, entries: readonly Entry[]) => {
      if (store.isAway) throw new HoldfastError('StoreUnavailable', 'Away.');
      if ((store.failures -= 1) >= 0) throw new HoldfastError('Internal', 'A plan was stale.');
      if (entries.some(({ by }) => by === 'eve')) {
        throw new HoldfastError('InvalidRequest', 'What eve wrote is no text.');
      }
      if (takesMs > 0) await new Promise((resolve) => setTimeout(resolve, takesMs));
      store.written.push(...entries);
    };
    return Object.assign(store, { appendAudit });
  }
  const by = (name: string, runId = 'run'): AuditEntry => ({
    ...entry('interrupted'),
    by: name,
    runId,
  });

  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test('is left out with what it held, and those behind it are written in order', async () => {
    const store = refusingStore();
    const said: string[] = [];
    const rows = owedRows(store, (line) => void said.push(line));
    await rows.write('default', [by('eve', 'bad\u202e\n')]);
    await rows.write('default', [by('ada'), by('eve', 'worse'), by('bob')]);
    await rows.write('default', [by('cy')]);
    store.isAway = false;
    await jest.advanceTimersByTimeAsync(2 * PAUSE_MS);
    expect(store.written.map(({ by: name }) => name)).toEqual(['ada', 'bob', 'cy']);
    const left = said.filter((line) => line.includes('left out'));
    expect(left).toHaveLength(2);
    expect(left[0]).toContain('(InvalidRequest), which is left out (1 so far)');
    expect(left[0]).toContain('"by":"eve","runId":"bad');
    expect(left[0]).not.toMatch(/[\n\u202e]/);
    expect(left[1]).toContain('(2 so far)');
    expect(left[1]).toContain('worse');
    expect(said.at(-1)).toMatch(/^The store is back/);
    await rows.stop();
  });

  test('is kept where the store fails for another reason, with all behind it', async () => {
    const store = refusingStore({ failures: 2 });
    const said: string[] = [];
    const rows = owedRows(store, (line) => void said.push(line));
    for (const name of ['ada', 'bob', 'cy']) await rows.write('default', [by(name)]);
    store.isAway = false;
    await jest.advanceTimersByTimeAsync(4 * PAUSE_MS);
    expect(store.written.map(({ by: name }) => name)).toEqual(['ada', 'bob', 'cy']);
    expect(said).toEqual([
      'The store is away: rows of the audit trail wait for it.',
      'The store fails (Internal): rows of the audit trail wait for it.',
      'The store is back: rows of the audit trail that waited for it are written.',
    ]);
    await rows.stop();
  });

  test('stops nobody, however many there are, and the log tells of some and counts the others', async () => {
    const store = refusingStore();
    const said: string[] = [];
    const rows = owedRows(store, (line) => void said.push(line));
    for (let n = 0; n < 50; n += 1) await rows.write('default', [by('eve')]);
    await rows.write('default', [by('ada')]);
    store.isAway = false;
    await jest.advanceTimersByTimeAsync(2 * PAUSE_MS);
    expect(store.written.map(({ by: name }) => name)).toEqual(['ada']);
    expect(said.length).toBeLessThan(30);
    expect(said.at(-2)).toMatch(/left out: 50 so far\.$/);
    await rows.stop();
    expect(said.at(-1)).toMatch(/^The store is back/);
  });

  test('does not let the next deed pass before its own row is written', async () => {
    const store = refusingStore();
    const rows = owedRows(store, () => undefined);
    await rows.write('default', [by('bob')]);
    await rows.write('default', [by('eve')]);
    store.isAway = false;
    // A store that was away just now is asked again a little later.
    await jest.advanceTimersByTimeAsync(2_100);
    await rows.write('default', [by('ada')]);
    expect(store.written.map(({ by: name }) => name)).toEqual(['bob', 'ada']);
    await rows.stop();
  });

  test('that was not written is told when the console ends', async () => {
    const store = refusingStore();
    const said: string[] = [];
    const rows = owedRows(store, (line) => void said.push(line));
    await rows.write('default', [by('ada', 'alone')]);
    await rows.stop();
    expect(said.at(-1)).toMatch(/^1 row of the audit trail could not be written, .*"alone"/);
  });

  test('a long payment is not begun a second time, whatever is written meanwhile, and the end waits for it', async () => {
    const store = refusingStore({ takesMs: 300 });
    const rows = owedRows(store, () => undefined);
    const names = Array.from({ length: 30 }, (_, n) => `r${n}`);
    for (const name of names) await rows.write('default', [by(name)]);
    store.isAway = false;
    await jest.advanceTimersByTimeAsync(PAUSE_MS);
    const late = rows.write('default', [by('late')]);
    await jest.advanceTimersByTimeAsync(5_500);
    await late;
    const ended = rows.stop();
    await jest.advanceTimersByTimeAsync(10_000);
    await ended;
    expect(store.written.map(({ by: name }) => name)).toEqual([...names, 'late']);
  });

  test('a write that failed says that it was sent before, and a first one does not', async () => {
    const store = refusingStore();
    const rows = owedRows(store, () => undefined);
    await rows.write('default', [by('ada')]);
    await rows.write('default', [by('bob')]);
    store.isAway = false;
    await jest.advanceTimersByTimeAsync(2 * PAUSE_MS);
    expect(store.written.map(({ sentBefore }) => sentBefore)).toEqual([true, undefined]);
    await rows.stop();
  });
});
