/**
 * The evidence that a judge or reviewer is shown: newest first, as much as the question has room for.
 * Invariants: an id is on the list only if it exists in this goal; what the worker itself put in, as arguments or as an
 * echo in a result, is marked so; every text stands between marks that nobody outside can know.
 */
import type { Json, StoredText } from '../../core/json/json.js';
import type { AskJudgeInput } from '../../core/state/goal/payloads.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import { piecesOf, withEchoes } from '../../pure/goal/echoes.js';
import type { StoreCalls } from '../../store/store.js';
import { beginning } from '../run/append-items.js';
import type { EvidenceReader, FoundEvidence } from './evidence-reader.js';
import type { Fence } from './fence.js';

const SHOWN_MAX = 40;
/** Looked at in vain before the list ends. */
const LOOKED_AT_MAX = 80;
const TEXT_CHARS_MAX = 1_500;
const ARGS_CHARS_MAX = 300;
/** Cycles whose words are looked for in results, and whose sub-agents are asked for evidence; newest first. */
const CYCLES_MAX = 20;
/** Of the sub-agents of one cycle. */
const BELOW_SHOWN_MAX = 10;

export interface ShownEvidence {
  /** For the question, in its order. */
  readonly texts: readonly string[];
  /** By id: whether something outside the worker says so. */
  readonly ids: ReadonlyMap<string, { readonly proves: boolean }>;
}

export interface EvidenceSources {
  readonly store: StoreCalls;
  readonly reader: EvidenceReader;
  readonly tenant: string;
  readonly memory: GoalMemory;
  readonly checks: AskJudgeInput['checks'];
  readonly fence: Fence;
}

/** At most so many bytes of texts. */
export async function shownEvidence(
  sources: EvidenceSources,
  bytesMax: number,
): Promise<ShownEvidence> {
  const { fence } = sources;
  const pieces = piecesOf(await workersWords(sources));
  const marks = { before: fence.mark('worker'), after: fence.mark('/worker') };
  const texts: string[] = [];
  const ids = new Map<string, { proves: boolean }>();
  let bytes = 0;
  for await (const found of candidates(sources)) {
    if (ids.size >= SHOWN_MAX) break;
    if (ids.has(found.id)) continue;
    const text = await shownText(sources, found, (own) => withEchoes(own, pieces, marks));
    bytes += Buffer.byteLength(text) + 2;
    if (bytes > bytesMax) break;
    texts.push(text);
    ids.set(found.id, { proves: found.proves });
  }
  return { texts, ids };
}

async function* candidates({ reader, memory, checks }: EvidenceSources) {
  for (const [name, facts] of Object.entries(checks)) {
    if (!facts.known || facts.digest === undefined) continue;
    const content: StoredText = { $blob: facts.digest, bytes: 0, preview: '' };
    const id = `check/${name}/${facts.n}`;
    yield { id, kind: 'check', proves: true, tool: name, content } satisfies FoundEvidence;
  }
  const open = [...newestCycles(memory)];
  for (const id of [...new Set(memory.evidence)].reverse().slice(0, LOOKED_AT_MAX)) {
    // What is older than a cycle stands behind what was found out below it.
    const cycle = cycleOf(id);
    while (cycle !== undefined && open[0] !== undefined && open[0] > cycle)
      yield* below(reader, open.shift()!);
    const found = await reader.find(id);
    if (found !== undefined) yield found;
  }
  for (const cycle of open) yield* below(reader, cycle);
}

async function* below(reader: EvidenceReader, cycle: number) {
  let shown = 0;
  for (const id of (await reader.idsBelow(cycle)).slice(0, LOOKED_AT_MAX)) {
    if (shown === BELOW_SHOWN_MAX) return;
    const found = await reader.find(id);
    if (found === undefined) continue;
    shown += 1;
    yield found;
  }
}

function cycleOf(id: string): number | undefined {
  const [, cycle] = /^c([1-9]\d{0,8})[./]/.exec(id) ?? [];
  return cycle === undefined ? undefined : Number(cycle);
}

/** Those that have evidence, newest first. */
function newestCycles(memory: GoalMemory): readonly number[] {
  const cycles = new Set(memory.evidence.flatMap((id) => cycleOf(id) ?? []));
  return [...cycles].toSorted((one, other) => other - one).slice(0, CYCLES_MAX);
}

/** Arguments of its calls, newest cycles first, and what it wrote into the memory. */
async function workersWords({ store, reader, tenant, memory }: EvidenceSources) {
  const words: Json[] = [
    ...memory.notes.map(({ text }) => text),
    ...Object.values(memory.state).map(({ value }) => value),
  ];
  for (const cycle of newestCycles(memory)) {
    for (const args of await reader.argumentsOf(cycle)) {
      words.push(await store.restoreArguments(tenant, args));
    }
  }
  return words;
}

async function shownText(
  { store, tenant, fence }: EvidenceSources,
  { id, kind, tool, content, args }: FoundEvidence,
  marked: (text: string) => string,
): Promise<string> {
  const text = await store.getText(tenant, content);
  const shown = marked(beginning(text, TEXT_CHARS_MAX));
  const whole =
    text.length <= TEXT_CHARS_MAX
      ? ''
      : ` (the first ${TEXT_CHARS_MAX} of ${text.length} characters)`;
  const put = args === undefined ? undefined : beginning(JSON.stringify(args), ARGS_CHARS_MAX);
  return fence.around('evidence', [
    `id: ${JSON.stringify(id)}`,
    `from: ${tool} (${kind})`,
    ...(put === undefined
      ? []
      : [`arguments: ${fence.mark('worker')}${put}${fence.mark('/worker')}`]),
    `result${whole}:`,
    shown,
  ]);
}
