/** Workflows whose id begins with `barred` cannot be created; the creation of those that begin with `endless` does not end. */
import { workflowInfo } from '@temporalio/workflow';

export function interceptors() {
  const { workflowId } = workflowInfo();
  if (workflowId.startsWith('barred')) throw new Error('no interceptors for it');
  while (workflowId.startsWith('endless'));
  return {};
}
