/** The ways from one thing to another, so that every page names an execution and an agent alike. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Plain } from './text.tsx';

export const RunLink = ({
  id,
  className = 'link',
  children,
}: {
  id: string;
  className?: string;
  children: ReactNode;
}) => (
  <Link className={className} to="/executions/$id" params={{ id }}>
    {children}
  </Link>
);

export const AgentLink = ({ name, className = 'agent' }: { name: string; className?: string }) => (
  <Link className={className} to="/agents/$name" params={{ name }}>
    <Plain text={name} />
  </Link>
);
