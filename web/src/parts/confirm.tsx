/** Asks before something that is felt: a native modal dialog, so that focus, Escape and the rest behave as people know it. */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';

const Confirm = (props: {
  title: string;
  children: ReactNode;
  action: string;
  danger?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby={title} onClose={props.onClose}>
      <h2 id={title}>{props.title}</h2>
      {props.children}
      <div className="dialog-actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          Back
        </button>
        <button
          type="button"
          className={props.danger ? 'danger' : 'main'}
          onClick={() => {
            dialog.current?.close();
            props.onConfirm();
          }}
        >
          {props.action}
        </button>
      </div>
    </dialog>
  );
};

/** A button whose action is asked about first. */
export const ConfirmButton = (props: {
  label: ReactNode;
  title: string;
  about: ReactNode;
  action: string;
  danger?: boolean;
  className?: string;
  disabled?: boolean;
  onConfirm: () => void;
}) => {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <button type="button" className={props.className} disabled={props.disabled} onClick={() => setAsking(true)}>
        {props.label}
      </button>
      {asking && (
        <Confirm
          title={props.title}
          action={props.action}
          danger={props.danger}
          onConfirm={props.onConfirm}
          onClose={() => setAsking(false)}
        >
          {props.about}
        </Confirm>
      )}
    </>
  );
};
