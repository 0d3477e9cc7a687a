/** Ordinary Temporal activities. */
export async function openTicket(team: string, text: string): Promise<string> {
  console.log(`A ticket for ${team}: ${text}`);
  return `T-${team}-1`;
}
