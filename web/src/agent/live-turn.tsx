/** A turn under way, as it is written: the last it said and the tool it is in. The whole of it is under its execution. */

import { Plain } from '../parts/text.tsx';
import { useTranscript } from '../run/use-transcript.ts';
import { headOf } from '../words/plain.ts';

export const LiveTurn = ({ id }: { id: string }) => {
  const { blocks } = useTranscript(id);
  const said = blocks.findLast((b) => b.kind === 'said' && b.by === 'agent');
  const tool = blocks.findLast((b) => b.kind === 'tool' && b.result === null);
  return (
    <div className="bubble live" aria-live="polite">
      {said?.kind === 'said' ? <Plain text={said.text} block /> : <span className="muted">…</span>}
      {tool?.kind === 'tool' && (
        <span className="chip mono mt-1">
          {headOf(tool.name, 40)} {headOf(tool.input, 60)}
        </span>
      )}
    </div>
  );
};
