/** The five questions. An empty answer takes the default; a wrong one is asked again, a few times. */
import { createInterface } from 'node:readline/promises';
import { HoldfastError } from '../core/state/errors.js';
import { choiceOf, DEFAULTS, type Wanted } from './scaffold/options.js';
import { placeOf } from './scaffold/names.js';

const TRIES_MAX = 5;
export const DEFAULT_FOLDER = 'my-agent';

export interface Answers extends Wanted {
  readonly folder: string;
  readonly install: boolean;
}

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Asks what is not known yet. Errors: Usage after too many wrong answers; AbortError. */
export async function ask(
  known: Partial<Answers>,
  { input, output, signal }: Terminal,
  here: string,
): Promise<Answers> {
  const lines = createInterface({ input, output });
  // Ctrl-C and Ctrl-D at a question: readline hears them, the process does not.
  const left = new AbortController();
  lines.once('SIGINT', () => left.abort()).once('close', () => left.abort());
  const ending = AbortSignal.any([signal, left.signal]);
  const question = async <T>(text: string, standard: string, read: (said: string) => T) => {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const said =
        (await lines.question(`${text} (${standard}) `, { signal: ending })).trim() || standard;
      try {
        return read(said);
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error;
        output.write(`${error.message} ${error.hint ?? ''}\n`);
      }
    }
    throw new HoldfastError('Usage', `No answer to “${text}” could be used.`, {
      hint: 'Give it as an option; see --help.',
    });
  };
  const { template, module, model } = DEFAULTS;
  try {
    return {
      folder:
        known.folder ??
        (await question('Folder of the project?', DEFAULT_FOLDER, (said) => {
          placeOf(said, here);
          return said;
        })),
      template:
        known.template ??
        (await question('Template: minimal, refund, existing?', template, (said) =>
          choiceOf('template', said),
        )),
      module:
        known.module ??
        (await question('Modules: esm, commonjs?', module, (said) => choiceOf('module', said))),
      model:
        known.model ??
        (await question('Model: anthropic, openai, scripted?', model, (said) =>
          choiceOf('model', said),
        )),
      install: known.install ?? (await question('Install dependencies now?', 'no', yesOrNo)),
    };
  } finally {
    lines.close();
  }
}

function yesOrNo(said: string): boolean {
  if (/^y(es)?$/i.test(said)) return true;
  if (/^no?$/i.test(said)) return false;
  throw new HoldfastError('Usage', 'The answer is yes or no.');
}
