/** The tools that every domain has: calculating, thinking, handing over. None of them changes a record. */
import { evaluateExpression } from '../python/arithmetic.js';
import { typeName } from '../python/python-value.js';
import { ToolError } from '../python/tool-error.js';
import type { BoundArguments } from './arguments.js';
import type { World } from './world.js';

export function calculate(world: World, args: BoundArguments): string {
  const expression = args.get('expression') ?? null;
  if (typeof expression !== 'string') {
    throw new ToolError(`'${typeName(expression)}' object is not iterable`);
  }
  if (!/^[-0-9+*/(). ]*$/.test(expression)) {
    const tau2 = world.dialect === 'tau2';
    throw new ToolError(`${tau2 ? 'I' : 'i'}nvalid characters in expression`);
  }
  return evaluateExpression(expression);
}

/** Thinking changes nothing and answers nothing. */
export function think(): string {
  return '';
}

export function transferToHumanAgents(): string {
  return 'Transfer successful';
}
