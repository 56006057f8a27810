/** One block of a transcript. What is folded is not in the page until it is opened: a run may have thousands of tool calls. */
import { createContext, memo, type ReactNode, useContext, useState } from 'react';
import { Plain } from '../parts/text.tsx';
import type { Block } from '../transcript/fold.ts';
import { headOf } from '../words/plain.ts';

/** Which of them are open, by id: it outlives a block that is scrolled out of the page. */
export const Opened = createContext(new Set<number>());

const Folded = (props: {
  id: number;
  className: string;
  name: string;
  arg: string;
  state: string;
  children: ReactNode;
}) => {
  const opened = useContext(Opened);
  const [open, setOpen] = useState(opened.has(props.id));
  const turn = (to: boolean) => {
    if (to) opened.add(props.id);
    else opened.delete(props.id);
    setOpen(to);
  };
  return (
    <div>
      <details className={props.className} open={open} onToggle={(e) => turn(e.currentTarget.open)}>
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
    </div>
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
        <div className="said" data-by={block.by}>
          <Plain text={block.text} block />
        </div>
      );
    case 'thought':
      return (
        <Folded id={block.id} className="thought" name="Thought" arg={block.text} state="">
          <Pre text={block.text} />
        </Folded>
      );
    case 'tool': {
      const open = block.result === null;
      const state = open ? (over ? 'no result' : 'running') : block.failed ? 'failed' : 'done';
      const tone = open && !over ? 'open' : block.failed ? 'failed' : '';
      return (
        <Folded
          id={block.id}
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
        <div className="output" data-stream={block.stream}>
          <span className="hidden-label">{block.stream}</span>
          <Pre text={block.text} />
        </div>
      );
    case 'note':
      return (
        <Folded id={block.id} className="note" name={block.title} arg={block.text} state="">
          <Pre text={block.full} />
        </Folded>
      );
    case 'result':
      return (
        <div className="result" data-ok={block.ok}>
          <h4>{block.title}</h4>
          <Plain text={block.text} block />
        </div>
      );
    default:
      return block satisfies never;
  }
};

export const BlockView = memo(({ block, over }: { block: Block; over: boolean }) => view(block, over));
