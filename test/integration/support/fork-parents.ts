/** Recorded runs with effects, of different make: their forks do none of them again without a person. */
import type { ScriptedAnswer } from '../../../testing/index.js';
import type { Decision } from './forking.js';
import { call, pay, read, say } from './world.js';

export interface ForkParent {
  readonly name: string;
  readonly replies: readonly ScriptedAnswer[];
  /** How people answered the parent's questions. */
  readonly decision?: Decision;
  /** Calls of its script whose effects it had. */
  readonly effects: number;
  /** Of the budget: the parent ended before its script did. */
  readonly maxTurns?: number;
  /** The parent is itself a fork of another one, at this step. */
  readonly forkOf?: { readonly name: string; readonly step: number };
}

const together = (...calls: readonly ReturnType<typeof call>[]) => ({
  calls: calls.flatMap((one) => one.calls),
});
const note = (item = 'lamp') => call('notes.write', { item });
const PAID = say('Paid.');

export const FORK_PARENTS: readonly ForkParent[] = [
  { name: 'keyed', replies: [read(), pay('pay.keyed'), PAID], effects: 1 },
  { name: 'blind', replies: [read(), pay('pay.blind'), PAID], effects: 1 },
  { name: 'probed', replies: [read(), pay('pay.probed'), PAID], effects: 1 },
  { name: 'approved', replies: [read(), pay('pay.asked'), PAID], decision: 'approve', effects: 1 },
  { name: 'rejected', replies: [read(), pay('pay.asked'), PAID], decision: 'reject', effects: 0 },
  { name: 'with a card', replies: [pay('pay.carded'), PAID], decision: 'approve', effects: 1 },
  {
    name: 'two approvals',
    replies: [pay('pay.asked', 100), pay('pay.carded', 200), PAID],
    decision: 'approve',
    effects: 2,
  },
  {
    name: 'two approvals of one reply',
    replies: [together(pay('pay.asked', 100), pay('pay.asked', 200)), PAID],
    decision: 'approve',
    effects: 2,
  },
  {
    name: 'two tools of one reply',
    replies: [together(pay('pay.keyed', 100), pay('pay.blind', 200)), PAID],
    effects: 2,
  },
  {
    name: 'an effect beside a read',
    replies: [together(read(), pay('pay.probed'), read('desk')), PAID],
    effects: 1,
  },
  {
    name: 'three payments one after the other',
    replies: [pay('pay.keyed', 1), pay('pay.keyed', 2), pay('pay.keyed', 3), PAID],
    effects: 3,
  },
  { name: 'the same twice', replies: [pay('pay.blind'), pay('pay.blind'), PAID], effects: 2 },
  { name: 'a write that may be repeated', replies: [note(), read(), PAID], effects: 1 },
  {
    name: 'writes and a payment',
    replies: [note('one'), pay('pay.keyed'), note('two'), PAID],
    effects: 3,
  },
  {
    name: 'a payment that found no money before one that did',
    replies: [call('odd.pay', { how: 'tool_error' }), pay('pay.keyed'), PAID],
    effects: 1,
  },
  {
    name: 'an approved call of any arguments',
    replies: [call('any.pay', { order: 'A1', note: 'x'.repeat(3_000) }), PAID],
    decision: 'approve',
    effects: 1,
  },
  {
    name: 'a payment behind a call that does not exist',
    replies: [call('no.such.tool', {}), pay('pay.probed'), PAID],
    effects: 1,
  },
  {
    name: 'an end by its budget behind a payment',
    replies: [read(), pay('pay.keyed'), read('desk'), read('bed'), PAID],
    maxTurns: 3,
    effects: 1,
  },
  {
    name: 'a large read before a payment',
    replies: [call('odd.read', { how: 'surrogates' }), pay('pay.blind', 900), PAID],
    effects: 1,
  },
  {
    name: 'a fork itself',
    replies: [read(), pay('pay.asked'), pay('pay.keyed'), PAID],
    decision: 'approve',
    effects: 2,
    forkOf: { name: 'original', step: 2 },
  },
];
