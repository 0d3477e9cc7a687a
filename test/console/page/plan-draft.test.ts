/** A plan as somebody edits it on the page, and the pace of a goal as they write it. */
import { MEMORY_LIMITS } from '../../../core/state/goal/memory.js';
import { paceDraftOf, readPace, type PaceDraft } from '../../../console/page/goals/pace-draft.js';
import {
  added,
  draftOf,
  edited,
  isSet,
  moved,
  planDefect,
  rebased,
  removed,
  sentSteps,
  statusesFor,
  TITLE_CHARS_MAX,
  type Plan,
} from '../../../console/page/goals/plan-draft.js';

const step = (id: string, more: object = {}) =>
  ({ id, title: id.toUpperCase(), status: 'open', by: 'agent', ...more }) as const;
const PLAN: Plan = {
  revision: 3,
  steps: [
    step('a', { status: 'done', evidence: ['c1/x'] }),
    step('b', { note: 'Soon.' }),
    step('c'),
  ],
};
const titles = (steps: readonly { readonly title: string }[]) => steps.map(({ title }) => title);

describe('a plan that is edited', () => {
  test('leaves titles that nobody touched to the last space', () => {
    const plan = { revision: 1, steps: [step('a', { title: 'Ends in a space ' }), step('b')] };
    const draft = edited(draftOf(plan), 'b', { title: ' Typed ' });
    expect(titles(sentSteps(draft))).toEqual(['Ends in a space ', 'Typed']);
  });

  test('is set once the plan of the goal is what was sent', () => {
    const draft = edited(draftOf(PLAN), 'b', { title: 'Typed ' });
    const asTyped = PLAN.steps.map((old) => (old.id === 'b' ? { ...old, title: 'Typed' } : old));
    expect(isSet(draft, PLAN)).toBe(false);
    expect(isSet(draft, { revision: 4, steps: asTyped })).toBe(true);
    expect(isSet(draft, { revision: 4, steps: asTyped.slice(1) })).toBe(false);
  });

  test('has the limits of the goal', () => {
    const { steps, titleChars } = MEMORY_LIMITS;
    expect(TITLE_CHARS_MAX).toBe(titleChars);
    const many = Array.from({ length: steps }, (_, n) => step(`s${n}`));
    const full = draftOf({ revision: 1, steps: many });
    const next = added(full);
    const over = edited(next, next.steps.at(-1)!.id, { title: 'One more' });
    expect(planDefect(over)).toEqual({ fault: `A plan has at most ${steps} steps.` });
  });

  test('is sent whole, with notes that nobody touched, under ids that were free', () => {
    const draft = added(moved(removed(draftOf(PLAN), 'c'), 'b', -1));
    const [, , mine] = draft.steps;
    const written = edited(draft, mine!.id, { title: ' New ' });
    expect(sentSteps(written)).toEqual([
      { id: 'b', title: 'B', status: 'open', note: 'Soon.' },
      { id: 'a', title: 'A', status: 'done' },
      { id: mine!.id, title: 'New', status: 'open' },
    ]);
    expect(['a', 'b', 'c']).not.toContain(mine!.id);
  });

  test('marks nothing done: only what is done already may stay so', () => {
    const draft = draftOf(PLAN);
    expect(statusesFor(draft, 'a')).toContain('done');
    expect(statusesFor(draft, 'b')).toEqual(['open', 'doing', 'dropped']);
  });

  test('is not sent unchanged, nor with a step without title', () => {
    expect(planDefect(draftOf(PLAN))).toEqual({ fault: 'Nothing is changed yet.' });
    const blank = added(draftOf(PLAN));
    expect(planDefect(blank)).toMatchObject({ fault: 'Step 4 has no title.' });
    expect(planDefect(edited(draftOf(PLAN), 'b', { title: 'Other' }))).toBeNull();
  });

  test('moves nothing over the ends of the list', () => {
    const draft = draftOf(PLAN);
    expect(moved(draft, 'a', -1).steps).toEqual(draft.steps);
    expect(moved(draft, 'c', 1).steps).toEqual(draft.steps);
  });

  test('on a newer plan only what was typed is typed again', () => {
    const mine = edited(added(removed(draftOf(PLAN), 'c')), 'b', { title: 'B of mine' });
    const typed = edited(mine, mine.steps.at(-1)!.id, { title: 'Added' });
    const newest: Plan = {
      revision: 4,
      steps: [
        step('a', { title: 'A of theirs', status: 'done' }),
        step('b', { status: 'doing' }),
        step('c'),
        step(typed.steps.at(-1)!.id, { title: 'Theirs under the same id' }),
      ],
    };
    const next = rebased(typed, newest);
    expect(next.base).toBe(newest);
    expect(titles(next.steps)).toEqual([
      'A of theirs',
      'B of mine',
      'Added',
      'Theirs under the same id',
    ]);
    expect(next.steps[1]).toMatchObject({ status: 'doing' });
    expect(new Set(next.steps.map(({ id }) => id)).size).toBe(4);
  });

  test('keeps a changed step that somebody else has removed, and loses an unchanged one', () => {
    const mine = edited(draftOf(PLAN), 'b', { status: 'dropped' });
    const next = rebased(mine, { revision: 4, steps: [PLAN.steps[0]!] });
    expect(next.steps.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  test('opens a done step again that was changed here and removed by somebody else', () => {
    const mine = edited(draftOf(PLAN), 'a', { title: 'Another A' });
    const next = rebased(mine, { revision: 4, steps: [PLAN.steps[1]!] });
    expect(next.steps.find(({ title }) => title === 'Another A')).toMatchObject({ status: 'open' });
  });
});

describe('a pace that is written', () => {
  const every = (text: string, unit: PaceDraft['unit'] = 'hours') =>
    readPace({ ...paceDraftOf('continuous', 'UTC'), kind: 'every', every: text, unit });
  const cron = (line: string, timezone = 'Europe/Zurich') =>
    readPace({ ...paceDraftOf('continuous', 'UTC'), kind: 'cron', cron: line, timezone });

  test.each([
    ['continuous'],
    ['when_woken'],
    [{ everyMs: 5_400_000 }],
    [{ everyMs: 86_400_000 }],
    [{ cron: '0 9 * * 1-5', timezone: 'Europe/Zurich' }],
  ])('%j is written back as it was', (pace) => {
    expect(readPace(paceDraftOf(pace, 'UTC'))).toEqual({ ok: true, pace });
  });

  test('is refused with what is wrong in it', () => {
    expect(every('1,5')).toEqual({ ok: true, pace: { everyMs: 5_400_000 } });
    for (const text of ['', '0', '-1', 'soon', '1e9']) {
      expect(every(text)).toMatchObject({ ok: false, field: 'every' });
    }
    expect(every('367', 'days')).toMatchObject({ ok: false });
    expect(cron('0 9 * *')).toMatchObject({ ok: false, field: 'cron' });
    expect(cron('0 9 * * 1', '+02:00')).toMatchObject({ ok: false, field: 'timezone' });
    expect(cron('0 9 * * 1', 'Europe/Nowhere')).toMatchObject({ ok: false, field: 'timezone' });
  });
});
