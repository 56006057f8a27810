/** One block of a transcript. What is folded is not in the page until it is opened: a run may have thousands of tool calls. */
import { memo, type ReactNode, useState } from 'react';
import { Plain } from '../parts/text.tsx';
import type { Block } from '../transcript/fold.ts';
import { headOf } from '../words/plain.ts';

const Folded = (props: { className: string; name: string; arg: string; state: string; children: ReactNode }) => {
  const [open, setOpen] = useState(false);
  return (
    <li>
      <details className={props.className} open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary>
          <span className="name">
            <Plain text={headOf(props.name, 60)} />
          </span>
          <span className="arg">
            <Plain text={headOf(props.arg, 300)} />
          </span>
          <span className="state">{props.state}</span>
        </summary>
        {open && props.children}
      </details>
    </li>
  );
};

/** A long text by its beginning; the rest on demand. */
const Pre = ({ text }: { text: string }) => {
  const most = 6_000;
  const [all, setAll] = useState(false);
  const cut = !all && text.length > most * 1.2;
  return (
    <>
      <pre>
        <Plain text={cut ? text.slice(0, most) : text} />
      </pre>
      {cut && (
        <button type="button" className="quiet small" onClick={() => setAll(true)}>
          Show all
        </button>
      )}
    </>
  );
};

const view = (block: Block, over: boolean): ReactNode => {
  switch (block.kind) {
    case 'said':
      return (
        <li className="said" data-by={block.by}>
          <Plain text={block.text} block />
        </li>
      );
    case 'thought':
      return (
        <Folded className="thought" name="Thought" arg={block.text} state="">
          <Pre text={block.text} />
        </Folded>
      );
    case 'tool': {
      const open = block.result === null;
      const state = open ? (over ? 'no result' : 'running') : block.failed ? 'failed' : 'done';
      const tone = open && !over ? 'open' : block.failed ? 'failed' : '';
      return (
        <Folded
          className={`tool ${tone} ${block.nested ? 'nested' : ''}`}
          name={block.name}
          arg={block.input}
          state={state}
        >
          <h4>Input</h4>
          <Pre text={block.inputFull} />
          {block.result !== null && (
            <>
              <h4>Result</h4>
              <Pre text={block.result === '' ? '(empty)' : block.result} />
            </>
          )}
        </Folded>
      );
    }
    case 'output':
      return (
        <li className="output" data-stream={block.stream} aria-label={block.stream}>
          <Pre text={block.text} />
        </li>
      );
    case 'note':
      return (
        <Folded className="note" name={block.title} arg={block.text} state="">
          <Pre text={block.full} />
        </Folded>
      );
    case 'result':
      return (
        <li className="result" data-ok={block.ok}>
          <h4>{block.title}</h4>
          <Plain text={block.text} block />
        </li>
      );
    default:
      return block satisfies never;
  }
};

export const BlockView = memo(({ block, over }: { block: Block; over: boolean }) => view(block, over));
