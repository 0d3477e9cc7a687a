/** Texts that users may meet: literals, templates and JSX of sources, by their syntax; prose of documents. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';

export interface Text {
  readonly file: string;
  readonly text: string;
}

/** Stands for a value that is filled in. */
const VALUE = '…';

/** Of a syntax tree, whatever its node is. */
type Node = { readonly type?: string; readonly [field: string]: unknown };

/** Every text of a source file; parts that are joined by `+` are one. Comments and types are none. */
export function textsOfSource(root: string, file: string): readonly Text[] {
  const source = readFileSync(join(root, file), 'utf8');
  const tree = parseSync(source, { syntax: 'typescript', tsx: file.endsWith('x') });
  const texts: string[] = [];
  collect(tree as unknown as Node, texts);
  return texts.map((text) => ({ file, text }));
}

function collect(node: unknown, texts: string[]): void {
  if (Array.isArray(node)) return node.forEach((one) => collect(one, texts));
  if (typeof node !== 'object' || node === null) return;
  const one = node as Node;
  if (one.type === 'ImportDeclaration' || one.type?.startsWith('Ts') === true) {
    return 'expression' in one ? collect(one['expression'], texts) : undefined;
  }
  const text = textOf(one);
  if (text !== undefined) texts.push(text);
  if (one.type === 'StringLiteral') return;
  // What a joined text holds besides words may hold texts of its own.
  const inner = text === undefined ? Object.values(one) : holesOf(one);
  for (const value of inner) collect(value, texts);
}

/** The words of a node that is a text; undefined: it is none. */
function textOf(node: Node): string | undefined {
  switch (node.type) {
    case 'StringLiteral':
    case 'JSXText':
      return node['value'] as string;
    case 'TemplateLiteral':
      return (node['quasis'] as readonly { readonly cooked: string }[])
        .map(({ cooked }) => cooked)
        .join(VALUE);
    case 'BinaryExpression': {
      if (node['operator'] !== '+') return undefined;
      const [left, right] = [textOf(node['left'] as Node), textOf(node['right'] as Node)];
      if (left === undefined && right === undefined) return undefined;
      return `${left ?? VALUE}${right ?? VALUE}`;
    }
    default:
      return undefined;
  }
}

function holesOf(node: Node): readonly unknown[] {
  if (node.type === 'TemplateLiteral') return node['expressions'] as readonly unknown[];
  if (node.type !== 'BinaryExpression') return [];
  return [node['left'], node['right']].flatMap((side) =>
    textOf(side as Node) === undefined ? [side] : holesOf(side as Node),
  );
}

/** Paragraphs, list items and cells of a document, without code and marks. */
export function textsOfDocument(root: string, file: string): readonly Text[] {
  const prose = readFileSync(join(root, file), 'utf8')
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/<!--[\s\S]*?-->/g, '');
  return prose
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=#)|\n(?=\|)|(?<=\|)\s/)
    .map((part) => part.replace(/^[\s#|>*-]+|\*\*|`/g, '').replace(/\s+/g, ' '))
    .map((text) => ({ file, text: text.replace(/\s*\|\s*$/, '').trim() }))
    .filter(({ text }) => text !== '');
}

const BEGINNINGS =
  /(?:^|[.!?:]["'”)]?\s+|\n\s*)((?:It|Its|It’s|It's|What|Whoever|Nobody)\b[^.\n]{0,80})/g;

/** Sentences that name no subject. */
export function vagueSentences({ text }: Text): readonly string[] {
  return [...text.trim().matchAll(BEGINNINGS)].map(([, sentence = '']) => sentence);
}
