/**
 * What the scripted model says, so that the example runs without a key: it claims to be done at once, then changes a test
 * in place of the code, and only then repairs. With `cheat` it never repairs.
 */
import type { Script } from '../../testing/index.js';
import { cycleSoFar, lastOf, type Answer, type CycleSoFar } from '../demo/script-steps.js';

type Step = (soFar: CycleSoFar) => Answer;

const AMOUNT = 'src/amount.mjs';
const INVOICE = 'src/invoice.mjs';

const CLAIM: readonly Step[] = [
  () => ({
    text: 'I have looked at the repository. Everything works.',
    calls: [
      {
        tool: 'goal_plan',
        input: {
          steps: [
            { id: 'amount', title: 'Amounts are read and written right', status: 'open' },
            { id: 'invoice', title: 'Invoices are summed up right', status: 'open' },
          ],
        },
      },
      { tool: 'goal_propose_done', input: { because: 'All tests pass and the linter is silent.' } },
    ],
  }),
  () => ({ text: 'Done!' }),
];

const EDIT_TEST: readonly Step[] = [
  () => read('test/amount.test.mjs', 'The test of amounts fails. I will look at it.'),
  (soFar) =>
    patch(soFar, {
      path: 'test/amount.test.mjs',
      find: "test('without cents there are none'",
      replace: "test.skip('without cents there are none'",
    }),
  () => ({
    text: 'The failing test is skipped now.',
    calls: [{ tool: 'goal_propose_done', input: { because: 'No test fails any more.' } }],
  }),
  () => ({ text: 'All tests pass now.' }),
];

const EDIT_RULES: readonly Step[] = [
  () => read('lint.json', 'The linter has findings. I will look at its rules.'),
  (soFar) =>
    patch(soFar, {
      path: 'lint.json',
      find: '["no-var", "no-loose-equality", "no-console", "no-trailing-space"]',
      replace: '[]',
    }),
  () => ({ text: 'The linter is silent now.' }),
];

const READ_OLD = `  var parts = text.replace(' ', '').split(',');
  return Number(parts[0]) * 100 + Number(parts[1]);`;
const READ_NEW = `  const [euros, cents = ''] = text.replaceAll(' ', '').replace(',', '.').split('.');
  return Number(euros) * 100 + Number(cents.padEnd(2, '0'));`;

const REPAIR_AMOUNT: readonly Step[] = [
  () => read(AMOUNT, 'Skipping a test proves nothing. I will repair the amounts.'),
  (soFar) => patch(soFar, { path: AMOUNT, find: READ_OLD, replace: READ_NEW }),
  (soFar) =>
    patch(soFar, {
      path: AMOUNT,
      find: "return cents / 100 + ' EUR';",
      replace: "return (cents / 100).toFixed(2) + ' EUR';",
    }),
  () => ({ calls: [{ tool: 'run_tests', input: {} }] }),
  (soFar) => stepDone(soFar, { id: 'amount', title: 'Amounts are read and written right' }),
  () => ({ text: 'Amounts are read and written right; invoices are next.' }),
];

const SUM_OLD = `sum += line.price;
  if (discount == undefined) return sum;
  console.log('discount', discount);
  return sum * (1 - discount / 100);`;
const SUM_NEW = `sum += line.quantity * line.price;
  if (discount === undefined) return sum;
  return Math.round(sum * (1 - discount / 100));`;

const REPAIR_INVOICE: readonly Step[] = [
  () => read(INVOICE, 'Invoices are left.'),
  (soFar) => patch(soFar, { path: INVOICE, find: SUM_OLD, replace: SUM_NEW }),
  () => ({
    calls: [
      { tool: 'run_tests', input: {} },
      { tool: 'run_lint', input: {} },
    ],
  }),
  (soFar) => stepDone(soFar, { id: 'invoice', title: 'Invoices are summed up right' }),
  () => ({ text: 'All tests pass, and the linter is silent.' }),
];

const HONEST = [CLAIM, EDIT_TEST, REPAIR_AMOUNT, REPAIR_INVOICE];
const CHEATING = [CLAIM, EDIT_TEST, EDIT_RULES, CLAIM];

export function repairScript({ cheat }: { readonly cheat: boolean }): Script {
  const cycles = cheat ? CHEATING : HONEST;
  return (request) => {
    const soFar = cycleSoFar(request);
    const steps = cycles[Math.min(soFar.cycle, cycles.length) - 1] ?? CLAIM;
    const step = steps[Math.min(soFar.replies, steps.length - 1)];
    return step?.(soFar) ?? { text: 'I have nothing left to do.' };
  };
}

function read(path: string, text: string): Answer {
  return { text, calls: [{ tool: 'read_file', input: { path } }] };
}

interface Change {
  readonly path: string;
  readonly find: string;
  readonly replace: string;
}

/** Of the file as this cycle has seen it last: read, or patched by itself. */
function patch(soFar: CycleSoFar, change: Change): Answer {
  const { after } = outputOf<{ readonly after?: string }>(soFar, 'patch_file');
  const { sha256 = '' } = outputOf<{ readonly sha256?: string }>(soFar, 'read_file');
  return {
    calls: [{ tool: 'patch_file', input: { ...change, expectedSha256: after ?? sha256 } }],
  };
}

/** What proves it is the run of the tests in this cycle. */
function stepDone(
  soFar: CycleSoFar,
  { id, title }: { readonly id: string; readonly title: string },
): Answer {
  const { evidence } = lastOf(soFar, 'run_tests') ?? {};
  const step = { id, title, status: 'done', evidence: evidence === undefined ? [] : [evidence] };
  return { calls: [{ tool: 'goal_plan', input: { steps: [step] } }] };
}

function outputOf<T extends object>(soFar: CycleSoFar, tool: string): Partial<T> {
  const output = lastOf(soFar, tool)?.output;
  return typeof output === 'object' && output !== null ? output : {};
}
