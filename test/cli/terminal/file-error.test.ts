/** Errors of files that a command was to write: what is to be done is said first. */
import { notWritten } from '../../../cli/terminal/file-error.js';

const UNWRITTEN = { what: 'bundle', place: '/small/run.json', option: '-o' };

test.each([
  ['ENOSPC', /^Free disk space, or name another place with -o: no room$/],
  ['EDQUOT', /^Free disk space, or/],
  ['EACCES', /^Name another place with -o: no room$/],
])('%s is told with the next action', (code, hint) => {
  const error = notWritten(UNWRITTEN, Object.assign(new Error('no room'), { code }));
  expect(error).toMatchObject({
    code: 'FileUnusable',
    message: 'The bundle cannot be written to /small/run.json.',
  });
  expect(error.hint).toMatch(hint);
});
