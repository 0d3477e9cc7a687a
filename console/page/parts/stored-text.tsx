/** A text whose rest may be in the store: it is asked for when somebody wants it, its beginning at once. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Excerpt, TextPiece } from '../data/api-types.js';
import { readPiece } from '../data/texts.js';
import { InertBlock } from './inert.js';

/** One piece of a large text at a time. */
const PIECE_CHARS = 200_000;
const PREVIEW_CHARS = 2_000;

export interface StoredTextProps {
  readonly excerpt: Excerpt;
  readonly runId: string;
}

export function StoredText({ excerpt, runId }: StoredTextProps): VNode {
  const { text, blob, bytes = 0 } = excerpt;
  return (
    <span class="value">
      {blob === undefined ? (
        <InertBlock text={text} />
      ) : (
        <LargeText key={blob} beginning={text} runId={runId} hash={blob} bytes={bytes} />
      )}
    </span>
  );
}

interface LargeTextProps {
  readonly runId: string;
  readonly hash: string;
  readonly bytes: number;
  /** Empty: it has to be fetched. */
  readonly beginning: string;
}

function LargeText({ runId, hash, bytes, beginning }: LargeTextProps): VNode {
  const first = beginning === '' ? undefined : { text: beginning, chars: bytes };
  const [found, setFound] = useState<Pick<TextPiece, 'text' | 'chars'> | 'failed' | undefined>(
    first,
  );
  useEffect(() => {
    if (beginning !== '') return undefined;
    const leaving = new AbortController();
    readPiece({ runId, hash, chars: PREVIEW_CHARS }, leaving.signal).then(setFound, () =>
      setFound('failed'),
    );
    return () => leaving.abort();
  }, [runId, hash, beginning]);
  if (found === undefined) return <>A long text is being fetched …</>;
  if (found === 'failed') return <>{`A text of ${bytes} bytes that cannot be fetched now.`}</>;
  const more = async (): Promise<string> =>
    (await readPiece({ runId, hash, chars: PIECE_CHARS })).text;
  return <InertBlock text={found.text} charsInAll={found.chars} more={more} />;
}
