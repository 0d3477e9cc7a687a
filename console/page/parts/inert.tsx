/** Text from outside, shown so that it can do nothing: it is cut with a notice, and its direction ends with it. */
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { beginningOf, firstLinesOf, piecesOf, type Piece } from './inert-text.js';
import { whole } from './format.js';

const LINE_CHARS = 200;
const CHARS_SHOWN = 1_200;
const LINES_SHOWN = 25;
/** What one press on the notice adds. */
const CHARS_MORE = 100_000;

/** One line: line breaks are shown too. */
export function InertLine(props: { readonly text: string; readonly max?: number }): VNode {
  const { text, max = LINE_CHARS } = props;
  return useMemo(() => {
    const kept = beginningOf(text, max);
    const cut = text.length - kept.length;
    return (
      <bdi class="outside">
        {shown(kept, true)}
        {cut > 0 && <span class="cut">{`… (+${whole(cut)} characters)`}</span>}
      </bdi>
    );
  }, [text, max]);
}

export interface InertBlockProps {
  readonly text: string;
  readonly charsMax?: number;
  readonly linesMax?: number;
  /** More than `text` has where that is only the beginning. */
  readonly charsInAll?: number;
  /** Gets the whole text then. */
  readonly more?: () => Promise<string>;
}

/** Several lines. */
export function InertBlock(props: InertBlockProps): VNode {
  const { charsMax = CHARS_SHOWN, linesMax = LINES_SHOWN, more } = props;
  const [wider, setWider] = useState<{ readonly text?: string; readonly chars: number }>();
  const text = wider?.text ?? props.text;
  const charsInAll = Math.max(text.length, props.charsInAll ?? 0);
  const kept = useMemo(() => {
    if (wider !== undefined) return beginningOf(text, wider.chars);
    return firstLinesOf(beginningOf(text, charsMax), linesMax);
  }, [text, wider, charsMax, linesMax]);
  const widen = async (): Promise<void> => {
    const chars = kept.length + CHARS_MORE;
    if (text.length >= charsInAll || more === undefined) setWider({ ...wider, chars });
    else setWider({ text: await more(), chars });
  };
  return (
    <span class="outside block" dir="auto">
      {useMemo(() => shown(kept, false), [kept])}
      {kept.length < charsInAll && (
        <span class="cut">
          {`${whole(charsInAll - kept.length)} more characters are not shown. `}
          <button type="button" class="link" onClick={() => void widen().catch(() => {})}>
            Show more
          </button>
        </span>
      )}
    </span>
  );
}

function shown(text: string, isLine: boolean): readonly (string | VNode)[] {
  return piecesOf(text, isLine).map(pieceShown);
}

function pieceShown(piece: Piece): string | VNode {
  if (typeof piece === 'string') return piece;
  if (piece.kind === 'break') return <wbr />;
  return (
    <span class="chip" title={`${piece.number}: a character that cannot be seen`}>
      {piece.name}
    </span>
  );
}
