/** What of an expected value is looked for in an actual one. */
import { isMatch } from '../../../testing/agent/match.js';

test.each(['', 'g', 'y', 'gy', 'gi'])(
  'a regular expression with the flags "%s" matches each time the same',
  (flags) => {
    const expected = new RegExp('paid', flags);
    const once = [isMatch(expected, 'paid'), isMatch(expected, 'refused')];
    expect(once).toEqual([true, false]);
    expect([isMatch(expected, 'paid'), isMatch(expected, 'refused')]).toEqual(once);
    expect(isMatch([expected, expected], ['paid', 'paid'])).toBe(true);
    expected.lastIndex = 3;
    expect(isMatch(expected, 'paid')).toBe(true);
    expect(isMatch(expected, 4)).toBe(false);
  },
);
