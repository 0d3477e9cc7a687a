import { mustKeep } from '../../store/sqlite/kept.js';

test.each([
  ['20.20.2', false],
  ['22.23.2', false],
  ['24.18.9', false],
  ['24.19.0', true],
  ['24.21.0', true],
  ['26.0.0', true],
])('under Node %s connections and statements are kept: %s', (version, must) => {
  expect(mustKeep(version)).toBe(must);
});
