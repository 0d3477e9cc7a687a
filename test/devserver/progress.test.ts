/** How often work that takes long is told. */
import { reportStep, type Progress } from '../../devserver/progress.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

function toldWithin(step: Progress['step'], ms: number): number {
  const told: Progress[] = [];
  const report = reportStep(step, 'At work', (progress) => told.push(progress));
  jest.advanceTimersByTime(ms);
  report.stop();
  jest.advanceTimersByTime(ms);
  return told.length;
}

test('a wait for another process is told at once, and then once a minute', () => {
  expect(toldWithin('wait', 59_000)).toBe(1);
  expect(toldWithin('wait', 121_000)).toBe(3);
});

test.each(['download', 'build'] as const)('a %s is told every two seconds', (step) => {
  expect(toldWithin(step, 5_000)).toBe(3);
});
