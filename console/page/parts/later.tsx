/** What few people open: its code is fetched when somebody does. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export interface LaterProps<Props> {
  /** The same function again and again: another one fetches anew. */
  readonly load: () => Promise<(props: Props) => VNode>;
  readonly props: Props;
}

export function Later<Props>({ load, props }: LaterProps<Props>): VNode {
  const [found, setFound] = useState<((props: Props) => VNode) | 'failed'>();
  useEffect(() => {
    load().then(
      (draw) => setFound(() => draw),
      () => setFound('failed'),
    );
  }, [load]);
  if (found === undefined) {
    return (
      <p class="empty quiet" role="status">
        Fetching the view …
      </p>
    );
  }
  if (found === 'failed') {
    return <p class="empty quiet">This view cannot be fetched now. Load the page anew.</p>;
  }
  return found(props);
}
