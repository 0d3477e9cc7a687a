/** Form of the file of a bundle, as a whole and in its pieces. */
import { z } from 'zod';
import { BUNDLE_FORMAT, SEGMENTS_MAX } from './bundle.js';
import { EVENT_ID, NAME_CHARS_MAX, oddIn } from './bundle-forms.js';
import { DEPTH_MAX, MEMBERS_MAX } from './tree.js';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const name = z.string().min(1).max(NAME_CHARS_MAX);
const wholeNumber = z.number().int().min(0);

const historyEvent = z.looseObject({
  eventId: z.string().regex(EVENT_ID),
  eventType: name,
});

const segment = z.strictObject({
  segment: wholeNumber,
  execution: name,
  source: z.enum(['temporal', 'store']),
  events: z.array(historyEvent).min(1),
});

/** An event of a type that this release does not know may have any fields. */
const runEvent = z
  .looseObject({ type: name, stamp: z.looseObject({ seq: wholeNumber }) })
  .superRefine((event, problems) => {
    const odd = oddIn(event);
    if (odd === undefined) return;
    const { type, stamp } = event;
    const message = `the event ${stamp.seq} (${type}) has no ${odd} as such an event has it`;
    problems.addIssue({ code: 'custom', message });
  });

const recordedRun = {
  run: z.strictObject({ tenant: name, runId: name }),
  versions: z.strictObject({
    exporter: name,
    rules: wholeNumber.nullable(),
    code: z.array(name),
    frozen: z.record(z.string(), z.string()),
  }),
  segments: z.array(segment).min(1).max(SEGMENTS_MAX),
  events: z.array(runEvent),
};

export const aloneDocument = z.strictObject({
  format: z.literal(BUNDLE_FORMAT),
  v: z.literal(1),
  digest: hash,
  exportedAt: wholeNumber,
  ...recordedRun,
  nodes: z.record(hash, z.looseObject({})),
  blobs: z.record(hash, z.string()),
  redactions: z.array(
    z.strictObject({
      rule: name,
      markers: z.array(z.string()),
      places: z.array(z.string()),
      count: wholeNumber,
    }),
  ),
});

export const treeDocument = aloneDocument.extend({
  v: z.literal(2),
  members: z.array(
    z.strictObject({
      parent: name,
      agentPath: z.array(name).max(DEPTH_MAX).optional(),
      ...recordedRun,
    }),
  ),
  absent: z
    .array(z.strictObject({ runId: name, parent: name, reason: name }))
    .max(MEMBERS_MAX)
    .optional(),
});

/** What of a document, or of a member, is read in pieces; the rest is small. */
const IN_PIECES = { segments: true, events: true } as const;
const OF_RUNS = { ...IN_PIECES, nodes: true, blobs: true } as const;

export const pieces = {
  /** With any events. */
  segment: segment.extend({ events: z.array(z.unknown()).min(1) }),
  historyEvent,
  runEvent,
  run: recordedRun.run,
  node: z.looseObject({}),
  hash,
  /** Without its members. */
  alone: aloneDocument.omit(OF_RUNS),
  tree: treeDocument.omit({ ...OF_RUNS, members: true }),
  member: treeDocument.shape.members.element.omit(IN_PIECES),
} as const;
