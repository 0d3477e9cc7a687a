/** Pictures, documents and sounds in the words of each vendor. */
import { anthropicBody } from '../../providers/anthropic/request.js';
import { optionsOf } from '../../providers/ai-sdk/request.js';
import { chatBody } from '../../providers/openai/chat-request.js';
import { responsesRequest } from '../../providers/openai/responses-request.js';
import type { AttachedFile, Block } from '../../core/state/transcript.js';
import type { RequestMessage } from '../../providers/provider.js';
import { requestOf } from './scripted-setup.js';

const PICTURE: AttachedFile = { mediaType: 'image/png', data: 'aGVsbG8h', name: 'cat.png' };
const REPORT: AttachedFile = { mediaType: 'application/pdf', data: 'JVBERi0=', name: 'r.pdf' };
const SOUND: AttachedFile = { mediaType: 'audio/wav', data: 'UklGRg==' };
const asBlock = (file: AttachedFile): Block => ({ type: 'file', ...file });

const MESSAGES: readonly RequestMessage[] = [
  {
    role: 'user',
    blocks: [{ type: 'text', text: 'What is this?' }, ...[PICTURE, REPORT, SOUND].map(asBlock)],
  },
  { role: 'assistant', blocks: [{ type: 'tool_use', id: 'c1', tool: 'look', args: {} }] },
  {
    role: 'user',
    blocks: [
      { type: 'tool_result', id: 'c1', isError: false, text: '{"n":1}', files: [PICTURE] },
      { type: 'text', text: 'Go on.' },
    ],
  },
];
const REQUEST = requestOf({ messages: MESSAGES });
const PNG_URL = 'data:image/png;base64,aGVsbG8h';
const PDF_URL = 'data:application/pdf;base64,JVBERi0=';

/** Without marks for a cache. */
function plain(value: unknown): readonly unknown[] {
  return JSON.parse(JSON.stringify(value), (key, inner: unknown) =>
    key === 'cache_control' ? undefined : inner,
  ) as readonly unknown[];
}

test('Anthropic gets blocks with base64, also in results, and a sound in words', () => {
  const source = { type: 'base64', media_type: 'image/png', data: 'aGVsbG8h' };
  const [first, , last] = plain(anthropicBody(REQUEST).messages);
  expect(first).toEqual({
    role: 'user',
    content: [
      { type: 'text', text: 'What is this?' },
      { type: 'image', source },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
        title: 'r.pdf',
      },
      { type: 'text', text: '[A file (audio/wav) cannot be sent to this vendor.]' },
    ],
  });
  expect(last).toEqual({
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'c1',
        content: [
          { type: 'text', text: '{"n":1}' },
          { type: 'image', source },
        ],
      },
      { type: 'text', text: 'Go on.' },
    ],
  });
});

test('Chat Completions gets parts, and files of results behind the results, which are texts alone', () => {
  const [, first, , result, rest] = plain(chatBody(REQUEST, 'openai')['messages']);
  const picture = { type: 'image_url', image_url: { url: PNG_URL } };
  expect(first).toEqual({
    role: 'user',
    content: [
      { type: 'text', text: 'What is this?' },
      picture,
      { type: 'file', file: { filename: 'r.pdf', file_data: PDF_URL } },
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
    ],
  });
  expect(result).toEqual({ role: 'tool', tool_call_id: 'c1', content: '{"n":1}' });
  expect(rest).toEqual({
    role: 'user',
    content: [
      { type: 'text', text: 'Files of the result of c1:' },
      picture,
      { type: 'text', text: 'Go on.' },
    ],
  });
});

test('Responses gets items, also in the output of a call, and a sound in words', () => {
  const { body } = responsesRequest(REQUEST, { stored: false, known: () => false });
  const [first, , output] = plain(body['input']);
  const picture = { type: 'input_image', detail: 'auto', image_url: PNG_URL };
  expect(first).toMatchObject({
    role: 'user',
    content: [
      { type: 'input_text', text: 'What is this?' },
      picture,
      { type: 'input_file', filename: 'r.pdf', file_data: PDF_URL },
      { type: 'input_text', text: expect.stringContaining('audio/wav') },
    ],
  });
  expect(output).toEqual({
    type: 'function_call_output',
    call_id: 'c1',
    output: [{ type: 'input_text', text: '{"n":1}' }, picture],
  });
});

describe('a model of the AI SDK', () => {
  const promptOf = (specificationVersion: 'v2' | 'v3' | 'v4') =>
    plain(optionsOf(REQUEST, { provider: 'google', specificationVersion }, undefined)['prompt']);
  const resultOf = (version: 'v2' | 'v3' | 'v4') => {
    const tool = promptOf(version)[3] as { readonly content: readonly { output: unknown }[] };
    return tool.content[0]?.output;
  };

  test.each(['v2', 'v3'] as const)('of %s gets files with base64', (version) => {
    expect(promptOf(version)[1]).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'file', mediaType: 'image/png', data: 'aGVsbG8h', filename: 'cat.png' },
        { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=', filename: 'r.pdf' },
        { type: 'file', mediaType: 'audio/wav', data: 'UklGRg==' },
      ],
    });
  });

  test('of v4 gets tagged data', () => {
    expect(promptOf('v4')[1]).toMatchObject({
      content: [{}, { type: 'file', data: { type: 'data', data: 'aGVsbG8h' } }, {}, {}],
    });
  });

  test('gets the files of a result in the words of its version', () => {
    const text = { type: 'text', text: '{"n":1}' };
    const facts = { data: 'aGVsbG8h', mediaType: 'image/png' };
    expect(resultOf('v2')).toEqual({ type: 'content', value: [text, { type: 'media', ...facts }] });
    expect(resultOf('v3')).toEqual({
      type: 'content',
      value: [text, { type: 'image-data', ...facts }],
    });
    expect(resultOf('v4')).toEqual({
      type: 'content',
      value: [
        text,
        {
          type: 'file',
          mediaType: 'image/png',
          data: { type: 'data', data: 'aGVsbG8h' },
          filename: 'cat.png',
        },
      ],
    });
  });
});
