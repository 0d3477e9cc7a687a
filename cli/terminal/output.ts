/** Where a command speaks: data on standard output, remarks on standard error, JSON when asked for. */
import { HoldfastError } from '../../core/state/errors.js';
import {
  asCalled,
  COLOURED,
  exactJson,
  inertLines,
  OWN_NAME,
  PLAIN,
  type GivenPlace,
  type Paint,
} from '../render/index.js';
import { inFileWords } from './file-error.js';

export interface Output {
  readonly json: boolean;
  readonly paint: Paint;
  /** A line of the answer; nothing with --json. */
  line(text: string): void;
  /** A part of a line, which the caller ends; nothing with --json. */
  piece(text: string): void;
  /** One JSON value on one line; nothing without --json. */
  data(value: unknown): void;
  /** What a person should know beside the answer, with commands as they are called here. */
  remark(text: string): void;
  failure(error: unknown): void;
}

export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export interface Speech {
  readonly json: boolean;
  readonly colour: boolean;
  /** Characters of a line of the terminal; absent: there is none. */
  readonly columns?: number;
  /** How the program is called here, `npx holdfast` for example; absent: by its name. */
  readonly invocation?: string;
  /** Options of the place that the command line has; absent: none. */
  readonly given?: GivenPlace;
  /** Where the pages of the documents lie; absent: in the package. */
  readonly docs?: string;
}

export function createOutput(streams: Streams, options: Speech): Output {
  const { json, colour, columns, invocation = OWN_NAME, given, docs } = options;
  const own = asCalled(invocation, given, docs);
  const paint = { ...(colour && !json ? COLOURED : PLAIN), own, ...(columns && { columns }) };
  let inLine = false;
  const endLine = (): void => {
    if (inLine) streams.out('\n');
    inLine = false;
  };
  return {
    json,
    paint,
    line(text) {
      if (json) return;
      endLine();
      streams.out(`${text}\n`);
    },
    piece(text) {
      if (json || text === '') return;
      streams.out(text);
      inLine = !text.endsWith('\n');
    },
    data(value) {
      if (json) streams.out(`${exactJson(value)}\n`);
    },
    remark(text) {
      endLine();
      streams.err(`${own(text)}\n`);
    },
    failure(error) {
      const failure = failureOf(error);
      if (json) {
        streams.out(`${exactJson({ error: { ...failure, hint: own(failure.hint) } })}\n`);
        return;
      }
      endLine();
      streams.err(`${inertLines(`Error: ${failure.message}`).join('\n')}\n`);
      streams.err(`${inertLines(own(failure.hint)).join('\n')}\n`);
    },
  };
}

interface FailureShape {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** Of an error that says nothing of it itself. */
function pointerTo(code: string): string {
  return `The page docs/reference/errors.md in the package holdfast has causes and remedies of ${code}.`;
}

function failureOf(thrown: unknown): FailureShape {
  const error = inFileWords(thrown);
  if (error instanceof HoldfastError) {
    const { code, message, hint = pointerTo(code) } = error;
    return { code, message, hint };
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return {
    code: 'Internal',
    message,
    hint: 'This is a bug of Holdfast; please report it with what you did.',
  };
}
