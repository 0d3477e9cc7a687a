/**
 * Hides texts in a bundle in such a way that it still replays (docs/guide/replay.md).
 * Invariants: a hidden text is replaced by one and the same marker wherever it stands; messages, large texts
 * and digests of calls get the names that their new content has; what comes out has replayed exactly, and has
 * no hidden text in it, or nothing comes out.
 * Errors: `RedactionRefused`.
 */
import { randomBytes } from 'node:crypto';
import type { HoldfastError } from '../../core/state/errors.js';
import type { Bundle, Redaction } from '../bundle.js';
import { reportLines } from '../report-text.js';
import { replayTree, reportsOf } from '../replay-tree.js';
import { isDigest } from '../digest-renames.js';
import { layersOf } from './escapes.js';
import { leakFinder, type Leak } from './leaks.js';
import { renamed, renamedContent } from './names.js';
import { replacerOf, type Replacer } from './replacer.js';
import { rewriteRecorded, type RewriteText } from './rewrite.js';
import type { RedactionRule } from './rules.js';
import { hiddenTexts, refused, shownPlace, type HiddenTexts } from './select.js';
import { placedDocuments } from './documents.js';
import { withoutFiles } from './files.js';
import {
  bundleOf,
  IN_MEMORY,
  keyedOf,
  recordedOf,
  replayableOf,
  type Recorded,
  type Shelf,
} from './recorded.js';

const PLACES_MAX = 200;
const MARKERS_MAX = 200;
/** Digests of digests: each round finds those that the one before has changed. */
const ROUNDS_MAX = 8;
/** How many rules an error names. */
const NAMED_MAX = 5;

export interface RedactionOptions {
  /** Rules may find nothing; default false, because such a rule is likelier misspelt than fulfilled. */
  readonly allowUnmatched?: boolean;
  /** Key of the markers' digests; default: drawn, and thrown away. */
  readonly salt?: string;
}

/** A bundle that is held whole. */
export async function redactBundle(
  bundle: Bundle,
  rules: readonly RedactionRule[],
  options: RedactionOptions = {},
): Promise<Bundle> {
  const openShelf = (): Promise<Shelf> => Promise.resolve(IN_MEMORY);
  return bundleOf(await redactRecorded(recordedOf(bundle), rules, { ...options, openShelf }));
}

export interface RecordedOptions extends RedactionOptions {
  /** Shelves that nothing of the result lies on are closed here; the caller closes the others. */
  readonly openShelf: () => Promise<Shelf>;
}

export async function redactRecorded(
  recorded: Recorded,
  rules: readonly RedactionRule[],
  options: RecordedOptions,
): Promise<Recorded> {
  const { allowUnmatched = false, salt = randomBytes(32).toString('hex'), openShelf } = options;
  const before = await replayTree(replayableOf(recorded));
  if (!before.equal) {
    throw refused(
      `The run does not replay as it is, so nobody can tell what hiding would change. ${reportLines(before)[0]}`,
      'See `holdfast replay RUN`, or export the run without --redact.',
    );
  }
  const bare = await withoutFiles(recorded);
  const { hidden, unmatched } = await hiddenTexts(placedDocuments(bare.recorded), rules);
  if (unmatched.length > 0 && !allowUnmatched) throw refusedRules(unmatched);
  const replacer = replacerOf(hidden, salt);
  const shelf = await openShelf();
  const { recorded: replaced, redactions } = await replaceTexts(bare.recorded, hidden, {
    replacer,
    rules,
    shelf,
  });
  const named = await renamedContent({ recorded, replaced, salt }, await openShelf());
  await shelf.close();
  const redacted = {
    ...(await settled(named, openShelf)),
    redactions: [...recorded.redactions, ...redactions, ...bare.redactions],
  };
  await refuseLeaks(redacted, leakFinder(hidden, replacer), recorded.redactions.length);
  return redacted;
}

function refusedRules(unmatched: readonly string[]): HoldfastError {
  const more = unmatched.length > NAMED_MAX ? ` and ${unmatched.length - NAMED_MAX} more` : '';
  const names = `${unmatched.slice(0, NAMED_MAX).join(', ')}${more}`;
  const [these, them] = unmatched.length === 1 ? ['this rule', 'it'] : ['these rules', 'them'];
  return refused(
    `Nothing in the run matches ${these}: ${names}.`,
    `No file is written: look for what should be hidden, and mend ${them} (names, pointers and patterns are case-sensitive), or pass --allow-unmatched if the run need not have such texts.`,
    { unmatched },
  );
}

interface Replacing {
  readonly replacer: Replacer;
  readonly rules: readonly RedactionRule[];
  readonly shelf: Shelf;
}

async function replaceTexts(
  recorded: Recorded,
  hidden: HiddenTexts,
  { replacer, rules, shelf }: Replacing,
): Promise<{ readonly recorded: Recorded; readonly redactions: readonly Redaction[] }> {
  const found = new Map(
    rules.map(({ name }) => [
      name,
      { markers: new Set<string>(), places: new Set<string>(), count: 0 },
    ]),
  );
  const { redactions: _, ...content } = recorded;
  const whole = new Set<string>();
  const text = (before: string, place: string): string => {
    const replacement = replacer.replace(before);
    for (const one of replacement.whole) whole.add(one);
    for (const one of replacement.hidden) {
      const rule = found.get(hidden.get(one)!)!;
      rule.count += 1;
      if (rule.markers.size < MARKERS_MAX) rule.markers.add(replacer.markerOf(one));
      if (rule.places.size < PLACES_MAX) rule.places.add(place);
    }
    return replacement.text;
  };
  const replaced = await rewriteRecorded(content, { text }, shelf);
  refuseUnmet(hidden, whole);
  const redactions = [...found].map(([rule, { markers, places, count }]) => ({
    rule,
    markers: [...markers],
    places: [...places],
    count,
  }));
  return { recorded: { ...replaced, redactions: [] }, redactions };
}

/** Errors: `RedactionRefused` when a rule has found what was then nowhere to be replaced. */
export function refuseUnmet(hidden: HiddenTexts, whole: ReadonlySet<string>): void {
  const missing = [...hidden].filter(([text]) => !whole.has(text));
  for (const [text, rule] of missing) {
    const isWithin = [...whole].some((one) =>
      [...layersOf(one)].some((layer) => layer.includes(text)),
    );
    if (isWithin) continue;
    throw refused(
      `Rule ${rule} matches a text that can be replaced nowhere: it stands in a form that no rule reaches.`,
      'No file is written. Let a rule match the text as it is written there, or more of what is around it.',
    );
  }
}

/**
 * The core makes digests of its own, of texts that are now others. Where a replay differs in nothing but such
 * a digest, it is renamed too; any other difference means that a hidden text decides something.
 */
async function settled(recorded: Recorded, openShelf: () => Promise<Shelf>): Promise<Recorded> {
  let current = recorded;
  let last: Shelf | undefined;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const report = await replayTree(replayableOf(current));
    if (report.equal) return current;
    const names = new Map<string, string>();
    const reports = reportsOf(report);
    const differences = reports.flatMap((one) => one.differences);
    let isBroken = reports.some(({ error }) => error !== undefined);
    for (const { recorded, replayed, renames = [] } of differences) {
      for (const [before, after] of renames) names.set(before, after);
      if (isDigest(recorded) && isDigest(replayed)) names.set(recorded, replayed);
      else if (renames.length === 0) isBroken = true;
    }
    if (isBroken) {
      throw refused(
        `A text that the rules hide decides something in this run: ${reportLines(report).slice(1).join(' ').trim()}`,
        'Let the rules hide less: a name that recorded events have too, such as `reason`, needs a pointer, such as /call/args/reason.',
      );
    }
    const shelf = await openShelf();
    current = await renamed(current, names, shelf);
    await last?.close();
    last = shelf;
  }
  throw refused(
    'The texts that the rules hide change digests without end.',
    'Let the rules hide less.',
  );
}

/** Looks at everything and keeps nothing. */
const NOWHERE: Shelf = {
  async list(values) {
    for await (const _ of values);
    return [];
  },
  async keyed(values) {
    for await (const _ of values);
    return keyedOf([], () => Promise.reject(new Error('nothing was kept')));
  },
  close: () => Promise.resolve(),
};

/** Where a bundle says which rules hid texts of it. */
const RULE_NAME = /^\/redactions\/(\d+)\/rule$/;

/** Without the name: it is the text. `isEarlier`: the rule is one of those that hid texts of this bundle before. */
function namedAsText(isEarlier: boolean): HoldfastError {
  if (isEarlier) {
    return refused(
      'The bundle was redacted before, and names a rule of then: that name holds a text that a rule hides now.',
      'Export the run once more, and redact that bundle with the rules of then and of now, the named one under another name.',
    );
  }
  return refused(
    'The name of a rule holds a text that a rule hides, and the bundle names its rules.',
    'Give that rule another name, one that says what kind of text it hides.',
  );
}

async function refuseLeaks(
  recorded: Recorded,
  find: (text: string) => Leak | undefined,
  earlier: number,
): Promise<void> {
  const look = (text: string, place: string): string => {
    const leak = find(text);
    if (leak === undefined) return text;
    const rule = RULE_NAME.exec(place)?.[1];
    if (rule !== undefined) throw namedAsText(Number(rule) < earlier);
    throw refused(
      `A part of a text that rule ${leak.rule} hides would remain at ${shownPlace(place)}, ${leak.form}.`,
      'The text stands there in another form, or as the name of a value. Let the rules find that form too.',
    );
  };
  // A name is a part of its place, and nobody should read it there.
  const name: RewriteText = (text, place) => look(text, place.slice(0, place.lastIndexOf('/')));
  await rewriteRecorded(recorded, { text: look, name }, NOWHERE);
}
