/** A native modal dialog, open as long as it is rendered: focus, Escape and the ground behind it behave as people know them. */
import { type ReactNode, useEffect, useId, useRef } from 'react';

export const Modal = (props: {
  title: string;
  hideTitle?: boolean;
  className?: string;
  onClose: () => void;
  children: ReactNode;
}) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a native dialog
    <dialog
      ref={dialog}
      className={props.className}
      aria-labelledby={title}
      onClose={props.onClose}
      onClick={(e) => {
        if (e.target === e.currentTarget) dialog.current?.close();
      }}
    >
      <h2 id={title} className={props.hideTitle ? 'hidden-label' : undefined}>
        {props.title}
      </h2>
      {props.children}
    </dialog>
  );
};
