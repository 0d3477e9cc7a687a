/** Medians, quartiles and fits of the benches. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Slope of log(y) over log(x): the exponent with which y grows in x. */
export function exponentOf(points: readonly Point[]): number {
  return slopeOf(points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) })));
}

/** Slope of the line of least squares. */
export function slopeOf(points: readonly Point[]): number {
  const meanX = points.reduce((sum, p) => sum + p.x, 0) / points.length;
  const meanY = points.reduce((sum, p) => sum + p.y, 0) / points.length;
  const covariance = points.reduce((sum, p) => sum + (p.x - meanX) * (p.y - meanY), 0);
  const variance = points.reduce((sum, p) => sum + (p.x - meanX) ** 2, 0);
  return covariance / variance;
}
