/** The name of a new project: what a folder may be called, and what npm then calls the package. */
import { basename, resolve } from 'node:path';
import { HoldfastError } from '../../core/state/errors.js';

const FOLDER_CHARS_MAX = 1_024;
const NAME_CHARS_MAX = 100;
const SHOWN_CHARS_MAX = 80;
/** What any file system takes, and no shell, npm or Windows understands as something else. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const RESERVED = /^(?:node_modules|favicon\.ico|con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/i;
/** Controls, formats (directions of writing among them), separators of lines. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** A project of such a name could not import the package. */
const TAKEN: ReadonlySet<string> = new Set(['holdfast', 'create-holdfast', 'zod', 'typescript']);

export interface Place {
  /** Absolute. */
  readonly folder: string;
  /** For package.json. */
  readonly name: string;
}

/** Where a project goes that somebody calls `given` in `here`. Errors: Usage, naming what is wrong. */
export function placeOf(given: string, here: string): Place {
  if (given.trim() === '') throw wrong(given, 'is blank');
  if (given.length > FOLDER_CHARS_MAX) {
    throw wrong(given, `has ${given.length} characters, and ${FOLDER_CHARS_MAX} are the most`);
  }
  if (given.search(UNSEEN) >= 0) {
    throw wrong(given, 'has characters that cannot be seen');
  }
  if (given.startsWith('-')) throw wrong(given, 'begins with "-", as options do');
  const folder = resolve(here, given);
  const last = basename(folder);
  if (last === '') throw wrong(given, 'is the root of the file system');
  return { folder, name: nameOf(last, given) };
}

function nameOf(last: string, given: string): string {
  if (last.length > NAME_CHARS_MAX) {
    throw wrong(
      given,
      `has a name of ${last.length} characters, and ${NAME_CHARS_MAX} are the most`,
    );
  }
  if (!NAME.test(last) || last.endsWith('.')) {
    throw wrong(given, 'has characters that no package can have in its name');
  }
  if (RESERVED.test(last))
    throw wrong(given, 'is a name that npm or an operating system has taken');
  const name = last.toLowerCase();
  if (TAKEN.has(name)) throw wrong(given, 'is the name of a package that the project needs');
  return name;
}

function wrong(given: string, why: string): HoldfastError {
  const shown = JSON.stringify(given.slice(0, SHOWN_CHARS_MAX)).replace(UNSEEN, escaped);
  return new HoldfastError('Usage', `No project can be called ${shown}: the name ${why}.`, {
    hint: 'Use letters, digits, ".", "_" and "-", my-agent for instance.',
  });
}

function escaped(char: string): string {
  return `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
