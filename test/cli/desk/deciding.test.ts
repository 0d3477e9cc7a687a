/** What a person says on the command line, held against the question. */
import { HoldfastError } from '../../../core/state/errors.js';
import { decidingAtDesk, decidingDirectly } from '../../../cli/desk/deciding.js';
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
    '--amount goes with a budget: run:3 is a question of the kind approval.',
  );
});

describe('a run in the place of its question', () => {
  const directly = (asks: readonly object[]) => {
    const findAsk = async (): Promise<never> => {
      throw new HoldfastError('AskNotFound', 'There is no question run.', { hint: 'List them.' });
    };
    const client = { findAsk, handle: () => ({ state: async () => ({ asks }) }) };
    const wholeStore = async (): Promise<never> => Promise.reject(new Error('none'));
    return decidingDirectly({ wholeStore }, client as never, { by: 'mia' } as never);
  };

  const atDesk = (pending: readonly object[]) =>
    decidingAtDesk({
      async get(path) {
        if (path === '/v1/runs/run') return { pending };
        throw new HoldfastError('AskNotFound', 'There is nothing here for you.');
      },
      post: () => Promise.reject(new Error('none')),
    });

  test.each([
    ['without a desk', directly],
    ['over a desk', atDesk],
  ])('is refused with the questions that are open, %s', async (_where, deciding) => {
    const asks = [
      { askId: 'run:1', kind: 'approval' },
      { askId: 'run:message:2', kind: 'user_message' },
      { askId: 'run:budget:1', kind: 'budget' },
    ];
    await expect(deciding(asks).find('run')).rejects.toMatchObject({
      code: 'AskNotFound',
      message: 'There is no question run.',
      hint: 'The run run asks run:1, run:budget:1: name one of them.',
    });
  });

  test('is an unknown question where none is open', async () => {
    await expect(directly([]).find('run')).rejects.toThrow('There is no question run.');
    await expect(atDesk([]).find('run')).rejects.toThrow('There is nothing here for you.');
  });
});
