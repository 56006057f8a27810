/** A secret that is shown once: with a copy button, and what it is for. Gone with the next visit. */
import type { ReactNode } from 'react';
import { Command } from '../parts/command.tsx';

export const ShownOnce = ({ text, children, onDone }: { text: string; children: ReactNode; onDone: () => void }) => (
  <div className="once" role="status">
    <p>{children}</p>
    <Command text={text} />
    <div className="form-end">
      <button type="button" className="quiet small" onClick={onDone}>
        I have it
      </button>
    </div>
  </div>
);
