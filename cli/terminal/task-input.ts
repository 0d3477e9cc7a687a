/**
 * What `holdfast start` is given: a goal as arguments, a file, or standard input. A file is JSON (a task, or
 * {task, budget, settings}) or plain text, which is the goal.
 */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { HoldfastError } from '../../core/state/errors.js';
import type { BudgetOverrides, SettingsOverrides, Task } from '../../core/state/task.js';
import { parseJsonText } from '../../pure/json-text.js';
import { usage } from '../usage.js';

export interface TaskInput {
  readonly task: Task;
  readonly budget?: BudgetOverrides;
  readonly settings?: SettingsOverrides;
}

export interface TaskSource {
  readonly words: readonly string[];
  /** A file, or `-` for standard input. */
  readonly file?: string;
  readonly folder: string;
}

const INPUT_BYTES_MAX = 1024 * 1024;
const WRAPPER_FIELDS = ['task', 'budget', 'settings'];

export async function readTaskInput(source: TaskSource): Promise<TaskInput> {
  const { words, file, folder } = source;
  if (file !== undefined && words.length > 0) {
    throw usage('The goal is given twice: as arguments and by --file.');
  }
  if (file === '-') return parseTaskText(await standardInput(), 'standard input');
  if (file !== undefined) return parseTaskText(await textOf(resolve(folder, file)), file);
  if (words.length === 0) {
    throw usage('The start says no goal.', "Write it after the agent's name, or use --file.");
  }
  return { task: { goal: words.join(' ') } };
}

/** A text that begins with `{` is JSON; anything else is the goal itself. */
export function parseTaskText(text: string, name: string): TaskInput {
  if (!/^[\uFEFF\s]*[{[]/.test(text) && !name.endsWith('.json'))
    return { task: { goal: text.trim() } };
  const parsed = parseJsonText(text);
  if (!parsed.ok) {
    throw badFile(name, `line ${parsed.line}, column ${parsed.column}: ${parsed.reason}`);
  }
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badFile(name, 'it must be an object with a goal');
  }
  // Field by field it is checked where the run is started, which names the field.
  if (!Object.hasOwn(value, 'task')) return { task: value as Task };
  const unknown = Object.keys(value).find((key) => !WRAPPER_FIELDS.includes(key));
  if (unknown !== undefined) {
    throw badFile(
      name,
      `beside "task" it has "${unknown.slice(0, 60)}"; known are budget, settings`,
    );
  }
  return value as TaskInput;
}

async function textOf(file: string): Promise<string> {
  const facts = await stat(file).catch(() => undefined);
  if (facts === undefined) throw badFile(file, 'it does not exist');
  if (!facts.isFile()) throw badFile(file, 'it is no file');
  if (facts.size > INPUT_BYTES_MAX) throw tooLarge(file);
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw badFile(file, cause instanceof Error ? cause.message : 'it cannot be read');
  });
}

async function standardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    const piece = Buffer.from(chunk as Uint8Array | string);
    bytes += piece.length;
    if (bytes > INPUT_BYTES_MAX) throw tooLarge('standard input');
    chunks.push(piece);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(name: string): HoldfastError {
  return badFile(name, `it is larger than ${INPUT_BYTES_MAX} bytes`);
}

function badFile(name: string, why: string): HoldfastError {
  return new HoldfastError('InvalidTask', `The task in ${name} cannot be used: ${why}.`, {
    hint: 'A task file is JSON, {"goal": "…", "constraints": ["…"]} or {"task": {…}, "budget": {…}, "settings": {…}}, or plain text: the goal.',
  });
}
