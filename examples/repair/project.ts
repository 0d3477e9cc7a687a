/**
 * The repository that is repaired, as texts: six of its tests fail, and its linter has findings. Its tests call the code
 * under test in a process of its own, so that no line of that code ever runs where it is judged.
 */

/** Tests that must pass. */
export const TESTS = 9;

const AMOUNT = `// Amounts of money, in cents.

/** Reads an amount as people write it: "12,50", "12.5", "1 200". */
export function parseAmount(text) {
  var parts = text.replace(' ', '').split(',');
  return Number(parts[0]) * 100 + Number(parts[1]);
}

/** Writes cents as people read them: 1250 is "12.50 EUR". */
export function formatAmount(cents) {
  return cents / 100 + ' EUR';
}
`;

const INVOICE = `// Invoices: lines of { quantity, price }, prices in cents.

/** The sum of an invoice; a discount is in percent, and half a cent is rounded up. */
export function total(lines, discount) {
  let sum = 0;
  for (const line of lines) sum += line.price;
  if (discount == undefined) return sum;
  console.log('discount', discount);
  return sum * (1 - discount / 100);
}
`;

const AMOUNT_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from './ask.mjs';

const parse = (...texts) => ask('amount', 'parseAmount', texts.map((text) => [text]));
const format = (...cents) => ask('amount', 'formatAmount', cents.map((one) => [one]));

test('a comma separates euros and cents', () => assert.deepEqual(parse('12,50', '0,99'), [1250, 99]));
test('a point does so as well', () => assert.deepEqual(parse('12.50', '7.05'), [1250, 705]));
test('one digit behind the comma is ten cents', () => assert.deepEqual(parse('12,5'), [1250]));
test('without cents there are none', () => assert.deepEqual(parse('12', '1 200', '1 000 000'), [1200, 120000, 100000000]));
test('cents are written with two digits', () => assert.deepEqual(format(1250, 705, 99), ['12.50 EUR', '7.05 EUR', '0.99 EUR']));
`;

const INVOICE_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from './ask.mjs';

const total = (lines, ...discount) => ask('invoice', 'total', [[lines, ...discount]])[0];

test('an invoice without lines is nothing', () => assert.equal(total([]), 0));
test('prices are added up', () => assert.equal(total([{ quantity: 1, price: 250 }, { quantity: 1, price: 100 }]), 350));
test('quantities count', () => assert.equal(total([{ quantity: 3, price: 250 }]), 750));
test('a discount is rounded to whole cents', () => assert.equal(total([{ quantity: 1, price: 999 }], 15), 849));
`;

/** Judges never run what they judge: the answer of another process is all that comes here. */
const ASK = `import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const OWN = [process.execPath, fileURLToPath(new URL('./driver.mjs', import.meta.url))];
const TIME_LIMIT_MS = 20_000;

/** Calls a function of src/ once with each list of arguments; gives its answers. */
export function ask(module, name, calls) {
  const [command, ...args] = process.env.ASK_COMMAND ? JSON.parse(process.env.ASK_COMMAND) : OWN;
  const { status, stdout, stderr, signal } = spawnSync(command, args, {
    input: JSON.stringify({ module, name, calls }),
    env: { PATH: process.env.PATH },
    encoding: 'utf8',
    timeout: TIME_LIMIT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 1_000_000,
  });
  const answer = (stdout ?? '').trimEnd().split('\\n').at(-1);
  if (status !== 0) throw new Error(\`\${module}.\${name} ended \${signal ?? status}: \${String(stderr).slice(-500)}\`);
  return JSON.parse(answer);
}
`;

const DRIVER = `import { readFileSync } from 'node:fs';

const { module, name, calls } = JSON.parse(readFileSync(0, 'utf8'));
const code = await import(new URL(\`../src/\${module}.mjs\`, import.meta.url));
console.log(JSON.stringify(calls.map((args) => code[name](...args) ?? null)));
`;

/** Reads sources as texts and never runs them. */
const LINT = `import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const RULES = {
  'no-var': /\\bvar\\b/,
  'no-loose-equality': /[^=!]==[^=]/,
  'no-console': /\\bconsole\\./,
  'no-trailing-space': /[ \\t]$/,
};
const folder = process.argv[2] ?? 'src';
const rules = JSON.parse(readFileSync(new URL('./lint.json', import.meta.url), 'utf8')).rules;
const findings = [];
for (const file of readdirSync(folder).filter((name) => name.endsWith('.mjs')).sort()) {
  const path = join(folder, file);
  const { status } = spawnSync(process.execPath, ['--check', path], { env: {}, timeout: 20_000 });
  if (status !== 0) findings.push({ file, line: 0, rule: 'syntax' });
  for (const [index, line] of readFileSync(path, 'utf8').split('\\n').entries()) {
    for (const rule of rules) if (RULES[rule].test(line)) findings.push({ file, line: index + 1, rule });
  }
}
console.log(JSON.stringify(findings));
process.exitCode = findings.length === 0 ? 0 : 1;
`;

const REPORTER = `/** A line of JSON for each test. */
export default async function* (events) {
  for await (const { type, data } of events) {
    const isTest = (type === 'test:pass' || type === 'test:fail') && data.details?.type !== 'suite';
    if (!isTest) continue;
    const because = data.details?.error?.cause?.message ?? data.details?.error?.message;
    yield \`\${JSON.stringify({ test: data.name, passed: type === 'test:pass', because })}\\n\`;
  }
}
`;

const LINT_RULES = `{ "rules": ["no-var", "no-loose-equality", "no-console", "no-trailing-space"] }
`;

const README = `# prices

Amounts and invoices of a small shop. \`node --test test/\` runs the tests, \`node lint.mjs src\` the linter.
`;

/** By path. */
export type Files = Readonly<Record<string, string>>;

/** The code, which may be changed. */
export const SOURCES: Files = { 'src/amount.mjs': AMOUNT, 'src/invoice.mjs': INVOICE };

/** Tests and configuration: the agent has a copy, the checks have theirs. */
export const JUDGES: Files = {
  'test/amount.test.mjs': AMOUNT_TEST,
  'test/invoice.test.mjs': INVOICE_TEST,
  'test/ask.mjs': ASK,
  'test/driver.mjs': DRIVER,
  'reporter.mjs': REPORTER,
  'lint.mjs': LINT,
  'lint.json': LINT_RULES,
};

export const REPOSITORY: Files = { 'README.md': README, ...SOURCES, ...JUDGES };
