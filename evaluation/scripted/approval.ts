/** The approval that a case declares for a tool, as authors write it. */
import type { ApprovalDeclaration } from '../../authoring/approval.js';
import type { CaseApproval } from '../fixture.js';

/** The longest that a question may be open. */
const YEAR_MS = 366 * 86_400_000;

export function approvalOf(approval: CaseApproval): ApprovalDeclaration {
  if (typeof approval === 'string' || approval.expiresInMs !== 'unlimited') {
    return approval as ApprovalDeclaration;
  }
  return { ...approval, expiresInMs: YEAR_MS };
}
