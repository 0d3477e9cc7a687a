/** Workflows whose id begins with `barred` cannot be created. */
import { workflowInfo } from '@temporalio/workflow';

export function interceptors() {
  if (workflowInfo().workflowId.startsWith('barred')) throw new Error('no interceptors for it');
  return {};
}
