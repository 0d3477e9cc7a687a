/**
 * Hides texts in a bundle in such a way that it still replays (docs/guide/replay.md).
 * Invariants: a hidden text is replaced by one and the same marker wherever it stands; messages, large texts
 * and digests of calls get the names that their new content has; what comes out has replayed exactly, and has
 * no hidden text in it, or nothing comes out.
 * Errors: `RedactionRefused`.
 */
import { randomBytes } from 'node:crypto';
import type { HoldfastError } from '../../core/state/errors.js';
import type { Json } from '../../core/json/json.js';
import type { Bundle, Redaction } from '../bundle.js';
import { reportLines } from '../report-text.js';
import { replayTree, reportsOf } from '../replay-tree.js';
import { isDigest, renamedContent, renaming } from './names.js';
import { replacerOf, type Replacer } from './replacer.js';
import { rewrite } from './rewrite.js';
import type { RedactionRule } from './rules.js';
import { hiddenTexts, refused, type HiddenTexts } from './select.js';
import { documentsOf, placedDocuments } from './documents.js';
import { withoutFiles } from './files.js';

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

export async function redactBundle(
  bundle: Bundle,
  rules: readonly RedactionRule[],
  { allowUnmatched = false, salt = randomBytes(32).toString('hex') }: RedactionOptions = {},
): Promise<Bundle> {
  const before = await replayTree(bundle);
  if (!before.equal) {
    throw refused(
      `The run does not replay as it is, so nobody can tell what hiding would change. ${reportLines(before)[0]}`,
      'See `holdfast replay RUN`, or export the run without --redact.',
    );
  }
  const bare = withoutFiles(bundle, documentsOf(bundle));
  const { hidden, unmatched } = hiddenTexts(placedDocuments(bare.bundle), rules);
  if (unmatched.length > 0 && !allowUnmatched) throw refusedRules(unmatched);
  const replacer = replacerOf(hidden, salt);
  const { bundle: replaced, redactions } = replaceTexts(bare.bundle, hidden, {
    replacer,
    rules,
  });
  const renamed = renamedContent(bundle, replaced, salt);
  const redacted = {
    ...(await settled(renamed)),
    redactions: [...bundle.redactions, ...redactions, ...bare.redactions],
  };
  refuseLeaks(redacted, replacer);
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
}

function replaceTexts(
  bundle: Bundle,
  hidden: HiddenTexts,
  { replacer, rules }: Replacing,
): { readonly bundle: Bundle; readonly redactions: readonly Redaction[] } {
  const found = new Map(
    rules.map(({ name }) => [
      name,
      { markers: new Set<string>(), places: new Set<string>(), count: 0 },
    ]),
  );
  const { redactions: _, ...content } = bundle;
  const replaced = rewrite(content as unknown as Json, {
    text(text, place) {
      const replacement = replacer.replace(text);
      for (const one of replacement.hidden) {
        const rule = found.get(hidden.get(one)!)!;
        rule.count += 1;
        if (rule.markers.size < MARKERS_MAX) rule.markers.add(replacer.markerOf(one));
        if (rule.places.size < PLACES_MAX) rule.places.add(place);
      }
      return replacement.text;
    },
  }) as unknown as Omit<Bundle, 'redactions'>;
  const redactions = [...found].map(([rule, { markers, places, count }]) => ({
    rule,
    markers: [...markers],
    places: [...places],
    count,
  }));
  return { bundle: { ...replaced, redactions: [] }, redactions };
}

/**
 * The core makes digests of its own, of texts that are now others. Where a replay differs in nothing but such
 * a digest, it is renamed too; any other difference means that a hidden text decides something.
 */
async function settled(bundle: Bundle): Promise<Bundle> {
  let current = bundle;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const report = await replayTree(current);
    if (report.equal) return current;
    const names = new Map<string, string>();
    const reports = reportsOf(report);
    const differences = reports.flatMap((one) => one.differences);
    let isBroken = reports.some(({ error }) => error !== undefined);
    for (const { recorded, replayed } of differences) {
      if (isDigest(recorded) && isDigest(replayed)) names.set(recorded, replayed);
      else isBroken = true;
    }
    if (isBroken) {
      throw refused(
        `A text that the rules hide decides something in this run: ${reportLines(report).slice(1).join(' ').trim()}`,
        'Let the rules hide less: a name that recorded events have too, such as `reason`, needs a pointer, such as /call/args/reason.',
      );
    }
    current = renaming(current, names);
  }
  throw refused(
    'The texts that the rules hide change digests without end.',
    'Let the rules hide less.',
  );
}

function refuseLeaks(bundle: Bundle, replacer: Replacer): void {
  const look = (text: string, place: string): string => {
    if (replacer.leftIn(text) === undefined) return text;
    throw refused(
      `A part of a hidden text would remain at ${place}.`,
      'The text stands there in another form, or as the name of a value. Let the rules find that form too.',
    );
  };
  rewrite(bundle as unknown as Json, { text: look, name: look });
}
