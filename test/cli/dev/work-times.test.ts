import { workTimes } from '../../../cli/dev/work-times.js';

test('short times of work that touch are one long one; a short one alone is brief', () => {
  let now = 10_000;
  const times = workTimes(() => now);
  const work = (ms: number): void => {
    const end = times.begin();
    now += ms;
    end();
  };
  work(300);
  expect(times.coversBriefly(now)).toBe(true);
  for (let call = 0; call < 10; call += 1) {
    now += 100;
    work(300);
  }
  expect(times.covers(now)).toBe(true);
  expect(times.coversBriefly(now)).toBe(false);
  now += 5_000;
  work(300);
  expect(times.coversBriefly(now)).toBe(true);
});
