/** A native modal dialog, open as long as it is rendered: focus, Escape and the ground behind it behave as people know them. */
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

export const Modal = (props: {
  title: string;
  hideTitle?: boolean;
  className?: string;
  onClose: () => void;
  children: ReactNode;
}) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  useLayoutEffect(() => {
    const own = dialog.current;
    own?.showModal();
    // Closed before it is taken away: the focus then goes back to where it came from.
    return () => own?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a native dialog
    <dialog
      ref={dialog}
      className={props.className}
      aria-labelledby={title}
      onClose={() => {
        // Shown again meanwhile (React mounts twice in development): it is not closed.
        if (dialog.current?.open === false) props.onClose();
      }}
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
