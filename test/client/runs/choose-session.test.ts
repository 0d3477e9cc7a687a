import { wantedSession, type SessionRequest } from '../../../client/runs/choose-session.js';
import type { SessionEntry } from '../../../store/sessions.js';

const asked: unknown[] = [];
const store = {
  latestSession: async (
    tenant: string,
    place: { readonly caller: string; readonly cwd: string },
  ) => {
    asked.push({ tenant, ...place });
    return place.caller === 'ada' ? ({ sessionId: 'newest' } as SessionEntry) : undefined;
  },
};
const wanted = (request: Partial<SessionRequest>) =>
  wantedSession(store, 'shop', { task: 'Go on.', ...request });

describe('the session of a start', () => {
  it('is none when nothing is said of one', async () => {
    expect(await wanted({})).toBeUndefined();
    expect(await wanted({ persistSession: false })).toBeUndefined();
  });

  it('has the folder it is begun in, for whoever wants the latest there', async () => {
    expect(await wanted({ persistSession: true })).toEqual({ cwd: process.cwd() });
    expect(await wanted({ settings: { persistSession: true } })).toEqual({ cwd: process.cwd() });
    expect(await wanted({ sessionId: 's', cwd: '/x' })).toEqual({ id: 's', cwd: '/x' });
  });

  it('is the latest of the caller at the place', async () => {
    const task = { goal: 'Go on.', caller: 'ada' };
    const chosen = await wanted({ continue: true, cwd: '/x', task });
    expect(chosen).toEqual({ resume: 'newest', cwd: '/x' });
    expect(asked).toEqual([{ tenant: 'shop', caller: 'ada', cwd: '/x' }]);
    await expect(wanted({ continue: true })).rejects.toMatchObject({ code: 'SessionNotFound' });
  });

  it('is a fork on demand, whole or up to a message', async () => {
    const from = { resume: 's', cwd: '/x' };
    expect(await wanted({ ...from, fork: true })).toEqual({ ...from, fork: true });
    expect(await wanted({ ...from, fork: { at: 'r:m2' } })).toEqual({ ...from, at: 'r:m2' });
    expect(await wanted({ ...from, sessionId: 's2' })).toEqual({ ...from, id: 's2' });
    expect(await wanted({ ...from, sessionId: 's' })).toEqual(from);
  });

  it.each<[string, object]>([
    ['a fork of nothing', { fork: true }],
    ['two ways to find one', { resume: 's', continue: true }],
    ['a fork under the same id', { resume: 's', sessionId: 's', fork: true }],
    ['an id with other characters', { resume: '../s' }],
    ['an id that is no text', { sessionId: 7 }],
    ['an endless id', { sessionId: 'x'.repeat(129) }],
    ['a message id with a line break', { resume: 's', fork: { at: 'a\nb' } }],
    ['an endless folder', { sessionId: 's', cwd: 'x'.repeat(2_000) }],
  ])('is refused when it is %s', async (_what, request) => {
    await expect(wanted(request)).rejects.toMatchObject({ code: 'InvalidTask' });
  });

  it('needs a store to know the latest', async () => {
    const alone = wantedSession(undefined, 'shop', { task: 'Go on.', continue: true });
    await expect(alone).rejects.toMatchObject({ code: 'StoreUnavailable' });
  });
});
