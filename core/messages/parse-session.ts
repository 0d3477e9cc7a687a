/** What a start says of its session, from outside: shape only. */
import { ownValue } from '../json/json.js';

const ID = /^[A-Za-z0-9._:-]{1,128}$/;
const TEXT_CHARS_MAX = 1_024;

/** What is wrong with it, or undefined. Unknown fields are ignored, as in the rest of a start. */
export function sessionDefect(raw: unknown): string | undefined {
  if (raw === undefined) return undefined;
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return 'session must be an object {id, resume, at, fork, cwd}';
  }
  const fields = raw as { readonly [name: string]: unknown };
  for (const name of ['id', 'resume'] as const) {
    const value = ownValue(fields, name);
    if (value !== undefined && (typeof value !== 'string' || !ID.test(value)))
      return `session.${name} must be 1 to 128 of A-Z a-z 0-9 . _ : -`;
  }
  for (const name of ['at', 'cwd'] as const) {
    const value = ownValue(fields, name);
    if (value !== undefined && (typeof value !== 'string' || value.length > TEXT_CHARS_MAX))
      return `session.${name} must be a text of at most ${TEXT_CHARS_MAX} characters`;
  }
  const fork = ownValue(fields, 'fork');
  if (fork !== undefined && fork !== true) return 'session.fork can only be true';
  const forks = fork === true || ownValue(fields, 'at') !== undefined;
  return forks && ownValue(fields, 'resume') === undefined
    ? 'session.resume must say what is forked'
    : undefined;
}
