/** The task of a start, checked where the run is opened: it comes from outside (G67). */
import { taskDefect } from '../../pure/task-schema.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Task } from '../../core/state/task.js';
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
