/** Two runs beside each other: where they differ first, why, and both paths from there on. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { pathOf } from '../data/api.js';
import type { RunDiff } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { Exact } from '../parts/folded.js';
import { Fact } from '../parts/fact.js';
import { cost, plural, whole, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { diffPath, runPath, stepPath } from '../parts/paths.js';
import { refusalText, useFetched } from '../parts/use-fetched.js';
import { useKept } from '../parts/use-kept.js';
import { useTitle } from '../parts/use-title.js';

type Row = RunDiff['rows'][number];
type Side = Row['a'];
type Ending = RunDiff['a'];

const ROWS_AT_FIRST = 60;
const ROWS_MORE = 200;

export interface DiffViewProps {
  readonly runId: string;
  readonly other: string;
}

export function DiffView({ runId, other }: DiffViewProps): VNode {
  useTitle('Two runs');
  const [isActions, setActions] = useKept('actions', false);
  return (
    <article class="run" aria-label="Two runs">
      <header class="run-head">
        <p class="run-links">
          <a href="/runs">← Runs</a>
          <a href={diffPath(other, runId)}>The other way round</a>
        </p>
        <h1>Two runs</h1>
        <label class="check">
          <input
            type="checkbox"
            checked={isActions}
            onChange={(event) => setActions(event.currentTarget.checked)}
          />{' '}
          Compare what was done, not what was said
        </label>
      </header>
      <Fetched key={String(isActions)} runId={runId} other={other} isActions={isActions} />
    </article>
  );
}

function Fetched(props: DiffViewProps & { readonly isActions: boolean }): VNode {
  const { runId, other, isActions } = props;
  const path = `${pathOf('runs', runId, 'diff', other)}?actions=${isActions}`;
  const { value, refusal } = useFetched<RunDiff>(path);
  if (value !== undefined) return <Compared diff={value} />;
  return (
    <p class="empty quiet" role="status">
      {refusal === undefined
        ? 'Comparing …'
        : refusalText(refusal, 'One of the runs is not there.')}
    </p>
  );
}

function Compared({ diff }: { readonly diff: RunDiff }): VNode {
  const { equal, differsIn, why, decision, rows, rowsLeftOut = 0, actionsApart = 0, a, b } = diff;
  const [shown, setShown] = useState(ROWS_AT_FIRST);
  const lastOf = (side: 'a' | 'b'): number =>
    rowsLeftOut > 0 ? rows.length : rows.findLastIndex((row) => row[side] !== null);
  const ends = { a: lastOf('a'), b: lastOf('b') };
  return (
    <>
      <p class={`notice ${equal ? 'completed' : 'stopped'}`}>
        <b>{equal ? 'Equal. ' : `The runs differ in ${differsIn}. `}</b>
        <InertLine text={why} max={600} />
      </p>
      <div class="two-columns">
        <EndShown name="A" ending={a} />
        <EndShown name="B" ending={b} />
      </div>
      {decision !== undefined && (
        <p>
          {'First decision that differs: A '}
          <Place side={decision.a} runId={a.runId} />
          {', B '}
          <Place side={decision.b} runId={b.runId} />
        </p>
      )}
      <table class="panel diff-table" hidden={rows.length === 0}>
        <thead>
          <tr>
            <th scope="col">A</th>
            <th scope="col">B</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row, place) => (
            <tr key={place} class={row.differs ? 'differs' : ''}>
              <SideShown side={row.a} runId={a.runId} row={row} isOver={place > ends.a} />
              <SideShown side={row.b} runId={b.runId} row={row} isOver={place > ends.b} />
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown && (
        <Button
          label={`Show later ones (${whole(rows.length - shown)})`}
          press={() => setShown(shown + ROWS_MORE)}
        />
      )}
      {actionsApart > 0 && (
        <p class="help">{`${plural(actionsApart, 'action')} of both runs stand more than 256 rows apart: rows between them stand beside others than their like.`}</p>
      )}
      {rowsLeftOut > 0 && (
        <p class="help">{`${whole(rowsLeftOut)} more are left out. \`holdfast diff --json\` has them.`}</p>
      )}
    </>
  );
}

function EndShown({ name, ending }: { readonly name: string; readonly ending: Ending }): VNode {
  const { runId, stopReason, detail, costMicroUsd, turns, toolCalls } = ending;
  return (
    <section class="panel moment-part" aria-label={`Run ${name}`}>
      <h2>
        {`${name} `}
        <a href={runPath(runId)}>
          <InertLine text={runId} max={80} />
        </a>
      </h2>
      <dl class="facts">
        <Fact name="Ended">
          {stopReason === null ? 'not yet' : words(stopReason)}{' '}
          {detail !== null && <InertLine text={detail} max={300} />}
        </Fact>
        {costMicroUsd !== null && <Fact name="Cost">{cost(costMicroUsd)}</Fact>}
        {turns !== null && (
          <Fact name="Counts">{`${plural(turns, 'turn')}, ${plural(toolCalls ?? 0, 'tool call')}`}</Fact>
        )}
      </dl>
    </section>
  );
}

interface SideProps {
  readonly side: Side;
  readonly runId: string;
}

function Place({ side, runId }: SideProps): VNode {
  if (side === null) return <>has none there</>;
  const { step, turn, type, rule } = side;
  const said = `turn ${turn}, ${words(type)}${rule === undefined ? '' : `, rule ${rule}`}`;
  if (step === undefined) return <InertLine text={said} />;
  return (
    <a href={stepPath(runId, step)}>
      <InertLine text={`step ${step}, ${said}`} />
    </a>
  );
}

interface SideShownProps extends SideProps {
  readonly row: Row;
  /** Nothing of the run comes from there on. */
  readonly isOver: boolean;
}

function SideShown({ side, runId, row, isOver }: SideShownProps): VNode {
  if (side === null) return <td class="help">{isOver ? 'Nothing more is recorded.' : ''}</td>;
  const { differs, fields = [] } = row;
  const { says, action, words: said } = side;
  const hasSameWords = row.a?.says === row.b?.says;
  return (
    <td>
      {differs && <span class="unseen">Differs: </span>}
      <InertLine text={says} max={300} />
      {hasSameWords && fields.length > 0 && (
        <span class="run-goal">
          <InertLine text={`differs in ${fields.join(', ')}`} max={300} />
        </span>
      )}
      <span class="run-goal">
        <Place side={side} runId={runId} />
      </span>
      {differs && <Exact title="Compared values" value={{ action, words: said }} />}
    </td>
  );
}
