/** What a tool, or the server of it, says of its progress while it runs. */
import type { Tool } from '../../authoring/index.js';
import type { Exchange, ServerContext } from '../../connectors/index.js';
import type { Execution } from './execute-read.js';
import type { RunnableCall } from './tool-call.js';

const NOTES_MAX = 10;
const NOTE_CHARS_MAX = 200;

/** The call with what its code may say of its progress, and what a person has answered the server. */
export function notesOf(
  { tool, input }: RunnableCall,
  exchange: Exchange | undefined,
): Pick<Execution, 'runnable'> & { readonly said: readonly string[] } {
  const said: string[] = [];
  const note = (text: unknown): void => {
    if (said.length < NOTES_MAX) said.push(String(text).slice(0, NOTE_CHARS_MAX));
  };
  const run: Tool['run'] = (given, ctx) => {
    const context: ServerContext = { ...ctx, note, ...(exchange !== undefined && { exchange }) };
    return tool.run(given, context);
  };
  return { runnable: { input, tool: { ...tool, run } }, said };
}
