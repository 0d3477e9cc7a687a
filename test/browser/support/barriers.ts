/** Looking for what keeps people out: the rules of WCAG 2.2, levels A and AA, that a program can look at. */
import { source } from 'axe-core';
import type { Page } from 'playwright-core';
import { inPage } from './browser.js';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const SCHEMES = ['light', 'dark'] as const;

interface Violation {
  readonly id: string;
  readonly nodes: readonly {
    readonly target: readonly string[];
    readonly failureSummary?: string;
  }[];
}

interface Looked {
  readonly violations: readonly Violation[];
  /** How many rules had something to look at, and found nothing. */
  readonly passes: readonly unknown[];
}

/** As it is now, in both colour schemes: rule, element and what is wrong with it. */
export async function barriersOf(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  // The policy of the page stops no tool of the browser itself.
  await page.evaluate(source);
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    const options = JSON.stringify({ runOnly: RULES, resultTypes: ['violations'] });
    const { violations, passes } = await inPage<Looked>(page, `axe.run(document, ${options})`);
    if (passes.length === 0) throw new Error('no rule had anything to look at');
    for (const { id, nodes } of violations) {
      found.push(
        ...nodes.map(
          ({ target, failureSummary = '' }) =>
            `${colorScheme}: ${id}: ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`,
        ),
      );
    }
  }
  return found;
}
