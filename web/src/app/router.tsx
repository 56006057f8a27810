/** The addresses of the page: one route per entry of pages.ts, its code split off, what is missing or broken said in words. */
import { createRootRoute, createRoute, createRouter, Link, lazyRouteComponent } from '@tanstack/react-router';
import { inWords } from '../api.ts';
import { PageHead } from '../parts/page-head.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { pages } from './pages.ts';
import { Shell } from './shell.tsx';

const NotThere = () => (
  <>
    <PageHead title="There is no such page" />
    <p>
      The address may be of a newer version, or mistyped.{' '}
      <Link className="link" to="/">
        To what runs now
      </Link>
    </p>
  </>
);

const Broken = ({ error, reset }: { error: unknown; reset: () => void }) => (
  <>
    <PageHead title="This page broke" />
    <p className="problem" role="alert">
      {inWords(error)}
    </p>
    <p>
      Your fleet is not touched by this.{' '}
      <button type="button" onClick={reset}>
        Try again
      </button>{' '}
      After an upgrade of the server, load the page anew.
    </p>
  </>
);

const root = createRootRoute({ component: Shell });

export const createPages = () =>
  createRouter({
    routeTree: root.addChildren(
      pages.map((p) =>
        createRoute({ getParentRoute: () => root, path: p.path, component: lazyRouteComponent(p.load, 'Page') }),
      ),
    ),
    // Code on hover: a click then waits for data alone.
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultPendingComponent: () => <Skeleton rows={8} />,
    defaultPendingMs: 150,
    defaultNotFoundComponent: NotThere,
    defaultErrorComponent: Broken,
  });
