/** What a call knows beside its arguments, and what its tool, or the server of it, says of its progress. */
import type { Tool } from '../../authoring/index.js';
import type { ServerContext } from '../../connectors/index.js';
import type { Execution } from './execute-read.js';
import type { RunnableCall } from './tool-call.js';

const NOTES_MAX = 10;
const NOTE_CHARS_MAX = 200;

/** `known`: what a person has answered the server, and what it needs to know of the run. */
export function notesOf(
  { tool, input }: RunnableCall,
  known: Pick<ServerContext, 'exchange' | 'wantsProof'> = {},
): Pick<Execution, 'runnable'> & { readonly said: readonly string[] } {
  const said: string[] = [];
  const note = (text: unknown): void => {
    if (said.length < NOTES_MAX) said.push(String(text).slice(0, NOTE_CHARS_MAX));
  };
  const run: Tool['run'] = (given, ctx) => {
    const context: ServerContext = { ...ctx, note, ...known };
    return tool.run(given, context);
  };
  return { runnable: { input, tool: { ...tool, run } }, said };
}
