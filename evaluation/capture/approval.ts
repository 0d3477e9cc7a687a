/** Who approves the calls of a recorded tool, in the words of a case. */
import type { ToolRecord } from '../../core/state/tool.js';
import type { WrittenTool } from '../convert-tools.js';

/** Anybody may approve where no role is named. */
export function approvalOf(approval: ToolRecord['approval']): WrittenTool['approval'] {
  if (typeof approval === 'string') return approval;
  const { roles, quorum, ...rest } = approval;
  const said = {
    ...(roles.length > 0 && { roles: [...roles] }),
    ...(quorum !== 1 && { quorum }),
    ...rest,
  };
  return Object.keys(said).length === 0 ? 'always' : (said as WrittenTool['approval']);
}
