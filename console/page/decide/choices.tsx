/** The buttons of a question, by its kind. */
import type { VNode } from 'preact';
import type { Ask } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { AnswerForm } from './answer-form.js';
import { BudgetChoices } from './budget-choices.js';
import type { Desk } from './desk.js';
import { ElicitationForm } from './elicitation-form.js';

export interface ChoicesProps {
  readonly ask: Ask;
  readonly desk: Desk;
  readonly takesGrant: boolean;
  /** Whether somebody is writing an answer. */
  readonly begun: (isBegun: boolean) => void;
}

export function Choices({ ask, desk, takesGrant, begun }: ChoicesProps): VNode {
  switch (ask.kind) {
    case 'approval':
      return <ApprovalChoices ask={ask} desk={desk} takesGrant={takesGrant} />;
    case 'outcome':
      return <OutcomeChoices desk={desk} />;
    case 'budget':
      return <BudgetChoices ask={ask} desk={desk} />;
    default:
      if (ask.elicitation !== undefined)
        return <ElicitationForm elicitation={ask.elicitation} desk={desk} begun={begun} />;
      return <AnswerForm ask={ask} desk={desk} begun={begun} />;
  }
}

type ApprovalProps = Pick<ChoicesProps, 'ask' | 'desk' | 'takesGrant'>;

function ApprovalChoices({ ask, desk, takesGrant }: ApprovalProps): VNode {
  return (
    <>
      <Button label="Approve" kind="primary" press={() => desk.decide({ decision: 'approve' })} />
      {/* A question of a goal is about no call that could be another one. */}
      {ask.tool !== undefined && <Button label="Correct …" press={() => desk.open('correct')} />}
      <Button label="Reject …" kind="danger" press={() => desk.open('reject')} />
      {/* A button must not be another one when somebody presses it: what comes later comes after the others. */}
      {takesGrant && <Button label="Approve more like it …" press={() => desk.open('grant')} />}
    </>
  );
}

function OutcomeChoices({ desk }: Pick<ChoicesProps, 'desk'>): VNode {
  return (
    <>
      <Button label="The call happened …" kind="primary" press={() => desk.open('happened')} />
      <Button label="The call did not happen" press={() => desk.open('not happened')} />
      <Button label="Stop the run" kind="danger" press={() => desk.open('stop')} />
    </>
  );
}
