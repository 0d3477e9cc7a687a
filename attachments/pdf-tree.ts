/**
 * Pages of the objects of a PDF: those that say they are one, and those that nodes of the page tree speak of.
 * Invariant: one pass over a text, with a limit of what is looked at in it.
 */
import { nameOf } from './pdf-names.js';

const NAMES = ['Type', 'Page', 'Pages', 'Count', 'Kids'] as const;
/** Groups of the name that was found; the bounds of dictionaries and objects have none. */
const TOKENS = new RegExp(
  [...NAMES.map((name) => `(${nameOf(name)})`), '<<', '>>', '\\bendobj\\b'].join('|'),
  'g',
);
/** About a second. */
const TOKENS_MAX = 5_000_000;
/** Of dictionaries; streams may look like some. */
const DEPTH_MAX = 10_000;

export interface PageCount {
  /** Whether the text could be looked through. */
  add(text: string): boolean;
  pages(): number;
}

interface Dictionary {
  isNode: boolean;
  count: number;
  hasCount: boolean;
  kids: number;
  hasKids: boolean;
}

interface Tally {
  tokensLeft: number;
  /** Objects that say that they are pages. */
  pages: number;
  /** The most that a node says. */
  count: number;
  /** Of all nodes; each but the first is a child of another. */
  kids: number;
}

export function newPageCount(): PageCount {
  const tally: Tally = { tokensLeft: TOKENS_MAX, pages: 0, count: 0, kids: 0 };
  return {
    add: (text) => addText(tally, text),
    pages: () => Math.max(tally.pages, tally.count, tally.kids === 0 ? 0 : tally.kids + 1),
  };
}

function addText(tally: Tally, text: string): boolean {
  const open: Dictionary[] = [];
  let valueFrom = -1;
  for (const found of text.matchAll(TOKENS)) {
    tally.tokensLeft -= 1;
    if (tally.tokensLeft < 0 || open.length > DEPTH_MAX) return false;
    const [token] = found;
    const name = nameIn(found);
    const own = open.at(-1);
    const next = found.index + token.length;
    const isType = valueFrom !== -1 && isBlank(text.slice(valueFrom, found.index));
    valueFrom = name === 'Type' ? next : -1;
    if (name === 'Type' && hidesValue(text, next)) return false;
    if (name === 'Page' && isType) tally.pages += 1;
    if (own !== undefined && name !== undefined) note(own, { name, isType, text, next });
    if (token === '<<') open.push(emptyDictionary());
    if (token === '>>') close(tally, open.splice(-1));
    // What a stream looked like ends with its object.
    if (token === 'endobj') close(tally, open.splice(0));
  }
  close(tally, open);
  return true;
}

type Name = (typeof NAMES)[number];

function nameIn(found: RegExpExecArray): Name | undefined {
  return NAMES.find((_, at) => found[at + 1] !== undefined);
}

interface Noted {
  readonly name: Name;
  /** Whether the name is the value of a type. */
  readonly isType: boolean;
  readonly text: string;
  readonly next: number;
}

function note(own: Dictionary, { name, isType, text, next }: Noted): void {
  if (name === 'Pages' && isType) own.isNode = true;
  if (name === 'Kids') {
    own.hasKids = true;
    own.kids += kidsFrom(text, next);
  }
  if (name !== 'Count') return;
  own.hasCount = true;
  const number = /^[\0\s]{0,100}\+?(\d{1,9})/.exec(text.slice(next, next + 120));
  own.count = Math.max(own.count, Number(number?.[1] ?? 0));
}

/** References of the list that begins here. */
function kidsFrom(text: string, from: number): number {
  let kids = 0;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === 'R') kids += 1;
    else if (!KIDS_CHARS.includes(char)) break;
  }
  return kids;
}

const KIDS_CHARS = '[0123456789\0\t\n\f\r ';

/** Outlines have a count and no kids; name trees and fields have kids and no count. */
function close(tally: Tally, dictionaries: readonly Dictionary[]): void {
  for (const { isNode, hasCount, hasKids, count, kids } of dictionaries) {
    if (!isNode && !(hasCount && hasKids)) continue;
    tally.count = Math.max(tally.count, count);
    tally.kids += Math.max(0, kids - 1);
  }
}

function emptyDictionary(): Dictionary {
  return { isNode: false, count: 0, hasCount: false, kids: 0, hasKids: false };
}

/** A type that is a comment or a reference away is none that can be counted; nobody writes it so. */
function hidesValue(text: string, next: number): boolean {
  return /^[\0\s]{0,100}(?:[%\d]|[\0\s]$)/.test(text.slice(next, next + 101));
}

function isBlank(text: string): boolean {
  return !/[^\0\s]/.test(text);
}
