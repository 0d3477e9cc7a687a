/** What the tool service knows of a run. */
export async function serviceJson(url: string, runId: string): Promise<unknown> {
  const response = await fetch(`${url}?${new URLSearchParams({ run: runId }).toString()}`);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.json();
}
