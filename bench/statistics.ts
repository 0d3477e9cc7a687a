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

/** Slope of log(y) over log(x): the exponent with which y grows in x. */
export function exponentOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const meanX = logs.reduce((sum, p) => sum + p.x, 0) / logs.length;
  const meanY = logs.reduce((sum, p) => sum + p.y, 0) / logs.length;
  const covariance = logs.reduce((sum, p) => sum + (p.x - meanX) * (p.y - meanY), 0);
  const variance = logs.reduce((sum, p) => sum + (p.x - meanX) ** 2, 0);
  return covariance / variance;
}
