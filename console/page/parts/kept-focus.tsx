/** Whoever was on something that goes away is where its place was, not at the top of the page. */
import { Component, createRef, type ComponentChildren, type VNode } from 'preact';

export interface KeptFocusProps {
  readonly class: string;
  readonly label: string;
  /** What gets the focus, by the first selector that finds something. */
  readonly fallback: string;
  readonly children: ComponentChildren;
}

export class KeptFocus extends Component<KeptFocusProps> {
  readonly #section = createRef<HTMLElement>();

  override getSnapshotBeforeUpdate(): boolean {
    return this.#section.current?.contains(document.activeElement) === true;
  }

  override componentDidUpdate(_props: unknown, _state: unknown, wasHere: boolean): void {
    const section = this.#section.current;
    if (!wasHere || section === null || section.contains(document.activeElement)) return;
    section.querySelector<HTMLElement>(this.props.fallback)?.focus();
  }

  override render({ label, children, ...more }: KeptFocusProps): VNode {
    return (
      <section class={more.class} aria-label={label} ref={this.#section}>
        {children}
      </section>
    );
  }
}
