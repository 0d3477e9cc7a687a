/** `holdfast inspect` without --at: the index of a run's steps, and the runs below it. */
import type { RunEvent } from '../../core/state/event.js';
import { lineOf } from '../../recording/fold.js';
import { indexReader, type IndexReader } from '../../recording/index-reader.js';
import { stepPacker, unpackedSteps, type PackedSteps } from '../../recording/packed-steps.js';
import type { FoldStep } from '../../recording/steps.js';
import type { Bundle, Segment } from '../../replay/bundle.js';
import type { Decided, IndexBeside } from '../../replay/stream/index-beside.js';
import type { RunHearer, RunTree } from '../../replay/stream/run-tree.js';
import { ROOT } from '../../replay/stream/walk-bundle.js';
import { toldIndex, type ToldIndex } from '../../replay/told-moment.js';
import {
  memberReader,
  toldBelow,
  toldRows,
  type MemberReader,
  type ToldMember,
} from '../../replay/told-tree.js';
import type { RunRow } from '../../store/runs.js';
import type { Cli } from '../command.js';
import { oneHeard, treeRowsOf } from '../desk/recorded.js';
import { TENANT } from '../desk/run-record.js';
import { dateTimeText, inert, plural, table, usdText } from '../render/index.js';
import { neededStore, type Session } from '../session.js';
import type { Output } from '../terminal/output.js';

interface IndexWanted {
  readonly session: Session;
  readonly subject: string;
  readonly member: string | undefined;
  readonly kind: string | undefined;
  /** Decides the steps; undefined: they are decided here. */
  readonly beside: IndexBeside | undefined;
}

const WORDS_CHARS_MAX = 60;

export async function showIndex(cli: Cli, asked: IndexWanted, output: Output): Promise<void> {
  const { index, tree } = await indexOf(cli, asked);
  print(index, { kind: asked.kind, tree, output });
}

interface Indexed {
  readonly index: ToldIndex<PackedSteps>;
  readonly tree: readonly ToldMember[];
}

/** A history is let go when it has been followed. */
async function indexOf(cli: Cli, asked: IndexWanted): Promise<Indexed> {
  const { session, subject, member, beside } = asked;
  let heard = indexing(ROOT);
  const reading = await oneHeard(cli, { session, subject, member }, (followed) => {
    heard = indexing(followed);
    return beside === undefined ? { ...heard.members, ...heard.segments } : heard.members;
  });
  try {
    const decided = await beside?.of(reading.textDigest);
    if (beside !== undefined && decided === undefined) await reading.again(heard.segments);
    const index = indexIn(decided ?? heard.decided(reading.head.run), reading);
    const root = heard.told(reading.head.run, ROOT);
    if (reading.source === 'run') return { index, tree: await storedTree(session, root) };
    if (member !== undefined) return { index, tree: [] };
    const { absent, members = [] } = reading.head;
    const told = members.map((one, at) => ({ ...one, told: heard.told(one.run, at) }));
    const below = { members: told, ...(absent !== undefined && { absent }) };
    return { index, tree: toldBelow(root, below) };
  } finally {
    await reading.close();
  }
}

type DecidedSteps = Omit<Decided, 'textDigest'>;

function indexIn(decided: DecidedSteps, { head, source }: RunTree): Indexed['index'] {
  return toldIndex({ fold: { run: head.run, ...decided }, source, ...head });
}

/** Follows one of the runs, and hears what each says of itself. */
function indexing(followed: number) {
  const packer = stepPacker();
  const members = new Map<number, MemberReader>();
  let reader: IndexReader | undefined;
  const hearStep = (moment: FoldStep): void => packer.add(lineOf(moment));
  return {
    members: {
      event(event: RunEvent, member: number): void {
        const own = members.get(member) ?? memberReader();
        members.set(member, own);
        own.event(event);
      },
    } satisfies RunHearer,
    segments: {
      segment(segment: Segment, member: number, run: Bundle['run']): void {
        if (member !== followed) return;
        reader ??= indexReader(run, hearStep);
        reader.segment(segment);
      },
    } satisfies RunHearer,
    told: (run: Bundle['run'], member: number): ToldMember =>
      (members.get(member) ?? memberReader()).told(run),
    decided(run: Bundle['run']): DecidedSteps {
      const { kind, divergences } = (reader ?? indexReader(run)).end();
      return { kind, divergences, steps: packer.end() };
    },
  };
}

/** What the store knows of the runs below; nothing where none is. */
async function storedTree(session: Session, root: ToldMember): Promise<readonly ToldMember[]> {
  const { rows } = await treeRowsOf(session, root.runId);
  if (rows.length === 0) return [];
  const store = await neededStore(session);
  const known = new Map<string, RunRow>();
  for (const { child } of rows) {
    const run = await store.getRun(TENANT, child);
    if (run !== undefined) known.set(child, run);
  }
  return toldRows(root, rows, known);
}

interface Printing {
  readonly kind: string | undefined;
  readonly tree: readonly ToldMember[];
  readonly output: Output;
}

function print(told: Indexed['index'], { kind: wanted, tree, output }: Printing): void {
  const { steps, divergences, redactions } = told;
  function* shown(): Generator<FoldStep> {
    for (const step of unpackedSteps(steps)) {
      if (wanted === undefined || isOfKind(step, wanted)) yield step;
    }
  }
  if (output.json) {
    return output.data({ ...told, steps: [...shown()], ...(tree.length > 0 && { tree }) });
  }
  for (const line of tree.map(treeLine)) output.line(line);
  if (tree.length > 0) output.line('');
  if (shown().next().done !== true) {
    const head = ['step', 'time', 'received', 'rules', 'began'];
    const rows = {
      *[Symbol.iterator]() {
        for (const step of shown()) yield rowOf(step);
      },
    };
    output.line(table({ head, rows, paint: output.paint }));
  } else if (steps.count === 0) output.line('The run has decided nothing yet.');
  else {
    const kinds = kindsOf(unpackedSteps(steps)).join(', ');
    output.line(`No step is of that kind. Kinds of this run: ${kinds}.`);
  }
  for (const { step, segment, reason } of divergences) {
    output.remark(`Segment ${segment} cannot be shown from step ${step} on: ${inert(reason, 400)}`);
  }
  for (const { rule, count } of redactions) {
    output.remark(`The rule ${inert(rule)} of its redaction hides ${plural(count, 'place')}.`);
  }
}

/** Indented by generations; `--run` takes the id. */
function treeLine({ runId, depth, agent, status, costMicroUsd, absent }: ToldMember): string {
  const cost = costMicroUsd === undefined ? '' : `, ${usdText(costMicroUsd)}`;
  const what =
    absent === undefined ? `${inert(status, 60)}${cost}` : `absent: ${inert(absent, 200)}`;
  const name = agent === '' ? '' : `${inert(agent, 60)}: `;
  return `${'  '.repeat(depth)}${inert(runId, 200)}  ${name}${what}`;
}

function isOfKind(step: FoldStep, kind: string): boolean {
  return kindsOf([step]).includes(kind);
}

function kindsOf(steps: Iterable<FoldStep>): readonly string[] {
  const kinds = new Set<string>();
  for (const { inputs, rules, effects } of steps) {
    for (const { type } of inputs) kinds.add(type);
    for (const rule of rules) kinds.add(rule);
    for (const { kind } of effects) kinds.add(kind);
  }
  return [...kinds];
}

function rowOf(step: FoldStep): readonly string[] {
  const began = step.effects
    .filter(({ kind }) => kind !== 'status')
    .map(({ kind, tool, id }) => tool ?? (kind === 'cancel' ? `cancel ${id}` : kind));
  return [
    String(step.step),
    dateTimeText(step.at),
    words(step.inputs.map(({ type }) => type)),
    words(step.rules),
    words(began),
  ];
}

function words(all: readonly string[]): string {
  const [...counted] = all.reduce(
    (seen, one) => seen.set(one, (seen.get(one) ?? 0) + 1),
    new Map<string, number>(),
  );
  const text = counted.map(([one, times]) => (times === 1 ? one : `${one} ×${times}`)).join(', ');
  return inert(text, WORDS_CHARS_MAX);
}
