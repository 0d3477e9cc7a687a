/**
 * Lines over time. Each line has its own dashes and its own mark, so that it is told from the others without colour;
 * beneath it stands the table of its values.
 */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { Button } from '../parts/button.js';
import { dateTime } from '../parts/format.js';
import { TableHead } from '../parts/table-head.js';
import type { Point } from './goal-record.js';

export interface ChartLine {
  readonly name: string;
  /** Stays as it is until the next point. */
  readonly isStepped?: true;
}

export interface ChartProps {
  readonly title: string;
  readonly lines: readonly ChartLine[];
  readonly points: readonly Point[];
  readonly show: (value: number) => string;
}

const HEIGHT = 240;
const ROWS_SHOWN = 10;
const MARK = 4;
/** In the order of the lines. */
const STYLES = [
  { dash: [], mark: 'square', colour: '--accent-text' },
  { dash: [6, 4], mark: 'diamond', colour: '--warn' },
] as const;

export function Chart(props: ChartProps): VNode {
  const { title, lines, points, show } = props;
  return (
    <figure class="chart panel">
      <figcaption>
        <h3>{title}</h3>
        <ul class="chart-lines">
          {lines.map(({ name }, place) => (
            <li key={name}>
              <Sample place={place} /> {name}
            </li>
          ))}
        </ul>
      </figcaption>
      <Canvas {...props} />
      <Values title={title} lines={lines} points={points} show={show} />
    </figure>
  );
}

/** As the line looks in the chart. */
function Sample({ place }: { readonly place: number }): VNode {
  const { dash, mark } = STYLES[place % STYLES.length]!;
  const shape = mark === 'square' ? 'M20 2h8v8h-8z' : 'M24 1l5 5-5 5-5-5z';
  return (
    <svg class={`line-${place}`} width="48" height="12" aria-hidden="true">
      <path d="M0 6H48" stroke="currentcolor" stroke-width="2" stroke-dasharray={dash.join(' ')} />
      <path d={shape} fill="currentcolor" />
    </svg>
  );
}

function Canvas({ title, lines, points, show }: ChartProps): VNode {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | undefined>(undefined);
  const isDark = useDark();
  const names = lines.map(({ name }) => name).join('\n');
  useEffect(() => {
    const box = place.current;
    if (box === null) return undefined;
    const chart = new uPlot(
      optionsOf({ lines, show, width: box.clientWidth }),
      dataOf(points),
      box,
    );
    drawn.current = chart;
    const watch = new ResizeObserver(() => {
      chart.setSize({ width: box.clientWidth, height: HEIGHT });
    });
    watch.observe(box);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
  }, [isDark, names, show]);
  useEffect(() => drawn.current?.setData(dataOf(points)), [points, points.length]);
  return (
    <div class="chart-canvas" ref={place} role="img" aria-label={summaryOf(title, points, show)} />
  );
}

function summaryOf(title: string, points: readonly Point[], show: ChartProps['show']): string {
  const last = points.findLast(({ values }) => values[0] !== null)?.values[0];
  const now = typeof last === 'number' ? `; the newest is ${show(last)}` : '';
  return `${title}: ${points.length} points over time${now}. The table beneath has the values.`;
}

function useDark(): boolean {
  const [query] = useState(() => matchMedia('(prefers-color-scheme: dark)'));
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const take = (): void => setDark(query.matches);
    query.addEventListener('change', take);
    return () => query.removeEventListener('change', take);
  }, [query]);
  return isDark;
}

function dataOf(points: readonly Point[]): uPlot.AlignedData {
  const lines = Math.max(0, ...points.map(({ values }) => values.length));
  const columns = Array.from({ length: lines }, (_, line) =>
    points.map(({ values }) => values[line] ?? null),
  );
  return [points.map(({ at }) => at / 1_000), ...columns];
}

interface Wanted extends Pick<ChartProps, 'lines' | 'show'> {
  readonly width: number;
}

function optionsOf({ lines, show, width }: Wanted): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--text-soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: `12px ${colour('--sans')}`,
  };
  return {
    width: Math.max(200, width),
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, min, max) => spanOf(min, max) } },
    axes: [
      { ...axis, space: 90, values: timesOf },
      { ...axis, size: 74, values: (_, ticks) => ticks.map(show) },
    ],
    series: [{}, ...lines.map((line, place) => seriesOf(line, place, colour))],
  };
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const DAY_S = 86_400;

const timesOf: uPlot.Axis.DynamicValues = (...[, ticks, , , stepS]) =>
  ticks.map((tick) => {
    const at = tick * 1_000;
    return stepS >= DAY_S ? DAY.format(at) : `${CLOCK.format(at)}\n${DAY.format(at)}`;
  });

/** From 0, where nothing is below. */
function spanOf(min: number | null, max: number | null): [number, number] {
  const low = Math.min(0, min ?? 0);
  const high = Math.max(0, max ?? 0);
  return low === high ? [low, low + 1] : [low * 1.08, high * 1.08];
}

function seriesOf(
  { name, isStepped }: ChartLine,
  place: number,
  colour: (name: string) => string,
): uPlot.Series {
  const style = STYLES[place % STYLES.length]!;
  const stroke = colour(style.colour);
  const stepped = isStepped === true ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  return {
    label: name,
    stroke,
    width: 2,
    dash: [...style.dash],
    // What is unknown is no line.
    spanGaps: false,
    ...(stepped !== undefined && { paths: stepped }),
    points: { show: true, fill: stroke, paths: marksOf(style.mark) },
  };
}

function marksOf(mark: 'square' | 'diamond'): uPlot.Series.Points.PathBuilder {
  return (...[chart, series, from, to]) => {
    const path = new Path2D();
    const size = MARK * devicePixelRatio;
    for (let index = from; index <= to; index += 1) {
      const value = chart.data[series]?.[index];
      const time = chart.data[0][index];
      if (typeof value !== 'number' || time === undefined) continue;
      const x = chart.valToPos(time, 'x', true);
      const y = chart.valToPos(value, 'y', true);
      if (mark === 'square') path.rect(x - size, y - size, size * 2, size * 2);
      else addDiamond(path, { x, y, size: size * 1.3 });
    }
    return { stroke: path, fill: path, flags: 0 };
  };
}

function addDiamond(
  path: Path2D,
  { x, y, size }: { readonly x: number; readonly y: number; readonly size: number },
): void {
  path.moveTo(x, y - size);
  path.lineTo(x + size, y);
  path.lineTo(x, y + size);
  path.lineTo(x - size, y);
  path.closePath();
}

/** The newest first. */
function Values({ title, lines, points, show }: ChartProps): VNode {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? points : points.slice(-ROWS_SHOWN);
  return (
    <>
      <table class="goal-table" aria-label={title}>
        <TableHead columns={['When', ...lines.map(({ name }) => name)]} />
        <tbody>
          {[...shown].reverse().map(({ at, values }, place) => (
            <tr key={points.length - place}>
              <td>{dateTime(at)}</td>
              {lines.map(({ name }, line) => (
                <td key={name} class="figure">
                  {textOf(values[line], show)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < points.length && (
        <Button label={`Show all ${points.length} rows`} press={() => setWhole(true)} />
      )}
    </>
  );
}

function textOf(value: number | null | undefined, show: ChartProps['show']): string {
  return typeof value === 'number' ? show(value) : 'unknown';
}
