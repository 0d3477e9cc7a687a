/** The site: pages in the order of tasks, search on the page itself, no dead link. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type DefaultTheme } from 'vitepress';

const HERE = dirname(fileURLToPath(import.meta.url));
const PAGES = join(HERE, '..', 'pages');
const { repository } = JSON.parse(readFileSync(join(HERE, '..', '..', 'package.json'), 'utf8')) as {
  readonly repository: { readonly url: string };
};

/** A page by its path; its text is the first heading of the page. */
const page = (path: string): DefaultTheme.SidebarItem => {
  const file = join(PAGES, `${path}.md`);
  const text = existsSync(file) ? /^# (.*)$/m.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
  if (text === undefined) throw new Error(`The page ${path} does not exist or has no heading.`);
  return { text: text.replaceAll('`', ''), link: `/${path}` };
};

const group = (text: string, paths: readonly string[]): DefaultTheme.SidebarItem => ({
  text,
  collapsed: false,
  items: paths.map(page),
});

const SIDEBAR: DefaultTheme.SidebarItem[] = [
  group('Begin', [
    'introduction',
    'guide/first-agent',
    'guide/create-holdfast',
    'guide/coming-from',
  ]),
  group('Build', [
    'guide/tools',
    'guide/approvals',
    'guide/budgets',
    'guide/query',
    'guide/streaming',
    'guide/goals',
    'guide/agents',
    'guide/connectors',
    'guide/providers',
    'guide/ai-sdk-models',
    'guide/attachments',
    'guide/sandbox',
    'guide/front-ends',
    'guide/mcp-server',
  ]),
  group('Test', ['guide/testing-an-agent', 'guide/cases', 'guide/failures', 'guide/replay']),
  group('Run', [
    'operate/deploying',
    'operate/console',
    'operate/security',
    'operate/cluster',
    'operate/postgres',
    'operate/observing',
    'operate/data',
  ]),
  group('Examples', [
    'examples/refund',
    'examples/repair',
    'examples/collections',
    'examples/research',
    'examples/connector',
  ]),
  group('Reference', [
    'reference/guarantees',
    'reference/limits',
    'reference/command',
    'reference/semantics',
    'reference/events',
    'reference/errors',
    'reference/goals',
    'reference/cases',
    'reference/performance',
    'reference/peers',
    'reference/api/index',
  ]),
  group('Inside', [
    'design/architecture',
    'design/dependencies',
    'specification/README',
    'contributing',
  ]),
];

// oxlint-disable-next-line import/no-default-export -- VitePress reads the default export.
export default defineConfig({
  title: 'Holdfast',
  description: 'A durable agent runtime on Temporal.',
  srcDir: 'pages',
  outDir: '../build/site',
  cleanUrls: true,
  lastUpdated: false,
  themeConfig: {
    nav: [
      { text: 'Guide', link: '/guide/first-agent' },
      { text: 'Operate', link: '/operate/deploying' },
      { text: 'Reference', link: '/reference/guarantees' },
    ],
    sidebar: SIDEBAR,
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [
      { icon: 'github', link: repository.url.replace(/^git\+/, '').replace(/\.git$/, '') },
    ],
  },
});
