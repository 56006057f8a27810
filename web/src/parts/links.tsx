/**
 * The ways from one thing to another, so that every page names an execution and an agent alike. Lists hold hundreds of them: each is
 * a plain anchor that asks the router only when it is pressed, and for the code of the page when it is pointed at.
 */
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Plain } from './text.tsx';

const Anchor = (props: { href: string; className: string; children: ReactNode }) => {
  const router = useRouter();
  return (
    <a
      href={props.href}
      className={props.className}
      onMouseEnter={() => void router.preloadRoute({ to: props.href }).catch(() => {})}
      onClick={(e) => {
        // Another button, or with a key: a new tab is the browser's own business.
        if (e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
        e.preventDefault();
        void router.navigate({ to: props.href });
      }}
    >
      {props.children}
    </a>
  );
};

export const RunLink = ({
  id,
  className = 'link',
  children,
}: {
  id: string;
  className?: string;
  children: ReactNode;
}) => (
  <Anchor className={className} href={`/executions/${encodeURIComponent(id)}`}>
    {children}
  </Anchor>
);

export const AgentLink = ({ name, className = 'agent' }: { name: string; className?: string }) => (
  <Anchor className={className} href={`/agents/${encodeURIComponent(name)}`}>
    <Plain text={name} />
  </Anchor>
);
