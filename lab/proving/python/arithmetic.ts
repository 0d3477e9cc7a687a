/**
 * The arithmetic of the `calculate` tool: Python's expressions over numbers, `+ - * / // **` and
 * parentheses. A parser of its own, because the text comes from a model and must never be
 * evaluated as code.
 */
import { ToolError } from './tool-error.js';
import { add, formatFloat, multiply, negate, roundToCents, subtract } from './python-number.js';
import type { PyNumber } from './python-value.js';

const EXPRESSION_CHARS_MAX = 4_096;
const PARENTHESES_MAX = 100;
/** Python would compute powers of any size; this keeps a hostile one from occupying the process. */
const POWER_BITS_MAX = 4_096;

interface Cursor {
  readonly tokens: readonly string[];
  at: number;
  depth: number;
}

/** The text that `calculate` answers: the value rounded to cents, always as a float. */
export function evaluateExpression(expression: string): string {
  if (expression.length > EXPRESSION_CHARS_MAX) throw new ToolError('expression too long');
  const tokens = expression.match(/\*\*|\/\/|[-+*/()]|(?:\d+\.?\d*|\.\d+)|\S/g) ?? [];
  const cursor: Cursor = { tokens, at: 0, depth: 0 };
  if (tokens.length === 0) throw syntaxError('invalid syntax', 0);
  const value = readSum(cursor);
  const rest = cursor.tokens[cursor.at];
  if (rest !== undefined) throw syntaxError(rest === ')' ? "unmatched ')'" : 'invalid syntax');
  return formatFloat(Number(roundToCents(toFloat(value))));
}

function readSum(cursor: Cursor): PyNumber {
  let value = readProduct(cursor);
  for (;;) {
    if (takes(cursor, '+')) value = add(value, readProduct(cursor));
    else if (takes(cursor, '-')) value = subtract(value, readProduct(cursor));
    else return value;
  }
}

function readProduct(cursor: Cursor): PyNumber {
  let value = readSigned(cursor);
  for (;;) {
    if (takes(cursor, '*')) value = multiply(value, readSigned(cursor));
    else if (takes(cursor, '//')) value = floorDivide(value, readSigned(cursor));
    else if (takes(cursor, '/')) value = divide(value, readSigned(cursor));
    else return value;
  }
}

function readSigned(cursor: Cursor): PyNumber {
  let negative = false;
  for (;;) {
    if (takes(cursor, '-')) negative = !negative;
    else if (!takes(cursor, '+')) break;
  }
  const value = readPower(cursor);
  return negative ? negate(value) : value;
}

function readPower(cursor: Cursor): PyNumber {
  const base = readAtom(cursor);
  if (!takes(cursor, '**')) return base;
  if ((cursor.depth += 1) > PARENTHESES_MAX) throw syntaxError('too many nested parentheses');
  const value = power(base, readSigned(cursor));
  cursor.depth -= 1;
  return value;
}

function readAtom(cursor: Cursor): PyNumber {
  if (takes(cursor, '(')) {
    if ((cursor.depth += 1) > PARENTHESES_MAX) throw syntaxError('too many nested parentheses');
    const value = readSum(cursor);
    if (!takes(cursor, ')')) throw unclosed(cursor);
    cursor.depth -= 1;
    return value;
  }
  const token = cursor.tokens[cursor.at];
  if (token === undefined)
    throw cursor.depth > 0 ? unclosed(cursor) : syntaxError('invalid syntax');
  if (!/\d/.test(token)) throw syntaxError('invalid syntax');
  cursor.at += 1;
  if (token.includes('.')) return Number(token);
  if (/^0+[1-9]/.test(token)) {
    throw syntaxError(
      'leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers',
    );
  }
  return BigInt(token);
}

function unclosed(cursor: Cursor): ToolError {
  const next = cursor.tokens[cursor.at];
  if (next === undefined) return syntaxError("'(' was never closed");
  // Two numbers side by side in parentheses look like a list.
  const listed = /^[\d.]/.test(next);
  return syntaxError(`invalid syntax${listed ? '. Perhaps you forgot a comma?' : ''}`);
}

function divide(left: PyNumber, right: PyNumber): number {
  if (Number(right) === 0) {
    const whole = typeof left === 'bigint' && typeof right === 'bigint';
    throw new ToolError(whole ? 'division by zero' : 'float division by zero');
  }
  return toFloat(left) / toFloat(right);
}

function floorDivide(left: PyNumber, right: PyNumber): PyNumber {
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    if (right === 0n) throw new ToolError('integer division or modulo by zero');
    const quotient = left / right;
    return left % right !== 0n && left < 0n !== right < 0n ? quotient - 1n : quotient;
  }
  if (Number(right) === 0) throw new ToolError('float floor division by zero');
  return floorDivideFloats(Number(left), Number(right));
}

/** By way of the exact remainder: rounding `left / right` first could reach the next whole number. */
function floorDivideFloats(left: number, right: number): number {
  const rest = left % right;
  const below = rest !== 0 && rest < 0 !== right < 0 ? 1 : 0;
  const quotient = (left - rest) / right - below;
  // A zero keeps the sign that the exact quotient would have.
  if (quotient === 0) return Object.is(Math.sign(left / right), -0) || left / right < 0 ? -0 : 0;
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

function power(base: PyNumber, exponent: PyNumber): PyNumber {
  if (Number(base) === 0 && exponent < 0) {
    throw new ToolError('0.0 cannot be raised to a negative power');
  }
  if (typeof base === 'bigint' && typeof exponent === 'bigint' && exponent >= 0n) {
    const bits = BigInt(base.toString(2).length) * exponent;
    if (bits > POWER_BITS_MAX) throw new ToolError('int too large to convert to float');
    return base ** exponent;
  }
  const value = Number(base) ** Number(exponent);
  if (Number.isNaN(value)) {
    throw new ToolError("float() argument must be a string or a real number, not 'complex'");
  }
  if (!Number.isFinite(value)) throw new ToolError("(34, 'Numerical result out of range')");
  return value;
}

function toFloat(value: PyNumber): number {
  const float = Number(value);
  if (typeof value === 'bigint' && !Number.isFinite(float)) {
    throw new ToolError('int too large to convert to float');
  }
  return float;
}

function takes(cursor: Cursor, token: string): boolean {
  if (cursor.tokens[cursor.at] !== token) return false;
  cursor.at += 1;
  return true;
}

function syntaxError(what: string, line = 1): ToolError {
  return new ToolError(`${what} (<string>, line ${line})`);
}
