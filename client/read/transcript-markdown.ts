/**
 * A conversation as Markdown.
 * Invariant: what anybody said stands in a fence longer than any in it, so that no text of a model or a tool
 * becomes a heading, a link, an image or HTML in the page that shows it.
 */
import { agentPathText } from '../../pure/agent-path.js';
import { fileBytes, type Attachment } from '../../core/state/attachment.js';
import { plural } from '../../pure/plural.js';
import { placeWords, type Source } from '../../pure/sources.js';
import type { Transcript, TranscriptMessage } from './transcript.js';
import type { SubAgentTranscript, SubAgentTranscripts } from './tree-transcript.js';

const TITLE_CHARS_MAX = 120;

/** With `subAgents`: the conversations of sub-agents behind the messages with their calls. */
export function transcriptMarkdown(
  transcript: Transcript,
  { subAgents, leftOut }: SubAgentTranscripts = { subAgents: [] },
): string {
  const { id, kind, agent, title, updatedAt, messages } = transcript;
  const facts = [
    `${kind === 'session' ? 'Session' : 'Run'} ${inWords(id)}`,
    `agent ${inWords(agent)}`,
    plural(messages.length, 'message'),
    new Date(updatedAt).toISOString(),
  ];
  const parts = conversation(messages, subAgents);
  if (leftOut) parts.push('Further sub-agents are left out here.');
  return `${[`# ${inWords(title) || 'Conversation'}`, facts.join(' · '), ...parts].join('\n\n')}\n`;
}

function conversation(
  messages: readonly TranscriptMessage[],
  subAgents: readonly SubAgentTranscript[],
): string[] {
  return messages.flatMap((message) => {
    const ids = (message.calls ?? []).map(({ id }) => id);
    const below = subAgents.filter(({ callId }) => ids.includes(callId));
    return [headingOf(message), ...bodyOf(message), ...below.flatMap(subAgentParts)];
  });
}

function subAgentParts({ runId, agentPath, messages, subAgents }: SubAgentTranscript): string[] {
  const whose = inWords(agentPathText(agentPath));
  const heading = `## Sub-agent ${whose}\n\n${inWords(runId)}`;
  if (messages === null) return [heading, 'Nothing of its conversation is stored.'];
  return [heading, ...conversation(messages, subAgents), `End of sub-agent ${whose}.`];
}

function headingOf({ messageId, role, results, flags = [] }: TranscriptMessage): string {
  const who = role === 'assistant' ? 'Assistant' : results === undefined ? 'User' : 'Tool results';
  const words: { readonly [flag: string]: string } = {
    synthetic: 'by the runtime',
    partial: 'cut off',
    system: 'system',
    compactSummary: 'summary of what was before',
  };
  const said = flags.map((flag) => words[flag] ?? flag);
  return `## ${who}${said.length === 0 ? '' : ` (${said.join(', ')})`}\n\n${inWords(messageId)}`;
}

function bodyOf(message: TranscriptMessage): readonly string[] {
  const { text, thinking, calls = [], results = [] } = message;
  return [
    ...(thinking === undefined ? [] : ['Thinking:', fenced(thinking, 'text')]),
    ...results.flatMap(({ id, isError, text: content, attachments }) => [
      `${isError ? 'Error' : 'Result'} of ${inWords(id)}:`,
      fenced(content, 'text'),
      ...filesOf(attachments),
    ]),
    ...(text === undefined ? [] : [fenced(text, 'text')]),
    ...filesOf(message.attachments),
    ...sourcesIn(message.sources),
    ...calls.flatMap(({ id, tool, args }) => [
      `Call ${inWords(id)} of ${inWords(tool)}:`,
      fenced(JSON.stringify(args, null, 2), 'json'),
    ]),
  ];
}

/** Named, and not shown: a page that shows them would have to load them. */
function filesOf(attachments: readonly Attachment[] = []): readonly string[] {
  return attachments.map((one) => {
    const { name, mediaType, $blob } = one;
    const named = name === undefined ? '' : `${inWords(name)}, `;
    return `Attached: ${named}${inWords(mediaType)}, ${fileBytes(one)} bytes, ${$blob.slice(0, 12)}`;
  });
}

/** Addresses are text as well: nobody has looked where they lead. */
function sourcesIn(sources: readonly Source[] = []): readonly string[] {
  return sources.flatMap((source, place) => {
    const { title = '', passages = [] } = source;
    const about = source.kind === 'url' ? source.url : (source.filename ?? '');
    const head = [title, title === about ? '' : about].filter((word) => word !== '').join(', ');
    const quoted = passages.map((one) => {
      const where = placeWords(one);
      return `${where}${where === '' ? '' : ': '}${one.text ?? ''}`;
    });
    return [`Source ${place + 1}:`, fenced([head, ...quoted].join('\n'), 'text')];
  });
}

function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** A name on one line, with every character that Markdown or HTML could take for its own escaped. */
function inWords(text: string): string {
  const line = text.replace(/[\p{C}\s]+/gu, ' ').trim();
  const cut = line.length > TITLE_CHARS_MAX ? `${line.slice(0, TITLE_CHARS_MAX)}…` : line;
  return cut.replace(/[\\`*_{}[\]()<>#+!|~&]/g, (character) => `\\${character}`);
}
