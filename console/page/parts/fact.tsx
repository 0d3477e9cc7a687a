/** A name with its value, as a row of a `dl`. */
import type { ComponentChildren, VNode } from 'preact';

export function Fact(props: {
  readonly name: string;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div class="fact">
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}
