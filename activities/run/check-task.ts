/** The task of a start, checked where the run is opened: it comes from outside (G67). */
import { taskDefect } from '../../pure/task-schema.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Settings } from '../../core/state/settings.js';
import type { SettingsOverrides, Task } from '../../core/state/task.js';
import { outputSchemaDefect } from '../model/output-check.js';

/** Throws InvalidTask for a task that no run can work on. */
export function checkTask(task: Task): void {
  const defect = taskDefect(task) ?? schemaDefect(task);
  if (defect === undefined) return;
  const { path, why } = defect;
  throw new HoldfastError('InvalidTask', `${path} cannot be used: ${why}.`, {
    hint: `Correct ${path} and start the run again.`,
  });
}

/** A schema that nothing can be checked against would be found out after the money was spent. */
function schemaDefect({ outputSchema }: Task) {
  if (outputSchema === undefined) return undefined;
  const why = outputSchemaDefect(JSON.stringify(outputSchema));
  return why === undefined ? undefined : { path: 'task.outputSchema', why };
}

export interface DoneRule {
  /** What the configuration and the agent say. */
  readonly given: Pick<Settings, 'requireDone'>;
  readonly wished: SettingsOverrides;
}

/** Throws InvalidTask for a task that does not say when it is done, where tasks must (G114). */
export function checkDone(task: Task, { given, wished }: DoneRule): void {
  if (given.requireDone && wished.requireDone === false) {
    throw new HoldfastError(
      'InvalidTask',
      'A start may not do without a word on when it is done.',
      {
        hint: 'Leave requireDone to the configuration.',
      },
    );
  }
  const { successCriteria = [], requiredEvidence = [], outputSchema } = task;
  const isSaid = successCriteria.length + requiredEvidence.length > 0 || outputSchema !== undefined;
  if (isSaid || !(wished.requireDone ?? given.requireDone)) return;
  throw new HoldfastError('InvalidTask', 'The task does not say when it is done.', {
    hint: 'Give it successCriteria, requiredEvidence or an outputSchema: requireDone asks for one of them.',
  });
}
