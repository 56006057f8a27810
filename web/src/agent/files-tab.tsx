/** The files of its workspace. A file is always a download: what an agent wrote is never shown as a page of ours. */
import { useState } from 'react';
import { Section } from '../parts/section.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Ago, Plain } from '../parts/text.tsx';
import { bytes } from '../words/times.ts';
import { type AgentDetail, downloadHref, type FileNode, useFiles } from './data.ts';

const Node = ({ agent, node }: { agent: string; node: FileNode }) => {
  const [open, setOpen] = useState(false);
  if (node.type === 'directory')
    return (
      <li>
        <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)} className="tree">
          <summary>
            <Plain text={node.name} />
          </summary>
          {open && <Tree agent={agent} nodes={node.children ?? []} />}
        </details>
      </li>
    );
  return (
    <li className="tree-file">
      {node.type === 'file' ? (
        <a className="link" href={downloadHref(agent, node.path)} download>
          <Plain text={node.name} />
        </a>
      ) : (
        <span className="muted">
          <Plain text={node.name} /> ({node.type})
        </span>
      )}
      <span className="muted text-small">{node.size === null ? '' : bytes(node.size)}</span>
      <span className="muted text-small">
        <Ago at={node.modified} />
      </span>
    </li>
  );
};

const order = (a: FileNode, b: FileNode): number =>
  Number(b.type === 'directory') - Number(a.type === 'directory') || a.name.localeCompare(b.name);

const Tree = ({ agent, nodes }: { agent: string; nodes: readonly FileNode[] }) =>
  nodes.length === 0 ? (
    <p className="muted py-1 pl-4">empty</p>
  ) : (
    <ul className="pl-4">
      {[...nodes].sort(order).map((node) => (
        <Node key={node.path} agent={agent} node={node} />
      ))}
    </ul>
  );

export const Tab = ({ agent }: { agent: AgentDetail }) => {
  const files = useFiles(agent.name);
  return (
    <Section
      title="Files"
      error={files.error}
      more={
        <>
          <span className="mono">
            <Plain text={agent.workspace} />
          </span>{' '}
          <button type="button" className="small" onClick={() => files.refetch()}>
            Read again
          </button>
        </>
      }
    >
      {files.data === undefined && !files.error && <Skeleton rows={6} />}
      {files.data !== undefined &&
        (files.data.tree.length === 0 ? (
          <div className="nothing">Its workspace is empty: it is made by the first run.</div>
        ) : (
          <div className="pb-3">
            <Tree agent={agent.name} nodes={files.data.tree} />
            {files.data.truncated && (
              <p className="muted px-4 pt-2">There is more than is shown here. The rest is in the directory itself.</p>
            )}
          </div>
        ))}
    </Section>
  );
};
