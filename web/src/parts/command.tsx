/** A command to type, with a button that copies it. Where the browser gives no clipboard (plain HTTP), it selects the text. */
import { useRef, useState } from 'react';
import { Icon } from './icon.tsx';

export const Command = ({ text }: { text: string }) => {
  const code = useRef<HTMLElement>(null);
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      if (code.current !== null) getSelection()?.selectAllChildren(code.current);
    }
  };
  return (
    <div className="command">
      <code ref={code}>{text}</code>
      <button type="button" className="quiet small" onClick={copy} onBlur={() => setCopied(false)}>
        <Icon name={copied ? 'done' : 'copy'} />
        {copied ? 'Copied' : 'Copy'}
        <span className="hidden-label">: {text}</span>
      </button>
    </div>
  );
};
