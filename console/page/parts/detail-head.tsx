/** The head of something that began once and ends once: where it stands among others, its id, its status, its time. */
import type { ComponentChildren, VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { now } from '../data/connection.js';
import { dateTime, relative } from './format.js';
import { InertLine } from './inert.js';
import { StatusBadge } from './status-badge.js';
import { useFocusWhenLost } from './use-focus.js';
import { webAddress } from './web-address.js';

export interface DetailHeadProps {
  readonly id: string;
  readonly status: string;
  /** Where the list of all of them is, and what it is called. */
  readonly list: { readonly path: string; readonly name: string };
  /** ms since epoch. */
  readonly startedAt: number;
  readonly completedAt?: number | undefined;
  readonly temporalUrl?: string | undefined;
  readonly children: ComponentChildren;
}

export function DetailHead(props: DetailHeadProps): VNode {
  const { id, status, list, startedAt, completedAt, children } = props;
  const temporalUrl = webAddress(props.temporalUrl);
  const title = useRef<HTMLHeadingElement>(null);
  // What could be done about it goes away with its end.
  useFocusWhenLost(completedAt !== undefined, () => title.current);
  const when =
    completedAt === undefined
      ? `began ${relative(startedAt, now())}`
      : `${dateTime(startedAt)}, ended ${relative(completedAt, now())}`;
  return (
    <header class="run-head">
      <p class="run-links">
        <a href={list.path}>{`← ${list.name}`}</a>
        {temporalUrl !== undefined && (
          <a href={temporalUrl} target="_blank" rel="noopener noreferrer">
            In Temporal’s own page ↗
          </a>
        )}
      </p>
      <div class="card-title">
        <StatusBadge status={status} />
        <h1 tabIndex={-1} ref={title}>
          <InertLine text={id} max={128} />
        </h1>
        <span class="help">{when}</span>
      </div>
      {children}
    </header>
  );
}
