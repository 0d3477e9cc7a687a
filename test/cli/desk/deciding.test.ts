/** What a person says on the command line, held against the question. */
import { approval } from '../../../cli/commands/decide.js';

const QUESTION = { askId: 'run:3', runId: 'run', quorum: 1 } as const;

test('an amount goes to a question about a budget', () => {
  const wanted = approval({ ...QUESTION, kind: 'budget' }, { amount: 5 });
  expect(wanted).toEqual({ decision: 'approve', amount: 5 });
});

test('an amount for another question is refused with what the question is', () => {
  const question = { ...QUESTION, kind: 'approval', tool: 'payments.refund' } as const;
  expect(approval(question, {})).toEqual({ decision: 'approve' });
  expect(() => approval(question, { amount: 5 })).toThrow(
    '--amount goes with a question about a budget, and run:3 is one of the kind approval about payments.refund.',
  );
});
