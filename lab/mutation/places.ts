/**
 * Every small change that could be made to an expression of the core: comparisons, logic, constants.
 * Types and comments decide nothing and have no place here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseSync } from '@swc/core';

/** A part of a file, in bytes. */
interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Place extends Span {
  /** From the root of the project. */
  readonly file: string;
  /** `core/a.ts:12 >= to >`. */
  readonly name: string;
  /** The expression as it stands, on one line. */
  readonly code: string;
  /** `>= to >`. */
  readonly change: string;
  /** The parts of the expression that stay, with their new operator; absent: the whole is replaced. */
  readonly around?: { readonly left: Span; readonly right: Span };
  readonly replace: string;
}

const OPERATORS: { readonly [operator: string]: string } = {
  '>=': '>',
  '>': '>=',
  '<=': '<',
  '<': '<=',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
};

/** Below the folder `core` of `root`, in the order of files and places. */
export function placesIn(root: string): readonly Place[] {
  return readdirSync(join(root, 'core'), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .flatMap((path) => placesOf(readFileSync(path, 'utf8'), relative(root, path)));
}

interface Node {
  readonly type?: string;
  readonly span?: Span;
  readonly [key: string]: unknown;
}

/** The parser counts on from file to file: a first statement of ours says where this one begins. */
const BEGIN = '0;';

export function placesOf(text: string, file: string): readonly Place[] {
  const { body } = parseSync(BEGIN + text, { syntax: 'typescript', target: 'es2022' });
  const [begin, ...statements] = body as unknown as readonly [Node, ...Node[]];
  const from = begin.span!.start + BEGIN.length;
  const bytes = Buffer.from(text);
  const at = ({ start, end }: Span): Span => ({ start: start - from, end: end - from });
  return nodesBelow(statements).flatMap((node): readonly Place[] => {
    const found = changeOf(node);
    if (found === undefined) return [];
    const { change, replace, whole, sides } = found;
    const span = at(whole);
    const line = bytes.subarray(0, span.start).toString().split('\n').length;
    const code = bytes.subarray(span.start, span.end).toString().replaceAll(/\s+/g, ' ');
    const around = sides && { left: at(sides.left), right: at(sides.right) };
    return [
      {
        ...span,
        file,
        name: `${file}:${line} ${change}`,
        code,
        change,
        replace,
        ...(around && { around }),
      },
    ];
  });
}

/** All nodes that run; of types nothing does. */
function nodesBelow(value: unknown): readonly Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesBelow);
  if (typeof value !== 'object' || value === null) return [];
  const node = value as Node;
  if (node.type?.startsWith('Ts')) return nodesBelow(node.expression);
  return [node, ...Object.values(node).flatMap(nodesBelow)];
}

interface Found {
  readonly change: string;
  readonly replace: string;
  readonly whole: Span;
  readonly sides?: { readonly left: Span; readonly right: Span };
}

function changeOf(node: Node): Found | undefined {
  if (node.type === 'BinaryExpression') return ofOperator(node);
  const value = valueOf(node);
  if (value?.type !== 'BooleanLiteral') return undefined;
  const [is, replace] = value.value === true ? ['true', 'false'] : ['false', 'true'];
  return { change: `${is} to ${replace}`, replace: replace!, whole: value.span! };
}

function ofOperator(node: Node): Found | undefined {
  const [operator, left, right] = [node.operator as string, node.left as Node, node.right as Node];
  const sides = { left: left.span!, right: right.span! };
  if (operator === '+' && right.type === 'NumericLiteral' && right.value === 1) {
    return { change: '+ 1 to + 2', replace: '+ 1 +', whole: node.span!, sides };
  }
  const replace = OPERATORS[operator];
  if (replace === undefined) return undefined;
  return { change: `${operator} to ${replace}`, replace, whole: node.span!, sides };
}

/** What a property has, or a condition falls back to. */
function valueOf(node: Node): Node | undefined {
  if (node.type === 'KeyValueProperty') return node.value as Node;
  return node.type === 'ConditionalExpression' ? (node.alternate as Node) : undefined;
}

/** `count` places chosen by `seed`. */
export function samplePlaces(root: string, count: number, seed: number): readonly Place[] {
  const random = generator(seed);
  const left = [...placesIn(root)];
  const chosen: Place[] = [];
  while (chosen.length < count && left.length > 0) {
    chosen.push(...left.splice(Math.floor(random() * left.length), 1));
  }
  return chosen;
}

/** A small, fast generator of numbers from 0 to 1 (mulberry32). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
