/** Errors of files that a command was to write: what is to be done is said first. */
import { notWritten } from '../../../cli/terminal/file-error.js';

const UNWRITTEN = { what: 'bundle', place: '/small/run.json', option: '-o' };

test.each([
  ['ENOSPC', /^Free disk space, or name another place with -o: no room$/],
  ['EDQUOT', /^Free disk space, or/],
  ['EACCES', /^Name another place with -o: no room$/],
])('%s is told with the next action', (code, hint) => {
  const refused = Object.assign(new Error('no room'), { code, syscall: 'write' });
  const error = notWritten(UNWRITTEN, refused);
  expect(error).toMatchObject({
    code: 'FileUnusable',
    message: 'The bundle cannot be written to /small/run.json.',
  });
  expect(error.hint).toMatch(hint);
});

test('another place is no remedy for content that breaks off', () => {
  const { hint } = notWritten(UNWRITTEN, new Error('the store is away'));
  expect(hint).toBe('the store is away');
});
