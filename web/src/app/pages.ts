/**
 * Every page, in the order of the navigation. A page is one file in pages/ that exports `Page`; its line here gives it an address,
 * a place in the navigation, a name in the palette and a key after `g`. Its code is loaded when it is first opened (or hovered).
 */
import type { ComponentType } from 'react';
import type { IconName } from '../parts/icon.tsx';

interface PageEntry {
  path: string;
  /** Null: reached from another page, not from the navigation. */
  nav: { label: string; icon: IconName; group: 'work' | 'set-up'; key: string; counts?: 'queued' | 'inbox' } | null;
  title: string;
  load: () => Promise<{ Page: ComponentType }>;
}

export const pages: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Now',
    nav: { label: 'Now', icon: 'now', group: 'work', key: 'n' },
    load: () => import('../pages/now.tsx'),
  },
  {
    path: '/inbox',
    title: 'Inbox',
    nav: { label: 'Inbox', icon: 'inbox', group: 'work', key: 'i', counts: 'inbox' },
    load: () => import('../pages/inbox.tsx'),
  },
  {
    path: '/queue',
    title: 'Queue',
    nav: { label: 'Queue', icon: 'queue', group: 'work', key: 'q', counts: 'queued' },
    load: () => import('../pages/queue.tsx'),
  },
  {
    path: '/executions',
    title: 'Executions',
    nav: { label: 'Executions', icon: 'executions', group: 'work', key: 'e' },
    load: () => import('../pages/executions.tsx'),
  },
  {
    path: '/agents',
    title: 'Agents',
    nav: { label: 'Agents', icon: 'agents', group: 'work', key: 'a' },
    load: () => import('../pages/agents.tsx'),
  },
  { path: '/agents/$name', title: 'Agent', nav: null, load: () => import('../pages/agent.tsx') },
  { path: '/agents/$name/$tab', title: 'Agent', nav: null, load: () => import('../pages/agent.tsx') },
  {
    path: '/executions/$id',
    title: 'Execution',
    nav: null,
    load: () => import('../pages/execution.tsx'),
  },
  {
    path: '/schedules',
    title: 'Schedules',
    nav: { label: 'Schedules', icon: 'schedules', group: 'work', key: 't' },
    load: () => import('../pages/schedules.tsx'),
  },
  {
    path: '/costs',
    title: 'Costs',
    nav: { label: 'Costs', icon: 'costs', group: 'work', key: 'm' },
    load: () => import('../pages/costs.tsx'),
  },
  {
    path: '/credentials',
    title: 'Credentials',
    nav: { label: 'Credentials', icon: 'credentials', group: 'set-up', key: 'c' },
    load: () => import('../pages/credentials.tsx'),
  },
  {
    path: '/settings',
    title: 'Settings',
    nav: { label: 'Settings', icon: 'settings', group: 'set-up', key: 's' },
    load: () => import('../pages/settings.tsx'),
  },
  {
    path: '/keys',
    title: 'Keys',
    nav: { label: 'Keys', icon: 'keys', group: 'set-up', key: 'k' },
    load: () => import('../pages/keys.tsx'),
  },
  {
    path: '/people',
    title: 'People',
    nav: { label: 'People', icon: 'people', group: 'set-up', key: 'p' },
    load: () => import('../pages/people.tsx'),
  },
  {
    path: '/audit',
    title: 'Audit',
    nav: { label: 'Audit', icon: 'audit', group: 'set-up', key: 'u' },
    load: () => import('../pages/audit.tsx'),
  },
  {
    path: '/state',
    title: 'Health',
    nav: { label: 'Health', icon: 'health', group: 'set-up', key: 'h' },
    load: () => import('../pages/health.tsx'),
  },
];
