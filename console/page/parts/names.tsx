/** Several names in a row. */
import type { VNode } from 'preact';
import { InertLine } from './inert.js';

export function Names({ names }: { readonly names: readonly string[] }): VNode {
  return (
    <span>
      {names.map((name, place) => (
        <>
          {place > 0 && ', '}
          <InertLine text={name} />
        </>
      ))}
    </span>
  );
}
