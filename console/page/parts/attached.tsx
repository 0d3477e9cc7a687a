/**
 * Files beside a text: fetched when somebody asks for one. A picture is drawn, any other file can be saved.
 * Invariant: nothing of a file is executed, and nothing is loaded from elsewhere: a picture is drawn from a `data:` address of
 * one of the types below, which the page's policy allows for pictures alone.
 */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Attachment } from '../../../core/state/attachment.js';
import { wordsOf } from '../data/api.js';
import { readPiece } from '../data/texts.js';
import { Button } from './button.js';
import { InertLine } from './inert.js';

const PICTURES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const SAVED: readonly string[] = ['application/pdf'];
const SOUNDS: readonly string[] = ['audio/wav', 'audio/mpeg', 'audio/ogg', 'audio/flac'];
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const PIECE_CHARS = 2_000_000;
/** Of the largest file that is taken. */
const CHARS_MAX = 14_000_000;

export interface AttachedFilesProps {
  readonly files: readonly Attachment[] | undefined;
  readonly runId: string;
}

export function AttachedFiles({ files = [], runId }: AttachedFilesProps): VNode | null {
  if (files.length === 0) return null;
  return (
    <ul class="attached">
      {files.map((file, place) => (
        <AttachedFile key={place} file={file} runId={runId} />
      ))}
    </ul>
  );
}

interface AttachedFileProps {
  readonly file: Attachment;
  readonly runId: string;
}

function AttachedFile({ file, runId }: AttachedFileProps): VNode {
  const [data, setData] = useState<string>();
  const [why, setWhy] = useState('');
  const { mediaType, name = 'file', bytes } = file;
  const isKnown = [...PICTURES, ...SAVED, ...SOUNDS].includes(mediaType);
  const fetchIt = async (): Promise<void> => {
    try {
      setData(await wholeFile(file, runId));
    } catch (error) {
      setWhy(wordsOf(error));
    }
  };
  return (
    <li>
      <InertLine text={`${name} (${mediaType}, ${Math.floor((bytes * 3) / 4)} bytes)`} max={200} />
      {data === undefined && why === '' && isKnown && (
        <Button label={PICTURES.includes(mediaType) ? 'Show' : 'Fetch'} press={fetchIt} />
      )}
      {why !== '' && <p class="help">{why}</p>}
      {data === '' && <p class="help">The file is not there any more.</p>}
      {data !== undefined && data !== '' && <Fetched file={file} data={data} />}
    </li>
  );
}

interface FetchedProps {
  readonly file: Attachment;
  readonly data: string;
}

function Fetched({ file: { mediaType, name = 'file' }, data }: FetchedProps): VNode {
  const address = `data:${mediaType};base64,${data}`;
  return PICTURES.includes(mediaType) ? (
    <img src={address} alt={name.slice(0, 100)} />
  ) : (
    <a href={address} download={name.slice(0, 100)}>
      Save
    </a>
  );
}

/** Base64; empty: what lies there is none. */
async function wholeFile({ $blob: hash, bytes }: Attachment, runId: string): Promise<string> {
  const pieces: string[] = [];
  for (let from = 0; from < Math.min(bytes, CHARS_MAX); from += PIECE_CHARS) {
    const { text } = await readPiece({ runId, hash, chars: PIECE_CHARS, from });
    pieces.push(text);
    if (text.length < PIECE_CHARS) break;
  }
  const data = pieces.join('');
  return BASE64.test(data) ? data : '';
}
