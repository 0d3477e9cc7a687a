/**
 * What a notification says: enough to know that somebody is needed, and one link. The action itself is seen
 * after logging in, where it cannot be forwarded.
 */
import type { WebhookSettings } from '../../authoring/index.js';
import { withoutUnseen } from '../../pure/unseen.js';
import type { AskRow } from '../../store/asks.js';

const TEXT_CHARS_MAX = 200;

const WANTED: { readonly [kind in AskRow['kind']]: string } = {
  approval: 'An approval is needed',
  outcome: 'Somebody has to say what became of a call',
  budget: 'A run asks for more budget',
  input: 'A run has a question',
  user_message: 'A run waits for a message',
};

export function linkTo(publicUrl: string, ask: Pick<AskRow, 'askId' | 'kind'>): string {
  const place = ask.kind === 'input' ? 'questions' : 'approvals';
  return `${publicUrl.replace(/\/+$/, '')}/${place}/${encodeURIComponent(ask.askId)}`;
}

export function messageOf(
  format: WebhookSettings['format'],
  ask: AskRow,
  link: string,
): Readonly<Record<string, unknown>> {
  const title = titleOf(ask);
  const lines = linesOf(ask);
  switch (format) {
    case 'slack':
      return {
        text: `${slackText(title)}: ${link}`,
        blocks: [
          { type: 'header', text: { type: 'plain_text', text: title.slice(0, 150) } },
          { type: 'section', text: { type: 'mrkdwn', text: lines.map(slackText).join('\n') } },
          {
            type: 'actions',
            elements: [
              { type: 'button', text: { type: 'plain_text', text: 'Look and decide' }, url: link },
            ],
          },
        ],
      };
    case 'mail':
      return { subject: title, text: [...lines, '', `Look and decide: ${link}`].join('\n') };
    case 'json': {
      const { askId, runId, tenant, kind, tool, roles, quorum, openedAt, expiresAt } = ask;
      const what = { askId, runId, tenant, kind, ...(tool !== undefined && { tool }) };
      const who = { roles, quorum, openedAt, expiresAt };
      return { type: 'ask.opened', title, ...what, ...who, link };
    }
  }
}

function titleOf({ kind, tool }: AskRow): string {
  return plain(tool === undefined ? WANTED[kind] : `${WANTED[kind]}: ${tool}`);
}

function linesOf({ runId, roles, quorum, expiresAt }: AskRow): readonly string[] {
  const who = roles.length === 0 ? 'anybody' : roles.join(', ');
  const many = quorum > 1 ? `${quorum} people of: ` : '';
  return [
    `Run: ${plain(runId)}`,
    `Who may decide: ${many}${plain(who)}`,
    `Until: ${new Date(expiresAt).toISOString()}`,
  ];
}

/** One line without anything that could move, hide or break text. */
export function plain(text: string): string {
  return withoutUnseen(text, ' ').slice(0, TEXT_CHARS_MAX).trim();
}

function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
