/** `npm run walk`: how many files of the core one approved call leads through; it fails above the limits. */
import { walkApprovedRefund } from './walk.js';

const FILES_MAX = 30;
const LINES_MAX = 250;

const { files, rules } = walkApprovedRefund();
for (const { path, lines } of files) console.log(`${String(lines).padStart(4)} ${path}`);
const all = files.reduce((sum, { lines }) => sum + lines, 0);
console.log(`${files.length} files of core (at most ${FILES_MAX}), ${all} lines`);
console.log(`rules that fired: ${rules.join(', ')}`);
const long = files.filter(({ lines }) => lines > LINES_MAX).map(({ path }) => path);
if (files.length > FILES_MAX || long.length > 0) {
  console.error(
    long.length > 0
      ? `These files have more than ${LINES_MAX} lines: ${long.join(', ')}.`
      : `One approved call may enter ${FILES_MAX} files of core.`,
  );
  process.exitCode = 1;
}
