/** The commands that answer a question, as whoever reads its card types them. */
import type { AskView } from '../../core/state/ask-view.js';
import { elicitationAnswer } from './elicitation-lines.js';
import { inert } from './inert.js';

export interface AnswerOptions {
  readonly runId: string;
  /** How the reader says who they are: by a name in local development (the default), or by their token. */
  readonly login?: 'name' | 'token';
  /** The commands name the run, since only the run knows its question now. */
  readonly storeAway?: boolean;
}

const ID_CHARS_MAX = 400;

/** The commands that answer, ready to be copied by whoever reads the card. */
export function answerCommands(
  ask: AskView,
  { runId, login = 'name', storeAway = false }: AnswerOptions,
): readonly string[] {
  const id = shellWord(ask.askId);
  const role = ask.roles[0] === undefined ? '' : ` --role ${shellWord(ask.roles[0])}`;
  const run = storeAway ? ` --run ${shellWord(runId)}` : '';
  const by = `${run}${login === 'token' ? '' : ` --as NAME${role}`}`;
  switch (ask.kind) {
    case 'approval':
      return [
        `holdfast approve ${id}${by}`,
        `holdfast reject ${id}${by}`,
        // A goal asks about no call that could be another one.
        ...(ask.tool === undefined ? [] : [`holdfast modify ${id} --args 'JSON'${by}`]),
      ];
    case 'budget':
      return ['approve', 'reject'].map((verb) => `holdfast ${verb} ${id}${by}`);
    case 'outcome':
      return ["happened --value 'JSON'", 'not_happened', 'stop'].map(
        (answer) => `holdfast answer ${id} ${answer}${by}`,
      );
    case 'input':
      if (ask.elicitation === undefined) return [`holdfast answer ${id} 'TEXT'${by}`];
      return [elicitationAnswer(ask.elicitation), 'decline', 'cancel'].map(
        (answer) => `holdfast answer ${id} ${answer}${by}`,
      );
    case 'user_message':
      return [`holdfast message ${shellWord(runId)} 'TEXT'`];
  }
}

/** A word for a shell: quoted when it holds anything but the plainest characters. */
export function shellWord(word: string): string {
  const clean = inert(word, ID_CHARS_MAX);
  return /^[A-Za-z0-9._:@/-]+$/.test(clean) ? clean : `'${clean.replaceAll("'", "'\\''")}'`;
}
