/**
 * What is wrong with a proposal of a cycle or with a plan of a person, by the name of the limit.
 * Invariants: total, whatever comes in; nothing is looked up: whether evidence exists is another question.
 */
import { fitsBytes, isBlobRef, type Json } from '../../core/json/json.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../../core/json/json-depth.js';
import { MEMORY_LIMITS } from '../../core/state/goal/memory.js';
import { BLOCK_KINDS } from '../../core/state/goal/proposal.js';
import { EVIDENCE_CHARS_MAX } from './evidence.js';

const LIMITS = MEMORY_LIMITS;
const PATH_CHARS_MAX = 500;
const STEP_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;
const PATH = /^[^.]+(\.[^.]+)*$/;
const STATUSES: readonly unknown[] = ['open', 'doing', 'done', 'dropped'];
const NAME_CHARS_MAX = 64;

/** Undefined: it can be kept. A sentence otherwise. */
export function proposalDefect(proposal: unknown): string | undefined {
  if (depthOf(proposal) > SHAPE_DEPTH_MAX) return 'The proposal nests too deeply.';
  if (!isRecord(proposal)) return 'A proposal must be an object.';
  const { kind, because } = proposal;
  switch (kind) {
    case 'plan':
      return stepsDefect(proposal.steps);
    case 'note':
      return (
        textDefect('text', proposal.text, LIMITS.noteChars) ?? evidenceDefect(proposal.evidence)
      );
    case 'publish':
      return publishDefect(proposal);
    case 'done':
      return becauseDefect(because) ?? evidenceDefect(proposal.evidence);
    case 'handoff':
      return textDefect('to', proposal.to, NAME_CHARS_MAX) ?? becauseDefect(because);
    case 'pause':
      return Number.isSafeInteger(proposal.until)
        ? becauseDefect(because)
        : 'until must be a time.';
    case 'block':
      return blockDefect(proposal);
    case 'warning':
      return evidenceDefect(proposal.evidence);
    default:
      return 'The kind of the proposal is not known.';
  }
}

/** The whole list as it is proposed or said. */
export function stepsDefect(steps: unknown): string | undefined {
  if (!Array.isArray(steps)) return 'steps must be a list.';
  if (steps.length === 0) return 'steps must not be empty.';
  if (steps.length > LIMITS.steps) return `A plan has at most ${LIMITS.steps} steps.`;
  const seen = new Set<unknown>();
  for (const step of steps as readonly unknown[]) {
    const defect = stepDefect(step);
    if (defect !== undefined) return defect;
    const { id } = step as { readonly id: string };
    if (seen.has(id)) return `Step ${id} stands there twice.`;
    seen.add(id);
  }
  return undefined;
}

function stepDefect(step: unknown): string | undefined {
  if (!isRecord(step)) return 'Each step must be an object.';
  const { id, title, status, note, evidence } = step;
  if (typeof id !== 'string' || !STEP_ID.test(id) || id.length > LIMITS.stepIdChars)
    return `The id of a step has 1 to ${LIMITS.stepIdChars} of A-Z a-z 0-9 . _ : -`;
  if (!STATUSES.includes(status))
    return `The status of step ${id} must be one of ${STATUSES.join(', ')}.`;
  return (
    textDefect(`The title of step ${id}`, title, LIMITS.titleChars) ??
    (note === undefined ? undefined : noteDefect(id, note)) ??
    evidenceDefect(evidence)
  );
}

function noteDefect(id: string, note: unknown): string | undefined {
  if (note === '') return undefined;
  return textDefect(`The note of step ${id}`, note, LIMITS.noteChars);
}

function publishDefect({ path, value }: { readonly [key: string]: unknown }): string | undefined {
  if (typeof path !== 'string' || path.length > PATH_CHARS_MAX || !PATH.test(path))
    return `path must be a dotted path of at most ${PATH_CHARS_MAX} characters.`;
  if (value === undefined || !isJson(value)) return 'value must be plain JSON.';
  if (!fitsBytes(value, LIMITS.stateBytes))
    return `The published state has at most ${LIMITS.stateBytes} bytes.`;
  return undefined;
}

function blockDefect({ block, because, step }: { readonly [key: string]: unknown }) {
  if (!(BLOCK_KINDS as readonly unknown[]).includes(block))
    return `kind must be one of ${BLOCK_KINDS.join(', ')}.`;
  if (step !== undefined && (typeof step !== 'string' || step.length > LIMITS.stepIdChars))
    return 'step must be the id of a step.';
  return becauseDefect(because);
}

function becauseDefect(because: unknown): string | undefined {
  return textDefect('because', because, LIMITS.noteChars);
}

function evidenceDefect(evidence: unknown): string | undefined {
  if (evidence === undefined) return undefined;
  if (!Array.isArray(evidence)) return 'evidence must be a list of ids.';
  if (evidence.length > LIMITS.evidenceIds)
    return `There are at most ${LIMITS.evidenceIds} ids of evidence.`;
  const wrong = (evidence as readonly unknown[]).some(
    (id) => typeof id !== 'string' || id === '' || id.length > EVIDENCE_CHARS_MAX,
  );
  return wrong ? `An id of evidence has 1 to ${EVIDENCE_CHARS_MAX} characters.` : undefined;
}

function textDefect(name: string, text: unknown, charsMax: number): string | undefined {
  if (typeof text !== 'string') return `${name} must be a text.`;
  if (text.trim() === '') return `${name} must not be blank.`;
  return text.length > charsMax ? `${name} is longer than ${charsMax} characters.` : undefined;
}

/** Nothing that could pass for a reference to a stored text. */
function isJson(value: unknown): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (isBlobRef(value)) return false;
  return (Array.isArray(value) || isRecord(value)) && Object.values(value).every(isJson);
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
