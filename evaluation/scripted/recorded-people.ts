/**
 * What people decided in the runs of a recorded tree, by run and by the action that they were asked about: its kind, its
 * tool, its arguments.
 */
import type { Action, Moment } from '../fixture.js';
import { placeOfRun } from '../run-tree.js';
import { isOutcomeWord } from './decisions.js';
import type { Question, RecordedTree } from './recorded-tree.js';

export class RecordedPeople {
  /** By action: one list of answers for each time that it was asked about. */
  private readonly answers = new Map<string, (readonly Action[])[]>();

  /** `during`: of the case that was made of the tree. */
  constructor(
    { questions, expired }: Pick<RecordedTree, 'questions' | 'expired'>,
    during: readonly Moment[],
  ) {
    const given = new Set<Action>();
    for (const [index, question] of questions.entries()) {
      const nth = numberOf(question, questions.slice(0, index));
      const actions = during
        .filter(({ on }) => on.kind !== 'event' || isAt(on.pattern, question, nth))
        .flatMap((moment) => moment.actions)
        .filter((action) => !given.has(action) && isAbout(action, question));
      for (const action of actions) given.add(action);
      // Left alone until its time was up, it is left alone again.
      if (actions.length === 0 && !expired.has(question.askId)) continue;
      const key = keyOf(question, question.stamp.runId);
      this.answers.set(key, [...(this.answers.get(key) ?? []), actions]);
    }
  }

  /**
   * Each is given once, for the question that is asked now. `recordedRun`: the run of the record that asked the same.
   * Undefined: nobody has decided that.
   */
  answersTo(question: Question, recordedRun: string): readonly Action[] | undefined {
    const actions = this.answers.get(keyOf(question, recordedRun))?.shift();
    return actions?.map((action) => asAnswerTo(question, action));
  }
}

function asAnswerTo({ askId, callId, stamp }: Question, action: Action): Action {
  const { call: _, run: __, ...said } = action as Extract<Action, { kind: 'provideInput' }>;
  const place = placeOfRun(stamp.runId);
  return {
    ...said,
    ...(action.kind === 'resolveApproval' && { approvalId: askId }),
    ...(callId !== undefined && { call: callId }),
    ...(place !== '' && { run: place }),
  } as Action;
}

type Pattern = Extract<Moment['on'], { kind: 'event' }>['pattern'];

/** A decision that came at another moment than that of a question is about the first one that it fits. */
function isAt(pattern: Pattern, { type, callId, stamp }: Question, nth: number): boolean {
  const { event, call, n = 1, run = '' } = pattern;
  if (event !== 'approval_requested' && event !== 'input_request') return true;
  return event === type && call === callId && n === nth && run === placeOfRun(stamp.runId);
}

/** As captured cases count: those about one call, or all of one type. */
function numberOf({ type, callId, stamp }: Question, before: readonly Question[]): number {
  const same = before.filter(
    (one) =>
      one.type === type &&
      one.stamp.runId === stamp.runId &&
      (callId === undefined || one.callId === callId),
  );
  return same.length + 1;
}

function keyOf({ kind, tool = '', argsHash }: Question, runId: string): string {
  return `${runId} ${kind} ${tool} ${argsHash}`;
}

/** Decisions that somebody took on something else, and messages, are not among them. */
function isAbout(action: Action, { kind, callId, stamp }: Question): boolean {
  if (action.kind !== 'resolveApproval' && action.kind !== 'provideInput') return false;
  const { call, run = '' } = action;
  if (call !== callId || run !== placeOfRun(stamp.runId)) return false;
  if (action.kind === 'provideInput') return true;
  return action.argsHashOf === undefined && isOutcomeWord(action.decision) === (kind === 'outcome');
}
